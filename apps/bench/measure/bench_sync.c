/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The global clock of a benchmark and the start of a round; see bench_sync.h.
 */
#include "apps/bench/measure/bench_sync.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "util/util_alloc.h"
#include "util/util_time.h"

#define SLACK_FACTOR    3 /* B of Algorithm 5 */
#define MIN_SLACK_NS    (500 * CLV_NS_PER_US)
#define MAX_SLACK_NS    (20 * CLV_NS_PER_MS) /* one bad broadcast must not slow every round */
#define N_LATENCY       20
#define SPIN_NS         (100 * CLV_NS_PER_US)
#define LINK_TIMEOUT_NS (60 * CLV_NS_PER_S)
#define N_EXITS         20 /* barriers to measure how far apart ranks leave one */
#define N_CHECK         20 /* pings per rank in a check of the clock */

enum { TAG_LINK = 201, TAG_ROUND = 203 };

/* ---- the clock ---- */

static int64_t realtime_ns(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t) now.tv_sec * CLV_NS_PER_S + now.tv_nsec;
}

int64_t clv_bench_clock_now(const clv_bench_clock_t *clock)
{
    return clock->is_realtime
               ? realtime_ns()
               : clv_cs_model_global(&clock->model, clv_cs_clock_now_ns(&clock->timer));
}

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){.tv_sec = (time_t) (ns / CLV_NS_PER_S),
                             .tv_nsec = (long) (ns % CLV_NS_PER_S)};
}

static void sleep_until_realtime(int64_t until_ns)
{
    const struct timespec until = timespec_of(until_ns);

    while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
}

/* Sleeps without the timer, which the kernel may not know; over so short a time the error is
 * negligible. A signal ends the sleep. */
static void sleep_for(int64_t ns)
{
    const struct timespec pause = timespec_of(ns);

    (void) nanosleep(&pause, NULL);
}

void clv_bench_clock_wait(const clv_bench_clock_t *clock, int64_t until_global_ns)
{
    const int64_t sleep_ns = until_global_ns - clock->spin_ns;
    int64_t left_ns = sleep_ns - clv_bench_clock_now(clock);

    if (left_ns > 0 && clock->is_realtime) {
        sleep_until_realtime(sleep_ns);
    }
    while (left_ns > 0 && !clock->is_realtime) {
        sleep_for(left_ns);
        left_ns = sleep_ns - clv_bench_clock_now(clock);
    }
    while (clv_bench_clock_now(clock) < until_global_ns) {
    }
}

static bool is_emulated(void)
{
    return getenv("CLV_CLUSTER") != NULL;
}

static int ranks_on_this_machine(MPI_Comm comm)
{
    MPI_Comm host;
    int n_local;

    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &n_local);
    MPI_Comm_free(&host);
    return n_local;
}

/* ---- the link that the clock algorithms run over: plain MPI point to point ---- */

static clv_status_t link_send(void *link, int peer, const void *data, size_t n_bytes)
{
    MPI_Comm *comm = link;

    return MPI_Send(data, (int) n_bytes, MPI_BYTE, peer, TAG_LINK, *comm) == MPI_SUCCESS ? CLV_OK
                                                                                         : CLV_LOST;
}

/* Under the default error handler, a lost rank ends the whole job, so this wait is bounded. */
static clv_status_t link_recv(void *link, int peer, void *data, size_t n_bytes, int64_t timeout_ns)
{
    MPI_Comm *comm = link;
    MPI_Status status;
    int n_received;

    (void) timeout_ns;
    if (MPI_Recv(data, (int) n_bytes, MPI_BYTE, peer, TAG_LINK, *comm, &status) != MPI_SUCCESS) {
        return CLV_LOST;
    }
    MPI_Get_count(&status, MPI_BYTE, &n_received);
    return (size_t) n_received == n_bytes ? CLV_OK : CLV_PROTOCOL;
}

