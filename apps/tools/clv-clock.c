/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-clock: synchronises the clocks of an MPI program's ranks by named methods, and reports the
 * duration and the accuracy, right after and later. Uses public MPI only.
 *
 * Two checks. Check-Global-Clock (HCA3 paper, Algorithm 6) measures every rank's global clock
 * against the reference's, with the accuracy of one SKaMPI-Offset. If all hosts share
 * CLOCK_REALTIME (one machine, an emulated cluster), --truth realtime compares through it, to about
 * 0.2 us.
 *
 * Units: ns inside, us and s in the output. One thread. See the man page.
 */
#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "apps/bench/compare/bench_plot.h"
#include "apps/bench/measure/bench_place.h"
#include "apps/cli/cli_options.h"
#include "apps/cli/cli_file.h"
#include "clocksync/methods/cs_methods.h"
#include "apps/tools/clock_report.h"
#include "apps/trace/trace_patterns.h"
#include "util/util_alloc.h"
#include "util/util_time.h"

#define MAX_METHODS 32
#define SAMPLE_SEED UINT64_C(0x73616d706c65) /* draws the sample */

typedef struct options {
    const char *methods[MAX_METHODS];
    int n_methods;
    double waits_s[CLOCK_MAX_WAITS];
    int n_waits;
    int32_t n_runs, reference, n_exchanges, n_calibrations, n_round_trips;
    double sample_percent;
    const char *clock;
    double drift_ppm, pretend_s, timeout_s;
    bool has_truth, is_quiet, wants_list;
    const char *json, *plot;
} options_t;

/* This process among the others. */
typedef struct world {
    int rank, n_ranks;
    clv_cs_clock_t base, pretend;
    const clv_cs_clock_t *clock; /* points to one of the two; NULL: unusable */
    clv_cs_place_t *places;      /* of all ranks */
    int host, n_hosts;           /* hosts numbered by first rank */
    clv_cs_group_t group;
    clv_cs_group_t checked; /* the sampled members of the group, over its link */
    int32_t *sample;        /* their ranks, including the reference */
    bool is_checked;        /* this rank is in the sample */
    clv_bench_place_t place;
} world_t;

/* A rank's report to rank 0 after one synchronisation. */
typedef struct rank_row {
    int32_t status, n_rounds;
    double duration_s, r_squared, rms_us;
    int64_t n_pings;
    struct {
        int64_t real_ns, global_ns, bound_ns; /* the true time, our global time, and its bound */
        int64_t blur_ns;                      /* error of the comparison itself */
    } sighting[CLOCK_MAX_WAITS];
} rank_row_t;

/* ---- the link: plain MPI point to point ---- */

#define LINK_TAG 77

static clv_status_t mpi_link_send(void *link, int peer, const void *data, size_t n_bytes)
{
    MPI_Comm *comm = link;
    const int answer = MPI_Send(data, (int) n_bytes, MPI_BYTE, peer, LINK_TAG, *comm);
    return answer == MPI_SUCCESS ? CLV_OK : CLV_LOST;
}

/* Cancels a request that timed out. If that is too late, the message has arrived after all. */
static clv_status_t withdraw(MPI_Request *request, MPI_Status *status)
{
    int was_cancelled = 1;
    MPI_Cancel(request);
    MPI_Wait(request, status);
    MPI_Test_cancelled(status, &was_cancelled);
    return was_cancelled ? CLV_TIMEOUT : CLV_OK;
}

static clv_status_t mpi_link_recv(void *link, int peer, void *data, size_t n_bytes,
                                  int64_t timeout_ns)
{
    MPI_Comm *comm = link;
    MPI_Request request;
    MPI_Status status;
    int is_here = 0, n_received = 0;
    if (MPI_Irecv(data, (int) n_bytes, MPI_BYTE, peer, LINK_TAG, *comm, &request) != MPI_SUCCESS) {
        return CLV_LOST;
    }
    const int64_t deadline_ns = clv_local_now_ns() + timeout_ns;
    while (!is_here) {
        if (MPI_Test(&request, &is_here, &status) != MPI_SUCCESS) {
            return CLV_LOST;
        }
        if (!is_here && clv_local_now_ns() > deadline_ns) {
            const clv_status_t answer = withdraw(&request, &status);
            if (answer != CLV_OK) {
                return answer;
            }
            is_here = 1;
        }
    }
    MPI_Get_count(&status, MPI_BYTE, &n_received);
    return (size_t) n_received == n_bytes ? CLV_OK : CLV_PROTOCOL;
}

