/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The quality of plans, in rounds: every generator on seven kinds of arrivals, P = N, in the round
 * model of the schedule. Not a measurement: no clock, no network (clv-bench is for those).
 *
 * Per line: mean rounds after the last arrival, mean sends per (P - 1) N, and by how much the
 * rounds after the last arrival exceed the lower bound. The bound: the ranks that arrive at t or
 * later contribute N segments, and each round at most halves the number of ranks that hold one, so
 * t + N - 1 + ceil(log2(ranks arriving at t or later, and one more if any came earlier)).
 * Usage: plan_quality --help
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/cli_options.h"
#include "schedule/sched_print.h"
#include "schedule/schedule.h"
#include "tests/support/random_instance.h"

enum { ROUND_NS = 1000000 };

#define ARRIVAL_MAP(XX)                                                                            \
    XX(balanced)                                                                                   \
    XX(uniform)                                                                                    \
    XX(two_groups)                                                                                 \
    XX(one_late)                                                                                   \
    XX(burst)                                                                                      \
    XX(root_late)                                                                                  \
    XX(exponential)

static double fraction(uint64_t *state)
{
    return (double) (clv_random_next(state) >> 11) / 9007199254740992.0;
}

/* In rounds, before conversion to nanoseconds. */
static double balanced(uint64_t *state, int32_t rank, int32_t root, int32_t size)
{
    (void) state, (void) rank, (void) root, (void) size;
    return 0;
}

static double uniform(uint64_t *state, int32_t rank, int32_t root, int32_t size)
{
    (void) rank, (void) root;
    return fraction(state) * size;
}

static double two_groups(uint64_t *state, int32_t rank, int32_t root, int32_t size)
{
    (void) root;
    return fraction(state) + (rank % 2 ? size : 0);
}

static double one_late(uint64_t *state, int32_t rank, int32_t root, int32_t size)
{
    (void) state;
    return rank == (root + 1) % size ? size : 0;
}

static double burst(uint64_t *state, int32_t rank, int32_t root, int32_t size)
{
    (void) root;
    return fraction(state) * (rank % 8 ? 2 : size);
}

static double root_late(uint64_t *state, int32_t rank, int32_t root, int32_t size)
{
    return rank == root ? size : fraction(state);
}

static double exponential(uint64_t *state, int32_t rank, int32_t root, int32_t size)
{
    (void) rank, (void) root;
    return -log(1 - fraction(state)) * size / 8;
}

typedef struct pattern {
    const char *name;
    double (*arrival)(uint64_t *state, int32_t rank, int32_t root, int32_t size);
} pattern_t;

static const pattern_t patterns[] = {
#define PATTERN_ROW(name) {#name, name},
    ARRIVAL_MAP(PATTERN_ROW)
#undef PATTERN_ROW
        {NULL, NULL},
};

static clv_draw_t draw;

static void draw_pattern(const pattern_t *pattern, uint64_t *state, int32_t size)
{
    draw.instance = (clv_instance_t){.n_ranks = size,
                                     .n_segments = size,
                                     .root = (int32_t) clv_random_between(state, 0, size - 1),
                                     .round_ns = ROUND_NS,
                                     .arrival_ns = draw.arrival_ns};
    for (int32_t p = 0; p < size; p++) {
        draw.arrival_ns[p] =
            (int64_t) (pattern->arrival(state, p, draw.instance.root, size) * ROUND_NS);
    }
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;
    return (x > y) - (x < y);
}

static int32_t log2_up(int32_t n)
{
    int32_t log = 0;
    while (1 << log < n) {
        log++;
    }
    return log;
}

/* Lower bound of the rounds after the last arrival. */
static int32_t bound_after(void)
{
    static int64_t sorted[CLV_SCHED_MAX_RANKS];
    const clv_instance_t *instance = &draw.instance;
    int32_t n_ranks = instance->n_ranks, best = 0;

    for (int32_t p = 0; p < n_ranks; p++) {
        sorted[p] = draw.arrival_ns[p];
    }
    qsort(sorted, (size_t) n_ranks, sizeof *sorted, compare_times);
    for (int32_t p = 0; p < n_ranks; p++) {
        int32_t round = (int32_t) ((sorted[p] - sorted[0]) / ROUND_NS);
        int32_t n_late = n_ranks - p + (p > 0);
        int32_t bound = round + instance->n_segments - 1 + log2_up(n_late);
        best = bound > best ? bound : best;
    }
    return best - (int32_t) ((sorted[n_ranks - 1] - sorted[0]) / ROUND_NS);
}

static void print_quality(const clv_generator_t *generator, const pattern_t *pattern, int32_t size,
                          int n_instances, uint64_t seed)
{
    double after = 0, sends = 0, bound = 0;
    uint64_t state = seed;
    for (int k = 0; k < n_instances; k++) {
        clv_plan_t *plan = NULL;
        draw_pattern(pattern, &state, size);
        if (clv_plan_make(generator, &draw.instance, &plan) != CLV_OK) {
            fprintf(stderr, "plan_quality: %s fails\n", generator->name);
            exit(1);
        }
        after += clv_plan_rounds_after(plan, &draw.instance);
        sends += (double) plan->n_sends;
        bound += bound_after();
        clv_plan_free(plan);
    }
    printf("%-12s %-20s %10.1f %8.3f %9.1f %%\n", pattern->name, generator->name,
           after / n_instances, sends / n_instances / ((size - 1) * (double) size),
           (after / bound - 1) * 100);
}

/* One row per schedule: other implementations of it give the same result. */
static bool is_other_implementation(const char *name)
{
    return strcmp(name, "segtree") == 0 || strstr(name, "linear") != NULL;
}

typedef struct asked {
    int32_t size, n_instances;
    int64_t seed;
} asked_t;

static const clv_option_t rows[] = {
    CLV_ROW_WHOLE32("ranks", offsetof(asked_t, size), 2, CLV_SCHED_MAX_RANKS, "64",
                    "ranks, and as many segments"),
    CLV_ROW_WHOLE32("instances", offsetof(asked_t, n_instances), 1, 1e6, "20",
                    "instances of each kind"),
    CLV_ROW_WHOLE("seed", offsetof(asked_t, seed), 1, 9e15, "1", "seed of the arrivals"),
    CLV_ROWS_END,
};
static const clv_program_t program = {.name = "plan_quality",
                                      .usage =
                                          "plan_quality [--ranks P] [--instances N] [--seed N]",
                                      .options = rows};

int main(int argc, char **argv)
{
    asked_t asked = {0};
    const int status = clv_options_main(&program, argc, argv, &asked, NULL);
    if (status >= 0) {
        return status;
    }
    const int size = asked.size;
    const int n_instances = asked.n_instances;
    const uint64_t seed = (uint64_t) asked.seed;
    printf("# P = N = %d, %d instances, seed %llu\n%-12s %-20s %10s %8s %11s\n", size, n_instances,
           (unsigned long long) seed, "arrivals", "scheduler", "after", "sends", "over bound");
    for (const pattern_t *pattern = patterns; pattern->name != NULL; pattern++) {
        for (const clv_generator_t *row = clv_generators; row->name != NULL; row++) {
            if ((row->goals >> CLV_GOAL_REDUCE & 1) != 0 && !is_other_implementation(row->name)) {
                print_quality(row, pattern, size, n_instances, seed);
            }
        }
    }
    return 0;
}
