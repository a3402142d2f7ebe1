/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the component costs a program, seen from the program. tests/quality/costs.sh runs it and
 * makes ratios of pairs of runs; docs/design/channel.md has the figures.
 *
 * usage: costs calls N WORK_US [NAP_US]     N eligible reduces (64 KiB), each after a nap (none)
 *                                    and so much computing
 *        costs idle SECONDS          30 eligible reduces, 5 s to settle, and then none for so long
 *        costs blocks KIND[:BYTES] START_S FIRST N_BLOCKS [nothread]
 *                                    pingpong, reduce, allreduce, bcast; of 8 bytes where nothing
 *                                    else is said, of 64 KiB at most
 *        costs init                  how long MPI_Init took
 *        costs slots SECONDS WORK_US NAP_US      rounds of a nap, computing and an eligible reduce;
 *                                    per slot of ATTACK_MS of CLOCK_REALTIME the median time of a
 *                                    round, for tests/quality/attack.sh
 *
 * blocks: two runs of it, one with and one without the component, take turns in time slots of
 * SLOT_MS that start at second START_S of CLOCK_REALTIME; the one with FIRST 0 has the even slots,
 * the other the odd ones. Who has no turn sleeps. So both see the same machine, a hundredth of a
 * second apart. nothread: no eligible reduce before, so the component has nothing running. Prints a
 * line a block: its number and a tenth of the median time of ten operations, in ns; a block that
 * ran into the next slot is left out. Last a line "reached": how many calls the component counted.
 */
#include <arpa/inet.h>
#include <mpi.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "tests/mpi/pvar_look.h"

#define NS_PER_S       1000000000LL
#define NS_PER_US      1000LL
#define N_ELEMENTS     8192 /* doubles: 64 KiB, an eligible reduce */
#define N_WARM_UP      50
#define N_TO_SETTLE    2000 /* calls: the thread has had something to do */
#define SLOT_MS        20
#define MAX_OPERATIONS 100000
#define MAX_RANKS      64
#define IN_A_ROW       10 /* operations timed together: clocks may tick in steps of 10 ns */
#define BLOCK_NS       (SLOT_MS * 1000000LL / 4)

static double mine[N_ELEMENTS], sums[N_ELEMENTS];
static int64_t times[MAX_OPERATIONS];
static int rank;

static int64_t now_ns(clockid_t clock)
{
    struct timespec now;
    (void) clock_gettime(clock, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void sleep_until(int64_t real_ns)
{
    const struct timespec until = {.tv_sec = real_ns / NS_PER_S, .tv_nsec = real_ns % NS_PER_S};
    while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL) != 0) {
    }
}

static void compute(int64_t ns)
{
    const int64_t end_ns = now_ns(CLOCK_MONOTONIC) + ns;
    while (now_ns(CLOCK_MONOTONIC) < end_ns) {
    }
}

