/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cost of making a plan: CPU time per plan of every generator, for P = N, on the two kinds of
 * instances of the paper's Table 1, on that of its Lemma 1 (one more rank in each round), and with
 * one rank severely late. For the last, the version without skipping of idle rounds (linear-busy,
 * only on request) shows the problem of section 5.1.
 *
 * Output: one line per generator, size and kind: median, mean and standard deviation in CPU
 * microseconds, nanoseconds per send of the median, scratch bytes per (rank, segment) (all
 * allocations but the plan), and the speed relative to the segment tree. A generator that would
 * take over --budget milliseconds per plan at a size (by its last size, growing eightfold per
 * doubling) is left out from there on. The slowest cells of the table in docs/design/schedule.md
 * take minutes and so need explicit options:
 *   bench_plan --min 256 --max 512 --instances 1 --budget 1e9 --only segtree,linear,pairing-heap
 * Usage: bench_plan [--min P] [--max P] [--instances K] [--seconds S] [--budget MS]
 *                   [--only NAME,NAME...] [--simd plain|avx2|avx512] [--seed S] [--staircase]
 *                   [--severe] [--json FILE]
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/bench/measure/bench_stats.h"
#include "apps/bench/plans/bench_time.h"
#include "apps/cli/cli_json.h"
#include "apps/cli/cli_options.h"
#include "schedule/generators/sched_busy.h"
#include "schedule/generators/sched_simd.h"
#include "schedule/schedule.h"
#include "tests/support/pairing_heap_plan.h"
#include "tests/support/random_instance.h"
#include "util/util_alloc.h"
#include "util/util_time.h"

enum { MAX_INSTANCES = 1000, MAX_ROWS = 32 };

typedef struct options {
    int32_t min_ranks;
    int32_t max_ranks;
    int32_t n_instances;
    double budget_ms;
    double seconds;
    const char *only;
    const char *json;
    bool has_kind[4]; /* of the kinds below */
    int64_t seed;
} options_t;

typedef struct sample {
    int32_t n_instances;
    double median_us;
    double mean_us;
    double deviation_us;
    double ns_per_send;
    double bytes_per_cell;
    clv_heap_counts_t counts; /* of the last instance; 0 without heaps */
} sample_t;

static clv_generator_t contestants[MAX_ROWS];
enum { UNIFORM, SKEWED, STAIRCASE, SEVERE, N_KINDS };
static const char *const kinds[N_KINDS] = {"uniform", "skewed", "staircase", "severe"};
static double last_us[MAX_ROWS][N_KINDS];
static double in_turn_us[MAX_INSTANCES]; /* of the last sample */
static FILE *json_file;
static clv_draw_t draw;

static int count_bytes(void *context, size_t n_bytes)
{
    *(double *) context += (double) n_bytes;
    return 0;
}

/* All heap allocations of a generator besides the sends of the plan. */
static double scratch_bytes(const clv_generator_t *generator, const clv_instance_t *instance)
{
    clv_plan_t *plan = NULL;
    double n_bytes = 0, send_bytes = 0;
    clv_alloc_set_hook(count_bytes, &n_bytes);
    if (clv_plan_make(generator, instance, &plan) == CLV_OK) {
        send_bytes = (double) plan->n_sends * sizeof(clv_send_t);
    }
    clv_alloc_set_hook(NULL, NULL);
    clv_plan_free(plan);
    return n_bytes - send_bytes;
}

#define SEVERE_ROUNDS 100000 /* by which the last rank is late */

/* One rank per round of a millisecond, or all early but one; the last is the root. */
static void draw_made(int kind, int32_t size)
{
    draw.instance = (clv_instance_t){.n_ranks = size,
                                     .n_segments = size,
                                     .root = size - 1,
                                     .round_ns = CLV_NS_PER_MS,
                                     .arrival_ns = draw.arrival_ns};
    for (int32_t p = 0; p < size; p++) {
        const int64_t late = kind == STAIRCASE ? p : p == size - 1 ? SEVERE_ROUNDS : 0;
        draw.arrival_ns[p] = late * CLV_NS_PER_MS;
    }
}

