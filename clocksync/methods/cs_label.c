/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Labels of methods, as the papers print them: "hca3/1000/skampi/100". Not hot, no heap.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "clocksync/cs_internal.h"
#include "clocksync/methods/cs_methods.h"

#define CS_MAX_TOKENS 32
#define CS_MAX_LABEL  256
#define CS_MAX_NUMBER 10000000

typedef struct algorithm_row {
    const char *label;
    bool offset_only;
    int32_t n_fit_points;
    int32_t n_exchanges;
} algorithm_row_t;

static const algorithm_row_t algorithms[CLV_CS_N_ALGORITHMS] = {
#define CS_ROW(name, label, offset_only, fit, exchanges, where)                                    \
    [CLV_CS_##name] = {label, offset_only, fit, exchanges},
    CLV_CS_ALGORITHM_MAP(CS_ROW)
#undef CS_ROW
};

static const char *const offsets[CLV_CS_N_OFFSETS] = {
#define CS_ROW(name, label, where) [CLV_CS_OFFSET_##name] = label,
    CLV_CS_OFFSET_MAP(CS_ROW)
#undef CS_ROW
};

static const char *const parts[CLV_CS_N_PARTS] = {
#define CS_ROW(name, label) [CLV_CS_PART_##name] = label,
    CLV_CS_PART_MAP(CS_ROW)
#undef CS_ROW
};

/* Longer names from the papers, beside our labels. */
static const struct {
    const char *long_name;
    const char *label;
} synonyms[] = {
    {"SKaMPI-Offset", "skampi"},  {"Mean-RTT-Offset", "mean-rtt"},      {"ClockPropSync", "prop"},
    {"ClockPropagation", "prop"}, {"recompute_intercept", "recompute"},
};

static const char *short_name(const char *token)
{
    for (size_t i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++) {
        if (strcasecmp(token, synonyms[i].long_name) == 0) {
            return synonyms[i].label;
        }
    }
    return token;
}

static int algorithm_of(const char *token)
{
    int i = 0;
    while (i < CLV_CS_N_ALGORITHMS && strcasecmp(token, algorithms[i].label) != 0) {
        i++;
    }
    return i;
}

static int offset_of(const char *token)
{
    int i = 0;
    while (i < CLV_CS_N_OFFSETS && strcasecmp(token, offsets[i]) != 0) {
        i++;
    }
    return i;
}

/* 0 if the token is not a number from 1 to the limit. */
static int32_t number_of(const char *token)
{
    char *end;
    const long number = strtol(token, &end, 10);
    const bool is_number = token[0] >= '0' && token[0] <= '9' && *end == '\0';
    return is_number && number >= 1 && number <= CS_MAX_NUMBER ? (int32_t) number : 0;
}

/* "2ms", "500us" in us; 0 if the token is no pause. */
static int32_t pause_of(const char *token)
{
    char *end;
    const long number = strtol(token, &end, 10);
    const long unit_us = strcasecmp(end, "us") == 0 ? 1 : strcasecmp(end, "ms") == 0 ? 1000 : 0;
    const bool is_number = token[0] >= '0' && token[0] <= '9' && number >= 1 && number <= 1000000;
    return is_number ? (int32_t) (number * unit_us) : 0;
}

static clv_cs_method_t default_method(clv_cs_algorithm_t algorithm)
{
    clv_cs_method_t method = {.algorithm = algorithm, .offset = CLV_CS_OFFSET_SKAMPI};
    method.n_fit_points = algorithms[algorithm].n_fit_points;
    method.n_exchanges = algorithms[algorithm].n_exchanges;
    if (algorithm == CLV_CS_NETGAUGE) {
        method.offset = CLV_CS_OFFSET_NETGAUGE;
    }
    return method;
}

/* What may follow an algorithm: numbers, an offset algorithm, options; each at most once. */
static bool take_tail(clv_cs_method_t *method, char *const *tokens, int n_tokens)
{
    bool has_fit = algorithms[method->algorithm].offset_only;
    bool has_offset = false, has_exchanges = false;
    for (int i = 0; i < n_tokens; i++) {
        const char *token = short_name(tokens[i]);
        const int32_t number = number_of(token);
        if (number > 0 && !has_fit && !has_offset) {
            method->n_fit_points = number;
            has_fit = true;
        } else if (number > 0 && !has_exchanges) {
            method->n_exchanges = number;
            has_exchanges = true;
        } else if (number == 0 && offset_of(token) < CLV_CS_N_OFFSETS && !has_offset) {
            method->offset = (clv_cs_offset_t) offset_of(token);
            has_offset = true;
        } else if (strcasecmp(token, "recompute") == 0 && !method->recompute_intercept) {
            method->recompute_intercept = 1;
        } else if (pause_of(token) > 0 && method->pause_us == 0) {
            method->pause_us = pause_of(token);
        } else if (strcasecmp(token, "early") == 0 && !method->stop_early) {
            method->stop_early = 1;
        } else if (strcasecmp(token, "plain") == 0 && !method->plain_fit) {
            method->plain_fit = 1;
        } else {
            return false;
        }
    }
    return true;
}

static bool take_method(clv_cs_method_t *method, char *const *tokens, int n_tokens)
{
    if (n_tokens < 1) {
        return false;
    }
    const int algorithm = algorithm_of(short_name(tokens[0]));
    if (algorithm == CLV_CS_N_ALGORITHMS) {
        return false;
    }
    *method = default_method((clv_cs_algorithm_t) algorithm);
    return take_tail(method, tokens + 1, n_tokens - 1);
}

static int split(char *text, char **tokens)
{
    int n = 0;
    char *next = text;
    while (next != NULL && n < CS_MAX_TOKENS) {
        tokens[n++] = next;
        next = strchr(next, '/');
        if (next != NULL) {
            *next++ = '\0';
        }
    }
    return next == NULL ? n : 0;
}

/* Whether the token is word alone or, like "middle@numa", word with a part, which goes to
 * *part_p. */
static bool is_word(const char *token, const char *word, clv_cs_part_t *part_p)
{
    const size_t n = strlen(word);
    int i = 0;

    if (strncasecmp(token, word, n) != 0 || (token[n] != '\0' && token[n] != '@')) {
        return false;
    }
    while (token[n] == '@' && i < CLV_CS_N_PARTS && strcasecmp(token + n + 1, parts[i]) != 0) {
        i++;
    }
    *part_p = (clv_cs_part_t) i;
    return i < CLV_CS_N_PARTS;
}

static int find_middle(char *const *tokens, int n_tokens, clv_cs_part_t *part_p)
{
    int i = 0;
    while (i < n_tokens && !is_word(tokens[i], "middle", part_p)) {
        i++;
    }
    return i;
}

static int find_token(char *const *tokens, int n_tokens, const char *word)
{
    int i = 0;
    while (i < n_tokens && strcasecmp(tokens[i], word) != 0) {
        i++;
    }
    return i;
}

/* top/A/bottom/B and top/A/middle/B/bottom/C, or middle@numa */
static bool take_levels(clv_cs_scheme_t *scheme, char *const *tokens, int n_tokens)
{
    clv_cs_part_t part = CLV_CS_PART_SOCKET;
    const int middle = find_middle(tokens, n_tokens, &part);
    const int bottom = find_token(tokens, n_tokens, "bottom");
    if (bottom == n_tokens || (middle < n_tokens && middle > bottom)) {
        return false;
    }
    const bool has_middle = middle < n_tokens;
    const int end_of_top = has_middle ? middle : bottom;
    clv_cs_method_t *level = scheme->level;
    scheme->n_levels = has_middle ? 3 : 2;
    scheme->part = has_middle ? part : CLV_CS_PART_SOCKET;
    return take_method(&level[0], tokens + 1, end_of_top - 1) &&
           (!has_middle || take_method(&level[1], tokens + middle + 1, bottom - middle - 1)) &&
           take_method(&level[scheme->n_levels - 1], tokens + bottom + 1, n_tokens - bottom - 1);
}

/* h2hca/... and h3hca/...: HCA3 on top, copies below. Ranks of one level that turn out not to share
 * a time source are split into groups before anything is copied. */
static bool take_short_levels(clv_cs_scheme_t *scheme, char *const *tokens, int n_tokens)
{
    scheme->n_levels = strcasecmp(tokens[0], "h2hca") == 0 ? 2 : 3;
    scheme->level[0] = default_method(CLV_CS_HCA3);
    for (int32_t i = 1; i < scheme->n_levels; i++) {
        scheme->level[i] = default_method(CLV_CS_PROP);
    }
    return take_tail(&scheme->level[0], tokens + 1, n_tokens - 1);
}

clv_status_t clv_cs_scheme_parse(const char *label, clv_cs_scheme_t *scheme_p)
{
    char text[CS_MAX_LABEL];
    char *tokens[CS_MAX_TOKENS];
    clv_cs_scheme_t scheme = {.n_levels = 1};
    if (strlen(label) >= sizeof text) {
        return CLV_INVALID;
    }
    memcpy(text, label, strlen(label) + 1);
    const int n = split(text, tokens);
    bool is_label;
    if (n > 0 && strcasecmp(tokens[0], "top") == 0) {
        is_label = take_levels(&scheme, tokens, n);
    } else if (n > 0 &&
               (strcasecmp(tokens[0], "h2hca") == 0 || is_word(tokens[0], "h3hca", &scheme.part))) {
        is_label = take_short_levels(&scheme, tokens, n);
    } else {
        is_label = take_method(&scheme.level[0], tokens, n);
    }
    if (!is_label) {
        return CLV_INVALID;
    }
    *scheme_p = scheme;
    return CLV_OK;
}

static void append(char *label, int32_t n_bytes, const char *text)
{
    const size_t used = strlen(label);
    (void) snprintf(label + used, (size_t) n_bytes - used, "%s", text);
}

static void append_method(char *label, int32_t n_bytes, const clv_cs_method_t *method)
{
    const algorithm_row_t *row = &algorithms[method->algorithm];
    char text[80];
    append(label, n_bytes, row->label);
    if (method->algorithm == CLV_CS_PROP) {
        return;
    }
    if (!row->offset_only) {
        (void) snprintf(text, sizeof text, "/%d", (int) method->n_fit_points);
        append(label, n_bytes, text);
    }
    if (!row->offset_only || method->offset != default_method(method->algorithm).offset) {
        (void) snprintf(text, sizeof text, "/%s", offsets[method->offset]);
        append(label, n_bytes, text);
    }
    (void) snprintf(text, sizeof text, "/%d%s%s%s", (int) method->n_exchanges,
                    method->recompute_intercept ? "/recompute" : "",
                    method->stop_early ? "/early" : "", method->plain_fit ? "/plain" : "");
    append(label, n_bytes, text);
    if (method->pause_us > 0) {
        (void) snprintf(text, sizeof text, "/%dus", (int) method->pause_us);
        append(label, n_bytes, text);
    }
}

void clv_cs_scheme_print(const clv_cs_scheme_t *scheme, char *label_p, int32_t n_bytes)
{
    static const char *const names[CLV_CS_MAX_LEVELS + 1][CLV_CS_MAX_LEVELS] = {
        {"", "", ""}, {"", "", ""}, {"top/", "/bottom/", ""}, {"top/", "/middle", "/bottom/"}};
    if (n_bytes < 1) {
        return;
    }
    label_p[0] = '\0';
    for (int32_t i = 0; i < scheme->n_levels; i++) {
        append(label_p, n_bytes, names[scheme->n_levels][i]);
        if (scheme->n_levels == 3 && i == 1) {
            append(label_p, n_bytes, scheme->part == CLV_CS_PART_SOCKET ? "/" : "@");
            append(label_p, n_bytes, scheme->part == CLV_CS_PART_SOCKET ? "" : parts[scheme->part]);
            append(label_p, n_bytes, scheme->part == CLV_CS_PART_SOCKET ? "" : "/");
        }
        append_method(label_p, n_bytes, &scheme->level[i]);
    }
}
