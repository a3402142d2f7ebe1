/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables of two rooms that must say the same: the component hands the code of a word on as an index
 * into the predictors, which it may not include.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "coll_clv/coll_clv_tables.h"
#include "pap_predict/predict/pap_predictors.h"

static void words_of_predictor_are_the_predictors(void **state)
{
    static const char *const words[] = {
#define WORD(code, spelling, meaning) [COLL_CLV_PREDICTOR_##code] = spelling,
        COLL_CLV_PREDICTOR_MAP(WORD)
#undef WORD
    };
    (void) state;
    assert_int_equal(COLL_CLV_N_PREDICTORS, CLV_PAP_N_PREDICTORS);
    for (int i = 0; i < CLV_PAP_N_PREDICTORS; i++) {
        assert_string_equal(words[i], clv_pap_predictors[i].name);
    }
}

static void every_word_is_allowed_and_best_is_the_default(void **state)
{
    int n_rows = 0;
    (void) state;
#define CHECK_LIMITS(kind, name, values, preset, min, max, unit, level, meaning)                   \
    if (strcmp(#values, "PREDICTOR") == 0) {                                                       \
        assert_true((intptr_t) (preset) == COLL_CLV_PREDICTOR_BEST);                               \
        assert_true((intptr_t) (min) == 0);                                                        \
        assert_true((intptr_t) (max) == COLL_CLV_N_PREDICTORS - 1);                                \
        n_rows++;                                                                                  \
    }
    COLL_CLV_PARAM_MAP(CHECK_LIMITS)
#undef CHECK_LIMITS
    assert_int_equal(n_rows, 1);
}

/* What a process alone may choose: every other parameter must be in COLL_CLV_SHARED_MAP. */
static int is_own(const char *name)
{
    static const char *const own[] = {"interface", "verbose", "print"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (strcmp(own[i], name) == 0) {
            return 1;
        }
    }
    return 0;
}

static void every_parameter_that_decides_is_compared(void **state)
{
    static const char *const shared[] = {
#define NAME(name) [COLL_CLV_SHARED_##name] = #name,
        COLL_CLV_SHARED_MAP(NAME)
#undef NAME
    };
    int n_shared = 0;
    (void) state;
#define CHECK_SHARED(kind, name, values, preset, min, max, unit, level, meaning)                   \
    if (!is_own(#name)) {                                                                          \
        assert_true(n_shared < COLL_CLV_N_SHARED);                                                 \
        assert_string_equal(shared[n_shared], #name);                                              \
        n_shared++;                                                                                \
    }
    COLL_CLV_PARAM_MAP(CHECK_SHARED)
#undef CHECK_SHARED
    assert_int_equal(n_shared, COLL_CLV_N_SHARED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_predictor_are_the_predictors),
        cmocka_unit_test(every_parameter_that_decides_is_compared),
        cmocka_unit_test(every_word_is_allowed_and_best_is_the_default),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