static sample_t measure(const clv_generator_t *generator, int kind, int32_t size,
                        int32_t n_instances, uint64_t seed)
{
    static double took_us[MAX_INSTANCES];
    double sum_us = 0, n_sends = 0;
    uint64_t state = seed + (uint64_t) size;

    for (int32_t k = 0; k < n_instances; k++) {
        clv_plan_t *plan = NULL;
        if (kind == STAIRCASE || kind == SEVERE) {
            draw_made(kind, size);
        } else {
            clv_draw_paper(&draw, &state, kind == SKEWED, size, size);
        }
        double start_us = clv_bench_cpu_us();
        clv_status_t status = clv_plan_make(generator, &draw.instance, &plan);
        took_us[k] = clv_bench_cpu_us() - start_us;
        if (status != CLV_OK) {
            fprintf(stderr, "bench_plan: %s: %s\n", generator->name, clv_status_text(status));
            exit(1);
        }
        sum_us += in_turn_us[k] = took_us[k];
        n_sends += (double) plan->n_sends;
        clv_plan_free(plan);
    }
    const double median_us = clv_stats_median(took_us, (size_t) n_instances);
    clv_pairing_heap_counts = (clv_heap_counts_t){0};
    const double n_bytes = scratch_bytes(generator, &draw.instance);
    return (sample_t){n_instances,
                      median_us,
                      sum_us / n_instances,
                      clv_stats_deviation(took_us, (size_t) n_instances),
                      median_us * 1e3 * n_instances / n_sends,
                      n_bytes / ((double) size * size),
                      clv_pairing_heap_counts};
}

/* As many instances as fit into about --seconds; at least three, or all if fewer are wanted. */
static int32_t choose_count(const options_t *options, double expected_us)
{
    double n = expected_us > 0 ? options->seconds * 1e6 / expected_us : options->n_instances;
    double least = options->n_instances < 3 ? options->n_instances : 3;
    return n >= options->n_instances ? options->n_instances : (int32_t) (n < least ? least : n);
}

/* JSON for programs: every instance. */
static void json_row(const char *generator, int32_t size, int kind, const sample_t *sample)
{
    if (json_file == NULL) {
        return;
    }
    clv_json_t json = clv_json_begin(json_file, "bench_plan", "cost");
    clv_json_text(&json, "generator", generator);
    clv_json_whole(&json, "ranks", size);
    clv_json_text(&json, "arrivals", kinds[kind]);
    clv_json_text(&json, "simd", clv_simd_name(clv_simd_level()));
    clv_json_number(&json, "scratch_bytes", sample->bytes_per_cell * size * size);
    if (sample->counts.inserts > 0) {
        clv_json_whole(&json, "heap_inserts", sample->counts.inserts);
        clv_json_whole(&json, "heap_erasures", sample->counts.erasures);
        clv_json_whole(&json, "group_rounds", sample->counts.group_rounds);
        clv_json_whole(&json, "group_joins", sample->counts.group_joins);
        clv_json_whole(&json, "group_ns", sample->counts.group_ns);
    }
    clv_json_list_begin(&json, "cpu_ns");
    for (int32_t k = 0; k < sample->n_instances; k++) {
        clv_json_item(&json, in_turn_us[k] * 1e3, 0);
    }
    clv_json_list_end(&json);
    clv_json_end(&json);
}

static void bench_size(const options_t *options, int32_t size, int kind, int n_rows)
{
    double segtree_us = 0;
    for (int r = 0; r < n_rows; r++) {
        double expected_us = last_us[r][kind] * 8;
        if (expected_us > options->budget_ms * 1e3) {
            continue;
        }
        sample_t sample = measure(&contestants[r], kind, size, choose_count(options, expected_us),
                                  (uint64_t) options->seed);
        last_us[r][kind] = sample.mean_us;
        if (strcmp(contestants[r].name, "segtree") == 0) {
            segtree_us = sample.mean_us;
        }
        json_row(contestants[r].name, size, kind, &sample);
        printf("%5d  %-8s %-24s %12.1f %12.1f %9.1f %9.1f %9.2f", (int) size, kinds[kind],
               contestants[r].name, sample.median_us, sample.mean_us, sample.deviation_us,
               sample.ns_per_send, sample.bytes_per_cell);
        if (segtree_us > 0) {
            printf(" %10.2f", sample.mean_us / segtree_us);
        }
        printf("\n");
        (void) fflush(stdout);
    }
}

/* Whether the name is in the comma separated list; NULL lists all. */
static bool wanted(const char *list, const char *name)
{
    size_t n_chars = strlen(name);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, n_chars) == 0 && (at[n_chars] == '\0' || at[n_chars] == ',')) {
            return true;
        }
    }
    return list == NULL;
}

