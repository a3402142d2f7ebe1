/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-sim's options: "--name value" pairs, one table row each.
 */
#include "apps/bench/sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(clv_sim_options_t, field)

/* Windows of one: in a fluid network, everything sent ahead takes bandwidth from the messages
 * needed now (docs/results/simulation.md). */
static const clv_option_t rows[] = {
    CLV_ROW_TEXT("collective", AT(collective), "NAME", "reduce", "or allreduce"),
    CLV_ROW_TEXT("algorithm", AT(algorithm), "NAME", "bitset",
                 "library, bound, radix-k, a scheduler"),
    CLV_ROW_TEXT("pattern", AT(pattern), "NAME", "uniform", "pattern of clv-bench"),
    CLV_ROW_TEXT("error", AT(error), "PART", "0",
                 "error of the prediction: percent, random, reversed, equal"),
    CLV_ROW_REAL("delay-ms", AT(delay_ms), 0, 1e5, "50", "largest delay, ms"),
    CLV_ROW_REAL("round-factor", AT(round_factor), 0.01, 1e4, "1",
                 "length of a plan's round, in measured rounds"),
    CLV_ROW_WHOLE32("floats", AT(n_floats), 1, 1 << 28, "524288", "floats in a vector"),
    CLV_ROW_WHOLE32("segments", AT(n_segments), 0, CLV_SCHED_MAX_SEGMENTS, "0", "0: chosen"),
    CLV_ROW_WHOLE32("calls", AT(n_calls), 1, 1e6, "5", "simulated calls"),
    CLV_ROW_REAL("clip", AT(clip), 0, 1e3, "0",
                 "largest deviation that the clip rule accepts; 0: no rule"),
    CLV_ROW_WHOLE("seed", AT(seed), 0, 1e15, "1", "seed of arrivals"),
    CLV_ROW_WHOLE32("recv-window", AT(limits.recv_window), 1, CLV_EXEC_MAX_WINDOW, "1",
                    "open receives"),
    CLV_ROW_WHOLE32("send-window", AT(limits.send_window), 1, CLV_EXEC_MAX_WINDOW, "1",
                    "open sends"),
    CLV_ROW_WHOLE32("source-window", AT(limits.source_window), 0, CLV_EXEC_MAX_WINDOW, "0",
                    "open receives from one rank; 0: no limit"),
    CLV_ROW_FLAG("rounds", AT(in_rounds), "a send waits for its rank's earlier rounds"),
    CLV_ROW_REAL("combine-ps", AT(combine_ps), 0, 1e6, "0", "time to combine a byte, picoseconds"),
    CLV_ROWS_END,
};

const clv_program_t clv_sim_program = {
    .name = "clv-sim",
    .usage = "smpirun ... clv-sim [--option value ...]",
    .options = rows,
};

/* Whether it is random, reversed, equal, or a percentage. */
static bool error_known(const char *error)
{
    char *end;
    const double percent = strtod(error, &end);

    return strcmp(error, "random") == 0 || strcmp(error, "reversed") == 0 ||
           strcmp(error, "equal") == 0 ||
           (end != error && *end == '\0' && percent >= 0 && percent <= 1000);
}

bool clv_sim_is_allreduce(const clv_sim_options_t *options)
{
    return strcmp(options->collective, "allreduce") == 0;
}

/* Whether it is an algorithm of the collective. */
static bool algorithm_known(const clv_sim_options_t *options)
{
    const clv_goal_t goal = clv_sim_is_allreduce(options) ? CLV_GOAL_ALLREDUCE : CLV_GOAL_REDUCE;
    const clv_sim_direct_t *direct = clv_sim_direct_find(options->algorithm);
    const clv_generator_t *generator = clv_generator_find(options->algorithm);

    return (direct != NULL && (direct->allreduces || goal == CLV_GOAL_REDUCE)) ||
           (generator != NULL && (generator->goals >> goal & 1) != 0);
}

/* An algorithm that the chooser does not choose needs segments, and takes no clip rule. */
static bool chosen_or_said(const clv_sim_options_t *options)
{
    return clv_sim_direct_find(options->algorithm) != NULL ||
           clv_sim_chosen(options->algorithm) != CLV_ALGORITHM_AUTO ||
           (options->n_segments > 0 && !(options->clip > 0));
}

clv_status_t clv_sim_options_check(const clv_sim_options_t *options, char *reason,
                                   size_t reason_bytes)
{
    if (!clv_sim_is_allreduce(options) && strcmp(options->collective, "reduce") != 0) {
        (void) snprintf(reason, reason_bytes, "unknown collective '%s': reduce or allreduce",
                        options->collective);
        return CLV_INVALID;
    }
    if (!algorithm_known(options)) {
        (void) snprintf(reason, reason_bytes, "unknown algorithm '%s'", options->algorithm);
        return CLV_INVALID;
    }
    if (!error_known(options->error)) {
        (void) snprintf(reason, reason_bytes,
                        "unknown error '%s': a percentage, random, reversed or equal",
                        options->error);
        return CLV_INVALID;
    }
    if (!chosen_or_said(options)) {
        (void) snprintf(reason, reason_bytes,
                        "'%s' is no algorithm of the component: it needs --segments, and no --clip",
                        options->algorithm);
        return CLV_INVALID;
    }
    if (options->limits.source_window > options->limits.recv_window) {
        (void) snprintf(reason, reason_bytes, "more receives from one rank than receives");
        return CLV_INVALID;
    }
    if (options->n_segments > options->n_floats) {
        (void) snprintf(reason, reason_bytes, "more segments than floats");
        return CLV_INVALID;
    }
    return CLV_OK;
}
