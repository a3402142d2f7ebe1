/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Credit under every interleaving of small programs: the bound of each process holds in
 * every state, nobody waits for ever, every credit message that is owed is told, and the pools end
 * empty.
 *
 * A model of the executor drives them: in a call a rank posts receives in plan order within a
 * window, sends in plan order, each send after the receives before it, and goes on to its next call
 * when its steps are done. Credit messages travel as slowly as they like; data arrive at once,
 * which is the worst for a receiver. Calls belong to one of two communicators that share each
 * process's pool; a rank closes a communicator after its last call on it, once it has the credit
 * messages it is owed.
 */
#include "schedule/sched_credit.h"
#include "tests/support/test.h"

#define MAX_RANKS    3
#define MAX_COMMS    2
#define MAX_CALLS    8
#define MAX_STEPS    6
#define MAX_MESSAGES 6 /* under way in one pair */
#define MAX_STATES   (1 << 19)

/* One message of a plan; all ranks see the list in the same order. n_units == 0 ends it. */
typedef struct message {
    int8_t from, to, n_units;
} message_t;

typedef struct program {
    const char *name;
    int n_ranks, n_comms, n_calls, window;
    int64_t pool_bytes, grant_calls;
    int comm_of_call[MAX_CALLS];
    message_t plans[MAX_CALLS][MAX_STEPS];
} program_t;

typedef struct pair {
    clv_credit_to_t to;
    clv_credit_from_t from;
    int64_t received; /* bytes taken out of posted receives */
    int8_t n_messages;
    clv_credit_message_t messages[MAX_MESSAGES]; /* under way, oldest first */
} pair_t;

typedef struct rank_state {
    int8_t call;      /* n_calls: all done */
    int8_t next_recv; /* cursors into the call's messages */
    int8_t next_send;
    int8_t done[MAX_STEPS];
    int8_t closed[MAX_COMMS];
    clv_credit_pool_t pool;
} rank_state_t;

/* Whole credit messages, without padding that could differ between equal states. */
typedef struct world {
    rank_state_t ranks[MAX_RANKS];
    pair_t pairs[MAX_COMMS][MAX_RANKS][MAX_RANKS]; /* [comm][sender][receiver] */
} world_t;

static const program_t *program;
/* What was seen, by 128 bits of hash instead of the state: open addressing. */
typedef struct digest {
    uint64_t a, b; /* both 0: free */
} digest_t;

static digest_t seen[MAX_STATES];
static int64_t n_states, max_ahead, max_calls_ahead;

/* ---- the model ------------------------------------------------------------------------------- */

static int64_t charge_of(const message_t *message)
{
    return message->n_units * clv_credit_charge(0);
}

static const message_t *plan_of(int call)
{
    return program->plans[call];
}

static int n_messages(int call)
{
    int n = 0;
    while (n < MAX_STEPS && plan_of(call)[n].n_units != 0) {
        n++;
    }
    return n;
}

/* Numbered per communicator, from 1. */
static int64_t call_number(int call)
{
    int64_t number = 0;
    for (int c = 0; c <= call; c++) {
        number += program->comm_of_call[c] == program->comm_of_call[call];
    }
    return number;
}

/* The peer may be told something. */
static void begin_call(world_t *world, int comm, int rank, int peer)
{
    rank_state_t *me = &world->ranks[rank];
    pair_t *pair = &world->pairs[comm][peer][rank];

    clv_credit_enter(&pair->from, &me->pool, call_number(me->call));
    clv_credit_begin_to(&world->pairs[comm][rank][peer].to);
    pair->n_messages += (int8_t) clv_credit_begin_from(
        &pair->from, &me->pool, call_number(me->call), &pair->messages[pair->n_messages]);
    assert_true(pair->n_messages < MAX_MESSAGES);
}

