/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program whose lateness is known: each rank waits as a pattern says, reads CLOCK_REALTIME, which
 * the hosts of apps/bench/cluster have in common, and calls. For tests/quality/arrival_truth.sh.
 *
 * usage: arrival_truth PATTERN CALLS DELAY_MS DRIFT_PPM FOLDER [APART_MS]
 *
 * CALLS allreduces of 8 bytes, APART_MS (10) of computing before each; into FOLDER/RANK a line
 * "NUMBER RANK REALTIME_NS" per call, where NUMBER is the one that the recorder gives it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/clock_drift.h"
#include "apps/trace/trace_patterns.h"

#define MAX_RANKS 1024

static int64_t now_ns(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_REALTIME, &now);
    return clv_drift_ns(&now);
}

static void wait_ns(int64_t ns)
{
    const struct timespec time = {ns / CLV_DRIFT_NS_PER_S, ns % CLV_DRIFT_NS_PER_S};

    (void) nanosleep(&time, NULL);
}

/* The calls; true_ns: when this rank came to each. */
static void run(const clv_pattern_t *pattern, int rank, int n_calls, int64_t apart_ns,
                int64_t *true_ns)
{
    static int64_t delay_ns[MAX_RANKS];
    double one = 1, sum;

    for (int i = 0; i < n_calls; i++) {
        clv_pattern_fill(pattern, i, delay_ns);
        wait_ns(apart_ns + delay_ns[rank]);
        true_ns[i] = now_ns();
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

static int tell(const char *folder, int rank, int n_calls, const int64_t *true_ns)
{
    char path[1024];
    FILE *file;

    (void) snprintf(path, sizeof path, "%s/%d", folder, rank);
    file = fopen(path, "w");
    for (int i = 0; file != NULL && i < n_calls; i++) {
        fprintf(file, "%d %d %lld\n", i, rank, (long long) true_ns[i]);
    }
    return file == NULL || fclose(file) != 0;
}

int main(int argc, char **argv)
{
    clv_pattern_t pattern = {.jitter = 0.01, .seed = 1};
    int rank, status;
    char reason[256];

    if (argc < 6) {
        fprintf(stderr,
                "usage: arrival_truth PATTERN CALLS DELAY_MS DRIFT_PPM FOLDER [APART_MS]\n");
        return 2;
    }
    const int n_calls = atoi(argv[2]);
    const int64_t apart_ns = argc > 6 ? atoll(argv[6]) * 1000000 : 10000000;
    const char *folder = argv[5], *name = argv[1];
    int64_t *true_ns = calloc((size_t) n_calls + 1, sizeof *true_ns);
    pattern.amount_ns = (int64_t) (atof(argv[3]) * 1e6);
    clv_drift_set(atof(argv[4]));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &pattern.n_ranks);
    if (true_ns == NULL || pattern.n_ranks > MAX_RANKS ||
        clv_pattern_parse(name, &pattern, reason, sizeof reason) != CLV_OK) {
        MPI_Abort(MPI_COMM_WORLD, 2);
        free(true_ns);
        return 2;
    }
    run(&pattern, rank, n_calls, apart_ns, true_ns);
    status = tell(folder, rank, n_calls, true_ns);
    MPI_Finalize();
    clv_pattern_free(&pattern);
    free(true_ns);
    return status;
}
