/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Plans as values: what the validator must refuse, limits and overflow, out of memory at every
 * allocation, steps, estimates and the cache.
 */
#include <time.h>

#include "schedule/sched_cache.h"
#include "schedule/sched_cost.h"
#include "schedule/sched_read.h"
#include "schedule/generators/sched_simd.h"
#include "schedule/schedule.h"
#include "tests/support/random_instance.h"
#include "tests/support/test.h"
#include "util/util_alloc.h"

static uint64_t seed;
static clv_draw_t draw;

static clv_plan_t *make_random(uint64_t *state, const char *generator)
{
    clv_plan_t *plan = NULL;
    clv_draw_instance(&draw, state, CLV_FAMILY_UNIFORM, (int32_t) clv_random_between(state, 3, 9),
                      (int32_t) clv_random_between(state, 2, 9));
    assert_int_equal(clv_plan_make(clv_generator_find(generator), &draw.instance, &plan), CLV_OK);
    return plan;
}

static clv_status_t validate(const clv_plan_t *plan)
{
    char reason[160] = "";
    clv_status_t status = clv_plan_validate(plan, reason, sizeof reason);
    assert_true((status == CLV_OK) == (reason[0] == '\0'));
    return status;
}

/* ---- the validator --------------------------------------------------------------------------- */

static clv_send_t *any_send(clv_plan_t *plan, uint64_t *state)
{
    return &plan->sends[clv_random_between(state, 0, plan->n_sends - 1)];
}

static void drop_a_send(clv_plan_t *plan, uint64_t *state)
{
    clv_send_t *send = any_send(plan, state);
    memmove(send, send + 1, (size_t) (plan->sends + plan->n_sends - send - 1) * sizeof *send);
    plan->n_sends--;
    plan->n_rounds = plan->n_sends > 0 ? plan->sends[plan->n_sends - 1].round + 1 : 0;
}

static void send_something_else(clv_plan_t *plan, uint64_t *state)
{
    clv_send_t *send = any_send(plan, state);
    send->segment = (uint16_t) ((send->segment + 1) % plan->n_segments);
}

static void send_by_someone_else(clv_plan_t *plan, uint64_t *state)
{
    clv_send_t *send = any_send(plan, state);
    do {
        send->sender = (uint16_t) ((send->sender + 1) % plan->n_ranks);
    } while (send->sender == send->receiver);
}

static void send_to_oneself(clv_plan_t *plan, uint64_t *state)
{
    clv_send_t *send = any_send(plan, state);
    send->receiver = send->sender;
}

static void send_twice(clv_plan_t *plan, uint64_t *state)
{
    (void) state;
    plan->sends[plan->n_sends - 1] = plan->sends[0];
    plan->sends[plan->n_sends - 1].round = plan->n_rounds - 1;
}

static void name_no_rank(clv_plan_t *plan, uint64_t *state)
{
    any_send(plan, state)->receiver = (uint16_t) plan->n_ranks;
}

static void name_no_segment(clv_plan_t *plan, uint64_t *state)
{
    any_send(plan, state)->segment = (uint16_t) plan->n_segments;
}

static void go_back_in_time(clv_plan_t *plan, uint64_t *state)
{
    (void) state;
    plan->sends[plan->n_sends - 1].round = plan->sends[0].round - 1;
}

static void all_in_one_round(clv_plan_t *plan, uint64_t *state)
{
    (void) state;
    for (int64_t k = 0; k < plan->n_sends; k++) {
        plan->sends[k].round = 0;
    }
    plan->n_rounds = 1;
}

static void move_the_root(clv_plan_t *plan, uint64_t *state)
{
    (void) state;
    plan->root = (plan->root + 1) % plan->n_ranks;
}

static void miscount_rounds(clv_plan_t *plan, uint64_t *state)
{
    (void) state;
    plan->n_rounds++;
}

static void no_ranks(clv_plan_t *plan, uint64_t *state)
{
    (void) state;
    plan->n_ranks = 0;
}