static void enter(world_t *world, int rank)
{
    rank_state_t *me = &world->ranks[rank];
    int comm;

    me->next_recv = me->next_send = 0;
    memset(me->done, 0, sizeof me->done);
    if (me->call == program->n_calls) {
        return;
    }
    comm = program->comm_of_call[me->call];
    for (int peer = 0; peer < program->n_ranks; peer++) {
        begin_call(world, comm, rank, peer);
    }
}

static int open_recvs(const world_t *world, int rank)
{
    const rank_state_t *me = &world->ranks[rank];
    int n_open = 0;

    for (int i = 0; i < me->next_recv; i++) {
        n_open += plan_of(me->call)[i].to == rank && !me->done[i];
    }
    return n_open;
}

/* Moves answer whether they could be made; they change the world only then. */
static int post_recv(world_t *world, int rank)
{
    rank_state_t *me = &world->ranks[rank];
    const message_t *message = &plan_of(me->call)[me->next_recv];
    pair_t *pair = &world->pairs[program->comm_of_call[me->call]][message->from][rank];

    if (me->next_recv == n_messages(me->call)) {
        return 0;
    }
    if (message->to == rank) {
        if (open_recvs(world, rank) == program->window) {
            return 0;
        }
        pair->n_messages +=
            (int8_t) clv_credit_posted(&pair->from, &me->pool, call_number(me->call),
                                       charge_of(message), &pair->messages[pair->n_messages]);
        assert_true(pair->n_messages < MAX_MESSAGES);
    }
    me->next_recv++;
    return 1;
}

/* Of one sender the oldest message first: they do not overtake. */
static int finish_recv(world_t *world, int rank, int index)
{
    rank_state_t *me = &world->ranks[rank];
    const message_t *message = &plan_of(me->call)[index];
    pair_t *pair = &world->pairs[program->comm_of_call[me->call]][message->from][rank];

    if (index >= me->next_recv || message->to != rank || me->done[index] ||
        pair->to.sent - pair->received < charge_of(message)) {
        return 0;
    }
    for (int i = 0; i < index; i++) {
        if (plan_of(me->call)[i].from == message->from && plan_of(me->call)[i].to == rank &&
            !me->done[i]) {
            return 0;
        }
    }
    pair->received += charge_of(message);
    me->done[index] = 1;
    return 1;
}

static int start_send(world_t *world, int rank)
{
    rank_state_t *me = &world->ranks[rank];
    const message_t *message = &plan_of(me->call)[me->next_send];
    pair_t *pair;

    if (me->next_send == n_messages(me->call)) {
        return 0;
    }
    if (message->from == rank) {
        pair = &world->pairs[program->comm_of_call[me->call]][rank][message->to];
        for (int i = 0; i < me->next_send; i++) {
            if (plan_of(me->call)[i].to == rank && !me->done[i]) {
                return 0;
            }
        }
        if (!clv_credit_may_send(&pair->to, call_number(me->call), charge_of(message))) {
            return 0;
        }
        clv_credit_sent(&pair->to, charge_of(message));
    }
    me->next_send++;
    return 1;
}

static int next_call(world_t *world, int rank)
{
    rank_state_t *me = &world->ranks[rank];

    if (me->next_recv < n_messages(me->call) || me->next_send < n_messages(me->call) ||
        open_recvs(world, rank) > 0) {
        return 0;
    }
    me->call++;
    enter(world, rank);
    return 1;
}

static int take_word(world_t *world, int comm, int sender, int receiver)
{
    pair_t *pair = &world->pairs[comm][sender][receiver];

    if (pair->n_messages == 0) {
        return 0;
    }
    clv_credit_take(&pair->to, &pair->messages[0]);
    memmove(&pair->messages[0], &pair->messages[1],
            sizeof pair->messages - sizeof pair->messages[0]);
    pair->n_messages--;
    memset(&pair->messages[pair->n_messages], 0, sizeof pair->messages[0]);
    return 1;
}

static int left_comm(const world_t *world, int comm, int rank)
{
    for (int c = 0; c < program->n_calls; c++) {
        if (c >= world->ranks[rank].call && program->comm_of_call[c] == comm) {
            return 0;
        }
    }
    return 1;
}

