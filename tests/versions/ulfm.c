/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that outlives the failure of one of its ranks, as MPI's fault tolerance (ULFM) has it:
 * reduces until a call says that a rank died or the communicator was revoked, revokes, shrinks, and
 * reduces a hundred times more. Plain MPI; tests/versions/ulfm.sh runs it with and without us.
 *
 *   ulfm HOW CALL VICTIM NUMBERS
 *
 * HOW   die: the victim kills itself instead of making the call; late: 0.3 s after the others may
 *       have entered it; revoke: it revokes the communicator first, as a rank that knows better
 *
 * The first rank of the shrunken communicator prints one line, "ulfm: went on: ..." with what the
 * script judges: when the last rank had its error, counted from its first call, how many calls of
 * the new communicator knew a forecast, and what more of files, threads, tables of ours and memory
 * of the heap (ours; all but Open MPI's pools; the pools) there is at the end than before the
 * communicator that failed. Before that all ranks have learned in a whole communicator as they do
 * after the failure, so that what Open MPI keeps in its pools for the same messages is there
 * already; and both times there is one communicator that nobody has used. Every survivor prints
 * "ulfm: finalized", or that its MPI_Finalize stands still, as that of Open MPI 5.0.7 does now and
 * then after a rank died (in the fence that it asks of PMIx). Every wrong sum or wrong error is a
 * line "ulfm: WRONG: ...".
 */
#include <mpi.h>

#include <dirent.h>
#include <limits.h>
#include <malloc.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/mpi/pvar_look.h"
#include "tests/versions/own_heap.h"

enum { N_MORE = 100, LATE_US = 300000, SEARCH_CALLS = 100000, FINALIZE_S = 8, LEARN_S = 8 };

typedef struct plan {
    const char *how;
    int call;
    int victim;
    int n_numbers;
    double *own;
    double *sum;
} plan_t;

/* What a process has, and what of it is ours. */
typedef struct holdings {
    int n_files;
    int n_threads; /* without ours */
    int n_tables;  /* mappings */
    int own_bytes; /* of the heap: those of our component */
    int pool_kib;  /* those of Open MPI's pools, which keep what they once had */
    int heap_kib;  /* what is in use but for the pools, ours included */
} holdings_t;

static int n_wrong;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("ulfm: WRONG: " __VA_ARGS__);                                                   \
            printf("\n");                                                                          \
            n_wrong++;                                                                             \
        }                                                                                          \
    } while (0)

