/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See cs_net.h.
 */
#undef _FORTIFY_SOURCE /* its longjmp refuses to leave the stack */
#include "tests/sim/cs_net.h"

#include <assert.h>
#include <setjmp.h>
#include <string.h>
#include <ucontext.h>

#include "tests/sim/cs_random.h"
#include "util/util_time.h"

#define STACK_BYTES   (256 * 1024)
#define SMALL_STACK   (64 * 1024) /* of many ranks */
#define DATA_BYTES    128
#define CLOCK_READ_NS 25
#define SEND_NS       600
#define RECV_NS       400
#define SWING_NS      (300.0 * 1e9)

typedef struct message {
    struct message *next;
    int64_t arrival_ns;
    size_t n_bytes;
    unsigned char data[DATA_BYTES];
} message_t;

/* One direction of one pair. */
typedef struct way {
    message_t *first, *last;
    int64_t newest_arrival_ns;
    int64_t least_ns;
    double spell_end_ns, spell_extra_ns;
    int is_busy;
    cs_random_t random;
} way_t;

typedef struct fiber {
    cs_net_rank_t rank;   /* first: a rank is its fiber */
    ucontext_t beginning; /* later it goes on where it left */
    jmp_buf left;
    void *stack;
    int is_new, is_done, is_waiting, is_timed_out, is_queued;
    int waits_for;
    int64_t deadline_ns;
} fiber_t;

/* A way that is not of a full table. */
typedef struct slot {
    uint64_t key; /* from * n + to; both are 0 in an empty one: no rank sends to itself */
    way_t *way;
} slot_t;

struct cs_net {
    cs_net_config_t config;
    fiber_t *fibers;
    cs_net_host_t *hosts;
    way_t *ways;   /* from * n + to; NULL: many ranks, then in slots by a hash of the key */
    slot_t *slots; /* a power of two of them */
    size_t n_slots, n_used, stack_bytes;
    int *queue; /* ranks whose message came, a ring of n_ranks */
    int queue_first, n_queued;
    jmp_buf scheduler;
    fiber_t *running;
    cs_net_body_t body;
    void *body_context;
};

static void *zeroed(size_t n, size_t bytes)
{
    void *memory = calloc(n, bytes);
    assert(memory != NULL);
    return memory;
}

static uint64_t mix(uint64_t seed, uint64_t key)
{
    cs_random_t random = {seed ^ (key * UINT64_C(0xd1342543de82ef95))};
    return cs_random_u64(&random);
}

static double least_of(const cs_net_config_t *config, int a, int b)
{
    const int is_inside = a / config->ranks_per_host == b / config->ranks_per_host;
    return (double) (is_inside ? config->least_delay_inside_ns : config->least_delay_ns);
}

/* Both ways of a pair draw the same tilt, in opposite directions. */
static way_t *draw_way(const cs_net_config_t *config, int from, int to)
{
    const int low = from < to ? from : to;
    const int high = from < to ? to : from;
    cs_random_t random = {mix(config->seed, (uint64_t) high << 32 | (uint64_t) low)};
    const double tilt = cs_random_uniform(&random, -config->asymmetry, config->asymmetry);
    way_t *drawn = zeroed(1, sizeof *drawn);
    drawn->least_ns =
        (int64_t) (least_of(config, from, to) * (from < to ? 1.0 + tilt : 1.0 - tilt));
    drawn->random.state = mix(config->seed + 1, (uint64_t) from << 32 | (uint64_t) to);
    return drawn;
}

/* Where the key is, or belongs. */
static slot_t *find_slot(slot_t *slots, size_t n_slots, uint64_t key)
{
    size_t at = (size_t) mix(0, key) & (n_slots - 1);
    while (slots[at].way != NULL && slots[at].key != key) {
        at = (at + 1) & (n_slots - 1);
    }
    return &slots[at];
}

static void grow_slots(cs_net_t *net)
{
    const size_t n_slots = 2 * net->n_slots;
    slot_t *slots = zeroed(n_slots, sizeof *slots);
    for (size_t i = 0; i < net->n_slots; i++) {
        if (net->slots[i].way != NULL) {
            *find_slot(slots, n_slots, net->slots[i].key) = net->slots[i];
        }
    }
    free(net->slots);
    net->slots = slots;
    net->n_slots = n_slots;
}

static way_t *way(cs_net_t *net, int from, int to)
{
    const uint64_t key = (uint64_t) from * (uint64_t) net->config.n_ranks + (uint64_t) to;
    if (net->ways != NULL) {
        return &net->ways[key];
    }
    if (2 * net->n_used >= net->n_slots) {
        grow_slots(net);
    }
    slot_t *slot = find_slot(net->slots, net->n_slots, key);
    if (slot->way == NULL) {
        *slot = (slot_t){key, draw_way(&net->config, from, to)};
        net->n_used++;
    }
    return slot->way;
}

