/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The closed loop (choose_loop.h) under conditions that no table has: links, hosts, sizes,
 * run-ahead, coupling and computing times drawn at random from wide ranges. A line per seed: what
 * was drawn, and the iteration with the choice free over that of the best forced algorithm, in the
 * last quarter of 400 calls and in the first half. For tests/quality/held_out.sh.
 *
 *     choose_held_out FIRST_SEED N_SEEDS
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/choose_loop.h"
#include "tests/support/random_instance.h"

enum { BY_RANK, ONE_LATE, FRESH, TURNS, DRIFTING, N_KINDS };
static const char *const kinds[N_KINDS] = {"by rank", "one late", "fresh", "in turns", "drifting"};

/* What loop_program_t's functions need; of the program that runs. */
static struct drawn {
    int kind;
    int32_t n_ranks, stride, late_rank, period;
    int32_t couple_every; /* 0: ranks are never coupled */
    int64_t base_ns, spread_ns, noise_ns;
} drawn;

static int64_t computing(int32_t rank, int32_t call, uint64_t *random)
{
    const int32_t turn = drawn.kind == TURNS ? call % drawn.period : 0;
    const int32_t place = (int32_t) (((int64_t) rank * drawn.stride + turn) % drawn.n_ranks);
    int64_t ns = drawn.base_ns + clv_random_between(random, 0, drawn.noise_ns);

    switch (drawn.kind) {
    case ONE_LATE:
        return ns + (rank == drawn.late_rank ? drawn.spread_ns : 0);
    case FRESH:
        return ns + clv_random_between(random, 0, drawn.spread_ns);
    case DRIFTING:
        return ns + drawn.spread_ns * place / drawn.n_ranks * call / LOOP_CALLS;
    default:
        return ns + drawn.spread_ns * place / drawn.n_ranks;
    }
}

static loop_couple_t couple(int32_t call)
{
    return drawn.couple_every > 0 && call % drawn.couple_every == 0 ? LOOP_BCAST : LOOP_FREE;
}

/* From low to high, each order of magnitude as likely as another. */
static double any_magnitude(uint64_t *random, double low, double high)
{
    const double part = (double) clv_random_between(random, 0, 1000000) / 1e6;

    return low * pow(high / low, part);
}

static int32_t one_of(uint64_t *random, int32_t low, int32_t high)
{
    return (int32_t) clv_random_between(random, low, high);
}

/* From 100 Mb/s to 100 Gb/s and 1 to 100 us; inside a host 10 to 100 Gb/s. */
static void draw_links(loop_setting_t *setting, uint64_t *random)
{
    clv_cost_t *cost = &setting->config.cost;

    cost->latency_ns = (int64_t) any_magnitude(random, 1e3, 1e5);
    cost->byte_ps = (int64_t) any_magnitude(random, 80, 8e4);
    cost->early_bytes = INT64_C(4096) << one_of(random, 0, 6);
    cost->gap_ns = (int64_t) any_magnitude(random, 100, (double) cost->latency_ns);
    setting->goes_by_cost = 1;
    setting->has_rendezvous = one_of(random, 0, 1);
    if (setting->config.place != NULL) {
        cost->near_latency_ns = (int64_t) any_magnitude(random, 300, 5e3);
        cost->near_byte_ps = (int64_t) any_magnitude(random, 80, 800);
        cost->near_early_bytes = INT64_C(4096) << one_of(random, 0, 4);
        cost->combine_ps = (int64_t) any_magnitude(random, 100, 1e3);
    }
}

static void draw_program(const loop_setting_t *setting, uint64_t *random)
{
    const double vector_ns =
        1e-3 * (double) setting->total_bytes * (double) setting->config.cost.byte_ps;

    drawn =
        (struct drawn){.kind = one_of(random, 0, N_KINDS - 1),
                       .n_ranks = setting->config.n_ranks,
                       .stride = one_of(random, 1, 5),
                       .late_rank = one_of(random, 0, setting->config.n_ranks - 1),
                       .period = one_of(random, 2, 4),
                       .couple_every = one_of(random, 0, 1) * one_of(random, 1, 8),
                       .base_ns = (int64_t) any_magnitude(random, vector_ns, 10 * vector_ns),
                       .spread_ns = (int64_t) any_magnitude(random, vector_ns / 10, 10 * vector_ns),
                       .noise_ns = (int64_t) any_magnitude(random, vector_ns / 100, vector_ns)};
}

static loop_setting_t draw_setting(uint64_t seed, uint64_t *random, int32_t *per_host_p)
{
    static int32_t place[LOOP_MAX_RANKS];
    loop_setting_t setting = loop_setting_of(one_of(random, 0, 16), seed);

    *per_host_p = 1 << one_of(random, 0, 2);
    setting.config.n_ranks = *per_host_p * one_of(random, 2, LOOP_MAX_RANKS / *per_host_p);
    if (setting.config.n_ranks < 4) {
        setting.config.n_ranks = 4;
    }
    if (*per_host_p > 1) {
        for (int32_t p = 0; p < setting.config.n_ranks; p++) {
            place[p] = p / *per_host_p;
        }
        setting.config.place = place;
    }
    setting.total_bytes = (int64_t) any_magnitude(random, 64 << 10, 16 << 20) / 8 * 8;
    if (one_of(random, 0, 3) == 0) {
        setting.collective = CLV_COLLECTIVE_ALLREDUCE;
        setting.config.allreduce_algorithm = CLV_ALGORITHM_AUTO;
        setting.config.ahead_bytes = 64 << 20;
    }
    draw_links(&setting, random);
    return setting;
}

static void run_seed(uint64_t seed)
{
    static const loop_program_t program = {"drawn", computing, couple};
    static loop_result_t result;
    uint64_t random = seed;
    int32_t per_host;
    const loop_setting_t setting = draw_setting(seed, &random, &per_host);

    draw_program(&setting, &random);
    const loop_best_t best = loop_best_forced(&program, &setting);
    loop_run(&program, &setting, &result);
    printf("%" PRIu64 "|%s|%d|%d|%" PRId64 "|%.2f|%.1f|%d|%s|%d|%.2f|%.2f|%.2f|%.4f|%.4f\n", seed,
           setting.collective == CLV_COLLECTIVE_REDUCE ? "reduce" : "allreduce",
           (int) drawn.n_ranks, (int) per_host, setting.total_bytes / 1024,
           8000. / (double) setting.config.cost.byte_ps,
           (double) setting.config.cost.latency_ns / 1e3, (int) setting.ahead_calls,
           kinds[drawn.kind], (int) drawn.couple_every, (double) drawn.base_ns / 1e6,
           (double) drawn.spread_ns / 1e6, (double) drawn.noise_ns / 1e6,
           (double) loop_end_iteration_ns(&result) / (double) best.end_ns,
           (double) loop_first_half_iteration_ns(&result) / (double) best.half_ns);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: choose_held_out FIRST_SEED N_SEEDS\n");
        return 2;
    }
    const uint64_t first = strtoull(argv[1], NULL, 10), n_seeds = strtoull(argv[2], NULL, 10);
    for (uint64_t seed = first; seed < first + n_seeds; seed++) {
        run_seed(seed);
    }
    return 0;
}
