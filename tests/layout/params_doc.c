/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints docs/guide/params.md from the tables, so that the page cannot be wrong.
 *
 * usage: params_doc           the page
 *        params_doc --names   the full names of all parameters, one a line
 *        params_doc --pvars   the same of all performance variables
 */
#include <stdio.h>
#include <string.h>

#include "choose/choose.h"
#include "coll_clv/coll_clv_tables.h"
#include "pap_predict/pap_predict.h"

static void print_names(void)
{
#define PRINT_NAME(kind, name, values, preset, min, max, unit, level, ranks, meaning)              \
    puts("coll_clv_" #name);
    CLV_PARAMETER_MAP(PRINT_NAME)
#undef PRINT_NAME
}

static void print_pvar_names(void)
{
#define PRINT_NAME(name, meaning)           puts("coll_clv_" #name);
#define PRINT_REASON_NAME(code, name, text) PRINT_NAME(fell_back_##name, text)
#define PRINT_EXCHANGE_NAME(name, meaning)  PRINT_NAME(exchange_##name, meaning)
#define PRINT_AHEAD_NAME(name, meaning)     PRINT_NAME(ahead_##name, meaning)
#define PRINT_CACHE_NAME(name, meaning)     PRINT_NAME(plan_cache_##name, meaning)
#define PRINT_RAN_NAME(code, word, collectives, how, needs_times, unfit, meaning)                  \
    PRINT_NAME(ran_##word, meaning)
#define PRINT_CALLS_NAME(to, code, name, mpi, goal, root, op, counts, result, bytes, least)        \
    PRINT_NAME(name##_calls, mpi)
    COLL_CLV_COUNTER_MAP(PRINT_NAME)
    CLV_ALGORITHM_MAP(PRINT_RAN_NAME)
    CLV_COLLECTIVE_MAP(PRINT_CALLS_NAME, )
#define PRINT_TIME_NAME(field, name, code, meaning) PRINT_NAME(name##_##field, meaning)
#define PRINT_TIME_NAMES(to, code, name, mpi, goal, root, op, counts, result, bytes, least)        \
    COLL_CLV_TIME_MAP(PRINT_TIME_NAME, name, code, mpi)
    CLV_COLLECTIVE_MAP(PRINT_TIME_NAMES, )
#undef PRINT_TIME_NAMES
#undef PRINT_TIME_NAME
    CLV_REASON_MAP(PRINT_REASON_NAME)
    CLV_PAP_COUNTER_MAP(PRINT_EXCHANGE_NAME)
    COLL_CLV_CACHE_MAP(PRINT_CACHE_NAME)
    COLL_CLV_GAUGE_MAP(PRINT_EXCHANGE_NAME)
    COLL_CLV_AHEAD_MAP(PRINT_AHEAD_NAME)
#define PRINT_ABOUT_NAME(name, value, meaning) PRINT_NAME(name, meaning)
    COLL_CLV_ABOUT_MAP(PRINT_ABOUT_NAME)
#undef PRINT_ABOUT_NAME
#define PRINT_LINK_NAME(name, meaning) PRINT_NAME(link_##name, meaning)
    COLL_CLV_LINK_MAP(PRINT_LINK_NAME)
#undef PRINT_LINK_NAME
#define PRINT_WAIT_NAME(name, meaning) PRINT_NAME(wait_##name, meaning)
    COLL_CLV_WAIT_MAP(PRINT_WAIT_NAME)
#undef PRINT_WAIT_NAME
#undef PRINT_CACHE_NAME
#undef PRINT_AHEAD_NAME
#undef PRINT_CALLS_NAME
#undef PRINT_RAN_NAME
#undef PRINT_EXCHANGE_NAME
#undef PRINT_REASON_NAME
#undef PRINT_NAME
}

static void print_list(void (*print)(char *, size_t, uint32_t))
{
    char names[256];
    print(names, sizeof names, UINT32_MAX);
    printf("list of %s", names);
}

static void print_algorithms(int collective)
{
    for (int a = CLV_ALGORITHM_AUTO; a < CLV_N_ALGORITHMS; a++) {
        if (clv_algorithm_runs(a, collective)) {
            printf("%s%s", a > CLV_ALGORITHM_AUTO ? ", " : "", clv_algorithm_word(a));
        }
    }
}

#define DEFAULT_INT(values, preset)    printf("%d", preset)
#define DEFAULT_BOOL(values, preset)   printf("%s", 0 != (preset) ? "true" : "false")
#define DEFAULT_STRING(values, preset) printf("%s", '\0' == (preset)[0] ? "empty" : preset)
#define DEFAULT_LIST(values, preset)   DEFAULT_STRING(values, preset)
#define DEFAULT_FLAGS(values, preset)  printf("none")
#define DEFAULT_ENUM(values, preset)   printf("%s", WORD_##values(preset))
#define DEFAULT_CHOICE(values, preset) printf("%s", clv_algorithm_word(preset))

#define RANGE_INT(values, min, max)    printf("%lld to %lld", (long long) (min), (long long) (max))
#define RANGE_BOOL(values, min, max)   printf("true, false")
#define RANGE_STRING(values, min, max) printf("up to %d characters", max)
#define RANGE_FLAGS(values, min, max)  printf("words below")
#define RANGE_LIST(values, min, max)   print_list(names_of_##values)
#define names_of_COLLECTIVE            clv_collectives_print
#define names_of_OP                    clv_clva_print_ops
#define RANGE_ENUM(values, min, max)   printf("one word below")
#define RANGE_CHOICE(values, min, max) print_algorithms(CLV_COLLECTIVE_##values)

#define WORD(code, spelling, meaning) spelling,
static const char *const words_of_REPRODUCIBLE[] = {CLV_REPRODUCIBLE_MAP(WORD)};
static const char *const words_of_OBJECTIVE[] = {CLV_OBJECTIVE_MAP(WORD)};
static const char *const words_of_FALLBACK[] = {CLV_FALLBACK_MAP(WORD)};
static const char *const words_of_SHARED[] = {CLV_SHARED_MAP(WORD)};
static const char *const words_of_WAIT[] = {CLV_WAIT_MAP(WORD)};
static const char *const words_of_PREDICTOR[] = {
#define PREDICTOR_WORD(stem, all_columns, meaning) #stem,
    CLV_PAP_PREDICTOR_MAP(PREDICTOR_WORD)};
#undef PREDICTOR_WORD
#undef WORD
#define WORD_REPRODUCIBLE(code) words_of_REPRODUCIBLE[code]
#define WORD_OBJECTIVE(code)    words_of_OBJECTIVE[code]
#define WORD_FALLBACK(code)     words_of_FALLBACK[code]
#define WORD_SHARED(code)       words_of_SHARED[code]
#define WORD_WAIT(code)         words_of_WAIT[code]
#define WORD_PREDICTOR(code)    words_of_PREDICTOR[code]

static void print_params(void)
{
    puts("| parameter | default | allowed | unit | level | meaning |\n|---|---|---|---|---|---|");
#define PRINT_ROW(kind, name, values, preset, min, max, unit, level, ranks, meaning)               \
    printf("| `coll_clv_" #name "` | ");                                                           \
    DEFAULT_##kind(values, preset);                                                                \
    printf(" | ");                                                                                 \
    RANGE_##kind(values, min, max);                                                                \
    printf(" | %s | %d | %s |\n", unit, level, meaning);
    CLV_PARAMETER_MAP(PRINT_ROW)
#undef PRINT_ROW
    puts("\nNames of before, which still work:\n\n| old name | parameter |\n|---|---|");
#define PRINT_SYNONYM(name, old) puts("| `coll_clv_" #old "` | `coll_clv_" #name "` |");
    CLV_SYNONYM_MAP(PRINT_SYNONYM)
#undef PRINT_SYNONYM
}

static void print_words(void)
{
#define PRINT_WORD(code, spelling, meaning)       printf("| `%s` | %s |\n", spelling, meaning);
#define PRINT_FLAG(code, spelling, flag, meaning) printf("| `%s` | %s |\n", spelling, meaning);
#define PRINT_ALGORITHM(code, word, collectives, how, needs_times, unfit, meaning)                 \
    PRINT_WORD(code, #word, meaning)
#define PRINT_TITLE(to, code, name, mpi, goal, root, op, counts, result, bytes, least)             \
    " `coll_clv_" #name "_algorithm`"
    puts("\n## Words of" CLV_COLLECTIVE_MAP(PRINT_TITLE, ) "\n\n| word | meaning |\n|---|---|");
    PRINT_WORD(AUTO, "auto", CLV_ALGORITHM_AUTO_MEANING)
    CLV_ALGORITHM_MAP(PRINT_ALGORITHM)
    puts("\n## Words of `coll_clv_reproducible`\n\n| word | meaning |\n|---|---|");
    CLV_REPRODUCIBLE_MAP(PRINT_WORD)
    puts("\n## Words of `coll_clv_fallback`\n\n| word | meaning |\n|---|---|");
    CLV_FALLBACK_MAP(PRINT_WORD)
    puts("\n## Words of `coll_clv_objective`\n\n| word | meaning |\n|---|---|");
    CLV_OBJECTIVE_MAP(PRINT_WORD)
    puts("\n## Words of `coll_clv_shared_processors`\n\n| word | meaning |\n|---|---|");
    CLV_SHARED_MAP(PRINT_WORD)
    puts("\n## Words of `coll_clv_wait`\n\n| word | meaning |\n|---|---|");
    CLV_WAIT_MAP(PRINT_WORD)
    puts("\n## Words of `coll_clv_predictor`\n\n| word | meaning |\n|---|---|");
#define PRINT_PREDICTOR(stem, all_columns, meaning) PRINT_WORD(stem, #stem, meaning)
    CLV_PAP_PREDICTOR_MAP(PRINT_PREDICTOR)
    puts("\n## Words of `coll_clv_print`\n\n| word | meaning |\n|---|---|");
    CLV_PRINT_MAP(PRINT_FLAG)
}

static void print_counters(void)
{
    puts("\n## Counters\n\nPerformance variables of MPI_T, per process.\n\n"
         "| variable | meaning |\n|---|---|");
#define PRINT_COUNTER(name, meaning) printf("| `coll_clv_%s` | %s |\n", #name, meaning);
    COLL_CLV_COUNTER_MAP(PRINT_COUNTER)
#define PRINT_RAN(code, word, collectives, how, needs_times, unfit, meaning)                       \
    PRINT_COUNTER(ran_##word, "calls that ran: " meaning)
    CLV_ALGORITHM_MAP(PRINT_RAN)
#undef PRINT_RAN
#define PRINT_CALLS(to, code, name, mpi, goal, root, op, counts, result, bytes, least)             \
    PRINT_COUNTER(name##_calls, "calls of " mpi " that reached the component")
    CLV_COLLECTIVE_MAP(PRINT_CALLS, )
#undef PRINT_CALLS
#define PRINT_TIME(field, name, code, meaning) PRINT_COUNTER(name##_##field, meaning)
#define PRINT_TIMES(to, code, name, mpi, goal, root, op, counts, result, bytes, least)             \
    COLL_CLV_TIME_MAP(PRINT_TIME, name, code, mpi)
    CLV_COLLECTIVE_MAP(PRINT_TIMES, )
#undef PRINT_TIMES
#undef PRINT_TIME
#define PRINT_EXCHANGE_COUNTER(name, meaning) PRINT_COUNTER(exchange_##name, meaning)
    CLV_PAP_COUNTER_MAP(PRINT_EXCHANGE_COUNTER)
#undef PRINT_EXCHANGE_COUNTER
#define PRINT_CACHE_COUNTER(name, meaning) PRINT_COUNTER(plan_cache_##name, meaning)
    COLL_CLV_CACHE_MAP(PRINT_CACHE_COUNTER)
#undef PRINT_CACHE_COUNTER
    puts("\n## Why the previous function ran\n\nCounters too: their sum is "
         "`coll_clv_ran_previous`. The\n"
         "same words are in what `coll_clv_verbose` and `coll_clv_print` say.\n\n"
         "| variable | calls that took the previous function, because |\n|---|---|");
#define PRINT_REASON(code, name, text) PRINT_COUNTER(fell_back_##name, text)
    CLV_REASON_MAP(PRINT_REASON)
#undef PRINT_REASON
#undef PRINT_COUNTER
}

static void print_gauges(void)
{
#define PRINT_COUNTER(name, meaning) printf("| `coll_clv_%s` | %s |\n", #name, meaning);
    puts("\n## Gauges\n\nPerformance variables of MPI_T, 64-bit integers with a sign.\n\n"
         "| variable | meaning |\n|---|---|");
#define PRINT_ABOUT(name, value, meaning) PRINT_COUNTER(name, meaning)
    COLL_CLV_ABOUT_MAP(PRINT_ABOUT)
#undef PRINT_ABOUT
#define PRINT_GAUGE(name, meaning) PRINT_COUNTER(exchange_##name, meaning)
    COLL_CLV_GAUGE_MAP(PRINT_GAUGE)
#undef PRINT_GAUGE
#define PRINT_AHEAD_GAUGE(name, meaning) PRINT_COUNTER(ahead_##name, meaning)
    COLL_CLV_AHEAD_MAP(PRINT_AHEAD_GAUGE)
#undef PRINT_AHEAD_GAUGE
#define PRINT_LINK(name, meaning) PRINT_COUNTER(link_##name, meaning)
    COLL_CLV_LINK_MAP(PRINT_LINK)
#undef PRINT_LINK
#define PRINT_WAIT(name, meaning) PRINT_COUNTER(wait_##name, meaning)
    COLL_CLV_WAIT_MAP(PRINT_WAIT)
#undef PRINT_WAIT
#define PRINT_BOUND(name, meaning) PRINT_COUNTER(name, meaning)
    COLL_CLV_BOUND_MAP(PRINT_BOUND)
#undef PRINT_BOUND
#undef PRINT_COUNTER
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--names") == 0) {
        print_names();
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "--pvars") == 0) {
        print_pvar_names();
        return 0;
    }
    puts(
        "# Parameters and counters\n\n"
        "Made from choose/choose_parameters.h, choose/choose_algorithms.h, "
        "choose/choose_reasons.h,\n"
        "pap_predict/pap_predict.h and coll_clv/coll_clv_tables.h by `./clv params`; do not "
        "edit.\n\n"
        "Set a parameter with `mpirun --mca NAME VALUE` or `export OMPI_MCA_NAME=VALUE`, the same\n"
        "on every rank. A value that is not allowed is reported with its name and range and the\n"
        "component is not used. Numbers may end in k, M or G.\n");
    print_params();
    print_words();
    print_counters();
    print_gauges();
    return 0;
}