static void validator_refuses_every_mutation(void **unused)
{
    void (*const mutations[])(clv_plan_t *, uint64_t *) = {
        drop_a_send,  send_something_else, send_by_someone_else, send_to_oneself, send_twice,
        name_no_rank, name_no_segment,     go_back_in_time,      move_the_root,   miscount_rounds,
        no_ranks,     all_in_one_round};
    uint64_t state = seed;
    (void) unused;
    for (int k = 0; k < clv_share_of(3000); k++) {
        /* In a chain each send is needed; Clairvoyant's sink may send what it gets back anyway. */
        clv_plan_t *plan = make_random(&state, "chain");
        assert_int_equal(validate(plan), CLV_OK);
        mutations[(size_t) k % (sizeof mutations / sizeof *mutations)](plan, &state);
        assert_int_equal(validate(plan), CLV_INVALID);
        clv_plan_free(plan);
    }
}

/* Passing a segment on in the round in which it came, in both orders of the list. */
static void validator_refuses_to_pass_on_at_once(void **unused)
{
    clv_send_t first[] = {{0, 2, 1, 0, CLV_MOVE}, {0, 1, 0, 0, CLV_MOVE}};
    clv_send_t second[] = {{0, 1, 0, 0, CLV_MOVE}, {0, 2, 1, 0, CLV_MOVE}, {1, 1, 0, 0, CLV_MOVE}};
    clv_plan_t plan = {3, 1, 0, 1, 2, first, CLV_GOAL_REDUCE};
    (void) unused;
    assert_int_equal(validate(&plan), CLV_INVALID);
    plan = (clv_plan_t){3, 1, 0, 2, 3, second, CLV_GOAL_REDUCE};
    assert_int_equal(validate(&plan), CLV_INVALID);
    first[1].round = 1;
    plan = (clv_plan_t){3, 1, 0, 2, 2, first, CLV_GOAL_REDUCE};
    assert_int_equal(validate(&plan), CLV_OK);
}

static void nobody_sends_before_arriving(void **unused)
{
    int64_t arrival_ns[3] = {0, 5, 100};
    clv_instance_t instance = {3, 1, 0, 10, arrival_ns, NULL, CLV_GOAL_REDUCE, NULL, 0, NULL};
    clv_send_t sends[] = {{9, 2, 0, 0, CLV_MOVE}, {10, 1, 0, 0, CLV_MOVE}};
    clv_plan_t plan = {3, 1, 0, 11, 2, sends, CLV_GOAL_REDUCE};
    char reason[160];
    (void) unused;
    assert_int_equal(validate(&plan), CLV_OK);
    assert_int_equal(clv_plan_validate_arrivals(&plan, &instance, reason, sizeof reason),
                     CLV_INVALID);
    sends[0].round = 10;
    sends[1].round = 11;
    plan.n_rounds = 12;
    assert_int_equal(clv_plan_validate_arrivals(&plan, &instance, reason, sizeof reason), CLV_OK);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* A reduce whose other fields are right. */
static clv_status_t check(int32_t n_ranks, int32_t n_segments, int32_t root, int64_t round_ns,
                          const int64_t *arrival_ns, const int64_t *order_ns)
{
    const clv_instance_t instance = {.n_ranks = n_ranks,
                                     .n_segments = n_segments,
                                     .root = root,
                                     .round_ns = round_ns,
                                     .arrival_ns = arrival_ns,
                                     .order_ns = order_ns,
                                     .goal = CLV_GOAL_REDUCE};
    const char *reason = NULL;
    clv_plan_t *plan = NULL;
    clv_status_t status = clv_instance_check(&instance, &reason);
    assert_non_null(reason);
    assert_int_equal(clv_plan_make(&clv_generators[0], &instance, &plan), status);
    clv_plan_free(plan);
    return status;
}

static void instances_out_of_range_are_refused(void **unused)
{
    int64_t arrival_ns[2] = {0, 7}, negative_ns[2] = {0, -1}, far_ns[2] = {0, INT64_MAX};
    (void) unused;
    assert_int_equal(check(2, 1, 1, 1, arrival_ns, NULL), CLV_OK);
    assert_int_equal(check(0, 1, 0, 1, arrival_ns, NULL), CLV_INVALID);
    assert_int_equal(check(2, 0, 0, 1, arrival_ns, NULL), CLV_INVALID);
    assert_int_equal(check(4097, 1, 0, 1, arrival_ns, NULL), CLV_LIMIT);
    assert_int_equal(check(2, 4097, 0, 1, arrival_ns, NULL), CLV_LIMIT);
    assert_int_equal(check(2, 1, 2, 1, arrival_ns, NULL), CLV_INVALID);
    assert_int_equal(check(2, 1, 0, 0, arrival_ns, NULL), CLV_INVALID);
    assert_int_equal(check(2, 1, 0, 1, NULL, NULL), CLV_INVALID);
    assert_int_equal(check(2, 1, 0, 1, negative_ns, NULL), CLV_INVALID);
    assert_int_equal(check(2, 1, 0, 1, arrival_ns, negative_ns), CLV_INVALID);
    assert_int_equal(check(2, 1, 0, 1, far_ns, NULL), CLV_OVERFLOW);
}

/* Times and round numbers at the edge of their types: right or a clear error, never a wrap. */
static void huge_times_work_or_overflow_clearly(void **unused)
{
    int64_t far_ns[3] = {0, INT64_MAX, INT64_MAX / 2};
    const int64_t rounds_ns[] = {INT64_MAX, INT64_MAX / 2, INT64_MAX / 5, INT64_C(1) << 33};
    (void) unused;
    for (size_t k = 0; k < sizeof rounds_ns / sizeof *rounds_ns; k++) {
        clv_instance_t instance = {3,    4, 0,   rounds_ns[k], far_ns, NULL, CLV_GOAL_REDUCE,
                                   NULL, 0, NULL};
        for (const clv_generator_t *row = clv_generators; row->name != NULL; row++) {
            clv_plan_t *plan = NULL;
            instance.goal = clv_goal_of(row);
            clv_status_t status = clv_plan_make(row, &instance, &plan);
            assert_true(status == CLV_OK || status == CLV_OVERFLOW);
            assert_true(status != CLV_OK || validate(plan) == CLV_OK);
            clv_plan_free(plan);
        }
    }
}

/* A plan whose times would pass INT64_MAX is refused; one that ends well before is made. */
static void rounds_beyond_the_end_of_time_are_an_error(void **unused)
{
    int64_t far_ns[2] = {0, INT64_MAX}, near_ns[2] = {0, INT64_MAX / 10};
    const char *const names[] = {"bitset", "segtree", "linear", "latest-first"};
    (void) unused;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        clv_instance_t beyond = {2,    4, 0,   INT64_MAX / 5, far_ns, NULL, CLV_GOAL_REDUCE,
                                 NULL, 0, NULL};
        clv_instance_t within = {2,    4, 0,   INT64_MAX / 50, near_ns, NULL, CLV_GOAL_REDUCE,
                                 NULL, 0, NULL};
        clv_plan_t *plan = NULL;
        assert_int_equal(clv_plan_make(clv_generator_find(names[k]), &beyond, &plan), CLV_OVERFLOW);
        assert_null(plan);
        assert_int_equal(clv_plan_make(clv_generator_find(names[k]), &within, &plan), CLV_OK);
        clv_plan_free(plan);
    }
}

