/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Plans of the four goals: the validator against an oracle that follows every contribution, on
 * random plans and on mutants of them; hashes, steps, generators and the plan cache know goal and
 * kind.
 *
 * CLV_ROUNDS: random plans, and as many mutants (20000; tests/quality/mutants.sh takes more).
 */
#include "schedule/sched_cache.h"
#include "schedule/sched_goal.h"
#include "schedule/schedule.h"
#include "tests/support/plan_mutants.h"
#include "tests/support/random_instance.h"
#include "tests/support/random_plan.h"
#include "tests/support/test.h"
#include "util/util_alloc.h"
#include "util/util_hash.h"

static uint64_t seed;
static int64_t n_rounds;

static int is_valid(const clv_plan_t *plan)
{
    char reason[200] = "";
    clv_status_t status = clv_plan_validate(plan, reason, sizeof reason);
    assert_true(status == CLV_OK || status == CLV_INVALID);
    assert_true((status == CLV_OK) == (reason[0] == '\0'));
    return status == CLV_OK;
}

static clv_plan_t *draw_plan(uint64_t *state, int64_t k)
{
    return clv_random_plan(
        state, (clv_goal_t) (k % CLV_N_GOALS), (int32_t) clv_random_between(state, 1, 8),
        (int32_t) clv_random_between(state, 1, 5), (int32_t) clv_random_between(state, 0, 12));
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void random_plans_of_every_goal_are_accepted(void **unused)
{
    uint64_t state = seed;
    int64_t n_copies = 0, n_moves = 0;
    (void) unused;
    for (int64_t k = 0; k < n_rounds; k++) {
        clv_plan_t *plan = draw_plan(&state, k);
        assert_true(clv_plan_is_right(plan));
        assert_true(is_valid(plan));
        for (int64_t i = 0; i < plan->n_sends; i++) {
            n_copies += plan->sends[i].kind == CLV_COPY;
            n_moves += plan->sends[i].kind == CLV_MOVE;
        }
        clv_plan_free(plan);
    }
    print_message("# %lld plans, %lld moves, %lld copies\n", (long long) n_rounds,
                  (long long) n_moves, (long long) n_copies);
    assert_true(n_copies > n_rounds && n_moves > n_rounds);
}

static void no_mutant_that_is_wrong_is_accepted(void **unused)
{
    uint64_t state = seed + 1;
    clv_mutants_t all = {0}, of_goal[CLV_N_GOALS] = {{0}};
    (void) unused;
    for (int64_t k = 0; k < n_rounds; k++) {
        clv_plan_t *plan = draw_plan(&state, k);
        clv_plan_mutate(plan, &state);
        assert_true(clv_mutants_judge(&of_goal[k % CLV_N_GOALS], plan));
        clv_plan_free(plan);
    }
    for (int goal = 0; goal < CLV_N_GOALS; goal++) {
        clv_mutants_print(&of_goal[goal], clv_goal_name((clv_goal_t) goal));
        clv_mutants_add(&all, &of_goal[goal]);
    }
    assert_true(all.n_wrong > n_rounds / 4);
    /* Only an incomplete copy that nobody needs is refused without need. */
    assert_true(all.n_refused_though_right <= n_rounds / 20);
}

/* A hand-made plan of each goal, and what is wrong with it when one thing is changed. */
static void validator_says_what_is_wrong(void **unused)
{
    clv_send_t sends[] = {{0, 1, 0, 0, CLV_MOVE}, {1, 0, 1, 0, CLV_COPY}};
    clv_plan_t plan = {2, 1, 0, 2, 2, sends, CLV_GOAL_ALLREDUCE};
    char reason[200];
    (void) unused;
    assert_true(is_valid(&plan));
    plan.goal = CLV_GOAL_REDUCE;
    assert_true(is_valid(&plan));
    plan.goal = CLV_GOAL_REDUCE_SCATTER;
    assert_int_equal(clv_plan_validate(&plan, reason, sizeof reason), CLV_INVALID);
    assert_non_null(strstr(reason, "impossible: reduce_scatter of ranks 2, segments 1"));
    plan.goal = CLV_GOAL_BCAST;
    assert_int_equal(clv_plan_validate(&plan, reason, sizeof reason), CLV_INVALID);
    assert_non_null(strstr(reason, "send 0: rank 1 does not hold segment 0"));
    plan.goal = CLV_GOAL_ALLREDUCE;
    sends[0].kind = CLV_COPY;
    assert_int_equal(clv_plan_validate(&plan, reason, sizeof reason), CLV_INVALID);
    assert_non_null(strstr(reason, "with 1 of 2 contributions cannot be copied to rank 0, which"));
    sends[0].kind = 2;
    assert_int_equal(clv_plan_validate(&plan, reason, sizeof reason), CLV_INVALID);
    assert_non_null(strstr(reason, "no such segment 0 or kind 2"));
    sends[0].kind = CLV_MOVE;
    sends[1].kind = CLV_MOVE;
    assert_int_equal(clv_plan_validate(&plan, reason, sizeof reason), CLV_INVALID);
    assert_string_equal(reason, "at the end rank 0 lacks segment 0, or part of it");
    plan.goal = CLV_N_GOALS;
    assert_int_equal(clv_plan_validate(&plan, reason, sizeof reason), CLV_INVALID);
}

/* The kind counts where it is COPY only, so that the hashes of plans of moves stay. */
static void hash_adds_the_kind_of_copies(void **unused)
{
    clv_send_t sends[] = {{0, 1, 0, 0, CLV_MOVE}, {7, 0, 300, 1, CLV_COPY}};
    clv_plan_t plan = {301, 2, 0, 8, 2, sends, CLV_GOAL_ALLREDUCE};
    const uint32_t numbers[] = {0, 1, 0, 0, 7, 0, 300, 1, 1};
    uint64_t hash = CLV_FNV1A64_BASIS;
    (void) unused;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        hash = clv_fnv1a64_u32(hash, numbers[i]);
    }
    assert_true(clv_plan_hash(&plan) == hash);
}