static int close_comm(world_t *world, int comm, int rank)
{
    rank_state_t *me = &world->ranks[rank];
    int64_t guaranteed = world->pairs[comm][(rank + 1) % program->n_ranks][rank].from.guaranteed;

    if (me->closed[comm] || !left_comm(world, comm, rank)) {
        return 0;
    }
    for (int peer = 0; peer < program->n_ranks; peer++) {
        const clv_credit_to_t *to = &world->pairs[comm][rank][peer].to;
        if (to->n_taken < to->n_owed) {
            return 0;
        }
    }
    for (int peer = 0; peer < program->n_ranks; peer++) {
        clv_credit_close(&world->pairs[comm][peer][rank].from, &me->pool);
    }
    clv_credit_guarantee_close(&me->pool, guaranteed, program->n_ranks - 1);
    me->closed[comm] = 1;
    return 1;
}

/* The i-th thing that could happen next: 0 it cannot, -1 there are no more. */
static int move(world_t *world, int i)
{
    const int per_rank = 3 + MAX_STEPS + MAX_COMMS, n_ranks = program->n_ranks;
    int rank = i / per_rank, what = i % per_rank;

    if (i < n_ranks * per_rank) {
        if (what >= 3 + MAX_STEPS) {
            return what - 3 - MAX_STEPS < program->n_comms &&
                   close_comm(world, what - 3 - MAX_STEPS, rank);
        }
        if (world->ranks[rank].call == program->n_calls) {
            return 0;
        }
        return what == 0   ? post_recv(world, rank)
               : what == 1 ? start_send(world, rank)
               : what == 2 ? next_call(world, rank)
                           : finish_recv(world, rank, what - 3);
    }
    i -= n_ranks * per_rank;
    if (i >= program->n_comms * n_ranks * n_ranks) {
        return -1;
    }
    return take_word(world, i / n_ranks / n_ranks, i / n_ranks % n_ranks, i % n_ranks);
}

/* ---- what must hold -------------------------------------------------------------------------- */

static void check_rank(const world_t *world, int rank)
{
    const clv_credit_pool_t *pool = &world->ranks[rank].pool;
    int64_t all = 0;

    for (int comm = 0; comm < program->n_comms; comm++) {
        for (int peer = 0; peer < program->n_ranks; peer++) {
            const pair_t *pair = &world->pairs[comm][peer][rank];
            int64_t ahead = pair->to.sent - pair->from.posted;
            all += ahead > 0 ? ahead : 0;
            assert_true(ahead <= 0 || ahead <= pair->from.guaranteed + pair->from.held);
            /* One more was told by a receiver that is in its next call already. */
            assert_true(pair->to.n_taken <= pair->to.n_owed + 1 || ahead < 0);
        }
    }
    if (world->ranks[rank].call - world->ranks[0].call > max_calls_ahead) {
        max_calls_ahead = world->ranks[rank].call - world->ranks[0].call;
    }
    assert_true(all <= pool->bytes);
    assert_true(pool->guaranteed + pool->granted <= pool->bytes);
    assert_true(pool->guaranteed >= 0 && pool->granted >= 0 && pool->n_grants >= 0);
    max_ahead = all > max_ahead ? all : max_ahead;
}

/* Nothing can happen any more, so everything must have. */
static void check_end(const world_t *world)
{
    for (int rank = 0; rank < program->n_ranks; rank++) {
        const rank_state_t *me = &world->ranks[rank];
        assert_int_equal(me->call, program->n_calls);
        assert_int_equal(me->pool.guaranteed, 0);
        assert_int_equal(me->pool.granted, 0);
        assert_int_equal(me->pool.n_grants, 0);
    }
    for (int comm = 0; comm < program->n_comms; comm++) {
        for (int i = 0; i < program->n_ranks * program->n_ranks; i++) {
            const pair_t *pair = &world->pairs[comm][i / program->n_ranks][i % program->n_ranks];
            assert_int_equal(pair->to.n_taken, pair->to.n_owed);
            assert_int_equal(pair->to.sent, pair->from.posted);
        }
    }
}

