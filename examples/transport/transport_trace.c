/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The trace of arrivals, see the header.
 */
#include "examples/transport/transport_trace.h"

#include <math.h>

static double first_enter(const transport_times_t *times, int n_ranks, int64_t n_batches)
{
    double first = times[0].enter;
    for (int rank = 1; rank < n_ranks; rank++) {
        first = fmin(first, times[rank * n_batches].enter);
    }
    return first;
}

static void write_batch(FILE *file, const transport_times_t *times, int n_ranks, int64_t n_batches,
                        double origin)
{
    (void) fprintf(file, " |");
    for (int rank = 0; rank < n_ranks; rank++) {
        (void) fprintf(file, " %lld", llround(1e9 * (times[rank * n_batches].enter - origin)));
    }
    (void) fprintf(file, " |");
    for (int rank = 0; rank < n_ranks; rank++) {
        (void) fprintf(file, " %lld", llround(1e9 * (times[rank * n_batches].leave - origin)));
    }
}

int transport_trace_write(FILE *file, const transport_options_t *options, int n_ranks,
                          const transport_times_t *times)
{
    const int64_t n_batches = options->batches;
    const double origin = first_enter(times, n_ranks, n_batches);
    (void) fprintf(file, "clv-trace 1\nranks %d\n", n_ranks);
    for (int64_t batch = 0; batch < n_batches; batch++) {
        (void) fprintf(file, "call %lld", (long long) batch);
        write_batch(file, times + batch, n_ranks, n_batches, origin);
        (void) fprintf(file, "\n");
    }
    return 0 == fflush(file) && !ferror(file);
}
