/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-bench: measures MPI collectives when ranks arrive at different times.
 *
 * What: for every size and arrival pattern, runs several algorithms in turn on the same arrivals,
 * paired by call, timed on one global clock, every result checked. With --loop: ranks iterate
 * independently, algorithms in blocks. See docs/guide/benchmark.md.
 * Not: a component test. It uses public MPI only and runs with any library, with clv or without.
 * Exit: 0; 1 a collective gave a wrong result or failed, or results could not be written; 2 wrong
 * use; 3 not network-bound (--strict); 128 plus the signal's number when interrupted.
 */
#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "apps/bench/measure/bench_algorithms.h"
#include "apps/bench/measure/bench_collectives.h"
#include "apps/bench/measure/bench_process.h"
#include "apps/bench/measure/bench_loop.h"
#include "apps/bench/measure/bench_measure.h"
#include "apps/bench/measure/bench_options.h"
#include "apps/trace/trace_patterns.h"
#include "apps/bench/measure/bench_report.h"
#include "apps/bench/measure/bench_stats.h"
#include "apps/bench/measure/bench_sync.h"
#include "apps/cli/cli_file.h"
#include "util/util_alloc.h"
#include "util/util_text.h"

#define MAX_ALGORITHMS   32
#define MAX_ITEM         512
#define SHUFFLE          UINT64_C(0x73687566666c65) /* salt of its stream of random numbers */
#define CHECK_WARMUP     40 /* until clv has learnt; it runs no trial in the first 20 calls */
#define LEAVE_SECONDS    2  /* mpirun kills ranks after one */
#define CALLS_TO_CONNECT 2  /* before balanced calls that only give a unit of time */

enum { EXIT_WRONG_RESULT = 1, EXIT_USAGE = 2, EXIT_CPU_BOUND = 3, EXIT_SIGNAL = 128 };

/* One combination of the listed factors. */
typedef struct choice {
    char collective[MAX_ITEM];
    char size[MAX_ITEM];
    char delay[MAX_ITEM];
    char pattern[MAX_ITEM];
} choice_t;

typedef struct bench {
    clv_bench_options_t options;
    clv_algorithm_t algorithms[MAX_ALGORITHMS];
    MPI_Comm comms[MAX_ALGORITHMS];
    clv_bench_sync_t sync;
    clv_bench_setup_t setup;
    clv_loop_t loop;
    clv_loop_results_t loop_results;
    FILE *json, *xdr;
    choice_t choice;                    /* the current configuration */
    const clv_bench_results_t *factors; /* of the loop under way */
    int n_whole, n_planned;             /* configurations */
    bool has_figures;                   /* of a configuration, if only in part */
    clv_bench_verdict_t total;
    char reason[1024];
} bench_t;

/* ---- what can be checked before MPI_Init ---- */

static clv_status_t complain(bench_t *bench, const char *format, const char *text)
{
    snprintf(bench->reason, sizeof bench->reason, format, text);
    return CLV_INVALID;
}

static clv_status_t read_algorithms(bench_t *bench)
{
    char item[MAX_ITEM];
    clv_status_t status = CLV_OK;
    int n = 0;

    while (status == CLV_OK &&
           clv_bench_list_item(bench->options.algorithms, n, item, sizeof item)) {
        if (n == MAX_ALGORITHMS) {
            return complain(bench, "too many algorithms%s", "");
        }
        status = clv_algorithm_parse(item, bench->setup.collective->name, &bench->algorithms[n],
                                     bench->reason, sizeof bench->reason);
        n++;
    }
    bench->setup.n_algorithms = n;
    return status;
}

static clv_status_t read_sizes(bench_t *bench)
{
    char item[MAX_ITEM];
    size_t n_bytes;

    for (int i = 0; clv_bench_list_item(bench->options.sizes, i, item, sizeof item); i++) {
        if (clv_bench_parse_size(item, &n_bytes) != CLV_OK || n_bytes > INT_MAX) {
            return complain(bench, "'%s' is not a size below 2 GiB", item);
        }
    }
    return CLV_OK;
}

