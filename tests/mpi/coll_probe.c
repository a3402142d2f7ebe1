/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reduces a vector of doubles to every rank a few times, checks the sums, and prints what the
 * component counted, through MPI_T:   probe: sums right, calls=12 calls_reduce=12 ran_ring=12
 *
 * usage: coll_probe [COUNT [ROUNDS [WORK_MS [odd|rotate|others|sizes]]]]   Exit 1: a sum is wrong.
 * A round is a reduce to each rank; with WORK_MS it is that much sleep, 1/8 more on odd ranks, and
 * one reduce to rank 0: an iterative program. rotate: to the ranks in turn, instead. odd: at last,
 * one reduce of nothing and one by an operation that does not commute. others: at last, as many
 * allreduces and broadcasts as rounds. sizes: a round is a reduce to rank 0 of each power of two up
 * to COUNT. Without the component there are no counters.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/pvar_table.h"

#define MAX_COUNTERS 128

static int reduce_to(int root, int count, double *mine, double *sum)
{
    int rank, n_ranks, n_wrong = 0;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (int i = 0; i < count; i++) {
        mine[i] = rank + i;
    }
    MPI_Reduce(mine, sum, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
    for (int i = 0; rank == root && i < count; i++) {
        const double right = (double) i * n_ranks + n_ranks * (n_ranks - 1) / 2.0;
        n_wrong += sum[i] < right || sum[i] > right;
    }
    return n_wrong;
}

static void work(int work_ms)
{
    const long long us = (long long) work_ms * 1000;
    struct timespec nap;
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    nap.tv_sec = 0;
    nap.tv_nsec = (long) ((us + (rank % 2 ? us / 8 : 0)) * 1000);
    (void) nanosleep(&nap, NULL);
}

static int reduce_sizes(int count, int n_rounds, double *mine, double *sum)
{
    int n_wrong = 0;

    for (int round = 0; round < n_rounds; round++) {
        for (int size = 1; size <= count; size *= 2) {
            n_wrong += reduce_to(0, size, mine, sum);
        }
    }
    return n_wrong;
}

static int reduce_all(int count, int n_rounds, int work_ms, const char *word)
{
    const int has_sizes = strcmp(word, "sizes") == 0, rotates = strcmp(word, "rotate") == 0;
    double *mine = calloc((size_t) count + 1, sizeof *mine);
    double *sum = calloc((size_t) count + 1, sizeof *sum);
    int n_ranks, n_wrong = 0;

    if (mine == NULL || sum == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 2);
        abort(); /* never reached, which only MPI knows */
    }
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    n_wrong += has_sizes ? reduce_sizes(count, n_rounds, mine, sum) : 0;
    for (int call = 0; work_ms == 0 && !has_sizes && call < n_ranks * n_rounds; call++) {
        n_wrong += reduce_to(call % n_ranks, count, mine, sum);
    }
    for (int call = 0; work_ms != 0 && call < n_rounds; call++) {
        work(work_ms);
        n_wrong += reduce_to(rotates ? call % n_ranks : 0, count, mine, sum);
    }
    free(mine);
    free(sum);
    MPI_Allreduce(MPI_IN_PLACE, &n_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return n_wrong;
}

/* Keeps what comes from the lower rank. */
static void keep_first(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void) type;
    memcpy(inout, in, (size_t) *count * sizeof(double));
}

