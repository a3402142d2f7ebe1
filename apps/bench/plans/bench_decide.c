/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cost of a forecast in the background thread: CPU time of the decision, its plan and the steps
 * of the first host's ranks, by ranks, vector and arrivals.
 *
 * Output: one line per case: median CPU microseconds per forecast with fresh arrivals and no cache
 * (none), fresh arrivals and the component's cache (cold), and repeated arrivals (warm); plans
 * requested per forecast; bytes in the cache at the end.
 * Not: the quality of decisions (tests/choose/test_choose.c) or of plans (plan_quality).
 * Usage: bench_decide [--forecasts N] [--ranks-per-host N]
 */
#include <stdio.h>
#include <stdlib.h>

#include "apps/bench/measure/bench_stats.h"
#include "apps/bench/plans/bench_time.h"
#include "choose/choose_node_plan.h"
#include "apps/cli/cli_options.h"
#include "tests/support/random_instance.h"
#include "util/util_alloc.h"

enum { MAX_RANKS = 1024, MAX_FORECASTS = 1000 };

typedef struct spread_row {
    const char *name;
    int64_t spread_ns;
} spread_row_t;

static const spread_row_t spreads[] = {{"1 ms", 1000000}, {"30 ms", 30000000}};
static const int32_t rank_counts[] = {16, 64, 128, 256, 512, 1024};
static const int64_t vector_bytes[] = {2 << 20, 32 << 20};

/* How the arrivals of successive forecasts relate. */
typedef enum mode { MODE_NONE, MODE_COLD, MODE_WARM, N_MODES } reuse_t;

typedef struct bench_case {
    clv_choose_config_t config;
    clv_pap_stream_key_t key;
    int64_t spread_ns;
    int32_t n_forecasts;
    int32_t per_host;
} bench_case_t;

static int64_t predicted_ns[MAX_RANKS];
static int32_t place[MAX_RANKS], first_host[MAX_RANKS];
static clv_node_plan_t *node_plan; /* room for all steps of all ranks */
static size_t node_plan_bytes;

static void must(clv_status_t status)
{
    if (status != CLV_OK) {
        fprintf(stderr, "bench_decide: %s\n", clv_status_text(status));
        exit(1);
    }
}

static void draw_arrivals(const bench_case_t *is, uint64_t *state)
{
    for (int32_t p = 0; p < is->config.n_ranks; p++) {
        predicted_ns[p] = clv_random_between(state, 0, is->spread_ns);
    }
}

/* As the background thread does it; the previous reduce counts as measured. */
static void decide_once(const bench_case_t *is, int64_t version, clv_choose_state_t *state,
                        clv_plan_cache_t *plans)
{
    const clv_pap_forecast_t forecast = {.n_ranks = is->config.n_ranks,
                                         .n_record_sets = 8,
                                         .version = version,
                                         .sigma_ns = is->spread_ns / 100,
                                         .worst_error_ns = 0,
                                         .sample_every = 1,
                                         .previous_after_ns = -1,
                                         .predicted_ns = predicted_ns};
    clv_choose_decision_t decision;
    const clv_plan_t *plan = NULL;
    clv_plan_t *made = NULL;

    state->score[CLV_ALGORITHM_PREVIOUS].n_measured = 2;
    state->score[CLV_ALGORITHM_PREVIOUS].ratio_permille = 1000;
    must(clv_choose(&is->config, &is->key, &forecast, state, plans, &decision));
    if (decision.algorithm != CLV_ALGORITHM_PREVIOUS && plans == NULL) {
        must(clv_choose_plan(&is->config, &is->key, &forecast, &decision, &made));
        plan = made;
    } else if (decision.algorithm != CLV_ALGORITHM_PREVIOUS) {
        must(clv_choose_cached_plan(&is->config, &is->key, &forecast, &decision, plans, &plan));
    }
    (void) clv_node_plan_write(node_plan, node_plan_bytes, &decision, plan, first_host,
                               is->per_host);
    clv_plan_free(made);
}

static double measure(const bench_case_t *is, reuse_t mode, clv_plan_cache_counters_t *counters)
{
    static double took_us[MAX_FORECASTS];
    clv_choose_state_t state = {0};
    clv_plan_cache_t *plans = NULL;
    uint64_t random = 20261121;

    if (mode != MODE_NONE) {
        must(clv_plan_cache_create(CLV_CHOOSE_CACHE_PLANS, CLV_CHOOSE_CACHE_BYTES, &plans));
    }
    draw_arrivals(is, &random);
    for (int32_t k = -1; k < is->n_forecasts; k++) { /* -1 fills the caches, unmeasured */
        double start_us = clv_bench_cpu_us();
        decide_once(is, k + 2, &state, plans);
        if (k >= 0) {
            took_us[k] = clv_bench_cpu_us() - start_us;
        }
        if (mode != MODE_WARM) {
            draw_arrivals(is, &random);
        }
    }
    if (plans != NULL) {
        *counters = clv_plan_cache_counters(plans);
    }
    clv_plan_cache_free(plans);
    return clv_stats_median(took_us, (size_t) is->n_forecasts);
}