static clv_cs_group_t group_of(MPI_Comm *comm)
{
    static const clv_link_ops_t ops = {link_send, link_recv};
    clv_cs_group_t group = {.ops = &ops, .link = comm, .timeout_ns = LINK_TIMEOUT_NS};

    MPI_Comm_rank(*comm, &group.rank);
    MPI_Comm_size(*comm, &group.n_ranks);
    return group;
}

static clv_status_t synchronise(const clv_cs_scheme_t *scheme, const clv_cs_clock_t *timer,
                                MPI_Comm comm, clv_cs_model_t *model_p)
{
    const clv_cs_group_t group = group_of(&comm);
    clv_cs_place_t place = {0};
    clv_cs_place_t *places;

    if (clv_cs_place_discover(timer, &place) != CLV_OK) {
        place.host = place.time_source = (uint64_t) group.rank; /* then each rank is its own host */
    }
    places = clv_alloc((size_t) group.n_ranks, sizeof *places);
    if (!places) {
        return CLV_NO_MEMORY;
    }
    MPI_Allgather(&place, (int) sizeof place, MPI_BYTE, places, (int) sizeof place, MPI_BYTE, comm);
    const clv_status_t status = clv_cs_sync(scheme, &group, places, timer, NULL, model_p, NULL);
    clv_free(places);
    return status;
}

/* Opens the timer on every rank. A wrong name is wrong on all of them. */
static clv_status_t open_timer(const char *timer, MPI_Comm comm, clv_cs_clock_t *timer_p)
{
    int status = clv_cs_clock_open(timer ? timer : "monotonic", timer_p);

    MPI_Allreduce(MPI_IN_PLACE, &status, 1, MPI_INT, MPI_MIN, comm);
    return (clv_status_t) status;
}

clv_status_t clv_bench_clock_init(const char *name, const char *timer, MPI_Comm comm,
                                  clv_bench_clock_t *clock_p)
{
    clv_bench_clock_t clock = {.model = clv_cs_identity};
    const bool is_auto = !strcmp(name, "auto");
    const int n_local = ranks_on_this_machine(comm);
    clv_cs_scheme_t scheme;
    int n_ranks;

    MPI_Comm_size(comm, &n_ranks);
    clock.is_realtime =
        !strcmp(name, "realtime") || (is_auto && !timer && (is_emulated() || n_local == n_ranks));
    if ((clock.is_realtime && timer) ||
        (!clock.is_realtime && clv_cs_scheme_parse(is_auto ? "hca3" : name, &scheme) != CLV_OK)) {
        return CLV_INVALID;
    }
    const clv_status_t opened = open_timer(timer, comm, &clock.timer);
    if (opened != CLV_OK) {
        return opened;
    }
    /* Spinning ranks that share cores delay each other by more than a sleep does. */
    clock.spin_ns = is_emulated() || n_local > sysconf(_SC_NPROCESSORS_ONLN) ? 0 : SPIN_NS;
    (void) prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    int failed =
        !clock.is_realtime && synchronise(&scheme, &clock.timer, comm, &clock.model) != CLV_OK;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm);
    if (failed) {
        return CLV_UNSUPPORTED;
    }
    *clock_p = clock;
    return CLV_OK;
}

/* Evaluates the points that rank 0 measured, beside the ranks' own bounds. */
static void judge(const clv_cs_point_t *points, const int64_t *bounds, int n_ranks,
                  clv_bench_clock_t *clock)
{
    for (int r = 0; r < n_ranks; r++) {
        const int64_t offset_ns = llabs(points[r].offset_ns);
        const int64_t beyond_ns = offset_ns - points[r].error_ns; /* far below 0 for a failed one */
        if (offset_ns >= clock->found_ns) {
            clock->found_ns = offset_ns;
            clock->found_error_ns = points[r].error_ns;
        }
        clock->is_off |= beyond_ns > bounds[r] || points[r].error_ns == INT64_MAX;
        clock->bound_ns = bounds[r] > clock->bound_ns ? bounds[r] : clock->bound_ns;
    }
}

