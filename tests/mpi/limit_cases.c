/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program whose process has a limit, set after MPI_Init: reduces, broadcasts and allreduces,
 * every value checked. It hears of no signal, and its mask and handlers stay what they were.
 *
 *   limit_cases: 60 calls, wrong=0 heard=0 changed=0
 *
 *   limit_cases WHICH [AMOUNT]
 *   none
 *   file BYTES        no file larger than that
 *   space KIB         so much more address space than there is
 *   files N           so many more descriptors than there are
 *   cpu SECONDS       so much more processor time than was used: rank 0 computes until it
 *                     hears, on its own thread: "limit_cases: rank 0 heard of its CPU limit"
 */
#include <dirent.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { N_NUMBERS = 20000, N_CALLS = 60 };

static volatile sig_atomic_t n_heard, n_heard_cpu, n_heard_elsewhere;

static void hear(int number)
{
    if (number == SIGXCPU) {
        n_heard_cpu++;
        n_heard_elsewhere += gettid() != getpid();
    } else {
        n_heard++;
    }
}

static long count_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    long last = 0;

    for (struct dirent *one = NULL; folder != NULL && (one = readdir(folder)) != NULL;) {
        const long fd = strtol(one->d_name, NULL, 10);
        last = fd > last ? fd : last;
    }
    if (folder != NULL) {
        (void) closedir(folder);
    }
    return last + 1;
}

static long space_kib(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;

    if (file != NULL) {
        pages = fscanf(file, "%ld", &pages) == 1 ? pages : 0;
        (void) fclose(file);
    }
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int set_limit(unsigned resource, long amount)
{
    struct rlimit limit;

    if (getrlimit(resource, &limit) != 0) {
        return 0;
    }
    limit.rlim_cur = (rlim_t) amount;
    return setrlimit(resource, &limit) == 0;
}

static long cpu_seconds(void)
{
    return (long) (clock() / CLOCKS_PER_SEC);
}

/* Computes until the limit is heard of, a minute at most. */
static void await_cpu_limit(void)
{
    const long begun = cpu_seconds();

    while (n_heard_cpu == 0 && cpu_seconds() - begun < 60) {
    }
    if (n_heard_cpu > 0 && n_heard_elsewhere == 0) {
        printf("limit_cases: rank 0 heard of its CPU limit\n");
    }
}

static int limit(const char *which, long amount)
{
    if (strcmp(which, "none") == 0) {
        return 1;
    }
    if (strcmp(which, "file") == 0) {
        return set_limit(RLIMIT_FSIZE, amount);
    }
    if (strcmp(which, "space") == 0) {
        return set_limit(RLIMIT_AS, (space_kib() + amount) * 1024);
    }
    if (strcmp(which, "cpu") == 0) {
        return set_limit(RLIMIT_CPU, cpu_seconds() + amount);
    }
    return strcmp(which, "files") == 0 && set_limit(RLIMIT_NOFILE, count_files() + amount);
}

/* Of a call's result: i * P + what all ranks sum up to. */
static long count_wrong(const double *sum, int n_ranks)
{
    long n_wrong = 0;

    for (int i = 0; i < N_NUMBERS; i++) {
        const double right = (double) i * n_ranks + n_ranks * (n_ranks - 1) / 2.0;
        n_wrong += sum[i] < right || sum[i] > right;
    }
    return n_wrong;
}

static long one_call(int call, double *mine, double *sum)
{
    int rank, n_ranks;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (int i = 0; i < N_NUMBERS; i++) {
        mine[i] = rank + i;
        sum[i] = -1;
    }
    if (call % 3 == 0) {
        MPI_Allreduce(mine, sum, N_NUMBERS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        return count_wrong(sum, n_ranks);
    }
    MPI_Reduce(mine, sum, N_NUMBERS, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (call % 3 == 1) {
        MPI_Bcast(sum, N_NUMBERS, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    return rank == 0 || call % 3 == 1 ? count_wrong(sum, n_ranks) : 0;
}

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "none";
    double *mine, *sum;
    long seen[3] = {0}, all[3] = {0}; /* wrong, heard, changed */
    struct sigaction now, before;
    sigset_t mask, waiting;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mine = calloc(N_NUMBERS, sizeof *mine);
    sum = calloc(N_NUMBERS, sizeof *sum);
    (void) sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = hear}, NULL);
    (void) sigaction(SIGXCPU, &(struct sigaction){.sa_handler = hear}, NULL);
    (void) sigaction(SIGXFSZ, NULL, &before);
    if (mine == NULL || sum == NULL || !limit(which, argc > 2 ? strtol(argv[2], NULL, 10) : 0)) {
        MPI_Abort(MPI_COMM_WORLD, 2);
        abort(); /* never reached, which only MPI knows */
    }
    for (int call = 0; call < N_CALLS; call++) {
        if (call == N_CALLS / 2 && rank == 0 && strcmp(which, "cpu") == 0) {
            await_cpu_limit();
        }
        seen[0] += one_call(call, mine, sum);
    }
    (void) sigaction(SIGXFSZ, NULL, &now);
    (void) sigprocmask(SIG_SETMASK, NULL, &mask);
    (void) sigpending(&waiting);
    seen[1] = n_heard > 0;
    seen[2] = now.sa_handler != before.sa_handler || sigismember(&mask, SIGXFSZ) != 0 ||
              sigismember(&waiting, SIGXFSZ) != 0;
    MPI_Allreduce(seen, all, 3, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("limit_cases: %d calls, wrong=%ld heard=%ld changed=%ld\n", N_CALLS, all[0], all[1],
               all[2]);
    }
    free(mine);
    free(sum);
    MPI_Finalize();
    return all[0] != 0;
}
