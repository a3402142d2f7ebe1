/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures per batch, medians over the batches after the warm-up, and the lines that show them; the
 * trace of arrivals.
 */
#include "apps/examples/transport/transport.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/trace/trace.h"
#include "util/util_alloc.h"

/* The figures of a batch, in ms. */
enum figure { MEAN_IN_REDUCE, MAX_IN_REDUCE, AFTER_LAST, BATCH, N_FIGURES };

typedef struct figures {
    double ms[N_FIGURES];
} figures_t;

const char *transport_verdict_problem(const transport_verdict_t *verdict)
{
    const double allowed = 5.0; /* standard deviations; runs are reproducible, so no chance here */
    if (verdict->n_differing > 0) {
        return "the reduced tally differs from the serial run's";
    }
    if (verdict->n_unbalanced != 0) {
        return "particles are missing";
    }
    if (fabs(verdict->transmission_deviation) > allowed) {
        return "the uncollided transmission is not exp(-thickness)";
    }
    return verdict->profile_deviation > allowed ? "the first collisions have the wrong profile"
                                                : NULL;
}

static figures_t figures_of_batch(const transport_times_t *times, int n_ranks, int64_t n_batches)
{
    double sum = 0.0, most = 0.0, batch = 0.0;
    double last_enter = times[0].enter, last_leave = times[0].leave;
    for (int rank = 0; rank < n_ranks; rank++, times += n_batches) {
        const double inside = times->leave - times->enter;
        sum += inside;
        most = fmax(most, inside);
        batch = fmax(batch, times->batch);
        last_enter = fmax(last_enter, times->enter);
        last_leave = fmax(last_leave, times->leave);
    }
    return (figures_t){
        {1e3 * sum / n_ranks, 1e3 * most, 1e3 * (last_leave - last_enter), 1e3 * batch}};
}

static int ascending(const void *left, const void *right)
{
    const double a = *(const double *) left, b = *(const double *) right;
    return (a > b) - (a < b);
}

static double median(double *values, int64_t n)
{
    qsort(values, (size_t) n, sizeof *values, ascending);
    return 0.5 * (values[(n - 1) / 2] + values[n / 2]);
}

/* scratch: one double per batch. */
static double median_figure(const figures_t *figures, int64_t first, int64_t n_batches,
                            enum figure which, double *scratch)
{
    for (int64_t batch = first; batch < n_batches; batch++) {
        scratch[batch - first] = figures[batch].ms[which];
    }
    return median(scratch, n_batches - first);
}

static void print_maybe(const char *format, const char *otherwise, int known, double value)
{
    if (known) {
        (void) printf(format, value);
    } else {
        (void) printf("%s", otherwise);
    }
}

static void print_batches(const transport_options_t *options, const figures_t *figures)
{
    (void) printf("batch   in MPI_Reduce [ms]    after last    batch\n"
                  "            mean       max  arrival [ms]     [ms]\n");
    for (int64_t batch = 0; batch < options->batches; batch++) {
        const double *ms = figures[batch].ms;
        (void) printf("%5lld %10.2f %9.2f ", (long long) batch, ms[MEAN_IN_REDUCE],
                      ms[MAX_IN_REDUCE]);
        print_maybe("%13.2f", "            -", options->common_clock != 0, ms[AFTER_LAST]);
        (void) printf(" %8.2f%s\n", ms[BATCH], batch < options->warmup ? "  (warm-up)" : "");
    }
}

static void print_physics(const transport_options_t *options, const transport_fates_t *fates,
                          const transport_verdict_t *verdict)
{
    const double n = (double) fates->started;
    (void) printf("physics: uncollided transmission %.6f, exact %.6f (%+.2f sigma); "
                  "first-collision profile %+.2f sigma; absorbed %.4f\n",
                  (double) fates->uncollided / n, exp(-options->thickness),
                  verdict->transmission_deviation, verdict->profile_deviation,
                  (double) fates->absorbed / n);
    (void) printf("tally:   %s\n", verdict->n_differing < 0 ? "not compared with a serial run"
                                   : verdict->n_differing == 0
                                       ? "equal to the serial run, bit by bit"
                                       : "DIFFERS from the serial run");
}

/* The batch time, from end to end, of the rank that is slowest over all batches: this makes up the
 * program's wall time, even if ranks run ahead of each other. */
static double iteration_ms(const transport_times_t *times, int n_ranks, int64_t first,
                           int64_t n_batches)
{
    double slowest = 0.0;
    for (int rank = 0; rank < n_ranks; rank++) {
        double sum = 0.0;
        for (int64_t batch = first; batch < n_batches; batch++) {
            sum += times[rank * n_batches + batch].batch;
        }
        slowest = fmax(slowest, sum);
    }
    return 1e3 * slowest / (double) (n_batches - first);
}

static void print_for_programs(const transport_options_t *options, int n_ranks,
                               const transport_times_t *times, const figures_t *figures,
                               double *scratch, int is_good)
{
    const int64_t first = options->warmup < options->batches ? options->warmup : 0;
    static const char *const names[N_FIGURES] = {"reduce_mean_ms", "reduce_max_ms", "after_ms",
                                                 "batch_ms"};
    (void) printf("transport-result ranks=%d batches=%lld iteration_ms=%.3f", n_ranks,
                  (long long) (options->batches - first),
                  iteration_ms(times, n_ranks, first, options->batches));
    for (int which = 0; which < N_FIGURES; which++) {
        const double value =
            median_figure(figures, first, options->batches, (enum figure) which, scratch);
        (void) printf(" %s=", names[which]);
        print_maybe("%.3f", "unknown", which != AFTER_LAST || options->common_clock != 0, value);
    }
    (void) printf(" check=%s\n", is_good ? "ok" : "failed");
}

void transport_report(const transport_options_t *options, int n_ranks,
                      const transport_times_t *times, const transport_fates_t *fates,
                      const transport_verdict_t *verdict)
{
    const size_t n_batches = (size_t) options->batches;
    figures_t *figures = calloc(n_batches, sizeof *figures);
    double *scratch = calloc(n_batches, sizeof *scratch);
    if (figures != NULL && scratch != NULL) {
        for (size_t batch = 0; batch < n_batches; batch++) {
            figures[batch] = figures_of_batch(times + batch, n_ranks, options->batches);
        }
        if (!options->quiet) {
            print_batches(options, figures);
        }
        print_physics(options, fates, verdict);
        print_for_programs(options, n_ranks, times, figures, scratch,
                           transport_verdict_problem(verdict) == NULL);
    }
    free(scratch);
    free(figures);
}

/* ---- the trace ------------------------------------------------------------------------------ */

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
