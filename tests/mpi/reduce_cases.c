/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Everything a legal MPI_Reduce can be, each result checked. Run under any coll, any PML, any
 * number of ranks; exit status 0 and a last line "# reduce_cases: all right" when nothing was
 * wrong.
 *
 *   reduce_cases [-c CASE,...] [-s COUNT,...] [-i ITERATIONS] [-e SEED] [-v]
 *
 * Cases: see the table at the end; without -c those that are not marked as special.
 */
#include "tests/mpi/reduce_check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MAX_COUNTS  16
#define MAX_THREADS 4

static int world_rank, world_size, thread_level;
static int counts[MAX_COUNTS] = {1, 2, 3, 7, 100, 1000, 4099, 65536};
static int n_counts = 8;
static int n_iterations = 30;
static long flood_kib; /* 0: what the synchronous sends leave */
static uint64_t seed = 1;
static char *program;

/* The same sequence on every rank. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int draw_below(uint64_t *state, int n)
{
    return (int) (draw(state) % (uint64_t) n);
}

static const rc_type_t *find_type(MPI_Datatype type)
{
    const rc_type_t *found = rc_types;
    while (found->type != type) {
        found++;
    }
    return found;
}

static void sleep_us(int us)
{
    struct timespec time = {us / 1000000, us % 1000000 * 1000L};
    nanosleep(&time, NULL);
}

/* --- cases; each returns how many things were wrong on this rank --- */

static int every_type_and_operation(void)
{
    int wrong = 0, n = 0;

    for (const rc_op_t *op = rc_ops; op->name != NULL; op++) {
        for (const rc_type_t *type = rc_types; type->name != NULL; type++) {
            if (op->kinds & type->kind) {
                wrong += rc_check(type, op->op, op->value, 1 + n % 5, n % world_size, n & 1,
                                  MPI_COMM_WORLD);
                wrong += rc_check(type, op->op, op->value, 611, (n + 1) % world_size, ~n & 1,
                                  MPI_COMM_WORLD);
                n++;
            }
        }
    }
    return wrong;
}

static int every_root_and_count(void)
{
    const rc_type_t *types[] = {find_type(MPI_DOUBLE), find_type(MPI_INT16_T)};
    int wrong = 0;

    for (int c = 0; c < n_counts; c++) {
        for (int root = 0; root < world_size; root++) {
            wrong += rc_check(types[root & 1], MPI_SUM, NULL, counts[c], root, (c + root) & 1,
                              MPI_COMM_WORLD);
        }
    }
    return wrong;
}

/* Independent of MPI_Reduce_local: the sum of rank * 2^16 + i over the ranks, in closed form. */
static int closed_form(void)
{
    int count = 100003, root = world_size / 2, wrong = 0;
    int64_t *values = malloc((size_t) count * sizeof *values);
    int64_t *sums = calloc((size_t) count, sizeof *sums);

    for (int64_t i = 0; i < count; i++) {
        values[i] = world_rank * INT64_C(65536) + i;
    }
    rc_reduce(values, world_rank == root ? sums : NULL, count, MPI_INT64_T, MPI_SUM, root,
              MPI_COMM_WORLD);
    for (int64_t i = 0; i < count && world_rank == root; i++) {
        int64_t p = world_size;
        wrong |= sums[i] != p * (p - 1) / 2 * 65536 + p * i;
    }
    free(values);
    free(sums);
    return wrong;
}

static int derived_types(void)
{
    static const int some[] = {1, 2, 5, 97, 3000};
    int wrong = 0, n = 0;

    for (const rc_type_t *type = rc_derived; type->name != NULL; type++) {
        MPI_Aint lb, extent;
        MPI_Type_get_extent(type->type, &lb, &extent);
        if (extent < 0 && !rc_bears_odd_types) {
            continue;
        }
        for (size_t c = 0; c < sizeof some / sizeof some[0]; c++, n++) {
            wrong +=
                rc_check(type, rc_user_sum, NULL, some[c], n % world_size, n & 1, MPI_COMM_WORLD);
        }
    }
    return wrong;
}

/* An element of 300 ints that lies at an absolute address, differing from rank to rank. */
#define N_ABSOLUTE 300
static MPI_Aint absolute_at;

static void absolute_sum(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int32_t *a = (void *) ((char *) in + absolute_at);
    int32_t *b = (void *) ((char *) inout + absolute_at);

    (void) type;
    for (int i = 0; i < N_ABSOLUTE * *count; i++) {
        b[i] += a[i];
    }
}

