/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Implements algorithms as communicators created under different settings; see
 * bench_algorithms.h.
 */
#include "apps/bench/measure/bench_algorithms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/util_alloc.h"

#define COMPONENT_KEY "ompi_comm_coll_preference" /* info key for Open MPI 4.1 and later */
#define MAX_VALUE     256
#define HINT_SUFFIX   "+hint"

typedef struct preset {
    const char *name;
    const char *meaning;
    const char *collective; /* NULL: any */
    const char *components;
    const char *number; /* of coll_tuned_<collective>_algorithm, or NULL */
    const char *segment_bytes;
    int (*own)(const clv_bench_call_t *call);
    bool is_bound;
} preset_t;

static const preset_t presets[] = {
    {"default", "what the library chooses, without clv", NULL, "^clv", NULL, NULL, NULL, false},
    {"clv",
     "the clv component; clv:<name> forces one of its algorithms, clv:<name>:<predictor>\n"
     "                   its predictor too; each with +hint: ranks announce their arrivals, a\n"
     "                   prediction without error",
     NULL, "clv", NULL, NULL, NULL, false},
    {"adapt", "the event-driven component adapt", NULL, "adapt,^clv", NULL, NULL, NULL, false},
    {"han", "the hierarchical component han", NULL, "han,^clv", NULL, NULL, NULL, false},
    {"linear", "all to the root", "reduce", "^clv", "1", NULL, NULL, false},
    {"chain", "chains into the root", "reduce", "^clv", "2", "32768", NULL, false},
    {"pipeline", "one chain, 32 KiB segments", "reduce", "^clv", "3", "32768", NULL, false},
    {"binary", "binary tree, 32 KiB segments", "reduce", "^clv", "4", "32768", NULL, false},
    {"binomial", "binomial tree, whole vectors", "reduce", "^clv", "5", "0", NULL, false},
    {"rabenseifner", "reduce-scatter by halving, then gather", "reduce", "^clv", "7", NULL, NULL,
     false},
    {"ring", "our own: reduce-scatter in a ring, then gather", "reduce", "^clv", NULL, NULL,
     clv_bench_reduce_ring, false},
    {"radix-k", "our own: reduce-scatter in groups of up to 8, then gather", "reduce", "^clv", NULL,
     NULL, clv_bench_reduce_radix_k, false},
    {"butterfly", "our own: reduce-scatter in pairs, then gather", "reduce", "^clv", NULL, NULL,
     clv_bench_reduce_butterfly, false},
    {"bound", "only the last arriver sends its vector to the root", "reduce", "^clv", NULL, NULL,
     clv_bench_reduce_bound, true},
    {"bound", "only the last arriver exchanges vectors, with one other rank", "allreduce", "^clv",
     NULL, NULL, clv_bench_allreduce_bound, true},
    {"bound", "only the root and the last other arriver: one vector", "bcast", "^clv", NULL, NULL,
     clv_bench_bcast_bound, true},
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, false},
};

void clv_algorithm_list(void)
{
    for (const preset_t *row = presets; row->name; row++) {
        printf("    %-14s %s%s%s%s\n", row->name, row->meaning, row->collective ? " (" : "",
               row->collective ? row->collective : "", row->collective ? ")" : "");
    }
}

/* ---- text to algorithm ---- */

static void add_setting(clv_algorithm_t *algorithm, const char *name, const char *value)
{
    clv_algorithm_setting_t *setting = &algorithm->settings[algorithm->n_settings++];

    snprintf(setting->name, sizeof setting->name, "%s", name);
    snprintf(setting->value, sizeof setting->value, "%s", value);
}

static void force_tuned(clv_algorithm_t *algorithm, const char *collective, const char *number,
                        const char *segment_bytes)
{
    char name[CLV_ALGORITHM_TEXT];

    snprintf(name, sizeof name, "coll_tuned_%s_algorithm", collective);
    add_setting(algorithm, name, number);
    if (segment_bytes) {
        snprintf(name, sizeof name, "coll_tuned_%s_algorithm_segmentsize", collective);
        add_setting(algorithm, name, segment_bytes);
    }
}

/* "clairvoyant" or "clairvoyant:sma": one of the component's algorithms, with its predictor. */
static void force_clv(clv_algorithm_t *algorithm, const char *collective, const char *argument)
{
    char name[CLV_ALGORITHM_TEXT];
    char word[CLV_ALGORITHM_TEXT];
    const size_t length = strcspn(argument, ":");

    snprintf(name, sizeof name, "coll_clv_%s_algorithm", collective);
    snprintf(word, sizeof word, "%.*s", (int) length, argument);
    add_setting(algorithm, name, word);
    if (argument[length]) {
        add_setting(algorithm, "coll_clv_predictor", argument + length + 1);
    }
}