static const clv_link_ops_t mpi_link_ops = {mpi_link_send, mpi_link_recv};

/* ---- options ---- */

#define CLOCKS "monotonic, monotonic_raw, realtime, tsc, tscp"

static const char *take_waits(void *fields, const char *text)
{
    options_t *options = fields;
    const char *next = text;
    options->n_waits = 1; /* 0 s comes first */
    do {
        char *end;
        const double seconds = strtod(next, &end);
        if (end == next || !(seconds > options->waits_s[options->n_waits - 1]) ||
            options->n_waits == CLOCK_MAX_WAITS || (*end != ',' && *end != '\0')) {
            return "rising numbers of seconds above 0, seven at most";
        }
        options->waits_s[options->n_waits++] = seconds;
        next = *end == ',' ? end + 1 : NULL;
    } while (next != NULL);
    return NULL;
}

static const char *take_clock(void *fields, const char *text)
{
    ((options_t *) fields)->clock = text;
    return clv_cs_clock_is_name(text) ? NULL : "one of " CLOCKS;
}

static const char *take_truth(void *fields, const char *text)
{
    ((options_t *) fields)->has_truth = true;
    return strcmp(text, "realtime") == 0 ? NULL : "realtime";
}

static const char *take_plot(void *fields, const char *text)
{
    ((options_t *) fields)->plot = text;
    return clv_plot_is_name(text) ? NULL : "the name of a .png, .svg or .pdf file";
}

#define AT(field) offsetof(options_t, field)
static const clv_option_t option_rows[] = {
    CLV_ROW_TAKE("wait", take_waits, "S[,S...]", "10",
                 "check again S seconds after the synchronisation"),
    CLV_ROW_WHOLE32("runs", AT(n_runs), 1, 1e6, "1", "synchronise N times by each method"),
    CLV_ROW_WHOLE32("reference", AT(reference), 0, 1e6, "0",
                    "rank whose clock becomes the global one"),
    CLV_ROW_TAKE("clock", take_clock, "NAME", "monotonic", CLOCKS),
    CLV_ROW_REAL("drift-ppm", AT(drift_ppm), 0, 1000, "0",
                 "make clocks drift, host by host, up to N ppm either way"),
    CLV_ROW_REAL("pretend", AT(pretend_s), 0, 1e7, "0",
                 "make clocks differ, host by host, by up to N seconds"),
    CLV_ROW_TAKE("truth", take_truth, "realtime", NULL,
                 "judge by CLOCK_REALTIME, which all hosts share"),
    CLV_ROW_WHOLE32("exchanges", AT(n_exchanges), 1, 1e6, "100", "pings per rank when checking"),
    CLV_ROW_REAL("sample", AT(sample_percent), 0.001, 100, "100",
                 "check N percent of the ranks, drawn at random, the same in every run"),
    CLV_ROW_WHOLE32(
        "calibrations", AT(n_calibrations), 0, 1e5, "0",
        "first calibrate rank 0's --clock tsc or tscp N times and print the frequencies"),
    CLV_ROW_WHOLE32("round-trips", AT(n_round_trips), 0, 1e6, "0",
                    "first measure N round trips between the first rank and the last, and print "
                    "them"),
    CLV_ROW_REAL("timeout", AT(timeout_s), 0.001, 1e6, "60", "longest wait for a message, seconds"),
    CLV_ROW_TEXT("json", AT(json), "FILE", NULL,
                 "append a line per synchronisation and check; - is standard output"),
    CLV_ROW_TAKE("plot", take_plot, "FILE", NULL, "accuracy against duration (.png, .svg, .pdf)"),
    CLV_ROW_FLAG("quiet", AT(is_quiet), "no table"),
    CLV_ROW_FLAG("list", AT(wants_list), "algorithms and where they are described"),
    CLV_ROWS_END,
};

