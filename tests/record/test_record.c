/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The recorder's pure half: rings lose nothing silently, and what is drained is a file that can be
 * read at any time and never grows beyond its limit.
 */
#include "tests/support/test.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/record_drain.h"
#include "record/record_early.h"
#include "record/record_pending.h"
#include "util/util_log.h"

static clv_ring_t *new_ring(int n)
{
    clv_ring_t *rings = aligned_alloc(CLV_LINE_BYTES, (size_t) n * sizeof *rings);

    assert_non_null(rings);
    memset(rings, 0, (size_t) n * sizeof *rings);
    return rings;
}

static clv_clva_call_t a_call(uint32_t number)
{
    return (clv_clva_call_t){
        .kind = CLV_CLVA_CALLS, .number = number, .arrival_ns = number, .exit_ns = number + 1};
}

/* ---- rings ----------------------------------------------------------------------------------- */

static void a_full_ring_drops_and_counts(void **state)
{
    clv_ring_t *ring = new_ring(1);
    uint64_t first = 0;

    (void) state;
    for (uint32_t i = 0; i < CLV_RING_SLOTS; i++) {
        const clv_clva_call_t call = a_call(i);
        assert_int_equal(clv_ring_push(ring, &call, 1),
                         i == CLV_RING_SLOTS / 2 - 1 ? CLV_RING_HALF_FULL : CLV_RING_TAKEN);
    }
    const clv_clva_call_t late = a_call(99);
    assert_int_equal(clv_ring_push(ring, &late, 1), CLV_RING_DROPPED);
    assert_int_equal(ring->n_dropped, 1);
    assert_int_equal(clv_ring_waiting(ring, &first), CLV_RING_SLOTS);
    clv_ring_release(ring, 1);
    assert_int_equal(clv_ring_push(ring, &late, 1), CLV_RING_TAKEN);
    const unsigned char *slot = clv_ring_slot(ring, first + CLV_RING_SLOTS);
    assert_memory_equal(slot, &late, sizeof late);
    free(ring);
}

static void slots_that_belong_together_come_together(void **state)
{
    clv_ring_t *ring = new_ring(1);
    static unsigned char slots[3][CLV_CLVA_SLOT_BYTES];
    uint64_t first;

    (void) state;
    ring->written = ring->taken = UINT64_MAX - 1; /* also where numbers wrap */
    for (int i = 0; i < CLV_RING_SLOTS / 3; i++) {
        assert_int_not_equal(clv_ring_push(ring, slots, 3), CLV_RING_DROPPED);
    }
    assert_int_equal(clv_ring_push(ring, slots, 3), CLV_RING_DROPPED);
    assert_int_equal(clv_ring_waiting(ring, &first), CLV_RING_SLOTS / 3 * 3);
    assert_int_equal(clv_ring_push(ring, slots, 1), CLV_RING_TAKEN);
    free(ring);
}

static void a_held_ring_is_not_waited_for(void **state)
{
    clv_ring_t *ring = new_ring(1);
    const clv_clva_call_t call = a_call(0);

    (void) state;
    ring->is_held = 1; /* by a thread that lost its core */
    assert_int_equal(clv_ring_push(ring, &call, 1), CLV_RING_DROPPED);
    assert_int_equal(ring->n_dropped, 1);
    free(ring);
}

static void numbers_that_cannot_be_are_no_slots(void **state)
{
    clv_ring_t *ring = new_ring(1);
    uint64_t first;

    (void) state;
    ring->written = CLV_RING_SLOTS + 1;
    assert_int_equal(clv_ring_waiting(ring, &first), 0);
    free(ring);
}

#define N_THREADS 3
#define N_PUSHES  20000

static void *push_many(void *ring)
{
    for (uint32_t i = 0; i < N_PUSHES; i++) {
        const clv_clva_call_t call = a_call(i);
        (void) clv_ring_push(ring, &call, 1);
    }
    return NULL;
}

static void threads_take_turns(void **state)
{
    clv_ring_t *ring = new_ring(1);
    pthread_t threads[N_THREADS];
    uint64_t first, n_taken = 0, n_waiting;

    (void) state;
    for (int i = 0; i < N_THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, push_many, ring), 0);
    }
    while (n_taken + ring->n_dropped < N_THREADS * N_PUSHES) {
        n_waiting = clv_ring_waiting(ring, &first);
        for (uint64_t i = 0; i < n_waiting; i++) {
            assert_int_equal(*clv_ring_slot(ring, first + i), CLV_CLVA_CALLS);
        }
        clv_ring_release(ring, n_waiting);
        n_taken += n_waiting;
    }
    for (int i = 0; i < N_THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(n_taken + ring->n_dropped, N_THREADS * N_PUSHES);
    free(ring);
}

