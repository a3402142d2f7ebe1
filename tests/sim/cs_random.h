/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random numbers for the clock tests: splitmix64, the same on every machine. The seed is CLV_SEED
 * or a fixed one, and is printed.
 */
#ifndef CS_RANDOM_H
#define CS_RANDOM_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct cs_random {
    uint64_t state;
} cs_random_t;

static inline uint64_t cs_random_u64(cs_random_t *random)
{
    uint64_t z = (random->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* In [low, high). */
static inline double cs_random_uniform(cs_random_t *random, double low, double high)
{
    return low + (high - low) * (double) (cs_random_u64(random) >> 11) * 0x1p-53;
}

/* In [low, high]. */
static inline int64_t cs_random_range(cs_random_t *random, int64_t low, int64_t high)
{
    return low + (int64_t) (cs_random_u64(random) % (uint64_t) (high - low + 1));
}

static inline double cs_random_exponential(cs_random_t *random, double mean)
{
    return -mean * log(1.0 - cs_random_uniform(random, 0.0, 1.0));
}

static inline uint64_t cs_random_seed_from_environment(cs_random_t *random)
{
    const char *text = getenv("CLV_SEED");
    random->state = text != NULL ? strtoull(text, NULL, 0) : 20260801;
    printf("# seed %llu (set CLV_SEED to repeat another)\n", (unsigned long long) random->state);
    return random->state;
}

#endif
