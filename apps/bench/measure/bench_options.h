/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line of clv-bench as a table of cli_options.h, and texts with units. No MPI.
 */
#ifndef CLV_BENCH_OPTIONS_H
#define CLV_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apps/cli/cli_options.h"
#include "util/util_status.h"

typedef struct clv_bench_options {
    const char *collective;
    const char *algorithms; /* comma separated; the first is the baseline of the ratios */
    const char *patterns;
    const char *sizes;
    const char *delay;
    const char *element;
    const char *operation;
    const char *sync;
    const char *clock;
    const char *timer; /* NULL: monotonic, unless the clock is realtime */
    const char *window_rule;
    const char *scheme;
    const char *cache;
    const char *couple;  /* loop: further synchronisation in an iteration */
    const char *compute; /* loop: computing time of every rank, as a delay */
    const char *json;    /* file to append to, or NULL */
    const char *xdr;     /* as json */
    int64_t root;
    int64_t iterations;
    int64_t warmup;
    int64_t balanced; /* calls of the balanced run that starts each configuration */
    int64_t seconds;  /* per configuration; 0: no limit */
    int64_t blocks;   /* loop: per algorithm */
    int64_t block_calls;
    int64_t lead_calls; /* calls of a block that do not count */
    int64_t starts;     /* loop: number of starts from an unlearnt state */
    int64_t window_us;
    int64_t least;    /* rounds before precision may end a configuration */
    int64_t in_row;   /* consecutive calls in schemes that time them together */
    double precision; /* sufficient relative standard error */
    int64_t seed;
    double jitter;
    bool is_loop;
    bool is_spinning; /* loop: computing uses the processor */
    bool nonblocking;
    bool warm_learners; /* full warm-up only for algorithms that learn from their calls */
    bool keep_order;    /* algorithms in the order given instead of shuffled per iteration */
    bool shuffles;      /* configurations in an order drawn from the seed, not as given */
    bool per_rank;      /* arrivals and exits of every rank in the JSON lines */
    bool is_check;      /* a loop with its own preset and output, see bench_report.h */
    bool strict;        /* exit 3 if the processors, not the network, determine the figures */
} clv_bench_options_t;

/* Of clv_bench_options_t. */
extern const clv_option_t clv_bench_option_rows[];

/* "2M", "64K", "1024": bytes. "50ms", "200us", "0.2s": ns; "1.5x": a multiple of the balanced run
 * time, with ns 0 and factor set. CLV_INVALID otherwise. */
clv_status_t clv_bench_parse_size(const char *text, size_t *bytes_p) CLV_MUST_CHECK;
clv_status_t clv_bench_parse_delay(const char *text, int64_t *ns_p,
                                   double *factor_p) CLV_MUST_CHECK;

/* Copies item number `index` of a comma separated list into buffer; false if there is none. Items
 * cannot contain a comma. */
bool clv_bench_list_item(const char *list, int index, char *buffer, size_t buffer_bytes);

#endif