static void tell_exits(FILE *out)
{
    fputs("METHOD: hca3 (the default), hca3/1000/skampi/100, jk/1000/mean-rtt/20, h2hca/500, ...\n"
          "exit: 0; 1 a rank got no clock; 2 wrong use\n",
          out);
}

static const clv_program_t program = {
    .name = "clv-clock",
    .usage = "mpirun ... clv-clock [options] [METHOD ...]",
    .options = option_rows,
    .more = tell_exits,
    .takes_operands = true,
};

/* Returns -1, or the exit status. */
static int take_methods(options_t *o, int n, char **methods)
{
    char reason[CLOCK_MAX_LABEL];
    clv_cs_scheme_t scheme;
    for (int i = 0; i < n; i++) {
        if (o->n_methods == MAX_METHODS || clv_cs_scheme_parse(methods[i], &scheme) != CLV_OK) {
            snprintf(reason, sizeof reason,
                     "'%s' is not a method, or one method too many (see --list)", methods[i]);
            return clv_options_wrong(&program, reason);
        }
        o->methods[o->n_methods++] = methods[i];
    }
    if (o->n_methods == 0) {
        o->methods[o->n_methods++] = "hca3";
    }
    return -1;
}

static void print_algorithms(void)
{
#define PRINT_ROW(name, label, offset_only, fit, exchanges, where)                                 \
    printf("%-10s %s\n", label, where);
    CLV_CS_ALGORITHM_MAP(PRINT_ROW)
#undef PRINT_ROW
    printf("%-10s %s\n%-10s %s\n", "h2hca", "HCA3 paper, section IV-C, Algorithm 4", "h3hca",
           "HCA3 paper, section IV-D");
#define PRINT_ROW(name, label, where) printf("offset %-8s %s\n", label, where);
    CLV_CS_OFFSET_MAP(PRINT_ROW)
#undef PRINT_ROW
#define PRINT_ROW(name, text) printf("clock %-14s %s\n", #name, text);
    CLV_CS_CLOCK_MAP(PRINT_ROW)
#undef PRINT_ROW
}

/* ---- the world ---- */

/* Numbers hosts in the order of their first ranks, so that all ranks agree. */
static void number_hosts(world_t *world)
{
    world->n_hosts = 0;
    for (int i = 0; i < world->n_ranks; i++) {
        int first = 0;
        while (world->places[first].time_source != world->places[i].time_source) {
            first++;
        }
        world->n_hosts += first == i;
        if (world->places[world->rank].time_source == world->places[i].time_source && first == i) {
            world->host = world->n_hosts - 1;
        }
    }
}

static int first_rank_of_my_host(const world_t *world)
{
    int first = 0;
    while (world->places[first].time_source != world->places[world->rank].time_source) {
        first++;
    }
    return first;
}

/* The first two hosts get the extremes; the others lie between, equal in every run. */
static double share_of_host(int host)
{
    if (host < 2) {
        return host == 0 ? 1.0 : -1.0;
    }
    return fmod(host * 0.6180339887, 1.0) * 2.0 - 1.0;
}

/* The value of the host's first rank. It pretends and calibrates for the whole host, because its
 * ranks share one clock and their copies must agree. */
static void take_from_first(const world_t *world, void *mine, size_t n_bytes)
{
    char *all = clv_alloc((size_t) world->n_ranks, n_bytes);
    if (all == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        return;
    }
    MPI_Allgather(mine, (int) n_bytes, MPI_BYTE, all, (int) n_bytes, MPI_BYTE, MPI_COMM_WORLD);
    memcpy(mine, all + (size_t) first_rank_of_my_host(world) * n_bytes, n_bytes);
    clv_free(all);
}

/* Replaces calibrations by each process with one per host. */
static void share_calibration(world_t *world)
{
    struct {
        int64_t start_ns, offset_ns;
        double rate; /* 0: no clock */
    } its = {world->base.start_ns, world->base.offset_ns, world->clock ? world->base.rate : 0.0};
    take_from_first(world, &its, sizeof its);
    if (world->clock != NULL && its.rate > 0.0) {
        world->base.start_ns = its.start_ns;
        world->base.offset_ns = its.offset_ns;
        world->base.rate = its.rate;
    }
}

