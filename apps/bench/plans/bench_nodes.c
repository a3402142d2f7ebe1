/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cost of a plan for ranks that share hosts: CPU time to make and to estimate it and its fast
 * estimate, compared with flat plans for as many ranks as hosts, and for all ranks.
 *
 * Output: one line per case: hosts, ranks on each, generator between hosts; microseconds, each the
 * median over fresh arrivals: for the host order, which all candidates for a forecast share; to
 * make and to estimate the fast estimate of the node plan, that plan, the flat plan of the hosts
 * and the flat plan of the ranks (each rank a host of its own); and the cost of the fast estimate
 * in flat plans of the hosts. 64 segments, arrivals over 50 ms.
 * Usage: bench_nodes [arrivals per case, 3 to 1000; 21]
 */
#include <stdio.h>
#include <stdlib.h>

#include "apps/bench/measure/bench_stats.h"
#include "apps/bench/plans/bench_time.h"
#include "apps/cli/cli_options.h"
#include "schedule/sched_fast_estimate.h"
#include "schedule/sched_host_order.h"
#include "schedule/schedule.h"
#include "tests/support/random_instance.h"

enum { MAX_RANKS = 1024, MAX_RUNS = 1000, N_SEGMENTS = 64, VECTOR_BYTES = 2 << 20 };

static const int32_t sizes[][2] = {{4, 4}, {16, 4}, {16, 16}, {16, 64}, {64, 16}};
static const char *const names[] = {"chain-by-rank", "chain", "latest-first-rns", "bitset"};
static const clv_cost_t cost = {60000, 20000, 5000, 500, 100, 0, 32768, 0};

static void must(clv_status_t status)
{
    if (status != CLV_OK) {
        fprintf(stderr, "bench_nodes: %s\n", clv_status_text(status));
        exit(1);
    }
}

/* CPU times of one case. */
typedef struct took {
    double share_us;
    double make_us;
    double estimate_us;
} took_t;

/* Makes and estimates a plan. */
typedef void (*way_t)(const clv_generator_t *generator, const clv_instance_t *instance,
                      took_t *took);

static void by_plan(const clv_generator_t *generator, const clv_instance_t *instance, took_t *took)
{
    clv_plan_t *plan = NULL;
    clv_estimate_t estimate;
    const double start_us = clv_bench_cpu_us();
    must(clv_plan_make(generator, instance, &plan));
    const double made_us = clv_bench_cpu_us();
    must(clv_plan_estimate(plan, instance->arrival_ns, instance->place, VECTOR_BYTES, &cost,
                           &estimate));
    *took = (took_t){0, made_us - start_us, clv_bench_cpu_us() - made_us};
    clv_plan_free(plan);
}

static void by_fast_estimate(const clv_generator_t *generator, const clv_instance_t *instance,
                             took_t *took)
{
    clv_fast_estimate_t *fast = NULL;
    clv_host_order_t *host_order = NULL;
    clv_instance_t prepared = *instance;
    clv_estimate_t estimate;
    const double first_us = clv_bench_cpu_us();
    must(clv_host_order_make(instance, &host_order));
    prepared.host_order = host_order;
    const double start_us = clv_bench_cpu_us();
    must(clv_fast_estimate_make(generator, &prepared, &fast));
    const double made_us = clv_bench_cpu_us();
    must(clv_fast_estimate_run(fast, instance->arrival_ns, VECTOR_BYTES, &cost, &estimate));
    *took = (took_t){start_us - first_us, made_us - start_us, clv_bench_cpu_us() - made_us};
    clv_fast_estimate_free(fast);
    clv_host_order_free(host_order);
}

/* The median of each time. */
static took_t medians(const took_t *took, int n_runs)
{
    static double of[3][MAX_RUNS];

    for (int i = 0; i < n_runs; i++) {
        of[0][i] = took[i].share_us;
        of[1][i] = took[i].make_us;
        of[2][i] = took[i].estimate_us;
    }
    return (took_t){clv_stats_median(of[0], (size_t) n_runs),
                    clv_stats_median(of[1], (size_t) n_runs),
                    clv_stats_median(of[2], (size_t) n_runs)};
}

/* place NULL: a flat plan. */
static took_t measure(way_t way, const clv_generator_t *generator, int32_t n_ranks,
                      const int32_t *place, int n_runs)
{
    static int64_t arrival_ns[MAX_RANKS];
    static took_t took[MAX_RUNS];
    uint64_t state = 20211204;
    for (int i = 0; i < n_runs; i++) {
        for (int32_t p = 0; p < n_ranks; p++) {
            arrival_ns[p] = clv_random_between(&state, 0, 50000000);
        }
        const clv_instance_t instance = {.n_ranks = n_ranks,
                                         .n_segments = N_SEGMENTS,
                                         .round_ns =
                                             clv_cost_round_ns(&cost, VECTOR_BYTES / N_SEGMENTS),
                                         .arrival_ns = arrival_ns,
                                         .place = place};
        way(generator, &instance, &took[i]);
    }
    return medians(took, n_runs);
}

static void print_case(const char *name, const int32_t *size, const int32_t *place, int n_runs)
{
    const clv_generator_t *flat = clv_generator_find(name);
    const clv_generator_t *on_places = clv_generator_on_places(flat);
    const int32_t n_hosts = size[0], n_ranks = size[0] * size[1];
    const took_t fast = measure(by_fast_estimate, on_places, n_ranks, place, n_runs);
    const took_t plan = measure(by_plan, on_places, n_ranks, place, n_runs);
    const took_t of_hosts = measure(by_plan, flat, n_hosts, NULL, n_runs);
    const took_t of_ranks = measure(by_plan, flat, n_ranks, NULL, n_runs);

    printf(
        "| %d x %d | %s | %.0f | %.1f + %.1f | %.0f + %.0f | %.1f + %.1f | %.0f + %.0f | %.1f |\n",
        (int) n_hosts, (int) size[1], name, fast.share_us, fast.make_us, fast.estimate_us,
        plan.make_us, plan.estimate_us, of_hosts.make_us, of_hosts.estimate_us, of_ranks.make_us,
        of_ranks.estimate_us,
        (fast.make_us + fast.estimate_us) / (of_hosts.make_us + of_hosts.estimate_us));
    (void) fflush(stdout);
}

static const clv_option_t rows[] = {
    CLV_ROW_WHOLE32("arrivals", 0, 3, MAX_RUNS, "21", "arrival sets per case"),
    CLV_ROWS_END,
};
static const clv_program_t program = {
    .name = "bench_nodes", .usage = "bench_nodes [--arrivals N]", .options = rows};

int main(int argc, char **argv)
{
    int32_t n_runs = 0;
    int32_t place[MAX_RANKS];
    const int status = clv_options_main(&program, argc, argv, &n_runs, NULL);
    if (status >= 0) {
        return status;
    }
    puts("| nodes x ranks | between | shared, us | fast estimate | node plan | flat, of the nodes "
         "| flat, "
         "of the ranks | fast estimate in flat ones |");
    puts("|---|---|---|---|---|---|---|---|");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int32_t p = 0; p < sizes[i][0] * sizes[i][1]; p++) {
            place[p] = p / sizes[i][1];
        }
        for (size_t g = 0; g < sizeof names / sizeof *names; g++) {
            print_case(names[g], sizes[i], place, n_runs);
        }
    }
    return 0;
}
