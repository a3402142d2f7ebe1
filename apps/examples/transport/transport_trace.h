/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes when each rank entered and left every reduce, as a trace that clv-predict replays: how
 * well would the arrivals of this program have been predicted? Root only, after the batches.
 *
 * Nanoseconds since the first rank entered the first reduce, on the clock of --common-clock. A
 * double of seconds since 1970 resolves 240 ns, far below what a prediction is good for.
 */
#ifndef TRANSPORT_TRACE_H
#define TRANSPORT_TRACE_H

#include <stdio.h>

#include "apps/examples/transport/transport_options.h"
#include "apps/examples/transport/transport_report.h"

/* times[rank * n_batches + batch]. Returns 0 if the file does not take it all. */
int transport_trace_write(FILE *file, const transport_options_t *options, int n_ranks,
                          const transport_times_t *times);

#endif