static void pretend(world_t *world, const options_t *options)
{
    int64_t start_ns = world->clock != NULL ? clv_cs_clock_now_ns(world->clock) : 0;
    take_from_first(world, &start_ns, sizeof start_ns);
    if (world->clock == NULL) {
        return;
    }
    const double share = share_of_host(world->host);
    clv_cs_clock_pretend(&world->base, (int64_t) (share * options->pretend_s * 1e9),
                         (int64_t) (share * options->drift_ppm * 1e3), &world->pretend);
    world->pretend.start_ns = start_ns;
    world->clock = &world->pretend;
}

static void open_clock(world_t *world, const options_t *options)
{
    const clv_status_t status = clv_cs_clock_open(options->clock, &world->base);
    world->clock = status == CLV_OK ? &world->base : NULL;
    if (status != CLV_OK) {
        fprintf(stderr, "clv-clock: rank %d: clock %s: %s\n", world->rank, options->clock,
                clv_status_text(status));
    }
}

/* A rank without a boot id counts as a host of its own, so that nothing wrong is copied. clock
 * NULL: hosts regardless of their clocks. */
static void gather_places(world_t *world, const clv_cs_clock_t *clock)
{
    clv_cs_place_t mine;
    if (clv_cs_place_discover(clock, &mine) != CLV_OK) {
        mine = (clv_cs_place_t){.host = (uint64_t) world->rank, .time_source = 0};
        mine.time_source = UINT64_MAX - mine.host;
    }
    MPI_Allgather(&mine, (int) sizeof mine, MPI_BYTE, world->places, (int) sizeof mine, MPI_BYTE,
                  MPI_COMM_WORLD);
}

/* Draws the reference and about the given percentage of the others, equal on all ranks. */
static void draw_sample(world_t *world, const options_t *options)
{
    world->checked = world->group;
    world->checked.ranks = world->sample;
    world->checked.n_ranks = 0;
    world->is_checked = false;
    for (int r = 0; r < world->n_ranks; r++) {
        const bool is_reference = r == world->group.reference;
        const double chance = clv_pattern_random(SAMPLE_SEED, 0, (uint64_t) r);
        if (!is_reference && chance * 100.0 >= options->sample_percent) {
            continue;
        }
        if (is_reference) {
            world->checked.reference = world->checked.n_ranks;
        }
        if (r == world->rank) {
            world->checked.rank = world->checked.n_ranks;
            world->is_checked = true;
        }
        world->sample[world->checked.n_ranks++] = r;
    }
}

static void set_up_world(world_t *world, const options_t *options, MPI_Comm *comm)
{
    MPI_Comm_rank(*comm, &world->rank);
    MPI_Comm_size(*comm, &world->n_ranks);
    open_clock(world, options);
    world->places = clv_alloc((size_t) world->n_ranks, sizeof *world->places);
    world->sample = clv_alloc((size_t) world->n_ranks, sizeof *world->sample);
    if (world->places == NULL || world->sample == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        return;
    }
    gather_places(world, NULL);
    share_calibration(world);
    gather_places(world, world->clock);
    number_hosts(world);
    if (options->drift_ppm != 0 || options->pretend_s != 0) {
        pretend(world, options);
    }
    world->group = (clv_cs_group_t){.ops = &mpi_link_ops,
                                    .link = comm,
                                    .n_ranks = world->n_ranks,
                                    .rank = world->rank,
                                    .reference = options->reference,
                                    .timeout_ns = (int64_t) (options->timeout_s * 1e9)};
    draw_sample(world, options);
}

/* ---- judging ---- */

static int64_t realtime_now_ns(void)
{
    struct timespec now;
    (void) clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t) now.tv_sec * CLV_NS_PER_S + now.tv_nsec;
}

/* Reads our clock at one instant of the true time: the tightest of many brackets. Returns the error
 * bound. */
