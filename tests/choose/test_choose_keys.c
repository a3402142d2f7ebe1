/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two keys: the table of a stream's plan keys is the same on all ranks; each key gets its own plan
 * and its own measured costs from the forecasts of one stream; one key alone decides as without it.
 *
 * Call c, from 0, waits for the forecast of version c, whose records come from call c - 1 and tell
 * how the call before that went, and whose key table is of that call, too. Measured times are the
 * estimates.
 */
#include "choose/choose_keys.h"
#include "choose/choose_node_plan.h"
#include "tests/sim/cs_random.h"
#include "tests/support/test.h"

#define N_RANKS      8
#define N_CALLS      64
#define MAX_ROOM     (1 << 20)
#define ITERATION_NS INT64_C(100000000) /* an iteration */

static cs_random_t generator;
static const int32_t all_ranks[N_RANKS] = {0, 1, 2, 3, 4, 5, 6, 7};

static clv_pap_stream_key_t key_of(int32_t root)
{
    return (clv_pap_stream_key_t){
        .collective = CLV_COLLECTIVE_REDUCE, .root = root, .total_bytes = 2 << 20};
}

/* ---- the table ------------------------------------------------------------------------------- */

static void a_size_class_spans_a_factor_of_two(void **state)
{
    static const int64_t rows[][2] = {
        {0, 0},       {1, 1},       {2, 2},
        {3, 2},       {4095, 2048}, {4096, 4096},
        {8191, 4096}, {8192, 8192}, {CLV_PAP_MAX_TOTAL_BYTES, INT64_C(1) << 42}};
    (void) state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const clv_pap_stream_key_t key = {.root = 3, .max_segments = 7, .total_bytes = rows[i][0]};
        const clv_pap_stream_key_t arrivals = clv_choose_arrivals_key(&key);
        assert_int_equal(arrivals.total_bytes, rows[i][1]);
        assert_int_equal(arrivals.root, 0);
        assert_int_equal(arrivals.max_segments, 0);
    }
}

/* The model: a list of roots, most recently used first. */
static int32_t model_use(int32_t *roots, int32_t n, int32_t root)
{
    int32_t at = 0;

    while (at < n && roots[at] != root) {
        at++;
    }
    n += at == n;
    memmove(roots + 1, roots, (size_t) at * sizeof *roots);
    roots[0] = root;
    return n < CLV_CHOOSE_MAX_KEYS ? n : CLV_CHOOSE_MAX_KEYS;
}

static void check_model(const clv_choose_keys_t *keys, const int32_t *roots, int32_t n)
{
    int32_t slots[CLV_CHOOSE_MAX_KEYS];

    assert_int_equal(clv_choose_keys_order(keys, slots), n);
    assert_int_equal(slots[0], keys->newest);
    for (int32_t i = 0; i < n; i++) {
        assert_int_equal(keys->slot[slots[i]].key.root, roots[i]);
    }
}

static void the_table_is_equal_on_all_ranks(void **state)
{
    clv_choose_keys_t ranks[4];
    int32_t roots[CLV_CHOOSE_MAX_KEYS + 1];

    (void) state;
    for (int round = 0; round < 100; round++) {
        const int32_t n_roots = (int32_t) cs_random_range(&generator, 1, 14);
        int32_t n = 0;
        memset(ranks, 0, sizeof ranks);
        for (int call = 0; call < 200; call++) {
            const int32_t root = (int32_t) cs_random_range(&generator, 0, n_roots - 1);
            const clv_pap_stream_key_t key = key_of(root);
            n = model_use(roots, n, root);
            for (int rank = 0; rank < 4; rank++) {
                clv_choose_keys_use(&ranks[rank], &key);
                assert_memory_equal(&ranks[rank], &ranks[0], sizeof ranks[0]);
            }
            check_model(&ranks[0], roots, n);
        }
    }
}

