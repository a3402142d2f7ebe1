/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by all unit tests: cmocka, the headers that it requires before its own and that all tests
 * use, the number of random draws, and a test run with TAP output.
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

/* Whether this process has a thread that the test did not start: the thread sanitizer's own. It is
 * not bound, so all processors count as used by this process. */
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

/* The share CLV_SHARE (0.05: a twentieth) of n draws, at least one; all if it is unset.
 * tests/quality/seeds.sh uses many seeds, so fewer draws with each. */
static inline int clv_share_of(int n)
{
    const char *share = getenv("CLV_SHARE");
    const int some = share != NULL ? (int) (n * atof(share)) : n;
    return some > 1 ? some : 1;
}

/* Whether draws are reduced, so that tests independent of the seed may be skipped. */
static inline int clv_draws_few(void)
{
    return clv_share_of(1000) < 1000;
}

/* With reduced draws, a case as long as all others runs with every tenth seed only. */
static inline int clv_is_left_out(void)
{
    const char *seed = getenv("CLV_SEED");
    return clv_draws_few() && seed != NULL && strtoull(seed, NULL, 0) % 10 != 0;
}

/* The seed: CLV_SEED or the time, never 0; printed, so that a run can be repeated. */
static inline uint64_t clv_seed(void)
{
    const char *given = getenv("CLV_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 0) : (uint64_t) clv_local_now_ns();

    seed += seed == 0;
    print_message("# CLV_SEED=%llu\n", (unsigned long long) seed);
    return seed;
}

/* A hook of clv_alloc_set_hook: fails the allocation before which *context, an int, has reached
 * 0. */
static inline int clv_fail_nth(void *context, size_t n_bytes)
{
    (void) n_bytes;
    return (*(int *) context)-- == 0;
}

/* Runs an array of tests; returns how many failed. */
#define clv_run_tests(tests)                                                                       \
    (cmocka_set_message_output(CM_OUTPUT_TAP), cmocka_run_group_tests(tests, NULL, NULL))

#endif
