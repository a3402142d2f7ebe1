/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The recorder's clocks. For tests CLOCK_MONOTONIC and CLOCK_BOOTTIME of a host may be made to
 * drift and wander: MPI, the component and the trace then all see the same wrong clock, and timers
 * follow it. The distortion is a function of the true time, so all ranks of a host have one
 * clock.
 */
#include "tests/support/otf2_recorder.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define N_PINGS    30
#define MOST_TIMES 4096
#define NS_PER_S   INT64_C(1000000000)
#define TAG_PING   31001
#define TAG_PONG   31002

typedef int (*clock_function_t)(clockid_t clock, struct timespec *time);
typedef int (*timer_function_t)(int fd, int flags, const struct itimerspec *when,
                                struct itimerspec *old);

/* Depends on the host's number, at the end of its name. */
static struct {
    int is_read;
    double drift, wander_ns, period_ns, phase;
    int64_t epoch_ns;
} wrong;

double recorder_number(const char *name, double otherwise)
{
    const char *text = getenv(name);
    return text ? strtod(text, NULL) : otherwise;
}

/* The standard's own conversion of an object pointer to a function pointer. */
static void find_true(void **function, const char *name)
{
    if (!*function) {
        *function = dlsym(RTLD_NEXT, name);
    }
}

static int64_t true_time(clockid_t clock)
{
    static clock_function_t function;
    struct timespec now;
    find_true((void **) &function, "clock_gettime");
    function(clock, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void read_wrong(void)
{
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    int number = 0;
    for (const char *c = host; *c; c++) {
        number = *c >= '0' && *c <= '9' ? (number * 10 + (*c - '0')) % 1000 : number;
    }
    wrong.epoch_ns = (int64_t) recorder_number("CLV_OTF2_EPOCH_S", 0) * NS_PER_S;
    wrong.drift = recorder_number("CLV_OTF2_DRIFT_PPM", 0) * 1e-6 * (number % 2 ? -1 : 1) *
                  (1 + number % 5) / 5.0;
    wrong.wander_ns = recorder_number("CLV_OTF2_WANDER_US", 0) * 1e3;
    wrong.period_ns = recorder_number("CLV_OTF2_PERIOD_S", 50) * 1e9 * (1 + 0.13 * (number % 7));
    wrong.phase = 0.9 * number;
    wrong.is_read = 1;
}

/* CLOCK_REALTIME - CLOCK_MONOTONIC, constant: measured with the two readings as close as possible.
 * With it, one reading gives a stamp and its truth; between two readings, a process may lose its
 * core for milliseconds. */
#define N_TRIES 1000

static int64_t read_constant(void)
{
    int64_t constant = 0, least = INT64_MAX;
    for (int i = 0; i < N_TRIES; i++) {
        const int64_t before = true_time(CLOCK_MONOTONIC);
        const int64_t real = true_time(CLOCK_REALTIME);
        const int64_t took = true_time(CLOCK_MONOTONIC) - before;
        if (took < least) {
            least = took;
            constant = real - before - took / 2;
        }
    }
    return constant;
}

static int64_t truth_of(int64_t monotonic_ns)
{
    static int64_t constant;
    if (constant == 0) {
        constant = read_constant();
    }
    return monotonic_ns + constant;
}

/* How far the host's clock is ahead of the true reading, monotonic_ns. */
static int64_t distortion(int64_t monotonic_ns)
{
    if (!wrong.is_read) {
        read_wrong();
    }
    if (wrong.drift == 0 && wrong.wander_ns == 0) {
        return 0;
    }
    const double passed = (double) (truth_of(monotonic_ns) - wrong.epoch_ns);
    return (int64_t) (wrong.drift * passed +
                      wrong.wander_ns * sin(2 * M_PI * passed / wrong.period_ns + wrong.phase));
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    int64_t now = true_time(clock);
    if (clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME) {
        now += distortion(true_time(CLOCK_MONOTONIC));
    }
    *time = (struct timespec){.tv_sec = now / NS_PER_S, .tv_nsec = now % NS_PER_S};
    return 0;
}

int timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *old)
{
    static timer_function_t function;
    struct itimerspec truth = *when;
    const int64_t ns = when->it_value.tv_sec * NS_PER_S + when->it_value.tv_nsec;
    find_true((void **) &function, "timerfd_settime");
    if ((flags & TFD_TIMER_ABSTIME) && ns != 0) {
        const int64_t ahead = distortion(true_time(CLOCK_MONOTONIC));
        const int64_t own = ns - ahead > 0 ? ns - ahead : 1;
        truth.it_value = (struct timespec){.tv_sec = own / NS_PER_S, .tv_nsec = own % NS_PER_S};
    }
    return function(fd, flags, &truth, old);
}

uint64_t recorder_now_and_truth(int64_t *truth_ns)
{
    const int64_t now = true_time(CLOCK_MONOTONIC);
    *truth_ns = truth_of(now) - wrong.epoch_ns;
    return (uint64_t) (now + distortion(now));
}

uint64_t recorder_now(void)
{
    int64_t unused;
    return recorder_now_and_truth(&unused);
}

/* ---- offsets to rank 0, as any tracing library measures them ---- */

static struct {
    int rank, n_ranks, n;
    struct {
        uint64_t time;
        int64_t offset;
        double deviation;
    } list[MOST_TIMES];
} offsets;

static void answer_pings(int peer)
{
    for (int k = 0; k < N_PINGS; k++) {
        uint64_t now;
        PMPI_Recv(&now, 1, MPI_UINT64_T, peer, TAG_PING, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        now = recorder_now();
        PMPI_Send(&now, 1, MPI_UINT64_T, peer, TAG_PONG, MPI_COMM_WORLD);
    }
}

/* Uses the ping with the shortest round trip. */
static void ping(void)
{
    uint64_t least = UINT64_MAX;
    for (int k = 0; k < N_PINGS; k++) {
        const uint64_t begin = recorder_now();
        uint64_t theirs = 0;
        PMPI_Send(&begin, 1, MPI_UINT64_T, 0, TAG_PING, MPI_COMM_WORLD);
        PMPI_Recv(&theirs, 1, MPI_UINT64_T, 0, TAG_PONG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const uint64_t trip = recorder_now() - begin;
        if (trip < least) {
            least = trip;
            offsets.list[offsets.n].time = begin + trip / 2;
            offsets.list[offsets.n].offset = (int64_t) (theirs - begin - trip / 2);
            offsets.list[offsets.n].deviation = (double) trip / 6; /* a half is three of them */
        }
    }
}

void recorder_measure_offsets(void)
{
    if (offsets.n == MOST_TIMES) {
        return;
    }
    for (int peer = 1; peer < offsets.n_ranks; peer++) {
        if (offsets.rank == 0) {
            answer_pings(peer);
        } else if (offsets.rank == peer) {
            ping();
        }
    }
    if (offsets.rank == 0) {
        offsets.list[offsets.n].time = recorder_now();
        offsets.list[offsets.n].offset = 0;
        offsets.list[offsets.n].deviation = 0;
    }
    offsets.n++;
    PMPI_Barrier(MPI_COMM_WORLD);
}

void recorder_write_offsets(OTF2_DefWriter *writer)
{
    for (int i = 0; i < offsets.n; i++) {
        OTF2_DefWriter_WriteClockOffset(writer, offsets.list[i].time, offsets.list[i].offset,
                                        offsets.list[i].deviation);
    }
}

/* ---- the component's data: its performance variables, sampled ---- */

static struct {
    FILE *file;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle offset, bound;
    uint64_t next_ns;
} sampling;

static int open_variable(const char *name, MPI_T_pvar_handle *handle)
{
    int index, count;
    return MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_GENERIC, &index) == MPI_SUCCESS &&
           MPI_T_pvar_handle_alloc(sampling.session, index, NULL, handle, &count) == MPI_SUCCESS;
}

void recorder_boot_id(char *text, size_t n_bytes)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    text[0] = '\0';
    if (file) {
        if (!fgets(text, (int) n_bytes, file)) {
            text[0] = '\0';
        }
        text[strcspn(text, "\n")] = '\0';
        fclose(file);
    }
}

void recorder_time_namespace(char *text, size_t n_bytes)
{
    const ssize_t n = readlink("/proc/self/ns/time", text, n_bytes - 1);
    text[n > 0 ? n : 0] = '\0';
}

/* The component synchronises clocks only for communicators with a reduction. */
static void wake_component(void)
{
    static char in[65536], out[65536];
    PMPI_Reduce(in, out, (int) sizeof in, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD);
}

/* One rank of each host writes, if CLV_OTF2_CLOCKS names a prefix for the files. */
void recorder_clock_open(int rank, int n_ranks)
{
    const char *prefix = getenv("CLV_OTF2_CLOCKS");
    char path[4096], host[64] = "", boot[64], space[64];
    int level, provided;
    MPI_Comm here;
    int number;
    offsets.rank = rank;
    offsets.n_ranks = n_ranks;
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &here);
    PMPI_Comm_rank(here, &number);
    PMPI_Comm_free(&here);
    if (prefix) {
        wake_component();
    }
    PMPI_Query_thread(&level);
    if (!prefix || number != 0 || MPI_T_init_thread(level, &provided) != MPI_SUCCESS ||
        MPI_T_pvar_session_create(&sampling.session) != MPI_SUCCESS ||
        !open_variable("coll_clv_exchange_clock_offset_ns", &sampling.offset) ||
        !open_variable("coll_clv_exchange_clock_error_ns", &sampling.bound)) {
        return;
    }
    gethostname(host, sizeof host - 1);
    recorder_boot_id(boot, sizeof boot);
    recorder_time_namespace(space, sizeof space);
    snprintf(path, sizeof path, "%s.%s.jsonl", prefix, host);
    sampling.file = fopen(path, "w");
    if (sampling.file) {
        fprintf(sampling.file,
                "{\"clv_clock\":1,\"host\":\"%s\",\"boot_id\":\"%s\",\"time_namespace\":\"%s\","
                "\"clock\":\"monotonic\"}\n",
                host, boot, space);
    }
}

static int64_t read_variable(MPI_T_pvar_handle handle)
{
    long long value = 0;
    return MPI_T_pvar_read(sampling.session, handle, &value) == MPI_SUCCESS ? value : 0;
}

/* The component's offset is global - local; ours, as in all of clv, is local - global. */
void recorder_sample_clock(void)
{
    if (!sampling.file || recorder_now() < sampling.next_ns) {
        return;
    }
    const uint64_t before = recorder_now();
    const int64_t offset = -read_variable(sampling.offset);
    const uint64_t after = recorder_now();
    const int64_t bound = read_variable(sampling.bound);
    if (bound >= 0 && after - before < 20000) { /* else the process was interrupted */
        fprintf(sampling.file, "{\"local_ns\":%llu,\"offset_ns\":%lld,\"bound_ns\":%lld}\n",
                (unsigned long long) (before + (after - before) / 2), (long long) offset,
                (long long) (bound > 0 ? bound : 1));
        sampling.next_ns = after + NS_PER_S / 10;
    }
}

void recorder_clock_close(void)
{
    if (sampling.file) {
        fclose(sampling.file);
        sampling.file = NULL;
    }
}
