/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arrival traces: reading, writing, and making them from a seed; see trace.h.
 */
#include "trace/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/util_alloc.h"
#include "util/util_time.h"

#define MS           CLV_NS_PER_MS
#define MAX_TRACE_NS (INT64_C(1) << 60)
#define MAX_LINE     (1 << 22)

/* ---- memory ------------------------------------------------------------------------------------
 */

void clv_trace_clear(clv_trace_t *trace)
{
    clv_free(trace->number);
    clv_free(trace->arrival_ns);
    clv_free(trace->exit_ns);
    *trace = (clv_trace_t){0};
}

static clv_status_t reserve(clv_trace_t *trace, int32_t max_calls)
{
    clv_trace_t larger = *trace;
    size_t n_cells = (size_t) max_calls * (size_t) trace->n_ranks;
    larger.max_calls = max_calls;
    larger.number = clv_alloc((size_t) max_calls, sizeof *larger.number);
    larger.arrival_ns = clv_alloc(n_cells, sizeof *larger.arrival_ns);
    larger.exit_ns = clv_alloc(n_cells, sizeof *larger.exit_ns);
    if (larger.number == NULL || larger.arrival_ns == NULL || larger.exit_ns == NULL) {
        clv_trace_clear(&larger);
        return CLV_NO_MEMORY;
    }
    if (trace->n_calls > 0) {
        n_cells = (size_t) trace->n_calls * (size_t) trace->n_ranks;
        memcpy(larger.number, trace->number, (size_t) trace->n_calls * sizeof *larger.number);
        memcpy(larger.arrival_ns, trace->arrival_ns, n_cells * sizeof *larger.arrival_ns);
        memcpy(larger.exit_ns, trace->exit_ns, n_cells * sizeof *larger.exit_ns);
    }
    clv_trace_clear(trace);
    *trace = larger;
    return CLV_OK;
}

/* ---- reading
 * ------------------------------------------------------------------------------------- */

static const char *get_number(const char **text, int64_t *number_p)
{
    char *end;
    errno = 0;
    long long number = strtoll(*text, &end, 10);
    if (end == *text) {
        return "a number is missing";
    }
    if (errno != 0 || number > MAX_TRACE_NS || number < -MAX_TRACE_NS) {
        return "a number is out of range";
    }
    *text = end;
    *number_p = number;
    return NULL;
}

static int skip_word(const char **text, const char *word)
{
    const char *at = *text + strspn(*text, " \t");
    if (strncmp(at, word, strlen(word)) != 0) {
        return 0;
    }
    *text = at + strlen(word);
    return 1;
}

static const char *get_times(const char **text, int32_t n_ranks, int64_t *times_ns)
{
    if (!skip_word(text, "|")) {
        return "expected |";
    }
    for (int32_t rank = 0; rank < n_ranks; rank++) {
        const char *problem = get_number(text, &times_ns[rank]);
        if (problem != NULL) {
            return problem;
        }
    }
    return NULL;
}

static const char *get_call(const char *text, clv_trace_t *trace)
{
    size_t row = (size_t) trace->n_calls * (size_t) trace->n_ranks;
    int64_t before = trace->n_calls == 0 ? -1 : trace->number[trace->n_calls - 1];
    const char *problem = get_number(&text, &trace->number[trace->n_calls]);
    if (problem == NULL && trace->number[trace->n_calls] <= before) {
        problem = "call numbers must ascend";
    }
    if (problem == NULL) {
        problem = get_times(&text, trace->n_ranks, trace->arrival_ns + row);
    }
    if (problem == NULL) {
        problem = get_times(&text, trace->n_ranks, trace->exit_ns + row);
    }
    for (int32_t rank = 0; problem == NULL && rank < trace->n_ranks; rank++) {
        problem = trace->exit_ns[row + (size_t) rank] < trace->arrival_ns[row + (size_t) rank]
                      ? "a rank leaves before it arrives"
                      : NULL;
    }
    if (problem == NULL && text[strspn(text, " \t\r\n")] != '\0') {
        problem = "more numbers than ranks";
    }
    trace->n_calls += problem == NULL;
    return problem;
}

static const char *get_ranks(const char *text, clv_trace_t *trace)
{
    int64_t n_ranks = 0;
    const char *problem = get_number(&text, &n_ranks);
    if (problem == NULL && (n_ranks < 1 || n_ranks > CLV_TRACE_MAX_RANKS)) {
        problem = "the number of ranks is out of range";
    }
    if (problem == NULL) {
        trace->n_ranks = (int32_t) n_ranks;
    }
    return problem;
}

