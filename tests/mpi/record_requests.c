/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nonblocking and persistent collectives for the recorder; their results are checked.
 *
 * usage: record_requests ROUNDS [LATE_RANK MS]     a round: all nonblocking ones, completed by
 *            Waitall; the same persistent ones, by Startall and Waitall; two of a derived datatype
 *            and a user's operation, by Test; a barrier to which LATE_RANK comes MS late. At the
 *            end what Open MPI refuses: to free an active request, to cancel one
 *        record_requests ROUNDS threads            two threads, a communicator each; a round: one
 *            of either kind, and N_SMALL blocking allreduces
 *
 * Prints how many results were right and how many wrong; exit 1 where there was a wrong one.
 */
#include <mpi.h>
#include <mpi-ext.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ) /* Open MPI 4.1 */
#define INIT(name) MPIX_##name##_init
#else
#define INIT(name) MPI_##name##_init
#endif

#define N_OPS     16
#define MAX_RANKS 64
#define ROOM      4096
#define N_SMALL   4

/* Of each operation its own buffers: all are on their way at once. */
typedef struct set {
    MPI_Comm comm;
    int rank, n_ranks;
    int counts[MAX_RANKS], places[MAX_RANKS];
    double in[ROOM], out[N_OPS][ROOM], between[ROOM];
    MPI_Request requests[N_OPS];
} set_t;

static long n_right, n_wrong;

static void check(const char *what, double is, double should)
{
    if (is == should) {
        n_right++;
    } else if (n_wrong++ == 0) {
        fprintf(stderr, "%s: %g, not %g\n", what, is, should);
    }
}

static void prepare(set_t *set, MPI_Comm comm)
{
    set->comm = comm;
    MPI_Comm_rank(comm, &set->rank);
    MPI_Comm_size(comm, &set->n_ranks);
    for (int i = 0; i < set->n_ranks; i++) {
        set->counts[i] = 1;
        set->places[i] = i;
    }
    for (int i = 0; i < ROOM; i++) {
        set->in[i] = set->rank + 1;
    }
}

/* Arguments of a call but for how it is made. */
#define DOUBLES MPI_DOUBLE
#define CALLS(XX, s)                                                                               \
    XX(0, allreduce, Allreduce, (s->in, s->out[0], 2, DOUBLES, MPI_SUM, s->comm))                  \
    XX(1, bcast, Bcast, (s->between, 3, DOUBLES, 1, s->comm))                                      \
    XX(2, reduce, Reduce, (s->in, s->out[2], 4, DOUBLES, MPI_SUM, 0, s->comm))                     \
    XX(3, barrier, Barrier, (s->comm))                                                             \
    XX(4, alltoall, Alltoall, (s->in, 1, DOUBLES, s->out[4], 1, DOUBLES, s->comm))                 \
    XX(5, alltoallv, Alltoallv,                                                                    \
       (s->in, s->counts, s->places, DOUBLES, s->out[5], s->counts, s->places, DOUBLES, s->comm))  \
    XX(6, allgather, Allgather, (s->in, 5, DOUBLES, s->out[6], 5, DOUBLES, s->comm))               \
    XX(7, allgatherv, Allgatherv,                                                                  \
       (s->in, 1, DOUBLES, s->out[7], s->counts, s->places, DOUBLES, s->comm))                     \
    XX(8, gather, Gather, (s->in, 6, DOUBLES, s->out[8], 6, DOUBLES, 1, s->comm))                  \
    XX(9, gatherv, Gatherv,                                                                        \
       (s->in, 1, DOUBLES, s->out[9], s->counts, s->places, DOUBLES, 0, s->comm))                  \
    XX(10, scatter, Scatter, (s->in, 7, DOUBLES, s->out[10], 7, DOUBLES, 0, s->comm))              \
    XX(11, scatterv, Scatterv,                                                                     \
       (s->in, s->counts, s->places, DOUBLES, s->out[11], 1, DOUBLES, 0, s->comm))                 \
    XX(12, reduce_scatter, Reduce_scatter,                                                         \
       (s->in, s->out[12], s->counts, DOUBLES, MPI_SUM, s->comm))                                  \
    XX(13, reduce_scatter_block, Reduce_scatter_block,                                             \
       (s->in, s->out[13], 8, DOUBLES, MPI_SUM, s->comm))                                          \
    XX(14, scan, Scan, (s->in, s->out[14], 9, DOUBLES, MPI_SUM, s->comm))                          \
    XX(15, exscan, Exscan, (s->in, s->out[15], 10, DOUBLES, MPI_SUM, s->comm))