/* A rank that waits for this message can go on, and need not be looked for. */
static void wake(cs_net_t *net, int from, int to)
{
    fiber_t *fiber = &net->fibers[to];
    if (fiber->is_waiting && fiber->waits_for == from && !fiber->is_queued) {
        fiber->is_queued = 1;
        net->queue[(net->queue_first + net->n_queued++) % net->config.n_ranks] = to;
    }
}

cs_net_host_t *cs_net_host(cs_net_t *net, int rank)
{
    return &net->hosts[rank / net->config.ranks_per_host];
}

cs_net_rank_t *cs_net_rank(cs_net_t *net, int rank)
{
    return &net->fibers[rank].rank;
}

int64_t cs_net_local(const cs_net_t *net, int rank, int64_t true_ns)
{
    const cs_net_host_t *host = &net->hosts[rank / net->config.ranks_per_host];
    const double t = (double) true_ns;
    const double phase = 2.0 * 3.14159265358979 / SWING_NS;
    const double swing = host->wander / phase * (1.0 - cos(phase * t));
    const int64_t gained = (int64_t) llround(host->drift * t + swing);
    return true_ns + host->ahead_ns + gained + (true_ns >= host->step_at_ns ? host->step_ns : 0);
}

static int64_t read_clock(const clv_cs_clock_t *clock)
{
    cs_net_rank_t *rank = clock->context;
    rank->now_ns += CLOCK_READ_NS;
    return cs_net_local(rank->net, rank->rank, rank->now_ns);
}

int64_t cs_net_now(const cs_net_t *net)
{
    int64_t now = 0;
    for (int i = 0; i < net->config.n_ranks; i++) {
        const int64_t its = net->fibers[i].rank.now_ns;
        now = its > now ? its : now;
    }
    return now;
}

void cs_net_sleep(cs_net_rank_t *rank, int64_t ns)
{
    rank->now_ns += ns;
}

/* Noise that lasts: for a spell everything sent this way takes as much longer. */
static double spell_at(const cs_net_config_t *config, way_t *w, int64_t now_ns)
{
    while (config->spell_length_ns > 0 && (double) now_ns >= w->spell_end_ns) {
        w->is_busy = !w->is_busy;
        w->spell_end_ns += cs_random_exponential(&w->random, config->spell_length_ns);
        w->spell_extra_ns = w->is_busy ? cs_random_exponential(&w->random, config->spell_ns) : 0.0;
    }
    return w->spell_extra_ns;
}

static int64_t draw_delay(const cs_net_config_t *config, way_t *w, int64_t now_ns)
{
    double extra = config->queue_ns > 0 ? cs_random_exponential(&w->random, config->queue_ns) : 0;
    if (cs_random_uniform(&w->random, 0, 1) < config->outlier_probability) {
        extra += cs_random_uniform(&w->random, 0, (double) config->outlier_ns);
    }
    return w->least_ns + (int64_t) (extra + spell_at(config, w, now_ns));
}

static clv_status_t net_send(void *link, int peer, const void *data, size_t n_bytes)
{
    cs_net_rank_t *rank = link;
    cs_net_t *net = rank->net;
    way_t *w = way(net, rank->rank, peer);
    if (rank->now_ns >= rank->kill_at_ns) {
        return CLV_LOST;
    }
    assert(n_bytes <= DATA_BYTES);
    message_t *message = malloc(sizeof *message);
    assert(message != NULL);
    message->next = NULL;
    rank->now_ns += SEND_NS;
    rank->n_sent++;
    message->arrival_ns = rank->now_ns + draw_delay(&net->config, w, rank->now_ns);
    if (message->arrival_ns < w->newest_arrival_ns) {
        message->arrival_ns = w->newest_arrival_ns; /* in order, like a stream */
    }
    w->newest_arrival_ns = message->arrival_ns;
    message->n_bytes = n_bytes;
    memcpy(message->data, data, n_bytes);
    if (rank->corrupt != NULL) {
        rank->corrupt(rank, message->data, n_bytes);
    }
    *(w->first != NULL ? &w->last->next : &w->first) = message;
    w->last = message;
    wake(net, rank->rank, peer);
    return CLV_OK;
}

/* Not by swapcontext, which asks the kernel for the mask of signals each time. */
static void suspend(fiber_t *fiber)
{
    if (_setjmp(fiber->left) == 0) {
        _longjmp(fiber->rank.net->scheduler, 1);
    }
}

