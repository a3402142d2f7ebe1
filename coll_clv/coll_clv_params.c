/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Registers the table of parameters with Open MPI and checks the user's values.
 *
 * This file refuses values that are not numbers, unknown words or out of range before Open MPI does
 * so with its own message (which still happens for words in a parameter file). Either way the
 * component is not used: if a job went on with a silently replaced setting, it would measure
 * something else.
 */
#include "coll_clv/coll_clv.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opal/mca/base/mca_base_var.h"

/* A parameter's row, except its storage. */
typedef struct param_row {
    const char *name;
    long long min;
    long long max;
    const char *unit;
    mca_base_var_info_lvl_t level;
    const char *meaning;
} param_row_t;

static const mca_base_var_enum_value_t values_of_REPRODUCIBLE[] = {
#define REPRODUCIBLE_VALUE(code, spelling, meaning) {CLV_REPRODUCIBLE_##code, spelling},
    CLV_REPRODUCIBLE_MAP(REPRODUCIBLE_VALUE){0, NULL}};

static const mca_base_var_enum_value_t values_of_OBJECTIVE[] = {
#define OBJECTIVE_VALUE(code, spelling, meaning) {CLV_OBJECTIVE_##code, spelling},
    CLV_OBJECTIVE_MAP(OBJECTIVE_VALUE){0, NULL}};

static const mca_base_var_enum_value_t values_of_FALLBACK[] = {
#define FALLBACK_VALUE(code, spelling, meaning) {CLV_FALLBACK_##code, spelling},
    CLV_FALLBACK_MAP(FALLBACK_VALUE){0, NULL}};

static const mca_base_var_enum_value_t values_of_SHARED[] = {
#define SHARED_VALUE(code, spelling, meaning) {CLV_SHARED_##code, spelling},
    CLV_SHARED_MAP(SHARED_VALUE){0, NULL}};

static const mca_base_var_enum_value_t values_of_WAIT[] = {
#define WAIT_VALUE(code, spelling, meaning) {CLV_WAIT_##code, spelling},
    CLV_WAIT_MAP(WAIT_VALUE){0, NULL}};

static const mca_base_var_enum_value_t values_of_PREDICTOR[] = {
#define PREDICTOR_VALUE(stem, all_columns, meaning) {clv_pap_predictor_##stem, #stem},
    CLV_PAP_PREDICTOR_MAP(PREDICTOR_VALUE){0, NULL}};

/* "none" stands for no flags; the flag enumerator has no word for that. */
static const mca_base_var_enum_value_flag_t values_of_PRINT[] = {
#define PRINT_VALUE(code, spelling, bit, meaning) {bit, spelling, 0},
    CLV_PRINT_MAP(PRINT_VALUE){0, NULL, 0}};

#define WORD(code, spelling, meaning)              spelling " "
#define PREDICTOR_WORD(stem, all_columns, meaning) #stem " "
#define FLAG_WORD(code, spelling, flag, meaning)   spelling " "
static const char words_of_REPRODUCIBLE[] = CLV_REPRODUCIBLE_MAP(WORD);
static const char words_of_OBJECTIVE[] = CLV_OBJECTIVE_MAP(WORD);
static const char words_of_FALLBACK[] = CLV_FALLBACK_MAP(WORD);
static const char words_of_SHARED[] = CLV_SHARED_MAP(WORD);
static const char words_of_WAIT[] = CLV_WAIT_MAP(WORD);
static const char words_of_PREDICTOR[] = CLV_PAP_PREDICTOR_MAP(PREDICTOR_WORD);
static const char words_of_PRINT[] = CLV_PRINT_MAP(FLAG_WORD);

typedef struct synonym {
    const char *name, *old_name;
} synonym_t;

static const synonym_t synonyms[] = {
#define SYNONYM_ROW(name, old) {#name, #old},
    CLV_SYNONYM_MAP(SYNONYM_ROW)
#undef SYNONYM_ROW
};
#define N_SYNONYMS (sizeof synonyms / sizeof synonyms[0])

