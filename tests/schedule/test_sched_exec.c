/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The window executor on a simulated network: all ranks of a plan live in this process and take
 * turns as a seeded scheduler says. Messages of a pair stay in order, everything else is drawn:
 * delays, eager or matched completion, who is late, how slow a turn is.
 *
 * A copy is the set of ranks in it (64 bits), so a contribution that is lost or counted twice shows
 * at once; a second word, combined by an operation that depends on order, tells whether two runs
 * of one plan combined in the same order.
 *
 * CLV_ROUNDS: random jobs of the four goals (500; 20000 is the figure of docs/design/schedule.md).
 */
#include "schedule/sched_exec.h"
#include "tests/support/random_instance.h"
#include "tests/support/random_plan.h"
#include "tests/support/test.h"
#include "util/util_alloc.h"
#include "util/util_min_max.h"
#include "util/util_time.h"

#define MAX_RANKS    64
#define MAX_SEGMENTS 96
#define MAX_SENDS    (MAX_RANKS * MAX_SEGMENTS * 3)
#define NEVER        INT64_MAX
#define QUIET_TURNS  4 /* of each rank on average */

static uint64_t random_state;

static uint64_t random_next(void)
{
    uint64_t z = (random_state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int32_t random_below(int32_t n)
{
    return (int32_t) (random_next() % (uint64_t) n);
}

/* --- a plan, drawn at random but valid --- */

typedef struct test_plan {
    int32_t n_ranks, n_segments, root;
    clv_goal_t goal;
    int64_t n_sends;
    clv_send_t sends[MAX_SENDS];
} test_plan_t;

static test_plan_t plan;
static uint8_t holds[MAX_RANKS][MAX_SEGMENTS];

/* GOING and COMING: sent and received in the round being drawn. */
enum { ABSENT, HELD, GOING, COMING };

/* A segment the sender may give to the receiver: both hold it, or (take_back) only the sender does
 * and the receiver has not sent it in this round. -1 when a few draws find none. */
static int32_t draw_segment(int32_t sender, int32_t receiver, int take_back)
{
    for (int32_t i = 0; i < 8; i++) {
        int32_t s = random_below(plan.n_segments);
        int taker = holds[receiver][s];
        if (holds[sender][s] == HELD && (taker == HELD || (take_back && taker == ABSENT))) {
            return s;
        }
    }
    return -1;
}

/* One round: disjoint (sender, receiver) steps; what is received becomes usable after it. */
static void draw_round(int32_t round, int32_t n_tries, int take_back)
{
    uint8_t sent[MAX_RANKS] = {0}, got[MAX_RANKS] = {0};
    int64_t first = plan.n_sends;

    for (int32_t i = 0; i < n_tries && plan.n_sends < MAX_SENDS; i++) {
        int32_t z = random_below(plan.n_ranks), r = random_below(plan.n_ranks);
        int32_t s = z == r || sent[z] || got[r] ? -1 : draw_segment(z, r, take_back);
        if (s >= 0) {
            plan.sends[plan.n_sends++] = clv_send_of(round, z, r, s, CLV_MOVE);
            sent[z] = got[r] = 1;
            holds[z][s] = GOING;
            holds[r][s] = COMING;
        }
    }
    for (int64_t i = first; i < plan.n_sends; i++) {
        holds[plan.sends[i].sender][plan.sends[i].segment] = ABSENT;
        holds[plan.sends[i].receiver][plan.sends[i].segment] = HELD;
    }
}

/* What is left goes straight to the root, one message a round. */
static void finish_plan(int32_t round)
{
    for (int32_t s = 0; s < plan.n_segments; s++) {
        for (int32_t p = 0; p < plan.n_ranks; p++) {
            if (p != plan.root && holds[p][s] == HELD) {
                plan.sends[plan.n_sends++] = clv_send_of(round++, p, plan.root, s, CLV_MOVE);
                holds[p][s] = ABSENT;
            }
        }
    }
}

static void draw_plan(int32_t n_ranks, int32_t n_segments)
{
    int32_t n_rounds = random_below(4 * n_segments + 4);
    int32_t round = 0;

    plan.n_ranks = n_ranks;
    plan.n_segments = n_segments;
    plan.root = random_below(n_ranks);
    plan.goal = CLV_GOAL_REDUCE;
    plan.n_sends = 0;
    memset(holds, HELD, sizeof holds);
    for (; round < n_rounds && plan.n_sends < MAX_SENDS - MAX_RANKS * MAX_SEGMENTS; round++) {
        draw_round(round, 2 * n_ranks, random_below(8) == 0);
    }
    finish_plan(round);
}

/* Everybody sends every segment to the root, in rank order: the worst flood. */
static void flood_plan(int32_t n_ranks, int32_t n_segments)
{
    plan.n_ranks = n_ranks;
    plan.n_segments = n_segments;
    plan.root = 0;
    plan.goal = CLV_GOAL_REDUCE;
    plan.n_sends = 0;
    memset(holds, HELD, sizeof holds);
    finish_plan(0);
}

/* --- the network --- */

typedef struct message {
    uint64_t mask, order;
    int64_t arrives;
    int32_t receiver_slot; /* -1: not matched */
    int32_t sender_slot;   /* -1: nobody waits for it any more */
    int32_t segment;
} message_t;

/* The messages of one pair, first in first out: sent, matched, delivered. */
typedef struct channel {
    int32_t n_sent, n_matched;
    int32_t max_unexpected;
    message_t *messages;
} channel_t;

typedef struct request {
    int32_t peer, index; /* of the message in its channel */
    int32_t posted, eager;
    int64_t completes;
} request_t;

typedef struct rank {
    int32_t id;
    clv_exec_t exec;
    clv_step_t *steps;
    int64_t n_steps;
    int64_t arrival;
    int done;
    clv_exec_segment_t segments[MAX_SEGMENTS];
    clv_exec_peer_t peers[MAX_RANKS];
    uint64_t mask[MAX_SEGMENTS], order[MAX_SEGMENTS];
    int in_send[MAX_SEGMENTS];
    request_t recvs[CLV_EXEC_MAX_WINDOW], sends[CLV_EXEC_MAX_WINDOW];
    int32_t send_segment[CLV_EXEC_MAX_WINDOW];
    int64_t n_done; /* steps combined or sent */
} rank_t;

static rank_t ranks[MAX_RANKS];
static channel_t channels[MAX_RANKS][MAX_RANKS];
static message_t message_pool[MAX_SENDS];
static int64_t now;
static int64_t max_delay;
static int eager_percent;
static int64_t fail_after; /* table calls until one fails; negative: never */

static clv_status_t maybe_fail(void)
{
    return fail_after >= 0 && fail_after-- == 0 ? CLV_LOST : CLV_OK;
}

/* Slow and obvious: with ROUNDS nothing leaves before all of the earlier rounds is done. */
static void check_its_turn(const rank_t *rank)
{
    const clv_exec_t *exec = &rank->exec;
    int64_t n_before = 0;

    if (exec->limits.policy == CLV_EXEC_ROUNDS) {
        for (int64_t i = 0; i < exec->n_steps; i++) {
            n_before += exec->steps[i].round < exec->steps[exec->next_send].round;
        }
        assert_true(rank->n_done >= n_before);
    }
}

static clv_status_t sim_post_send(void *context, int32_t slot, int32_t peer, int32_t segment,
                                  bool synchronous)
{
    rank_t *rank = context;
    channel_t *channel = &channels[rank->id][peer];
    message_t *message = &channel->messages[channel->n_sent];
    request_t *request = &rank->sends[slot];
    int64_t arrives = now + random_below((int32_t) max_delay);

    assert_false(request->posted);
    assert_int_not_equal(rank->mask[segment], 0);
    check_its_turn(rank);
    if (channel->n_sent > 0 && arrives < message[-1].arrives) {
        arrives = message[-1].arrives;
    }
    *message = (message_t){rank->mask[segment], rank->order[segment], arrives, -1, slot, segment};
    *request = (request_t){.peer = peer,
                           .index = channel->n_sent,
                           .posted = 1,
                           .eager = !synchronous && random_below(100) < eager_percent,
                           .completes = now + random_below((int32_t) max_delay)};
    rank->in_send[segment]++;
    rank->send_segment[slot] = segment;
    channel->n_sent++;
    if (channel->n_sent - channel->n_matched > channel->max_unexpected) {
        channel->max_unexpected = channel->n_sent - channel->n_matched;
    }
    return maybe_fail();
}

static clv_status_t sim_post_recv(void *context, int32_t slot, int32_t peer, int32_t segment)
{
    rank_t *rank = context;
    channel_t *channel = &channels[peer][rank->id];

    (void) segment;
    assert_false(rank->recvs[slot].posted);
    rank->recvs[slot] = (request_t){.peer = peer, .index = channel->n_matched++, .posted = 1};
    return maybe_fail();
}

static clv_status_t sim_test_send(void *context, int32_t slot)
{
    rank_t *rank = context;
    request_t *request = &rank->sends[slot];
    const channel_t *channel = &channels[rank->id][request->peer];
    const message_t *message = &channel->messages[request->index];
    int matched = channel->n_matched > request->index && now >= message->arrives;

    assert_true(request->posted);
    if (now < request->completes || (!request->eager && !matched)) {
        return CLV_AGAIN;
    }
    request->posted = 0;
    rank->in_send[rank->send_segment[slot]]--;
    rank->n_done++;
    return maybe_fail();
}

static clv_status_t sim_test_recv(void *context, int32_t slot)
{
    rank_t *rank = context;
    request_t *request = &rank->recvs[slot];
    const channel_t *channel = &channels[request->peer][rank->id];

    assert_true(request->posted);
    if (channel->n_sent <= request->index || now < channel->messages[request->index].arrives) {
        return CLV_AGAIN;
    }
    return maybe_fail();
}

static clv_status_t sim_combine(void *context, int32_t slot, int32_t segment, bool holds_copy)
{
    rank_t *rank = context;
    request_t *request = &rank->recvs[slot];
    const message_t *message = &channels[request->peer][rank->id].messages[request->index];

    assert_int_equal(message->segment, segment);
    assert_false(rank->in_send[segment]);
    if (!holds_copy) {
        rank->mask[segment] = 0;
        rank->order[segment] = 0;
    }
    assert_int_equal(rank->mask[segment] & message->mask, 0);
    rank->mask[segment] |= message->mask;
    rank->order[segment] = rank->order[segment] * UINT64_C(6364136223846793005) + message->order;
    request->posted = 0;
    rank->n_done++;
    return maybe_fail();
}

/* Asked for only when there is nothing to do: it may give the core away. */
static clv_status_t sim_progress(void *context)
{
    rank_t *rank = context;
    bool moved;

    assert_int_equal(clv_exec_turn(&rank->exec, &moved), CLV_AGAIN);
    assert_false(moved);
    now++;
    return CLV_OK;
}

static const clv_exec_ops_t sim_ops = {sim_post_recv, sim_post_send, sim_test_recv,
                                       sim_test_send, sim_combine,   sim_progress};

/* --- one run --- */

static void lay_out_channels(void)
{
    int64_t n_of_pair[MAX_RANKS][MAX_RANKS] = {{0}};
    int64_t used = 0;

    for (int64_t i = 0; i < plan.n_sends; i++) {
        n_of_pair[plan.sends[i].sender][plan.sends[i].receiver]++;
    }
    for (int32_t z = 0; z < plan.n_ranks; z++) {
        for (int32_t r = 0; r < plan.n_ranks; r++) {
            channels[z][r] = (channel_t){.messages = &message_pool[used]};
            used += n_of_pair[z][r];
        }
    }
}

static int32_t step_kind(clv_send_kind_t kind, int receives)
{
    if (kind == CLV_MOVE) {
        return receives ? CLV_STEP_RECV_REDUCE : CLV_STEP_SEND;
    }
    return receives ? CLV_STEP_RECV_COPY : CLV_STEP_SEND_COPY;
}

/* This rank's part of the plan, the slow and obvious way. */
static void take_steps(rank_t *rank)
{
    rank->steps = calloc((size_t) plan.n_sends + 1, sizeof *rank->steps);
    rank->n_steps = 0;
    for (int64_t first = 0, end; first < plan.n_sends; first = end) {
        for (end = first; end < plan.n_sends && plan.sends[end].round == plan.sends[first].round;) {
            end++;
        }
        for (int receives = 1; receives >= 0; receives--) {
            for (int64_t i = first; i < end; i++) {
                const clv_send_t *send = &plan.sends[i];
                int mine = (receives ? send->receiver : send->sender) == rank->id;
                if (mine) {
                    rank->steps[rank->n_steps++] = (clv_step_t){
                        send->round, receives ? send->sender : send->receiver, send->segment,
                        step_kind((clv_send_kind_t) send->kind, receives)};
                }
            }
        }
    }
}

static int starts_with_a_copy(int32_t id)
{
    return plan.goal != CLV_GOAL_BCAST || id == plan.root;
}

static void start_rank(int32_t id, const clv_exec_limits_t *limits)
{
    rank_t *rank = &ranks[id];

    memset(rank, 0, sizeof *rank);
    memset(rank->segments, 0xa5, sizeof rank->segments); /* any content is allowed */
    memset(rank->peers, 0xa5, sizeof rank->peers);
    rank->id = id;
    for (int32_t s = 0; s < plan.n_segments && starts_with_a_copy(id); s++) {
        rank->mask[s] = UINT64_C(1) << id;
        rank->order[s] = (uint64_t) (id + 1) * 1000003u + (uint64_t) s;
    }
    take_steps(rank);
    assert_int_equal(clv_exec_begin(&rank->exec, rank->steps, rank->n_steps, limits, &sim_ops, rank,
                                    rank->segments, plan.n_segments, rank->peers, plan.n_ranks,
                                    starts_with_a_copy(id)),
                     CLV_OK);
}

static void start_world(const clv_exec_limits_t *limits)
{
    now = 0;
    fail_after = -1;
    lay_out_channels();
    for (int32_t p = 0; p < plan.n_ranks; p++) {
        start_rank(p, limits);
    }
}

static void stop_world(void)
{
    for (int32_t p = 0; p < plan.n_ranks; p++) {
        free(ranks[p].steps);
    }
}

/* When what was asked for can be there or over; NEVER: only other ranks can tell. */
static int64_t end_of_recv(const rank_t *rank, const request_t *request)
{
    const channel_t *channel = &channels[request->peer][rank->id];

    return channel->n_sent > request->index ? channel->messages[request->index].arrives : NEVER;
}

static int64_t end_of_send(const rank_t *rank, const request_t *request)
{
    const channel_t *channel = &channels[rank->id][request->peer];

    if (request->eager) {
        return request->completes;
    }
    return channel->n_matched > request->index
               ? clv_larger(request->completes, channel->messages[request->index].arrives)
               : NEVER;
}

static int64_t next_of_rank(const rank_t *rank)
{
    int64_t ends[2 * CLV_EXEC_MAX_WINDOW + 1] = {rank->arrival}, next = NEVER;
    int32_t n_ends = 1;

    for (int32_t slot = 0; slot < CLV_EXEC_MAX_WINDOW && !rank->done; slot++) {
        if (rank->recvs[slot].posted) {
            ends[n_ends++] = end_of_recv(rank, &rank->recvs[slot]);
        }
        if (rank->sends[slot].posted) {
            ends[n_ends++] = end_of_send(rank, &rank->sends[slot]);
        }
    }
    for (int32_t i = 0; i < n_ends; i++) {
        next = ends[i] > now ? clv_smaller(next, ends[i]) : next;
    }
    return next;
}

/* It is the time before the next thing that can come; returns whether there is any. */
static int skip_to_next(int64_t end)
{
    int64_t next = end;

    for (int32_t p = 0; p < plan.n_ranks; p++) {
        next = clv_smaller(next, next_of_rank(&ranks[p]));
    }
    if (next == NEVER) {
        return 0;
    }
    now = next - 1;
    return 1;
}

/* What came of a turn, each with what those before it have. */
typedef enum turn { IN_VAIN, TOO_EARLY, MOVED, LAST_ONE } turn_t;

static turn_t turn_of(rank_t *rank)
{
    bool moved = false;
    clv_status_t status;

    if (rank->done || now < rank->arrival) {
        return rank->done ? IN_VAIN : TOO_EARLY;
    }
    status = clv_exec_turn(&rank->exec, &moved);
    assert_true(status == CLV_OK || status == CLV_AGAIN);
    rank->done = status == CLV_OK;
    return rank->done ? LAST_ONE : moved ? MOVED : IN_VAIN;
}

/* A turn for a rank drawn at random. When there have been many in vain, and all ranks have one in
 * vain now, time goes on to what comes next. */
static turn_t next_turn(int32_t *n_quiet, int64_t end)
{
    turn_t turn = IN_VAIN;

    now++;
    if (*n_quiet <= QUIET_TURNS * plan.n_ranks) {
        turn = turn_of(&ranks[random_below(plan.n_ranks)]);
        *n_quiet = turn >= MOVED ? 0 : *n_quiet + 1;
        return turn;
    }
    *n_quiet = 0;
    for (int32_t p = 0; p < plan.n_ranks && turn < MOVED; p++) {
        turn = turn_of(&ranks[p]);
    }
    return turn < MOVED && skip_to_next(end) ? TOO_EARLY : turn;
}

/* Gives turns until all are done. A run in which nothing moves for longer than any delay can last
 * hangs. */
static void run_until(int64_t end)
{
    int32_t n_done = 0, n_quiet = 0;
    int64_t last_moved = now;

    for (int32_t p = 0; p < plan.n_ranks; p++) {
        n_done += ranks[p].done;
    }
    while (n_done < plan.n_ranks && now < end) {
        const turn_t turn = next_turn(&n_quiet, end);
        n_done += turn == LAST_ONE;
        last_moved = turn >= TOO_EARLY ? now : last_moved;
        if (now - last_moved > 4 * max_delay + 2000 * (int64_t) plan.n_ranks) {
            fail_msg("hangs at %lld with %d of %d ranks done", (long long) now, (int) n_done,
                     (int) plan.n_ranks);
        }
    }
}

static int is_wanted(int32_t p, int32_t segment)
{
    switch (plan.goal) {
    case CLV_GOAL_REDUCE:
        return p == plan.root;
    case CLV_GOAL_REDUCE_SCATTER:
        return p * (plan.n_segments / plan.n_ranks) <= segment &&
               segment < (p + 1) * (plan.n_segments / plan.n_ranks);
    default:
        return 1;
    }
}

static void check_sums(void)
{
    uint64_t all = plan.n_ranks == 64 ? UINT64_MAX : (UINT64_C(1) << plan.n_ranks) - 1;
    uint64_t wanted = plan.goal == CLV_GOAL_BCAST ? UINT64_C(1) << plan.root : all;

    for (int32_t p = 0; p < plan.n_ranks; p++) {
        for (int32_t s = 0; s < plan.n_segments; s++) {
            assert_true(!is_wanted(p, s) || ranks[p].mask[s] == wanted);
        }
    }
}

static clv_exec_limits_t draw_limits(void)
{
    static const int32_t windows[] = {1, 2, 3, 8, CLV_EXEC_MAX_WINDOW};
    const int32_t recv_window = windows[random_below(5)];
    return (clv_exec_limits_t){recv_window, windows[random_below(5)], random_below(6),
                               (clv_exec_policy_t) random_below(2), random_below(recv_window + 1)};
}

static void draw_network(void)
{
    max_delay = 1 + random_below(random_below(3) == 0 ? 20000 : 50);
    eager_percent = 50 * random_below(3);
}

static void draw_arrivals(void)
{
    for (int32_t p = 0; p < plan.n_ranks; p++) {
        ranks[p].arrival = random_below(3) == 0 ? random_below(100000) : 0;
    }
}

/* What the module itself says about the plan being played. */
static void check_plan(void)
{
    char reason[200] = "";
    clv_plan_t checked = {.n_ranks = plan.n_ranks,
                          .n_segments = plan.n_segments,
                          .root = plan.root,
                          .n_sends = plan.n_sends,
                          .sends = plan.sends,
                          .goal = plan.goal};

    if (plan.n_sends > 0) {
        checked.n_rounds = plan.sends[plan.n_sends - 1].round + 1;
    }
    if (clv_plan_validate(&checked, reason, sizeof reason) != CLV_OK) {
        fail_msg("the test drew a plan that is not valid: %s", reason);
    }
}

/* A plan of a generator for arrivals drawn at random. */
static void generate_plan(const clv_generator_t *generator)
{
    int64_t arrival_ns[MAX_RANKS];
    clv_instance_t instance = {.n_ranks = 1 + random_below(16),
                               .n_segments = 1 + random_below(40),
                               .round_ns = 10,
                               .arrival_ns = arrival_ns,
                               .goal = clv_goal_of(generator)};
    clv_plan_t *made;

    instance.root = random_below(instance.n_ranks);
    for (int32_t p = 0; p < instance.n_ranks; p++) {
        arrival_ns[p] = random_below(2) * random_below(400);
    }
    assert_int_equal(clv_plan_make(generator, &instance, &made), CLV_OK);
    assert_true(made->n_sends <= MAX_SENDS);
    plan.n_ranks = made->n_ranks;
    plan.n_segments = made->n_segments;
    plan.root = made->root;
    plan.goal = made->goal;
    plan.n_sends = made->n_sends;
    memcpy(plan.sends, made->sends, (size_t) made->n_sends * sizeof made->sends[0]);
    clv_plan_free(made);
}

/* --- tests --- */

static void runs_every_generators_plans(void **state)
{
    (void) state;
    for (const clv_generator_t *generator = clv_generators; generator->name != NULL; generator++) {
        for (int i = 0; i < clv_share_of(20); i++) {
            clv_exec_limits_t limits = draw_limits();
            generate_plan(generator);
            draw_network();
            start_world(&limits);
            draw_arrivals();
            run_until(NEVER);
            check_sums();
            stop_world();
        }
    }
}

static void sums_every_contribution_once_whatever_the_network_does(void **state)
{
    (void) state;
    for (int i = 0; i < clv_share_of(300); i++) {
        clv_exec_limits_t limits = draw_limits();
        draw_plan(1 + random_below(i % 20 ? 12 : MAX_RANKS), 1 + random_below(i % 20 ? 24 : 64));
        check_plan();
        draw_network();
        start_world(&limits);
        draw_arrivals();
        run_until(NEVER);
        check_sums();
        stop_world();
    }
}

/* A random plan of a goal, with moves and copies that no generator would make. */
static void draw_goal_plan(clv_goal_t goal, int32_t n_ranks, int32_t n_segments)
{
    uint64_t state = random_next() | 1;
    clv_plan_t *made = clv_random_plan(&state, goal, n_ranks, n_segments, random_below(20));

    assert_true(made->n_sends <= MAX_SENDS && made->n_segments <= MAX_SEGMENTS);
    plan.n_ranks = made->n_ranks;
    plan.n_segments = made->n_segments;
    plan.root = made->root;
    plan.goal = goal;
    plan.n_sends = made->n_sends;
    memcpy(plan.sends, made->sends, (size_t) made->n_sends * sizeof made->sends[0]);
    clv_plan_free(made);
}

static void does_random_jobs_of_every_goal(void **state)
{
    const char *rounds = getenv("CLV_ROUNDS");
    const int n_jobs = rounds != NULL ? atoi(rounds) : clv_share_of(500);

    (void) state;
    for (int i = 0; i < n_jobs; i++) {
        clv_exec_limits_t limits = draw_limits();
        draw_goal_plan((clv_goal_t) (i % CLV_N_GOALS), 1 + random_below(9), 1 + random_below(8));
        check_plan();
        draw_network();
        start_world(&limits);
        draw_arrivals();
        run_until(NEVER);
        check_sums();
        stop_world();
    }
    print_message("# %d jobs\n", n_jobs);
}

static void same_plan_combines_in_the_same_order_every_time(void **state)
{
    uint64_t first[MAX_SEGMENTS];

    (void) state;
    draw_plan(12, 32);
    for (int i = 0; i < 30; i++) {
        clv_exec_limits_t limits = draw_limits();
        draw_network();
        start_world(&limits);
        draw_arrivals();
        run_until(NEVER);
        if (i == 0) {
            memcpy(first, ranks[plan.root].order, sizeof first);
        }
        assert_memory_equal(first, ranks[plan.root].order, 32 * sizeof first[0]);
        stop_world();
    }
}

static void an_absent_root_finds_at_most_sync_every_segments_per_sender(void **state)
{
    (void) state;
    for (int32_t sync_every = 1; sync_every <= 5; sync_every++) {
        clv_exec_limits_t limits = {8, 8, sync_every, CLV_EXEC_AHEAD, 0};
        flood_plan(9, 40);
        max_delay = 20;
        eager_percent = 100;
        start_world(&limits);
        ranks[0].arrival = 200000;
        run_until(200000);
        for (int32_t p = 1; p < 9; p++) {
            assert_int_equal(channels[p][0].n_sent, sync_every);
        }
        run_until(NEVER);
        check_sums();
        stop_world();
    }
}

static void a_slow_receiver_is_never_behind_by_two_credits(void **state)
{
    (void) state;
    for (int i = 0; i < clv_share_of(100); i++) {
        clv_exec_limits_t limits = {1 + random_below(8), 1 + random_below(8), 1 + random_below(8),
                                    CLV_EXEC_AHEAD, 0};
        draw_plan(2 + random_below(10), 1 + random_below(48));
        draw_network();
        eager_percent = 100;
        start_world(&limits);
        draw_arrivals();
        run_until(NEVER);
        for (int32_t z = 0; z < plan.n_ranks; z++) {
            for (int32_t r = 0; r < plan.n_ranks; r++) {
                assert_true(channels[z][r].max_unexpected <= 2 * limits.sync_every - 1);
            }
        }
        stop_world();
    }
}

static void without_credits_an_absent_root_would_be_flooded(void **state)
{
    clv_exec_limits_t limits = {8, 8, 0, CLV_EXEC_AHEAD, 0};

    (void) state;
    flood_plan(4, 40);
    max_delay = 20;
    eager_percent = 100;
    start_world(&limits);
    ranks[0].arrival = 200000;
    run_until(200000);
    assert_int_equal(channels[1][0].n_sent, 40);
    stop_world();
}

static void add_send(int32_t sender, int32_t segment)
{
    plan.sends[plan.n_sends] = clv_send_of((int32_t) plan.n_sends, sender, 0, segment, CLV_MOVE);
    plan.n_sends++;
    holds[sender][segment] = ABSENT;
}

/* The root takes 20 segments from each of two in turns, then those that the other one had. */
static int32_t matched_of_the_early_one(int32_t source_window)
{
    const clv_exec_limits_t limits = {8, 8, 0, CLV_EXEC_AHEAD, source_window};
    int32_t n_matched;

    flood_plan(3, 40);
    plan.n_sends = 0;
    memset(holds, HELD, sizeof holds);
    for (int32_t s = 0; s < 40; s++) {
        add_send(1 + s % 2, s);
    }
    finish_plan(40);
    max_delay = 20;
    eager_percent = 0;
    start_world(&limits);
    ranks[1].arrival = 200000;
    run_until(200000);
    n_matched = channels[2][0].n_matched;
    run_until(NEVER);
    check_sums();
    stop_world();
    return n_matched;
}

static void a_late_source_does_not_starve_another(void **state)
{
    (void) state;
    assert_true(matched_of_the_early_one(0) < 8);
    for (int32_t source_window = 1; source_window < 8; source_window++) {
        assert_true(matched_of_the_early_one(source_window) >= 20);
    }
}

static void a_segment_sent_away_and_taken_back_is_stored_not_combined(void **state)
{
    static const clv_send_t sends[] = {{0, 0, 1, 0, CLV_MOVE}, {1, 1, 0, 0, CLV_MOVE}};
    clv_exec_limits_t limits = {4, 4, 0, CLV_EXEC_AHEAD, 0};

    (void) state;
    plan.n_ranks = 2;
    plan.n_segments = 1;
    plan.root = 0;
    plan.goal = CLV_GOAL_REDUCE;
    plan.n_sends = 2;
    memcpy(plan.sends, sends, sizeof sends);
    max_delay = 500;
    eager_percent = 0;
    start_world(&limits);
    run_until(NEVER);
    check_sums();
    stop_world();
}

static void an_error_of_the_table_comes_out_at_once(void **state)
{
    int64_t n_calls;

    (void) state;
    for (n_calls = 0;; n_calls++) {
        clv_exec_limits_t limits = {2, 2, 2, CLV_EXEC_AHEAD, 0};
        clv_status_t status = CLV_AGAIN;
        bool moved;
        flood_plan(2, 3);
        max_delay = 1;
        eager_percent = 100;
        start_world(&limits);
        fail_after = n_calls;
        for (int turn = 0; turn < 100 && status >= 0; turn++) {
            now++;
            status = clv_exec_turn(&ranks[turn % 2].exec, &moved);
        }
        stop_world();
        if (fail_after >= 0) {
            break;
        }
        assert_int_equal(status, CLV_LOST);
    }
    assert_true(n_calls >= 3 * 5); /* post, post, test, test, combine per segment */
}

/* One rank alone with itself as peer: enough to see run() sleep in progress, when nothing
 * can be done, and come to the end. */
static void run_turns_until_the_end(void **state)
{
    clv_exec_limits_t limits = {1, 1, 1, CLV_EXEC_AHEAD, 0};

    (void) state;
    plan.n_ranks = 1;
    plan.n_segments = 1;
    plan.root = 0;
    plan.goal = CLV_GOAL_REDUCE;
    plan.n_sends = 1;
    plan.sends[0] = clv_send_of(0, 0, 0, 0, CLV_MOVE);
    max_delay = 50;
    eager_percent = 0;
    start_world(&limits);
    /* The receive of round 0 would wait for the send of round 0, so swap them: send, then take. */
    ranks[0].steps[0].kind = CLV_STEP_SEND;
    ranks[0].steps[1].kind = CLV_STEP_RECV_REDUCE;
    assert_int_equal(clv_exec_run(&ranks[0].exec), CLV_OK);
    assert_true(ranks[0].mask[0] == 1);
    stop_world();
}

static void nonsense_is_refused_before_anything_is_posted(void **state)
{
    static const struct {
        clv_step_t steps[2];
        int64_t n_steps;
        clv_exec_limits_t limits;
    } cases[] = {
        {{{0, 1, 0, CLV_STEP_SEND}}, 1, {0, 1, 1, CLV_EXEC_AHEAD, 0}},
        {{{0, 1, 0, CLV_STEP_SEND}}, 1, {1, 0, 1, CLV_EXEC_AHEAD, 0}},
        {{{0, 1, 0, CLV_STEP_SEND}}, 1, {CLV_EXEC_MAX_WINDOW + 1, 1, 1, CLV_EXEC_AHEAD, 0}},
        {{{0, 1, 0, CLV_STEP_SEND}}, 1, {1, CLV_EXEC_MAX_WINDOW + 1, 1, CLV_EXEC_AHEAD, 0}},
        {{{0, 1, 0, CLV_STEP_SEND}}, 1, {1, 1, -2, CLV_EXEC_AHEAD, 0}},
        {{{0, 1, 0, CLV_STEP_SEND}}, 1, {4, 1, 1, CLV_EXEC_AHEAD, 5}},
        {{{0, 1, 0, CLV_STEP_SEND}}, 1, {4, 1, 1, CLV_EXEC_AHEAD, -1}},
        {{{0, 1, 0, CLV_STEP_SEND}}, -1, {1, 1, 1, CLV_EXEC_AHEAD, 0}},
        {{{0, 2, 0, CLV_STEP_SEND}}, 1, {1, 1, 1, CLV_EXEC_AHEAD, 0}},
        {{{0, -1, 0, CLV_STEP_SEND}}, 1, {1, 1, 1, CLV_EXEC_AHEAD, 0}},
        {{{0, 1, 1, CLV_STEP_SEND}}, 1, {1, 1, 1, CLV_EXEC_AHEAD, 0}},
        {{{0, 1, -1, CLV_STEP_RECV_REDUCE}}, 1, {1, 1, 1, CLV_EXEC_AHEAD, 0}},
        {{{0, 1, 0, 4}}, 1, {1, 1, 1, CLV_EXEC_AHEAD, 0}},
        {{{0, 1, 0, -1}}, 1, {1, 1, 1, CLV_EXEC_AHEAD, 0}},
        {{{0, 1, 0, CLV_STEP_RECV_COPY}}, 1, {1, 1, 1, CLV_EXEC_AHEAD, 0}},
        {{{0, 1, 0, CLV_STEP_SEND}, {1, 1, 0, CLV_STEP_SEND_COPY}},
         2,
         {1, 1, 1, CLV_EXEC_AHEAD, 0}},
        {{{0, 1, 0, CLV_STEP_SEND}, {1, 1, 0, CLV_STEP_SEND}}, 2, {1, 1, 1, CLV_EXEC_AHEAD, 0}},
    };
    clv_exec_t exec;
    clv_exec_segment_t segments[1];
    clv_exec_peer_t peers[2];

    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(clv_exec_begin(&exec, cases[i].steps, cases[i].n_steps, &cases[i].limits,
                                        &sim_ops, NULL, segments, 1, peers, 2, 1),
                         CLV_INVALID);
    }
}

static void no_steps_are_done_at_once(void **state)
{
    clv_exec_limits_t limits = {1, 1, 1, CLV_EXEC_AHEAD, 0};
    clv_exec_t exec;
    clv_exec_segment_t segments[1];
    clv_exec_peer_t peers[1];

    (void) state;
    assert_int_equal(
        clv_exec_begin(&exec, NULL, 0, &limits, &sim_ops, NULL, segments, 1, peers, 1, 1), CLV_OK);
    assert_int_equal(clv_exec_run(&exec), CLV_OK);
}

/* Every table call fails an allocation: none may happen. */
static int refuse(void *context, size_t n_bytes)
{
    (void) n_bytes;
    ++*(int *) context;
    return 1;
}

static void allocates_nothing(void **state)
{
    clv_exec_limits_t limits = {8, 4, 3, CLV_EXEC_AHEAD, 0};
    int n_calls = 0;

    (void) state;
    draw_plan(8, 16);
    draw_network();
    clv_alloc_set_hook(refuse, &n_calls);
    start_world(&limits);
    run_until(NEVER);
    clv_alloc_set_hook(NULL, NULL);
    check_sums();
    stop_world();
    assert_int_equal(n_calls, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_every_contribution_once_whatever_the_network_does),
        cmocka_unit_test(runs_every_generators_plans),
        cmocka_unit_test(does_random_jobs_of_every_goal),
        cmocka_unit_test(same_plan_combines_in_the_same_order_every_time),
        cmocka_unit_test(an_absent_root_finds_at_most_sync_every_segments_per_sender),
        cmocka_unit_test(a_slow_receiver_is_never_behind_by_two_credits),
        cmocka_unit_test(without_credits_an_absent_root_would_be_flooded),
        cmocka_unit_test(a_late_source_does_not_starve_another),
        cmocka_unit_test(a_segment_sent_away_and_taken_back_is_stored_not_combined),
        cmocka_unit_test(an_error_of_the_table_comes_out_at_once),
        cmocka_unit_test(run_turns_until_the_end),
        cmocka_unit_test(nonsense_is_refused_before_anything_is_posted),
        cmocka_unit_test(no_steps_are_done_at_once),
        cmocka_unit_test(allocates_nothing),
    };
    const char *seed = getenv("CLV_SEED");

    random_state = seed != NULL ? strtoull(seed, NULL, 0) : (uint64_t) clv_local_now_ns();
    printf("# CLV_SEED=%llu\n", (unsigned long long) random_state);
    return clv_run_tests(tests);
}
