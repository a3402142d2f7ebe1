/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Misspelt parameters: Open MPI accepts any name, so clv reports names that no component reads.
 *
 * It checks the environment, which contains mpirun's command line, and the parameter files that
 * this process reads.
 */
#include "coll_clv/coll_clv.h"

#include <stdio.h>
#include <string.h>

#include "opal/mca/base/mca_base_var.h"

#include "coll_clv/coll_clv_peers.h"
#include "util/util_hash.h"
#include "util/util_log.h"
#include "util/util_near.h"

#define PREFIX     "coll_clv_"
#define LINE_BYTES 512

extern char **environ;

/* Called for a name without its prefix. file: where it was found; NULL: the environment. */
typedef void (*hear_t)(void *context, const char *name, size_t length, const char *file);

/* Reads a file. */
typedef void (*look_t)(const char *path, hear_t hear, void *context);

/* Whether it is a registered parameter or an old name, which is not registered if the new one is
 * also set. */
static bool is_known(const char *name, size_t length)
{
    static const char *const old_names[] = {
#define OLD_NAME(name, old) #old,
        CLV_SYNONYM_MAP(OLD_NAME)
#undef OLD_NAME
    };
    char whole[CLV_NEAR_BYTES + 1];

    if (length >= sizeof whole) {
        return false;
    }
    memcpy(whole, name, length);
    whole[length] = '\0';
    for (size_t i = 0; i < sizeof old_names / sizeof old_names[0]; i++) {
        if (0 == strcmp(old_names[i], whole)) {
            return true;
        }
    }
    return 0 <= mca_base_var_find("ompi", "coll", "clv", whole);
}

/* word: a name of any length, ended by one of `ends`. */
static void look_at(const char *word, const char *ends, const char *file, hear_t hear,
                    void *context)
{
    const char *name = word + strlen(PREFIX);

    if (0 == strncmp(word, PREFIX, strlen(PREFIX))) {
        const size_t length = strcspn(name, ends);
        if (!is_known(name, length)) {
            hear(context, name, length, file);
        }
    }
}

static void look_at_environment(hear_t hear, void *context)
{
    static const char prefix[] = "OMPI_MCA_";

    for (char **entry = environ; NULL != *entry; entry++) {
        if (0 == strncmp(*entry, prefix, strlen(prefix))) {
            look_at(*entry + strlen(prefix), "=", NULL, hear, context);
        }
    }
}

/* Reads lines "name = value". The rest of a line longer than the buffer is part of the value. */
static void look_at_file(const char *path, hear_t hear, void *context)
{
    FILE *file = fopen(path, "re");
    char line[LINE_BYTES];
    bool is_begin = true;

    while (NULL != file && NULL != fgets(line, sizeof line, file)) {
        if (is_begin) {
            look_at(line + strspn(line, " \t"), " \t=\r\n", path, hear, context);
        }
        is_begin = NULL != strchr(line, '\n');
    }
    if (NULL != file) {
        (void) fclose(file);
    }
}

/* Reads options "-mca name value" of mpirun. */
static void look_at_tuning(const char *path, hear_t hear, void *context)
{
    FILE *file = fopen(path, "re");
    char word[LINE_BYTES];
    bool is_name = false;

    while (NULL != file && 1 == fscanf(file, "%511s", word)) {
        if ('#' == word[0]) {
            is_name = false;
            if (EOF == fscanf(file, "%*[^\n]")) {
                break;
            }
        } else {
            if (is_name) {
                look_at(word, "=", path, hear, context);
            }
            is_name = 0 == strcmp(word, "-mca") || 0 == strcmp(word, "--mca");
        }
    }
    if (NULL != file) {
        (void) fclose(file);
    }
}

/* variable: the Open MPI variable that lists the paths. */
static void look_at_files(const char *variable, look_t look, hear_t hear, void *context)
{
    const int index = mca_base_var_find("opal", "mca", "base", variable);
    const char *const *value = NULL;
    const char *at;
    char path[4096];

    if (0 > index || OPAL_SUCCESS != mca_base_var_get_value(index, &value, NULL, NULL) ||
        NULL == value || NULL == *value) {
        return;
    }
    for (at = *value; '\0' != *at; at += '\0' != *at) {
        const size_t length = strcspn(at, ":,");
        if (0 < length && length < sizeof path) {
            memcpy(path, at, length);
            path[length] = '\0';
            look(path, hear, context);
        }
        at += length;
    }
}

static void look_everywhere(hear_t hear, void *context)
{
    look_at_environment(hear, context);
    look_at_files("param_files", look_at_file, hear, context);
    look_at_files("override_param_file", look_at_file, hear, context);
    look_at_files("envar_file_prefix", look_at_tuning, hear, context); /* mpirun --tune */
}

/* Independent of the order in which names are found. */
static void add_to_hash(void *context, const char *name, size_t length, const char *file)
{
    uint64_t *hash = context;

    (void) file;
    *hash ^= clv_fnv1a64(CLV_FNV1A64_BASIS, name, length);
}

uint64_t coll_clv_unknown_find(void)
{
    uint64_t hash = 0;

    look_everywhere(add_to_hash, &hash);
    return hash;
}

static void tell(void *context, const char *name, size_t length, const char *file)
{
    static const char *const names[] = {
#define PARAM_NAME(kind, name, values, preset, min, max, unit, level, ranks, meaning) #name,
        CLV_PARAMETER_MAP(PARAM_NAME)
#undef PARAM_NAME
    };
    const char *nearest = clv_near(name, length, names, sizeof names / sizeof names[0]);
    char line[LINE_BYTES];
    int used = snprintf(line, sizeof line, PREFIX "%.*s is not a parameter of clv",
                        length < CLV_NEAR_BYTES ? (int) length : CLV_NEAR_BYTES, name);

    (void) context;
    if (NULL == nearest) {
        used += snprintf(line + used, sizeof line - (size_t) used,
                         "; ompi_info --param coll clv --level 9 lists them");
    } else {
        used += snprintf(line + used, sizeof line - (size_t) used, "; did you mean " PREFIX "%s?",
                         nearest);
    }
    if (NULL != file) {
        (void) snprintf(line + used, sizeof line - (size_t) used, " (in %.200s)", file);
    }
    clv_log(CLV_LOG_HOST, "%s", line);
}

void coll_clv_unknown_tell(void)
{
    if (0 != coll_clv_unknown_find() && !coll_clv_peers_first_tells()) {
        look_everywhere(tell, NULL);
    }
}