static const char *environment_of(const char *name)
{
    char variable[96];

    (void) snprintf(variable, sizeof variable, "OMPI_MCA_coll_clv_%s", name);
    return getenv(variable);
}

/* If both names are set, Open MPI 4.1 uses the one registered last. */
static void register_old_names(const param_row_t *row, int index)
{
    for (size_t i = 0; i < N_SYNONYMS; i++) {
        if (0 == strcmp(synonyms[i].name, row->name)) {
            (void) mca_base_var_register_synonym(index, "ompi", "coll", "clv", synonyms[i].old_name,
                                                 0);
        }
    }
}

/* Only variables with enumerated values can be set through MPI_T, on all ranks alike. A
 * communicator keeps the values that it was made with. */
static int register_var(const param_row_t *row, mca_base_var_type_t type,
                        mca_base_var_enum_t *values, void *storage)
{
    const bool settable = NULL != values;
    const int index = mca_base_component_var_register(
        &mca_coll_clv_component.super.collm_version, row->name, row->meaning, type, values, 0,
        settable ? MCA_BASE_VAR_FLAG_SETTABLE : 0, row->level,
        settable ? MCA_BASE_VAR_SCOPE_ALL_EQ : MCA_BASE_VAR_SCOPE_READONLY, storage);

    if (0 <= index && NULL == environment_of(row->name)) {
        register_old_names(row, index);
    }
    return index;
}

static int refuse(const param_row_t *row, const char *value, const char *allowed)
{
    char sentence[512];
    (void) snprintf(sentence, sizeof sentence, "coll_clv_%s is %.150s%s; allowed: %s", row->name,
                    value, strlen(value) > 150 ? " ..." : "", allowed);
    if (coll_clv_select_is_wanted()) {
        coll_clv_help("bad-parameter", sentence);
    }
    return OMPI_ERR_BAD_PARAM;
}

static int refuse_number(const param_row_t *row, const char *value)
{
    char allowed[96];
    (void) snprintf(allowed, sizeof allowed, "%lld to %lld%s%s", row->min, row->max,
                    '\0' == row->unit[0] ? "" : " ", row->unit);
    return refuse(row, value, allowed);
}

/* What the user wrote on the command line or in the environment, else "". */
static const char *written(const param_row_t *row)
{
    const char *text = environment_of(row->name);

    for (size_t i = 0; NULL == text && i < N_SYNONYMS; i++) {
        text =
            0 == strcmp(synonyms[i].name, row->name) ? environment_of(synonyms[i].old_name) : NULL;
    }
    return NULL == text ? "" : text;
}

/* Stricter than Open MPI, which reads "abc" as 0 and "8x" as 8: a number and at most one of kMG. */
static bool is_number(const char *text)
{
    char *rest = NULL;

    if ('\0' == text[0]) {
        return true;
    }
    (void) strtoll(text, &rest, 0);
    if (rest == text) {
        return false;
    }
    return '\0' == rest[0] || (NULL != strchr("kKmMgG", rest[0]) && '\0' == rest[1]);
}

static int register_INT(const param_row_t *row, mca_base_var_enum_t *values, int *storage,
                        int preset)
{
    char value[32];

    *storage = preset;
    if (0 > register_var(row, MCA_BASE_VAR_TYPE_INT, values, storage) || !is_number(written(row))) {
        return refuse_number(row, written(row));
    }
    if (*storage < row->min || *storage > row->max) {
        (void) snprintf(value, sizeof value, "%d", *storage);
        return refuse_number(row, value);
    }
    return OMPI_SUCCESS;
}

/* The words that Open MPI accepts. */
static bool is_bool(const char *text)
{
    static const char *const words[] = {"true",  "t", "enabled",  "yes", "y",
                                        "false", "f", "disabled", "no",  "n"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (0 == strcmp(words[i], text)) {
            return true;
        }
    }
    return is_number(text);
}

