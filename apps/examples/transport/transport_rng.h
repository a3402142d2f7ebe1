/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random numbers that depend on who asks and how often, not on which rank asks: every particle owns
 * the stream (seed, particle). So one rank alone reproduces what many ranks did together.
 *
 * splitmix64 (Steele, Lea, Flood 2014): a counter and a mixing function. Not for cryptography.
 * No state but the stream on the caller's stack; thread-safe. About 1 ns per number.
 */
#ifndef TRANSPORT_RNG_H
#define TRANSPORT_RNG_H

#include <stdint.h>

typedef struct transport_rng {
    uint64_t counter;
} transport_rng_t;

static inline uint64_t transport_rng_mix(uint64_t bits)
{
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bits ^ (bits >> 31);
}

/* Mixed twice: neighbouring particles must not start at neighbouring counters. */
static inline transport_rng_t transport_rng_stream(uint64_t seed, uint64_t particle)
{
    return (transport_rng_t){transport_rng_mix(transport_rng_mix(seed) + particle)};
}

static inline uint64_t transport_rng_next(transport_rng_t *rng)
{
    rng->counter += UINT64_C(0x9e3779b97f4a7c15);
    return transport_rng_mix(rng->counter);
}

/* Uniform in (0, 1]: never 0, so its logarithm is finite. */
static inline double transport_rng_uniform(transport_rng_t *rng)
{
    return ((double) (transport_rng_next(rng) >> 11) + 1.0) * 0x1p-53;
}

#endif