/* ---- the search ------------------------------------------------------------------------------ */

static digest_t digest_of(const world_t *world)
{
    digest_t digest = {1, 2};
    uint64_t eight_bytes;

    for (size_t i = 0; i < sizeof *world; i += sizeof eight_bytes) {
        memcpy(&eight_bytes, (const char *) world + i, sizeof eight_bytes);
        digest.a = (digest.a ^ eight_bytes) * UINT64_C(0x9e3779b97f4a7c15);
        digest.a ^= digest.a >> 32;
        digest.b = (digest.b + eight_bytes) * UINT64_C(0xbf58476d1ce4e5b9);
        digest.b ^= digest.b >> 29;
    }
    return digest;
}

static int is_new(const world_t *world)
{
    digest_t digest = digest_of(world);
    size_t at = digest.a % MAX_STATES;

    while ((seen[at].a | seen[at].b) != 0) {
        if (seen[at].a == digest.a && seen[at].b == digest.b) {
            return 0;
        }
        at = (at + 1) % MAX_STATES;
    }
    seen[at] = digest;
    n_states++;
    assert_true(n_states < MAX_STATES / 4 * 3);
    return 1;
}

static void explore(const world_t *world)
{
    world_t next = *world;
    int n_moves = 0;

    for (int rank = 0; rank < program->n_ranks; rank++) {
        check_rank(world, rank);
    }
    for (int i = 0;; i++) {
        int made = move(&next, i);
        if (made < 0) {
            break;
        }
        n_moves += made;
        if (made && is_new(&next)) {
            explore(&next);
        }
        if (made) {
            next = *world;
        }
    }
    if (n_moves == 0) {
        check_end(world);
    }
}

static void begin(world_t *world)
{
    memset(world, 0, sizeof *world);
    for (int rank = 0; rank < program->n_ranks; rank++) {
        clv_credit_pool_open(&world->ranks[rank].pool, program->pool_bytes, program->grant_calls);
        for (int comm = 0; comm < program->n_comms; comm++) {
            int64_t guaranteed =
                clv_credit_guarantee_open(&world->ranks[rank].pool, program->n_ranks - 1);
            for (int peer = 0; peer < program->n_ranks; peer++) {
                world->pairs[comm][peer][rank].from.guaranteed = guaranteed;
                world->pairs[comm][peer][rank].to.guaranteed = guaranteed;
            }
        }
    }
    for (int rank = 0; rank < program->n_ranks; rank++) {
        enter(world, rank);
    }
}

#define UNITS(n) ((n) * (int64_t) CLV_CREDIT_MESSAGE_BYTES)