clv_status_t clv_bench_clock_check(MPI_Comm comm, clv_bench_clock_t *clock)
{
    const clv_cs_group_t group = group_of(&comm);
    const size_t n_ranks = group.rank == 0 ? (size_t) group.n_ranks : 1;
    const int64_t bound_ns = clv_cs_model_error(&clock->model, clv_cs_clock_now_ns(&clock->timer));
    clv_cs_clock_t base = clock->timer;
    int64_t *bounds = clv_alloc(n_ranks, sizeof *bounds);
    clv_cs_point_t *points = clv_alloc(n_ranks, sizeof *points);
    int failed = !bounds || !points ||
                 (clock->is_realtime && clv_cs_clock_open("realtime", &base) != CLV_OK);

    clock->bound_ns = clock->found_ns = clock->found_error_ns = 0;
    clock->is_off = false;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm);
    if (!failed) {
        MPI_Gather(&bound_ns, 1, MPI_INT64_T, bounds, 1, MPI_INT64_T, 0, comm);
        const clv_status_t ignored = clv_cs_check(&group, &base, &clock->model, N_CHECK, points);
        (void) ignored; /* rank 0 sees the failure in the points */
    }
    if (!failed && group.rank == 0) {
        judge(points, bounds, group.n_ranks, clock);
    }
    clock->is_checked = !failed;
    clv_free(points);
    clv_free(bounds);
    return failed ? CLV_NO_MEMORY : CLV_OK;
}

/* ---- the start of a round ---- */

static int64_t start_round_time(clv_bench_sync_t *sync)
{
    int64_t start_ns = clv_bench_clock_now(&sync->clock) + sync->slack_ns;

    MPI_Bcast(&start_ns, 1, MPI_INT64_T, 0, sync->comm);
    return start_ns;
}

static int64_t start_window(clv_bench_sync_t *sync)
{
    if (!sync->next_ns) {
        sync->next_ns = start_round_time(sync);
    }
    const int64_t start_ns = sync->next_ns;
    sync->next_ns += sync->window_ns;
    return start_ns;
}

static int64_t start_barrier(clv_bench_sync_t *sync)
{
    MPI_Barrier(sync->comm);
    return clv_bench_clock_now(&sync->clock);
}

static int64_t start_compensated(clv_bench_sync_t *sync)
{
    return start_barrier(sync) + sync->behind_ns;
}

/* If ranks always leave a barrier in the same order, an early rank can wait for as long as the last
 * one is late on average (Entering Time, section III). */
static void measure_exits(clv_bench_sync_t *sync)
{
    int64_t behind_ns = 0;

    for (int i = 0; i < N_EXITS; i++) {
        const int64_t left_ns = start_barrier(sync);
        int64_t last_ns = left_ns;
        MPI_Allreduce(MPI_IN_PLACE, &last_ns, 1, MPI_INT64_T, MPI_MAX, sync->comm);
        behind_ns += last_ns - left_ns;
    }
    sync->behind_ns = behind_ns / N_EXITS;
}

static int64_t start_dissemination(clv_bench_sync_t *sync)
{
    for (int distance = 1; distance < sync->n_ranks; distance *= 2) {
        const int to = (sync->rank + distance) % sync->n_ranks;
        const int from = (sync->rank + sync->n_ranks - distance) % sync->n_ranks;
        MPI_Sendrecv(NULL, 0, MPI_BYTE, to, TAG_ROUND, NULL, 0, MPI_BYTE, from, TAG_ROUND,
                     sync->comm, MPI_STATUS_IGNORE);
    }
    return clv_bench_clock_now(&sync->clock);
}

/* When rank 0 sends, all ranks have left the barrier and wait. */
static int64_t start_multicast(clv_bench_sync_t *sync)
{
    MPI_Barrier(sync->comm);
    sync->has_missed = !clv_bench_multicast_start(&sync->multicast, sync->pause_ns);
    return clv_bench_clock_now(&sync->clock);
}