/* ---- size ------------------------------------------------------------------------------------ */

/* Counts what is not the room for the sends. */
typedef struct scratch {
    size_t send_bytes;
    size_t n_bytes;
} scratch_t;

static int count_scratch(void *context, size_t n_bytes)
{
    scratch_t *scratch = context;
    scratch->n_bytes += n_bytes < scratch->send_bytes ? n_bytes : 0;
    return 0;
}

/* Two bits per cell, both sides rounded up to 512, and 256 bytes per rank for the tables. */
static void make_within_memory(int32_t n_segments)
{
    const size_t n_ranks = CLV_SCHED_MAX_RANKS, n_cells = n_ranks * (size_t) n_segments;
    size_t padded = n_ranks * (((size_t) n_segments + 511) / 512 * 512);
    scratch_t scratch = {(n_cells - (size_t) n_segments) * sizeof(clv_send_t), 0};
    clv_plan_t *plan = NULL;
    uint64_t state = seed;

    clv_draw_instance(&draw, &state, CLV_FAMILY_SKEWED, CLV_SCHED_MAX_RANKS, n_segments);
    clock_t start = clock();
    clv_alloc_set_hook(count_scratch, &scratch);
    assert_int_equal(clv_plan_make(&clv_generators[0], &draw.instance, &plan), CLV_OK);
    clv_alloc_set_hook(NULL, NULL);
    print_message("# P 4096, N %d: %.1f ms of CPU, %.2f MiB of scratch memory, %.2f MiB of sends\n",
                  (int) n_segments, (double) (clock() - start) * 1e3 / CLOCKS_PER_SEC,
                  (double) scratch.n_bytes / (1 << 20),
                  (double) plan->n_sends * sizeof(clv_send_t) / (1 << 20));
    assert_true(scratch.n_bytes <= (padded + n_cells) / 8 + 256 * n_ranks);
    assert_int_equal(validate(plan), CLV_OK);
    clv_plan_free(plan);
}

