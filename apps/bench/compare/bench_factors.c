/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See compare.h.
 */
#include "apps/bench/compare/compare.h"

#include <stdio.h>
#include <string.h>

#include "util/util_alloc.h"

#define MAX_COMMAND 4096
#define MAX_LABEL   64

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"

/* A name and its value, not ended by a 0. */
typedef struct word {
    const char *text;
    size_t length;
} word_t;

static word_t name_of(const char *factor)
{
    return (word_t){factor, strcspn(factor, "=")};
}

/* Value number `index`, from 0; of length 0 if there is none. */
static word_t value_of(const char *factor, int index)
{
    const char *at = factor + strcspn(factor, "=") + 1;

    while (index-- > 0) {
        at += strcspn(at, ",");
        if (*at++ == '\0') {
            return (word_t){"", 0};
        }
    }
    return (word_t){at, strcspn(at, ",")};
}

const char *clv_factors_add(clv_factors_t *factors, const char *text)
{
    const size_t name = strspn(text, NAME_LETTERS);

    if (factors->n_factors == CLV_FACTORS) {
        return "one of at most 8";
    }
    if (name == 0 || text[name] != '=' || value_of(text, 0).length == 0 ||
        value_of(text, 1).length == 0) {
        return "NAME=VALUE,VALUE[,...], two values at least";
    }
    factors->text[factors->n_factors++] = text;
    return NULL;
}

/* ---- one command with one value ---- */

static void append(char *to, size_t n_bytes, const char *from, size_t length)
{
    const size_t used = strlen(to);

    snprintf(to + used, n_bytes - used, "%.*s", (int) length, from);
}

/* Whether "%NAME%" begins here. */
static bool is_place(const char *at, word_t name)
{
    return *at == '%' && strncmp(at + 1, name.text, name.length) == 0 && at[1 + name.length] == '%';
}

static void fill_in(const char *command, word_t name, word_t value, char text[MAX_COMMAND])
{
    bool is_filled = false;

    text[0] = '\0';
    while (*command != '\0') {
        if (is_place(command, name)) {
            append(text, MAX_COMMAND, value.text, value.length);
            command += name.length + 2;
            is_filled = true;
        } else {
            append(text, MAX_COMMAND, command++, 1);
        }
    }
    if (!is_filled) {
        append(text, MAX_COMMAND, " --", 3);
        append(text, MAX_COMMAND, name.text, name.length);
        append(text, MAX_COMMAND, " ", 1);
        append(text, MAX_COMMAND, value.text, value.length);
    }
}

/* Makes a label, which becomes part of a file name. */
static void make_label(const char *label, word_t name, word_t value, char text[MAX_LABEL])
{
    snprintf(text, MAX_LABEL, "%s%s%.*s.%.*s", label, *label ? "-" : "", (int) name.length,
             name.text, (int) value.length, value.text);
    for (char *at = text + strspn(text, NAME_LETTERS "_."); *at != '\0';
         at += strspn(at, NAME_LETTERS "_.")) {
        *at = '_';
    }
}

static const char *keep(clv_factors_t *factors, const char *text)
{
    char *copy = clv_alloc(strlen(text) + 1, 1);

    if (copy != NULL) {
        memcpy(copy, text, strlen(text) + 1);
        factors->made[factors->n_made++] = copy;
    }
    return copy;
}

/* ---- all ---- */

/* Crosses one more factor: every command of `before` with every value. */
static clv_status_t cross_one(const char *factor, const clv_command_t *before, int n_before,
                              char texts[][MAX_COMMAND], char labels[][MAX_LABEL], int *n_p)
{
    int n = 0;

    for (int c = 0; c < n_before; c++) {
        for (int v = 0; value_of(factor, v).length > 0; v++) {
            if (n == CLV_RUNS_COMMANDS) {
                return CLV_LIMIT;
            }
            fill_in(before[c].text, name_of(factor), value_of(factor, v), texts[n]);
            make_label(before[c].label, name_of(factor), value_of(factor, v), labels[n]);
            if (strlen(texts[n]) + 1 == MAX_COMMAND || strlen(labels[n]) + 1 == MAX_LABEL) {
                return CLV_LIMIT;
            }
            n++;
        }
    }
    *n_p = n;
    return CLV_OK;
}

/* Replaces the commands by these texts, in memory of the factors. */
static clv_status_t take_over(clv_factors_t *factors, char texts[][MAX_COMMAND],
                              char labels[][MAX_LABEL], int n, clv_runs_t *runs)
{
    clv_factors_t old = *factors;

    factors->n_made = 0;
    for (int i = 0; i < n; i++) {
        runs->commands[i].label = keep(factors, labels[i]);
        runs->commands[i].text = keep(factors, texts[i]);
        if (runs->commands[i].label == NULL || runs->commands[i].text == NULL) {
            clv_factors_free(&old);
            return CLV_NO_MEMORY;
        }
    }
    runs->n_commands = n;
    clv_factors_free(&old);
    return CLV_OK;
}

clv_status_t clv_factors_cross(clv_factors_t *factors, clv_runs_t *runs, char *reason,
                               size_t reason_bytes)
{
    static char texts[CLV_RUNS_COMMANDS][MAX_COMMAND];
    static char labels[CLV_RUNS_COMMANDS][MAX_LABEL];
    clv_status_t status = CLV_OK;
    int n = 0;

    for (int f = 0; f < factors->n_factors && status == CLV_OK; f++) {
        status = cross_one(factors->text[f], runs->commands, runs->n_commands, texts, labels, &n);
        if (status == CLV_OK) {
            status = take_over(factors, texts, labels, n, runs);
        }
    }
    if (status == CLV_LIMIT) {
        snprintf(reason, reason_bytes,
                 "factors: more than %d combinations, or a command or label too long",
                 CLV_RUNS_COMMANDS);
    }
    return status;
}

void clv_factors_free(clv_factors_t *factors)
{
    while (factors->n_made > 0) {
        clv_free(factors->made[--factors->n_made]);
    }
}