static int absolute_addresses(void)
{
    int32_t data[N_ABSOLUTE];
    int length = N_ABSOLUTE, wrong = 0, root = world_size - 1;
    MPI_Datatype type;
    MPI_Op op;

    if (!rc_bears_odd_types) {
        return 0;
    }
    for (int i = 0; i < N_ABSOLUTE; i++) {
        data[i] = world_rank + i;
    }
    MPI_Get_address(data, &absolute_at);
    MPI_Type_create_hindexed(1, &length, &absolute_at, MPI_INT32_T, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(absolute_sum, 1, &op);
    rc_reduce(world_rank == root ? MPI_IN_PLACE : MPI_BOTTOM, MPI_BOTTOM, 1, type, op, root,
              MPI_COMM_WORLD);
    for (int i = 0; i < N_ABSOLUTE; i++) {
        int32_t sum = world_size * (world_size - 1) / 2 + world_size * i;
        wrong |= data[i] != (world_rank == root ? sum : world_rank + i);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    return wrong;
}

static int user_operations(void)
{
    int wrong = 0;

    for (int c = 0; c < n_counts; c++) {
        int root = c % world_size;
        wrong +=
            rc_check(find_type(MPI_INT), rc_user_sum, NULL, counts[c], root, c & 1, MPI_COMM_WORLD);
        wrong += rc_check(&rc_affine, rc_user_affine, NULL, counts[c], root, c & 1, MPI_COMM_WORLD);
    }
    return wrong;
}

static int zero_counts(void)
{
    int32_t number = 5;
    int wrong = 0;

    for (int root = 0; root < world_size; root++) {
        wrong |= rc_reduce(NULL, NULL, 0, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD) != MPI_SUCCESS;
        wrong |= rc_reduce(root == world_rank ? MPI_IN_PLACE : &number, &number, 0, MPI_INT,
                           MPI_SUM, root, MPI_COMM_WORLD) != MPI_SUCCESS;
    }
    return wrong | (number != 5);
}

static int sub_communicators(void)
{
    int wrong = 0;

    for (int parts = 1; parts <= 3; parts++) {
        MPI_Comm comm;
        int size;
        MPI_Comm_split(MPI_COMM_WORLD, world_rank % parts, -world_rank, &comm);
        MPI_Comm_size(comm, &size);
        for (int c = 0; c < n_counts; c++) {
            wrong +=
                rc_check(find_type(MPI_DOUBLE), MPI_SUM, NULL, counts[c], c % size, c & 1, comm);
        }
        MPI_Comm_free(&comm);
    }
    return wrong +
           rc_check(find_type(MPI_INT), MPI_MAX, NULL, 1000, 0, world_rank & 1, MPI_COMM_SELF);
}

static int copies_come_and_go(void)
{
    int wrong = 0;

    for (int i = 0; i < 2 * n_iterations; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        wrong += rc_check(find_type(MPI_DOUBLE), MPI_SUM, NULL, 5000, i % world_size, i & 1, comm);
        MPI_Comm_free(&comm);
    }
    return wrong;
}

static int between_two_groups(void)
{
    int low = world_rank < world_size / 2, wrong = 0, n_remote;
    int64_t own[2000], sums[2000];
    MPI_Comm group, both;

    if (world_size < 2) {
        return 0;
    }
    for (int i = 0; i < 2000; i++) {
        own[i] = world_rank + i;
    }
    MPI_Comm_split(MPI_COMM_WORLD, low, world_rank, &group);
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, low ? world_size / 2 : 0, 9, &both);
    MPI_Comm_remote_size(both, &n_remote);
    if (low) {
        MPI_Reduce(NULL, sums, 2000, MPI_INT64_T, MPI_SUM,
                   world_rank == 0 ? MPI_ROOT : MPI_PROC_NULL, both);
    } else {
        MPI_Reduce(own, NULL, 2000, MPI_INT64_T, MPI_SUM, 0, both);
    }
    for (int i = 0; i < 2000 && world_rank == 0; i++) {
        int64_t sum = (int64_t) n_remote * i;
        for (int p = world_size / 2; p < world_size; p++) {
            sum += p;
        }
        wrong |= sums[i] != sum;
    }
    MPI_Comm_free(&both);
    MPI_Comm_free(&group);
    return wrong;
}

/* A receive of anything from anyone, posted by the user, must not take the reduce's messages. */
static int user_messages_beside(void)
{
    int wrong = 0, got[2] = {-1, -1}, one = 77 + world_rank;
    MPI_Request requests[2];

    MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 5; i++) {
        wrong += rc_check(find_type(MPI_INT), MPI_SUM, NULL, 20000, i % world_size, i & 1,
                          MPI_COMM_WORLD);
    }
    MPI_Send(&one, 1, MPI_INT, (world_rank + 1) % world_size, 3, MPI_COMM_WORLD);
    MPI_Send(&one, 1, MPI_INT, (world_rank + 1) % world_size, 4, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    one = 77 + (world_rank + world_size - 1) % world_size;
    return wrong | (got[0] != one) | (got[1] != one);
}

/* Other collectives of the same communicator in between, blocking and not. */
static int other_collectives_between(void)
{
    int wrong = 0;

    for (int i = 0; i < n_iterations; i++) {
        int number = world_rank, sum = -1, other = -1;
        MPI_Request request;
        MPI_Iallreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        wrong += rc_check(find_type(MPI_FLOAT), MPI_SUM, NULL, 3000 + i, i % world_size, i & 1,
                          MPI_COMM_WORLD);
        MPI_Allreduce(&number, &other, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        wrong |= sum != world_size * (world_size - 1) / 2 || other != world_size - 1;
    }
    return wrong;
}

static int random_late_ranks(void)
{
    uint64_t shared = seed, own = seed * 1000003 + (uint64_t) world_rank;
    int wrong = 0;

    for (int i = 0; i < 4 * n_iterations; i++) {
        int count = 1 + draw_below(&shared, 1 << (1 + draw_below(&shared, 17)));
        int root = draw_below(&shared, world_size);
        if (draw_below(&own, 3) == 0) {
            sleep_us(draw_below(&own, 3000));
        }
        wrong +=
            rc_check(find_type(MPI_INT64_T), MPI_SUM, NULL, count, root, i & 1, MPI_COMM_WORLD);
    }
    return wrong;
}

/* --- threads --- */

typedef struct thread_part {
    MPI_Comm comm;
    int number, wrong;
} thread_part_t;

/* Both collectives of one communicator by turns, drawn alike on all ranks, any rank late. */
static int reduces_and_allreduces(void)
{
    enum { MOST = 20000 };
    int64_t *own = malloc(MOST * sizeof *own), *sums = malloc(MOST * sizeof *sums);
    uint64_t shared = seed + 77;
    int wrong = 0;

    for (int i = 0; i < 5 * n_iterations; i++) {
        const int count = 1 + draw_below(&shared, MOST), root = draw_below(&shared, world_size);
        const int late = draw_below(&shared, world_size), all = draw_below(&shared, 2);
        for (int64_t k = 0; k < count; k++) {
            own[k] = world_rank * INT64_C(65536) + k + i;
        }
        sleep_us(late == world_rank ? 500 : 0);
        if (all) {
            MPI_Allreduce(own, sums, count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        } else {
            MPI_Reduce(own, sums, count, MPI_INT64_T, MPI_SUM, root, MPI_COMM_WORLD);
        }
        for (int64_t k = 0; k < count && (all || root == world_rank); k++) {
            const int64_t p = world_size;
            wrong |= sums[k] != p * (p - 1) / 2 * 65536 + p * (k + i);
        }
    }
    free(own);
    free(sums);
    return wrong;
}

static void *thread_main(void *argument)
{
    thread_part_t *part = argument;
    uint64_t shared = seed + (uint64_t) part->number;

    for (int i = 0; i < n_iterations; i++) {
        int count = 1 + draw_below(&shared, 30000);
        part->wrong += rc_check(find_type(MPI_DOUBLE), MPI_SUM, NULL, count,
                                draw_below(&shared, world_size), i & 1, part->comm);
    }
    rc_end_thread();
    return NULL;
}

/* With more threads than cores it stands still now and then, also without us: the plain program is
 * tests/versions/threads_alone.c, the issue packaging/openmpi/issues.md. */
static int library_stands_still(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(version, &length);
    return strstr(version, "Open MPI v6.0.0rc2") != NULL;
}

static int several_threads(void)
{
    pthread_t threads[MAX_THREADS];
    thread_part_t parts[MAX_THREADS];
    int wrong = 0;

    if (thread_level != MPI_THREAD_MULTIPLE) {
        return 0;
    }
    if (library_stands_still()) {
        printf("reduce_cases: several_threads skipped: Open MPI 6.0.0rc2 stands still by itself\n");
        return 0;
    }
    for (int t = 0; t < MAX_THREADS; t++) {
        parts[t] = (thread_part_t){.number = t};
        MPI_Comm_dup(MPI_COMM_WORLD, &parts[t].comm);
    }
    for (int t = 0; t < MAX_THREADS; t++) {
        pthread_create(&threads[t], NULL, thread_main, &parts[t]);
    }
    for (int t = 0; t < MAX_THREADS; t++) {
        pthread_join(threads[t], NULL);
        MPI_Comm_free(&parts[t].comm);
        wrong += parts[t].wrong;
    }
    return wrong;
}

/* --- special cases, by name only --- */

static int spawned_and_merged(void)
{
    MPI_Comm parent, both, merged;
    char child[] = "-c", name[] = "spawned_and_merged";
    char *arguments[] = {child, name, NULL};
    int wrong = 0, size;

    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &both,
                       MPI_ERRCODES_IGNORE);
    } else {
        both = parent;
    }
    MPI_Intercomm_merge(both, parent != MPI_COMM_NULL, &merged);
    MPI_Comm_size(merged, &size);
    for (int i = 0; i < 10; i++) {
        wrong += rc_check(find_type(MPI_INT), MPI_SUM, NULL, 10000, i % size, i & 1, merged);
    }
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&both);
    return wrong;
}