static const program_t programs[] = {
    {"two ranks, one after the other",
     2,
     1,
     5,
     1,
     UNITS(5),
     1,
     {0},
     {{{1, 0, 1}, {1, 0, 2}}, {{1, 0, 1}}, {{1, 0, 2}}, {{1, 0, 1}, {1, 0, 1}}, {{1, 0, 3}}}},
    {"a message larger than everything",
     2,
     1,
     3,
     2,
     UNITS(3),
     1,
     {0},
     {{{1, 0, 1}, {1, 0, 9}}, {{1, 0, 9}, {1, 0, 1}}, {{1, 0, 1}, {1, 0, 1}}}},
    {"to and fro",
     2,
     1,
     3,
     1,
     UNITS(3),
     1,
     {0},
     {{{1, 0, 1}, {0, 1, 1}, {1, 0, 1}}, {{0, 1, 2}, {1, 0, 1}}, {{1, 0, 1}, {0, 1, 1}}}},
    {"no room for a message",
     2,
     1,
     3,
     1,
     100,
     1,
     {0},
     {{{1, 0, 1}, {1, 0, 2}}, {{1, 0, 1}}, {{1, 0, 2}}}},
    {"senders take turns",
     3,
     1,
     4,
     2,
     UNITS(9),
     1,
     {0},
     {{{1, 0, 1}, {1, 0, 1}}, {{2, 0, 1}, {2, 0, 2}}, {{1, 0, 1}, {2, 0, 1}}, {{1, 0, 2}}}},
    {"a grant ends unused",
     3,
     1,
     5,
     1,
     UNITS(8),
     1,
     {0},
     {{{1, 0, 2}}, {{2, 0, 2}}, {{2, 0, 1}}, {{2, 0, 2}}, {{1, 0, 2}}}},
    {"a grant shrinks while it is used",
     3,
     1,
     4,
     1,
     UNITS(16),
     3,
     {0},
     {{{1, 0, 1}, {2, 0, 1}}, {{1, 0, 1}}, {{1, 0, 4}}, {{1, 0, 3}}}},
    {"more senders than there is to grant",
     3,
     2,
     4,
     2,
     UNITS(24),
     3,
     {0, 1, 0, 1},
     {{{1, 0, 2}, {2, 0, 2}}, {{1, 0, 1}, {2, 0, 1}}, {{1, 0, 9}}, {{2, 0, 9}}}},
    {"a chain that turns round",
     3,
     1,
     3,
     1,
     UNITS(4),
     1,
     {0},
     {{{2, 1, 1}, {1, 0, 1}}, {{1, 2, 1}, {2, 0, 1}}, {{2, 1, 1}, {1, 0, 1}}}},
    {"two communicators, one closed early",
     2,
     2,
     5,
     1,
     UNITS(12),
     1,
     {0, 1, 0, 1, 1},
     {{{1, 0, 1}, {1, 0, 1}}, {{1, 0, 2}}, {{1, 0, 2}}, {{1, 0, 1}}, {{1, 0, 2}, {1, 0, 1}}}},
};

static void every_interleaving_of_small_programs(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        world_t world;
        program = &programs[i];
        n_states = max_ahead = max_calls_ahead = 0;
        memset(seen, 0, sizeof seen);
        begin(&world);
        explore(&world);
        print_message("# %s: %ld states, at most %ld of %ld bytes and %ld calls ahead\n",
                      program->name, (long) n_states, (long) max_ahead, (long) program->pool_bytes,
                      (long) max_calls_ahead);
        assert_true(n_states > 50);
        assert_true(program->pool_bytes < UNITS(1) || max_ahead > 0);
    }
}

/* ---- the rules one by one -------------------------------------------------------------------- */

static void half_of_what_is_free_is_promised_to_all(void **state)
{
    clv_credit_pool_t pool;
    int64_t first, second;

    (void) state;
    clv_credit_pool_open(&pool, 1 << 20, 32);
    first = clv_credit_guarantee_open(&pool, 4);
    second = clv_credit_guarantee_open(&pool, 2);
    assert_int_equal(first, (1 << 19) / 4);
    assert_int_equal(second, (1 << 18) / 2);
    clv_credit_guarantee_close(&pool, first, 4);
    clv_credit_guarantee_close(&pool, second, 2);
    assert_int_equal(pool.guaranteed, 0);
    assert_int_equal(clv_credit_guarantee_open(&pool, 100000), 1);
    assert_int_equal(pool.guaranteed, 0);
}

/* Sends and posts a message in one step; takes the credit message if one comes. */
static void pass(clv_credit_to_t *to, clv_credit_from_t *from, clv_credit_pool_t *pool,
                 int64_t call, int64_t charge)
{
    clv_credit_message_t message;

    clv_credit_sent(to, charge);
    if (clv_credit_posted(from, pool, call, charge, &message)) {
        clv_credit_take(to, &message);
    }
}

static int64_t room_of(clv_credit_to_t *to, int64_t call)
{
    int64_t room = 0;

    while (clv_credit_may_send(to, call, room + 1)) {
        room++;
    }
    return room;
}