static int64_t sight(const clv_cs_clock_t *clock, int64_t *local_p, int64_t *real_p)
{
    int64_t tightest = INT64_MAX;
    for (int i = 0; i < 100; i++) {
        const int64_t before = realtime_now_ns();
        const int64_t local = clv_cs_clock_now_ns(clock);
        const int64_t after = realtime_now_ns();
        if (after - before < tightest) {
            tightest = after - before;
            *local_p = local;
            *real_p = before + (after - before) / 2;
        }
    }
    return tightest / 2 + 1;
}

static void sleep_until(int64_t local_ns)
{
    const int64_t left_ns = local_ns - clv_local_now_ns();
    if (left_ns > 0) {
        const struct timespec pause = {left_ns / CLV_NS_PER_S, left_ns % CLV_NS_PER_S};
        (void) nanosleep(&pause, NULL);
    }
}

/* The reference is read before and after the others, so that its clock can be interpolated to the
 * times of their readings. */
static void take_sightings(const world_t *world, const clv_cs_model_t *model, int wait,
                           rank_row_t *row, int64_t reference_global_ns[2],
                           int64_t reference_real_ns[2])
{
    int64_t local_ns = 0, real_ns = 0;
    for (int turn = 0; turn < 3; turn++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (model == NULL || (turn != 1 && world->rank != world->group.reference)) {
            continue;
        }
        const int64_t blur_ns = sight(world->clock, &local_ns, &real_ns);
        const int64_t global_ns = clv_cs_model_global(model, local_ns);
        if (turn == 1) {
            row->sighting[wait].real_ns = real_ns;
            row->sighting[wait].global_ns = global_ns;
            row->sighting[wait].bound_ns = clv_cs_model_error(model, local_ns);
            row->sighting[wait].blur_ns = blur_ns;
        } else {
            reference_global_ns[turn / 2] = global_ns;
            reference_real_ns[turn / 2] = real_ns;
        }
    }
}

typedef struct truth {
    int64_t global_ns[2], real_ns[2]; /* of the reference */
} truth_t;

static int64_t true_error_ns(const truth_t *truth, int64_t real_ns, int64_t global_ns)
{
    const double rate = (double) (truth->global_ns[1] - truth->global_ns[0]) /
                        (double) (truth->real_ns[1] - truth->real_ns[0]);
    const int64_t elapsed_ns = real_ns - truth->real_ns[0];
    const int64_t drifted_ns = (int64_t) llround((double) elapsed_ns * (rate - 1.0));
    return global_ns - (truth->global_ns[0] + elapsed_ns + drifted_ns);
}

static void judge_by_truth(const world_t *world, const truth_t *truth, const rank_row_t *rows,
                           int wait, clock_accuracy_t *accuracy)
{
    double total = 0;
    accuracy->true_max_us = 0;
    for (int i = 0; i < world->n_ranks; i++) {
        if (rows[i].status != CLV_OK || i == world->group.reference) {
            continue;
        }
        const int64_t error_ns = llabs(
            true_error_ns(truth, rows[i].sighting[wait].real_ns, rows[i].sighting[wait].global_ns));
        total += (double) error_ns * 1e-3;
        accuracy->true_max_us = fmax(accuracy->true_max_us, (double) error_ns * 1e-3);
        const int64_t blur_ns =
            rows[i].sighting[wait].blur_ns + rows[world->group.reference].sighting[wait].blur_ns;
        accuracy->n_covered += error_ns <= rows[i].sighting[wait].bound_ns + blur_ns;
        accuracy->n_checked++;
    }
    accuracy->true_mean_us = accuracy->n_checked > 0 ? total / accuracy->n_checked : 0;
}

static void judge_by_check(const world_t *world, const clv_cs_point_t *points,
                           const rank_row_t *rows, int wait, clock_accuracy_t *accuracy)
{
    double total = 0;
    int n = 0;
    for (int i = 0; i < world->n_ranks; i++) {
        if (i == world->group.reference || points[i].error_ns == INT64_MAX) {
            continue;
        }
        const double offset_us = fabs((double) points[i].offset_ns) * 1e-3;
        accuracy->max_us = fmax(accuracy->max_us, offset_us);
        accuracy->bound_max_us =
            fmax(accuracy->bound_max_us, (double) rows[i].sighting[wait].bound_ns * 1e-3);
        total += offset_us;
        n++;
    }
    accuracy->mean_us = n > 0 ? total / n : 0;
}

