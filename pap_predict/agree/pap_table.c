/* SPDX-License-Identifier: BSD-3-Clause
 * See pap_table.h. Sizes are in bytes; the layout is computed alike by every process.
 */
#include "pap_predict/agree/pap_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/util_alloc.h"
#include "util/util_hot.h"
#include "util/util_limit.h"

#define TABLE_MAGIC UINT64_C(0x31656c6261747663) /* "cvtable1" */
#define LINE        CLV_LINE_BYTES
#define MAX_BYTES   ((size_t) 1 << 40) /* of address space; far above any real group */
#define CLOCK_WORDS 6                  /* five of the model, and whether it is set */

/* No end yet; an end that all hosts know; an end that this host had to guess. */
enum { END_NONE, END_CERTAIN, END_UNSURE };

/* The first pages. Every part that another process writes has a cache line of its own. */
typedef struct table_head {
    uint64_t magic;
    uint64_t token;
    uint64_t n_bytes;
    _Alignas(LINE) _Atomic uint32_t end; /* END_... */
    _Atomic uint32_t broken;             /* 1: a call has failed */
    int64_t n_versions[CLV_PAP_MAX_STREAMS];
    _Alignas(LINE) _Atomic uint32_t clock_sequence;
    _Atomic uint64_t clock_words[CLOCK_WORDS];
    _Alignas(LINE) _Atomic uint32_t pending; /* bit per half */
    _Atomic uint32_t bell;                   /* 1: rung since the thread last looked */
    _Atomic uint32_t expected;               /* bit per slot */
    _Alignas(LINE) _Atomic int64_t decided[CLV_PAP_MAX_STREAMS];
    _Alignas(LINE) _Atomic int64_t asked[CLV_PAP_MAX_STREAMS];
    struct {
        _Alignas(LINE) _Atomic uint64_t given; /* version << 20 | how many */
        _Alignas(LINE) _Atomic int64_t version;
        uint64_t node_plans_used;
        clv_pap_forecast_t forecast; /* its pointer is not valid here */
    } halves[CLV_PAP_HALVES];
} table_head_t;

_Static_assert(sizeof(((table_head_t *) 0)->halves[0]) == 3 * LINE, "a forecast is two lines");

/* The line of a local record, in words that any process may read at any time. Opaque here. */
typedef struct table_record {
    _Alignas(LINE) _Atomic int64_t version;
    _Atomic uint64_t words[CLV_PAP_RECORD_WORDS];
} table_record_t;

_Static_assert(sizeof(table_record_t) == LINE, "a record is a line, and ranks do not share it");

#define COUNT_BITS 20 /* CLV_PAP_MAX_RANKS is 2^20 - 1 here; 44 bits are left for versions */
#define COUNT_MASK ((UINT64_C(1) << COUNT_BITS) - 1)

struct clv_pap_table {
    table_head_t *head;
    table_record_t *records; /* [slot][local rank][side]: those of a slot together, in few pages */
    clv_pap_table_shape_t shape;
    unsigned char *key_tables; /* [half] */
    unsigned char *forecasts;  /* [half]: predicted_ns, then the node plans */
    size_t node_plans_offset;  /* in a half of forecasts */
    size_t half_bytes;
    unsigned char *shares;                                     /* [local rank] */
    size_t records_at, key_tables_at, forecasts_at, shares_at; /* offsets in the memory ... */
    size_t n_bytes;                                            /* ... of this size */
};

static size_t round_up(size_t n_bytes)
{
    return (n_bytes + LINE - 1) / LINE * LINE;
}