static void a_lone_sender_gets_most_and_shares_with_the_next(void **state)
{
    clv_credit_pool_t pool;
    int64_t guaranteed;

    (void) state;
    clv_credit_pool_open(&pool, 100000, 32);
    guaranteed = clv_credit_guarantee_open(&pool, 5);
    assert_int_equal(guaranteed, 10000);
    clv_credit_to_t to[2] = {{.guaranteed = guaranteed}, {.guaranteed = guaranteed}};
    clv_credit_from_t from[2] = {{.guaranteed = guaranteed}, {.guaranteed = guaranteed}};
    assert_int_equal(room_of(&to[0], 1), guaranteed);
    pass(&to[0], &from[0], &pool, 1, 8750);
    assert_int_equal(room_of(&to[0], 1), guaranteed + 25000);
    pass(&to[1], &from[1], &pool, 1, 8750);
    assert_int_equal(room_of(&to[1], 1), guaranteed + 50000 / 3);
    for (int i = 0; i < 10; i++) {
        pass(&to[0], &from[0], &pool, 2, 8750);
    }
    assert_int_equal(room_of(&to[0], 2), guaranteed + 50000 / 3);
}

/* One of five senders in a pool whose grants last four calls; returns its guarantee. */
static int64_t open_pair(clv_credit_pool_t *pool, clv_credit_to_t *to, clv_credit_from_t *from)
{
    int64_t guaranteed;

    clv_credit_pool_open(pool, 100000, 4);
    guaranteed = clv_credit_guarantee_open(pool, 5);
    *to = (clv_credit_to_t){.guaranteed = guaranteed};
    *from = (clv_credit_from_t){.guaranteed = guaranteed};
    return guaranteed;
}

static void a_lease_ends_with_its_calls(void **state)
{
    clv_credit_pool_t pool;
    clv_credit_to_t to;
    clv_credit_from_t from;
    int64_t guaranteed;

    (void) state;
    guaranteed = open_pair(&pool, &to, &from);
    pass(&to, &from, &pool, 7, 8750);
    assert_true(room_of(&to, 11) > guaranteed);
    assert_int_equal(room_of(&to, 12), guaranteed);
    clv_credit_enter(&from, &pool, 11);
    assert_int_equal(pool.n_grants, 1);
    clv_credit_enter(&from, &pool, 12);
    assert_int_equal(pool.n_grants, 0);
    assert_int_equal(pool.granted, 0);
}

/* Both ends count the same credit messages. */
static void little_is_reported_when_the_next_call_begins(void **state)
{
    clv_credit_pool_t pool;
    clv_credit_message_t message = {.posted = 0};
    clv_credit_to_t to;
    clv_credit_from_t from;

    (void) state;
    (void) open_pair(&pool, &to, &from);
    for (int call = 1; call <= 6; call++) {
        const int is_due = call % 3 == 0; /* the third time a quarter is there */
        pass(&to, &from, &pool, call, 1000);
        clv_credit_begin_to(&to);
        assert_int_equal(clv_credit_begin_from(&from, &pool, call + 1, &message), is_due);
        assert_int_equal(to.n_owed, call / 3);
        assert_int_equal(message.posted, call / 3 * 3000);
    }
    for (int i = 0; i < 8; i++) { /* and in a call what one may not wait for */
        pass(&to, &from, &pool, 7, 1000);
        assert_int_equal(to.n_taken, 0);
    }
    pass(&to, &from, &pool, 7, 1000);
    assert_int_equal(to.n_taken, 1);
    assert_int_equal(to.n_owed, 3);
    clv_credit_begin_to(&to);
    assert_int_equal(clv_credit_begin_from(&from, &pool, 8, &message), 0);
    assert_int_equal(to.n_owed, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_interleaving_of_small_programs),
        cmocka_unit_test(half_of_what_is_free_is_promised_to_all),
        cmocka_unit_test(a_lone_sender_gets_most_and_shares_with_the_next),
        cmocka_unit_test(a_lease_ends_with_its_calls),
        cmocka_unit_test(little_is_reported_when_the_next_call_begins),
    };
    return clv_run_tests(tests);
}
