/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks that wait for one another in collectives: what their waiting costs, and how late they wake.
 * For tests/mpi/test_wait.sh and tests/quality/waiting.sh.
 *
 * usage: wait_cases OPERATION PATTERN CALLS BYTES DELAY_US [work]
 *
 * CALLS times: each rank is delayed by what PATTERN says of DELAY_US, and calls OPERATION (reduce,
 * allreduce, bcast, barrier) with BYTES of doubles. PATTERN: balanced, late (the last rank alone),
 * ranks (by rank), turns (each rank in turn), twos (the last rank in every second call), drawn
 * (each rank afresh). A delayed rank sleeps; with `work` it works instead, and all do so for
 * DELAY_US.
 * Rank 0 prints one line of JSON. Times are CLOCK_REALTIME, which the hosts must have in common.
 *
 *   iteration_us   from one call to the next, mean
 *   best_us        the least mean of 100 calls in a row: what no other process disturbed
 *   after_us       from the last arrival to the last exit, median
 *   cpu            processor time of a second in calls, of ranks that waited
 *   late           calls whose last exit was 0.1 ms later than the median; late_us: the latest
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "tests/mpi/pvar_look.h"
#include "util/util_min_max.h"
#include "util/util_time.h"

#define LATE_NS     INT64_C(100000)
#define WARM_CALLS  20
#define BLOCK_CALLS 100

typedef struct program {
    const char *operation, *pattern;
    int n_calls, n_doubles, works, rank, n_ranks;
    int64_t delay_ns;
    double *vector, *sum;
    int64_t *entry_ns, *exit_ns; /* by call */
    int64_t cpu_ns;              /* in calls */
    int n_wrong;
} program_t;

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    (void) clock_gettime(clock, &now);
    return (int64_t) now.tv_sec * CLV_NS_PER_S + now.tv_nsec;
}

/* In 0 .. 1, the same for all who ask for the same. */
static double drawn(int call, int rank)
{
    uint64_t x = (uint64_t) call * 2654435761U + (uint64_t) rank * 40503U + 88172645463325252U;

    for (int i = 0; i < 4; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return (double) (x % 1000003) / 1000003;
}

static double share_of(const program_t *program, int call)
{
    const int is_last = program->rank == program->n_ranks - 1;

    switch (program->pattern[0]) {
    case 'l':
        return is_last;
    case 'r':
        return (double) program->rank / (program->n_ranks - 1);
    case 't':
        return program->rank == (program->pattern[1] == 'u' ? call % program->n_ranks
                                 : call % 2                 ? program->n_ranks - 1
                                                            : -1);
    case 'd':
        return drawn(call, program->rank);
    default:
        return 0;
    }
}

static void work(int64_t ns)
{
    const int64_t end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns) {
    }
}

static void delay(const program_t *program, int call)
{
    const int64_t ns = (int64_t) (share_of(program, call) * (double) program->delay_ns);
    const struct timespec time = {ns / CLV_NS_PER_S, ns % CLV_NS_PER_S};

    if (program->works) {
        work(program->delay_ns + ns);
    } else if (ns > 0) {
        (void) nanosleep(&time, NULL);
    }
}

static void fill(program_t *program, int call)
{
    for (int i = 0; i < program->n_doubles; i++) {
        program->vector[i] = program->rank + call % 7 + i % 5;
        program->sum[i] = -1;
    }
}

static int is_right(const program_t *program, int call)
{
    const int n = program->n_ranks, root = call % n;
    const int has = program->operation[0] != 'r' || program->rank == root;

    for (int i = 0; i < program->n_doubles && has; i++) {
        const double own = call % 7 + i % 5;
        const double want = program->operation[1] == 'c' ? own + root : n * own + n * (n - 1) / 2.0;
        const double *got = program->operation[1] == 'c' ? program->vector : program->sum;
        if (got[i] < want || got[i] > want) {
            return 0;
        }
    }
    return 1;
}

