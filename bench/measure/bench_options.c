/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line of clv-bench as one table; see bench_options.h.
 */
#include "bench/measure/bench_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum option_kind { TEXT, NUMBER, REAL, FLAG } option_kind_t;

typedef struct option_row {
    const char *name;
    option_kind_t kind;
    size_t offset;
    double min;
    double max;
    const char *default_text;
    const char *meaning;
} option_row_t;

#define AT(field) offsetof(clv_bench_options_t, field)
static const option_row_t rows[] = {
    {"collective", TEXT, AT(collective), 0, 0, "reduce",
     "reduce, allreduce, bcast, barrier, alltoall, allgather, gather, reduce_scatter"},
    {"algorithms", TEXT, AT(algorithms), 0, 0, "default", "list; the first is the baseline"},
    {"patterns", TEXT, AT(patterns), 0, 0, "balanced", "list of arrival patterns"},
    {"sizes", TEXT, AT(sizes), 0, 0, "2M", "list of bytes per vector or block, with K, M, G"},
    {"delay", TEXT, AT(delay), 0, 0, "50ms",
     "list of largest delays: 50ms, 200us, 0.1s, 1.5x the\n"
     "                          baseline's balanced run time"},
    {"jitter", REAL, AT(jitter), 0, 1, "0.01", "of lasting patterns, as a part of the delay"},
    {"type", TEXT, AT(element), 0, 0, "double", "int32, int64, float, double"},
    {"op", TEXT, AT(operation), 0, 0, "sum", "sum, max, min"},
    {"root", NUMBER, AT(root), 0, 1e6, "0", "the root's rank"},
    {"iterations", NUMBER, AT(iterations), 1, 1e6, "30", "measured calls of each algorithm"},
    {"warmup", NUMBER, AT(warmup), 0, 1e6, "10", "calls before them, in the same pattern"},
    {"balanced-calls", NUMBER, AT(balanced), 0, 1e6, "5",
     "balanced calls first: t0 of the overlap benefit"},
    {"seconds", NUMBER, AT(seconds), 0, 1e6, "0", "end a configuration after so long; 0 is never"},
    {"loop", FLAG, AT(is_loop), 0, 0, NULL,
     "ranks run by themselves: each computes, calls, goes on; delays are\n"
     "                              computing times. The options up to --spin belong to it"},
    {"couple", TEXT, AT(couple), 0, 0, "none",
     "in each iteration besides: none, bcast, barrier, allreduce"},
    {"compute", TEXT, AT(compute), 0, 0, "50ms",
     "what every rank computes, to which the pattern adds; as --delay"},
    {"blocks", NUMBER, AT(blocks), 0, 1e4, "10", "of each algorithm; they take turns"},
    {"block-calls", NUMBER, AT(block_calls), 2, 1e5, "40", "of a block"},
    {"lead-calls", NUMBER, AT(lead_calls), 0, 1e5, "20", "of them that do not count"},
    {"starts", NUMBER, AT(starts), 1, 1000, "1",
     "new communicators and an opening of --warmup calls, 20 at least,\n"
     "                              the first 20 reported apart"},
    {"spin", FLAG, AT(is_spinning), 0, 0, NULL, "computing takes a processor instead of sleeping"},
    {"sync", TEXT, AT(sync), 0, 0, "round-time", "round-time, window, barrier, dissemination"},
    {"window", NUMBER, AT(window_us), 1, 1e9, "500000", "us between starts, for sync window"},
    {"clock", TEXT, AT(clock), 0, 0, "auto", "realtime, a method like hca3, or auto"},
    {"seed", NUMBER, AT(seed), 0, 9e15, "1", "of patterns and order"},
    {"json", TEXT, AT(json), 0, 0, NULL, "append a line per result to this file; - is stdout"},
    {"nonblocking", FLAG, AT(nonblocking), 0, 0, NULL, "the nonblocking form, then wait"},
    {"warm-learners", FLAG, AT(warm_learners), 0, 0, NULL,
     "all of --warmup for clv only, which learns; 2 for others"},
    {"keep-order", FLAG, AT(keep_order), 0, 0, NULL, "do not shuffle algorithms in each iteration"},
    {"strict", FLAG, AT(strict), 0, 0, NULL, "exit 3 when the processors set the figures"},
    {"help", FLAG, AT(wants_help), 0, 0, NULL, "this text"},
};
#define N_ROWS (sizeof rows / sizeof rows[0])