static clv_status_t check_delay(bench_t *bench, const char *text)
{
    int64_t ns;
    double factor;

    if (clv_bench_parse_delay(text, &ns, &factor) != CLV_OK) {
        return complain(bench, "'%s' is not a delay like 50ms, 200us, 0.1s or 1.5x", text);
    }
    if (factor > 0.0 && !bench->options.balanced) {
        return complain(bench, "a delay of %s needs --balanced-calls", text);
    }
    return CLV_OK;
}

static clv_status_t read_delays(bench_t *bench)
{
    char item[MAX_ITEM];
    clv_status_t status = CLV_OK;

    for (int i = 0;
         status == CLV_OK && clv_bench_list_item(bench->options.delay, i, item, sizeof item); i++) {
        status = check_delay(bench, item);
    }
    return status;
}

static void leave_loop(void *context, const clv_loop_results_t *loop_results);

/* Reads all but the computing time, which may depend on a measurement. */
static clv_status_t read_loop(bench_t *bench)
{
    const clv_bench_options_t *options = &bench->options;

    bench->loop = (clv_loop_t){
        .couple = clv_loop_couple_find(options->couple),
        .n_starts = options->starts,
        .opening_calls = options->warmup > CLV_LOOP_FIRST ? options->warmup : CLV_LOOP_FIRST,
        .n_blocks = options->blocks,
        .block_calls = options->block_calls,
        .lead_calls = options->lead_calls,
        .is_spinning = options->is_spinning,
        .leave = leave_loop,
        .context = bench,
    };
    if (!bench->loop.couple) {
        return complain(bench, "unknown --couple '%s' (--help lists them)", options->couple);
    }
    if (options->lead_calls > options->block_calls - 2) {
        return complain(bench, "--block-calls must be two more than --lead-calls%s", "");
    }
    return check_delay(bench, options->compute);
}

/* Reads every collective of the list, with algorithms that support it; the last one stays
 * chosen. */
static clv_status_t read_collectives(bench_t *bench)
{
    char item[MAX_ITEM];
    clv_status_t status = CLV_OK;

    for (int i = 0;
         status == CLV_OK && clv_bench_list_item(bench->options.collective, i, item, sizeof item);
         i++) {
        bench->setup.collective = clv_collective_find(item);
        if (!bench->setup.collective) {
            return complain(bench, "unknown collective '%s' (--help lists them)", item);
        }
        status = read_algorithms(bench);
        if (status == CLV_OK) {
            clv_algorithm_prepare_environment(bench->algorithms, bench->setup.n_algorithms);
        }
    }
    return status;
}

static const clv_bench_scheme_t *find_scheme(const char *name)
{
    const clv_bench_scheme_t *scheme = clv_bench_schemes;

    while (scheme->name && strcmp(scheme->name, name)) {
        scheme++;
    }
    return scheme->name ? scheme : NULL;
}

/* Reads how calls are timed, and when there are enough. */
static clv_status_t read_method(bench_t *bench)
{
    const clv_bench_options_t *options = &bench->options;
    clv_window_t *window = &bench->setup.window;

    bench->setup.scheme = find_scheme(options->scheme);
    window->rule = clv_window_rule_find(options->window_rule);
    window->precision = options->precision;
    window->least = options->least < options->iterations ? options->least : options->iterations;
    if (!bench->setup.scheme) {
        return complain(bench, "unknown --scheme '%s' (--help lists them)", options->scheme);
    }
    if (!window->rule) {
        return complain(bench, "unknown --window-rule '%s' (--help lists them)",
                        options->window_rule);
    }
    if (window->rule->judge && strcmp(options->sync, "window")) {
        return complain(bench, "--window-rule %s needs --sync window", options->window_rule);
    }
    if (options->xdr && !clv_bench_xdr_is_built()) {
        return complain(bench, "--xdr: this build has no XDR (Debian: libtirpc-dev)%s", "");
    }
    if (options->xdr && !strcmp(options->xdr, "-")) {
        return complain(bench, "--xdr is for a file, not for standard output%s", "");
    }
    if (strcmp(options->cache, "warm") && strcmp(options->cache, "cold")) {
        return complain(bench, "--cache '%s' is neither warm nor cold", options->cache);
    }
    return CLV_OK;
}

/* Presets for --check: a user who asks whether clv helps needs no choice of comparison and method.
 * The component prints its findings about the links. */
