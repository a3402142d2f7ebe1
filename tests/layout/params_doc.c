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

#include "coll_clv/coll_clv_tables.h"
#include "pap_predict/pap_predict.h"

static void print_names(void)
{
#define PRINT_NAME(kind, name, values, preset, min, max, unit, level, meaning)                     \
    puts("coll_clv_" #name);
    COLL_CLV_PARAM_MAP(PRINT_NAME)
#undef PRINT_NAME
}

static void print_pvar_names(void)
{
#define PRINT_NAME(name, meaning) puts("coll_clv_" #name);
#define PRINT_REASON_NAME(code, name, text) PRINT_NAME(fell_back_##name, text)
#define PRINT_EXCHANGE_NAME(name, meaning) PRINT_NAME(exchange_##name, meaning)
#define PRINT_CACHE_NAME(name, meaning) PRINT_NAME(plan_cache_##name, meaning)
    COLL_CLV_COUNTER_MAP(PRINT_NAME)
    COLL_CLV_REASON_MAP(PRINT_REASON_NAME)
    CLV_PAP_COUNTER_MAP(PRINT_EXCHANGE_NAME)
    COLL_CLV_CACHE_MAP(PRINT_CACHE_NAME)
    COLL_CLV_GAUGE_MAP(PRINT_EXCHANGE_NAME)
#undef PRINT_CACHE_NAME
#undef PRINT_EXCHANGE_NAME
#undef PRINT_REASON_NAME
#undef PRINT_NAME
}

#define DEFAULT_INT(values, preset)    printf("%d", preset)
#define DEFAULT_BOOL(values, preset)   printf("%s", 0 != (preset) ? "true" : "false")
#define DEFAULT_STRING(values, preset) printf("%s", '\0' == (preset)[0] ? "empty" : preset)
#define DEFAULT_FLAGS(values, preset)  printf("none")
#define DEFAULT_ENUM(values, preset)   printf("%s", first_word_##values[preset])

#define RANGE_INT(values, min, max)    printf("%lld to %lld", (long long) (min), (long long) (max))
#define RANGE_BOOL(values, min, max)   printf("true, false")
#define RANGE_STRING(values, min, max) printf("up to %d characters", max)
#define RANGE_FLAGS(values, min, max)  printf("words below")
#define RANGE_ENUM(values, min, max)   printf("one word below")

static const char *const first_word_ALGORITHM[] = {
#define WORD(code, spelling, meaning) spelling,
    COLL_CLV_ALGORITHM_MAP(WORD)};
static const char *const first_word_REPRODUCIBLE[] = {COLL_CLV_REPRODUCIBLE_MAP(WORD)};
static const char *const first_word_PREDICTOR[] = {COLL_CLV_PREDICTOR_MAP(WORD)};
#undef WORD

static void print_params(void)
{
    puts("| parameter | default | allowed | unit | level | meaning |\n|---|---|---|---|---|---|");
#define PRINT_ROW(kind, name, values, preset, min, max, unit, level, meaning)                      \
    printf("| `coll_clv_" #name "` | ");                                                           \
    DEFAULT_##kind(values, preset);                                                                \
    printf(" | ");                                                                                 \
    RANGE_##kind(values, min, max);                                                                \
    printf(" | %s | %d | %s |\n", unit, level, meaning);
    COLL_CLV_PARAM_MAP(PRINT_ROW)
#undef PRINT_ROW
}

static void print_words(void)
{
#define PRINT_WORD(code, spelling, meaning)       printf("| `%s` | %s |\n", spelling, meaning);
#define PRINT_FLAG(code, spelling, flag, meaning) printf("| `%s` | %s |\n", spelling, meaning);
    puts("\n## Words of `coll_clv_reduce_algorithm`\n\n| word | meaning |\n|---|---|");
    COLL_CLV_ALGORITHM_MAP(PRINT_WORD)
    puts("\n## Words of `coll_clv_reproducible`\n\n| word | meaning |\n|---|---|");
    COLL_CLV_REPRODUCIBLE_MAP(PRINT_WORD)
    puts("\n## Words of `coll_clv_predictor`\n\n| word | meaning |\n|---|---|");
    COLL_CLV_PREDICTOR_MAP(PRINT_WORD)
    puts("\n## Words of `coll_clv_print`\n\n| word | meaning |\n|---|---|");
    COLL_CLV_PRINT_MAP(PRINT_FLAG)
}

static void print_counters(void)
{
    puts("\n## Counters\n\nPerformance variables of MPI_T, per process.\n\n"
         "| variable | meaning |\n|---|---|");
#define PRINT_COUNTER(name, meaning) printf("| `coll_clv_%s` | %s |\n", #name, meaning);
    COLL_CLV_COUNTER_MAP(PRINT_COUNTER)
#define PRINT_EXCHANGE_COUNTER(name, meaning) PRINT_COUNTER(exchange_##name, meaning)
    CLV_PAP_COUNTER_MAP(PRINT_EXCHANGE_COUNTER)
#undef PRINT_EXCHANGE_COUNTER
#define PRINT_CACHE_COUNTER(name, meaning) PRINT_COUNTER(plan_cache_##name, meaning)
    COLL_CLV_CACHE_MAP(PRINT_CACHE_COUNTER)
#undef PRINT_CACHE_COUNTER
    puts("\n## Why the previous reduce ran\n\nCounters too: their sum is `coll_clv_ran_previous`. The\n"
         "same words are in what `coll_clv_verbose` and `coll_clv_print` say.\n\n"
         "| variable | calls that took the previous reduce, because |\n|---|---|");
#define PRINT_REASON(code, name, text) PRINT_COUNTER(fell_back_##name, text)
    COLL_CLV_REASON_MAP(PRINT_REASON)
#undef PRINT_REASON
    puts("\n## Gauges\n\nPerformance variables of MPI_T, 64-bit integers with a sign.\n\n"
         "| variable | meaning |\n|---|---|");
#define PRINT_GAUGE(name, meaning) PRINT_COUNTER(exchange_##name, meaning)
    COLL_CLV_GAUGE_MAP(PRINT_GAUGE)
#undef PRINT_GAUGE
#undef PRINT_COUNTER
}

int main(int argc, char **argv)
{
    if (argc > 1 && 0 == strcmp(argv[1], "--names")) {
        print_names();
        return 0;
    }
    if (argc > 1 && 0 == strcmp(argv[1], "--pvars")) {
        print_pvar_names();
        return 0;
    }
    puts(
        "# Parameters and counters\n\n"
        "Made from coll_clv/coll_clv_tables.h by `./clv params`; do not edit.\n\n"
        "Set a parameter with `mpirun --mca NAME VALUE` or `export OMPI_MCA_NAME=VALUE`, the same\n"
        "on every rank. A value that is not allowed is reported with its name and range and the\n"
        "component is not used. Numbers may end in k, M or G.\n");
    print_params();
    print_words();
    print_counters();
    return 0;
}