static bool is_number(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text);
}

/* The row with that name for that collective, or the terminating row. */
static const preset_t *find_preset(const char *name, size_t length, const char *collective)
{
    const preset_t *row = presets;

    while (row->name && (strlen(row->name) != length || strncmp(row->name, name, length) ||
                         (row->collective && strcmp(row->collective, collective)))) {
        row++;
    }
    return row;
}

static clv_status_t parse_preset(const char *text, const char *argument, const char *collective,
                                 clv_algorithm_t *algorithm)
{
    const preset_t *row = find_preset(text, strcspn(text, ":"), collective);

    if (!row->name) {
        return CLV_INVALID;
    }
    snprintf(algorithm->components, sizeof algorithm->components, "%s", row->components);
    algorithm->own = row->own;
    algorithm->is_bound = row->is_bound;
    if (argument && !strcmp(row->name, "clv")) {
        force_clv(algorithm, collective, argument);
        return CLV_OK;
    }
    if (argument && (!row->number || !is_number(argument))) {
        return CLV_INVALID;
    }
    if (row->number) {
        force_tuned(algorithm, collective, row->number, argument ? argument : row->segment_bytes);
    }
    return CLV_OK;
}

/* Parses "clv+hint", "clv:chain+hint": only clv uses hints. */
static clv_status_t parse_hinted(const char *text, const char *collective,
                                 clv_algorithm_t *algorithm)
{
    char plain[CLV_ALGORITHM_TEXT] = "";
    const size_t length = strlen(text) - strlen(HINT_SUFFIX);

    if (strcspn(text, ":+") != 3 || strncmp(text, "clv", 3)) {
        return CLV_INVALID;
    }
    memcpy(plain, text, length); /* shorter than the name, whose length was checked */
    const char *colon = strchr(plain, ':');
    algorithm->is_hinted = true;
    return parse_preset(plain, colon ? colon + 1 : NULL, collective, algorithm);
}

static bool ends_with(const char *text, const char *ending)
{
    const size_t length = strlen(text);

    return length > strlen(ending) && !strcmp(text + length - strlen(ending), ending);
}

/* "3" or "3:32768" */
static clv_status_t parse_tuned(const char *argument, const char *collective,
                                clv_algorithm_t *algorithm)
{
    char number[16];
    const size_t length = strcspn(argument, ":");
    const char *segment = argument[length] ? argument + length + 1 : NULL;

    snprintf(number, sizeof number, "%.*s", (int) (length < 15 ? length : 15), argument);
    if (!is_number(number) || (segment && !is_number(segment))) {
        return CLV_INVALID;
    }
    snprintf(algorithm->components, sizeof algorithm->components, "tuned,^clv");
    force_tuned(algorithm, collective, number, segment);
    return CLV_OK;
}

/* "components/variable=value/..." after the name and its equals sign */
static clv_status_t parse_free(const char *text, clv_algorithm_t *algorithm)
{
    char copy[512];
    char *rest = NULL;

    snprintf(copy, sizeof copy, "%s", text);
    const char *components = *copy == '/' ? "" : strtok_r(copy, "/", &rest);
    if (*copy == '/') {
        rest = copy + 1;
    }
    snprintf(algorithm->components, sizeof algorithm->components, "%s",
             components ? components : "");
    for (char *word = rest ? strtok_r(NULL, "/", &rest) : NULL; word;
         word = strtok_r(NULL, "/", &rest)) {
        char *equals = strchr(word, '=');
        if (!equals || algorithm->n_settings == CLV_ALGORITHM_MAX_SETTINGS) {
            return CLV_INVALID;
        }
        *equals = '\0';
        add_setting(algorithm, word, equals + 1);
    }
    return CLV_OK;
}

clv_status_t clv_algorithm_parse(const char *text, const char *collective,
                                 clv_algorithm_t *algorithm, char *reason, size_t reason_bytes)
{
    const char *equals = strchr(text, '=');
    const char *colon = strchr(text, ':');
    const size_t name_length = equals ? (size_t) (equals - text) : strlen(text);
    clv_status_t status = CLV_INVALID;

    memset(algorithm, 0, sizeof *algorithm);
    if (name_length && name_length < sizeof algorithm->name) {
        memcpy(algorithm->name, text, name_length);
        if (equals) {
            status = parse_free(equals + 1, algorithm);
        } else if (ends_with(text, HINT_SUFFIX)) {
            status = parse_hinted(text, collective, algorithm);
        } else if (!strncmp(text, "tuned:", 6)) {
            status = parse_tuned(text + 6, collective, algorithm);
        } else {
            status = parse_preset(text, colon ? colon + 1 : NULL, collective, algorithm);
        }
    }
    if (status != CLV_OK) {
        snprintf(reason, reason_bytes, "unknown algorithm '%s' for %s (--help lists them)", text,
                 collective);
    }
    return status;
}

