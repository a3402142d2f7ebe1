/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct-mpi: start and end, values combined from all processes, and failures, which stop
 * all.
 */
#include <limits.h>
#include <otf2/OTF2_Pthread_Locks.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "apps/tools/replay/replay.h"
#include "util/util_alloc.h"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wshadow"
#include <otf2/OTF2_MPI_Collectives.h>
#pragma GCC diagnostic pop

#define PAUSE_NS 50000
/* Most items of one MPI call. */
#define MOST_ITEMS ((size_t) 1 << 20)

replay_t replay;

void correct_crew_begin(int *argc, char ***argv)
{
    int provided;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_dup(MPI_COMM_WORLD, &replay.values);
    MPI_Comm_dup(MPI_COMM_WORLD, &replay.stamps);
    MPI_Comm_rank(replay.values, &replay.rank);
    MPI_Comm_size(replay.values, &replay.size);
    replay.words = dup(STDERR_FILENO);
    if (replay.rank > 0 &&
        (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))) {
        replay_give_up("cannot open /dev/null");
    }
}

void replay_pause(int *n_looks)
{
    if ((*n_looks)++ < REPLAY_LOOKS) {
        (void) sched_yield();
    } else {
        const struct timespec pause = {.tv_nsec = PAUSE_NS};
        (void) nanosleep(&pause, NULL);
    }
}

/* Pauses between tests: MPI's own wait would spin on a processor that the awaited process may
 * need. A test before a pause is MPI_Testall, which tests/quality/replay.sh turns into a wait where
 * it simulates. */
static void await_all(void)
{
    MPI_Request all;
    int has_come, n_looks = 0;
    MPI_Ibarrier(replay.values, &all);
    MPI_Testall(1, &all, &has_come, MPI_STATUSES_IGNORE);
    while (!has_come) {
        replay_pause(&n_looks);
        MPI_Testall(1, &all, &has_come, MPI_STATUSES_IGNORE);
    }
}

void replay_give_up(const char *why)
{
    dprintf(replay.words, "clv-correct: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, CORRECT_EXIT_MACHINE);
    abort();
}

/* mpirun kills the others once one process ends with an error status, so only the first returns it,
 * last of all. */
int correct_crew_exit(int status)
{
    return replay.rank == 0 ? status : 0;
}

int correct_crew_status(int status)
{
    int all;
    MPI_Allreduce(&status, &all, 1, MPI_INT, MPI_MAX, replay.values);
    if (all > 0 && status <= 0 && replay.rank == 0) {
        fputs("clv-correct: another process cannot begin: are the files the same there?\n", stderr);
    }
    return all;
}

void correct_crew_end(correct_t *correct)
{
    replay_close_packets();
    if (replay.parts) {
        correct->trace.teams = replay.home.teams;
    }
    replay_free_homes();
    MPI_Comm_free(&replay.stamps);
    MPI_Comm_free(&replay.values);
    MPI_Finalize();
}

bool correct_crew_is_first(void)
{
    return replay.rank == 0;
}

/* Distributes the failure of the lowest rank that failed. */
bool correct_crew_agree(bool is_good)
{
    char line[512] = "";
    int status = is_good ? 0 : correct_failed(), first;
    const int own = is_good ? INT_MAX : replay.rank;
    await_all();
    MPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, replay.values);
    if (first == INT_MAX) {
        return true;
    }
    if (replay.rank == first) {
        snprintf(line, sizeof line, "%s", correct_failure());
    }
    MPI_Bcast(&status, 1, MPI_INT, first, replay.values);
    MPI_Bcast(line, (int) sizeof line, MPI_CHAR, first, replay.values);
    return correct_fail_as(status ? status : CORRECT_EXIT_MACHINE, line);
}

/* ---- values ---- */

static void take_lesser(void *in, void *inout, int *n, MPI_Datatype *type)
{
    const clv_clc_delay_t *others = in;
    clv_clc_delay_t *cells = inout;
    (void) type;
    for (int i = 0; i < *n; i++) {
        clv_clc_refine_lesser(&cells[i], others[i]);
    }
}

static void reduce(char *values, size_t n, size_t item_bytes, MPI_Datatype type, MPI_Op op)
{
    await_all();
    for (size_t at = 0; at < n; at += MOST_ITEMS) {
        const size_t most = n - at < MOST_ITEMS ? n - at : MOST_ITEMS;
        MPI_Allreduce(MPI_IN_PLACE, values + at * item_bytes, (int) most, type, op, replay.values);
    }
}

static void reduce_delays(char *values, size_t n)
{
    MPI_Datatype cell;
    MPI_Op lesser;
    MPI_Type_contiguous((int) sizeof(clv_clc_delay_t), MPI_BYTE, &cell);
    MPI_Type_commit(&cell);
    MPI_Op_create(take_lesser, 1, &lesser);
    reduce(values, n, sizeof(clv_clc_delay_t), cell, lesser);
    MPI_Op_free(&lesser);
    MPI_Type_free(&cell);
}

void correct_crew_reduce(void *values, size_t n, correct_reduce_t how)
{
    if (how == CORRECT_LEAST_DELAY) {
        reduce_delays(values, n);
    } else {
        const bool is_real = how == CORRECT_SUM_REAL || how == CORRECT_GREATEST_REAL;
        const bool is_sum = how == CORRECT_SUM || how == CORRECT_SUM_REAL;
        reduce(values, n, 8, is_real ? MPI_DOUBLE : MPI_INT64_T,
               is_sum                 ? MPI_SUM
               : how == CORRECT_LEAST ? MPI_MIN
                                      : MPI_MAX);
    }
}