static void most_ranks_stay_within_memory(void **unused)
{
    (void) unused;
    make_within_memory(64);
}

/* Some seconds and 300 MiB: with CLV_SCHED_LARGEST=1 only. */
static void most_ranks_and_segments_stay_within_memory(void **unused)
{
    (void) unused;
    if (getenv("CLV_SCHED_LARGEST") != NULL) {
        make_within_memory(CLV_SCHED_MAX_SEGMENTS);
    }
}

/* ---- out of memory --------------------------------------------------------------------------- */

static void every_failing_allocation_is_reported(void **unused)
{
    uint64_t state = seed;
    (void) unused;
    for (const clv_generator_t *row = clv_generators; row->name != NULL; row++) {
        clv_draw_instance(&draw, &state, CLV_FAMILY_UNIFORM, 70, 70);
        draw.instance.goal = clv_goal_of(row);
        for (int nth = 0, done = 0; !done; nth++) {
            int countdown = nth;
            clv_plan_t *plan = NULL;
            clv_alloc_set_hook(clv_fail_nth, &countdown);
            clv_status_t status = clv_plan_make(row, &draw.instance, &plan);
            clv_alloc_set_hook(NULL, NULL);
            assert_true(status == CLV_NO_MEMORY || status == CLV_OK);
            assert_true((plan != NULL) == (status == CLV_OK));
            done = status == CLV_OK;
            clv_plan_free(plan);
        }
    }
}

static void validator_and_estimate_report_lack_of_memory(void **unused)
{
    uint64_t state = seed;
    clv_plan_t *plan = make_random(&state, "bitset");
    clv_cost_t cost = {.latency_ns = 1000, .byte_ps = 10};
    clv_estimate_t estimate;
    char reason[160];
    (void) unused;
    for (int nth = 0; nth < 2; nth++) {
        int countdown = nth;
        clv_alloc_set_hook(clv_fail_nth, &countdown);
        assert_int_equal(clv_plan_validate(plan, reason, sizeof reason), CLV_NO_MEMORY);
        countdown = nth;
        assert_int_equal(clv_plan_validate_arrivals(plan, &draw.instance, reason, sizeof reason),
                         CLV_NO_MEMORY);
        countdown = nth;
        assert_int_equal(clv_plan_estimate(plan, draw.arrival_ns, NULL, 4096, &cost, &estimate),
                         CLV_NO_MEMORY);
        clv_alloc_set_hook(NULL, NULL);
    }
    clv_plan_free(plan);
}

/* ---- steps, estimate, cache ------------------------------------------------------------------ */

/* Each send is one step of two ranks, steps are in order, a receive comes before the send of the
 * same round. */
static void steps_are_the_plan_seen_by_each_rank(void **unused)
{
    uint64_t state = seed;
    (void) unused;
    for (int k = 0; k < clv_share_of(200); k++) {
        clv_plan_t *plan = make_random(&state, k % 2 == 0 ? "bitset" : "chain");
        int64_t n_all = 0;
        for (int32_t p = 0; p < plan->n_ranks; p++) {
            int64_t n_steps = clv_plan_count_steps(plan, p);
            clv_step_t *steps = clv_alloc((size_t) n_steps + 1, sizeof *steps);
            clv_plan_copy_steps(plan, p, steps);
            for (int64_t i = 1; i < n_steps; i++) {
                assert_true(steps[i - 1].round < steps[i].round ||
                            (steps[i - 1].round == steps[i].round &&
                             steps[i - 1].kind == CLV_STEP_RECV_REDUCE &&
                             steps[i].kind == CLV_STEP_SEND));
            }
            n_all += n_steps;
            clv_free(steps);
        }
        assert_int_equal(n_all, 2 * plan->n_sends);
        clv_plan_free(plan);
    }
}