static void a_send_takes_twelve_bytes(void **unused)
{
    const clv_send_t send = clv_send_of(INT32_MAX, CLV_SCHED_MAX_RANKS - 1, CLV_SCHED_MAX_RANKS - 2,
                                        CLV_SCHED_MAX_SEGMENTS - 1, CLV_COPY);
    (void) unused;
    assert_int_equal(sizeof send, 12);
    assert_int_equal(send.sender, CLV_SCHED_MAX_RANKS - 1);
    assert_int_equal(send.receiver, CLV_SCHED_MAX_RANKS - 2);
    assert_int_equal(send.segment, CLV_SCHED_MAX_SEGMENTS - 1);
    assert_int_equal(send.kind, CLV_COPY);
}

static void steps_have_the_four_kinds(void **unused)
{
    clv_send_t sends[] = {{0, 1, 0, 0, CLV_MOVE}, {1, 0, 1, 0, CLV_COPY}};
    const clv_plan_t plan = {2, 1, 0, 2, 2, sends, CLV_GOAL_ALLREDUCE};
    clv_step_t steps[2];
    (void) unused;
    clv_plan_copy_steps(&plan, 0, steps);
    assert_int_equal(steps[0].kind, CLV_STEP_RECV_REDUCE);
    assert_int_equal(steps[1].kind, CLV_STEP_SEND_COPY);
    clv_plan_copy_steps(&plan, 1, steps);
    assert_int_equal(steps[0].kind, CLV_STEP_SEND);
    assert_int_equal(steps[1].kind, CLV_STEP_RECV_COPY);
}

static void goals_have_names(void **unused)
{
    clv_goal_t goal = CLV_N_GOALS;
    (void) unused;
    for (int k = 0; k < CLV_N_GOALS; k++) {
        assert_int_equal(clv_goal_find(clv_goal_name((clv_goal_t) k), &goal), CLV_OK);
        assert_int_equal(goal, k);
    }
    assert_string_equal(clv_goal_name(CLV_N_GOALS), "unknown");
    assert_int_equal(clv_goal_find("gather", &goal), CLV_INVALID);
}

