/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods of synchronising clocks at a scale that no machine here has: the code of clocksync/ as it
 * ships, over a network simulated in virtual time (tests/sim/cs_net.h), up to 32,768 ranks.
 *
 * Output: a line per synchronisation and check, and JSON lines as clv-clock writes them
 * ("clock"). What takes too long is checked on a sample of the ranks (HCA3 paper, Fig. 6); the true
 * error is that of all. --series: instead, the offsets of clocks against rank 0's, measured once a
 * second, and how well lines through pieces of them fit (its Fig. 2).
 * Not: a measurement of this machine. Delays, drifts and wander are drawn from the options.
 * Units: s, us in what is printed, ns in JSON. One thread.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/cli_json.h"
#include "apps/cli/cli_options.h"
#include "clocksync/methods/cs_methods.h"
#include "clocksync/cs_internal.h"
#include "tests/sim/cs_net.h"
#include "tests/sim/cs_random.h"
#include "util/util_alloc.h"
#include "util/util_time.h"

#define MAX_WAITS  8
#define N_LENGTHS  7
#define TIMEOUT_NS (INT64_C(100000) * CLV_NS_PER_S) /* the last of a star waits for all others */

typedef struct options {
    int32_t n_ranks, ranks_per_host, n_runs, n_exchanges;
    double sample_percent, drift_ppm, wander_ppb, delay_us, queue_us;
    int32_t series_s;
    int64_t seed;
    double waits_s[MAX_WAITS];
    int n_waits;
    const char *json;
} options_t;

/* One network and what its ranks know. */
typedef struct trial {
    const options_t *options;
    cs_net_t *net;
    clv_cs_scheme_t scheme;
    clv_cs_place_t *places;
    clv_cs_model_t *models;
    clv_status_t *status;
    clv_cs_report_t *report;
    int32_t *sample; /* ranks that are checked, the reference first */
    int32_t *member; /* of each rank its index in the sample, or -1 */
    int32_t n_sample;
    clv_cs_point_t *points; /* of the sample */
    int64_t end_ns;         /* true time when the last rank was done */
} trial_t;

static FILE *json_file;

/* ---- options ---- */

static const char *take_waits(void *fields, const char *text)
{
    options_t *options = fields;

    options->n_waits = 0;
    for (const char *next = text; *next != '\0';) {
        char *end;
        const double seconds = strtod(next, &end);
        if (end == next || seconds < 0.0 || options->n_waits == MAX_WAITS ||
            (*end != ',' && *end != '\0')) {
            return "numbers of seconds, eight at most";
        }
        options->waits_s[options->n_waits++] = seconds;
        next = *end == ',' ? end + 1 : end;
    }
    return options->n_waits > 0 ? NULL : "numbers of seconds, eight at most";
}

#define AT(field) offsetof(options_t, field)
static const clv_option_t rows[] = {
    CLV_ROW_WHOLE32("ranks", AT(n_ranks), 2, CS_NET_MOST, "8", "of the simulated job"),
    CLV_ROW_WHOLE32("ranks-per-host", AT(ranks_per_host), 1, 1024, "1", "that share a clock"),
    CLV_ROW_WHOLE32("runs", AT(n_runs), 1, 1000, "3", "networks; each method sees all of them"),
    CLV_ROW_TAKE("wait", take_waits, "S[,S...]", "0,10", "seconds after which clocks are checked"),
    CLV_ROW_REAL("sample", AT(sample_percent), 0.001, 100, "100", "percent of ranks checked"),
    CLV_ROW_WHOLE32("exchanges", AT(n_exchanges), 1, 1e6, "100", "pings per rank when checking"),
    CLV_ROW_REAL("drift-ppm", AT(drift_ppm), 0, 1000, "50", "clocks drift by up to N either way"),
    CLV_ROW_REAL("wander-ppb", AT(wander_ppb), 0, 1e6, "20",
                 "by which a drift swings, up to, in five minutes"),
    CLV_ROW_REAL("delay-us", AT(delay_us), 0.1, 1e6, "2", "of a message between hosts, at least"),
    CLV_ROW_REAL("queue-us", AT(queue_us), 0, 1e6, "0.3", "mean of what it waits besides"),
    CLV_ROW_WHOLE32("series", AT(series_s), 0, 100000, "0",
                    "measure raw clocks for so many seconds instead"),
    CLV_ROW_WHOLE("seed", AT(seed), 1, 9e15, "1", "of the networks"),
    CLV_ROW_TEXT("json", AT(json), "FILE", NULL, "append a line per row"),
    CLV_ROWS_END,
};
static const clv_program_t program = {.name = "sim_clocks",
                                      .usage = "sim_clocks [options] METHOD ...",
                                      .options = rows,
                                      .takes_operands = 1};