/* ---- one synchronisation ---- */

typedef struct bench {
    const options_t *options;
    const world_t *world;
    rank_row_t *rows;        /* at rank 0 and at the reference */
    clv_cs_point_t *points;  /* [wait][rank], filled at the reference */
    clv_cs_point_t *sampled; /* of one check, in the order of the sample */
    truth_t truth[CLOCK_MAX_WAITS];
} bench_t;

static void check_and_sight(bench_t *bench, const clv_cs_model_t *model, int wait, rank_row_t *row)
{
    const world_t *world = bench->world;
    clv_cs_point_t *points = bench->points + (size_t) wait * (size_t) world->n_ranks;
    truth_t *truth = &bench->truth[wait];
    take_sightings(world, model, wait, row, truth->global_ns, truth->real_ns);
    const clv_status_t status = world->is_checked
                                    ? clv_cs_check(&world->checked, world->clock, model,
                                                   bench->options->n_exchanges, bench->sampled)
                                    : CLV_OK;
    if (status != CLV_OK && row->status == CLV_OK) {
        row->status = status;
    }
    for (int r = 0; r < world->n_ranks; r++) {
        points[r] = (clv_cs_point_t){0, 0, INT64_MAX}; /* not in the sample: not measured */
    }
    for (int32_t i = 0; i < world->checked.n_ranks; i++) {
        points[world->sample[i]] = bench->sampled[i];
    }
}

static rank_row_t synchronise_and_check(bench_t *bench, const char *label)
{
    const world_t *world = bench->world;
    clv_cs_scheme_t scheme;
    clv_cs_model_t model;
    clv_cs_report_t report = {0};
    rank_row_t row = {.status = clv_cs_scheme_parse(label, &scheme)};
    MPI_Barrier(MPI_COMM_WORLD);
    if (row.status == CLV_OK) {
        row.status =
            clv_cs_sync(&scheme, &world->group, world->places, world->clock, NULL, &model, &report);
    }
    const int64_t end_ns = clv_local_now_ns();
    row.n_rounds = report.n_rounds;
    row.n_pings = report.n_pings;
    row.duration_s = (double) report.duration_ns * 1e-9;
    row.r_squared = report.r_squared;
    row.rms_us = report.rms_ns * 1e-3;
    const clv_cs_model_t *usable = row.status == CLV_OK ? &model : NULL;
    for (int wait = 0; wait < bench->options->n_waits; wait++) {
        sleep_until(end_ns + (int64_t) (bench->options->waits_s[wait] * 1e9));
        check_and_sight(bench, usable, wait, &row);
    }
    return row;
}

static void summarise_fit(const bench_t *bench, clock_result_t *result)
{
    result->r_squared_min = 1;
    for (int i = 0; i < bench->world->n_ranks; i++) {
        const rank_row_t *row = &bench->rows[i];
        result->n_failed += row->status != CLV_OK;
        result->duration_s = fmax(result->duration_s, row->duration_s);
        result->n_pings += row->n_pings;
        result->n_rounds = row->n_rounds > result->n_rounds ? row->n_rounds : result->n_rounds;
        result->r_squared_min = fmin(result->r_squared_min, row->r_squared);
        result->rms_max_us = fmax(result->rms_max_us, row->rms_us);
    }
}

static void summarise(const bench_t *bench, clock_result_t *result)
{
    summarise_fit(bench, result);
    result->n_waits = bench->options->n_waits;
    for (int wait = 0; wait < result->n_waits; wait++) {
        clock_accuracy_t *accuracy = &result->accuracy[wait];
        accuracy->wait_s = bench->options->waits_s[wait];
        accuracy->true_max_us = accuracy->true_mean_us = NAN;
        judge_by_check(bench->world, bench->points + (size_t) wait * (size_t) bench->world->n_ranks,
                       bench->rows, wait, accuracy);
        if (bench->options->has_truth) {
            judge_by_truth(bench->world, &bench->truth[wait], bench->rows, wait, accuracy);
        }
    }
}