/* The table's generators, the segment tree first, as the baseline. */
static int gather_contestants(const char *only)
{
    static const clv_generator_t heap = {"pairing-heap", "", 1u << CLV_GOAL_REDUCE,
                                         clv_pairing_heap_generate, NULL};
    static const clv_generator_t busy = {"linear-busy", "", 1u << CLV_GOAL_REDUCE,
                                         clv_sched_busy_generate, NULL};
    const clv_generator_t *segtree = clv_generator_find("segtree");
    int n_rows = 0;
    if (segtree != NULL && wanted(only, segtree->name)) {
        contestants[n_rows++] = *segtree;
    }
    for (const clv_generator_t *row = clv_generators; row->name != NULL; row++) {
        if (row != segtree && (row->goals >> CLV_GOAL_REDUCE & 1) != 0 && wanted(only, row->name)) {
            contestants[n_rows++] = *row;
        }
    }
    if (wanted(only, heap.name)) {
        contestants[n_rows++] = heap;
    }
    if (only != NULL && wanted(only, busy.name)) {
        contestants[n_rows++] = busy;
    }
    return n_rows;
}

static bool force_simd(const char *name)
{
    for (int level = 0; level < CLV_N_SIMD; level++) {
        if (strcmp(clv_simd_name((clv_simd_t) level), name) == 0) {
            return clv_simd_force((clv_simd_t) level) == CLV_OK;
        }
    }
    return false;
}

static const char *take_simd(void *fields, const char *text)
{
    (void) fields;
    return force_simd(text) ? NULL : "plain, avx2 or avx512, as far as this machine has it";
}

#define AT(field) offsetof(options_t, field)
static const clv_option_t rows[] = {
    CLV_ROW_WHOLE32("min", AT(min_ranks), 2, CLV_SCHED_MAX_RANKS, "4",
                    "least ranks, doubled up to --max"),
    CLV_ROW_WHOLE32("max", AT(max_ranks), 2, CLV_SCHED_MAX_RANKS, "1024", "most ranks"),
    CLV_ROW_WHOLE32("instances", AT(n_instances), 1, MAX_INSTANCES, "100", "instances per size"),
    CLV_ROW_REAL("budget", AT(budget_ms), 0, 1e9, "2000", "ms per generator and size"),
    CLV_ROW_REAL("seconds", AT(seconds), 0.001, 1e6, "1",
                 "approximate time for the instances of a row"),
    CLV_ROW_TEXT("only", AT(only), "LIST", NULL, "only these generators"),
    CLV_ROW_TAKE("simd", take_simd, "NAME", NULL, "plain, avx2 or avx512"),
    CLV_ROW_WHOLE("seed", AT(seed), 1, 9e15, "1", "seed of the arrivals"),
    CLV_ROW_FLAG("staircase", AT(has_kind[STAIRCASE]), "also a rank arriving in each round"),
    CLV_ROW_FLAG("severe", AT(has_kind[SEVERE]),
                 "also all ranks on time but one, 100,000 rounds late"),
    CLV_ROW_TEXT("json", AT(json), "FILE", NULL, "append a line per row, with every instance"),
    CLV_ROWS_END,
};
static const clv_program_t program = {
    .name = "bench_plan", .usage = "bench_plan [options]", .options = rows};

int main(int argc, char **argv)
{
    options_t options = {0};
    const int status = clv_options_main(&program, argc, argv, &options, NULL);
    if (status >= 0) {
        return status;
    }
    if (options.json != NULL && (json_file = fopen(options.json, "a")) == NULL) {
        fprintf(stderr, "bench_plan: %s: %s\n", options.json, strerror(errno));
        return 2;
    }
    int n_rows = gather_contestants(options.only);
    printf("# seed %lld, CPU time, P = N, simd %s\n", (long long) options.seed,
           clv_simd_name(clv_simd_level()));
    printf("%5s  %-8s %-24s %12s %12s %9s %9s %9s %10s\n", "P", "arrivals", "generator",
           "median us", "mean us", "deviation", "ns/send", "bytes/cell", "x segtree");
    for (int32_t size = options.min_ranks; size <= options.max_ranks; size *= 2) {
        for (int kind = 0; kind < N_KINDS; kind++) {
            if (kind < STAIRCASE || options.has_kind[kind]) {
                bench_size(&options, size, kind, n_rows);
            }
        }
    }
    return json_file != NULL && fclose(json_file) != 0;
}