/* What stands before the closing bracket of the arguments. */
#define OPEN(...)       __VA_ARGS__
#define LIST(arguments) OPEN arguments

static void begin_all(set_t *set)
{
#define BEGIN(at, small, name, arguments) MPI_I##small(LIST(arguments), &set->requests[at]);
    CALLS(BEGIN, set)
#undef BEGIN
}

static void make_all(set_t *set)
{
#define MAKE(at, small, name, arguments)                                                           \
    INIT(name)(LIST(arguments), MPI_INFO_NULL, &set->requests[at]);
    CALLS(MAKE, set)
#undef MAKE
}

static void clear_all(set_t *set)
{
    memset(set->out, 0, sizeof set->out);
    for (int i = 0; i < ROOM; i++) {
        set->between[i] = set->rank == 1 ? 77 : 0;
    }
}

static void check_all(const set_t *set)
{
    const double n = set->n_ranks, sum = n * (n + 1) / 2, own = set->rank + 1;

    check("allreduce", set->out[0][1], sum);
    check("bcast", set->between[2], 77);
    check("reduce", set->out[2][3], set->rank == 0 ? sum : 0);
    check("alltoall", set->out[4][set->n_ranks - 1], n);
    check("alltoallv", set->out[5][set->n_ranks - 1], n);
    check("allgather", set->out[6][5 * set->n_ranks - 1], n);
    check("allgatherv", set->out[7][set->n_ranks - 1], n);
    check("gather", set->out[8][6 * set->n_ranks - 1], set->rank == 1 ? n : 0);
    check("gatherv", set->out[9][set->n_ranks - 1], set->rank == 0 ? n : 0);
    check("scatter", set->out[10][6], 1);
    check("scatterv", set->out[11][0], 1);
    check("reduce_scatter", set->out[12][0], sum);
    check("reduce_scatter_block", set->out[13][7], sum);
    check("scan", set->out[14][8], own * (own + 1) / 2);
    check("exscan", set->rank == 0 ? 0 : set->out[15][9], own * (own - 1) / 2);
}

/* ---- derived datatypes, users' operations: Open MPI has a callback of its own --------------- */

static void add_pairs(void *in, void *both, int *n, MPI_Datatype *type)
{
    const double *from = in;
    double *to = both;

    (void) type;
    for (int i = 0; i < 2 * *n; i++) {
        to[i] += from[i];
    }
}

static void complete(MPI_Request *request)
{
    int is_complete = 0;

    while (!is_complete) {
        MPI_Test(request, &is_complete, MPI_STATUS_IGNORE);
    }
}

static void reduce_pairs(set_t *set, int n_rounds)
{
    const double n = set->n_ranks;
    MPI_Datatype pair;
    MPI_Op add;
    MPI_Request request, kept;

    MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(add_pairs, 1, &add);
    INIT(Allreduce)(set->in, set->out[1], 3, pair, add, set->comm, MPI_INFO_NULL, &kept);
    for (int i = 0; i < n_rounds; i++) {
        clear_all(set);
        MPI_Iallreduce(set->in, set->out[0], 3, pair, add, set->comm, &request);
        complete(&request);
        MPI_Start(&kept);
        complete(&kept);
        check("allreduce of pairs", set->out[0][5], n * (n + 1) / 2);
        check("persistent allreduce of pairs", set->out[1][5], n * (n + 1) / 2);
    }
    MPI_Request_free(&kept);
    MPI_Type_free(&pair);
    MPI_Op_free(&add);
}

/* What Open MPI refuses leaves the request as it was; one is never freed, another outlives its
 * communicator. */
static void refuse(set_t *set)
{
    const double n = set->n_ranks;
    MPI_Request request, kept, never, copy;
    MPI_Comm comm;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    clear_all(set);
    MPI_Comm_dup(set->comm, &comm);
    INIT(Allreduce)(set->in, set->out[0], 17, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &never);
    INIT(Allreduce)(set->in, set->out[1], 11, MPI_DOUBLE, MPI_SUM, set->comm, MPI_INFO_NULL, &kept);
    MPI_Start(&kept);
    copy = kept;
    check("an active request is not freed", MPI_Request_free(&copy) != MPI_SUCCESS, 1);
    MPI_Wait(&kept, MPI_STATUS_IGNORE);
    MPI_Start(&kept);
    MPI_Wait(&kept, MPI_STATUS_IGNORE);
    check("it can be started again", set->out[1][10], n * (n + 1) / 2);
    MPI_Iallreduce(set->in, set->out[2], 13, MPI_DOUBLE, MPI_SUM, set->comm, &request);
    check("nothing is cancelled", MPI_Cancel(&request) != MPI_SUCCESS, 1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check("and completes", set->out[2][12], n * (n + 1) / 2);
    MPI_Request_free(&kept);
    MPI_Comm_free(&comm);
}

/* ---- the ways through ------------------------------------------------------------------------ */

static void compute_ms(double ms)
{
    const struct timespec time = {(time_t) (ms / 1e3), (long) (ms * 1e6) % 1000000000};

    (void) nanosleep(&time, NULL);
}

/* A barrier to which late_rank comes late_ms after all others have begun it. */
static void begin_late(set_t *set, int late_rank, double late_ms, MPI_Request *request)
{
    if (set->rank == late_rank) {
        for (int i = 1; i < set->n_ranks; i++) {
            MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, 0, set->comm, MPI_STATUS_IGNORE);
        }
        compute_ms(late_ms);
    }
    MPI_Ibarrier(set->comm, request);
    if (set->rank != late_rank) {
        MPI_Send(NULL, 0, MPI_BYTE, late_rank, 0, set->comm);
    }
}