static clv_status_t wait_for(fiber_t *fiber, int peer, int64_t deadline_ns)
{
    cs_net_t *net = fiber->rank.net;
    while (way(net, peer, fiber->rank.rank)->first == NULL) {
        const fiber_t *sender = &net->fibers[peer];
        if (net->config.loss_is_reported &&
            (sender->is_done || sender->rank.now_ns >= sender->rank.kill_at_ns)) {
            return CLV_LOST;
        }
        fiber->is_waiting = 1;
        fiber->waits_for = peer;
        fiber->deadline_ns = deadline_ns;
        suspend(fiber);
        if (fiber->is_timed_out) {
            fiber->is_timed_out = 0;
            fiber->rank.now_ns = deadline_ns;
            return CLV_TIMEOUT;
        }
    }
    return CLV_OK;
}

static clv_status_t net_recv(void *link, int peer, void *data, size_t n_bytes, int64_t timeout_ns)
{
    fiber_t *fiber = link;
    cs_net_rank_t *rank = link;
    way_t *w = way(rank->net, peer, rank->rank);
    const int64_t deadline_ns = rank->now_ns + timeout_ns;
    if (rank->now_ns >= rank->kill_at_ns) {
        return CLV_LOST;
    }
    const clv_status_t status = wait_for(fiber, peer, deadline_ns);
    if (status != CLV_OK) {
        return status;
    }
    message_t *message = w->first;
    if (message->arrival_ns > deadline_ns) {
        rank->now_ns = deadline_ns;
        return CLV_TIMEOUT;
    }
    w->first = message->next;
    rank->now_ns = message->arrival_ns > rank->now_ns ? message->arrival_ns : rank->now_ns;
    rank->now_ns += RECV_NS;
    const int fits = message->n_bytes == n_bytes;
    if (fits) {
        memcpy(data, message->data, n_bytes);
    }
    free(message);
    return fits ? CLV_OK : CLV_PROTOCOL;
}

const clv_link_ops_t cs_net_link_ops = {net_send, net_recv};

cs_net_config_t cs_net_quiet(int n_ranks, uint64_t seed)
{
    return (cs_net_config_t){
        .n_ranks = n_ranks,
        .ranks_per_host = 1,
        .seed = seed,
        .start_ns = 5 * CLV_NS_PER_S,
        .least_delay_ns = 20000,
        .least_delay_inside_ns = 500,
        .queue_ns = 3000,
        .asymmetry = 0.0,
        .max_drift = 50e-6,
        .max_ahead_ns = 3600 * CLV_NS_PER_S,
    };
}

static void make_ways(cs_net_t *net, cs_random_t *random)
{
    const cs_net_config_t *config = &net->config;
    for (int a = 0; a < config->n_ranks; a++) {
        for (int b = 0; b < a; b++) {
            const double least = least_of(config, a, b);
            const double tilt = cs_random_uniform(random, -config->asymmetry, config->asymmetry);
            way(net, a, b)->least_ns = (int64_t) (least * (1.0 + tilt));
            way(net, b, a)->least_ns = (int64_t) (least * (1.0 - tilt));
            way(net, a, b)->random.state = cs_random_u64(random);
            way(net, b, a)->random.state = cs_random_u64(random);
        }
    }
}

cs_net_t *cs_net_create(const cs_net_config_t *config)
{
    const size_t n = (size_t) config->n_ranks;
    cs_random_t random = {config->seed};
    cs_net_t *net = zeroed(1, sizeof *net);
    net->config = *config;
    net->stack_bytes = n <= CS_NET_MAX_RANKS ? STACK_BYTES : SMALL_STACK;
    net->fibers = zeroed(n, sizeof *net->fibers);
    net->hosts = zeroed(n, sizeof *net->hosts);
    net->queue = zeroed(n, sizeof *net->queue);
    if (n <= CS_NET_MAX_RANKS) {
        net->ways = zeroed(n * n, sizeof *net->ways);
        make_ways(net, &random);
    } else {
        net->n_slots = 4096;
        net->slots = zeroed(net->n_slots, sizeof *net->slots);
    }
    for (int i = 0; i < config->n_ranks; i++) {
        cs_net_rank_t *rank = &net->fibers[i].rank;
        net->hosts[i] = (cs_net_host_t){
            .ahead_ns = cs_random_range(&random, -config->max_ahead_ns, config->max_ahead_ns),
            .drift = cs_random_uniform(&random, -config->max_drift, config->max_drift),
            .wander = cs_random_uniform(&random, -config->wander, config->wander),
            .step_at_ns = CS_NET_NEVER,
        };
        rank->net = net;
        rank->rank = i;
        rank->now_ns = config->start_ns + cs_random_range(&random, 0, CLV_NS_PER_MS);
        rank->kill_at_ns = CS_NET_NEVER;
        rank->clock = (clv_cs_clock_t){.now_ns = read_clock, .name = "simulated", .context = rank};
    }
    return net;
}

static void drop_messages(const way_t *w)
{
    message_t *next = w->first;
    while (next != NULL) {
        message_t *message = next;
        next = message->next;
        free(message);
    }
}

