/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What programs do around MPI_Reduce while the exchange runs: every level of threads, fork and
 * system, thousands of communicators, and (MPI 4) sessions that open and close the library again.
 * Checks each sum; rank 0 says "life_cases: all right", with what was there at the end.
 *
 * usage: life_cases single|funneled|serialized|multiple | lowered | children | spawn |
 *                   copies N [ordered] | sessions
 * lowered: multiple, and a tool takes it for single; spawn: start it alone or as one rank
 */
#include <mpi.h>
#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern bool ompi_mpi_thread_multiple; /* Open MPI's: whether its functions lock */

#define N_ELEMENTS 8192 /* doubles: 64 KiB, eligible */
#define N_CALLS    30
#define EVERY      40 /* of so many copies one makes an eligible reduce */
#define LIMIT_S    8

static int n_wrong;

static MPI_Op operation = MPI_SUM;

/* As MPI_SUM; said not to commute. */
static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *n; i++) {
        ((double *) inout)[i] += ((double *) in)[i];
    }
}

static void reduce_on(MPI_Comm comm, int n_calls)
{
    double *mine = calloc(N_ELEMENTS, sizeof *mine), *sums = calloc(N_ELEMENTS, sizeof *sums);
    int rank, n_ranks;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    for (int call = 0; call < n_calls; call++) {
        mine[N_ELEMENTS - 1] = rank + call;
        MPI_Reduce(mine, sums, N_ELEMENTS, MPI_DOUBLE, operation, 0, comm);
        n_wrong +=
            rank == 0 && (int) sums[N_ELEMENTS - 1] != n_ranks * (n_ranks - 1) / 2 + n_ranks * call;
    }
    free(sums);
    free(mine);
}