static int count_entries(const char *path)
{
    DIR *folder = opendir(path);
    int n = 0;

    while (folder != NULL && readdir(folder) != NULL) {
        n++;
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return n;
}

static int count_tables(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    int n = 0;

    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        n += strstr(line, "memfd:clv") != NULL;
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return n;
}

/* Of this name; all when it is NULL. */
static int count_threads(const char *name)
{
    DIR *folder = opendir("/proc/self/task");
    struct dirent *task;
    int n = 0;

    while (folder != NULL && (task = readdir(folder)) != NULL) {
        char path[300], is[32] = "";
        FILE *file;
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
        file = task->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (file != NULL) {
            n += fgets(is, sizeof is, file) != NULL && (name == NULL || strcmp(is, name) == 0);
            fclose(file);
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return n;
}

/* Whoever leads its host has one background thread until the end of the process; when a leader
 * died, that is another one than before. */
static holdings_t look(void)
{
    const int n_own = count_threads("clv\n");
    const struct mallinfo2 heap = mallinfo2();
    const long own = own_heap_bytes(OWN_HEAP_OURS), pools = own_heap_bytes(OWN_HEAP_POOLS);

    CHECK(n_own <= 1, "%d background threads", n_own);
    return (holdings_t){.n_files = count_entries("/proc/self/fd"),
                        .n_threads = count_threads(NULL) - n_own,
                        .n_tables = count_tables(),
                        .own_bytes = (int) own,
                        .pool_kib = (int) (pools / 1024),
                        .heap_kib = (int) ((heap.uordblks + heap.hblkhd - (size_t) pools) / 1024)};
}

/* The sum of what ranks of this size contribute: rank r gives r + 1 + i % 7 + call. */
static int reduce(const plan_t *plan, MPI_Comm comm, int call)
{
    const int root = 0;
    int rank, size, rc;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < plan->n_numbers; i++) {
        plan->own[i] = rank + 1 + i % 7 + call;
    }
    rc = MPI_Reduce(plan->own, plan->sum, plan->n_numbers, MPI_DOUBLE, MPI_SUM, root, comm);
    for (int i = 0; rc == MPI_SUCCESS && rank == root && i < plan->n_numbers; i++) {
        double right = size * (size + 1) / 2.0 + (double) size * (i % 7 + call);
        if (right != plan->sum[i]) {
            CHECK(0, "call %d: element %d is %g, not %g", call, i, plan->sum[i], right);
            break;
        }
    }
    return rc;
}

static void misbehave(const plan_t *plan, MPI_Comm comm)
{
    if (strcmp(plan->how, "revoke") == 0) {
        MPIX_Comm_revoke(comm);
        return;
    }
    if (strcmp(plan->how, "late") == 0) {
        usleep(LATE_US);
    }
    kill(getpid(), SIGKILL);
}

/* Reduces until there is an error; when it came. */
static int reduce_until_error(const plan_t *plan, MPI_Comm comm)
{
    int rank, rc = MPI_SUCCESS, class = MPI_SUCCESS;

    MPI_Comm_rank(comm, &rank);
    for (int call = 1; rc == MPI_SUCCESS && call < SEARCH_CALLS; call++) {
        if (call == plan->call && rank == plan->victim) {
            misbehave(plan, comm);
        }
        rc = reduce(plan, comm, call);
    }
    MPI_Error_class(rc, &class);
    CHECK(class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED, "the error is of class %d",
          class);
    return rc;
}

/* The same number of calls on every rank, all of them right. */
static void reduce_on(const plan_t *plan, MPI_Comm comm, int n_calls)
{
    for (int call = 1; call <= n_calls; call++) {
        int rc = reduce(plan, comm, call);
        CHECK(rc == MPI_SUCCESS, "call %d of a whole communicator ends with %d", call, rc);
        if (rc != MPI_SUCCESS) {
            return;
        }
    }
}

/* Every rank has connections to every other one, so that what comes later is not Open MPI's. */
static void meet_everyone(void)
{
    int size;
    char *letters;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    letters = calloc(2 * (size_t) size, 1);
    MPI_Alltoall(letters, 1, MPI_CHAR, letters + size, 1, MPI_CHAR, MPI_COMM_WORLD);
    free(letters);
}

static MPI_Comm duplicate(MPI_Comm comm)
{
    MPI_Comm twin;

    MPI_Comm_dup(comm, &twin);
    MPI_Comm_set_errhandler(twin, MPI_ERRORS_RETURN);
    return twin;
}

static int has_more(const holdings_t *now, const holdings_t *before)
{
    return now->n_files > before->n_files || now->n_threads > before->n_threads ||
           now->n_tables > before->n_tables || now->own_bytes > before->own_bytes;
}

/* What the background still has to close is closed within a moment. */
static holdings_t look_when_quiet(const holdings_t *before)
{
    holdings_t now = look();

    for (int i = 0; i < 200 && has_more(&now, before); i++) {
        usleep(10000);
        now = look();
    }
    return now;
}

/* Whether some rank has 0; the same answer on all. */
static int any_has_none(MPI_Comm comm, long long number)
{
    long long least = 1;

    MPI_Allreduce(&number, &least, 1, MPI_LONG_LONG, MPI_MIN, comm);
    return least < 1;
}

/* Until all ranks know forecasts (clocks take their time); how many calls of this rank knew one. */
static long long learn(const plan_t *plan, MPI_Comm comm)
{
    pvar_look_t forecasts;
    const double end = MPI_Wtime() + LEARN_S;
    long long n_forecasts;

    pvar_look_open(&forecasts, "coll_clv_exchange_forecasts");
    do {
        reduce_on(plan, comm, N_MORE);
        n_forecasts = pvar_look_read(&forecasts, 1); /* nobody learns in a job without us */
    } while (any_has_none(comm, n_forecasts) && MPI_Wtime() < end);
    n_forecasts = pvar_look_read(&forecasts, 0);
    pvar_look_close(&forecasts);
    return n_forecasts;
}

/* The rest of the job goes on; fills in how many of its calls knew a forecast. */
static MPI_Comm go_on(const plan_t *plan, MPI_Comm broken, long long *n_forecasts_p)
{
    MPI_Comm rest;
    int size, left, rc;

    MPIX_Comm_revoke(broken);
    rc = MPIX_Comm_shrink(broken, &rest);
    CHECK(rc == MPI_SUCCESS, "the shrink ends with %d", rc);
    MPI_Comm_size(broken, &size);
    MPI_Comm_size(rest, &left);
    CHECK(left == size - (strcmp(plan->how, "revoke") != 0), "of %d ranks %d are left", size, left);
    MPI_Comm_set_errhandler(rest, MPI_ERRORS_RETURN);
    *n_forecasts_p = learn(plan, rest);
    return rest;
}

/* One line for all ranks of the shrunken communicator. */
static void report(MPI_Comm rest, double error_s, long long n_forecasts, const holdings_t *now,
                   const holdings_t *before)
{
    double mine[9] = {error_s,
                      (double) -n_forecasts,
                      now->n_files - before->n_files,
                      now->n_threads - before->n_threads,
                      now->n_tables - before->n_tables,
                      n_wrong,
                      now->own_bytes - before->own_bytes,
                      now->heap_kib - before->heap_kib,
                      now->pool_kib - before->pool_kib};
    double worst[9];
    int rank;

    MPI_Comm_rank(rest, &rank);
    MPI_Allreduce(mine, worst, 9, MPI_DOUBLE, MPI_MAX, rest);
    if (rank == 0) {
        printf("ulfm: went on: error_s=%.2f forecasts=%.0f files=%+.0f threads=%+.0f "
               "tables=%+.0f wrong=%.0f own_bytes=%+.0f heap_kib=%+.0f pool_kib=%+.0f\n",
               worst[0], -worst[1], worst[2], worst[3], worst[4], worst[5], worst[6], worst[7],
               worst[8]);
    }
}

static void run(const plan_t *plan)
{
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    MPI_Comm rest;
    holdings_t before, now;
    long long n_forecasts;
    double started;

    meet_everyone();
    (void) learn(plan, comm);
    MPI_Comm_free(&comm);
    comm = duplicate(MPI_COMM_WORLD);
    before = look_when_quiet(
        &(holdings_t){.n_files = INT_MAX, .n_threads = INT_MAX, .own_bytes = INT_MAX});
    started = MPI_Wtime();
    (void) reduce_until_error(plan, comm);
    started = MPI_Wtime() - started;
    rest = go_on(plan, comm, &n_forecasts);
    MPI_Comm_free(&comm);
    comm = rest;
    rest = duplicate(comm);
    MPI_Comm_free(&comm);
    now = look_when_quiet(&before);
    report(rest, started, n_forecasts, &now, &before);
    MPI_Comm_free(&rest);
}

static void end_standing_still(int signal)
{
    static const char line[] = "ulfm: MPI_Finalize stands still\n";

    (void) signal;
    _exit(write(STDOUT_FILENO, line, sizeof line - 1) < 0);
}

static void finalize(void)
{
    signal(SIGALRM, end_standing_still);
    alarm(FINALIZE_S);
    MPI_Finalize();
    alarm(0);
    puts("ulfm: finalized");
}

int main(int argc, char **argv)
{
    plan_t plan;

    if (argc != 5) {
        fprintf(stderr, "usage: ulfm die|late|revoke CALL VICTIM NUMBERS\n");
        return 2;
    }
    plan = (plan_t){
        .how = argv[1], .call = atoi(argv[2]), .victim = atoi(argv[3]), .n_numbers = atoi(argv[4])};
    plan.own = calloc((size_t) plan.n_numbers, sizeof *plan.own);
    plan.sum = calloc((size_t) plan.n_numbers, sizeof *plan.sum);
    signal(SIGPIPE, SIG_IGN); /* Open MPI's TCP writes to a dead peer without MSG_NOSIGNAL */
    MPI_Init(&argc, &argv);
    own_heap_begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    run(&plan);
    fflush(stdout);
    finalize();
    free(plan.own);
    free(plan.sum);
    return n_wrong > 0;
}