static int register_BOOL(const param_row_t *row, mca_base_var_enum_t *values, bool *storage,
                         int preset)
{
    *storage = 0 != preset;
    if (!is_bool(written(row))) {
        return refuse(row, written(row), "true or false");
    }
    return 0 > register_var(row, MCA_BASE_VAR_TYPE_BOOL, values, storage) ? OMPI_ERR_BAD_PARAM
                                                                          : OMPI_SUCCESS;
}

/* Open MPI copies the preset, and frees the string when the framework closes. */
static int register_STRING(const param_row_t *row, mca_base_var_enum_t *values, char **storage,
                           const char *preset)
{
    *storage = (char *) preset;
    if (0 > register_var(row, MCA_BASE_VAR_TYPE_STRING, values, storage) ||
        (NULL != *storage && strlen(*storage) > (size_t) row->max)) {
        return refuse(row, "too long", "a short name");
    }
    if (NULL == *storage) { /* Open MPI's form of an empty value */
        *storage = strdup("");
    }
    return NULL == *storage ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}

/* The words of CLV_<values>_MAP. */
typedef struct list_words {
    clv_status_t (*read)(const char *list, uint32_t *bits_p);
    void (*print)(char *text, size_t size, uint32_t bits);
} list_words_t;

static const list_words_t list_of_COLLECTIVE = {clv_collectives_read, clv_collectives_print};
static const list_words_t list_of_OP = {clv_clva_read_ops, clv_clva_print_ops};

static int register_LIST(const param_row_t *row, const list_words_t *words, char **storage,
                         const char *preset)
{
    char names[256];
    uint32_t bits;
    int status = register_STRING(row, NULL, storage, preset);

    if (OMPI_SUCCESS == status && NULL != *storage && CLV_OK != words->read(*storage, &bits)) {
        words->print(names, sizeof names, UINT32_MAX);
        status = refuse(row, *storage, names);
    }
    return status;
}

static int register_words(const param_row_t *row, mca_base_var_enum_t *values, const char *words,
                          int *storage, int preset)
{
    int status = OMPI_SUCCESS;
    int number;

    if (NULL == values) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    *storage = preset;
    if ('\0' != written(row)[0] &&
        OPAL_SUCCESS != values->value_from_string(values, written(row), &number)) {
        status = refuse(row, written(row), words);
    } else if (0 > register_var(row, MCA_BASE_VAR_TYPE_INT, values, storage)) {
        status = OMPI_ERR_BAD_PARAM;
    }
    OBJ_RELEASE(values); /* the variable holds its own reference */
    return status;
}

static mca_base_var_enum_t *make_enum(const char *name, const mca_base_var_enum_value_t *values)
{
    mca_base_var_enum_t *made = NULL;
    return OPAL_SUCCESS == mca_base_var_enum_create(name, values, &made) ? made : NULL;
}

/* The words are auto and the algorithms that the collective can run. */
static int register_algorithm(const param_row_t *row, int collective, int *storage, int preset)
{
    mca_base_var_enum_value_t values[CLV_N_ALGORITHMS + 2] = {{0, NULL}};
    char name[96], words[256] = "";
    size_t used = 0;
    int n = 0;

    (void) snprintf(name, sizeof name, "coll_clv_%s", row->name);
    for (int a = CLV_ALGORITHM_AUTO; a < CLV_N_ALGORITHMS; a++) {
        if (clv_algorithm_runs(a, collective) && used < sizeof words) {
            values[n++] = (mca_base_var_enum_value_t){a, clv_algorithm_word(a)};
            used += (size_t) snprintf(words + used, sizeof words - used, "%s%s",
                                      0 < used ? " " : "", clv_algorithm_word(a));
        }
    }
    return register_words(row, make_enum(name, values), words, storage, preset);
}