/* ---- settings read only at MPI_Init ---- */

static bool uses(const clv_algorithm_t *algorithms, int n_algorithms, const char *prefix)
{
    for (int a = 0; a < n_algorithms; a++) {
        for (int s = 0; s < algorithms[a].n_settings; s++) {
            if (!strncmp(algorithms[a].settings[s].name, prefix, strlen(prefix))) {
                return true;
            }
        }
        if (!strncmp(prefix, "coll_", 5) &&
            !strncmp(algorithms[a].components, prefix + 5, strlen(prefix + 5))) {
            return true;
        }
    }
    return false;
}

void clv_algorithm_prepare_environment(const clv_algorithm_t *algorithms, int n_algorithms)
{
    /* Forced algorithms override the built-in rules on single communicators only. */
    if (uses(algorithms, n_algorithms, "coll_tuned")) {
        setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 0);
    }
    /* Priority 0 would be off; communicators that exclude clv are unaffected. */
    if (uses(algorithms, n_algorithms, "coll_clv")) {
        setenv("OMPI_MCA_coll_clv_priority", "40", 0);
        setenv("OMPI_MCA_coll_clv_collectives", "^", 0); /* all; the row selects */
    }
}

/* ---- control variables ---- */

typedef struct variable {
    MPI_T_cvar_handle handle;
    MPI_Datatype type;
    MPI_T_enum names;
    int count;
    char before[MAX_VALUE];
} variable_t;

static clv_status_t open_variable(const char *name, variable_t *variable)
{
    int n_variables = 0;
    int unused;

    MPI_T_cvar_get_num(&n_variables);
    for (int i = 0; i < n_variables; i++) {
        char found[MAX_VALUE] = "";
        int length = sizeof found;
        if (MPI_T_cvar_get_info(i, found, &length, &unused, &variable->type, &variable->names, NULL,
                                NULL, &unused, &unused) == MPI_SUCCESS &&
            !strcmp(found, name)) {
            return MPI_T_cvar_handle_alloc(i, NULL, &variable->handle, &variable->count) ==
                           MPI_SUCCESS
                       ? CLV_OK
                       : CLV_UNSUPPORTED;
        }
    }
    return CLV_UNSUPPORTED;
}

/* Converts an enumeration's name, or a number as text, to its value. */
static clv_status_t enum_value(MPI_T_enum names, const char *text, int *value_p)
{
    int n_items = 0;
    char unused[MAX_VALUE];
    int length = sizeof unused;

    if (names != MPI_T_ENUM_NULL &&
        MPI_T_enum_get_info(names, &n_items, unused, &length) == MPI_SUCCESS) {
        for (int i = 0; i < n_items; i++) {
            char item[MAX_VALUE];
            int value;
            length = sizeof item;
            if (MPI_T_enum_get_item(names, i, &value, item, &length) == MPI_SUCCESS &&
                !strcmp(item, text)) {
                *value_p = value;
                return CLV_OK;
            }
        }
    }
    char *end;
    *value_p = (int) strtol(text, &end, 10);
    return *text && !*end ? CLV_OK : CLV_INVALID;
}

static clv_status_t write_text(const variable_t *variable, const char *text)
{
    union {
        int i;
        unsigned long ul;
        unsigned long long ull;
        double d;
        char text[MAX_VALUE];
    } value = {.ull = 0};

    if (variable->type == MPI_INT || variable->type == MPI_UNSIGNED) {
        if (enum_value(variable->names, text, &value.i) != CLV_OK) {
            return CLV_INVALID;
        }
    } else if (variable->type == MPI_UNSIGNED_LONG) {
        value.ul = strtoul(text, NULL, 10);
    } else if (variable->type == MPI_UNSIGNED_LONG_LONG) {
        value.ull = strtoull(text, NULL, 10);
    } else if (variable->type == MPI_DOUBLE) {
        value.d = strtod(text, NULL);
    } else if (variable->type == MPI_CHAR) {
        snprintf(value.text, sizeof value.text, "%s", text);
    } else {
        return CLV_UNSUPPORTED;
    }
    return MPI_T_cvar_write(variable->handle, &value) == MPI_SUCCESS ? CLV_OK : CLV_UNSUPPORTED;
}

/* Writes the saved raw bytes back. */
static void restore(variable_t *variable)
{
    MPI_T_cvar_write(variable->handle, variable->before);
    MPI_T_cvar_handle_free(&variable->handle);
}