/* Sends each rank's measurements by the reference to rank 0. */
static void share_points(bench_t *bench, clock_result_t *result)
{
    const size_t n = (size_t) result->n_waits * (size_t) bench->world->n_ranks;
    result->points = clv_alloc(n, sizeof *result->points);
    if (result->points == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        return;
    }
    memcpy(result->points, bench->points, n * sizeof *result->points);
    MPI_Bcast(result->points, (int) (n * sizeof *result->points), MPI_BYTE,
              bench->world->group.reference, MPI_COMM_WORLD);
}

/* The reference has all results; rank 0 prints them. */
static void run_one(bench_t *bench, const char *label, int run, clock_result_t *result)
{
    const int reference = bench->world->group.reference;
    const rank_row_t row = synchronise_and_check(bench, label);
    memset(result, 0, sizeof *result);
    (void) snprintf(result->label, sizeof result->label, "%s", label);
    result->run = run;
    MPI_Gather(&row, (int) sizeof row, MPI_BYTE, bench->rows, (int) sizeof row, MPI_BYTE, reference,
               MPI_COMM_WORLD);
    if (bench->world->rank == reference) {
        summarise(bench, result);
    }
    MPI_Bcast(result, (int) sizeof *result, MPI_BYTE, reference, MPI_COMM_WORLD);
    share_points(bench, result);
}

static int run_all(const options_t *options, const world_t *world, clock_result_t *results)
{
    bench_t bench = {.options = options, .world = world};
    const size_t n_ranks = (size_t) world->n_ranks;
    int n = 0;
    bench.rows = clv_alloc(n_ranks, sizeof *bench.rows);
    bench.points = clv_alloc(n_ranks * CLOCK_MAX_WAITS, sizeof *bench.points);
    bench.sampled = clv_alloc(n_ranks, sizeof *bench.sampled);
    if (bench.rows == NULL || bench.points == NULL || bench.sampled == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    /* Runs outside, methods inside: changes over time affect all methods alike. */
    for (int run = 0; run < options->n_runs; run++) {
        for (int m = 0; m < options->n_methods; m++) {
            run_one(&bench, options->methods[m], run, &results[n++]);
        }
    }
    clv_free(bench.sampled);
    clv_free(bench.points);
    clv_free(bench.rows);
    return n;
}

static int publish(const options_t *options, const world_t *world, const clock_result_t *results,
                   int n)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    char reason[1024] = "out of memory";
    int length;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, "\n")] = '\0';
    const clock_setting_t setting = {.n_ranks = world->n_ranks,
                                     .n_hosts = world->n_hosts,
                                     .reference = options->reference,
                                     .clock = options->clock,
                                     .mpi = version,
                                     .place = &world->place,
                                     .drift_ppm = options->drift_ppm,
                                     .pretend_s = options->pretend_s,
                                     .sample_percent = options->sample_percent,
                                     .has_truth = options->has_truth};
    bool is_bad = false;
    if (!options->is_quiet) {
        clock_print_table(stdout, &setting, results, n);
    }
    if (options->json != NULL && clock_write_json(options->json, &setting, results, n) != 0) {
        fprintf(stderr, "clv-clock: --json '%s': %s\n", options->json, strerror(errno));
        is_bad = true;
    }
    if (options->plot != NULL &&
        clock_draw(options->plot, &setting, results, n, reason, sizeof reason) != CLV_OK) {
        fprintf(stderr, "clv-clock: %s\n", reason);
        is_bad = true;
    }
    return is_bad;
}

static bool any_failed(const clock_result_t *results, int n)
{
    for (int i = 0; i < n; i++) {
        if (results[i].n_failed > 0) {
            return true;
        }
    }
    return false;
}