static void print_case(const bench_case_t *is, const char *spread)
{
    clv_plan_cache_counters_t cold = {0}, warm = {0};
    double none_us = measure(is, MODE_NONE, &cold);
    double cold_us = measure(is, MODE_COLD, &cold);
    double warm_us = measure(is, MODE_WARM, &warm);

    printf("%5d %6lld %-6s %12.0f %12.0f %12.0f %8.1f %9lld %9.1f\n", (int) is->config.n_ranks,
           (long long) (is->key.total_bytes >> 20), spread, none_us, cold_us, warm_us,
           (double) (cold.n_hits + cold.n_misses) / (is->n_forecasts + 1),
           (long long) cold.n_bytes >> 10,
           100.0 * (double) warm.n_hits / (double) (warm.n_hits + warm.n_misses));
    (void) fflush(stdout);
}

typedef struct options {
    int32_t n_forecasts;
    int32_t per_host;
} options_t;

static const clv_option_t rows[] = {
    CLV_ROW_WHOLE32("forecasts", offsetof(options_t, n_forecasts), 3, MAX_FORECASTS, "30",
                    "forecasts per case"),
    CLV_ROW_WHOLE32("ranks-per-host", offsetof(options_t, per_host), 1, 64, "1",
                    "ranks that share a link"),
    CLV_ROWS_END,
};
static const clv_program_t program = {.name = "bench_decide",
                                      .usage = "bench_decide [--forecasts N] [--ranks-per-host N]",
                                      .options = rows};

/* A link of 10 GB/s; inside a host 1 us, 20 GB/s, and 10 GB/s to combine. */
static clv_choose_config_t config_of(int32_t n_ranks, int32_t per_host)
{
    const bool shares = per_host > 1 && n_ranks > per_host;

    return (clv_choose_config_t){.n_ranks = n_ranks,
                                 .reduce_algorithm = CLV_ALGORITHM_AUTO,
                                 .guard_permille = 200,
                                 .max_cells = 65536,
                                 .place = shares ? place : NULL,
                                 .cost = {.latency_ns = 10000,
                                          .byte_ps = 100,
                                          .near_latency_ns = shares ? 1000 : 0,
                                          .near_byte_ps = shares ? 50 : 0,
                                          .combine_ps = shares ? 100 : 0}};
}

static void set_hosts(int32_t per_host)
{
    node_plan_bytes = clv_node_plan_bytes(per_host, (int64_t) 2 * 65536 * 2);
    node_plan = clv_alloc_unset(1, node_plan_bytes);
    if (node_plan == NULL) {
        must(CLV_NO_MEMORY);
    }
    for (int32_t p = 0; p < MAX_RANKS; p++) {
        place[p] = p / per_host;
        first_host[p] = p;
    }
}

int main(int argc, char **argv)
{
    options_t options = {0};
    const int status = clv_options_main(&program, argc, argv, &options, NULL);

    if (status >= 0) {
        return status;
    }
    printf("# CPU us per forecast, median of %d; 10 us latency, 0.1 ns per byte\n",
           (int) options.n_forecasts);
    set_hosts(options.per_host);
    printf("%5s %6s %-6s %12s %12s %12s %8s %9s %9s\n", "P", "MiB", "spread", "none", "cold",
           "warm", "plans", "kept KiB", "warm hit%");
    for (size_t p = 0; p < sizeof rank_counts / sizeof rank_counts[0]; p++) {
        for (size_t v = 0; v < sizeof vector_bytes / sizeof vector_bytes[0]; v++) {
            for (size_t s = 0; s < sizeof spreads / sizeof spreads[0]; s++) {
                const bench_case_t is = {
                    .config = config_of(rank_counts[p], options.per_host),
                    .key = {.collective = CLV_COLLECTIVE_REDUCE, .total_bytes = vector_bytes[v]},
                    .spread_ns = spreads[s].spread_ns,
                    .n_forecasts = options.n_forecasts,
                    .per_host = options.per_host};
                print_case(&is, spreads[s].name);
            }
        }
    }
    clv_free(node_plan);
    return 0;
}