static void make_check(clv_bench_options_t *options)
{
    options->is_loop = true;
    options->algorithms = !strcmp(options->collective, "allreduce") ? "default,tuned:4,clv"
                          : !strcmp(options->collective, "bcast")   ? "default,tuned:3:32768,clv"
                                                                    : "default,pipeline,clv";
    options->patterns = "uniform";
    options->warm_learners = true;
    options->warmup = CHECK_WARMUP;
    (void) setenv("OMPI_MCA_coll_clv_print", "links", 0);
}

/* Refuses options that would be ignored. */
static clv_status_t check_modes(bench_t *bench)
{
    static const char *const of_calls[] = {"iterations", "scheme", "in-row", "window-rule",
                                           "precision",  "least",  "cache",  "per-rank",
                                           "xdr",        NULL};
    static const char *const of_loops[] = {"couple",     "compute", "blocks", "block-calls",
                                           "lead-calls", "starts",  "spin",   NULL};
    static const char *const set_by_check[] = {"algorithms", "patterns", "warmup", NULL};
    const bool is_loop = bench->options.is_loop || bench->options.is_check;
    const char *name = clv_options_given(is_loop ? of_calls : of_loops);

    if (name != NULL) {
        return complain(bench,
                        is_loop ? "--%s is for single calls, not for --loop or --check"
                                : "--%s is for --loop and --check",
                        name);
    }
    name = bench->options.is_check ? clv_options_given(set_by_check) : NULL;
    return name == NULL ? CLV_OK : complain(bench, "--check sets --%s itself", name);
}

static clv_status_t read_words(bench_t *bench)
{
    const clv_bench_options_t *options = &bench->options;

    if (check_modes(bench) != CLV_OK) {
        return CLV_INVALID;
    }
    if (options->is_check) {
        make_check(&bench->options);
    }
    if (!clv_element_find(options->element, &bench->setup.call.element)) {
        return complain(bench, "unknown type '%s'", options->element);
    }
    if (!clv_operation_find(options->operation, &bench->setup.call.operation)) {
        return complain(bench, "unknown operation '%s'", options->operation);
    }
    return read_sizes(bench) == CLV_OK && read_delays(bench) == CLV_OK &&
                   read_loop(bench) == CLV_OK && read_method(bench) == CLV_OK
               ? read_collectives(bench)
               : CLV_INVALID;
}

/* ---- buffers and communicators of a configuration ---- */

static clv_status_t make_buffers(clv_bench_setup_t *setup, size_t n_bytes)
{
    clv_bench_call_t *call = &setup->call;
    const size_t item = clv_element_kind(call->element).size;

    call->count = (int) (n_bytes / item);
    call->send = clv_alloc(setup->collective->send_items(call) + 1, item);
    call->recv = clv_alloc(setup->collective->recv_items(call) + 1, item);
    call->recv_counts = clv_alloc((size_t) call->n_ranks, sizeof *call->recv_counts);
    setup->late_ns = clv_alloc((size_t) call->n_ranks, sizeof *setup->late_ns);
    int failed = !call->send || !call->recv || !call->recv_counts || !setup->late_ns;
    for (int r = 0; !failed && r < call->n_ranks; r++) {
        call->recv_counts[r] = call->count;
    }
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, setup->sync->comm);
    return failed ? CLV_NO_MEMORY : CLV_OK;
}

static void free_buffers(clv_bench_setup_t *setup)
{
    clv_bench_call_t *call = &setup->call;

    clv_free(setup->late_ns);
    clv_free(call->send);
    clv_free(call->recv);
    clv_free(call->recv_counts);
    setup->late_ns = NULL;
    call->send = call->recv = NULL;
    call->recv_counts = NULL;
}

/* Fresh communicators for each configuration, so that components keep nothing learnt elsewhere. */
static clv_status_t make_communicators(bench_t *bench)
{
    return clv_algorithm_communicators(bench->algorithms, bench->setup.n_algorithms,
                                       bench->sync.comm, bench->comms, bench->reason,
                                       sizeof bench->reason);
}

static void free_communicators(bench_t *bench)
{
    clv_algorithm_free_communicators(bench->comms, bench->setup.n_algorithms);
}

/* ---- a configuration ---- */