static const char *get_line(const char *text, clv_trace_t *trace, int *header_p,
                            clv_status_t *status_p)
{
    if (text[strspn(text, " \t\r\n")] == '\0' || text[0] == '#') {
        return NULL;
    }
    if (!*header_p) {
        *header_p = 1;
        return skip_word(&text, "clv-trace 1") ? NULL : "expected \"clv-trace 1\"";
    }
    if (trace->n_ranks == 0) {
        return skip_word(&text, "ranks ") ? get_ranks(text, trace) : "expected \"ranks N\"";
    }
    if (!skip_word(&text, "call ")) {
        return "expected \"call\"";
    }
    if (trace->n_calls == trace->max_calls) {
        if (trace->n_calls >= CLV_TRACE_MAX_CALLS) {
            return "too many calls";
        }
        *status_p = reserve(trace, trace->max_calls == 0 ? 64 : 2 * trace->max_calls);
    }
    return *status_p == CLV_OK ? get_call(text, trace) : NULL;
}

clv_status_t clv_trace_read(FILE *file, clv_trace_t *trace, int *line_p, const char **reason_p)
{
    clv_trace_t read = {0};
    char *text = NULL;
    size_t room = 0;
    int header = 0;
    clv_status_t status = CLV_OK;
    *reason_p = NULL;
    for (*line_p = 1; status == CLV_OK && *reason_p == NULL; (*line_p)++) {
        ssize_t length = getline(&text, &room, file);
        if (length < 0) {
            *reason_p = read.n_calls == 0 ? "no calls" : NULL;
            break;
        }
        *reason_p = length > MAX_LINE ? "line too long" : get_line(text, &read, &header, &status);
        if (*reason_p != NULL) {
            break;
        }
    }
    free(text); /* getline's own */
    if (*reason_p != NULL) {
        status = CLV_PROTOCOL;
    }
    if (status != CLV_OK) {
        clv_trace_clear(&read);
        return status;
    }
    *trace = read;
    return CLV_OK;
}

/* ---- writing
 * ------------------------------------------------------------------------------------- */

static void put_times(FILE *file, const int64_t *times_ns, int32_t n_ranks)
{
    fprintf(file, " |");
    for (int32_t rank = 0; rank < n_ranks; rank++) {
        fprintf(file, " %lld", (long long) times_ns[rank]);
    }
}

void clv_trace_write(FILE *file, const clv_trace_t *trace)
{
    fprintf(file, "clv-trace 1\nranks %d\n", trace->n_ranks);
    for (int32_t call = 0; call < trace->n_calls; call++) {
        size_t row = (size_t) call * (size_t) trace->n_ranks;
        fprintf(file, "call %lld", (long long) trace->number[call]);
        put_times(file, trace->arrival_ns + row, trace->n_ranks);
        put_times(file, trace->exit_ns + row, trace->n_ranks);
        fputc('\n', file);
    }
}

/* ---- making: integers only, so that a seed gives the same trace on every machine
 * ----------------- */

#define DELAY_NS  (50 * MS) /* the largest usual lateness */
#define JITTER_NS (MS / 2)
#define MPI_NS    (2 * MS) /* an early rank's own part */
#define AFTER_NS  (5 * MS) /* last arrival to the root's exit */
#define PAUSE_NS  (3 * MS) /* computing that all do alike */

typedef enum shape {
    BALANCED,
    UNIFORM,
    REPEATED,
    ONE_LATE,
    HALF_LATE,
    EXPONENTIAL,
    ROOT_LATE,
    CHANGING,
    PERIODIC,
    DISTURBED,
    DRIFTING,
    HELD
} shape_t;

const clv_trace_made_t clv_trace_made[] = {
    [BALANCED] = {"balanced", "all at once, with jitter"},
    [UNIFORM] = {"uniform", "uniformly late, drawn afresh each call"},
    [REPEATED] = {"repeated", "the same uniform lateness each call, with jitter"},
    [ONE_LATE] = {"one-late", "always the same rank"},
    [HALF_LATE] = {"half-late", "always the same half of the ranks"},
    [EXPONENTIAL] = {"exponential", "exponentially late, drawn afresh each call"},
    [ROOT_LATE] = {"root-late", "always rank 0"},
    [CHANGING] = {"changing", "repeated, but another lateness from the middle on"},
    [PERIODIC] = {"periodic", "three latenesses in turn"},
    [DISTURBED] = {"disturbed", "repeated, and one call in ten a rank is held up by the system"},
    [DRIFTING] = {"drifting", "uneven work and nothing that holds early ranks back"},
    [HELD] = {"held", "uneven work that varies, all held until the last has arrived"},
    {NULL, NULL},
};

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int64_t below(uint64_t *state, int64_t end)
{
    return (int64_t) (next_random(state) % (uint64_t) end);
}