/* ---- files ----------------------------------------------------------------------------------- */

#define N_LOCAL 2

typedef struct node {
    char path[64];
    clv_ring_t *rings;
    clv_drain_t *drain;
    int64_t now_ns;
} node_t;

static void begin_node(node_t *node, int64_t max_mib)
{
    const clv_clva_head_t head = {.clva = CLV_CLVA_VERSION,
                                  .job = "job",
                                  .n_nodes = 1,
                                  .n_ranks = 4,
                                  .n_local = N_LOCAL,
                                  .max_mib = max_mib};

    (void) snprintf(node->path, sizeof node->path, "/tmp/clv-record-%d.clva", (int) getpid());
    (void) unlink(node->path);
    node->rings = new_ring(N_LOCAL);
    node->now_ns = 1000;
    assert_int_equal(clv_drain_create(&node->drain), CLV_OK);
    assert_int_equal(
        clv_drain_open(node->drain, node->path, &head, (const int32_t[]){1, 3}, N_LOCAL), CLV_OK);
}

/* How long it is to the next. */
static int64_t round_now(node_t *node, int is_last)
{
    const clv_cs_model_t model = {.origin_ns = 5, .offset_ns = 6, .error_ns = 7};

    return clv_drain_tend(node->drain, (unsigned char *) node->rings, sizeof(clv_ring_t), &model,
                          node->now_ns, is_last) -
           node->now_ns;
}

static int64_t round_of(node_t *node, int is_last)
{
    node->now_ns += CLV_DRAIN_PERIOD_NS;
    return round_now(node, is_last);
}

static int64_t written_round(node_t *node)
{
    const int64_t pause_ns = round_of(node, 0);

    clv_drain_write(node->drain);
    return pause_ns;
}

static void end_node(node_t *node)
{
    clv_drain_free(node->drain);
    free(node->rings);
    (void) unlink(node->path);
}

/* What a file says in sum. */
typedef struct sums {
    int n[CLV_CLVA_WAITS + 1];
    int64_t n_calls, n_dropped, every, n_bytes, ended;
    uint32_t multiple; /* all newer numbers are multiples of it */
} sums_t;

static void add_record(sums_t *sums, const clv_clva_record_t *record)
{
    clv_clva_call_t call;

    sums->n[record->kind]++;
    sums->n_dropped = record->kind == CLV_CLVA_DROPPED ? record->number : sums->n_dropped;
    sums->every = record->kind == CLV_CLVA_EVERY ? record->number : sums->every;
    sums->ended = record->kind == CLV_CLVA_END ? record->number : sums->ended;
    for (int32_t i = 0; record->kind == CLV_CLVA_CALLS && i < record->n; i++) {
        assert_int_equal(clv_clva_get_call(record, i, &call), CLV_OK);
        assert_int_equal(call.number % sums->every, 0);
        assert_true(record->rank == 1 || record->rank == 3);
        sums->n_calls++;
    }
    if (record->kind == CLV_CLVA_COMM) {
        assert_string_equal(record->comm.name, "a name");
        assert_int_equal(clv_clva_get_member(&record->comm, 2), 1);
    }
}

static sums_t read_file(const char *path)
{
    static unsigned char bytes[4 << 20];
    sums_t sums = {.every = 1};
    clv_clva_head_t head;
    size_t at, used;
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    sums.n_bytes = (int64_t) fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_int_equal(clv_clva_get_head(bytes, (size_t) sums.n_bytes, &head, &at), CLV_OK);
    for (; at < (size_t) sums.n_bytes; at += used) {
        clv_clva_record_t record;
        assert_int_equal(clv_clva_get_record(bytes + at, (size_t) sums.n_bytes - at, head.n_ranks,
                                             &record, &used),
                         CLV_OK);
        add_record(&sums, &record);
    }
    return sums;
}

static void push_comm(clv_ring_t *ring, int32_t n_listed)
{
    unsigned char slots[5 * CLV_CLVA_SLOT_BYTES] = {0};
    const clv_drain_comm_t head = {
        .kind = CLV_CLVA_COMM, .id = 9, .n_ranks = 3, .n_listed = n_listed};

    memcpy(slots, &head, sizeof head);
    memcpy(slots + 32, "a name", sizeof "a name");
    memcpy(slots + 96, (const int32_t[]){3, 0, 1}, 12);
    assert_int_equal(clv_ring_push(ring, slots, clv_drain_comm_slots(3)), CLV_RING_TAKEN);
}

