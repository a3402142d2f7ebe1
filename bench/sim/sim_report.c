/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One flat JSON object a line, keys as clv-bench's.
 */
#include "bench/sim/sim_report.h"

#include <inttypes.h>

static void write_factors(FILE *out, const clv_sim_options_t *options, int n_ranks)
{
    fprintf(out,
            "\"collective\":\"reduce\",\"ranks\":%d,\"bytes\":%" PRId64
            ",\"type\":\"float\",\"op\":\"sum\",\"root\":0,",
            n_ranks, (int64_t) options->n_floats * 4);
    fprintf(out, "\"pattern\":\"%s\",\"delay_ns\":%.0f,\"seed\":%" PRIu64 ",", options->pattern,
            options->delay_ms * 1e6, options->seed);
    fprintf(out, "\"algorithm\":\"%s\",\"error\":\"%s\",\"clip\":%g,\"round_factor\":%g,",
            options->algorithm, options->error, options->clip, options->round_factor);
    fprintf(out, "\"recv_window\":%" PRId32 ",\"send_window\":%" PRId32 ",",
            options->limits.recv_window, options->limits.send_window);
}

void clv_sim_report(FILE *out, const clv_sim_options_t *options, int n_ranks, int call,
                    const clv_sim_timing_t *timing)
{
    fputc('{', out);
    write_factors(out, options, n_ranks);
    fprintf(out, "\"call\":%d,\"segments\":%" PRId32 ",\"usable\":[1],", call, timing->n_segments);
    fprintf(out, "\"after_ns\":[%.0f],\"run_ns\":[%.0f],\"in_mpi_mean_ns\":[%.0f]}\n",
            timing->after_ns, timing->run_ns, timing->in_mpi_ns);
}