/* Median run time of the baseline's balanced calls, known to all; 0 without balanced calls. */
static int64_t balanced_run_ns(const bench_t *bench, const clv_bench_metrics_t *balanced,
                               int64_t n_balanced)
{
    int64_t run_ns = 0;
    double values[64];

    if (balanced) {
        size_t n = 0;
        for (int64_t i = 0; i < n_balanced && n < 64; i++) {
            values[n++] = balanced[i * bench->setup.n_algorithms].run_ns;
        }
        run_ns = (int64_t) clv_stats_median(values, n);
    }
    MPI_Bcast(&run_ns, 1, MPI_INT64_T, 0, bench->sync.comm);
    return run_ns;
}

static void add_verdict(bench_t *bench, clv_bench_verdict_t verdict)
{
    bench->has_figures = true;
    bench->total.n_wrong += verdict.n_wrong;
    bench->total.is_cpu_bound |= verdict.is_cpu_bound;
}

static void report(bench_t *bench, const clv_bench_results_t *results)
{
    add_verdict(bench, clv_bench_verdict(results));
    if (bench->json) {
        clv_bench_report_json(bench->json, results);
    }
    if (bench->xdr) {
        clv_bench_report_xdr(bench->xdr, results);
    }
    if (bench->json != stdout) {
        clv_bench_report_table(stdout, results);
    }
}

static void report_loop(bench_t *bench, const clv_loop_report_t *loop_report)
{
    add_verdict(bench, clv_loop_verdict(loop_report));
    if (bench->json) {
        clv_loop_report_json(bench->json, loop_report);
    }
    if (bench->json != stdout) {
        clv_loop_report_table(stdout, loop_report);
    }
    if (bench->options.is_check && bench->json != stdout) {
        clv_loop_report_check(stdout, loop_report);
    }
}

static clv_status_t balanced_calls(bench_t *bench, int64_t warmup, clv_bench_results_t *results,
                                   clv_bench_metrics_t **balanced_p)
{
    clv_pattern_t balanced = *results->pattern;
    clv_status_t status =
        clv_pattern_parse("balanced", &balanced, bench->reason, sizeof bench->reason);

    if (status == CLV_OK) {
        status = make_communicators(bench);
    }
    if (status == CLV_OK) {
        status = clv_bench_measure(&bench->setup, &balanced, warmup, bench->options.balanced,
                                   &results->n_balanced, balanced_p);
    }
    free_communicators(bench);
    results->balanced = *balanced_p;
    return status;
}

/* Converts a delay given as a multiple of the balanced run time. */
static clv_status_t resolve_delay(const char *text, int64_t run_ns, int64_t *ns_p)
{
    double factor;
    const clv_status_t status = clv_bench_parse_delay(text, ns_p, &factor);

    *ns_p += status == CLV_OK ? (int64_t) (factor * (double) run_ns) : 0;
    return status;
}

static clv_status_t measure_metrics(bench_t *bench, clv_bench_results_t *results)
{
    clv_bench_metrics_t *metrics = NULL;
    clv_status_t status = make_communicators(bench);

    if (status == CLV_OK) {
        status = clv_bench_measure(&bench->setup, results->pattern, bench->options.warmup,
                                   bench->options.iterations, &results->n_rounds, &metrics);
    }
    if (status == CLV_OK) {
        status = clv_bench_clock_check(bench->sync.comm, &bench->sync.clock);
    }
    results->is_interrupted = bench->setup.interrupted != 0;
    if (status == CLV_OK && metrics) {
        results->metrics = metrics;
        report(bench, results);
    }
    free_communicators(bench);
    clv_free(bench->setup.visits);
    bench->setup.visits = NULL;
    clv_free(metrics);
    return status;
}

/* The balanced calls use communicators of their own, so that histories are not mixed. */
static clv_status_t measure_calls(bench_t *bench, clv_bench_results_t *results,
                                  clv_pattern_t *pattern)
{
    clv_bench_metrics_t *balanced = NULL;
    clv_status_t status = CLV_OK;

    if (bench->options.balanced) {
        status = balanced_calls(bench, bench->options.warmup, results, &balanced);
    }
    if (status == CLV_OK) {
        const int64_t run_ns = balanced_run_ns(bench, balanced, results->n_balanced);
        status = resolve_delay(bench->choice.delay, run_ns, &pattern->amount_ns);
    }
    if (status == CLV_OK && !bench->setup.interrupted) {
        status = measure_metrics(bench, results);
    }
    clv_free(balanced);
    return status;
}