static void a_ninth_key_takes_the_oldest_ones_slot(void **state)
{
    clv_choose_keys_t keys = {0};

    (void) state;
    for (int32_t root = 0; root < 9; root++) {
        const clv_pap_stream_key_t key = key_of(root);
        clv_choose_keys_use(&keys, &key);
    }
    assert_int_equal(keys.n_keys, 8);
    assert_int_equal(keys.newest, 0);
    assert_int_equal(keys.slot[0].key.root, 8);
    for (int32_t slot = 1; slot < 8; slot++) {
        assert_int_equal(keys.slot[slot].key.root, slot);
    }
}

/* ---- a stream -------------------------------------------------------------------------------- */

typedef struct stream {
    clv_chooser_t chooser;
    clv_choose_keys_t table[N_CALLS + 1]; /* after so many calls */
    int32_t root[N_CALLS];
    clv_choose_decision_t ran[N_CALLS];
    int32_t has_decision[N_CALLS];
    int32_t announced[N_CALLS + 1];
    clv_choose_memory_t memory;
    clv_pap_forecast_t forecast;
    clv_pap_progress_t progress;
    int64_t predicted_ns[N_RANKS];
    size_t room;
} stream_t;

static _Alignas(16) unsigned char plan_memory[MAX_ROOM];

static void stream_start(stream_t *stream)
{
    memset(stream, 0, sizeof *stream);
    /* 20 ns per byte, 60 us latency */
    stream->chooser = (clv_chooser_t){.config = {.n_ranks = N_RANKS,
                                                 .guard_permille = 200,
                                                 .reduce_algorithm = CLV_ALGORITHM_AUTO,
                                                 .max_cells = CLV_CHOOSE_MAX_CELLS,
                                                 .cost = {.latency_ns = 60000, .byte_ps = 20000}},
                                      .host_ranks = all_ranks,
                                      .n_host_ranks = N_RANKS};
    stream->room = MAX_ROOM;
    for (int32_t p = 0; p < N_RANKS; p++) {
        stream->predicted_ns[p] = (p * 5 % N_RANKS) * INT64_C(6000000);
    }
}

/* The forecast that follows the records of call version - 1. */
static void next_forecast(stream_t *stream, int32_t version)
{
    const int32_t judged = version - 2;

    stream->forecast = (clv_pap_forecast_t){.n_ranks = N_RANKS,
                                            .n_record_sets = version < 8 ? version : 8,
                                            .version = version,
                                            .sigma_ns = 100000,
                                            .worst_error_ns = 100000,
                                            .sample_every = 1,
                                            .announced = stream->announced[version],
                                            .previous_after_ns = -1,
                                            .previous_in_mpi_ns = -1,
                                            .predicted_ns = stream->predicted_ns};
    stream->progress =
        (clv_pap_progress_t){.call = version - 1, .last_arrival_ns = version * ITERATION_NS};
    if (judged >= 0) {
        stream->forecast.previous_choice = stream->ran[judged].algorithm;
        stream->forecast.previous_after_ns = stream->ran[judged].predicted_after_ns;
        stream->forecast.previous_in_mpi_ns = stream->ran[judged].predicted_in_mpi_ns;
    }
}

static void publish(stream_t *stream, int32_t version)
{
    const clv_choose_keys_t *key_table = &stream->table[version < 2 ? 0 : version - 1];

    next_forecast(stream, version);
    memset(plan_memory, 0, sizeof plan_memory);
    assert_true(clv_choose_node_plan(&stream->chooser, NULL, &stream->forecast, &stream->progress,
                                     key_table, &stream->memory, plan_memory,
                                     stream->room) <= stream->room);
}

/* The call finds its decision beside the forecast, or runs without a forecast. */
static const clv_node_plan_t *one_call(stream_t *stream, int32_t call, int32_t root)
{
    static const int32_t announced[CLV_CHOOSE_RING];
    const clv_pap_stream_key_t key = key_of(root);
    const clv_node_plan_t *found = NULL;
    clv_choose_state_t unknown;

    if (call > 0) {
        publish(stream, call);
        found = clv_node_plans_find((const void *) plan_memory, &key);
    }
    assert_int_equal(clv_choose_begin(&stream->chooser.config, &key, announced, &unknown), CLV_OK);
    stream->has_decision[call] = found != NULL;
    stream->ran[call] = found == NULL ? unknown.made[0] : found->decision;
    stream->root[call] = root;
    stream->table[call + 1] = stream->table[call];
    clv_choose_keys_use(&stream->table[call + 1], &key);
    return found;
}