/* ---- a network ---- */

static void *need(size_t n_items, size_t item_bytes)
{
    void *memory = clv_alloc(n_items, item_bytes);
    if (memory == NULL) {
        fprintf(stderr, "sim_clocks: out of memory\n");
        exit(1);
    }
    return memory;
}

static void draw_sample(trial_t *trial, int run)
{
    const options_t *options = trial->options;
    cs_random_t random = {(uint64_t) options->seed + (uint64_t) run * 7919};

    trial->n_sample = 0;
    for (int32_t r = 0; r < options->n_ranks; r++) {
        const int is_in = cs_random_uniform(&random, 0, 100) < options->sample_percent;
        trial->member[r] = r == 0 || is_in ? trial->n_sample : -1;
        if (trial->member[r] >= 0) {
            trial->sample[trial->n_sample++] = r;
        }
    }
}

static void set_up(trial_t *trial, const options_t *options, int run)
{
    const size_t n = (size_t) options->n_ranks;
    cs_net_config_t config =
        cs_net_quiet(options->n_ranks, (uint64_t) options->seed + (uint64_t) run);

    *trial = (trial_t){.options = options,
                       .places = need(n, sizeof *trial->places),
                       .models = need(n, sizeof *trial->models),
                       .status = need(n, sizeof *trial->status),
                       .report = need(n, sizeof *trial->report),
                       .sample = need(n, sizeof *trial->sample),
                       .member = need(n, sizeof *trial->member),
                       .points = need(n, sizeof *trial->points)};
    config.ranks_per_host = options->ranks_per_host;
    config.max_drift = options->drift_ppm * 1e-6;
    config.wander = options->wander_ppb * 1e-9;
    config.least_delay_ns = (int64_t) (options->delay_us * 1e3);
    config.queue_ns = options->queue_us * 1e3;
    trial->net = cs_net_create(&config);
    for (int32_t r = 0; r < options->n_ranks; r++) {
        trial->places[r].host = (uint64_t) (r / options->ranks_per_host + 1);
        trial->places[r].time_source = trial->places[r].host + UINT64_C(1000000);
        trial->models[r] = clv_cs_identity;
    }
    draw_sample(trial, run);
}

static void tear_down(trial_t *trial)
{
    cs_net_destroy(trial->net);
    clv_free(trial->places);
    clv_free(trial->models);
    clv_free(trial->status);
    clv_free(trial->report);
    clv_free(trial->sample);
    clv_free(trial->member);
    clv_free(trial->points);
}

static void sleep_on(void *link, int64_t ns)
{
    cs_net_sleep(link, ns);
}

static void sync_body(cs_net_rank_t *rank, void *context)
{
    trial_t *trial = context;
    const clv_cs_group_t group = {.ops = &cs_net_link_ops,
                                  .link = rank,
                                  .n_ranks = trial->options->n_ranks,
                                  .rank = rank->rank,
                                  .timeout_ns = TIMEOUT_NS,
                                  .sleep = sleep_on};
    trial->status[rank->rank] =
        clv_cs_sync(&trial->scheme, &group, trial->places, &rank->clock, NULL,
                    &trial->models[rank->rank], &trial->report[rank->rank]);
}