/* Measured for the baseline only, and only if a time is a multiple of it. */
static clv_status_t baseline_run_ns(bench_t *bench, clv_bench_results_t *results, int64_t *run_ns_p)
{
    const int n_algorithms = bench->setup.n_algorithms;
    clv_bench_metrics_t *balanced = NULL;

    *run_ns_p = 0;
    if (!strchr(bench->choice.delay, 'x') && !strchr(bench->options.compute, 'x')) {
        return CLV_OK;
    }
    bench->setup.n_algorithms = 1;
    const clv_status_t status = balanced_calls(bench, CALLS_TO_CONNECT, results, &balanced);
    if (status == CLV_OK) {
        *run_ns_p = balanced_run_ns(bench, balanced, results->n_balanced);
    }
    bench->setup.n_algorithms = n_algorithms;
    results->balanced = NULL;
    clv_free(balanced);
    return status;
}

/* One line for people, on standard error, apart from tables and JSON lines. */
static void tell_interrupted(const bench_t *bench)
{
    if (!bench->has_figures) {
        fprintf(stderr, "clv-bench: interrupted before the first configuration was measured; "
                        "nothing to show\n");
        return;
    }
    fprintf(stderr, "clv-bench: interrupted; %d of %d configurations are whole\n", bench->n_whole,
            bench->n_planned);
}

/* Rank 0 only: reports what it has of a loop, then ends the job. Normally mpirun ends it, after it
 * has forwarded the output; otherwise MPI_Abort does. */
static void leave_loop(void *context, const clv_loop_results_t *loop_results)
{
    bench_t *bench = context;
    clv_bench_results_t factors = *bench->factors;
    const clv_loop_report_t loop_report = {&factors, &bench->loop, loop_results};

    factors.is_interrupted = true;
    if (loop_results->n_starts > 0) {
        report_loop(bench, &loop_report);
    }
    tell_interrupted(bench);
    (void) fflush(NULL);
    (void) nanosleep(&(struct timespec){.tv_sec = LEAVE_SECONDS}, NULL);
    MPI_Abort(MPI_COMM_WORLD, EXIT_SIGNAL + clv_bench_interrupted());
}

static clv_status_t measure_loop(bench_t *bench, clv_bench_results_t *results,
                                 clv_pattern_t *pattern)
{
    const clv_loop_report_t loop_report = {results, &bench->loop, &bench->loop_results};
    int64_t run_ns;
    clv_status_t status = baseline_run_ns(bench, results, &run_ns);

    if (status == CLV_OK) {
        status = resolve_delay(bench->choice.delay, run_ns, &pattern->amount_ns);
    }
    if (status == CLV_OK) {
        status = resolve_delay(bench->options.compute, run_ns, &bench->loop.compute_ns);
    }
    bench->factors = results;
    bench->sync.clock.is_checked = false;
    if (status == CLV_OK && !bench->setup.interrupted) {
        status = clv_loop_measure(&bench->setup, &bench->loop, pattern, &bench->loop_results,
                                  bench->reason, sizeof bench->reason);
    }
    if (status == CLV_OK) {
        status = clv_bench_clock_check(bench->sync.comm, &bench->sync.clock);
    }
    if (status == CLV_OK && bench->sync.rank == 0 && !bench->setup.interrupted) {
        report_loop(bench, &loop_report);
    }
    clv_loop_results_free(&bench->loop_results);
    return status;
}

/* Time of a message of one vector, or of as much of it as the collective's buffers hold. */
static int64_t message_ns(const clv_bench_setup_t *setup, size_t n_bytes)
{
    const clv_bench_call_t *call = &setup->call;
    const size_t room = setup->collective->recv_items(call) * clv_element_kind(call->element).size;

    return clv_bench_message_ns(setup->sync->comm, call->recv,
                                (int) (n_bytes < room ? n_bytes : room));
}