/* Computes the offsets of the parts; 0 bytes if they do not fit. */
static clv_pap_table_t layout(const clv_pap_table_shape_t *shape)
{
    clv_pap_table_t table = {0};
    if (shape->n_ranks < 1 || shape->n_ranks > (int32_t) COUNT_MASK ||
        shape->node_plans_bytes > MAX_BYTES || shape->key_table_bytes > CLV_PAP_KEY_TABLE_BYTES ||
        shape->share_bytes > MAX_BYTES / (size_t) shape->n_ranks) {
        return table;
    }
    const size_t n = (size_t) shape->n_ranks;
    table.shape = *shape;
    table.records_at = round_up(sizeof(table_head_t));
    table.key_tables_at = table.records_at + n * CLV_PAP_HALVES * sizeof(table_record_t);
    table.forecasts_at = table.key_tables_at + CLV_PAP_HALVES * round_up(shape->key_table_bytes);
    table.node_plans_offset = round_up(n * sizeof(int64_t));
    table.half_bytes = table.node_plans_offset + round_up(shape->node_plans_bytes);
    table.shares_at = table.forecasts_at + CLV_PAP_HALVES * table.half_bytes;
    const size_t n_bytes = table.shares_at + n * round_up(shape->share_bytes);
    table.n_bytes = n_bytes <= MAX_BYTES ? n_bytes : 0;
    return table;
}

static void set_parts(clv_pap_table_t *table, void *memory)
{
    unsigned char *bytes = memory;
    table->head = memory;
    table->records = (table_record_t *) (void *) (bytes + table->records_at);
    table->key_tables = bytes + table->key_tables_at;
    table->forecasts = bytes + table->forecasts_at;
    table->shares = bytes + table->shares_at;
}

size_t clv_pap_table_bytes(const clv_pap_table_shape_t *shape)
{
    return layout(shape).n_bytes;
}

/* errno says why. The user is told once of each kind, whatever the number of groups: those with
 * shares are the recorder's. */
static clv_status_t refuse(const clv_pap_table_shape_t *shape)
{
    static atomic_flag has_reported[2] = {ATOMIC_FLAG_INIT, ATOMIC_FLAG_INIT};
    const int error = errno;
    const bool records = shape->share_bytes > 0;
    char what[64];
    if (!atomic_flag_test_and_set(&has_reported[records])) {
        (void) snprintf(what, sizeof what, "shared memory of %zu MiB",
                        (clv_pap_table_bytes(shape) + (1 << 20) - 1) >> 20);
        clv_limit_tell(what, records, error);
    }
    return CLV_NO_MEMORY;
}

/* The limit on file sizes applies to this memory, too. */
static int set_size(int fd, size_t n_bytes)
{
    clv_limit_guard_t guard;
    clv_limit_begin(&guard);
    const int result = ftruncate(fd, (off_t) n_bytes);
    clv_limit_end(&guard);
    return result;
}

/* Sealed: a mapping can then never lose its memory and raise SIGBUS. */
static int new_memory(size_t n_bytes)
{
    int fd = memfd_create("clv", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) {
        return -1;
    }
    if (set_size(fd, n_bytes) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        const int error = errno;
        (void) close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static clv_status_t map_memory(int fd, const clv_pap_table_shape_t *shape,
                               clv_pap_table_t **table_p)
{
    clv_pap_table_t *table = clv_alloc_line(sizeof *table);
    if (table == NULL) {
        return CLV_NO_MEMORY;
    }
    *table = layout(shape);
    void *memory = mmap(NULL, table->n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        const clv_status_t status = refuse(&table->shape);
        clv_free(table);
        return status;
    }
    set_parts(table, memory);
    *table_p = table;
    return CLV_OK;
}

clv_status_t clv_pap_table_create(const clv_pap_table_shape_t *shape, uint64_t token,
                                  clv_pap_table_t **table_p, int *fd_p)
{
    const size_t n_bytes = clv_pap_table_bytes(shape);
    if (n_bytes == 0) {
        return CLV_LIMIT;
    }
    int fd = new_memory(n_bytes);
    if (fd < 0) {
        return refuse(shape);
    }
    clv_status_t status = map_memory(fd, shape, table_p);
    if (status != CLV_OK) {
        (void) close(fd);
        return status;
    }
    (*table_p)->head->magic = TABLE_MAGIC;
    (*table_p)->head->token = token;
    (*table_p)->head->n_bytes = n_bytes;
    *fd_p = fd;
    return CLV_OK;
}

/* Whether the kernel refuses overcommit (vm.overcommit_memory 2). */
static bool is_strict(void)
{
    char mode = '0';
    int fd = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        mode = read(fd, &mode, 1) == 1 ? mode : '0';
        (void) close(fd);
    }
    return mode == '2';
}

clv_status_t clv_pap_table_reserve(const clv_pap_table_t *table, int fd, int always)
{
    if (!always && !is_strict()) {
        return CLV_OK;
    }
    return fallocate(fd, 0, 0, (off_t) table->n_bytes) == 0 ? CLV_OK : refuse(&table->shape);
}

static bool has_size(int fd, size_t n_bytes)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && (size_t) status.st_size == n_bytes;
}

