/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The global clock of a benchmark and the start of a round; see bench_sync.h.
 */
#include "bench/bench_sync.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "util/util_time.h"

#define SLACK_FACTOR   3 /* B of Algorithm 5 */
#define MIN_SLACK_NS   (500 * CLV_NS_PER_US)
#define MAX_SLACK_NS   (20 * CLV_NS_PER_MS) /* one bad broadcast must not slow every round */
#define N_LATENCY      20
#define SPIN_NS        (100 * CLV_NS_PER_US)
#define N_PINGS        50
#define FIT_PAUSE_NS   (200 * CLV_NS_PER_MS)

enum { TAG_PING = 201, TAG_PONG = 202, TAG_ROUND = 203 };

/* ---- the clock ---- */

static int64_t realtime_ns(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t) now.tv_sec * CLV_NS_PER_S + now.tv_nsec;
}

int64_t clv_bench_clock_now(const clv_bench_clock_t *clock)
{
    return clock->is_realtime ? realtime_ns()
                              : clv_cs_model_global(&clock->model, clv_local_now_ns());
}

static void sleep_until(clockid_t id, int64_t until_ns)
{
    const struct timespec until = {.tv_sec = (time_t) (until_ns / CLV_NS_PER_S),
                                   .tv_nsec = (long) (until_ns % CLV_NS_PER_S)};

    while (clock_nanosleep(id, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
}

void clv_bench_clock_wait(const clv_bench_clock_t *clock, int64_t until_global_ns)
{
    const int64_t sleep_ns = until_global_ns - clock->spin_ns;

    if (clv_bench_clock_now(clock) < sleep_ns) {
        if (clock->is_realtime) {
            sleep_until(CLOCK_REALTIME, sleep_ns);
        } else {
            sleep_until(CLOCK_MONOTONIC, clv_cs_model_local(&clock->model, sleep_ns));
        }
    }
    while (clv_bench_clock_now(clock) < until_global_ns) {
    }
}

static int is_emulated(void)
{
    return getenv("CLV_CLUSTER") != NULL;
}

static int ranks_on_this_machine(MPI_Comm comm)
{
    MPI_Comm node;
    int n_local;

    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n_local);
    MPI_Comm_free(&node);
    return n_local;
}

/* The best of some pings between rank 0 and one other, as the tracker wants it. */
static void exchange_pings(MPI_Comm comm, int rank, int peer, clv_cs_tracker_t *tracker)
{
    for (int i = 0; i < N_PINGS; i++) {
        if (rank == 0) {
            int64_t stamp[2];
            MPI_Recv(NULL, 0, MPI_INT64_T, peer, TAG_PING, comm, MPI_STATUS_IGNORE);
            stamp[0] = clv_local_now_ns();
            stamp[1] = clv_local_now_ns();
            MPI_Send(stamp, 2, MPI_INT64_T, peer, TAG_PONG, comm);
        } else {
            int64_t stamp[2];
            clv_cs_sample_t sample = {.client_send_ns = clv_local_now_ns()};
            MPI_Send(NULL, 0, MPI_INT64_T, 0, TAG_PING, comm);
            MPI_Recv(stamp, 2, MPI_INT64_T, 0, TAG_PONG, comm, MPI_STATUS_IGNORE);
            sample.client_recv_ns = clv_local_now_ns();
            sample.reference_recv_ns = stamp[0];
            sample.reference_send_ns = stamp[1];
            (void) clv_cs_tracker_feed(tracker, &sample);
        }
    }
}

/* Every rank in turn against rank 0, a pause, and again: two points give offset and drift. */
static clv_status_t measure_model(MPI_Comm comm, clv_cs_model_t *model_p)
{
    clv_cs_tracker_t tracker;
    int rank;
    int n_ranks;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    clv_cs_tracker_init(&tracker, N_PINGS);
    for (int point = 0; point < 3; point++) {
        for (int peer = 1; peer < n_ranks; peer++) {
            if (rank == 0 || rank == peer) {
                exchange_pings(comm, rank, peer, &tracker);
            }
        }
        sleep_until(CLOCK_MONOTONIC, clv_local_now_ns() + FIT_PAUSE_NS);
        MPI_Barrier(comm);
    }
    if (rank == 0) {
        *model_p = clv_cs_identity;
        return CLV_OK;
    }
    return clv_cs_tracker_model(&tracker, model_p);
}

clv_status_t clv_bench_clock_init(const char *name, MPI_Comm comm, clv_bench_clock_t *clock_p)
{
    clv_bench_clock_t clock = {.model = clv_cs_identity};
    const int n_local = ranks_on_this_machine(comm);
    int n_ranks;

    MPI_Comm_size(comm, &n_ranks);
    const int is_auto = !strcmp(name, "auto");
    if (!is_auto && strcmp(name, "realtime") && strcmp(name, "mpi")) {
        return CLV_INVALID;
    }
    clock.is_realtime =
        !strcmp(name, "realtime") || (is_auto && (is_emulated() || n_local == n_ranks));
    /* Spinning ranks that share cores delay each other by more than a sleep does. */
    clock.spin_ns = is_emulated() || n_local > sysconf(_SC_NPROCESSORS_ONLN) ? 0 : SPIN_NS;
    (void) prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    int failed = !clock.is_realtime && measure_model(comm, &clock.model) != CLV_OK;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm);
    if (failed) {
        return CLV_UNSUPPORTED;
    }
    *clock_p = clock;
    return CLV_OK;
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

const clv_bench_sync_kind_t clv_bench_sync_kinds[] = {
    {"round-time", "rank 0 announces the start of each round", start_round_time},
    {"window", "starts are a fixed time apart (--window)", start_window},
    {"barrier", "MPI_Barrier; each rank starts when it leaves", start_barrier},
    {"dissemination", "a dissemination barrier of our own", start_dissemination},
    {NULL, NULL, NULL},
};

/* The longest time from rank 0's call to any rank's return, several times. */
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

clv_status_t clv_bench_sync_init(const char *name, clv_bench_sync_t *sync)
{
    const clv_bench_sync_kind_t *kind = clv_bench_sync_kinds;

    while (kind->name && strcmp(kind->name, name)) {
        kind++;
    }
    if (!kind->name) {
        return CLV_INVALID;
    }
    MPI_Comm_rank(sync->comm, &sync->rank);
    MPI_Comm_size(sync->comm, &sync->n_ranks);
    sync->start = kind->start;
    /* A barrier announces nothing, so nobody can be too late for it. */
    if (kind->start != start_round_time && kind->start != start_window) {
        sync->slack_ns = 0;
        return CLV_OK;
    }
    sync->slack_ns = SLACK_FACTOR * broadcast_latency(sync);
    sync->slack_ns = sync->slack_ns < MIN_SLACK_NS ? MIN_SLACK_NS : sync->slack_ns;
    sync->slack_ns = sync->slack_ns > MAX_SLACK_NS ? MAX_SLACK_NS : sync->slack_ns;
    return CLV_OK;
}

int64_t clv_bench_sync_start(clv_bench_sync_t *sync)
{
    return sync->start(sync);
}