static int count_entries(const char *path)
{
    int n = 0;
    DIR *dir = opendir(path);
    while (dir != NULL && readdir(dir) != NULL) {
        n++;
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return n;
}

/* ---- threads --------------------------------------------------------------------------------- */

/* A thread that computes (funneled), calls MPI after the other (serialized) or beside it
 * (multiple). */
static void *other_thread(void *argument)
{
    const MPI_Comm *comm = argument;
    if (comm != NULL) {
        reduce_on(*comm, N_CALLS);
    }
    return NULL;
}

static void use_threads(int level)
{
    pthread_t thread;
    MPI_Comm copy;

    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    reduce_on(MPI_COMM_WORLD, N_CALLS);
    if (level != MPI_THREAD_SINGLE) {
        pthread_create(&thread, NULL, other_thread, level == MPI_THREAD_FUNNELED ? NULL : &copy);
        if (level == MPI_THREAD_SERIALIZED) {
            pthread_join(thread, NULL);
        }
        reduce_on(MPI_COMM_WORLD, N_CALLS);
        if (level != MPI_THREAD_SERIALIZED) {
            pthread_join(thread, NULL);
        }
    }
    MPI_Comm_free(&copy);
}

/* ---- children -------------------------------------------------------------------------------- */

/* One that runs on for a while with copies of everything, one that runs another program. */
static void have_children(void)
{
    for (int i = 0; i < 5; i++) {
        const pid_t child = fork();
        int status = -1;
        if (child == 0) {
            usleep(2000);
            _exit(7);
        }
        reduce_on(MPI_COMM_WORLD, N_CALLS);
        n_wrong += child != waitpid(child, &status, 0) || WEXITSTATUS(status) != 7;
        n_wrong += system("exit 0") != 0;
        reduce_on(MPI_COMM_WORLD, N_CALLS);
    }
}

/* ---- processes that are spawned -------------------------------------------------------------- */

#define N_SPAWNED 3

static void use_all_on(MPI_Comm comm)
{
    static double vector[N_ELEMENTS];
    int rank, n_ranks;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    reduce_on(comm, N_CALLS);
    for (int call = 0; call < N_CALLS; call++) {
        vector[call] = rank + call;
        MPI_Allreduce(MPI_IN_PLACE, vector, N_ELEMENTS, MPI_DOUBLE, MPI_SUM, comm);
        n_wrong += (int) vector[call] != n_ranks * (n_ranks - 1) / 2 + n_ranks * call;
        vector[call] = rank == call % n_ranks ? call : -1;
        MPI_Bcast(vector, N_ELEMENTS, MPI_DOUBLE, call % n_ranks, comm);
        n_wrong += (int) vector[call] != call;
    }
}

/* Parent and children together; the children tell the parent what went wrong. */
static void use_with(MPI_Comm other, int is_child)
{
    MPI_Comm both;

    MPI_Intercomm_merge(other, is_child, &both);
    use_all_on(both);
    MPI_Allreduce(MPI_IN_PLACE, &n_wrong, 1, MPI_INT, MPI_SUM, both);
    MPI_Comm_free(&both);
    MPI_Comm_disconnect(&other);
}

static void spawn_twice(char *program)
{
    MPI_Comm parent;

    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        use_all_on(MPI_COMM_WORLD);
        use_with(parent, 1);
        MPI_Finalize();
        exit(0);
    }
    for (int i = 0; i < 2; i++) {
        MPI_Comm children;
        MPI_Comm_spawn(program, (char *[]){"spawn", NULL}, N_SPAWNED, MPI_INFO_NULL, 0,
                       MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
        use_with(children, 0);
    }
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* At least two rounds, and no new one after LIMIT_S: the machine may be busy. */
static int goes_on(int i, double end)
{
    int more = i < 2 * EVERY || MPI_Wtime() < end;
    if (i % EVERY == 0) {
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
        return more;
    }
    return 1;
}

static void copy_often(int n_copies)
{
    const double end = MPI_Wtime() + LIMIT_S;
    int n_fds = 0, n = 0;

    /* Thirty calls are over before the hosts know each other's clocks: some time between them. */
    reduce_on(MPI_COMM_WORLD, N_CALLS);
    (void) usleep(200000);
    reduce_on(MPI_COMM_WORLD, N_CALLS);
    for (int i = 0; i < n_copies && goes_on(i, end); i++, n++) {
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        if (i % EVERY == 0) {
            reduce_on(copy, 3);
        }
        MPI_Comm_free(&copy);
        if (i == EVERY) {
            n_fds = count_entries("/proc/self/fd");
        }
    }
    n_wrong += count_entries("/proc/self/fd") > n_fds + 4;
    n_wrong += count_entries("/proc/self/task") > 16;
    printf("life_cases: %d copies\n", n);
}

/* ---- sessions -------------------------------------------------------------------------------- */

static int open_and_close(void)
{
#if MPI_VERSION >= 4
    for (int i = 0; i < 3; i++) {
        MPI_Session session;
        MPI_Group group;
        MPI_Comm comm;
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
        MPI_Comm_create_from_group(group, "clv.life_cases", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                   &comm);
        reduce_on(comm, N_CALLS);
        MPI_Comm_free(&comm);
        MPI_Group_free(&group);
        MPI_Session_finalize(&session);
    }
    printf("life_cases: %s\n", n_wrong == 0 ? "all right" : "WRONG");
#else
    printf("life_cases: this MPI has no sessions\n");
#endif
    return n_wrong != 0;
}

int main(int argc, char **argv)
{
    static const char *const levels[] = {"single", "funneled", "serialized", "multiple"};
    static const int codes[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                                MPI_THREAD_MULTIPLE};
    const char *what = argc > 1 ? argv[1] : "";
    int level = 0, provided, rank;

    if (strcmp(what, "sessions") == 0) {
        return open_and_close();
    }
    for (int i = 0; i < 4; i++) {
        level = strcmp(what, levels[i]) == 0 ? i : level;
    }
    level = strcmp(what, "lowered") == 0 ? 3 : level;
    MPI_Init_thread(&argc, &argv, codes[level], &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(what, "children") == 0) {
        have_children();
    } else if (strcmp(what, "spawn") == 0) {
        spawn_twice(argv[0]);
    } else if (strcmp(what, "lowered") == 0) {
        MPI_T_init_thread(MPI_THREAD_SINGLE, &provided); /* what tools do */
        if (rank == 0) {
            printf("life_cases: level %s\n", ompi_mpi_thread_multiple ? "kept" : "lowered");
        }
        copy_often(4);
    } else if (strcmp(what, "copies") == 0 && argc > 2) {
        if (argc > 3) { /* "ordered" */
            MPI_Op_create(add, 0, &operation);
        }
        copy_often(atoi(argv[2]));
    } else {
        use_threads(provided < codes[level] ? MPI_THREAD_SINGLE : codes[level]);
    }
    MPI_Allreduce(MPI_IN_PLACE, &n_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("life_cases: %s\n", n_wrong == 0 ? "all right" : "WRONG");
    }
    MPI_Finalize();
    return n_wrong != 0;
}