void clv_bench_options_help(void)
{
    printf("usage: mpirun [...] clv-bench [--option value ...]\n");
    for (size_t i = 0; i < N_ROWS; i++) {
        printf("  --%-16s %-10s %s\n", rows[i].name,
               rows[i].default_text ? rows[i].default_text : "", rows[i].meaning);
    }
}

static void *field(clv_bench_options_t *options, const option_row_t *row)
{
    return (char *) options + row->offset;
}

static clv_status_t store_value(clv_bench_options_t *options, const option_row_t *row,
                                const char *text)
{
    char *end = NULL;

    if (row->kind == TEXT) {
        *(const char **) field(options, row) = text;
        return CLV_OK;
    }
    const double value = strtod(text, &end);
    if (end == text || *end || !(value >= row->min && value <= row->max)) {
        return CLV_INVALID;
    }
    if (row->kind == REAL) {
        *(double *) field(options, row) = value;
        return CLV_OK;
    }
    *(int64_t *) field(options, row) = (int64_t) value;
    return value - floor(value) > 0.0 ? CLV_INVALID : CLV_OK;
}

static const option_row_t *find_row(const char *word)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        if (!strncmp(word, "--", 2) && !strcmp(word + 2, rows[i].name)) {
            return &rows[i];
        }
    }
    return NULL;
}

clv_status_t clv_bench_options_parse(int argc, char **argv, clv_bench_options_t *options_p,
                                     char *reason, size_t reason_bytes)
{
    clv_bench_options_t options = {0};

    for (size_t i = 0; i < N_ROWS; i++) {
        if (rows[i].default_text && store_value(&options, &rows[i], rows[i].default_text)) {
            return CLV_INVALID;
        }
    }
    for (int i = 1; i < argc; i++) {
        const option_row_t *row = find_row(argv[i]);
        if (!row) {
            snprintf(reason, reason_bytes, "unknown option '%s' (--help lists them)", argv[i]);
            return CLV_INVALID;
        }
        if (row->kind == FLAG) {
            *(int *) field(&options, row) = 1;
        } else if (i + 1 == argc) {
            snprintf(reason, reason_bytes, "%s needs a value", argv[i]);
            return CLV_INVALID;
        } else if (store_value(&options, row, argv[++i]) != CLV_OK) {
            snprintf(reason, reason_bytes, "--%s must be %s%.15g to %.15g, not '%s'", row->name,
                     row->kind == NUMBER ? "a whole number, " : "", row->min, row->max, argv[i]);
            return CLV_INVALID;
        }
    }
    *options_p = options;
    return CLV_OK;
}

clv_status_t clv_bench_parse_size(const char *text, size_t *bytes_p)
{
    char *end;
    const double value = strtod(text, &end);
    const char *units = "KMG";
    double scale = 1.0;

    if (end == text) {
        return CLV_INVALID;
    }
    if (*end && strchr(units, *end)) {
        scale = ldexp(1.0, 10 * (int) (strchr(units, *end) - units + 1));
        end++;
    }
    if (*end || !(value >= 0.0 && value * scale <= 0x1p40)) {
        return CLV_INVALID;
    }
    *bytes_p = (size_t) (value * scale);
    return CLV_OK;
}

clv_status_t clv_bench_parse_delay(const char *text, int64_t *ns_p, double *factor_p)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1.0}, {"x", 0.0}};
    char *end;
    const double value = strtod(text, &end);

    for (size_t i = 0; end != text && i < sizeof units / sizeof units[0]; i++) {
        if (!strcmp(end, units[i].unit) && value >= 0.0 && value * units[i].ns <= 1e12 &&
            value <= 1e12) {
            *ns_p = (int64_t) (value * units[i].ns);
            *factor_p = *end == 'x' ? value : 0.0;
            return CLV_OK;
        }
    }
    return CLV_INVALID;
}

int clv_bench_list_item(const char *list, int index, char *buffer, size_t buffer_bytes)
{
    while (index-- > 0) {
        list = strchr(list, ',');
        if (!list) {
            return 0;
        }
        list++;
    }
    const size_t length = strcspn(list, ",");
    if (length >= buffer_bytes) {
        return 0;
    }
    memcpy(buffer, list, length);
    buffer[length] = '\0';
    return 1;
}