static void check_body(cs_net_rank_t *rank, void *context)
{
    trial_t *trial = context;
    const int32_t member = trial->member[rank->rank];
    const clv_cs_group_t group = {.ops = &cs_net_link_ops,
                                  .link = rank,
                                  .ranks = trial->sample,
                                  .n_ranks = trial->n_sample,
                                  .rank = member,
                                  .timeout_ns = TIMEOUT_NS,
                                  .sleep = sleep_on};
    if (member >= 0) {
        const clv_status_t ignored =
            clv_cs_check(&group, &rank->clock, &trial->models[rank->rank],
                         trial->options->n_exchanges, member == 0 ? trial->points : NULL);
        (void) ignored; /* the points of those that failed say so */
    }
}

/* All ranks sleep until that true time; who is later already stays. */
static void sleep_until(const trial_t *trial, int64_t true_ns)
{
    for (int32_t r = 0; r < trial->options->n_ranks; r++) {
        cs_net_rank_t *rank = cs_net_rank(trial->net, r);
        if (rank->now_ns < true_ns) {
            cs_net_sleep(rank, true_ns - rank->now_ns);
        }
    }
}

/* ---- a synchronisation and its checks ---- */

typedef struct judged {
    double wait_s, duration_s;
    int64_t true_max_ns, bound_max_ns, max_ns;
    double true_mean_ns, mean_ns;
    int32_t n_failed, n_covered, n_rounds;
} judged_t;

static void judge_by_truth(const trial_t *trial, int64_t true_ns, judged_t *judged)
{
    const int32_t n_ranks = trial->options->n_ranks;
    const int64_t reference_ns =
        clv_cs_model_global(&trial->models[0], cs_net_local(trial->net, 0, true_ns));

    for (int32_t r = 0; r < n_ranks; r++) {
        const int64_t local_ns = cs_net_local(trial->net, r, true_ns);
        const int64_t error_ns =
            llabs(clv_cs_model_global(&trial->models[r], local_ns) - reference_ns);
        const int64_t bound_ns = clv_cs_model_error(&trial->models[r], local_ns);
        judged->n_failed += trial->status[r] != CLV_OK;
        judged->n_rounds = trial->report[r].n_rounds > judged->n_rounds ? trial->report[r].n_rounds
                                                                        : judged->n_rounds;
        judged->true_max_ns = error_ns > judged->true_max_ns ? error_ns : judged->true_max_ns;
        judged->bound_max_ns = bound_ns > judged->bound_max_ns ? bound_ns : judged->bound_max_ns;
        judged->true_mean_ns += (double) error_ns / (n_ranks - 1);
        judged->n_covered += r > 0 && error_ns <= bound_ns;
    }
}

static void judge_by_check(const trial_t *trial, judged_t *judged)
{
    for (int32_t i = 1; i < trial->n_sample; i++) {
        const int64_t offset_ns = llabs(trial->points[i].offset_ns);
        judged->max_ns = offset_ns > judged->max_ns ? offset_ns : judged->max_ns;
        judged->mean_ns += (double) offset_ns / (trial->n_sample - 1);
    }
}