static void chain_is_pipelined(void **unused)
{
    int64_t arrival_ns[5] = {3, 1, 0, 1, 2};
    clv_instance_t instance = {5, 7, 2, 1000, arrival_ns, NULL, CLV_GOAL_REDUCE, NULL, 0, NULL};
    clv_plan_t *plan = NULL;
    (void) unused;
    assert_int_equal(clv_plan_make(clv_generator_find("chain"), &instance, &plan), CLV_OK);
    assert_int_equal(plan->n_sends, 4 * 7);
    assert_int_equal(plan->n_rounds, 4 + 7 - 1);
    assert_int_equal(plan->sends[0].sender, 1);
    assert_int_equal(plan->sends[0].receiver, 3);
    assert_int_equal(plan->sends[plan->n_sends - 1].sender, 0);
    assert_int_equal(plan->sends[plan->n_sends - 1].receiver, 2);
    clv_plan_free(plan);
}

/* Segments are as long as leave early on every kind of link that has a limit, and of the usual
 * length where none has. */
static void segments_are_no_longer_than_leaves_early(void **unused)
{
    static const struct {
        int64_t far_bytes, near_bytes, alone, shared;
    } cases[] = {{16384, 8192, 16384, 8192},
                 {8192, 16384, 8192, 8192},
                 {16384, 0, 16384, 16384},
                 {0, 8192, CLV_COST_SEGMENT_BYTES, 8192},
                 {0, 0, CLV_COST_SEGMENT_BYTES, CLV_COST_SEGMENT_BYTES}};

    (void) unused;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const clv_cost_t cost = {.early_bytes = cases[i].far_bytes,
                                 .near_early_bytes = cases[i].near_bytes};
        assert_int_equal(clv_cost_segment_bytes(&cost, 0), cases[i].alone);
        assert_int_equal(clv_cost_segment_bytes(&cost, 1), cases[i].shared);
    }
}

/* One rank of eight that was interrupted while it measured changes nothing. */
static void agreed_cost_leaves_a_straggler_out(void **unused)
{
    clv_cost_t costs[] = {{60, 900, -1, 1, 9, 5, 16384, -1},    {9000, 1000, -1, -1, 9, 6, -1, -1},
                          {70, 1010, -1, 3, 9, 5, 8192, -1},    {50, 990, -1, 2, 9, 5, -1, -1},
                          {65, 70000, -1, -1, 9, 4, 32768, -1}, {80, 1020, -1, 70, 9, 800, -1, -1},
                          {75, 980, -1, -1, 9, 7, 32768, -1},   {55, 1005, -1, -1, 9, 5, -1, -1}};
    clv_cost_t alone[] = {{.latency_ns = 7, .byte_ps = 8}};
    clv_cost_t agreed = clv_cost_agree(costs, 8);

    (void) unused;
    assert_int_equal(agreed.latency_ns, 75);
    assert_int_equal(agreed.byte_ps, 1010);
    assert_int_equal(agreed.near_latency_ns, 0); /* nobody measured it */
    assert_int_equal(agreed.near_byte_ps, 3);    /* four ranks did */
    assert_int_equal(agreed.combine_ps, 9);
    assert_int_equal(agreed.gap_ns, 6);
    assert_int_equal(agreed.early_bytes, 8192); /* what leaves on every link */
    assert_int_equal(agreed.near_early_bytes, 0);
    for (int p = 0; p < 8; p++) {
        costs[p].byte_ps = 1000;
        costs[p].gap_ns = 50000;
    }
    assert_int_equal(clv_cost_agree(costs, 8).gap_ns, 8192); /* a segment's bytes */
    agreed = clv_cost_agree(alone, 1);
    assert_int_equal(agreed.latency_ns, 7);
    assert_int_equal(agreed.byte_ps, 8);
}

static void estimate_adds_up(void **unused)
{
    int64_t arrival_ns[2] = {100, 700};
    clv_send_t sends[] = {{0, 1, 0, 0, CLV_MOVE}};
    clv_plan_t plan = {2, 1, 0, 1, 1, sends, CLV_GOAL_REDUCE};
    clv_cost_t cost = {.latency_ns = 50, .byte_ps = 2000};
    clv_estimate_t estimate;
    (void) unused;
    assert_int_equal(clv_cost_round_ns(&cost, 10), 70);
    assert_int_equal(clv_segment_bytes(10, 4), 3);
    assert_int_equal(clv_plan_estimate(&plan, arrival_ns, NULL, 10, &cost, &estimate), CLV_OK);
    assert_int_equal(estimate.end_ns, 770);
    assert_int_equal(estimate.after_ns, 70);
    assert_int_equal(estimate.in_mpi_ns, (670 + 20) / 2);
    cost.byte_ps = INT64_MAX;
    assert_true(clv_cost_round_ns(&cost, INT64_MAX) > 0);
    assert_true(clv_cost_round_ns(&(clv_cost_t){.latency_ns = INT64_MAX, .byte_ps = 1}, 1 << 20) >
                0);
}

