/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading back what clv-clock wrote: how far off global clocks were, per method and check.
 *
 * What: each synchronisation is a run; method is the group's algorithm, the time of the check its
 * pattern, and the error in ns its value. So clocks are compared and drawn like collectives.
 * Not: a JSON library: the keys of clv-clock --json, in the order it writes them.
 */
#ifndef CLV_BENCH_CLOCK_RESULTS_H
#define CLV_BENCH_CLOCK_RESULTS_H

#include "bench/compare/bench_results.h"

/* The metric that is the true error where the file has it, and the measured one elsewhere. */
#define CLV_CLOCK_METRIC "clock_error"

/* Adds a file. metric: CLV_CLOCK_METRIC, or a key: max_us, mean_us, true_max_us, true_mean_us,
 * bound_max_us.
 * Synchronisations in which a rank got no clock are left out. On failure one line in reason. */
clv_status_t clv_clock_results_read(const char *path, const char *label, const char *metric,
                                    clv_result_set_t *set, char *reason,
                                    size_t reason_bytes) CLV_MUST_CHECK;

#endif