clv_status_t clv_pap_table_open(const clv_pap_table_shape_t *shape, uint64_t token, uint32_t pid,
                                uint32_t fd, clv_pap_table_t **table_p)
{
    char path[64];
    (void) snprintf(path, sizeof path, "/proc/%u/fd/%u", (unsigned) pid, (unsigned) fd);
    const size_t n_bytes = clv_pap_table_bytes(shape);
    if (n_bytes == 0) {
        return CLV_LIMIT;
    }
    int own_fd = open(path, O_RDWR | O_CLOEXEC);
    if (own_fd < 0) {
        return CLV_SYSTEM;
    }
    clv_pap_table_t *table = NULL;
    clv_status_t status =
        has_size(own_fd, n_bytes) ? map_memory(own_fd, shape, &table) : CLV_PROTOCOL;
    (void) close(own_fd);
    if (status != CLV_OK) {
        return status;
    }
    if (table->head->magic != TABLE_MAGIC || table->head->token != token ||
        table->head->n_bytes != n_bytes) {
        clv_pap_table_close(table);
        return CLV_PROTOCOL;
    }
    *table_p = table;
    return CLV_OK;
}

void clv_pap_table_close(clv_pap_table_t *table)
{
    if (table) {
        (void) munmap(table->head, table->n_bytes);
        clv_free(table);
    }
}

/* ---- ranks -> leader ---------------------------------------------------------------------- */

static table_record_t *record_at(const clv_pap_table_t *table, int32_t local_rank, int32_t half)
{
    const size_t slot = (size_t) half / 2, side = (size_t) half % 2;
    return &table->records[(slot * (size_t) table->shape.n_ranks + (size_t) local_rank) * 2 + side];
}

static unsigned char *node_plans_of(const clv_pap_table_t *table, int32_t half)
{
    return table->forecasts + (size_t) half * table->half_bytes + table->node_plans_offset;
}

/* Counts one record of version. Returns the count so far; 0 if a newer version has the half. */
static uint64_t count_one(_Atomic uint64_t *given, uint64_t version)
{
    uint64_t seen = atomic_load_explicit(given, memory_order_relaxed), next;
    do {
        if (seen >> COUNT_BITS > version) {
            return 0;
        }
        next = seen >> COUNT_BITS == version ? seen + 1 : version << COUNT_BITS | 1;
        /* acq_rel: the last rank to count has the words of all others, and hands them on. */
    } while (!atomic_compare_exchange_weak_explicit(given, &seen, next, memory_order_acq_rel,
                                                    memory_order_relaxed));
    return next & COUNT_MASK;
}

static unsigned char *key_table_of(const clv_pap_table_t *table, int32_t half)
{
    const size_t n_bytes = table->shape.key_table_bytes;
    return n_bytes == 0 ? NULL : table->key_tables + (size_t) half * round_up(n_bytes);
}