/* All steps of the root's own plan, and no others. */
static void check_plan(const stream_t *stream, const clv_node_plan_t *node_plan, int32_t root)
{
    const clv_pap_stream_key_t key = key_of(root);
    clv_plan_t *plan = NULL;

    assert_int_equal(node_plan->status, CLV_OK);
    assert_int_equal(clv_choose_plan(&stream->chooser.config, &key, &stream->forecast,
                                     &node_plan->decision, &plan),
                     CLV_OK);
    for (int32_t rank = 0; rank < N_RANKS; rank++) {
        static clv_step_t expected[4096];
        int64_t n_steps = -1;
        const clv_step_t *steps = clv_node_plan_steps(node_plan, rank, &n_steps);
        assert_non_null(steps);
        assert_int_equal(n_steps, clv_plan_count_steps(plan, rank));
        assert_in_range(n_steps, 1, 4096);
        clv_plan_copy_steps(plan, rank, expected);
        assert_memory_equal(steps, expected, (size_t) n_steps * sizeof *steps);
        for (int64_t i = 0; rank == root && i < n_steps; i++) {
            assert_false(clv_step_is_send(&steps[i]));
        }
    }
    clv_plan_free(plan);
}

/* From the second call of each root on, and not before, there is a decision, and a plan of its own.
 */
static void rotate(int32_t n_roots)
{
    static stream_t stream;
    int32_t n_plans = 0;

    stream_start(&stream);
    for (int32_t call = 0; call < N_CALLS; call++) {
        const int32_t root = call % n_roots;
        const clv_node_plan_t *node_plan = one_call(&stream, call, root);
        assert_int_equal(stream.has_decision[call], call >= (n_roots < 2 ? 2 : n_roots));
        if (node_plan != NULL && node_plan->decision.algorithm != CLV_ALGORITHM_PREVIOUS) {
            check_plan(&stream, node_plan, root);
            n_plans++;
        }
    }
    printf("# %d roots: %d of %d calls had a plan of their own\n", n_roots, n_plans, N_CALLS);
    assert_int_equal(n_plans, N_CALLS - (n_roots < 2 ? 2 : n_roots));
}

static void rotating_roots_get_their_own_plans_from_one_stream(void **state)
{
    (void) state;
    for (int32_t n_roots = 1; n_roots <= CLV_CHOOSE_MAX_KEYS; n_roots++) {
        rotate(n_roots);
    }
}

static int64_t worst_ratio(const clv_choose_state_t *state)
{
    int64_t worst = 0;

    for (int32_t i = CLV_ALGORITHM_PREVIOUS + 1; i < CLV_N_ALGORITHMS; i++) {
        const clv_choose_score_t *score = &state->score[i];
        worst = score->ratio_permille > worst ? score->ratio_permille : worst;
    }
    return worst;
}

static void measured_costs_stay_with_their_key(void **state)
{
    static stream_t stream;

    (void) state;
    stream_start(&stream);
    for (int32_t call = 0; call < N_CALLS; call++) {
        (void) one_call(&stream, call, call % 2);
        if (stream.root[call] == 1) { /* what will be measured */
            stream.ran[call].predicted_after_ns *= 50;
            stream.ran[call].predicted_in_mpi_ns *= 50;
        }
    }
    assert_in_range(worst_ratio(&stream.memory.state[0]), 900, 1100);
    assert_true(worst_ratio(&stream.memory.state[1]) > 10000);
}