static void what_ranks_say_is_in_the_file(void **state)
{
    const clv_clva_stream_t stream = {.kind = CLV_CLVA_STREAM, .bytes = 8};
    const clv_clva_early_t early = {.kind = CLV_CLVA_EARLY, .window_bytes = 8};
    const clv_clva_waits_t waits = {.kind = CLV_CLVA_WAITS, .waited_ns = 8};
    node_t node;

    (void) state;
    begin_node(&node, 1);
    assert_int_equal(clv_ring_push(&node.rings[1], &early, 1), CLV_RING_TAKEN);
    assert_int_equal(clv_ring_push(&node.rings[0], &waits, 1), CLV_RING_TAKEN);
    push_comm(&node.rings[0], 3);
    for (uint32_t i = 0; i < 5000; i++) {
        const clv_clva_call_t call = a_call(i);
        assert_int_equal(clv_ring_push(&node.rings[i % 2], &call, 1), CLV_RING_TAKEN);
        if (i % 2500 == 0) {
            assert_int_equal(clv_ring_push(&node.rings[1], &stream, 1), CLV_RING_TAKEN);
        }
    }
    assert_true(written_round(&node) > 0);
    sums_t sums = read_file(node.path); /* as if the job were killed now */
    assert_int_equal(sums.n_calls, 5000);
    assert_int_equal(sums.n[CLV_CLVA_COMM], 1);
    assert_int_equal(sums.n[CLV_CLVA_STREAM], 2);
    assert_int_equal(sums.n[CLV_CLVA_EARLY], 1);
    assert_int_equal(sums.n[CLV_CLVA_WAITS], 1);
    assert_int_equal(sums.n[CLV_CLVA_LOCAL], 1);
    assert_int_equal(sums.n[CLV_CLVA_CLOCK], 1);
    assert_int_equal(sums.n[CLV_CLVA_END], 0);
    assert_true(sums.n_bytes < sums.n_calls * CLV_CLVA_SLOT_BYTES + 2048); /* 32 bytes a call */
    node.rings[1].n_dropped = 12;
    (void) written_round(&node);
    (void) round_of(&node, 1);
    sums = read_file(node.path);
    assert_int_equal(sums.n_dropped, 12);
    assert_int_equal(sums.n[CLV_CLVA_DROPPED], 1);
    assert_int_equal(sums.n[CLV_CLVA_CLOCK], 1); /* the same line is said once */
    assert_int_equal(sums.ended, 5000);
    end_node(&node);
}

/* The thread is woken for others, too: then rounds wait for their time, and half full rings do
 * not wait. */
static void rounds_have_their_time(void **state)
{
    const clv_clva_call_t call = a_call(1);
    int64_t pause_ns = 0, before_ns = 0;
    node_t node;

    (void) state;
    begin_node(&node, 16);
    for (int i = 0; i < 10; i++) { /* more and more seldom */
        pause_ns = written_round(&node);
        assert_true(pause_ns == (i == 0 ? CLV_DRAIN_PERIOD_NS / 16
                                        : before_ns * (before_ns < CLV_DRAIN_PERIOD_NS ? 2 : 1)));
        before_ns = pause_ns;
    }
    node.now_ns += pause_ns / 2;
    for (int i = 0; i < CLV_RING_SLOTS / 2; i++) {
        const int64_t more_ns = round_now(&node, 0);
        assert_int_equal(more_ns, pause_ns - pause_ns / 2);
        (void) clv_ring_push(&node.rings[1], &call, 1);
    }
    assert_int_equal(read_file(node.path).n_calls, 0);
    assert_int_equal(round_now(&node, 0), CLV_DRAIN_PERIOD_NS);
    clv_drain_write(node.drain);
    assert_int_equal(read_file(node.path).n_calls, CLV_RING_SLOTS / 2);
    end_node(&node);
}

