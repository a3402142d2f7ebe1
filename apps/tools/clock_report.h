/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The results of clv-clock as a table, as JSON lines, and as a plot like the papers'.
 */
#ifndef CLV_CLOCK_REPORT_H
#define CLV_CLOCK_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "apps/bench/measure/bench_place.h"
#include "clocksync/clocksync.h"
#include "util/util_status.h"

#define CLOCK_MAX_WAITS 8
#define CLOCK_MAX_LABEL 256

/* Accuracy of the global clocks at one time after a synchronisation, over all ranks. */
typedef struct clock_accuracy {
    double wait_s;
    double max_us, mean_us;           /* as Check-Global-Clock measures it */
    double true_max_us, true_mean_us; /* by the common truth; NaN without one */
    double bound_max_us;              /* the largest bound that a rank claims */
    int32_t n_checked;                /* ranks compared with the truth */
    int32_t n_covered;                /* of these: bound >= true error */
} clock_accuracy_t;

/* One synchronisation. */
typedef struct clock_result {
    char label[CLOCK_MAX_LABEL];
    int32_t run;
    int32_t n_failed; /* ranks without a clock afterwards */
    double duration_s;
    int32_t n_rounds;
    int64_t n_pings; /* by all ranks */
    double r_squared_min, rms_max_us;
    int32_t n_waits;
    clock_accuracy_t accuracy[CLOCK_MAX_WAITS];
    clv_cs_point_t
        *points; /* [n_waits][n_ranks], from Check-Global-Clock; owned by the result's owner */
} clock_result_t;

/* The factors that all results share. */
typedef struct clock_setting {
    int32_t n_ranks, n_hosts, reference;
    const char *clock;
    const char *mpi; /* version line */
    double drift_ppm, pretend_s;
    double sample_percent; /* share of the ranks that are checked */
    bool has_truth;
    const clv_bench_place_t *place;
} clock_setting_t;

void clock_print_table(FILE *file, const clock_setting_t *setting, const clock_result_t *results,
                       int n_results);
/* Appends to the file; "-" is standard output. 0, or -1 with errno. */
int clock_write_json(const char *path, const clock_setting_t *setting,
                     const clock_result_t *results, int n_results);
/* Frequencies found by a counter's calibrations: least, median and largest on out, unless it is
 * NULL, and all of them in a line of the file, unless path is NULL. Sorts hz after that. 0, or -1
 * with errno. */
int clock_tell_calibrations(const char *path, FILE *out, const char *clock,
                            const clv_bench_place_t *place, double *hz, int n);
/* The same for round trips. */
int clock_tell_round_trips(const char *path, FILE *out, const clv_bench_place_t *place,
                           double *trips_ns, int n);
/* Plots accuracy against duration, one line per method and check. path ends in .png, .svg or .pdf.
 * Like clv_plot: without gnuplot the script is kept; one line in reason. */
clv_status_t clock_draw(const char *path, const clock_setting_t *setting,
                        const clock_result_t *results, int n_results, char *reason,
                        size_t reason_bytes);

#endif