static void one_call(program_t *program, int call)
{
    const int root = call % program->n_ranks;

    if (strcmp(program->operation, "barrier") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(program->operation, "bcast") == 0) {
        MPI_Bcast(program->vector, program->n_doubles, MPI_DOUBLE, root, MPI_COMM_WORLD);
    } else if (strcmp(program->operation, "reduce") == 0) {
        MPI_Reduce(program->vector, program->sum, program->n_doubles, MPI_DOUBLE, MPI_SUM, root,
                   MPI_COMM_WORLD);
    } else {
        MPI_Allreduce(program->vector, program->sum, program->n_doubles, MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
    }
}

static void run(program_t *program)
{
    const int checks = strcmp(program->operation, "barrier") != 0;

    for (int call = 0; call < program->n_calls; call++) {
        int64_t cpu_ns;

        fill(program, call);
        delay(program, call);
        cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        program->entry_ns[call] = clock_ns(CLOCK_REALTIME);
        one_call(program, call);
        program->exit_ns[call] = clock_ns(CLOCK_REALTIME);
        program->cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
        program->n_wrong += checks && !is_right(program, call);
    }
}

static int by_size(const void *a, const void *b)
{
    return clv_compare(*(const int64_t *) a, *(const int64_t *) b);
}

/* Of each call its last arrival and last exit. */
static void tell_times(const program_t *program)
{
    const int n = program->n_calls;
    int64_t *last_ns = calloc((size_t) n, sizeof *last_ns);
    int64_t *end_ns = calloc((size_t) n, sizeof *end_ns);
    const int first = n > 2 * WARM_CALLS ? WARM_CALLS : 0;
    int64_t median_ns, n_late = 0;

    MPI_Reduce(program->entry_ns, last_ns, n, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(program->exit_ns, end_ns, n, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    if (program->rank == 0) {
        const double run_ns = (double) (end_ns[n - 1] - end_ns[first]);
        for (int call = 0; call < n; call++) {
            last_ns[call] = end_ns[call] - last_ns[call];
        }
        qsort(last_ns + first, (size_t) (n - first), sizeof *last_ns, by_size);
        median_ns = last_ns[first + (n - first) / 2];
        for (int call = first; call < n; call++) {
            n_late += last_ns[call] > median_ns + LATE_NS;
        }
        printf("\"iteration_us\":%.2f,\"after_us\":%.2f,\"late\":%lld,\"late_us\":%.1f,",
               run_ns / 1e3 / (n - 1 - first), (double) median_ns / 1e3, (long long) n_late,
               (double) (last_ns[n - 1] - median_ns) / 1e3);
    }
    free(last_ns);
    free(end_ns);
}

/* Of rank 0. */
static void tell_best(const program_t *program)
{
    int64_t best_ns = INT64_MAX;

    for (int call = BLOCK_CALLS; call < program->n_calls; call++) {
        best_ns =
            clv_smaller(best_ns, program->exit_ns[call] - program->exit_ns[call - BLOCK_CALLS]);
    }
    printf("\"best_us\":%.4f,", best_ns == INT64_MAX ? 0 : (double) best_ns / 1e3 / BLOCK_CALLS);
}

static int64_t sum_of(int64_t number)
{
    int64_t sum = 0;

    MPI_Reduce(&number, &sum, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    return sum;
}

static void tell(const program_t *program, const pvar_look_t *counters)
{
    static const char *const names[] = {"waited_ns", "asleep_ns", "late_wakes", "late_wakes_ns"};
    int64_t in_calls_ns = 0, waited = program->rank < program->n_ranks - 1, sums[7];
    struct rusage usage;

    for (int call = 0; call < program->n_calls; call++) {
        in_calls_ns += program->exit_ns[call] - program->entry_ns[call];
    }
    (void) getrusage(RUSAGE_SELF, &usage);
    for (int i = 0; i < 4; i++) {
        sums[i] = sum_of(pvar_look_read(&counters[i], 0));
    }
    sums[4] = sum_of(waited * in_calls_ns);
    sums[5] = sum_of(waited * program->cpu_ns);
    sums[6] = sum_of(program->n_wrong);
    if (program->rank == 0) {
        printf("{\"operation\":\"%s\",\"pattern\":\"%s\",\"ranks\":%d,\"calls\":%d,\"bytes\":%d,"
               "\"delay_us\":%.0f,\"works\":%d,",
               program->operation, program->pattern, program->n_ranks, program->n_calls,
               program->n_doubles * (int) sizeof(double), (double) program->delay_ns / 1e3,
               program->works);
    }
    tell_times(program);
    if (program->rank == 0) {
        tell_best(program);
        for (int i = 0; i < 4; i++) {
            printf("\"%s\":%lld,", names[i], (long long) sums[i]);
        }
        printf("\"cpu\":%.4f,\"rss_kib\":%ld,\"wrong\":%lld}\n",
               (double) sums[5] / (double) clv_larger(1, sums[4]), usage.ru_maxrss,
               (long long) sums[6]);
    }
}

static void look(pvar_look_t *counters)
{
    (void) pvar_look_open(&counters[0], "coll_clv_waited_ns");
    (void) pvar_look_open(&counters[1], "coll_clv_asleep_ns");
    (void) pvar_look_open(&counters[2], "coll_clv_late_wakes");
    (void) pvar_look_open(&counters[3], "coll_clv_late_wakes_ns");
}

int main(int n_arguments, char **arguments)
{
    program_t program = {0};
    pvar_look_t counters[4];

    MPI_Init(&n_arguments, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &program.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &program.n_ranks);
    if (n_arguments < 6) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    program.operation = arguments[1];
    program.pattern = arguments[2];
    program.n_calls = atoi(arguments[3]);
    program.n_doubles = (atoi(arguments[4]) + 7) / 8;
    program.delay_ns = atoi(arguments[5]) * CLV_NS_PER_US;
    program.works = n_arguments > 6;
    program.vector = calloc((size_t) program.n_doubles + 1, sizeof(double));
    program.sum = calloc((size_t) program.n_doubles + 1, sizeof(double));
    program.entry_ns = calloc((size_t) program.n_calls, sizeof(int64_t));
    program.exit_ns = calloc((size_t) program.n_calls, sizeof(int64_t));
    look(counters);
    run(&program);
    tell(&program, counters);
    for (int i = 0; i < 4; i++) {
        pvar_look_close(&counters[i]);
    }
    free(program.vector);
    free(program.sum);
    free(program.entry_ns);
    free(program.exit_ns);
    MPI_Finalize();
    return 0;
}