static void nonsense_in_a_ring_breaks_nothing(void **state)
{
    const clv_clva_call_t call = a_call(8);
    unsigned char nonsense[CLV_CLVA_SLOT_BYTES];
    node_t node;

    (void) state;
    memset(nonsense, 0xff, sizeof nonsense);
    begin_node(&node, 1);
    (void) clv_ring_push(&node.rings[0], &call, 1);
    (void) clv_ring_push(&node.rings[0], nonsense, 1);
    (void) written_round(&node);
    push_comm(&node.rings[0], 5000000);
    push_comm(&node.rings[1], -1);
    (void) round_of(&node, 1);
    assert_int_equal(read_file(node.path).n_calls, 1);
    end_node(&node);
}

/* Ten times more calls than there is room for: the later ones become rare. */
static void a_file_stays_below_its_limit(void **state)
{
    node_t node;
    uint32_t number = 0;

    (void) state;
    begin_node(&node, 1);
    for (int i = 0; i < 100; i++) {
        for (int k = 0; k < 3300; k++) {
            const clv_clva_call_t call = a_call(number++);
            (void) clv_ring_push(&node.rings[0], &call, 1);
        }
        (void) written_round(&node);
    }
    (void) round_of(&node, 1);
    const sums_t sums = read_file(node.path);
    assert_true(sums.n_bytes <= 1 << 20);
    assert_true(sums.n_bytes > 1 << 19);
    assert_true(sums.every >= 8);
    assert_int_equal(sums.ended, sums.n_calls);
    end_node(&node);
}

static void count_line(void *context, clv_log_level_t level, const char *line)
{
    (void) level;
    (void) line;
    ++*(int *) context;
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* The process's limit is the file's as well: the job would end at the first byte beyond it. */
static void a_file_stays_below_the_processs_limit(void **state)
{
    node_t node;

    (void) state;
    limit_files(1 << 19);
    begin_node(&node, 64);
    for (uint32_t number = 0; number < 100000; number++) {
        const clv_clva_call_t call = a_call(number);
        if (clv_ring_push(&node.rings[0], &call, 1) != CLV_RING_TAKEN) {
            (void) written_round(&node);
        }
    }
    (void) round_of(&node, 1);
    const sums_t sums = read_file(node.path);
    limit_files(RLIM_INFINITY);
    assert_true(sums.n_bytes <= 1 << 19);
    assert_true(sums.n_bytes > 1 << 18);
    assert_int_equal(sums.ended, sums.n_calls);
    end_node(&node);
}

/* A limit that comes later ends the file, and nothing else. */
static void a_limit_that_is_met_is_reported_once(void **state)
{
    node_t node;
    int n_lines = 0;

    (void) state;
    begin_node(&node, 64);
    clv_log_set_sink(count_line, &n_lines, CLV_LOG_ERROR);
    limit_files(1000);
    for (uint32_t number = 0; number < 200; number++) {
        const clv_clva_call_t call = a_call(number);
        (void) clv_ring_push(&node.rings[0], &call, 1);
        (void) written_round(&node);
    }
    (void) round_of(&node, 1);
    limit_files(RLIM_INFINITY);
    clv_log_set_sink(NULL, NULL, CLV_LOG_ERROR);
    assert_int_equal(n_lines, 1);
    end_node(&node);
}

/* No room for the head itself: an error of open, and no file that nobody could read. */
static void a_file_without_a_head_is_not_left(void **state)
{
    const clv_clva_head_t head = {.clva = 1, .n_nodes = 1, .n_ranks = 1, .n_local = 1};
    clv_drain_t *drain;
    char path[64];

    (void) state;
    (void) snprintf(path, sizeof path, "/tmp/clv-record-%d.clva", (int) getpid());
    assert_int_equal(clv_drain_create(&drain), CLV_OK);
    limit_files(10);
    const clv_status_t status = clv_drain_open(drain, path, &head, (const int32_t[]){0}, 1);
    const int error = errno;
    limit_files(RLIM_INFINITY);
    assert_int_equal(status, CLV_SYSTEM);
    assert_int_equal(error, EFBIG);
    assert_int_not_equal(access(path, F_OK), 0);
    clv_drain_free(drain);
}

/* A file system that stands still holds up the writer alone: rounds go on until both buffers are
 * full, then what comes stays in the rings, and nothing is lost. */
static void a_round_writes_nothing(void **state)
{
    const int64_t n_first = 12000; /* of 32 bytes: three quarters of a buffer */
    node_t node;
    uint32_t number = 0;

    (void) state;
    begin_node(&node, 16);
    const int64_t n_before = read_file(node.path).n_bytes;
    for (int i = 0; i < 4; i++) {
        for (int64_t k = 0; k < n_first; k++) {
            const clv_clva_call_t call = a_call(number);
            number += clv_ring_push(&node.rings[0], &call, 1) != CLV_RING_DROPPED;
        }
        const int64_t pause_ns = round_of(&node, 0);
        assert_true(i < 2 ? pause_ns > 0 : pause_ns == 0);
        assert_int_equal(read_file(node.path).n_bytes, n_before);
    }
    assert_true(node.rings[0].n_dropped > 0); /* the ring, too, is full by now */
    clv_drain_write(node.drain);
    assert_true(read_file(node.path).n_calls <= n_first);
    (void) round_of(&node, 1);
    const sums_t sums = read_file(node.path);
    assert_int_equal(sums.n_calls, number);
    assert_int_equal(sums.n_dropped, node.rings[0].n_dropped);
    assert_int_equal(sums.ended, number);
    end_node(&node);
}

static void a_file_is_never_written_over(void **state)
{
    const clv_clva_head_t head = {.clva = 1, .n_nodes = 1, .n_ranks = 1, .n_local = 1};
    clv_drain_t *drain;
    node_t node;

    (void) state;
    begin_node(&node, 1);
    assert_int_equal(clv_drain_create(&drain), CLV_OK);
    assert_int_equal(clv_drain_open(drain, node.path, &head, (const int32_t[]){0}, 1), CLV_SYSTEM);
    assert_int_equal(errno, EEXIST);
    assert_int_equal(clv_drain_tend(drain, NULL, 0, NULL, 0, 0), INT64_MAX);
    clv_drain_free(drain);
    assert_int_equal(clv_drain_create(&drain), CLV_OK);
    assert_int_equal(clv_drain_open(drain, "/nowhere/a", &head, (const int32_t[]){0}, 1),
                     CLV_SYSTEM);
    clv_drain_free(drain);
    end_node(&node);
}

/* /dev/full takes nothing: one line, and the calls go on. */
static void a_full_disk_is_reported_once(void **state)
{
    node_t node;
    int n_lines = 0;
    const clv_clva_call_t call = a_call(1);

    (void) state;
    begin_node(&node, 1);
    clv_log_set_sink(count_line, &n_lines, CLV_LOG_ERROR);
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    for (int fd = 3; fd < 64; fd++) { /* where its file was */
        struct stat one, other;
        if (fstat(fd, &one) == 0 && stat(node.path, &other) == 0 && one.st_ino == other.st_ino) {
            assert_true(dup2(fileno(full), fd) == fd);
        }
    }
    for (int i = 0; i < 3; i++) {
        (void) clv_ring_push(&node.rings[0], &call, 1);
        (void) written_round(&node);
    }
    assert_int_equal(n_lines, 1);
    clv_log_set_sink(NULL, NULL, CLV_LOG_ERROR);
    fclose(full);
    end_node(&node);
}

/* ---- what connections take unread ------------------------------------------------------------ */

/* Two ends of a connection over the loopback. */
static void connect_ends(int ends[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(bind(listener, (struct sockaddr *) &address, sizeof address), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *) &address, &length), 0);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(ends[0], (struct sockaddr *) &address, sizeof address), 0);
    ends[1] = accept(listener, NULL, NULL);
    (void) close(listener);
}