static mca_base_var_enum_t *make_flags(const char *name,
                                       const mca_base_var_enum_value_flag_t *values)
{
    mca_base_var_enum_flag_t *made = NULL;
    return OPAL_SUCCESS == mca_base_var_enum_create_flag(name, values, &made) ? &made->super : NULL;
}

/* Arguments of the function of each kind. */
#define REGISTER_INT(name, values, preset)    register_INT(&row, NULL, &params->name, preset)
#define REGISTER_BOOL(name, values, preset)   register_BOOL(&row, NULL, &params->name, preset)
#define REGISTER_STRING(name, values, preset) register_STRING(&row, NULL, &params->name, preset)
#define REGISTER_LIST(name, values, preset)                                                        \
    register_LIST(&row, &list_of_##values, &params->name, preset)
#define REGISTER_ENUM(name, values, preset)                                                        \
    register_words(&row, make_enum("coll_clv_" #name, values_of_##values), words_of_##values,      \
                   &params->name, preset)
#define REGISTER_CHOICE(name, values, preset)                                                      \
    register_algorithm(&row, CLV_COLLECTIVE_##values, &params->name, preset)
#define REGISTER_FLAGS(name, values, preset)                                                       \
    register_words(&row, make_flags("coll_clv_" #name, values_of_##values), words_of_##values,     \
                   &params->name, preset)

static int register_params(coll_clv_params_t *params)
{
    int bad = 0;
#define REGISTER_ROW(kind, name, values, preset, min, max, unit, level, ranks, meaning)            \
    {                                                                                              \
        const param_row_t row = {#name, min, max, unit, OPAL_INFO_LVL_##level, meaning};           \
        bad += OMPI_SUCCESS != REGISTER_##kind(name, values, preset);                              \
    }
    CLV_PARAMETER_MAP(REGISTER_ROW)
#undef REGISTER_ROW
    return 0 == bad ? OMPI_SUCCESS : OMPI_ERR_BAD_PARAM;
}

/* Open MPI keeps the variables of a component that refuses to register. A user who finds parameters
 * but no counters can see that it refused. */
int coll_clv_params_register(coll_clv_component_t *component)
{
    const int status = register_params(&component->params);

    if (OMPI_SUCCESS == status) {
        coll_clv_pvars_register();
    }
    return status;
}

/* 0 for a refused value, which is no list; then there is no module either. */
static int32_t bits_of(const list_words_t *words, const char *list)
{
    uint32_t bits = 0;

    (void) (NULL != list && CLV_OK == words->read(list, &bits));
    return (int32_t) bits;
}

#define NUMBER_INT(value, values)    (int32_t)(value)
#define NUMBER_ENUM(value, values)   (int32_t)(value)
#define NUMBER_CHOICE(value, values) (int32_t)(value)
#define NUMBER_BOOL(value, values)   (int32_t)(value)
#define NUMBER_LIST(value, values)   bits_of(&list_of_##values, value)
#define NUMBER_STRING(value, values) (NULL != (value) && '\0' != (value)[0])

clv_choose_config_t coll_clv_params_config(const coll_clv_component_t *component)
{
    const coll_clv_params_t *params = &component->params;
    clv_choose_config_t config = {0};
#define COPY_ROW(kind, name, values, preset, min, max, unit, level, ranks, meaning)                \
    CLV_IF_EQUAL(ranks, config.name = NUMBER_##kind(params->name, values);)

    CLV_PARAMETER_MAP(COPY_ROW)
#undef COPY_ROW
    config.priority = component->priority; /* also where clv is named */
    if (component->only_records) {
        config.collectives = 0;
    }
    return config;
}

bool coll_clv_params_is_set(const char *name)
{
    mca_base_var_source_t source = MCA_BASE_VAR_SOURCE_DEFAULT;
    const int index = mca_base_var_find("ompi", "coll", "clv", name);

    return index >= 0 && OPAL_SUCCESS == mca_base_var_get_value(index, NULL, &source, NULL) &&
           MCA_BASE_VAR_SOURCE_DEFAULT != source;
}