static void json_check(const trial_t *trial, const char *label, int run, const judged_t *judged)
{
    const options_t *options = trial->options;

    if (json_file == NULL) {
        return;
    }
    clv_json_t json = clv_json_begin(json_file, "sim_clocks", "clock");
    clv_json_whole(&json, "ranks", options->n_ranks);
    clv_json_whole(&json, "ranks_per_host", options->ranks_per_host);
    clv_json_flag(&json, "simulated", 1);
    clv_json_number(&json, "drift_ppm", options->drift_ppm);
    clv_json_number(&json, "sample_percent", options->sample_percent);
    clv_json_text(&json, "algorithm", label);
    clv_json_whole(&json, "run", run);
    clv_json_whole(&json, "failed_ranks", judged->n_failed);
    clv_json_whole(&json, "rounds", judged->n_rounds);
    clv_json_number(&json, "duration_ns", 1e9 * judged->duration_s);
    clv_json_number(&json, "wait_ns", 1e9 * judged->wait_s);
    clv_json_whole(&json, "max_ns", judged->max_ns);
    clv_json_number(&json, "mean_ns", judged->mean_ns);
    clv_json_whole(&json, "true_max_ns", judged->true_max_ns);
    clv_json_number(&json, "true_mean_ns", judged->true_mean_ns);
    clv_json_whole(&json, "bound_max_ns", judged->bound_max_ns);
    clv_json_whole(&json, "checked", options->n_ranks - 1);
    clv_json_whole(&json, "covered", judged->n_covered);
    clv_json_whole(&json, "sampled", trial->n_sample - 1);
    clv_json_end(&json);
}

static int run_method(const options_t *options, const char *label, int run)
{
    trial_t trial;
    int n_failed = 0;

    set_up(&trial, options, run);
    if (clv_cs_scheme_parse(label, &trial.scheme) != CLV_OK) {
        exit(clv_options_wrong(&program, "no such method (clv-clock --list)"));
    }
    const int64_t begun_ns = cs_net_now(trial.net);
    cs_net_run(trial.net, sync_body, &trial);
    trial.end_ns = cs_net_now(trial.net);
    for (int w = 0; w < options->n_waits; w++) {
        judged_t judged = {.wait_s = options->waits_s[w],
                           .duration_s = (double) (trial.end_ns - begun_ns) * 1e-9};
        const int64_t at_ns = trial.end_ns + (int64_t) (judged.wait_s * 1e9);
        sleep_until(&trial, at_ns);
        judge_by_truth(&trial, at_ns, &judged);
        cs_net_run(trial.net, check_body, &trial);
        judge_by_check(&trial, &judged);
        json_check(&trial, label, run, &judged);
        printf("%-34s %3d %9.3f %6d %7g %9.2f %9.2f %10.2f %9.2f %6d/%d%s\n", label, run,
               judged.duration_s, judged.n_rounds, judged.wait_s, (double) judged.max_ns / 1e3,
               judged.mean_ns / 1e3, (double) judged.true_max_ns / 1e3,
               (double) judged.bound_max_ns / 1e3, judged.n_covered, options->n_ranks - 1,
               judged.n_failed > 0 ? "  FAILED RANKS" : "");
        (void) fflush(stdout);
        n_failed += judged.n_failed;
    }
    tear_down(&trial);
    return n_failed;
}

/* ---- raw clocks over time ---- */

/* How well lines fit pieces of that length, of all ranks: the worst of both. */
typedef struct fits {
    double r_squared;
    int64_t miss_ns;
} fits_t;

static fits_t fit_pieces(const options_t *options, const clv_cs_point_t *points, int32_t length)
{
    const clv_cs_fit_how_t how = {.drift_prior_ppb = CLV_CS_DRIFT_PRIOR_PPB, .is_plain = 1};
    clv_cs_point_t *piece = need((size_t) length, sizeof *piece);
    fits_t worst = {1.0, 0};

    for (int32_t r = 1; r < options->n_ranks; r++) {
        for (int32_t from = 0; from + length <= options->series_s; from += length) {
            clv_cs_fit_t fit;
            for (int32_t i = 0; i < length; i++) {
                piece[i] = points[(size_t) (from + i) * (size_t) options->n_ranks + (size_t) r];
            }
            clv_cs_fit_line(piece, length, &how, &fit);
            worst.r_squared = fmin(worst.r_squared, fit.r_squared);
            for (int32_t i = 0; i < length; i++) {
                const int64_t miss_ns = cs_miss(&fit.model, &piece[i]);
                worst.miss_ns = miss_ns > worst.miss_ns ? miss_ns : worst.miss_ns;
            }
        }
    }
    clv_free(piece);
    return worst;
}

