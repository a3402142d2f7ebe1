/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that computes and reduces: what clv-view says that it would take with another algorithm
 * can be compared with what it takes with that one. For tests/quality/what_if.sh, under_load.sh and
 * streams.sh.
 *
 * usage: iterations PATTERN CALLS BYTES COMPUTE_MS DELAY_MS COUPLE [STREAMS]
 *
 * CALLS times: each rank sleeps COMPUTE_MS and what the pattern (trace_patterns.h) adds of
 * DELAY_MS, reduces doubles to rank 0, and, where COUPLE is bcast, gets a number from there. Rank 0
 * prints "pace_ns N run_ns N longest_wait_ns N longest_late_ns N longest_running_wait_ns N": from
 * one call's last arrival to the next one's, in the mean; from the first arrival to the last exit;
 * the longest that a rank waited for a forecast; the longest that one overslept: how long it had no
 * processor; the longest wait of which a rank had one, at most what it had of the whole call.
 * Times are CLOCK_REALTIME, which the hosts must have in common. STREAMS: calls go through so many
 * streams in turn: five communicators, eight sizes from BYTES down by halves, roots that rotate.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "apps/bench/measure/bench_process.h"
#include "tests/mpi/pvar_look.h"
#include "apps/trace/trace_patterns.h"
#include "util/util_min_max.h"

#define MAX_RANKS 1024
#define N_COMMS   5
#define N_SIZES   8
#define NS_PER_S  INT64_C(1000000000)

static int64_t now_ns(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t) now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* Says how much longer that took: a rank whose time is over waits for a processor. */
static int64_t wait_ns(int64_t ns)
{
    const struct timespec time = {ns / NS_PER_S, ns % NS_PER_S};
    const int64_t start_ns = now_ns();

    (void) nanosleep(&time, NULL);
    return now_ns() - start_ns - ns;
}

typedef struct program {
    int n_calls, n_doubles, n_streams, is_coupled;
    MPI_Comm comms[N_COMMS]; /* the first is MPI_COMM_WORLD; the others where there are streams */
    int64_t compute_ns;
    int64_t late_ns;         /* the longest that this rank overslept */
    int64_t running_wait_ns; /* the longest that it waited for a forecast and had a processor */
    pvar_look_t waits;
    clv_pattern_t pattern;
} program_t;

static int root_of(const program_t *program, int call)
{
    return call % program->n_streams % program->pattern.n_ranks;
}

static void reduce(const program_t *program, int call, const double *vector, double *sum)
{
    const int stream = call % program->n_streams;

    MPI_Reduce(vector, sum, program->n_doubles >> stream / N_COMMS % N_SIZES, MPI_DOUBLE, MPI_SUM,
               root_of(program, call), program->comms[stream % N_COMMS]);
}

static void reduce_and_look(program_t *program, int call, const double *vector, double *sum)
{
    const long long waited_ns = pvar_look_read(&program->waits, 0);
    const int64_t without_ns = clv_bench_cpu_wait_ns();
    const int64_t start_ns = now_ns();
    int64_t had_ns;

    reduce(program, call, vector, sum);
    had_ns = now_ns() - start_ns - (clv_bench_cpu_wait_ns() - without_ns);
    program->running_wait_ns =
        clv_larger(program->running_wait_ns,
                   clv_smaller(pvar_look_read(&program->waits, 0) - waited_ns, had_ns));
}

static void make_communicators(program_t *program)
{
    program->comms[0] = MPI_COMM_WORLD;
    for (int i = 1; i < N_COMMS && i < program->n_streams; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &program->comms[i]);
    }
}

static void free_communicators(program_t *program)
{
    for (int i = 1; i < N_COMMS && i < program->n_streams; i++) {
        MPI_Comm_free(&program->comms[i]);
    }
}