/* The middle one of the measured iterations of the pattern. */
static int64_t half_way(const bench_t *bench)
{
    return bench->options.is_loop
               ? bench->loop.opening_calls + bench->loop.n_blocks * bench->loop.block_calls / 2
               : bench->options.warmup + bench->options.iterations / 2;
}

static clv_status_t configuration(bench_t *bench)
{
    const choice_t *choice = &bench->choice;
    const clv_bench_options_t *options = &bench->options;
    clv_pattern_t pattern = {.n_ranks = bench->sync.n_ranks,
                             .root = (int) options->root,
                             .jitter = options->jitter,
                             .change_at = half_way(bench),
                             .seed = (uint64_t) options->seed};
    clv_bench_results_t results = {.options = options,
                                   .setup = &bench->setup,
                                   .pattern = &pattern,
                                   .pattern_text = choice->pattern,
                                   .delay_text = choice->delay};
    char label[MAX_ITEM * 4];

    snprintf(label, sizeof label, "%s, %s, %s", choice->collective, choice->size, choice->pattern);
    bench->setup.label = label;
    bench->setup.collective = clv_collective_find(choice->collective);
    bench->sync.window_ns = options->window_us * 1000;
    clv_status_t status = read_algorithms(bench);
    if (status == CLV_OK) {
        status = clv_bench_parse_size(choice->size, &results.n_bytes);
    }
    if (status == CLV_OK) {
        status = clv_pattern_parse(choice->pattern, &pattern, bench->reason, sizeof bench->reason);
    }
    if (status == CLV_OK) {
        status = make_buffers(&bench->setup, results.n_bytes);
    }
    if (status == CLV_OK) {
        bench->setup.message_ns = message_ns(&bench->setup, results.n_bytes);
    }
    if (status == CLV_OK) {
        status = options->is_loop ? measure_loop(bench, &results, &pattern)
                                  : measure_calls(bench, &results, &pattern);
    }
    free_buffers(&bench->setup);
    clv_pattern_free(&pattern);
    return status;
}

/* ---- all of them ---- */

static int count_items(const char *list)
{
    char item[MAX_ITEM];
    int n = 0;

    while (clv_bench_list_item(list, n, item, sizeof item)) {
        n++;
    }
    return n;
}

/* Combination number `index` in the order collective, size, delay, pattern; patterns change
 * fastest. */
static void choose(const clv_bench_options_t *options, int index, choice_t *choice)
{
    const struct {
        const char *list;
        char *item;
    } levels[] = {{options->patterns, choice->pattern},
                  {options->delay, choice->delay},
                  {options->sizes, choice->size},
                  {options->collective, choice->collective}};

    for (size_t l = 0; l < sizeof levels / sizeof levels[0]; l++) {
        const int n = count_items(levels[l].list);
        (void) clv_bench_list_item(levels[l].list, index % n, levels[l].item, MAX_ITEM);
        index /= n;
    }
}

static int count_choices(const clv_bench_options_t *options)
{
    return count_items(options->collective) * count_items(options->sizes) *
           count_items(options->delay) * count_items(options->patterns);
}

/* The given order, or one drawn from the seed, so that drift affects all configurations alike. */
static void order_choices(const clv_bench_options_t *options, int *order, int n)
{
    for (int i = 0; i < n; i++) {
        const double random = clv_pattern_random((uint64_t) options->seed, SHUFFLE, (uint64_t) i);
        const int other = options->shuffles ? (int) (random * (i + 1)) : i;
        order[i] = order[other];
        order[other] = i;
    }
}

/* Ends the benchmark now if the disk is full, instead of after all configurations. */
static clv_status_t check_written(bench_t *bench)
{
    char reason[MAX_ITEM];
    int failed = (bench->json && clv_output_check(bench->json, bench->options.json, reason,
                                                  sizeof reason) != CLV_OK) ||
                 (bench->xdr && clv_output_check(bench->xdr, bench->options.xdr, reason,
                                                 sizeof reason) != CLV_OK) ||
                 clv_output_check(stdout, "-", reason, sizeof reason) != CLV_OK;

    if (failed) {
        (void) complain(bench, "results are lost: %s", reason);
    }
    MPI_Bcast(&failed, 1, MPI_INT, 0, bench->sync.comm);
    return failed ? CLV_SYSTEM : CLV_OK;
}

