/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the user sees: one line per batch, a summary, and one line for programs. Runs on the root
 * rank only, after the batches, so that printing disturbs no measurement.
 *
 * What one rank can know: how long it was inside MPI_Reduce. When the last rank arrived is known
 * only if the ranks share a clock (--common-clock); otherwise that column says "-".
 * Times are seconds in doubles, as MPI_Wtime gives them; printed in ms.
 */
#ifndef TRANSPORT_REPORT_H
#define TRANSPORT_REPORT_H

#include <stdint.h>

#include "apps/examples/transport/transport_options.h"
#include "apps/examples/transport/transport_physics.h"

/* One rank's times of one batch. */
typedef struct transport_times {
    double enter; /* MPI_Reduce entered and left; on CLOCK_REALTIME with --common-clock */
    double leave;
    double batch; /* from the start of the batch to the next one */
} transport_times_t;

#define TRANSPORT_TIMES_DOUBLES 3

/* What the self-check found; 0 in a field is good. */
typedef struct transport_verdict {
    double transmission_deviation; /* in standard deviations, see transport_physics.h */
    double profile_deviation;
    int64_t n_unbalanced; /* started - leaked - absorbed */
    int64_t n_differing;  /* tally items that differ from the serial run; -1: not compared */
} transport_verdict_t;

/* The first problem as text, NULL when there is none. */
const char *transport_verdict_problem(const transport_verdict_t *verdict);

/* times[rank * n_batches + batch]. */
void transport_report(const transport_options_t *options, int n_ranks,
                      const transport_times_t *times, const transport_fates_t *fates,
                      const transport_verdict_t *verdict);

#endif