/* Repeats a short calibration (MBR, Fig. 2). Rank 0 alone; returns whether it failed. */
static bool calibrate(const options_t *options, const world_t *world)
{
    clv_cs_clock_t clock;
    double *hz = clv_alloc((size_t) options->n_calibrations, sizeof *hz);
    int n = 0;
    if (hz == NULL) {
        return true;
    }
    while (n < options->n_calibrations && clv_cs_clock_open(options->clock, &clock) == CLV_OK &&
           clv_cs_clock_is_counter(&clock)) {
        hz[n++] = 1e9 / clock.rate;
    }
    bool is_bad = n < options->n_calibrations;
    if (is_bad) {
        fprintf(stderr, "clv-clock: clock %s counts no cycles here\n", options->clock);
    } else if (clock_tell_calibrations(options->json, options->is_quiet ? NULL : stdout,
                                       options->clock, &world->place, hz, n) != 0) {
        fprintf(stderr, "clv-clock: --json '%s': %s\n", options->json, strerror(errno));
        is_bad = true;
    }
    clv_free(hz);
    return is_bad;
}

/* Successive round trips between the first rank and the last (MBR, Figs. 30 and 31). Returns
 * whether they failed, on rank 0. */
static bool ping(const options_t *options, const world_t *world, MPI_Comm comm)
{
    const int last = world->n_ranks - 1;
    const bool is_first = world->rank == 0;
    double *trips = clv_alloc((size_t) options->n_round_trips, sizeof *trips);
    if (trips == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        return true;
    }
    for (int i = -1; i < options->n_round_trips && last > 0; i++) { /* the first one connects */
        char byte = 0;
        const int64_t begun_ns = clv_local_now_ns();
        if (is_first) {
            MPI_Send(&byte, 1, MPI_BYTE, last, LINK_TAG, comm);
            MPI_Recv(&byte, 1, MPI_BYTE, last, LINK_TAG, comm, MPI_STATUS_IGNORE);
        } else if (world->rank == last) {
            MPI_Recv(&byte, 1, MPI_BYTE, 0, LINK_TAG, comm, MPI_STATUS_IGNORE);
            MPI_Send(&byte, 1, MPI_BYTE, 0, LINK_TAG, comm);
        }
        trips[i < 0 ? 0 : i] = (double) (clv_local_now_ns() - begun_ns);
    }
    const bool is_bad =
        is_first && clock_tell_round_trips(options->json, options->is_quiet ? NULL : stdout,
                                           &world->place, trips, options->n_round_trips) != 0;
    if (is_bad) {
        fprintf(stderr, "clv-clock: --json '%s': %s\n", options->json, strerror(errno));
    }
    clv_free(trips);
    return is_bad;
}

/* Returns the exit status. */
static int measure(const options_t *options, world_t *world, MPI_Comm *comm)
{
    clock_result_t *results =
        clv_alloc((size_t) (options->n_runs * options->n_methods), sizeof *results);
    if (results == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    set_up_world(world, options, comm);
    bool is_bad = world->rank == 0 && options->n_calibrations > 0 && calibrate(options, world);
    is_bad |= options->n_round_trips > 0 && ping(options, world, *comm);
    MPI_Barrier(*comm); /* others wait, and take no processor time from the calibrations */
    const int n = run_all(options, world, results);
    int answer = any_failed(results, n) | is_bad;
    answer |= world->rank == 0 ? publish(options, world, results, n) : 0;
    for (int i = 0; i < n; i++) {
        clv_free(results[i].points);
    }
    clv_free(world->places);
    clv_free(world->sample);
    clv_free(results);
    return answer;
}

int main(int argc, char **argv)
{
    options_t options = {0};
    world_t world = {0};
    MPI_Comm comm;
    int first;
    int answer = clv_options_main(&program, argc, argv, &options, &first);
    if (answer < 0 && options.wants_list) {
        print_algorithms();
        return clv_output_end(&program, 0);
    }
    answer = answer < 0 ? take_methods(&options, argc - first, argv + first) : answer;
    if (answer >= 0) {
        return answer;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_size(comm, &world.n_ranks);
    MPI_Comm_rank(comm, &world.rank);
    clv_bench_place_find(comm, &world.place);
    answer = options.reference < world.n_ranks
                 ? measure(&options, &world, &comm)
                 : clv_options_wrong(&program, "--reference names a rank that does not exist");
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return clv_output_end(&program, answer);
}