/* With one key: the choice, and the place of its steps. */
static void fetch_node_plans(const clv_pap_table_t *table, int32_t half)
{
    const unsigned char *node_plans = node_plans_of(table, half);
    clv_fetch_to_read(node_plans);
    clv_fetch_to_read(node_plans + LINE);
}

/* Most key tables are one line long. */
static void fetch_key_table(const clv_pap_table_t *table, int32_t half)
{
    const unsigned char *key_table = key_table_of(table, half);
    if (key_table != NULL) {
        clv_fetch_to_write(key_table);
    }
}

CLV_HOT void clv_pap_table_fetch(const clv_pap_table_t *table, int32_t local_rank, int32_t slot,
                                 int64_t version)
{
    const table_head_t *head = table->head;
    const table_record_t *mine = record_at(table, local_rank, clv_pap_half(slot, version));
    const int32_t before = clv_pap_half(slot, version - 1);
    const unsigned char *forecast = (const unsigned char *) &head->halves[before].version;
    clv_fetch_to_write(mine);
    clv_fetch_to_write(&head->halves[clv_pap_half(slot, version)].given);
    clv_fetch_to_write(&head->pending);
    clv_fetch_to_read(forecast);
    clv_fetch_to_read(forecast + LINE);
    fetch_node_plans(table, before);
    if (local_rank == 0) {
        fetch_key_table(table, clv_pap_half(slot, version));
    }
}

CLV_HOT bool clv_pap_table_give(clv_pap_table_t *table, int32_t local_rank, int32_t n_local,
                                int32_t slot, int64_t version,
                                const uint64_t record[CLV_PAP_RECORD_WORDS])
{
    const int32_t half = clv_pap_half(slot, version);
    table_record_t *mine = record_at(table, local_rank, half);
    for (int i = 0; i < CLV_PAP_RECORD_WORDS; i++) {
        atomic_store_explicit(&mine->words[i], record[i], memory_order_relaxed);
    }
    atomic_store_explicit(&mine->version, version, memory_order_relaxed);
    if (count_one(&table->head->halves[half].given, (uint64_t) version) != (uint64_t) n_local) {
        return false;
    }
    /* seq_cst here, on expected and on the bell: either we see that the thread does not look by
     * itself and the bell is free, or it sees our bit. */
    (void) atomic_fetch_or(&table->head->pending, UINT32_C(1) << half);
    return (atomic_load(&table->head->expected) >> slot & 1) == 0;
}

/* Not atomic: the count of the record that follows publishes it, and the next key table of this
 * half is written only after the forecast that used this one. */
CLV_HOT void clv_pap_table_set_keys(clv_pap_table_t *table, int32_t slot, int64_t version,
                                    const void *key_table, size_t n_bytes)
{
    unsigned char *mine = key_table_of(table, clv_pap_half(slot, version));
    if (mine == NULL) {
        return;
    }
    if (key_table == NULL) {
        memset(mine, 0, table->shape.key_table_bytes);
    } else {
        memcpy(mine, key_table, n_bytes);
    }
}

const void *clv_pap_table_keys(const clv_pap_table_t *table, int32_t slot, int64_t version)
{
    return key_table_of(table, clv_pap_half(slot, version));
}

bool clv_pap_table_pull_bell(clv_pap_table_t *table)
{
    return atomic_load(&table->head->bell) == 0 && atomic_exchange(&table->head->bell, 1) == 0;
}

uint32_t clv_pap_table_answer(clv_pap_table_t *table)
{
    atomic_store(&table->head->bell, 0);
    return atomic_exchange(&table->head->pending, 0);
}

CLV_HOT bool clv_pap_table_is_pending(const clv_pap_table_t *table)
{
    return atomic_load_explicit(&table->head->pending, memory_order_relaxed) != 0;
}

void clv_pap_table_expect(clv_pap_table_t *table, uint32_t slots)
{
    atomic_store(&table->head->expected, slots);
}

