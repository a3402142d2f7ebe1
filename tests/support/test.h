/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What every unit test begins and ends with: cmocka, the headers that it wants before its own and
 * that all tests use, how often to draw, and a run whose output is TAP.
 *
 *      int main(void)
 *      {
 *          const struct CMUnitTest tests[] = {cmocka_unit_test(one), cmocka_unit_test(another)};
 *          return clv_run_tests(tests);
 *      }
 */
#ifndef TEST_H
#define TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/util_time.h"

/* Whether this process has a thread that the test did not start: the thread sanitizer's own, which
 * is bound to nothing, so that all processors count as used by this process. */
#if defined(__SANITIZE_THREAD__)
#define HAS_OTHER_THREADS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_OTHER_THREADS 1
#endif
#endif

#if !defined(HAS_OTHER_THREADS)
#define HAS_OTHER_THREADS 0
#endif

/* Of n draws the share that CLV_SHARE asks for (0.05: a twentieth), one at least; all without it.
 * tests/quality/seeds.sh draws with many seeds, so less with each. */
static inline int clv_share_of(int n)
{
    const char *share = getenv("CLV_SHARE");
    const int some = share != NULL ? (int) (n * atof(share)) : n;
    return some > 1 ? some : 1;
}

/* Whether draws are few, so that what does not depend on the seed may be left out. */
static inline int clv_draws_few(void)
{
    return clv_share_of(1000) < 1000;
}

/* A case that takes as long as all others is done with every tenth seed when draws are few. */
static inline int clv_is_left_out(void)
{
    const char *seed = getenv("CLV_SEED");
    return clv_draws_few() && seed != NULL && strtoull(seed, NULL, 0) % 10 != 0;
}

/* What to draw with: CLV_SEED or the time, never 0; told, so that it can be asked for again. */
static inline uint64_t clv_seed(void)
{
    const char *given = getenv("CLV_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 0) : (uint64_t) clv_local_now_ns();

    seed += seed == 0;
    print_message("# CLV_SEED=%llu\n", (unsigned long long) seed);
    return seed;
}

/* A hook of clv_alloc_set_hook: the allocation fails before which *context, an int, has come down
 * to 0. */
static inline int clv_fail_nth(void *context, size_t n_bytes)
{
    (void) n_bytes;
    return (*(int *) context)-- == 0;
}

/* Runs an array of tests; returns how many failed. */
#define clv_run_tests(tests)                                                                       \
    (cmocka_set_message_output(CM_OUTPUT_TAP), cmocka_run_group_tests(tests, NULL, NULL))

#endif
