/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Plans kept for similar calls: the ranks of an iterative program arrive in nearly the same pattern
 * every time, so most plans need not be made again.
 *
 * A plan is a pure function of the key: generator, goal, ranks, segments, root, round length,
 * places, and the arrivals and order keys counted from their minimum in quanta. It is made for the
 * rounded arrivals, not for the given ones. So a rank that has it cached and one that makes it
 * again get the same sends.
 *
 * Units: ns; bytes and entries held.
 * Errors: as of clv_plan_make; CLV_INVALID for bounds.
 * Memory: bounded by entries and bytes, least recently used goes first; plans are the cache's
 *   until its next use.
 * Threads: one at a time per cache.
 */
#ifndef CLV_SCHED_CACHE_H
#define CLV_SCHED_CACHE_H

#include "schedule/schedule.h"

typedef struct clv_plan_cache clv_plan_cache_t;

typedef struct clv_plan_cache_counters {
    int64_t n_hits;
    int64_t n_misses;
    int64_t n_evictions;
    int64_t n_bytes;   /* held now */
    int32_t n_entries; /* held now */
} clv_plan_cache_counters_t;

/* At most max_entries (1 .. 1024) plans of together max_bytes; a plan that alone is larger is kept
 * as the only one. CLV_INVALID, CLV_NO_MEMORY. */
clv_status_t clv_plan_cache_create(int32_t max_entries, int64_t max_bytes,
                                   clv_plan_cache_t **cache_p) CLV_MUST_CHECK;
void clv_plan_cache_free(clv_plan_cache_t *cache);

/* The plan for the instance rounded to quantum_ns (>= 1; 1 is exact). It belongs to the cache and
 * is valid until the next call on it. O(entries + ranks) on a hit, without allocation of a plan.
 * Errors as of clv_plan_make; a failure leaves the cache as it was, evictions apart. */
clv_status_t clv_plan_cache_get(clv_plan_cache_t *cache, const clv_generator_t *generator,
                                const clv_instance_t *instance, int64_t quantum_ns,
                                const clv_plan_t **plan_p) CLV_MUST_CHECK;

/* The plan that clv_plan_cache_get gives, made anew without a cache; the caller frees it. Errors as
 * of clv_plan_make. Thread-safe. */
clv_status_t clv_plan_make_rounded(const clv_generator_t *generator, const clv_instance_t *instance,
                                   int64_t quantum_ns, clv_plan_t **plan_p) CLV_MUST_CHECK;

/* The fast estimate of that plan (sched_fast_estimate.h). Errors as of clv_fast_estimate_make.
 * Thread-safe. */
clv_status_t clv_fast_estimate_make_rounded(const clv_generator_t *generator,
                                            const clv_instance_t *instance, int64_t quantum_ns,
                                            clv_fast_estimate_t **fast_p) CLV_MUST_CHECK;

clv_plan_cache_counters_t clv_plan_cache_counters(const clv_plan_cache_t *cache);

#endif