static const clv_plan_t *cached(clv_plan_cache_t *cache, int64_t quantum_ns)
{
    const clv_plan_t *plan = NULL;
    assert_int_equal(
        clv_plan_cache_get(cache, &clv_generators[0], &draw.instance, quantum_ns, &plan), CLV_OK);
    return plan;
}

static void cache_keeps_the_recent_and_counts(void **unused)
{
    clv_plan_cache_t *cache = NULL;
    uint64_t state = seed;
    (void) unused;
    assert_int_equal(clv_plan_cache_create(0, 1 << 20, &cache), CLV_INVALID);
    assert_int_equal(clv_plan_cache_create(2, 1 << 20, &cache), CLV_OK);
    clv_draw_instance(&draw, &state, CLV_FAMILY_UNIFORM, 8, 8);
    draw.instance.root = 0;
    (void) cached(cache, 1);
    (void) cached(cache, 1);
    draw.instance.root = 1;
    (void) cached(cache, 1);
    draw.instance.root = 0;
    (void) cached(cache, 1);
    draw.instance.root = 2;
    (void) cached(cache, 1); /* evicts root 1 */
    draw.instance.root = 0;
    (void) cached(cache, 1);
    clv_plan_cache_counters_t counters = clv_plan_cache_counters(cache);
    assert_int_equal(counters.n_hits, 3);
    assert_int_equal(counters.n_misses, 3);
    assert_int_equal(counters.n_evictions, 1);
    assert_int_equal(counters.n_entries, 2);
    clv_plan_cache_free(cache);
}

/* Arrivals inside the same quanta give the same plan, whoever made it; the clip rule is a key. */
static void cached_plan_depends_on_the_key_only(void **unused)
{
    uint64_t state = seed;
    (void) unused;
    for (int k = 0; k < clv_share_of(200); k++) {
        clv_plan_cache_t *one = NULL, *other = NULL;
        assert_int_equal(clv_plan_cache_create(4, 0, &one), CLV_OK);
        assert_int_equal(clv_plan_cache_create(4, 1 << 20, &other), CLV_OK);
        clv_draw_instance(&draw, &state, CLV_FAMILY_UNIFORM, 12, 6);
        for (int32_t p = 0; p < 12; p++) {
            draw.arrival_ns[p] = draw.arrival_ns[p] / 1000 * 1000;
        }
        if (k % 2) {
            clv_draw_clip(&draw, 5000);
        }
        uint64_t hash = clv_plan_hash(cached(one, 1000));
        for (int32_t p = 1; p < 12; p++) {
            draw.arrival_ns[p] += clv_random_between(&state, 0, 999);
        }
        clv_status_t status = CLV_OK;
        const clv_plan_t *plan = NULL;
        status = clv_plan_cache_get(other, &clv_generators[0], &draw.instance, 1000, &plan);
        assert_int_equal(status, CLV_OK);
        /* The minimum is the origin of the quanta: unchanged only if rank 0 is the earliest. */
        int64_t earliest_ns = INT64_MAX;
        for (int32_t p = 0; p < 12; p++) {
            earliest_ns = draw.arrival_ns[p] < earliest_ns ? draw.arrival_ns[p] : earliest_ns;
        }
        if (earliest_ns == draw.arrival_ns[0] && earliest_ns % 1000 == 0) {
            assert_true(hash == clv_plan_hash(plan));
        }
        assert_true(hash == clv_plan_hash(plan) || earliest_ns % 1000 != 0);
        clv_plan_cache_free(other);
        clv_plan_cache_free(one);
    }
}

