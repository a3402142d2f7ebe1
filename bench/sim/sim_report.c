/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One flat JSON object a line, keys as clv-bench's.
 */
#include "bench/sim/sim_report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/util_alloc.h"

static const char *const metric_names[CLV_SIM_N_METRICS] = {"after", "run", "in_mpi_mean"};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t) n, sizeof *values, by_value);
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

static void write_factors(FILE *out, const clv_sim_options_t *options, int n_ranks,
                          int32_t n_segments)
{
    fprintf(out,
            "{\"collective\":\"reduce\",\"ranks\":%d,\"bytes\":%" PRId64
            ",\"type\":\"float\",\"op\":\"sum\",\"root\":0",
            n_ranks, (int64_t) options->n_floats * 4);
    fprintf(out, ",\"pattern\":\"%s\",\"delay_ns\":%.0f,\"seed\":%" PRIu64, options->pattern,
            options->delay_ms * 1e6, options->seed);
    fprintf(out, ",\"algorithm\":\"%s\",\"segments\":%" PRId32, options->algorithm, n_segments);
    fprintf(out, ",\"error\":\"%s\",\"clip\":%g,\"round_factor\":%g", options->error,
            options->clip, options->round_factor);
    fprintf(out, ",\"recv_window\":%" PRId32 ",\"send_window\":%" PRId32,
            options->limits.recv_window, options->limits.send_window);
}

/* The calls in their order, then, because sorting spends them, their median. */
static void write_metric(FILE *out, int metric, const clv_sim_timing_t *timings, int n_calls,
                         double *values)
{
    fprintf(out, ",\"%s_ns\":[", metric_names[metric]);
    for (int call = 0; call < n_calls; call++) {
        values[call] = timings[call].ns[metric];
        fprintf(out, "%s%.0f", call > 0 ? "," : "", values[call]);
    }
    fprintf(out, "],\"%s_median_ns\":%.0f", metric_names[metric], median(values, n_calls));
}

clv_status_t clv_sim_report(FILE *out, const clv_sim_options_t *options, int n_ranks,
                            const clv_sim_timing_t *timings)
{
    double *values = clv_alloc((size_t) options->n_calls, sizeof *values);

    if (NULL == values) {
        return CLV_NO_MEMORY;
    }
    write_factors(out, options, n_ranks, timings[options->n_calls - 1].n_segments);
    for (int metric = 0; metric < CLV_SIM_N_METRICS; metric++) {
        write_metric(out, metric, timings, options->n_calls, values);
    }
    fprintf(out, ",\"usable\":[");
    for (int call = 0; call < options->n_calls; call++) {
        fprintf(out, call > 0 ? ",1" : "1");
    }
    fprintf(out, "]}\n");
    clv_free(values);
    return CLV_OK;
}