static void what_the_previous_function_takes_is_shared_once(void **state)
{
    const clv_choose_score_t measured = {.n_measured = 3, .ratio_permille = 700};
    const clv_choose_score_t own = {.n_measured = 1, .ratio_permille = 1300};
    clv_choose_state_t from = {0}, to = {0};

    (void) state;
    from.score[CLV_ALGORITHM_PREVIOUS] = measured;
    from.score[CLV_ALGORITHM_CHAIN] = measured;
    clv_choose_share(&from, &to);
    assert_memory_equal(&to.score[CLV_ALGORITHM_PREVIOUS], &measured, sizeof measured);
    assert_int_equal(to.score[CLV_ALGORITHM_CHAIN].n_measured, 0);
    to.score[CLV_ALGORITHM_PREVIOUS] = own;
    clv_choose_share(&from, &to);
    assert_memory_equal(&to.score[CLV_ALGORITHM_PREVIOUS], &own, sizeof own);
}

/* A state of its own, from the forecast on that first knows the key. */
static void one_key_decides_as_without_a_table(void **state)
{
    static stream_t stream;
    const clv_pap_stream_key_t key = key_of(2);

    (void) state;
    for (int round = 0; round < clv_share_of(20); round++) {
        clv_choose_state_t alone = {0};
        stream_start(&stream);
        for (int32_t call = 0; call < N_CALLS; call++) {
            clv_choose_decision_t decision;
            stream.announced[call] = cs_random_range(&generator, 0, 3) == 0;
            (void) one_call(&stream, call, 2);
            if (call == 2) {
                const int32_t announced[CLV_CHOOSE_RING] = {[1] = stream.announced[1]};
                assert_int_equal(clv_choose_begin(&stream.chooser.config, &key, announced, &alone),
                                 CLV_OK);
            }
            if (call >= 2) {
                assert_int_equal(clv_choose_shared(&stream.chooser.config, &key, &stream.forecast,
                                                   &stream.progress, 1, &alone, NULL, &decision),
                                 CLV_OK);
                assert_memory_equal(&stream.ran[call], &decision, sizeof decision);
            }
        }
    }
}

static void what_does_not_fit_is_a_decision_only(void **state)
{
    static stream_t stream;
    int32_t n_without = 0;
    const clv_node_plans_t *node_plans = (const void *) plan_memory;

    (void) state;
    stream_start(&stream);
    stream.room = clv_host_places_bytes(8) + 7 * clv_node_plan_bytes(0, 0) +
                  clv_node_plan_bytes(N_RANKS, 4096);
    stream.chooser.config.reduce_algorithm = CLV_ALGORITHM_CHAIN;
    stream.chooser.config.segment_bytes = (2 << 20) / 128; /* 128 segments of 7 moves: 1792 steps */
    for (int32_t call = 0; call < 20; call++) {
        (void) one_call(&stream, call, call % 8);
    }
    assert_int_equal(node_plans->n_keys, 8);
    for (int32_t i = 0; i < 8; i++) {
        int64_t n_steps;
        const clv_node_plan_t *node_plan =
            clv_node_plans_find(node_plans, &node_plans->places[i].key);
        const int has_steps = clv_node_plan_steps(node_plan, 0, &n_steps) != NULL;
        assert_int_equal(node_plan->decision.algorithm, CLV_ALGORITHM_CHAIN);
        assert_int_equal(has_steps, i < 2); /* newest first */
        n_without += !has_steps;
    }
    assert_int_equal(n_without, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_size_class_spans_a_factor_of_two),
        cmocka_unit_test(the_table_is_equal_on_all_ranks),
        cmocka_unit_test(a_ninth_key_takes_the_oldest_ones_slot),
        cmocka_unit_test(rotating_roots_get_their_own_plans_from_one_stream),
        cmocka_unit_test(measured_costs_stay_with_their_key),
        cmocka_unit_test(what_the_previous_function_takes_is_shared_once),
        cmocka_unit_test(one_key_decides_as_without_a_table),
        cmocka_unit_test(what_does_not_fit_is_a_decision_only),
    };
    (void) cs_random_seed_from_environment(&generator);
    return clv_run_tests(tests);
}
