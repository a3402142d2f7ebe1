/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-sim's options: "--name value" pairs, one table row each.
 */
#include "bench/sim/sim_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/sim/sim_direct.h"
#include "bench/sim/sim_plan.h"

typedef enum kind { TEXT, NUMBER, COUNT32, COUNT64 } kind_t;

typedef struct row {
    const char *name;
    kind_t kind;
    size_t offset;
    double low; /* of NUMBER and the counts, both included */
    double high;
} row_t;

#define FIELD(field) offsetof(clv_sim_options_t, field)

static const row_t rows[] = {
    {"algorithm", TEXT, FIELD(algorithm), 0, 0},
    {"pattern", TEXT, FIELD(pattern), 0, 0},
    {"error", TEXT, FIELD(error), 0, 0},
    {"delay-ms", NUMBER, FIELD(delay_ms), 0, 1e5},
    {"round-factor", NUMBER, FIELD(round_factor), 0.01, 1e4},
    {"floats", COUNT32, FIELD(n_floats), 1, 1 << 28},
    {"segments", COUNT32, FIELD(n_segments), 0, CLV_SCHED_MAX_SEGMENTS},
    {"calls", COUNT32, FIELD(n_calls), 1, 1e6},
    {"clip", NUMBER, FIELD(clip), 0, 1e3},
    {"seed", COUNT64, FIELD(seed), 0, 1e15},
    {"recv-window", COUNT32, FIELD(limits.recv_window), 1, CLV_EXEC_MAX_WINDOW},
    {"send-window", COUNT32, FIELD(limits.send_window), 1, CLV_EXEC_MAX_WINDOW},
};

/* Windows of one: in a fluid network everything sent ahead takes bandwidth from what is needed now
 * (docs/results/simulation.md). */
static const clv_sim_options_t defaults = {
    .algorithm = "bitset",
    .pattern = "uniform",
    .error = "0",
    .delay_ms = 50,
    .round_factor = 1,
    .n_floats = 524288,
    .n_calls = 5,
    .seed = 1,
    .limits = {.recv_window = 1, .send_window = 1, .sync_every = 8},
};

static const row_t *find_row(const char *argument)
{
    if (strncmp(argument, "--", 2) != 0) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].name, argument + 2) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

static int store_number(const row_t *row, const char *text, void *field)
{
    char *end;
    double value;

    errno = 0;
    value = strtod(text, &end);
    if (end == text || *end != '\0' || errno != 0 || !(value >= row->low && value <= row->high)) {
        return 0;
    }
    if (row->kind == NUMBER) {
        *(double *) field = value;
    } else if (row->kind == COUNT32) {
        *(int32_t *) field = (int32_t) value;
    } else {
        *(int64_t *) field = (int64_t) value;
    }
    return 1;
}

static int store(const row_t *row, char *text, clv_sim_options_t *options)
{
    void *field = (char *) options + row->offset;

    if (row->kind == TEXT) {
        *(const char **) field = text;
        return 1;
    }
    return store_number(row, text, field);
}

/* random, reversed, equal, or a percentage. */
static int error_known(const char *error)
{
    static const row_t percentage = {"error", NUMBER, 0, 0, 1000};
    double unused;

    return strcmp(error, "random") == 0 || strcmp(error, "reversed") == 0 ||
           strcmp(error, "equal") == 0 || store_number(&percentage, error, &unused);
}

static int algorithm_known(const char *algorithm)
{
    return clv_sim_direct_find(algorithm) != NULL || clv_generator_find(algorithm) != NULL;
}

/* What the chooser does not know it does not choose for. */
static int chosen_or_said(const clv_sim_options_t *options)
{
    return clv_sim_direct_find(options->algorithm) != NULL ||
           clv_sim_chosen(options->algorithm) != CLV_ALGORITHM_AUTO ||
           (options->n_segments > 0 && !(options->clip > 0));
}

clv_status_t clv_sim_options_parse(int argc, char **argv, clv_sim_options_t *options_p,
                                   char *reason, size_t reason_bytes)
{
    clv_sim_options_t options = defaults;

    for (int i = 1; i < argc; i += 2) {
        const row_t *row = find_row(argv[i]);
        if (row == NULL || i + 1 == argc || !store(row, argv[i + 1], &options)) {
            (void) snprintf(reason, reason_bytes, "%s '%s'%s",
                            row == NULL ? "unknown option" : "no value, or out of range, for",
                            argv[i], i + 1 < argc && row != NULL ? argv[i + 1] : "");
            return CLV_INVALID;
        }
    }
    if (!algorithm_known(options.algorithm)) {
        (void) snprintf(reason, reason_bytes, "unknown algorithm '%s'", options.algorithm);
        return CLV_INVALID;
    }
    if (!error_known(options.error)) {
        (void) snprintf(reason, reason_bytes,
                        "unknown error '%s': a percentage, random, reversed or equal",
                        options.error);
        return CLV_INVALID;
    }
    if (!chosen_or_said(&options)) {
        (void) snprintf(reason, reason_bytes,
                        "'%s' is no algorithm of the component: it needs --segments, and no --clip",
                        options.algorithm);
        return CLV_INVALID;
    }
    if (options.n_segments > options.n_floats) {
        (void) snprintf(reason, reason_bytes, "more segments than floats");
        return CLV_INVALID;
    }
    *options_p = options;
    return CLV_OK;
}