void cs_net_destroy(cs_net_t *net)
{
    for (int i = 0; net->ways != NULL && i < net->config.n_ranks * net->config.n_ranks; i++) {
        drop_messages(&net->ways[i]);
    }
    for (size_t i = 0; i < net->n_slots; i++) {
        if (net->slots[i].way != NULL) {
            drop_messages(net->slots[i].way);
            free(net->slots[i].way);
        }
    }
    free(net->ways);
    free(net->slots);
    free(net->queue);
    free(net->hosts);
    free(net->fibers);
    free(net);
}

/* makecontext takes ints only, so the net travels in two halves. */
static void fiber_main(unsigned int high, unsigned int low)
{
    cs_net_t *net = (cs_net_t *) (((uintptr_t) high << 32) | (uintptr_t) low);
    fiber_t *fiber = net->running;
    net->body(&fiber->rank, net->body_context);
    fiber->is_done = 1;
    suspend(fiber);
}

/* Stacks of earlier runs, each of which begins with the next: fresh ones cost a fault a page. */
static void *spare_stacks;

static void *take_stack(size_t n_bytes)
{
    void *stack = spare_stacks;
    if (n_bytes != STACK_BYTES || stack == NULL) {
        return zeroed(1, n_bytes);
    }
    memcpy(&spare_stacks, stack, sizeof spare_stacks);
    return stack;
}

static void give_stack(void *stack, size_t n_bytes)
{
    if (n_bytes != STACK_BYTES) {
        free(stack);
        return;
    }
    memcpy(stack, &spare_stacks, sizeof spare_stacks);
    spare_stacks = stack;
}

static void start_fiber(cs_net_t *net, fiber_t *fiber)
{
    const uintptr_t bits = (uintptr_t) net;
    fiber->is_done = fiber->is_waiting = fiber->is_timed_out = fiber->is_queued = 0;
    fiber->is_new = 1;
    fiber->stack = take_stack(net->stack_bytes);
    getcontext(&fiber->beginning);
    fiber->beginning.uc_stack.ss_sp = fiber->stack;
    fiber->beginning.uc_stack.ss_size = net->stack_bytes;
    fiber->beginning.uc_link = NULL;
    makecontext(&fiber->beginning, (void (*)(void)) fiber_main, 2, (unsigned int) (bits >> 32),
                (unsigned int) bits);
}

static int can_run(cs_net_t *net, const fiber_t *fiber)
{
    if (fiber->is_done) {
        return 0;
    }
    if (!fiber->is_waiting || fiber->is_timed_out) {
        return 1;
    }
    const fiber_t *sender = &net->fibers[fiber->waits_for];
    return way(net, fiber->waits_for, fiber->rank.rank)->first != NULL ||
           (net->config.loss_is_reported && sender->is_done);
}

static void resume(cs_net_t *net, fiber_t *fiber)
{
    fiber->is_waiting = 0;
    net->running = fiber;
    if (_setjmp(net->scheduler) != 0) {
        return;
    }
    if (!fiber->is_new) {
        _longjmp(fiber->left, 1);
    }
    fiber->is_new = 0;
    setcontext(&fiber->beginning);
}

/* Those whose message came, while there are any. */
static void drain(cs_net_t *net)
{
    while (net->n_queued > 0) {
        fiber_t *fiber = &net->fibers[net->queue[net->queue_first]];
        net->queue_first = (net->queue_first + 1) % net->config.n_ranks;
        net->n_queued--;
        fiber->is_queued = 0;
        if (can_run(net, fiber)) {
            resume(net, fiber);
        }
    }
}

/* Nobody can go on: the earliest deadline passes. Returns 0 when all are done. */
static int pass_a_deadline(cs_net_t *net)
{
    fiber_t *first = NULL;
    for (int i = 0; i < net->config.n_ranks; i++) {
        fiber_t *fiber = &net->fibers[i];
        if (!fiber->is_done && (first == NULL || fiber->deadline_ns < first->deadline_ns)) {
            first = fiber;
        }
    }
    if (first != NULL) {
        first->is_timed_out = 1;
    }
    return first != NULL;
}

void cs_net_run(cs_net_t *net, cs_net_body_t body, void *context)
{
    net->body = body;
    net->body_context = context;
    for (int i = 0; i < net->config.n_ranks; i++) {
        start_fiber(net, &net->fibers[i]);
    }
    int goes_on = 1;
    while (goes_on) {
        goes_on = 0;
        for (int i = 0; i < net->config.n_ranks; i++) {
            if (can_run(net, &net->fibers[i])) {
                resume(net, &net->fibers[i]);
                drain(net);
                goes_on = 1;
            }
        }
        goes_on = goes_on || pass_a_deadline(net);
    }
    for (int i = 0; i < net->config.n_ranks; i++) {
        give_stack(net->fibers[i].stack, net->stack_bytes);
    }
}