static void tell_pieces(const options_t *options, const clv_cs_point_t *points)
{
    static const int32_t lengths[N_LENGTHS] = {5, 10, 20, 50, 100, 200, 500};

    for (int l = 0; l < N_LENGTHS && lengths[l] <= options->series_s; l++) {
        const fits_t worst = fit_pieces(options, points, lengths[l]);
        printf("pieces of %4d s: R^2 at least %.4f, a line misses by up to %9.3f us\n", lengths[l],
               worst.r_squared, (double) worst.miss_ns / 1e3);
        if (json_file != NULL) {
            clv_json_t json = clv_json_begin(json_file, "sim_clocks", "pieces");
            clv_json_whole(&json, "ranks", options->n_ranks);
            clv_json_number(&json, "piece_ns", 1e9 * lengths[l]);
            clv_json_number(&json, "r_squared_min", worst.r_squared);
            clv_json_whole(&json, "miss_max_ns", worst.miss_ns);
            clv_json_end(&json);
        }
    }
}

/* The offsets of all ranks over time, from the first one on. */
static void tell_series(const options_t *options, const clv_cs_point_t *points)
{
    for (int32_t r = 1; r < options->n_ranks && json_file != NULL; r++) {
        clv_json_t json = clv_json_begin(json_file, "sim_clocks", "drift");
        clv_json_whole(&json, "ranks", options->n_ranks);
        clv_json_whole(&json, "rank", r);
        clv_json_list_begin(&json, "offset_ns");
        for (int32_t s = 0; s < options->series_s; s++) {
            const clv_cs_point_t *at = &points[(size_t) s * (size_t) options->n_ranks];
            clv_json_item(&json, (double) (at[r].offset_ns - points[r].offset_ns), 0);
        }
        clv_json_list_end(&json);
        clv_json_end(&json);
    }
}

static void run_series(const options_t *options)
{
    const size_t n = (size_t) options->series_s * (size_t) options->n_ranks;
    clv_cs_point_t *points = need(n, sizeof *points);
    options_t all = *options;
    trial_t trial;

    all.sample_percent = 100;
    set_up(&trial, &all, 0);
    const int64_t begun_ns = cs_net_now(trial.net);
    for (int32_t s = 0; s < options->series_s; s++) {
        sleep_until(&trial, begun_ns + s * CLV_NS_PER_S);
        cs_net_run(trial.net, check_body, &trial);
        memcpy(points + (size_t) s * (size_t) options->n_ranks, trial.points,
               (size_t) options->n_ranks * sizeof *points);
    }
    tell_series(options, points);
    tell_pieces(options, points);
    tear_down(&trial);
    clv_free(points);
}

int main(int argc, char **argv)
{
    options_t options = {0};
    int first = 0, n_failed = 0;
    const int status = clv_options_main(&program, argc, argv, &options, &first);

    if (status >= 0) {
        return status;
    }
    if (options.json != NULL && (json_file = fopen(options.json, "a")) == NULL) {
        fprintf(stderr, "sim_clocks: %s: %s\n", options.json, strerror(errno));
        return 2;
    }
    if (options.series_s > 0) {
        run_series(&options);
    } else {
        printf("%-34s %3s %9s %6s %7s %9s %9s %10s %9s %s\n", "method", "run", "took[s]", "rounds",
               "after", "max", "mean", "true max", "bound", "covered");
    }
    for (int run = 0; run < options.n_runs && options.series_s == 0; run++) {
        for (int m = first; m < argc; m++) {
            n_failed += run_method(&options, argv[m], run);
        }
    }
    return (json_file != NULL && fclose(json_file) != 0) || n_failed > 0;
}