void correct_crew_tell(void *bytes, size_t n_bytes)
{
    MPI_Bcast(bytes, (int) n_bytes, MPI_BYTE, 0, replay.values);
}

/* The first process receives them by rank, in pieces that MPI can count. */
static void pass_items(char *items, size_t n_bytes, int rank)
{
    for (size_t at = 0; at < n_bytes; at += MOST_ITEMS) {
        const int n = (int) (n_bytes - at < MOST_ITEMS ? n_bytes - at : MOST_ITEMS);
        if (replay.rank == 0) {
            MPI_Recv(items + at, n, MPI_BYTE, rank, 2, replay.values, MPI_STATUS_IGNORE);
        } else {
            MPI_Send(items + at, n, MPI_BYTE, 0, 2, replay.values);
        }
    }
}

bool correct_crew_collect(void **items, size_t *n_items, size_t item_bytes)
{
    int64_t own = (int64_t) *n_items, sum = own;
    int64_t *n = clv_alloc((size_t) replay.size, sizeof *n);
    correct_crew_sum(&sum, 1);
    char *all = replay.rank == 0 ? clv_alloc((size_t) sum + 1, item_bytes) : NULL;
    const bool has_memory = n && (all || replay.rank > 0);
    if (!correct_crew_has(has_memory, "a report")) {
        clv_free(all);
        clv_free(n);
        return false;
    }
    MPI_Gather(&own, 1, MPI_INT64_T, n, 1, MPI_INT64_T, 0, replay.values);
    if (all) {
        size_t at = *n_items * item_bytes;
        memcpy(all, *items, at);
        for (int r = 1; r < replay.size; r++) {
            pass_items(all + at, (size_t) n[r] * item_bytes, r);
            at += (size_t) n[r] * item_bytes;
        }
        clv_free(*items);
        *items = all;
    } else {
        pass_items(*items, (size_t) own * item_bytes, 0);
    }
    *n_items = replay.rank == 0 ? (size_t) sum : 0;
    clv_free(n);
    return true;
}

/* ---- clock offsets, and writing ---- */

/* Allocates the offsets of locations that are elsewhere; numbers are of all locations. */
static bool get_offsets(correct_t *correct, const int64_t *numbers)
{
    for (uint32_t i = 0; i < correct->archive.n_locations; i++) {
        correct_location_t *location = &correct->archive.locations[i];
        location->n_offsets = numbers[i];
        if (location->is_away && numbers[i] > 0) {
            location->offsets = clv_alloc((size_t) numbers[i], sizeof *location->offsets);
            if (!location->offsets) {
                return false;
            }
        }
    }
    return true;
}

/* Offsets of all locations in turn, to `all` or from there. */
static void copy_offsets(correct_t *correct, char *all, bool is_to)
{
    for (uint32_t i = 0; i < correct->archive.n_locations; i++) {
        const correct_location_t *location = &correct->archive.locations[i];
        const size_t n_bytes = (size_t) location->n_offsets * sizeof *location->offsets;
        if (n_bytes > 0 && is_to && !location->is_away) {
            memcpy(all, location->offsets, n_bytes);
        } else if (n_bytes > 0 && !is_to && location->is_away) {
            memcpy(location->offsets, all, n_bytes);
        }
        all += n_bytes;
    }
}

/* One sum, to which each process adds its own locations' words. */
static bool sum_offsets(correct_t *correct, size_t n)
{
    enum { WORDS = sizeof(clv_clc_point_t) / sizeof(int64_t) };
    _Static_assert(sizeof(clv_clc_point_t) % sizeof(int64_t) == 0, "points are of whole words");
    int64_t *all = clv_alloc(n + 1, sizeof(clv_clc_point_t));
    if (!correct_crew_has(all != NULL, "clock offsets")) {
        clv_free(all);
        return false;
    }
    copy_offsets(correct, (char *) all, true);
    correct_crew_sum(all, n * WORDS);
    copy_offsets(correct, (char *) all, false);
    clv_free(all);
    return true;
}

bool correct_crew_share_offsets(correct_t *correct)
{
    const uint32_t n = correct->archive.n_locations;
    int64_t *numbers = clv_alloc(n, sizeof *numbers);
    int64_t n_offsets = 0;
    bool is_good = correct_crew_has(numbers != NULL, "clock offsets");
    for (uint32_t i = 0; i < n && is_good; i++) {
        numbers[i] = correct->archive.locations[i].n_offsets;
    }
    if (is_good) {
        correct_crew_sum(numbers, n);
        is_good = correct_crew_has(get_offsets(correct, numbers), "clock offsets");
    }
    for (uint32_t i = 0; i < n && is_good; i++) {
        n_offsets += numbers[i];
    }
    clv_free(numbers);
    return is_good && sum_offsets(correct, (size_t) n_offsets);
}

OTF2_ErrorCode correct_crew_write(OTF2_Archive *archive)
{
    return OTF2_MPI_Archive_SetCollectiveCallbacks(archive, replay.values, MPI_COMM_NULL);
}