static void eligible_reduce(void)
{
    MPI_Reduce(mine, sums, N_ELEMENTS, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;
    return (x > y) - (x < y);
}

static double quantile_us(int n, int percent)
{
    const int at = n == 0 ? 0 : (int) ((int64_t) (n - 1) * percent / 100);

    qsort(times, (size_t) n, sizeof *times, ascending);
    return n == 0 ? 0 : (double) times[at] / 1e3;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The figures of all ranks together, of calls that gave a record or of the others. */
static void print_calls(const char *which, const int64_t *own, int n_own, int n_ranks)
{
    int counts[MAX_RANKS], places[MAX_RANKS], n = 0;

    MPI_Gather(&n_own, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < n_ranks; i++) {
        places[i] = n;
        n += counts[i];
    }
    MPI_Gatherv(own, n_own, MPI_INT64_T, times, counts, places, MPI_INT64_T, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("  %-12s %6d, lookup median %.2f us, 90 %% %.2f us\n", which, n, quantile_us(n, 50),
               quantile_us(n, 90));
    }
}

typedef struct account {
    pvar_look_t lookup, wait, sampled;
} account_t;

/* By the component's own account, less what it waited for others. */
static int64_t timed_call(const account_t *account, int *is_sampled_p)
{
    const long long lookup_ns = pvar_look_read(&account->lookup, 0);
    const long long wait_ns = pvar_look_read(&account->wait, 0);
    const long long n_sampled = pvar_look_read(&account->sampled, 0);

    eligible_reduce();
    *is_sampled_p = pvar_look_read(&account->sampled, 0) > n_sampled;
    return pvar_look_read(&account->lookup, 0) - lookup_ns -
           (pvar_look_read(&account->wait, 0) - wait_ns);
}

static int calls(int n_calls, int work_us, int nap_us)
{
    account_t account;
    int64_t *by_kind[2];
    int n_ranks, n[2] = {0, 0};

    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    n_calls = n_calls < MAX_OPERATIONS / n_ranks ? n_calls : MAX_OPERATIONS / n_ranks;
    if (n_ranks > MAX_RANKS || !pvar_look_open(&account.lookup, "coll_clv_lookup_ns") ||
        !pvar_look_open(&account.wait, "coll_clv_exchange_forecast_wait_ns") ||
        !pvar_look_open(&account.sampled, "coll_clv_exchange_sampled")) {
        return 1;
    }
    by_kind[0] = calloc(2 * (size_t) n_calls, sizeof **by_kind);
    if (by_kind[0] == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 1;
    }
    by_kind[1] = by_kind[0] + n_calls;
    for (int call = 0; call < N_WARM_UP + n_calls; call++) {
        int is_sampled;
        if (nap_us > 0) {
            sleep_until(now_ns(CLOCK_REALTIME) + nap_us * NS_PER_US);
        }
        compute(work_us * NS_PER_US);
        const int64_t ns = timed_call(&account, &is_sampled);
        if (call >= N_WARM_UP) {
            by_kind[is_sampled][n[is_sampled]++] = ns;
        }
    }
    if (rank == 0) {
        printf("calls of %d ranks, %d us of sleep and %d us of work before each\n", n_ranks, nap_us,
               work_us);
    }
    print_calls("with record", by_kind[1], n[1], n_ranks);
    print_calls("without", by_kind[0], n[0], n_ranks);
    memmove(by_kind[0] + n[0], by_kind[1], (size_t) n[1] * sizeof **by_kind);
    print_calls("all", by_kind[0], n[0] + n[1], n_ranks);
    free(by_kind[0]);
    return 0;
}

/* ---- idle ------------------------------------------------------------------------------------ */

static int idle(int seconds)
{
    pvar_look_t cpu;
    double percent, worst = 0;

    if (!pvar_look_open(&cpu, "coll_clv_exchange_thread_cpu_ns")) {
        return 1;
    }
    for (int call = 0; call < N_TO_SETTLE; call++) {
        eligible_reduce();
    }
    sleep_until(now_ns(CLOCK_REALTIME) + 5 * NS_PER_S);
    const long long before_ns = pvar_look_read(&cpu, 0);
    const int64_t start_ns = now_ns(CLOCK_MONOTONIC);
    sleep_until(now_ns(CLOCK_REALTIME) + seconds * NS_PER_S);
    percent = 100. * (double) (pvar_look_read(&cpu, 0) - before_ns) /
              (double) (now_ns(CLOCK_MONOTONIC) - start_ns);
    MPI_Reduce(&percent, &worst, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("idle: busiest thread %.4f %% of a core over %d s; it had used %.2f ms before\n",
               worst, seconds, (double) before_ns / 1e6);
    }
    return 0;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static int n_doubles = 1;

static void ping_pong(void)
{
    if (rank == 0) {
        MPI_Send(mine, n_doubles, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(mine, n_doubles, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(mine, n_doubles, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(mine, n_doubles, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    }
}

/* To each of the two in turn: the root of one waits for the other, so nobody runs ahead. */
static void two_reduces(void)
{
    MPI_Reduce(mine, sums, n_doubles, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(mine, sums, n_doubles, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD);
}

static void two_broadcasts(void) /* as above */
{
    MPI_Bcast(mine, n_doubles, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(mine, n_doubles, MPI_DOUBLE, 1, MPI_COMM_WORLD);
}

static void one_allreduce(void)
{
    MPI_Allreduce(mine, sums, n_doubles, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

typedef struct kind {
    const char *name;
    void (*operation)(void);
} kind_t;

/* NULL for a name that is none; the bytes behind its colon become n_doubles. */
static const kind_t *read_kind(const char *text)
{
    static const kind_t kinds[] = {{"pingpong", ping_pong},
                                   {"reduce", two_reduces},
                                   {"allreduce", one_allreduce},
                                   {"bcast", two_broadcasts}};
    const size_t length = strcspn(text, ":");
    const long bytes = text[length] ? strtol(text + length + 1, NULL, 10) : 8;

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strlen(kinds[i].name) == length && strncmp(kinds[i].name, text, length) == 0 &&
            bytes >= 8 && bytes <= (long) sizeof mine) {
            n_doubles = (int) (bytes / 8);
            return &kinds[i];
        }
    }
    return NULL;
}

/* Rank 0 says when it is enough; the others ask after each batch. */
static int run_block(void (*operation)(void))
{
    const int64_t end_ns = now_ns(CLOCK_MONOTONIC) + BLOCK_NS;
    int n = 0, goes_on = 1;

    for (int i = 0; i < 10; i++) {
        operation(); /* both awake, and caches warm */
    }
    while (goes_on) {
        for (int i = 0; i < 20 && n < MAX_OPERATIONS; i++) {
            const int64_t start_ns = now_ns(CLOCK_MONOTONIC);
            for (int k = 0; k < IN_A_ROW; k++) {
                operation();
            }
            times[n++] = now_ns(CLOCK_MONOTONIC) - start_ns;
        }
        goes_on = now_ns(CLOCK_MONOTONIC) < end_ns && n < MAX_OPERATIONS;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    return n;
}

static int blocks(const char *name, int64_t start_s, int first, int n_blocks, int has_thread)
{
    const kind_t *kind = read_kind(name);
    const int64_t slot_ns = SLOT_MS * 1000000LL;
    static double medians[100000];
    char counter[64];
    pvar_look_t reached;

    if (kind == NULL) {
        return 2;
    }
    (void) snprintf(counter, sizeof counter, "coll_clv_%s_calls", kind->name);
    pvar_look_open(&reached, counter);
    for (int call = 0; has_thread && call < N_TO_SETTLE; call++) {
        eligible_reduce(); /* the thread is there */
    }
    for (int block = 0; block < n_blocks; block++) {
        const int64_t begin_ns = start_s * NS_PER_S + (2 * block + first) * slot_ns;
        sleep_until(begin_ns);
        const int in_time = now_ns(CLOCK_REALTIME) < begin_ns + slot_ns / 4;
        const int n = run_block(kind->operation);
        medians[block] = in_time && now_ns(CLOCK_REALTIME) < begin_ns + slot_ns
                             ? 1e3 * quantile_us(n, 50) / IN_A_ROW
                             : -1;
    }
    for (int block = 0; rank == 0 && block < n_blocks; block++) {
        if (medians[block] > 0) {
            printf("block %d %.1f\n", block, medians[block]);
        }
    }
    if (rank == 0) {
        printf("reached %lld\n", pvar_look_read(&reached, 0));
    }
    pvar_look_close(&reached);
    return 0;
}

/* ---- slots ----------------------------------------------------------------------------------- */

#define ATTACK_MS  500    /* as in tests/support/pap_attacker.c */
#define SLOT_CYCLE 300000 /* a multiple of 3, and short enough for every awk to count with */

/* The ports this process listens on. Those of Open MPI are among them, if it has
 * any. */
static void print_ports(void)
{
    for (int fd = 3; fd < 1024; fd++) {
        struct sockaddr_storage address = {0};
        struct sockaddr_in in;
        socklen_t n_bytes = sizeof(int), n_address = sizeof address;
        int accepts = 0;
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &n_bytes) == 0 && accepts &&
            getsockname(fd, (struct sockaddr *) &address, &n_address) == 0 &&
            address.ss_family == AF_INET6) {
            memcpy(&in, &address, sizeof in); /* the port is at the same place in both families */
            printf("port %d\n", ntohs(in.sin_port));
        }
    }
    fflush(stdout);
}

static int64_t one_round(int work_us, int nap_us)
{
    const int64_t start_ns = now_ns(CLOCK_MONOTONIC);
    sleep_until(now_ns(CLOCK_REALTIME) + nap_us * NS_PER_US);
    compute(work_us * NS_PER_US);
    eligible_reduce();
    return now_ns(CLOCK_MONOTONIC) - start_ns;
}

static int slots(int seconds, int work_us, int nap_us)
{
    int goes_on = 1, n = 0, n_wrong = 0, n_ranks;
    int64_t slot = -1;
    const int64_t end_ns = now_ns(CLOCK_MONOTONIC) + seconds * NS_PER_S;
    pvar_look_t rejected;

    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    pvar_look_open(&rejected, "coll_clv_exchange_rejected");
    mine[0] = 1;
    for (int round = 0; goes_on; round++) {
        const int64_t at = now_ns(CLOCK_REALTIME) / (ATTACK_MS * 1000000LL);
        if (rank == 0 && at != slot && n > 5) {
            printf("slot %lld %.1f\n", (long long) (slot % SLOT_CYCLE), quantile_us(n, 50));
        }
        n = at != slot ? 0 : n;
        slot = at;
        times[n++] = one_round(work_us, nap_us);
        n_wrong += rank == 0 && sums[0] != n_ranks;
        goes_on = now_ns(CLOCK_MONOTONIC) < end_ns;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (round == 10) {
            print_ports();
        }
    }
    if (rank == 0) {
        printf("end %d wrong sums, %lld rejected\n", n_wrong, pvar_look_read(&rejected, 0));
    }
    return n_wrong != 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const int64_t before_ns = now_ns(CLOCK_MONOTONIC);
    int status = 2;

    MPI_Init(&argc, &argv);
    const double init_ms = (double) (now_ns(CLOCK_MONOTONIC) - before_ns) / 1e6;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(what, "calls") == 0 && argc > 3) {
        status = calls(atoi(argv[2]), atoi(argv[3]), argc > 4 ? atoi(argv[4]) : 0);
    } else if (strcmp(what, "idle") == 0 && argc > 2) {
        status = idle(atoi(argv[2]));
    } else if (strcmp(what, "blocks") == 0 && argc > 5) {
        status = blocks(argv[2], atoll(argv[3]), atoi(argv[4]), atoi(argv[5]), argc == 6);
    } else if (strcmp(what, "slots") == 0 && argc > 4) {
        status = slots(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
    } else if (strcmp(what, "init") == 0) {
        double slowest = init_ms;
        MPI_Reduce(&init_ms, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0) {
            printf("init %.2f\n", slowest);
        }
        status = 0;
    }
    if (status == 2 && rank == 0) {
        fprintf(
            stderr,
            "usage: costs calls N WORK_US [NAP_US] | idle SECONDS | init |\n"
            "             slots SECONDS WORK_US NAP_US |\n"
            "             blocks pingpong|reduce|allreduce|bcast[:BYTES] START_S FIRST N_BLOCKS\n"
            "                    [nothread]\n");
    }
    MPI_Finalize();
    return status;
}