static void run(set_t *set, set_t *kept, int n_rounds, int late_rank, double late_ms)
{
    MPI_Request request;

    make_all(kept);
    for (int i = 0; i < n_rounds; i++) {
        clear_all(set);
        begin_all(set);
        MPI_Waitall(N_OPS, set->requests, MPI_STATUSES_IGNORE);
        check_all(set);
        clear_all(kept);
        MPI_Startall(N_OPS, kept->requests);
        MPI_Waitall(N_OPS, kept->requests, MPI_STATUSES_IGNORE);
        check_all(kept);
        if (late_rank >= 0) {
            MPI_Barrier(set->comm);
            begin_late(set, late_rank, late_ms, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    for (int i = 0; i < N_OPS; i++) {
        MPI_Request_free(&kept->requests[i]);
    }
    reduce_pairs(set, n_rounds);
    refuse(set);
}

static int thread_rounds;

/* Its own communicator; counts only its last result, under the other's eyes. */
static void *in_thread(void *context)
{
    set_t *set = context;
    MPI_Request kept, request;

    INIT(Allreduce)
    (set->in, set->out[1], 4, MPI_DOUBLE, MPI_SUM, set->comm, MPI_INFO_NULL, &kept);
    for (int i = 0; i < thread_rounds; i++) {
        MPI_Iallreduce(set->in, set->out[0], 5, MPI_DOUBLE, MPI_SUM, set->comm, &request);
        MPI_Start(&kept);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Wait(&kept, MPI_STATUS_IGNORE);
        for (int k = 0; k < N_SMALL; k++) {
            MPI_Allreduce(set->in, set->out[2], 1, MPI_DOUBLE, MPI_SUM, set->comm);
        }
    }
    MPI_Request_free(&kept);
    return NULL;
}

static void run_threads(set_t *one, set_t *other, int n_rounds)
{
    const double n = one->n_ranks;
    pthread_t thread;

    thread_rounds = n_rounds;
    pthread_create(&thread, NULL, in_thread, other);
    (void) in_thread(one);
    pthread_join(thread, NULL);
    check("allreduce in a thread", one->out[0][4], n * (n + 1) / 2);
    check("in another", other->out[0][4], n * (n + 1) / 2);
    check("persistent, in a thread", one->out[1][3], n * (n + 1) / 2);
    check("in another", other->out[1][3], n * (n + 1) / 2);
}

int main(int argc, char **argv)
{
    static set_t sets[2];
    const int n_rounds = argc > 1 ? atoi(argv[1]) : 1;
    const int has_threads = argc > 2 && strcmp(argv[2], "threads") == 0;
    long mine[2], all[2];
    MPI_Comm comm;
    int level;

    MPI_Init_thread(&argc, &argv, has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    prepare(&sets[0], MPI_COMM_WORLD);
    prepare(&sets[1], has_threads ? comm : MPI_COMM_WORLD);
    if (!has_threads) {
        run(&sets[0], &sets[1], n_rounds, argc > 2 ? atoi(argv[2]) : -1,
            argc > 3 ? atof(argv[3]) : 0);
    } else if (level == MPI_THREAD_MULTIPLE) {
        run_threads(&sets[0], &sets[1], n_rounds);
    }
    MPI_Comm_free(&comm);
    mine[0] = n_right;
    mine[1] = n_wrong;
    MPI_Reduce(mine, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (sets[0].rank == 0) {
        printf("%ld right, %ld wrong%s\n", all[0], all[1],
               has_threads && level != MPI_THREAD_MULTIPLE ? ", no threads here" : "");
    }
    MPI_Finalize();
    return n_wrong > 0;
}