int64_t clv_pap_table_given(const clv_pap_table_t *table, int32_t half, int32_t *n_given_p)
{
    const uint64_t given =
        atomic_load_explicit(&table->head->halves[half].given, memory_order_acquire);
    *n_given_p = (int32_t) (given & COUNT_MASK);
    return (int64_t) (given >> COUNT_BITS);
}

clv_status_t clv_pap_table_take(const clv_pap_table_t *table, int32_t local_rank, int32_t slot,
                                int64_t version, uint64_t record[CLV_PAP_RECORD_WORDS])
{
    const table_record_t *theirs = record_at(table, local_rank, clv_pap_half(slot, version));
    for (int i = 0; i < CLV_PAP_RECORD_WORDS; i++) {
        record[i] = atomic_load_explicit(&theirs->words[i], memory_order_relaxed);
    }
    return atomic_load_explicit(&theirs->version, memory_order_relaxed) == version ? CLV_OK
                                                                                   : CLV_NONE;
}

/* ---- leader -> ranks ---------------------------------------------------------------------- */

static int64_t *predicted_of(const clv_pap_table_t *table, int32_t half)
{
    return (int64_t *) (void *) (table->forecasts + (size_t) half * table->half_bytes);
}

void *clv_pap_table_node_plans(clv_pap_table_t *table, int32_t slot, int64_t version)
{
    const int32_t half = clv_pap_half(slot, version);
    memset(node_plans_of(table, half), 0, table->head->halves[half].node_plans_used);
    table->head->halves[half].node_plans_used = 0;
    return node_plans_of(table, half);
}

void clv_pap_table_publish(clv_pap_table_t *table, int32_t slot, const clv_pap_forecast_t *forecast,
                           size_t node_plans_used)
{
    const int32_t half = clv_pap_half(slot, forecast->version);
    memcpy(predicted_of(table, half), forecast->predicted_ns,
           (size_t) forecast->n_ranks * sizeof(int64_t));
    table->head->halves[half].forecast = *forecast;
    table->head->halves[half].node_plans_used = node_plans_used;
    /* release: a rank that sees this version sees the forecast and its node plans. */
    atomic_store_explicit(&table->head->halves[half].version, forecast->version,
                          memory_order_release);
    clv_pap_table_set_decided(table, slot, forecast->version);
}

void clv_pap_table_set_decided(clv_pap_table_t *table, int32_t slot, int64_t version)
{
    atomic_store_explicit(&table->head->decided[slot], version, memory_order_release);
}

/* The order matters: a version that exists was published before it was decided. */
CLV_COLD bool clv_pap_table_is_void(const clv_pap_table_t *table, int32_t slot, int64_t version)
{
    return atomic_load_explicit(&table->head->decided[slot], memory_order_acquire) >= version &&
           atomic_load_explicit(&table->head->halves[clv_pap_half(slot, version)].version,
                                memory_order_acquire) != version;
}

CLV_COLD void clv_pap_table_ask(clv_pap_table_t *table, int32_t slot, int64_t version)
{
    atomic_store(&table->head->asked[slot], version);
}

int64_t clv_pap_table_asked(const clv_pap_table_t *table, int32_t slot)
{
    return atomic_load(&table->head->asked[slot]);
}

CLV_HOT clv_status_t clv_pap_table_forecast(const clv_pap_table_t *table, int32_t slot,
                                            int64_t version, clv_pap_forecast_t *forecast_p,
                                            const void **node_plans_p, size_t *node_plans_bytes_p)
{
    const int32_t half = clv_pap_half(slot, version);
    if (atomic_load_explicit(&table->head->halves[half].version, memory_order_acquire) != version) {
        return CLV_AGAIN;
    }
    *forecast_p = table->head->halves[half].forecast;
    forecast_p->predicted_ns = predicted_of(table, half);
    *node_plans_p = node_plans_of(table, half);
    *node_plans_bytes_p = table->head->halves[half].node_plans_used;
    return CLV_OK;
}

