/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What may happen to ranks that sleep in a collective. For tests/mpi/test_wait.sh.
 *
 * usage: wait_breaks CASE
 *
 *   signals   a timer's signal every 2 ms in all ranks while they wait: sums are right, and the
 *             handler runs within 1 ms of a quarter of them
 *   abort     rank 0 aborts while the others have slept for a second, and prints when it does
 *   threads   four threads with a communicator each, whose ranks are late in turn
 *   sends     a long message that was begun before the barrier in which its sender sleeps
 *   expected  what clv_expected_wait_ns says of waits that last
 *   small     WAIT_CALLS (100000) allreduces of 8 bytes, and how much memory they took
 */
#include "clv.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "util/util_time.h"

#define N_THREADS  4
#define LONG_BYTES (8 << 20)

static int rank, n_ranks;

static void nap_ms(long ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    struct timespec rest = time;

    while (nanosleep(&rest, &rest) != 0) {
    }
}

static int sum_is_right(MPI_Comm comm, int call)
{
    long long number = call + rank, sum = -1;

    MPI_Allreduce(&number, &sum, 1, MPI_LONG_LONG, MPI_SUM, comm);
    return sum == (long long) n_ranks * call + n_ranks * (n_ranks - 1) / 2;
}

static void say(const char *what, int is_right)
{
    int all = 0;

    MPI_Reduce(&is_right, &all, 1, MPI_INT, MPI_LAND, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%s %s\n", what, all ? "right" : "WRONG");
    }
}

/* ---- signals --------------------------------------------------------------------------------- */

static volatile sig_atomic_t n_signals;

static void handle(int number)
{
    (void) number;
    n_signals++;
}

static void signals(void)
{
    const struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    int is_right = 1;

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int call = 0; call < 40; call++) {
        if (rank == call % n_ranks) {
            nap_ms(20);
        }
        is_right &= sum_is_right(MPI_COMM_WORLD, call);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    say("signals", is_right && n_signals > 40);
}

/* ---- abort ----------------------------------------------------------------------------------- */

