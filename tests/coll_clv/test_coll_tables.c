/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of the module choose: what is read off their rows, and that tables of two modules say
 * the same (the code of a predictor's word is an index into the predictors).
 */
#include "choose/choose.h"
#include "pap_predict/predict/pap_predictors.h"
#include "tests/support/test.h"

static void words_of_predictor_are_the_predictors(void **state)
{
    static const char *const words[] = {
#define WORD(stem, all_columns, meaning) [clv_pap_predictor_##stem] = #stem,
        CLV_PAP_PREDICTOR_MAP(WORD)
#undef WORD
    };
    (void) state;
    for (int i = 0; i < CLV_PAP_N_PREDICTORS; i++) {
        assert_string_equal(words[i], clv_pap_predictors[i].name);
        assert_int_equal(clv_pap_predictors[i].predict == NULL, i == clv_pap_predictor_best);
    }
}

static void every_word_is_allowed_and_best_is_the_default(void **state)
{
    int n_rows = 0;
    (void) state;
#define CHECK_LIMITS(kind, name, values, preset, min, max, unit, level, ranks, meaning)            \
    if (strcmp(#values, "PREDICTOR") == 0) {                                                       \
        assert_true((intptr_t) (preset) == clv_pap_predictor_best);                                \
        assert_true((intptr_t) (min) == 0);                                                        \
        assert_true((intptr_t) (max) == CLV_PAP_N_PREDICTORS - 1);                                 \
        n_rows++;                                                                                  \
    }
    CLV_PARAMETER_MAP(CHECK_LIMITS)
#undef CHECK_LIMITS
    assert_int_equal(n_rows, 1);
}

/* Whoever adds a parameter says whether it decides what runs or is recorded; these alone do
 * not. */
static void every_parameter_but_eight_is_equal_on_all_ranks(void **state)
{
    static const char *const own[] = {"interface", "port_min",           "port_range",
                                      "verbose",   "channel_timeout_ms", "stall_seconds",
                                      "print",     "record_max_mib"};
    size_t n_own = 0;

    (void) state;
#define COUNT_OWN_EQUAL(name)
#define COUNT_OWN_OWN(name)                                                                        \
    assert_true(n_own < sizeof own / sizeof own[0]);                                               \
    assert_string_equal(own[n_own], #name);                                                        \
    n_own++;
#define COUNT_OWN(kind, name, values, preset, min, max, unit, level, ranks, meaning)               \
    COUNT_OWN_##ranks(name)
    CLV_PARAMETER_MAP(COUNT_OWN)
#undef COUNT_OWN
    assert_int_equal(n_own, sizeof own / sizeof own[0]);
}

/* Each field its own place: a change of one shows, and only there. */
static void every_equal_parameter_is_a_number_of_the_config(void **state)
{
    clv_choose_config_t config = {0};
    int32_t numbers[CLV_N_EQUAL];

    (void) state;
#define SET_FIELD(kind, name, values, preset, min, max, unit, level, ranks, meaning)               \
    CLV_IF_EQUAL(ranks, config.name = 100 + CLV_EQUAL_##name;)
    CLV_PARAMETER_MAP(SET_FIELD)
#undef SET_FIELD
    config.n_ranks = 7;
    clv_choose_config_numbers(&config, numbers);
    for (int i = 0; i < CLV_N_EQUAL; i++) {
        assert_int_equal(numbers[i], 100 + i);
    }
    assert_string_equal(clv_equal_name(CLV_EQUAL_reduce_algorithm), "coll_clv_reduce_algorithm");
}

static void values_are_printed_as_users_write_them(void **state)
{
    char text[32];

    (void) state;
    clv_equal_print(text, sizeof text, CLV_EQUAL_reduce_algorithm, CLV_ALGORITHM_AUTO);
    assert_string_equal(text, "auto");
    clv_equal_print(text, sizeof text, CLV_EQUAL_predictor, clv_pap_predictor_ewma);
    assert_string_equal(text, "ewma");
    clv_equal_print(text, sizeof text, CLV_EQUAL_reproducible, CLV_REPRODUCIBLE_ALWAYS);
    assert_string_equal(text, "always");
    clv_equal_print(text, sizeof text, CLV_EQUAL_reproducible, 99);
    assert_string_equal(text, "unknown");
    clv_equal_print(text, sizeof text, CLV_EQUAL_reduce_min_bytes, 32768);
    assert_string_equal(text, "32768");
    clv_equal_print(text, sizeof text, CLV_EQUAL_exchange, 1);
    assert_string_equal(text, "1");
}

static void lists_of_collectives_are_read_and_printed(void **state)
{
    const uint32_t reduce = CLV_OF(REDUCE), allreduce = CLV_OF(ALLREDUCE);
    const uint32_t all = (1U << CLV_N_COLLECTIVES) - 1;
    const struct {
        const char *list;
        uint32_t bits;
    } rows[] = {{"", 0},
                {"reduce", reduce},
                {"reduce,allreduce", reduce | allreduce},
                {"allreduce,reduce,", reduce | allreduce},
                {"^", all},
                {"^reduce", all & ~reduce},
                {"^allreduce,reduce", all & ~reduce & ~allreduce}};
    uint32_t bits = 77;
    char text[64];

    (void) state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(clv_collectives_read(rows[i].list, &bits), CLV_OK);
        assert_int_equal(bits, rows[i].bits);
    }
    bits = 77;
    assert_int_equal(clv_collectives_read("reduc", &bits), CLV_INVALID);
    assert_int_equal(clv_collectives_read("reduce;allreduce", &bits), CLV_INVALID);
    assert_int_equal(clv_collectives_read("reduce,^allreduce", &bits), CLV_INVALID);
    assert_int_equal(clv_collectives_read(",", &bits), CLV_INVALID);
    assert_int_equal(bits, 77);
    clv_equal_print(text, sizeof text, CLV_EQUAL_collectives, (int32_t) (reduce | allreduce));
    assert_string_equal(text, "reduce,allreduce");
    clv_equal_print(text, sizeof text, CLV_EQUAL_collectives, 0);
    assert_string_equal(text, "none");
}

static void each_collective_has_its_smallest_size(void **state)
{
    const clv_choose_config_t config = {
        .reduce_min_bytes = 3, .allreduce_min_bytes = 4, .bcast_min_bytes = 5};

    (void) state;
    assert_int_equal(clv_choose_min_bytes(&config, CLV_COLLECTIVE_REDUCE), 3);
    assert_int_equal(clv_choose_min_bytes(&config, CLV_COLLECTIVE_ALLREDUCE), 4);
    assert_int_equal(clv_choose_min_bytes(&config, CLV_COLLECTIVE_BCAST), 5);
}

static void what_is_forced_is_the_collectives_own(void **state)
{
    clv_choose_config_t config = {.reduce_algorithm = CLV_ALGORITHM_RING};

    (void) state;
    assert_int_equal(clv_choose_forced(&config, CLV_COLLECTIVE_REDUCE), CLV_ALGORITHM_RING);
    assert_int_equal(clv_choose_forced(&config, CLV_N_COLLECTIVES), CLV_ALGORITHM_AUTO);
}

static void every_plan_has_its_generator(void **state)
{
    int n_plans = 0;

    (void) state;
    for (int a = 0; a < CLV_N_ALGORITHMS; a++) {
        if (clv_algorithms[a].generator != NULL) {
            assert_non_null(clv_generator_find(clv_algorithms[a].generator));
            n_plans++;
        }
    }
    assert_true(n_plans > 0);
    assert_null(clv_algorithms[CLV_ALGORITHM_PREVIOUS].generator);
}

static void an_algorithm_that_does_not_fit_says_why(void **state)
{
    const clv_call_facts_t none = {.n_ranks = 8, .count = 0, .commutes = 1};
    const clv_call_facts_t few = {.n_ranks = 8, .count = 7, .commutes = 1};
    const clv_call_facts_t ordered = {.n_ranks = 8, .count = 8, .commutes = 0};
    const clv_call_facts_t other = {.collective = 31, .n_ranks = 8, .count = 8, .commutes = 1};

    (void) state;
    assert_int_equal(clv_algorithm_unfit(CLV_ALGORITHM_PREVIOUS, &ordered), CLV_FIT);
    assert_int_equal(clv_algorithm_unfit(CLV_ALGORITHM_PREVIOUS, &other), CLV_FIT);
    assert_int_equal(clv_algorithm_unfit(CLV_ALGORITHM_CHAIN, &none), CLV_REASON_EMPTY);
    assert_int_equal(clv_algorithm_unfit(CLV_ALGORITHM_CHAIN, &few), CLV_FIT);
    assert_int_equal(clv_algorithm_unfit(CLV_ALGORITHM_CHAIN, &other), CLV_REASON_NO_PLAN);
    assert_int_equal(clv_algorithm_unfit(CLV_ALGORITHM_RABENSEIFNER, &few),
                     CLV_REASON_FEW_ELEMENTS);
    assert_int_equal(clv_algorithm_unfit(CLV_ALGORITHM_RABENSEIFNER, &ordered),
                     CLV_REASON_NOT_COMMUTATIVE);
    assert_int_equal(clv_algorithm_unfit(CLV_ALGORITHM_AUTO, &few), CLV_FIT);
    assert_int_equal(clv_algorithm_unfit(CLV_ALGORITHM_AUTO, &ordered), CLV_REASON_NOT_COMMUTATIVE);
    assert_int_equal(clv_algorithm_unfit(CLV_ALGORITHM_AUTO, &other), CLV_REASON_NO_PLAN);
}

/* Ranks of a broadcast may pass other counts of other types: only packed bytes are theirs alike. */
static void segments_are_bound_by_what_is_equal_on_all_ranks(void **state)
{
    const clv_collective_row_t reduce = {.equal_counts = 1}, broadcast = {.equal_counts = 0};
    const int64_t n_bytes = 4 << 19;

    (void) state;
    assert_int_equal(clv_collective_max_segments(&reduce, 4, n_bytes), 4);
    assert_int_equal(clv_collective_max_segments(&reduce, (size_t) n_bytes / 4, n_bytes),
                     CLV_SCHED_MAX_SEGMENTS);
    for (size_t count = 1; count <= (size_t) n_bytes; count *= 2) {
        assert_int_equal(clv_collective_max_segments(&broadcast, count, n_bytes),
                         CLV_SCHED_MAX_SEGMENTS);
        assert_int_equal(clv_collective_max_segments(&broadcast, count, 5), 5);
    }
    assert_int_equal(clv_collective_max_segments(&broadcast, 1, INT64_MAX), CLV_SCHED_MAX_SEGMENTS);
    assert_int_equal(clv_collective_max_segments(&reduce, 0, 0), 0);
    assert_int_equal(clv_collectives[CLV_COLLECTIVE_REDUCE].equal_counts, 1);
}

static void every_code_has_its_word(void **state)
{
    (void) state;
    assert_string_equal(clv_algorithm_word(CLV_ALGORITHM_CHAIN), "chain");
    assert_string_equal(clv_algorithm_word(CLV_ALGORITHM_AUTO), "auto");
    assert_string_equal(clv_algorithm_word(CLV_N_ALGORITHMS), "unknown");
    assert_string_equal(clv_collective_name(CLV_COLLECTIVE_REDUCE), "reduce");
    assert_string_equal(clv_collective_name(CLV_N_COLLECTIVES), "unknown");
    assert_string_equal(clv_collective_name(-1), "unknown");
    assert_non_null(strstr(clv_reason_text(CLV_REASON_FORCED), "forces it"));
    assert_string_equal(clv_reason_text(99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_predictor_are_the_predictors),
        cmocka_unit_test(every_parameter_but_eight_is_equal_on_all_ranks),
        cmocka_unit_test(every_equal_parameter_is_a_number_of_the_config),
        cmocka_unit_test(values_are_printed_as_users_write_them),
        cmocka_unit_test(lists_of_collectives_are_read_and_printed),
        cmocka_unit_test(each_collective_has_its_smallest_size),
        cmocka_unit_test(what_is_forced_is_the_collectives_own),
        cmocka_unit_test(every_plan_has_its_generator),
        cmocka_unit_test(an_algorithm_that_does_not_fit_says_why),
        cmocka_unit_test(segments_are_bound_by_what_is_equal_on_all_ranks),
        cmocka_unit_test(every_code_has_its_word),
        cmocka_unit_test(every_word_is_allowed_and_best_is_the_default),
    };
    return clv_run_tests(tests);
}