static clv_status_t all_configurations(bench_t *bench)
{
    const int n = count_choices(&bench->options);
    int *order = clv_alloc((size_t) n, sizeof *order);
    clv_status_t status = order ? CLV_OK : CLV_NO_MEMORY;

    if (order) {
        order_choices(&bench->options, order, n);
    }
    bench->n_planned = n;
    while (status == CLV_OK && bench->n_whole < n && !bench->setup.interrupted) {
        choose(&bench->options, order[bench->n_whole], &bench->choice);
        status = configuration(bench);
        status = status == CLV_OK ? check_written(bench) : status;
        bench->n_whole += !bench->setup.interrupted;
    }
    clv_free(order);
    return status;
}

/* ---- set-up after MPI_Init ---- */

/* The benchmark's own traffic must not pass through the measured component. */
static clv_status_t own_communicator(MPI_Comm *comm_p, char *reason, size_t reason_bytes)
{
    const clv_algorithm_t plain = {.name = "own", .components = "^clv"};

    return clv_algorithm_communicator(&plain, MPI_COMM_WORLD, comm_p, reason, reason_bytes);
}

/* Opens the file, if one is wanted. Returns 0 or why it cannot. */
static int open_result(const char *path, FILE **file_p)
{
    *file_p = path ? clv_output_open(path) : NULL;
    return path && !*file_p ? errno : 0;
}

/* Called by all ranks; rank 0 opens. */
static clv_status_t open_results(bench_t *bench)
{
    const char *paths[] = {bench->options.json, bench->options.xdr};
    int errors[2] = {0};

    if (bench->sync.rank == 0) {
        errors[0] = open_result(paths[0], &bench->json);
        errors[1] = open_result(paths[1], &bench->xdr);
    }
    MPI_Bcast(errors, 2, MPI_INT, 0, bench->sync.comm);
    const int failed = errors[0] ? 0 : 1;
    if (!errors[failed]) {
        return CLV_OK;
    }
    snprintf(bench->reason, sizeof bench->reason, "cannot write %s: %s",
             *paths[failed] ? paths[failed] : "''", strerror(errors[failed]));
    return CLV_INVALID;
}

static clv_status_t set_up(bench_t *bench)
{
    const clv_bench_options_t *options = &bench->options;
    clv_status_t status = own_communicator(&bench->sync.comm, bench->reason, sizeof bench->reason);

    if (status != CLV_OK) {
        return status;
    }
    MPI_Comm_rank(bench->sync.comm, &bench->setup.call.rank);
    MPI_Comm_size(bench->sync.comm, &bench->setup.call.n_ranks);
    clv_bench_place_find(bench->sync.comm, &bench->setup.place);
    if (options->root >= bench->setup.call.n_ranks) {
        return complain(bench, "there is no rank for that --root%s", "");
    }
    if (clv_bench_clock_init(options->clock, options->timer, bench->sync.comm,
                             &bench->sync.clock) != CLV_OK) {
        return complain(bench, "no clock '%s' (realtime, a method like hca3, auto) by that --timer",
                        options->clock);
    }
    status = clv_bench_sync_init(options->sync, &bench->sync, bench->reason, sizeof bench->reason);
    if (status != CLV_OK) {
        return status;
    }
    if (!strcmp(options->cache, "cold") && clv_bench_cache_open(&bench->setup.cache) != CLV_OK) {
        return complain(bench, "no memory for a cold cache%s", "");
    }
    return open_results(bench);
}

static void list_words(FILE *out)
{
    fprintf(out, "algorithms:\n");
    clv_algorithm_list();
    fprintf(out, "    tuned:<n>[:<segment>] forces the library's number n; "
                 "<name>=<components>/<variable>=<value>/... is free\n"
                 "patterns:\n");
    for (const clv_pattern_kind_t *kind = clv_pattern_kinds; kind->name; kind++) {
        fprintf(out, "    %-14s %s\n", kind->name, kind->meaning);
    }
    fprintf(out, "couple:\n");
    for (const clv_loop_couple_t *row = clv_loop_couples; row->name; row++) {
        fprintf(out, "    %-14s %s\n", row->name, row->meaning);
    }
    fprintf(out, "sync:\n");
    for (const clv_bench_sync_kind_t *kind = clv_bench_sync_kinds; kind->name; kind++) {
        fprintf(out, "    %-14s %s\n", kind->name, kind->meaning);
    }
    fprintf(out, "window-rule:\n");
    for (const clv_window_rule_t *rule = clv_window_rules; rule->name; rule++) {
        fprintf(out, "    %-14s %s\n", rule->name, rule->meaning);
    }
    fprintf(out, "scheme:\n");
    for (const clv_bench_scheme_t *scheme = clv_bench_schemes; scheme->name; scheme++) {
        fprintf(out, "    %-14s %s\n", scheme->name, scheme->meaning);
    }
}