/* Today's generators reduce, and say so when asked for something else. */
static void generators_refuse_goals_they_cannot(void **unused)
{
    const int64_t arrival_ns[2] = {0, 0};
    clv_instance_t instance = {
        .n_ranks = 2, .n_segments = 2, .round_ns = 1, .arrival_ns = arrival_ns};
    const char *reason;
    (void) unused;
    for (const clv_generator_t *row = clv_generators; row->name != NULL; row++) {
        for (int goal = 0; goal < CLV_N_GOALS; goal++) {
            clv_plan_t *plan = NULL;
            instance.goal = (clv_goal_t) goal;
            assert_int_equal(clv_plan_make(row, &instance, &plan),
                             row->goals >> goal & 1 ? CLV_OK : CLV_UNSUPPORTED);
            assert_true(plan == NULL || plan->goal == instance.goal);
            clv_plan_free(plan);
        }
    }
    instance.goal = CLV_N_GOALS;
    assert_int_equal(clv_instance_check(&instance, &reason), CLV_INVALID);
    instance.goal = CLV_GOAL_REDUCE_SCATTER;
    instance.n_segments = 3;
    assert_int_equal(clv_instance_check(&instance, &reason), CLV_INVALID);
}

static int is_cached(clv_plan_cache_t *cache, const clv_instance_t *instance)
{
    const int64_t n_hits = clv_plan_cache_counters(cache).n_hits;
    const clv_plan_t *plan;
    clv_status_t status = clv_plan_cache_get(cache, clv_generators, instance, 1, &plan);
    assert_true(status == CLV_OK || status == CLV_UNSUPPORTED);
    return clv_plan_cache_counters(cache).n_hits > n_hits;
}

/* A plan for one goal or set of places is never handed out for another. */
static void goal_and_places_are_keys_of_the_cache(void **unused)
{
    const int64_t arrival_ns[3] = {0, 1, 2};
    int32_t place[3] = {0, 0, 1};
    clv_instance_t instance = {
        .n_ranks = 3, .n_segments = 3, .round_ns = 1, .arrival_ns = arrival_ns};
    clv_plan_cache_t *cache;
    (void) unused;
    assert_int_equal(clv_plan_cache_create(8, 1 << 20, &cache), CLV_OK);
    assert_false(is_cached(cache, &instance));
    assert_true(is_cached(cache, &instance));
    instance.goal = CLV_GOAL_ALLREDUCE;
    assert_false(is_cached(cache, &instance));
    instance.goal = CLV_GOAL_REDUCE;
    instance.place = place;
    assert_false(is_cached(cache, &instance));
    assert_true(is_cached(cache, &instance));
    place[2] = 2; /* the caller's array; the cache has its own */
    assert_false(is_cached(cache, &instance));
    place[2] = 1;
    assert_true(is_cached(cache, &instance));
    instance.order_ns = arrival_ns;
    assert_false(is_cached(cache, &instance));
    assert_true(is_cached(cache, &instance));
    instance.order_ns = NULL;
    instance.place = NULL;
    assert_true(is_cached(cache, &instance));
    clv_plan_cache_free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_plans_of_every_goal_are_accepted),
        cmocka_unit_test(no_mutant_that_is_wrong_is_accepted),
        cmocka_unit_test(validator_says_what_is_wrong),
        cmocka_unit_test(hash_adds_the_kind_of_copies),
        cmocka_unit_test(a_send_takes_twelve_bytes),
        cmocka_unit_test(steps_have_the_four_kinds),
        cmocka_unit_test(goals_have_names),
        cmocka_unit_test(generators_refuse_goals_they_cannot),
        cmocka_unit_test(goal_and_places_are_keys_of_the_cache),
    };
    const char *rounds = getenv("CLV_ROUNDS");
    seed = clv_seed();
    n_rounds = rounds != NULL ? atoll(rounds) : clv_share_of(20000);
    return clv_run_tests(tests);
}