const clv_bench_sync_kind_t clv_bench_sync_kinds[] = {
    {"round-time", "rank 0 announces the start of each round; no barrier", start_round_time},
    {"window", "starts are a window apart (--window, --window-rule)", start_window},
    {"barrier", "MPI_Barrier; each rank starts when it leaves", start_barrier},
    {"compensated", "the same; who leaves early waits for as long as the last is late",
     start_compensated},
    {"dissemination", "a dissemination barrier of our own", start_dissemination},
    {"multicast", "a barrier; each rank starts when it hears a datagram to all", start_multicast},
    {NULL, NULL, NULL},
};

/* The longest time from rank 0's call to any rank's return, measured several times. */
static int64_t broadcast_latency(clv_bench_sync_t *sync)
{
    int64_t longest_ns = 0;

    for (int i = 0; i < N_LATENCY; i++) {
        int64_t called_ns = clv_bench_clock_now(&sync->clock);
        MPI_Bcast(&called_ns, 1, MPI_INT64_T, 0, sync->comm);
        const int64_t took_ns = clv_bench_clock_now(&sync->clock) - called_ns;
        longest_ns = took_ns > longest_ns && i > 1 ? took_ns : longest_ns;
        MPI_Barrier(sync->comm);
    }
    MPI_Allreduce(MPI_IN_PLACE, &longest_ns, 1, MPI_INT64_T, MPI_MAX, sync->comm);
    return longest_ns;
}

/* B times the latency, within limits. */
static int64_t slack_of(clv_bench_sync_t *sync)
{
    const int64_t slack_ns = SLACK_FACTOR * broadcast_latency(sync);
    const int64_t least_ns = slack_ns < MIN_SLACK_NS ? MIN_SLACK_NS : slack_ns;

    return least_ns > MAX_SLACK_NS ? MAX_SLACK_NS : least_ns;
}

static clv_status_t init_multicast(clv_bench_sync_t *sync, char *reason, size_t reason_bytes)
{
    sync->multicast.is_spinning = sync->clock.spin_ns > 0;
    const clv_status_t status =
        clv_bench_multicast_open(sync->comm, &sync->multicast, reason, reason_bytes);

    if (status == CLV_OK) {
        sync->pause_ns = slack_of(sync);
    }
    return status;
}

clv_status_t clv_bench_sync_init(const char *name, clv_bench_sync_t *sync, char *reason,
                                 size_t reason_bytes)
{
    const clv_bench_sync_kind_t *kind = clv_bench_sync_kinds;

    while (kind->name && strcmp(kind->name, name)) {
        kind++;
    }
    if (!kind->name) {
        snprintf(reason, reason_bytes, "unknown --sync '%s' (--help lists them)", name);
        return CLV_INVALID;
    }
    MPI_Comm_rank(sync->comm, &sync->rank);
    MPI_Comm_size(sync->comm, &sync->n_ranks);
    sync->start = kind->start;
    sync->has_barrier = kind->start != start_round_time && kind->start != start_window;
    if (kind->start == start_compensated) {
        measure_exits(sync);
    }
    if (kind->start == start_multicast) {
        return init_multicast(sync, reason, reason_bytes);
    }
    /* A barrier announces no time, so no rank can miss it. */
    sync->slack_ns = sync->has_barrier ? 0 : slack_of(sync);
    return CLV_OK;
}

void clv_bench_sync_close(clv_bench_sync_t *sync)
{
    clv_bench_multicast_close(&sync->multicast);
}

void clv_bench_sync_behind_barriers(clv_bench_sync_t *sync)
{
    sync->start = start_barrier;
    sync->has_barrier = true;
    sync->slack_ns = 0;
}

int64_t clv_bench_sync_start(clv_bench_sync_t *sync)
{
    return sync->start(sync);
}