static const clv_program_t program = {
    .name = "clv-bench",
    .usage = "mpirun [...] clv-bench [--option value ...]",
    .options = clv_bench_option_rows,
    .more = list_words,
};

/* A disk may turn out to be full only now. */
static clv_status_t close_file(bench_t *bench, FILE *file, const char *path, clv_status_t status)
{
    char reason[MAX_ITEM];

    if (file && clv_output_close(file, path, reason, sizeof reason) != CLV_OK && status == CLV_OK) {
        (void) complain(bench, "results are lost: %s", reason);
        return CLV_SYSTEM;
    }
    return status;
}

static int run(bench_t *bench)
{
    clv_status_t status = set_up(bench);

    if (status == CLV_OK) {
        status = all_configurations(bench);
    }
    status = close_file(bench, bench->json, bench->options.json, status);
    status = close_file(bench, bench->xdr, bench->options.xdr, status);
    clv_bench_sync_close(&bench->sync);
    clv_bench_cache_close(&bench->setup.cache);
    if (status != CLV_OK) {
        if (bench->setup.call.rank == 0) {
            fprintf(stderr, "clv-bench: %s\n",
                    *bench->reason ? bench->reason : clv_status_text(status));
        }
        return status == CLV_INVALID || status == CLV_UNSUPPORTED ? EXIT_USAGE : EXIT_WRONG_RESULT;
    }
    if (bench->setup.interrupted && bench->setup.call.rank == 0) {
        tell_interrupted(bench);
    }
    if (bench->total.n_wrong) {
        fprintf(stderr, "clv-bench: %lld call%s gave a wrong result\n",
                (long long) bench->total.n_wrong, clv_text_s(bench->total.n_wrong));
        return EXIT_WRONG_RESULT;
    }
    if (bench->setup.interrupted) {
        return EXIT_SIGNAL + bench->setup.interrupted;
    }
    return bench->options.strict && bench->total.is_cpu_bound ? EXIT_CPU_BOUND : 0;
}

static void fill_setup(bench_t *bench)
{
    const clv_bench_options_t *options = &bench->options;

    for (int a = 0; a < MAX_ALGORITHMS; a++) {
        bench->comms[a] = MPI_COMM_NULL;
    }
    bench->setup.algorithms = bench->algorithms;
    bench->setup.comms = bench->comms;
    bench->setup.sync = &bench->sync;
    bench->setup.nonblocking = options->nonblocking;
    bench->setup.warm_learners = options->warm_learners;
    bench->setup.keep_order = options->keep_order;
    bench->setup.wants_visits = options->per_rank || options->xdr;
    bench->setup.seed = (uint64_t) options->seed;
    bench->setup.seconds = options->seconds;
    bench->setup.in_row = options->in_row;
    bench->setup.call.root = (int) options->root;
}

/* Options are checked before MPI_Init: an error is then reported once, and nothing has started. */
int main(int argc, char **argv)
{
    static bench_t bench;
    int level, provided;
    int code = clv_options_main(&program, argc, argv, &bench.options, NULL);

    if (code >= 0) {
        return code;
    }
    if (read_words(&bench) != CLV_OK) {
        return clv_options_wrong(&program, bench.reason);
    }
    MPI_Init(&argc, &argv);
    MPI_Query_thread(&level); /* Open MPI treats a lower level as the program's */
    MPI_T_init_thread(level, &provided);
    fill_setup(&bench);
    clv_bench_interrupt_catch();
    code = run(&bench);
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_T_finalize();
    MPI_Finalize();
    return code;
}
