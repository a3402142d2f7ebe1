/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints docs/guide/params.md from the tables, so that the page cannot be wrong.
 *
 * usage: params_doc           the page
 *        params_doc --names   the full names of all parameters, one a line
 *        params_doc --pvars   the same of all performance variables, elements with _word behind
 *        params_doc --arrays  those that have elements
 */
#include <stdio.h>
#include <string.h>

#include "choose/choose.h"
#include "pap_predict/pap_predict.h"
#include "tests/support/pvar_table.h"

static void print_names(void)
{
#define PRINT_NAME(kind, name, values, preset, min, max, unit, level, ranks, meaning)              \
    puts("coll_clv_" #name);
    CLV_PARAMETER_MAP(PRINT_NAME)
#undef PRINT_NAME
}

static void print_array_names(void)
{
    for (size_t i = 0; i < N_PVAR_ROWS; i++) {
        if (pvar_count_elements(&pvar_rows[i]) > 0) {
            printf(PVAR_PREFIX "%s\n", pvar_rows[i].name);
        }
    }
}

static void print_pvar_names(void)
{
    for (size_t i = 0; i < N_PVAR_ROWS; i++) {
        const struct pvar_row *row = &pvar_rows[i];
        if (pvar_count_elements(row) == 0) {
            printf(PVAR_PREFIX "%s\n", row->name);
        }
        for (int e = 0; row->elements[e].word; e++) {
            printf(PVAR_PREFIX "%s_%s\n", row->name, row->elements[e].word);
        }
    }
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
#define PRINT_ALGORITHM(code, word, collectives, how, order, traits, unfit, meaning)               \
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

static void print_elements(const char *of, const pvar_element_t *elements)
{
    printf("\n## Elements of %s\n\n| index | word | meaning |\n|---|---|---|\n", of);
    for (int e = 0; elements[e].word; e++) {
        printf("| %d | `%s` | %s |\n", e, elements[e].word, elements[e].meaning);
    }
}

static void print_pvars(void)
{
    printf("\n## Performance variables\n\n%d variables of MPI_T, per process, read only. A counter "
           "counts from when its handle is\nmade; a level has a sign. Values have 64 bits.\n\n"
           "| variable | kind | elements | meaning | read by |\n|---|---|---|---|---|\n",
           (int) N_PVAR_ROWS);
    for (size_t i = 0; i < N_PVAR_ROWS; i++) {
        const struct pvar_row *row = &pvar_rows[i];
        const int n_elements = pvar_count_elements(row);
        printf("| `" PVAR_PREFIX "%s` | %s | %d | %s | %s |\n", row->name,
               strcmp(row->kind, "COUNTER") == 0 ? "counter" : "level",
               n_elements > 0 ? n_elements : 1, row->meaning, row->reader);
    }
    print_elements("`coll_clv_calls`, `planned_*`, `previous_*`", pvar_elements_COLLECTIVE);
    print_elements("`coll_clv_ran`", pvar_elements_ALGORITHM);
    print_elements("`coll_clv_fell_back`", pvar_elements_REASON);
    puts("\nTheir sum is the element `previous` of `coll_clv_ran`. The same words are in what\n"
         "`coll_clv_verbose` and `coll_clv_print` say.");
    print_elements("`coll_clv_link_*`", pvar_elements_CLASS);
    print_elements("`coll_clv_ahead`", pvar_elements_AHEAD);
    print_elements("`coll_clv_wait`", pvar_elements_WAIT);
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
    if (argc > 1 && strcmp(argv[1], "--arrays") == 0) {
        print_array_names();
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
    print_pvars();
    return 0;
}
