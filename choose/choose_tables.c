/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rows of this module's tables, and the functions that read a row.
 */
#include "choose/choose.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "record/record_clva.h"
#include "util/util_list.h"

/* ---- collectives ----------------------------------------------------------------------------- */

const clv_collective_row_t clv_collectives[CLV_N_COLLECTIVES] = {
#define COLLECTIVE_ROW(to, code, name, mpi, goal, root, op, counts, result, bytes, least)          \
    {#name, CLV_GOAL_##goal, root, op, counts, CLV_RESULT_AT_##result},
    CLV_COLLECTIVE_MAP(COLLECTIVE_ROW, )
#undef COLLECTIVE_ROW
};

const char *clv_collective_name(int collective)
{
    return (unsigned) collective < CLV_N_COLLECTIVES ? clv_collectives[collective].name : "unknown";
}

clv_status_t clv_collectives_read(const char *list, uint32_t *bits_p)
{
    return clv_list_read(list, clv_collective_name, CLV_N_COLLECTIVES, bits_p);
}

void clv_collectives_print(char *text, size_t size, uint32_t bits)
{
    clv_list_print(text, size, clv_collective_name, CLV_N_COLLECTIVES, bits);
}

int32_t clv_collective_max_segments(const clv_collective_row_t *row, size_t count,
                                    int64_t total_bytes)
{
    const size_t most = row->equal_counts ? count : (size_t) total_bytes;
    return most < CLV_SCHED_MAX_SEGMENTS ? (int32_t) most : CLV_SCHED_MAX_SEGMENTS;
}

/* ---- algorithms ------------------------------------------------------------------------------ */

static int unfit_never(const clv_call_facts_t *facts)
{
    (void) facts;
    return CLV_FIT;
}

static int unfit_empty(const clv_call_facts_t *facts)
{
    return facts->count == 0 ? CLV_REASON_EMPTY : CLV_FIT;
}

/* Plans and trees combine in their own order, and need at least one element. */
static int unfit_order(const clv_call_facts_t *facts)
{
    if (!facts->commutes) {
        return CLV_REASON_NOT_COMMUTATIVE;
    }
    return unfit_empty(facts);
}

/* With fewer elements than halves, Open MPI's function would silently run a linear reduce. */
static int unfit_halving(const clv_call_facts_t *facts)
{
    size_t n_halves = 1;

    while (n_halves * 2 <= (size_t) facts->n_ranks) {
        n_halves *= 2;
    }
    return facts->count < n_halves ? CLV_REASON_FEW_ELEMENTS : unfit_order(facts);
}

#define GENERATOR_PLAN(generator, policy) generator, CLV_EXEC_##policy
#define GENERATOR_OWN(function)           NULL, CLV_EXEC_AHEAD
#define GENERATOR_BOTH(name, policy)      GENERATOR_PLAN(#name, policy)

const clv_algorithm_row_t clv_algorithms[CLV_N_ALGORITHMS] = {
#define ALGORITHM_ROW(code, word, collectives, how, order, traits, unfit, meaning)                 \
    {#word, collectives, GENERATOR_##how, CLV_ORDER_##order, traits, unfit_##unfit},
    CLV_ALGORITHM_MAP(ALGORITHM_ROW)
#undef ALGORITHM_ROW
};

const char *clv_algorithm_word(int algorithm)
{
    if (algorithm == CLV_ALGORITHM_AUTO) {
        return "auto";
    }
    return (unsigned) algorithm < CLV_N_ALGORITHMS ? clv_algorithms[algorithm].word : "unknown";
}

bool clv_algorithm_runs(int algorithm, int collective)
{
    return algorithm == CLV_ALGORITHM_AUTO ||
           (clv_algorithms[algorithm].collectives >> collective & 1U) != 0;
}

bool clv_algorithm_plans(int algorithm, int collective)
{
    return clv_algorithms[algorithm].generator != NULL && clv_algorithm_runs(algorithm, collective);
}

int32_t clv_algorithm_of_fallback(int32_t fallback, int collective)
{
    static const int32_t algorithms[] = {
#define FALLBACK_ROW(code, spelling, meaning) CLV_ALGORITHM_##code,
        CLV_FALLBACK_MAP(FALLBACK_ROW)
#undef FALLBACK_ROW
    };
    const int32_t algorithm = algorithms[fallback];

    return clv_algorithm_runs(algorithm, collective) ? algorithm : CLV_ALGORITHM_AUTO;
}

/* Fits if at least one plan does. */
static int unfit_auto(const clv_call_facts_t *facts)
{
    int reason = CLV_REASON_NO_PLAN;

    for (int a = 0; reason != CLV_FIT && a < CLV_N_ALGORITHMS; a++) {
        if (clv_algorithm_plans(a, facts->collective)) {
            reason = clv_algorithms[a].unfit(facts);
        }
    }
    return reason;
}

int clv_algorithm_unfit(int algorithm, const clv_call_facts_t *facts)
{
    if (algorithm == CLV_ALGORITHM_AUTO) {
        return unfit_auto(facts);
    }
    return clv_algorithm_runs(algorithm, facts->collective) ? clv_algorithms[algorithm].unfit(facts)
                                                            : CLV_REASON_NO_PLAN;
}

/* ---- reasons --------------------------------------------------------------------------------- */

const char *clv_reason_text(int reason)
{
    static const char *const texts[] = {
#define REASON_ROW(code, name, text) text,
        CLV_REASON_MAP(REASON_ROW)
#undef REASON_ROW
    };
    return (unsigned) reason < CLV_N_REASONS ? texts[reason] : "unknown";
}

/* ---- parameters ------------------------------------------------------------------------------ */

const char *clv_equal_name(clv_equal_t parameter)
{
    static const char *const names[CLV_N_EQUAL] = {
#define NAME_ROW(kind, name, values, preset, min, max, unit, level, ranks, meaning)                \
    CLV_IF_EQUAL(ranks, [CLV_EQUAL_##name] = "coll_clv_" #name, )
        CLV_PARAMETER_MAP(NAME_ROW)
#undef NAME_ROW
    };
    return names[parameter];
}

/* Words by code. */
#define WORD(code, spelling, meaning)              spelling,
#define PREDICTOR_WORD(stem, all_columns, meaning) #stem,
static const char *const words_of_PREDICTOR[] = {CLV_PAP_PREDICTOR_MAP(PREDICTOR_WORD)};
static const char *const words_of_REPRODUCIBLE[] = {CLV_REPRODUCIBLE_MAP(WORD)};
static const char *const words_of_OBJECTIVE[] = {CLV_OBJECTIVE_MAP(WORD)};
static const char *const words_of_FALLBACK[] = {CLV_FALLBACK_MAP(WORD)};
static const char *const words_of_SHARED[] = {CLV_SHARED_MAP(WORD)};
static const char *const words_of_WAIT[] = {CLV_WAIT_MAP(WORD)};
#undef WORD
#undef PREDICTOR_WORD
#define WORD_OF(words, code)                                                                       \
    ((size_t) (code) < sizeof(words) / sizeof *(words) ? (words)[code] : "unknown")

/* What each kind prints its value with. */
#define PRINT_INT(values)    (void) snprintf(text, size, "%" PRId32, value)
#define PRINT_BOOL(values)   (void) snprintf(text, size, "%" PRId32, value)
#define PRINT_ENUM(values)   (void) snprintf(text, size, "%s", WORD_OF(words_of_##values, value))
#define PRINT_CHOICE(values) (void) snprintf(text, size, "%s", clv_algorithm_word(value))
#define PRINT_LIST(values)   print_list_of_##values(text, size, (uint32_t) value)
#define PRINT_STRING(values)                                                                       \
    (void) snprintf(text, size, "%s", value != 0 ? "a name" : "empty") /* only that is compared */

#define print_list_of_COLLECTIVE clv_collectives_print
#define print_list_of_OP         clv_clva_print_ops

void clv_equal_print(char *text, size_t size, clv_equal_t parameter, int32_t value)
{
    switch (parameter) {
#define PRINT_CASE(kind, name, values, preset, min, max, unit, level, ranks, meaning)              \
    CLV_IF_EQUAL(ranks, case CLV_EQUAL_##name : PRINT_##kind(values); break;)
        CLV_PARAMETER_MAP(PRINT_CASE)
#undef PRINT_CASE
    default:
        (void) snprintf(text, size, "unknown");
    }
}

void clv_choose_config_numbers(const clv_choose_config_t *config, int32_t numbers[CLV_N_EQUAL])
{
#define NUMBER_ROW(kind, name, values, preset, min, max, unit, level, ranks, meaning)              \
    CLV_IF_EQUAL(ranks, numbers[CLV_EQUAL_##name] = config->name;)
    CLV_PARAMETER_MAP(NUMBER_ROW)
#undef NUMBER_ROW
}