void clv_pap_table_set_end(clv_pap_table_t *table, const int64_t n_versions[CLV_PAP_MAX_STREAMS],
                           bool is_unsure)
{
    memcpy(table->head->n_versions, n_versions, sizeof table->head->n_versions);
    /* release: a rank that sees the end sees the numbers and all earlier forecasts. */
    atomic_store_explicit(&table->head->end, is_unsure ? END_UNSURE : END_CERTAIN,
                          memory_order_release);
}

bool clv_pap_table_is_unsure(const clv_pap_table_t *table)
{
    return atomic_load_explicit(&table->head->end, memory_order_acquire) == END_UNSURE;
}

/* seq_cst: set before the bell is rung, read after it was answered. */
void clv_pap_table_set_broken(clv_pap_table_t *table)
{
    atomic_store(&table->head->broken, 1);
}

bool clv_pap_table_is_broken(const clv_pap_table_t *table)
{
    return atomic_load(&table->head->broken) != 0;
}

int64_t clv_pap_table_n_versions(const clv_pap_table_t *table, int32_t slot)
{
    return atomic_load_explicit(&table->head->end, memory_order_acquire) != END_NONE
               ? table->head->n_versions[slot]
               : INT64_MAX;
}

unsigned char *clv_pap_table_shares(const clv_pap_table_t *table, size_t *share_bytes_p)
{
    *share_bytes_p = round_up(table->shape.share_bytes);
    return table->shares;
}

/* ---- the clock: one writer, a seqlock of atomic words (no data race, also for TSan) ---------- */

static void model_to_words(const clv_cs_model_t *model, uint64_t words[CLOCK_WORDS])
{
    words[0] = (uint64_t) model->origin_ns;
    words[1] = (uint64_t) model->offset_ns;
    memcpy(&words[2], &model->slope, sizeof words[2]);
    words[3] = (uint64_t) model->error_ns;
    words[4] = (uint64_t) model->error_ppb;
    words[5] = 1;
}

static void model_from_words(const uint64_t words[CLOCK_WORDS], clv_cs_model_t *model)
{
    model->origin_ns = (int64_t) words[0];
    model->offset_ns = (int64_t) words[1];
    memcpy(&model->slope, &words[2], sizeof model->slope);
    model->error_ns = (int64_t) words[3];
    model->error_ppb = (int64_t) words[4];
}

void clv_pap_table_set_clock(clv_pap_table_t *table, const clv_cs_model_t *model)
{
    uint64_t words[CLOCK_WORDS] = {0};
    if (model) {
        model_to_words(model, words);
    }
    const uint32_t sequence =
        atomic_load_explicit(&table->head->clock_sequence, memory_order_relaxed);
    atomic_store_explicit(&table->head->clock_sequence, sequence + 1, memory_order_relaxed);
    for (int i = 0; i < CLOCK_WORDS; i++) {
        /* release: a reader that sees a new word also sees the odd sequence before it. */
        atomic_store_explicit(&table->head->clock_words[i], words[i], memory_order_release);
    }
    atomic_store_explicit(&table->head->clock_sequence, sequence + 2, memory_order_release);
}

clv_status_t clv_pap_table_clock(const clv_pap_table_t *table, clv_cs_model_t *model_p)
{
    uint64_t words[CLOCK_WORDS];
    uint32_t before, after;
    do {
        before = atomic_load_explicit(&table->head->clock_sequence, memory_order_acquire);
        for (int i = 0; i < CLOCK_WORDS; i++) {
            words[i] = atomic_load_explicit(&table->head->clock_words[i], memory_order_acquire);
        }
        after = atomic_load_explicit(&table->head->clock_sequence, memory_order_relaxed);
    } while (before != after || before % 2 != 0);
    if (words[5] == 0) {
        return CLV_AGAIN;
    }
    model_from_words(words, model_p);
    return CLV_OK;
}
