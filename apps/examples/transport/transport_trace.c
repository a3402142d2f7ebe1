/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The trace of arrivals, see the header.
 */
#include "apps/examples/transport/transport_trace.h"

#include <math.h>

#include "apps/trace/trace.h"
#include "util/util_alloc.h"

static double first_enter(const transport_times_t *times, int n_ranks, int64_t n_batches)
{
    double first = times[0].enter;
    for (int rank = 1; rank < n_ranks; rank++) {
        first = fmin(first, times[rank * n_batches].enter);
    }
    return first;
}

static void write_batch(FILE *file, const transport_times_t *times, int n_ranks,
                        const transport_options_t *options, int64_t batch, double origin,
                        int64_t *row)
{
    int64_t *const arrival_ns = row;
    int64_t *const exit_ns = row + n_ranks;
    for (int rank = 0; rank < n_ranks; rank++) {
        const transport_times_t *mine = &times[rank * options->batches + batch];
        arrival_ns[rank] = llround(1e9 * (mine->enter - origin));
        exit_ns[rank] = llround(1e9 * (mine->leave - origin));
    }
    clv_trace_write_call(file, n_ranks, batch, arrival_ns, exit_ns);
}

int transport_trace_write(FILE *file, const transport_options_t *options, int n_ranks,
                          const transport_times_t *times)
{
    const double origin = first_enter(times, n_ranks, options->batches);
    int64_t *row = clv_alloc(2 * (size_t) n_ranks, sizeof *row);
    if (row == NULL) {
        return 0;
    }
    clv_trace_write_head(file, n_ranks);
    clv_trace_write_about(file, "program", "transport");
    clv_trace_write_about(file, "collective", "reduce");
    for (int64_t batch = 0; batch < options->batches; batch++) {
        write_batch(file, times, n_ranks, options, batch, origin, row);
    }
    clv_free(row);
    return fflush(file) == 0 && !ferror(file);
}