/* About -ln(u) * mean: halvings of u counted, with a straight line between them. */
static int64_t exponential(uint64_t *state, int64_t mean_ns)
{
    int64_t ns = 0;
    while (next_random(state) % 2 == 0 && ns < 16 * mean_ns) {
        ns += mean_ns * 693 / 1000;
    }
    return ns + below(state, mean_ns * 693 / 1000);
}

/* A rank's usual lateness: a function of the seed and rank, the same each call. */
static int64_t usual(uint64_t seed, int32_t rank, int64_t variant)
{
    uint64_t state = seed + (uint64_t) rank * 7919 + (uint64_t) variant * 104729;
    return below(&state, DELAY_NS);
}

static int64_t lateness(shape_t shape, uint64_t seed, uint64_t *state, int32_t n_ranks,
                        int32_t n_calls, int32_t call, int32_t rank)
{
    switch (shape) {
    case BALANCED:
        return 0;
    case UNIFORM:
        return below(state, DELAY_NS);
    case ONE_LATE:
        return rank == n_ranks / 3 ? DELAY_NS : 0;
    case HALF_LATE:
        return rank % 2 != 0 ? DELAY_NS : 0;
    case EXPONENTIAL:
        return exponential(state, DELAY_NS / 4);
    case ROOT_LATE:
        return rank == 0 ? DELAY_NS : 0;
    case CHANGING:
        return usual(seed, rank, call >= n_calls / 2);
    case PERIODIC:
        return usual(seed, rank, call % 3);
    case DISTURBED:
        return usual(seed, rank, 0) + (below(state, 10 * n_ranks) == 0 ? DELAY_NS : 0);
    case DRIFTING:
        return usual(seed, rank, 0) / 50;
    case HELD:
        return usual(seed, rank, 0) / 2 + below(state, DELAY_NS / 10);
    case REPEATED:
        break;
    }
    return usual(seed, rank, 0);
}

/* From where a rank's computing for this call counts. */
static int64_t begin_ns(shape_t shape, const clv_trace_t *trace, int32_t call, int32_t rank)
{
    if (call == 0) {
        return 0;
    }
    const int64_t *exit_ns = trace->exit_ns + (size_t) (call - 1) * (size_t) trace->n_ranks;
    if (shape == DRIFTING || shape == HELD) {
        return exit_ns[rank];
    }
    int64_t last_ns = 0; /* the program has a barrier before the next call */
    for (int32_t other = 0; other < trace->n_ranks; other++) {
        last_ns = exit_ns[other] > last_ns ? exit_ns[other] : last_ns;
    }
    return last_ns;
}

static void make_exits(shape_t shape, clv_trace_t *trace, int32_t call, uint64_t *state)
{
    size_t row = (size_t) call * (size_t) trace->n_ranks;
    const int64_t *arrival_ns = trace->arrival_ns + row;
    int64_t last_ns = 0;
    for (int32_t rank = 0; rank < trace->n_ranks; rank++) {
        last_ns = arrival_ns[rank] > last_ns ? arrival_ns[rank] : last_ns;
    }
    for (int32_t rank = 0; rank < trace->n_ranks; rank++) {
        int held = shape == HELD || (rank == 0 && shape != DRIFTING);
        int64_t exit_ns = held ? last_ns + AFTER_NS : arrival_ns[rank] + MPI_NS;
        trace->exit_ns[row + (size_t) rank] = exit_ns + below(state, JITTER_NS);
    }
}

static int find_shape(const char *pattern)
{
    int shape = 0;
    while (clv_trace_made[shape].name != NULL && strcmp(clv_trace_made[shape].name, pattern) != 0) {
        shape++;
    }
    return shape;
}

clv_status_t clv_trace_make(const char *pattern, int32_t n_ranks, int32_t n_calls, uint64_t seed,
                        clv_trace_t *trace)
{
    int shape = find_shape(pattern);
    clv_trace_t made = {.n_ranks = n_ranks};
    uint64_t state = seed;
    if (clv_trace_made[shape].name == NULL || n_ranks < 1 || n_ranks > CLV_TRACE_MAX_RANKS ||
        n_calls < 1 || n_calls > CLV_TRACE_MAX_CALLS) {
        return CLV_INVALID;
    }
    clv_status_t status = reserve(&made, n_calls);
    if (status != CLV_OK) {
        return status;
    }
    for (int32_t call = 0; call < n_calls; call++) {
        size_t row = (size_t) call * (size_t) n_ranks;
        for (int32_t rank = 0; rank < n_ranks; rank++) {
            made.arrival_ns[row + (size_t) rank] =
                begin_ns((shape_t) shape, &made, call, rank) + PAUSE_NS + below(&state, JITTER_NS) +
                lateness((shape_t) shape, seed, &state, n_ranks, n_calls, call, rank);
        }
        made.number[call] = call;
        make_exits((shape_t) shape, &made, call, &state);
        made.n_calls++;
    }
    *trace = made;
    return CLV_OK;
}