/* arrival_ns: of this rank at each call; gives its last exit. */
static int64_t run(program_t *program, int rank, double *vector, double *sum, int64_t *arrival_ns)
{
    static int64_t delay_ns[MAX_RANKS];
    int64_t number = 0;

    (void) pvar_look_open(&program->waits, "coll_clv_exchange_forecast_wait_ns");
    for (int i = 0; i < program->n_calls; i++) {
        clv_pattern_fill(&program->pattern, i, delay_ns);
        program->late_ns =
            clv_larger(program->late_ns, wait_ns(program->compute_ns + delay_ns[rank]));
        arrival_ns[i] = now_ns();
        reduce_and_look(program, i, vector, sum);
        if (program->is_coupled) {
            MPI_Bcast(&number, 1, MPI_INT64_T, root_of(program, i), MPI_COMM_WORLD);
        }
    }
    pvar_look_close(&program->waits);
    return now_ns();
}

/* Since MPI_Init; 0 without the component. */
static int64_t longest_wait(void)
{
    pvar_look_t look;
    int64_t ns;

    (void) pvar_look_open(&look, "coll_clv_exchange_forecast_wait_max_ns");
    ns = pvar_look_read(&look, 0);
    pvar_look_close(&look);
    return ns;
}

static void tell(const program_t *program, int rank, const int64_t *arrival_ns, int64_t end_ns)
{
    int64_t most[6] = {-arrival_ns[0],   arrival_ns[program->n_calls - 1], end_ns, longest_wait(),
                       program->late_ns, program->running_wait_ns};
    int64_t last_arrival_of_first_ns, all[6];

    MPI_Reduce(most, all, 6, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(arrival_ns, &last_arrival_of_first_ns, 1, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("pace_ns %lld run_ns %lld longest_wait_ns %lld longest_late_ns %lld "
               "longest_running_wait_ns %lld\n",
               (long long) ((all[1] - last_arrival_of_first_ns) / (program->n_calls - 1)),
               (long long) (all[2] + all[0]), (long long) all[3], (long long) all[4],
               (long long) all[5]);
    }
}

int main(int argc, char **argv)
{
    program_t program = {.pattern = {.jitter = 0.01, .seed = 1}};
    char reason[256];
    int rank;

    if (argc < 7 || argc > 8 || atoi(argv[2]) < 2 || atoi(argv[3]) < 8) {
        fprintf(stderr, "usage: iterations PATTERN CALLS BYTES COMPUTE_MS DELAY_MS COUPLE "
                        "[STREAMS]\n");
        return 2;
    }
    const char *name = argv[1];
    program.n_calls = atoi(argv[2]);
    program.n_doubles = atoi(argv[3]) / 8;
    program.compute_ns = (int64_t) (atof(argv[4]) * 1e6);
    program.pattern.amount_ns = (int64_t) (atof(argv[5]) * 1e6);
    program.is_coupled = strcmp(argv[6], "bcast") == 0;
    program.n_streams = argc > 7 && atoi(argv[7]) > 1 ? atoi(argv[7]) : 1;
    double *vector = calloc((size_t) program.n_doubles, sizeof *vector);
    double *sum = calloc((size_t) program.n_doubles, sizeof *sum);
    int64_t *arrival_ns = calloc((size_t) program.n_calls, sizeof *arrival_ns);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &program.pattern.n_ranks);
    if (vector == NULL || sum == NULL || arrival_ns == NULL ||
        program.pattern.n_ranks > MAX_RANKS ||
        clv_pattern_parse(name, &program.pattern, reason, sizeof reason) != CLV_OK) {
        MPI_Abort(MPI_COMM_WORLD, 2);
        abort(); /* never reached, which only MPI knows */
    }
    make_communicators(&program);
    MPI_Barrier(MPI_COMM_WORLD);
    tell(&program, rank, arrival_ns, run(&program, rank, vector, sum, arrival_ns));
    free_communicators(&program);
    MPI_Finalize();
    clv_pattern_free(&program.pattern);
    free(arrival_ns);
    free(sum);
    free(vector);
    return 0;
}