static void abort_while_others_sleep(void)
{
    struct timespec now;

    for (int call = 0; call < 5; call++) {
        if (rank == 0) {
            nap_ms(100);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0) {
        nap_ms(1000);
        (void) clock_gettime(CLOCK_REALTIME, &now);
        printf("aborts at %lld.%09ld\n", (long long) now.tv_sec, now.tv_nsec);
        (void) fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 7);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- threads --------------------------------------------------------------------------------- */

typedef struct strand {
    MPI_Comm comm;
    int number, is_right;
} strand_t;

static void *run_strand(void *context)
{
    strand_t *strand = context;

    strand->is_right = 1;
    for (int call = 0; call < 50; call++) {
        if (rank == (call + strand->number) % n_ranks) {
            nap_ms(3);
        }
        strand->is_right &= sum_is_right(strand->comm, call);
        MPI_Barrier(strand->comm);
    }
    return NULL;
}

static void threads(void)
{
    strand_t strands[N_THREADS];
    pthread_t ids[N_THREADS];
    int is_right = 1;

    for (int i = 0; i < N_THREADS; i++) {
        strands[i].number = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &strands[i].comm);
    }
    for (int i = 0; i < N_THREADS; i++) {
        is_right &= pthread_create(&ids[i], NULL, run_strand, &strands[i]) == 0;
    }
    for (int i = 0; i < N_THREADS; i++) {
        (void) pthread_join(ids[i], NULL);
        is_right &= strands[i].is_right;
        MPI_Comm_free(&strands[i].comm);
    }
    say("threads", is_right);
}

/* ---- sends ----------------------------------------------------------------------------------- */

/* Rank 0 has begun to send and sleeps in the barrier; rank 1 receives before it comes. */
static void sends(void)
{
    char *bytes = calloc(LONG_BYTES, 1);
    int is_right = 1;
    int64_t worst_ns = 0;

    for (int call = 0; call < 20; call++) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (rank == 0) {
            memset(bytes, call + 1, LONG_BYTES);
            MPI_Isend(bytes, LONG_BYTES, MPI_BYTE, 1, call, MPI_COMM_WORLD, &request);
        } else if (rank == 1) {
            int64_t begun_ns;
            nap_ms(20);
            begun_ns = clv_local_now_ns();
            MPI_Recv(bytes, LONG_BYTES, MPI_BYTE, 0, call, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            begun_ns = clv_local_now_ns() - begun_ns;
            worst_ns = begun_ns > worst_ns ? begun_ns : worst_ns;
            is_right &= bytes[0] == call + 1 && bytes[LONG_BYTES - 1] == call + 1;
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rank == 1) {
        printf("sends took %.1f ms at most\n", (double) worst_ns / 1e6);
        (void) fflush(stdout);
    }
    say("sends", is_right);
    free(bytes);
}

/* ---- expected, as MPI_T has it ---- */

static MPI_T_pvar_session session;
static MPI_T_pvar_handle bound;

static int bind_expected(MPI_Comm comm)
{
    const char *name = "coll_clv_expected_wait_ns";
    int level, index, n_values = 0;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
    MPI_T_pvar_session_create(&session);
    return MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_GENERIC, &index) == MPI_SUCCESS &&
           MPI_T_pvar_handle_alloc(session, index, &comm, &bound, &n_values) == MPI_SUCCESS &&
           n_values == 1;
}

static long long read_expected(void)
{
    long long ns = -2;

    MPI_T_pvar_read(session, bound, &ns);
    return ns;
}

/* ---- expected -------------------------------------------------------------------------------- */

/* The last rank is 10 ms late: all others expect that, before the call and, less, in it. */
static void *ask(void *context)
{
    long long *asked_ns = context;

    nap_ms(4);
    *asked_ns = clv_expected_wait_ns(MPI_COMM_WORLD);
    return NULL;
}

static void expected(void)
{
    long long before_ns = -2, in_call_ns = -2;
    const int is_last = rank == n_ranks - 1;
    const int is_bound = bind_expected(MPI_COMM_WORLD);
    int n_before = 0, n_in_call = 0, n_same = 0; /* answers */

    (void) clv_expected_wait_ns(MPI_COMM_WORLD);
    for (int call = 0; call < 30; call++) {
        pthread_t asker;
        before_ns = clv_expected_wait_ns(MPI_COMM_WORLD);
        n_same += is_bound && read_expected() == before_ns;
        if (is_last) {
            nap_ms(10);
        }
        in_call_ns = -2;
        if (pthread_create(&asker, NULL, ask, &in_call_ns) == 0) {
            (void) sum_is_right(MPI_COMM_WORLD, call);
            (void) pthread_join(asker, NULL);
        }
        n_before += before_ns > 2000000;
        n_in_call += in_call_ns >= 0 && in_call_ns < before_ns;
    }
    printf("rank %d expects %lld us, in the call %lld us\n", rank, before_ns / 1000,
           in_call_ns / 1000);
    printf("the performance variable says the same %d times\n", n_same);
    (void) fflush(stdout);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    say("expected", is_last || (n_before > 5 && n_in_call > 0));
}

/* ---- small ----------------------------------------------------------------------------------- */

static long resident_kib(void)
{
    long n_pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file == NULL || fscanf(file, "%*d %ld", &n_pages) != 1) {
        n_pages = 0;
    }
    if (file != NULL) {
        (void) fclose(file);
    }
    return n_pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void small(void)
{
    const char *asked = getenv("WAIT_CALLS");
    const int n_calls = asked == NULL ? 100000 : atoi(asked);
    int is_right = 1;
    long before_kib = 0;

    for (int call = 0; call < n_calls; call++) {
        before_kib = call == n_calls / 10 ? resident_kib() : before_kib;
        is_right &= sum_is_right(MPI_COMM_WORLD, call);
    }
    printf("grew by %ld KiB\n", resident_kib() - before_kib);
    (void) fflush(stdout);
    say("small", is_right && resident_kib() - before_kib < 1024);
}

static void run(const char *name)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"signals", signals},   {"abort", abort_while_others_sleep},
                 {"threads", threads},   {"sends", sends},
                 {"expected", expected}, {"small", small}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (strcmp(cases[i].name, name) == 0) {
            cases[i].run();
        }
    }
}

int main(int n_arguments, char **arguments)
{
    int level;

    MPI_Init_thread(&n_arguments, &arguments,
                    n_arguments > 1 && strcmp(arguments[1], "threads") == 0 ? MPI_THREAD_MULTIPLE
                                                                            : MPI_THREAD_SERIALIZED,
                    &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (n_arguments > 1) {
        run(arguments[1]);
    }
    MPI_Finalize();
    return 0;
}