static void cache_survives_lack_of_memory(void **unused)
{
    uint64_t state = seed;
    (void) unused;
    clv_draw_instance(&draw, &state, CLV_FAMILY_UNIFORM, 8, 8);
    for (int nth = 0, done = 0; !done; nth++) {
        clv_plan_cache_t *cache = NULL;
        const clv_plan_t *plan = NULL;
        int countdown = nth;
        clv_alloc_set_hook(clv_fail_nth, &countdown);
        clv_status_t status = clv_plan_cache_create(2, 1 << 20, &cache);
        if (status == CLV_OK) {
            status = clv_plan_cache_get(cache, &clv_generators[0], &draw.instance, 1, &plan);
        }
        clv_alloc_set_hook(NULL, NULL);
        assert_true(status == CLV_NO_MEMORY || status == CLV_OK);
        done = status == CLV_OK;
        clv_plan_cache_free(cache);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

static void reader_accepts_order_and_reports_lack_of_memory(void **unused)
{
    static const char text[] = "P 2\nN 1\nroot 0\nd 10\narrival 5 6\norder 4 3\nsends 1\n"
                               "last_round 0\nfnv1a64 0123456789abcdef\nschedule\n0 1 0 0";
    clv_parsed_t parsed;
    clv_parse_error_t error;
    (void) unused;
    assert_int_equal(clv_instance_parse(text, strlen(text), &parsed, &error), CLV_OK);
    assert_int_equal(parsed.instance.order_ns[1], 3);
    assert_int_equal(parsed.n_sends, 1);
    assert_true(UINT64_C(0x0123456789abcdef) == parsed.hash);
    clv_parsed_free(&parsed);
    for (int nth = 0; nth < 2; nth++) {
        int countdown = nth;
        clv_alloc_set_hook(clv_fail_nth, &countdown);
        assert_int_equal(clv_instance_parse(text, strlen(text), &parsed, &error), CLV_NO_MEMORY);
        clv_alloc_set_hook(NULL, NULL);
    }
    assert_int_equal(
        clv_instance_parse("P 1\nN 1\nroot 0\nd 1\narrival 1\nfnv1a64 12\n", 44, &parsed, &error),
        CLV_INVALID);
    assert_int_equal(error.line, 6);
    assert_int_equal(clv_instance_parse("P 1\nN 1\nroot 0\nd 1\narrival 1\nfnv1a64 "
                                        "0123456789abcdeX\n",
                                        56, &parsed, &error),
                     CLV_INVALID);
}

static void simd_levels_have_names(void **unused)
{
    (void) unused;
    assert_string_equal(clv_simd_name(CLV_SIMD_PLAIN), "plain");
    assert_int_equal(clv_simd_force(CLV_SIMD_PLAIN), CLV_OK);
    assert_int_equal(clv_simd_level(), CLV_SIMD_PLAIN);
    assert_string_equal(clv_simd_name(clv_simd_level()), "plain");
    clv_simd_force_none();
    assert_int_equal(clv_simd_force((clv_simd_t) CLV_N_SIMD), CLV_UNSUPPORTED);
    assert_null(clv_generator_find("fastest"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(validator_refuses_every_mutation),
        cmocka_unit_test(validator_refuses_to_pass_on_at_once),
        cmocka_unit_test(nobody_sends_before_arriving),
        cmocka_unit_test(instances_out_of_range_are_refused),
        cmocka_unit_test(huge_times_work_or_overflow_clearly),
        cmocka_unit_test(rounds_beyond_the_end_of_time_are_an_error),
        cmocka_unit_test(most_ranks_stay_within_memory),
        cmocka_unit_test(most_ranks_and_segments_stay_within_memory),
        cmocka_unit_test(every_failing_allocation_is_reported),
        cmocka_unit_test(validator_and_estimate_report_lack_of_memory),
        cmocka_unit_test(steps_are_the_plan_seen_by_each_rank),
        cmocka_unit_test(chain_is_pipelined),
        cmocka_unit_test(agreed_cost_leaves_a_straggler_out),
        cmocka_unit_test(segments_are_no_longer_than_leaves_early),
        cmocka_unit_test(estimate_adds_up),
        cmocka_unit_test(cache_keeps_the_recent_and_counts),
        cmocka_unit_test(cached_plan_depends_on_the_key_only),
        cmocka_unit_test(cache_survives_lack_of_memory),
        cmocka_unit_test(reader_accepts_order_and_reports_lack_of_memory),
        cmocka_unit_test(simd_levels_have_names),
    };
    const char *given = getenv("CLV_SEED");
    seed = given != NULL ? strtoull(given, NULL, 10) : 20211204;
    seed += seed == 0;
    print_message("# seed %llu\n", (unsigned long long) seed);
    return clv_run_tests(tests);
}