static int reduce_odd_ones(void)
{
    double mine, first = -1;
    int rank;
    MPI_Op op;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mine = rank;
    MPI_Reduce(&mine, &first, 0, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Op_create(keep_first, 0, &op);
    MPI_Reduce(&mine, &first, 1, MPI_DOUBLE, op, 0, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    return rank == 0 && (first < 0 || first > 0);
}

/* Allreduces, each result broadcast again. */
static int run_others(int count, int n_rounds)
{
    double *sum = calloc((size_t) count + 1, sizeof *sum);
    int rank, n_ranks, n_wrong = 0;

    if (sum == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 2);
        abort(); /* never reached, which only MPI knows */
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (int call = 0; call < n_rounds; call++) {
        for (int i = 0; i < count; i++) {
            sum[i] = rank + i;
        }
        MPI_Allreduce(MPI_IN_PLACE, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(sum, count, MPI_DOUBLE, call % n_ranks, MPI_COMM_WORLD);
        for (int i = 0; i < count; i++) {
            const double right = (double) i * n_ranks + n_ranks * (n_ranks - 1) / 2.0;
            n_wrong += sum[i] < right || sum[i] > right;
        }
    }
    free(sum);
    return n_wrong;
}

typedef struct counters {
    MPI_T_pvar_session session;
    int n;
    char names[MAX_COUNTERS][64];
    MPI_T_pvar_handle handles[MAX_COUNTERS];
} counters_t;

/* A handle counts from when it is made. */
static void watch(counters_t *counters, int index)
{
    char name[256];
    int name_bytes = sizeof name, verbosity, class, bind, readonly, continuous, atomic, n_values;
    MPI_Datatype type;
    MPI_T_enum values;

    if (MPI_T_pvar_get_info(index, name, &name_bytes, &verbosity, &class, &type, &values, NULL,
                            NULL, &bind, &readonly, &continuous, &atomic) != MPI_SUCCESS ||
        strncmp(name, PVAR_PREFIX, strlen(PVAR_PREFIX)) != 0 || counters->n == MAX_COUNTERS) {
        return;
    }
    if (MPI_T_pvar_handle_alloc(counters->session, index, NULL, &counters->handles[counters->n],
                                &n_values) == MPI_SUCCESS) {
        snprintf(counters->names[counters->n++], sizeof counters->names[0], "%.63s",
                 name + strlen(PVAR_PREFIX));
    }
}

static void watch_all(counters_t *counters)
{
    int level, provided, n_pvars = 0;

    counters->n = 0;
    MPI_Query_thread(&level);
    MPI_T_init_thread(level, &provided);
    MPI_T_pvar_session_create(&counters->session);
    MPI_T_pvar_get_num(&n_pvars);
    for (int i = 0; i < n_pvars; i++) {
        watch(counters, i);
    }
}

/* " name=value" if that is not 0; of an array " name_word=value" for each element that is not. */
static void print_counter(const char *name, MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    const pvar_element_t *elements = pvar_elements_ONE;
    long long values[PVAR_MOST_ELEMENTS] = {0}, sum = 0;

    for (size_t i = 0; i < N_PVAR_ROWS; i++) {
        elements = strcmp(pvar_rows[i].name, name) == 0 ? pvar_rows[i].elements : elements;
    }
    MPI_T_pvar_read(session, handle, values);
    for (int e = 0; elements[e].word; e++) {
        sum += values[e];
    }
    if (strcmp(name, "calls") == 0 && sum != 0) {
        printf(" calls=%lld", sum);
    }
    for (int e = 0; elements[e].word; e++) {
        if (values[e] != 0) {
            printf(" %s_%s=%lld", name, elements[e].word, values[e]);
        }
    }
    if (!elements[0].word && values[0] != 0) {
        printf(" %s=%lld", name, values[0]);
    }
}

/* And the sum of calls. The clock's have a sign; counts do not come that far. */
static void print_counters(counters_t *counters)
{
    for (int i = 0; i < counters->n; i++) {
        print_counter(counters->names[i], counters->session, counters->handles[i]);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 1000;
    const int n_rounds = argc > 2 ? atoi(argv[2]) : 2;
    const int work_ms = argc > 3 ? atoi(argv[3]) : 0;
    const char *word = argc > 4 ? argv[4] : "";
    counters_t counters;
    int rank, n_wrong;

    MPI_Init(&argc, &argv);
    watch_all(&counters);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    n_wrong = reduce_all(count, n_rounds, work_ms, word);
    n_wrong += strcmp(word, "odd") == 0 ? reduce_odd_ones() : 0;
    n_wrong += strcmp(word, "others") == 0 ? run_others(count, n_rounds) : 0;
    if (rank == 0) {
        printf("probe: sums %s,", n_wrong == 0 ? "right" : "WRONG");
        print_counters(&counters);
    }
    MPI_T_pvar_session_free(&counters.session);
    MPI_T_finalize();
    MPI_Finalize();
    return n_wrong == 0 ? 0 : 1;
}