static long max_rss_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* Elsewhere for a while, but taking in what the network brings. */
static void be_late(double seconds)
{
    double end = MPI_Wtime() + seconds;
    int found;

    while (MPI_Wtime() < end) {
        MPI_Iprobe(0, 1, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
        usleep(20);
    }
}

/* Everybody calls many reduces of 64 KiB, which go eagerly, while the root is elsewhere: what it
 * finds must be bounded by the credits, not by the calls. By flood_kib where that is given, and
 * 2 MiB for what else a process takes in a second. */
static int flood_of_a_late_root(void)
{
    enum { n_doubles = 8192 };
    /* At least five times the bound, or twice 64 MiB. */
    const int n_calls = flood_kib > 0 && flood_kib <= 8192 ? 800 : 2000;
    double *own = malloc(n_doubles * sizeof *own), *sum = malloc(n_doubles * sizeof *sum);
    int wrong = 0;
    long before, grown;

    for (int i = 0; i < n_doubles; i++) {
        own[i] = 1;
        sum[i] = 0;
    }
    /* Plans learn that the root comes last: else some have it send, and nobody runs ahead. */
    for (int i = 0; i < 40; i++) {
        if (world_rank == 0) {
            be_late(0.003);
        }
        rc_reduce(own, sum, n_doubles, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    before = max_rss_kib();
    if (world_rank == 0) {
        be_late(1);
    }
    for (int i = 0; i < n_calls; i++) {
        rc_reduce(own, sum, n_doubles, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        wrong |= world_rank == 0 && sum[i] != world_size;
    }
    grown = max_rss_kib() - before;
    MPI_Allreduce(MPI_IN_PLACE, &grown, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    wrong |= grown > (flood_kib > 0 ? flood_kib + 2048 : 16 * 1024 + 4096L * world_size);
    if (world_rank == 0) {
        printf("# flood: a rank grew by %ld KiB\n", grown);
    }
    free(own);
    free(sum);
    return wrong;
}

/* Reduces for a few seconds, for a test that stops or kills a rank in the middle. */
static int long_run(void)
{
    int wrong = 0, go_on = 1;
    double end = MPI_Wtime() + 0.1 * n_iterations;

    for (int i = 0; go_on; i++) {
        wrong += rc_check(find_type(MPI_DOUBLE), MPI_SUM, NULL, 40000, i % world_size, i & 1,
                          MPI_COMM_WORLD);
        go_on = MPI_Wtime() < end;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (i == 0) {
            printf("# rank %d is pid %d\n", world_rank, (int) getpid());
            fflush(stdout);
        }
    }
    return wrong;
}

/* More bytes than an int counts: 2^31 + 2^20 bytes as doubles. About 9 GiB for two ranks. */
static int more_than_two_gib(void)
{
    int count = 268435456 + 131072 + 3, wrong = 0, root = world_size - 1;
    double *own = malloc((size_t) count * sizeof *own);
    double *sum = root == world_rank ? malloc((size_t) count * sizeof *sum) : NULL;

    for (int64_t i = 0; i < count; i++) {
        own[i] = (double) (world_rank + i % 1000);
    }
    rc_reduce(own, sum, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
    for (int64_t i = 0; i < count && sum != NULL; i++) {
        int64_t want = (int64_t) world_size * (world_size - 1) / 2 + world_size * (i % 1000);
        wrong |= sum[i] != (double) want;
    }
    free(own);
    free(sum);
    return wrong;
}

/* --- the table, and main --- */

typedef struct test_case {
    const char *name;
    int (*run)(void);
    int special;
} test_case_t;

#define CASE_MAP(XX)                                                                               \
    XX(every_type_and_operation, 0)                                                                \
    XX(every_root_and_count, 0)                                                                    \
    XX(closed_form, 0)                                                                             \
    XX(derived_types, 0)                                                                           \
    XX(absolute_addresses, 0)                                                                      \
    XX(user_operations, 0)                                                                         \
    XX(zero_counts, 0)                                                                             \
    XX(sub_communicators, 0)                                                                       \
    XX(copies_come_and_go, 0)                                                                      \
    XX(between_two_groups, 0)                                                                      \
    XX(user_messages_beside, 0)                                                                    \
    XX(other_collectives_between, 0)                                                               \
    XX(random_late_ranks, 0)                                                                       \
    XX(reduces_and_allreduces, 0)                                                                  \
    XX(several_threads, 0)                                                                         \
    XX(spawned_and_merged, 1)                                                                      \
    XX(flood_of_a_late_root, 1)                                                                    \
    XX(long_run, 1)                                                                                \
    XX(more_than_two_gib, 1)

static const test_case_t cases[] = {
#define CASE_ROW(name, special) {#name, name, special},
    CASE_MAP(CASE_ROW)};
#define N_CASES (sizeof cases / sizeof cases[0])

static int is_wanted(const test_case_t *test, const char *list)
{
    size_t length = strlen(test->name);

    if (list == NULL) {
        return !test->special;
    }
    for (const char *at = list; (at = strstr(at, test->name)) != NULL; at += length) {
        if ((at == list || at[-1] == ',') && (at[length] == '\0' || at[length] == ',')) {
            return 1;
        }
    }
    return 0;
}

static void take_counts(char *list)
{
    n_counts = 0;
    for (char *word = strtok(list, ","); word != NULL && n_counts < MAX_COUNTS;
         word = strtok(NULL, ",")) {
        counts[n_counts++] = atoi(word);
    }
}

static int run_cases(const char *list, int verbose)
{
    int all_wrong = 0, n_run = 0;

    for (size_t i = 0; i < N_CASES; i++) {
        if (is_wanted(&cases[i], list)) {
            double start = MPI_Wtime();
            int wrong = cases[i].run() != 0, any;
            MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
            if (world_rank == 0 && (verbose || any)) {
                printf("# %s %s (%.2f s)\n", any ? "WRONG" : "right", cases[i].name,
                       MPI_Wtime() - start);
                fflush(stdout);
            }
            all_wrong |= any;
            n_run++;
        }
    }
    return n_run == 0 ? 1 : all_wrong;
}

static void read_options(int argc, char **argv, const char **list_p, int *verbose_p)
{
    int option;

    while ((option = getopt(argc, argv, "c:s:i:e:m:v")) != -1) {
        switch (option) {
        case 'c':
            *list_p = optarg;
            break;
        case 's':
            take_counts(optarg);
            break;
        case 'i':
            n_iterations = atoi(optarg);
            break;
        case 'e':
            seed = strtoull(optarg, NULL, 0);
            break;
        case 'm':
            flood_kib = atol(optarg);
            break;
        case 'v':
            *verbose_p = 1;
            break;
        default:
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
    }
}

int main(int argc, char **argv)
{
    const char *list = NULL;
    int verbose = 0, wrong;

    program = argv[0];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &thread_level);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    read_options(argc, argv, &list, &verbose);
    rc_build_tables();
    wrong = run_cases(list, verbose);
    rc_free_tables();
    rc_end_thread();
    if (world_rank == 0 && !wrong) {
        printf("# reduce_cases: all right\n");
    }
    MPI_Finalize();
    return wrong;
}
