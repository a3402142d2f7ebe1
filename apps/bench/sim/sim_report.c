/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A line of JSON for each call, keys as clv-bench's.
 */
#include "apps/bench/sim/sim_report.h"

#include "apps/cli/cli_json.h"

static void write_factors(clv_json_t *json, const clv_sim_options_t *options, int n_ranks)
{
    clv_json_text(json, "collective", options->collective);
    clv_json_whole(json, "ranks", n_ranks);
    clv_json_whole(json, "bytes", (int64_t) options->n_floats * 4);
    clv_json_text(json, "type", "float");
    clv_json_text(json, "op", "sum");
    clv_json_whole(json, "root", 0);
    clv_json_text(json, "pattern", options->pattern);
    clv_json_number(json, "delay_ns", options->delay_ms * 1e6);
    clv_json_whole(json, "seed", options->seed);
    clv_json_text(json, "algorithm", options->algorithm);
    clv_json_text(json, "error", options->error);
    clv_json_number(json, "clip", options->clip);
    clv_json_number(json, "round_factor", options->round_factor);
    clv_json_whole(json, "recv_window", options->limits.recv_window);
    clv_json_whole(json, "source_window", options->limits.source_window);
    clv_json_whole(json, "send_window", options->limits.send_window);
    clv_json_number(json, "combine_ps", options->combine_ps);
}

static void write_call(clv_json_t *json, const char *key, double ns)
{
    clv_json_list_begin(json, key);
    clv_json_item(json, ns, 0);
    clv_json_list_end(json);
}

void clv_sim_report(FILE *out, const clv_sim_options_t *options, int n_ranks, int call,
                    const clv_sim_timing_t *timing)
{
    clv_json_t json = clv_json_begin(out, "clv-sim", "calls");

    write_factors(&json, options, n_ranks);
    clv_json_whole(&json, "call", call);
    clv_json_whole(&json, "segments", timing->n_segments);
    write_call(&json, "usable", 1);
    write_call(&json, "after_ns", timing->after_ns);
    write_call(&json, "run_ns", timing->run_ns);
    write_call(&json, "in_mpi_mean_ns", timing->in_mpi_ns);
    clv_json_end(&json);
}
