/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arrival traces for clv-predict: one stream's calls on all ranks, as text.
 *
 *      clv-trace 1
 *      ranks 4
 *      # anything
 *      call 0 | 0 120 95 4000 | 4400 4210 4180 4700
 *
 * One line per call: its number (ascending, from 0 up), arrivals by rank, exits by rank, in global
 * ns. At most CLV_TRACE_MAX_RANKS ranks. Made from a seed by clv_trace_make, or recorded.
 */
#ifndef CLV_TRACE_H
#define CLV_TRACE_H

#include <stdint.h>
#include <stdio.h>

#include "util/util_status.h"

#define CLV_TRACE_MAX_RANKS 65536
#define CLV_TRACE_MAX_CALLS 1000000

typedef struct trace {
    int32_t n_ranks;
    int32_t n_calls;
    int32_t max_calls;
    int64_t *number;     /* by call */
    int64_t *arrival_ns; /* [call][rank] */
    int64_t *exit_ns;
} clv_trace_t;

/* CLV_PROTOCOL: malformed; *line_p and *reason_p tell where and why. CLV_NO_MEMORY. */
clv_status_t clv_trace_read(FILE *file, clv_trace_t *trace, int *line_p,
                            const char **reason_p) CLV_MUST_CHECK;
void clv_trace_write(FILE *file, const clv_trace_t *trace);
void clv_trace_clear(clv_trace_t *trace);

/* The patterns of measuring, in one table. CLV_INVALID: unknown name or impossible sizes. */
typedef struct trace_pattern {
    const char *name;
    const char *meaning;
} clv_trace_made_t;
extern const clv_trace_made_t clv_trace_made[]; /* ends with a NULL name */
clv_status_t clv_trace_make(const char *pattern, int32_t n_ranks, int32_t n_calls, uint64_t seed,
                            clv_trace_t *trace) CLV_MUST_CHECK;

#endif