static void send_and_read(const int ends[2], int64_t n_bytes)
{
    static char bytes[4096];

    for (int64_t done = 0; done < n_bytes; done += (int64_t) sizeof bytes) {
        assert_int_equal(send(ends[0], bytes, sizeof bytes, 0), (ssize_t) sizeof bytes);
        assert_int_equal(recv(ends[1], bytes, sizeof bytes, MSG_WAITALL), (ssize_t) sizeof bytes);
    }
}

/* What fits before anybody reads is what was said, but for what Linux rounds. */
static void a_connection_takes_what_was_seen_of_it(void **state)
{
    static char bytes[4096];
    clv_clva_early_t early;
    int64_t fits = 0;
    int ends[2];

    (void) state;
    connect_ends(ends);
    assert_int_equal(clv_early_look(&early), 0);
    send_and_read(ends, 2 * CLV_EARLY_LEAST_SENT);
    if (!clv_early_look(&early)) {
        skip(); /* before Linux 5.4 */
    }
    assert_true(early.sent_bytes >= 2 * CLV_EARLY_LEAST_SENT);
    while (send(ends[0], bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
        fits += (int64_t) sizeof bytes;
    }
    printf("# %lld bytes fit, %lld + %lld were seen\n", (long long) fits,
           (long long) early.window_bytes, (long long) early.buffer_bytes);
    assert_true(fits >= (early.window_bytes + early.buffer_bytes) / 2);
    assert_true(fits <= (early.window_bytes + early.buffer_bytes) * 3);
    (void) close(ends[0]);
    (void) close(ends[1]);
}

/* ---- calls that are not complete ------------------------------------------------------------- */

static char requests[CLV_PENDING_MOST + 100]; /* their addresses */

/* Against an array, by the same requests again and again. */
static void requests_are_found_until_they_are_dropped(void **state)
{
    static clv_pending_table_t table;
    static uint32_t numbers[300]; /* 0: not there */
    void *kept;

    (void) state;
    memset(&table, 0, sizeof table);
    for (uint32_t i = 1; i <= 100000; i++) {
        const size_t one = (size_t) (rand() % 300);
        clv_pending_t *entry = clv_pending_find(&table, &requests[one]);
        assert_true((entry != NULL) == (numbers[one] != 0));
        if (entry == NULL) {
            entry = clv_pending_add(&table, &requests[one], &kept);
            assert_non_null(entry);
            assert_null(kept);
            assert_int_equal(entry->number, 0);
            entry->number = numbers[one] = i;
        } else {
            assert_ptr_equal(entry->request, &requests[one]);
            assert_int_equal(entry->number, numbers[one]);
            clv_pending_drop(&table, &requests[one]);
            numbers[one] = 0;
        }
    }
    assert_true(table.n_used <= 300);
}

static void a_full_table_takes_no_more_until_one_goes(void **state)
{
    static clv_pending_table_t table;
    void *kept;

    (void) state;
    memset(&table, 0, sizeof table);
    for (size_t i = 0; i < CLV_PENDING_MOST; i++) {
        assert_non_null(clv_pending_add(&table, &requests[i], &kept));
    }
    assert_null(clv_pending_add(&table, &requests[CLV_PENDING_MOST], &kept));
    clv_pending_drop(&table, &requests[CLV_PENDING_MOST]); /* is not there */
    assert_null(clv_pending_add(&table, &requests[CLV_PENDING_MOST], &kept));
    clv_pending_drop(&table, &requests[7]);
    assert_non_null(clv_pending_add(&table, &requests[CLV_PENDING_MOST], &kept));
    for (size_t i = 0; i <= CLV_PENDING_MOST; i++) {
        assert_true((clv_pending_find(&table, &requests[i]) != NULL) == (i != 7));
    }
}

static void a_request_that_comes_again_is_a_new_one(void **state)
{
    static clv_pending_table_t table;
    int mine;
    void *kept;

    (void) state;
    memset(&table, 0, sizeof table);
    clv_pending_t *entry = clv_pending_add(&table, &requests[1], &kept);
    entry->kept = &mine;
    entry->number = 3;
    entry = clv_pending_add(&table, &requests[1], &kept);
    assert_ptr_equal(kept, &mine);
    assert_int_equal(entry->number, 0);
    assert_null(entry->kept);
    clv_pending_drop(&table, &requests[1]);
    assert_null(clv_pending_find(&table, &requests[1]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_ring_drops_and_counts),
        cmocka_unit_test(slots_that_belong_together_come_together),
        cmocka_unit_test(a_held_ring_is_not_waited_for),
        cmocka_unit_test(numbers_that_cannot_be_are_no_slots),
        cmocka_unit_test(threads_take_turns),
        cmocka_unit_test(what_ranks_say_is_in_the_file),
        cmocka_unit_test(rounds_have_their_time),
        cmocka_unit_test(nonsense_in_a_ring_breaks_nothing),
        cmocka_unit_test(a_file_stays_below_its_limit),
        cmocka_unit_test(a_file_stays_below_the_processs_limit),
        cmocka_unit_test(a_limit_that_is_met_is_reported_once),
        cmocka_unit_test(a_file_without_a_head_is_not_left),
        cmocka_unit_test(a_round_writes_nothing),
        cmocka_unit_test(a_file_is_never_written_over),
        cmocka_unit_test(a_full_disk_is_reported_once),
        cmocka_unit_test(a_connection_takes_what_was_seen_of_it),
        cmocka_unit_test(requests_are_found_until_they_are_dropped),
        cmocka_unit_test(a_full_table_takes_no_more_until_one_goes),
        cmocka_unit_test(a_request_that_comes_again_is_a_new_one),
    };
    return clv_run_tests(tests);
}