static clv_status_t apply(const clv_algorithm_setting_t *setting, variable_t *variable,
                          char *reason, size_t reason_bytes)
{
    clv_status_t status = open_variable(setting->name, variable);

    if (status != CLV_OK) {
        snprintf(reason, reason_bytes, "this MPI has no control variable '%s'", setting->name);
        return status;
    }
    if (variable->count > MAX_VALUE / 8 && variable->type != MPI_CHAR) {
        status = CLV_UNSUPPORTED;
    } else if (MPI_T_cvar_read(variable->handle, variable->before) != MPI_SUCCESS) {
        status = CLV_UNSUPPORTED;
    } else {
        status = write_text(variable, setting->value);
    }
    if (status != CLV_OK) {
        snprintf(reason, reason_bytes, "control variable '%s' does not take '%s'", setting->name,
                 setting->value);
        MPI_T_cvar_handle_free(&variable->handle);
    }
    return status;
}

static bool has_component(const char *name)
{
    char variable_name[CLV_ALGORITHM_TEXT + 16];
    variable_t variable;

    snprintf(variable_name, sizeof variable_name, "coll_%s_priority", name);
    if (open_variable(variable_name, &variable) != CLV_OK) {
        return false;
    }
    MPI_T_cvar_handle_free(&variable.handle);
    return true;
}

/* The library keeps the control variables of a component that refused one of them. Our own
 * component registers its counters only if it did not. */
static bool is_refused(const char *name)
{
    int index;

    return !strcmp(name, "clv") &&
           MPI_T_pvar_get_index("coll_clv_calls", MPI_T_PVAR_CLASS_COUNTER, &index) != MPI_SUCCESS;
}

/* The components requested by name must exist; the excluded ones need not. */
static clv_status_t check_components(const char *components, char *reason, size_t reason_bytes)
{
    char name[CLV_ALGORITHM_TEXT];

    snprintf(name, sizeof name, "%.*s", (int) strcspn(components, ",^"), components);
    if (!*name) {
        return CLV_OK;
    }
    if (!has_component(name)) {
        snprintf(reason, reason_bytes, "the MPI library has no coll component '%s' loaded", name);
        return CLV_UNSUPPORTED;
    }
    if (is_refused(name)) {
        snprintf(reason, reason_bytes,
                 "the component '%s' refused a parameter and is out; its message says which", name);
        return CLV_UNSUPPORTED;
    }
    return CLV_OK;
}

static clv_status_t duplicate(const clv_algorithm_t *algorithm, MPI_Comm parent, MPI_Comm *comm_p)
{
    MPI_Info info;

    MPI_Info_create(&info);
    if (*algorithm->components) {
        MPI_Info_set(info, COMPONENT_KEY, algorithm->components);
    }
    const int status = MPI_Comm_dup_with_info(parent, info, comm_p);
    MPI_Info_free(&info);
    return status == MPI_SUCCESS ? CLV_OK : CLV_UNSUPPORTED;
}

clv_status_t clv_algorithm_communicator(const clv_algorithm_t *algorithm, MPI_Comm parent,
                                        MPI_Comm *comm_p, char *reason, size_t reason_bytes)
{
    variable_t variables[CLV_ALGORITHM_MAX_SETTINGS];
    int n_applied = 0;
    clv_status_t status = check_components(algorithm->components, reason, reason_bytes);

    while (status == CLV_OK && n_applied < algorithm->n_settings) {
        status =
            apply(&algorithm->settings[n_applied], &variables[n_applied], reason, reason_bytes);
        n_applied += status == CLV_OK;
    }
    if (status == CLV_OK) {
        status = duplicate(algorithm, parent, comm_p);
        if (status != CLV_OK) {
            snprintf(reason, reason_bytes, "no communicator for algorithm '%s'", algorithm->name);
        }
    }
    while (n_applied > 0) {
        restore(&variables[--n_applied]);
    }
    return status;
}

clv_status_t clv_algorithm_communicators(const clv_algorithm_t *algorithms, int n_algorithms,
                                         MPI_Comm parent, MPI_Comm *comms, char *reason,
                                         size_t reason_bytes)
{
    clv_status_t status = CLV_OK;

    for (int a = 0; a < n_algorithms && status == CLV_OK; a++) {
        status =
            clv_algorithm_communicator(&algorithms[a], parent, &comms[a], reason, reason_bytes);
    }
    return status;
}

void clv_algorithm_free_communicators(MPI_Comm *comms, int n_comms)
{
    for (int i = 0; i < n_comms; i++) {
        if (comms[i] != MPI_COMM_NULL) {
            MPI_Comm_free(&comms[i]);
        }
    }
}
