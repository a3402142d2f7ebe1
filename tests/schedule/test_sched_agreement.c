/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every fast generator against its oracle on random instances, bit for bit, and every plan before
 * the validator. CLV_SEED repeats a run; CLV_SHARE scales the counts (1 = as in CI).
 */
#include <time.h>

#include "schedule/generators/sched_busy.h"
#include "schedule/generators/sched_simd.h"
#include "schedule/schedule.h"
#include "tests/support/pairing_heap_plan.h"
#include "tests/support/random_instance.h"
#include "tests/support/test.h"

static uint64_t seed;
static clv_draw_t draw;

static const char *const clairvoyant[] = {"segtree", "bitset", NULL};
static const char *const latest[] = {"latest-first", NULL};
static const char *const latest_rns[] = {"latest-first-rns", NULL};

static void check_valid(const clv_plan_t *plan, const char *name)
{
    char reason[160] = "";
    if (clv_plan_validate(plan, reason, sizeof reason) != CLV_OK ||
        clv_plan_validate_arrivals(plan, &draw.instance, reason, sizeof reason) != CLV_OK) {
        fail_msg("%s: P %d N %d d %lld: %s", name, (int) plan->n_ranks, (int) plan->n_segments,
                 (long long) draw.instance.round_ns, reason);
    }
}

static void check_same(const clv_plan_t *oracle, const clv_plan_t *plan, const char *name)
{
    assert_int_equal(plan->n_sends, oracle->n_sends);
    for (int64_t k = 0; k < oracle->n_sends; k++) {
        const clv_send_t *a = &oracle->sends[k], *b = &plan->sends[k];
        if (a->round != b->round || a->sender != b->sender || a->receiver != b->receiver ||
            a->segment != b->segment) {
            fail_msg("%s: P %d N %d: send %lld differs", name, (int) plan->n_ranks,
                     (int) plan->n_segments, (long long) k);
        }
    }
}

static clv_plan_t *make(const clv_generator_t *generator)
{
    clv_plan_t *plan = NULL;
    assert_non_null(generator);
    assert_int_equal(clv_plan_make(generator, &draw.instance, &plan), CLV_OK);
    return plan;
}

/* What skips no idle rounds makes the same plan, only later. */
static void compare_busy(void)
{
    static const clv_generator_t busy = {"linear-busy", "", 1u << CLV_GOAL_REDUCE,
                                         clv_sched_busy_generate, NULL};
    clv_plan_t *oracle = make(clv_generator_find("linear"));
    clv_plan_t *plan = make(&busy);
    check_same(oracle, plan, busy.name);
    clv_plan_free(plan);
    clv_plan_free(oracle);
}

/* The oracle is validated; who equals it is valid too. The heap is for comparison only, and takes
 * as long as all others. */
static void compare_with(const char *oracle_name, const char *const *names, int with_heap)
{
    static const clv_generator_t heap = {"pairing-heap", "", 1u << CLV_GOAL_REDUCE,
                                         clv_pairing_heap_generate, NULL};
    clv_plan_t *oracle = make(clv_generator_find(oracle_name));
    check_valid(oracle, oracle_name);
    for (; *names != NULL; names++) {
        clv_plan_t *plan = make(clv_generator_find(*names));
        check_same(oracle, plan, *names);
        clv_plan_free(plan);
    }
    if (with_heap) {
        clv_plan_t *plan = make(&heap);
        check_same(oracle, plan, heap.name);
        clv_plan_free(plan);
    }
    clv_plan_free(oracle);
}

static int32_t random_size(uint64_t *state, int32_t largest)
{
    /* Most sizes are small, where the corners are and where many fit into the time: the oracle
     * takes ranks squared times segments. */
    int32_t limit = clv_random_between(state, 0, 7) == 0 ? largest : largest / 4 + 1;
    return (int32_t) clv_random_between(state, 1, limit);
}

static void run_instances(int n_instances, int32_t most_ranks, int32_t most_segments, int with_heap)
{
    uint64_t state = seed + (uint64_t) most_segments;
    clock_t start = clock();
    n_instances = clv_share_of(n_instances);
    for (int k = 0; k < n_instances; k++) {
        clv_family_t family = (clv_family_t) (k % CLV_N_FAMILIES);
        int32_t n_ranks = random_size(&state, most_ranks);
        int32_t n_segments = random_size(&state, most_segments);
        clv_draw_instance(&draw, &state, family, n_ranks, n_segments);
        if (clv_random_between(&state, 0, 3) == 0) {
            clv_draw_clip(&draw, clv_random_between(&state, 0, 4 * draw.instance.round_ns));
        }
        (void) clv_simd_force((clv_simd_t) (k / CLV_N_FAMILIES % CLV_N_SIMD));
        compare_with("linear", clairvoyant, with_heap && k / CLV_N_FAMILIES % 4 == 0);
        if (k % 31 == 0 && family != CLV_FAMILY_WIDE) { /* whose idle rounds are too many */
            compare_busy();
        }
        if (k % 4 == 0) {
            compare_with("latest-first-linear", latest, 0);
            compare_with("latest-first-rns-linear", latest_rns, 0);
        }
        clv_simd_force_none();
    }
    print_message("# %d instances up to %d x %d, seed %llu, %.1f s of CPU\n", n_instances,
                  (int) most_ranks, (int) most_segments, (unsigned long long) seed,
                  (double) (clock() - start) / CLOCKS_PER_SEC);
}

static void agree_on_50000_small_instances(void **state)
{
    (void) state;
    run_instances(50000, 64, 64, 1);
}

/* Sets of more than a word, at the price of small instances. */
static void agree_on_2000_instances_with_few_ranks_or_segments(void **state)
{
    (void) state;
    run_instances(1000, 24, 400, 0);
    run_instances(1000, 400, 24, 0);
}

static void agree_on_500_instances_up_to_300(void **state)
{
    (void) state;
    run_instances(500, 300, 300, 0);
}

static void agree_on_50_instances_up_to_1000(void **state)
{
    (void) state;
    if (clv_is_left_out()) {
        skip();
    }
    run_instances(50, 1000, 1000, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agree_on_50000_small_instances),
        cmocka_unit_test(agree_on_2000_instances_with_few_ranks_or_segments),
        cmocka_unit_test(agree_on_500_instances_up_to_300),
        cmocka_unit_test(agree_on_50_instances_up_to_1000),
    };
    const char *given = getenv("CLV_SEED");
    seed = given != NULL ? strtoull(given, NULL, 10) : 20211204;
    seed += seed == 0;
    return clv_run_tests(tests);
}
