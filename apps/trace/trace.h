/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The trace module: the times at which ranks entered and left a collective, call by call. PURE: no
 * MPI, no threads, no clock.
 *
 * What: the format of recorded arrivals (docs/guide/trace.md), its reader and writer; a table of
 * arrival patterns (trace_patterns.h); whole traces made from them (trace_make.h).
 * Not: event timelines, whose clocks are corrected afterwards; nor the recording itself.
 *
 *      clv-trace 1
 *      ranks 4
 *      about collective reduce
 *      call 0 | 0 120 95 4000 | 4400 4210 4180 4700
 *
 * Units: int64 ns on one clock for all ranks, from any origin; ranks and calls count from 0.
 * Errors: CLV_INVALID, CLV_LIMIT, CLV_NO_MEMORY, CLV_PROTOCOL with line and reason, CLV_SYSTEM.
 * Memory: 16 bytes per call and rank, freed by clv_trace_clear.
 * Threads: safe on distinct objects.
 */
#ifndef CLV_TRACE_H
#define CLV_TRACE_H

#include <stdint.h>
#include <stdio.h>

#include "util/util_status.h"

#define CLV_TRACE_VERSION   1
#define CLV_TRACE_MAX_RANKS 65536
#define CLV_TRACE_MAX_CALLS 1000000
#define CLV_TRACE_MAX_CELLS (INT64_C(1) << 27) /* calls times ranks; at the limit 2 GiB of memory */
#define CLV_TRACE_MAX_NS    (INT64_C(1) << 60) /* limit of any time, either sign */
#define CLV_TRACE_MAX_LINE  (1 << 22)          /* bytes of a line: room for two times per rank */

/* One stream: calls of one collective on one communicator. {0} is empty; clv_trace_clear frees. */
typedef struct clv_trace {
    int32_t n_ranks;
    int32_t n_calls;
    int32_t max_calls;
    int64_t *number;     /* by call, ascending, from 0; a gap is a call that was not recorded */
    int64_t *arrival_ns; /* [call][rank] */
    int64_t *exit_ns;    /* [call][rank], not before the arrival */
} clv_trace_t;

/* The most calls that a trace of n_ranks ranks (1 .. CLV_TRACE_MAX_RANKS) may have. */
int32_t clv_trace_max_calls(int32_t n_ranks);

/* Makes room for max_calls calls in total and keeps those present. n_ranks is set before the first
 * call of this. CLV_INVALID: no ranks or calls; CLV_LIMIT: more than a trace may have;
 * CLV_NO_MEMORY. A failure changes nothing. */
clv_status_t clv_trace_reserve(clv_trace_t *trace, int32_t max_calls) CLV_MUST_CHECK;
void clv_trace_clear(clv_trace_t *trace);

/* The times of one call, by rank. */
static inline int64_t *clv_trace_arrivals(const clv_trace_t *trace, int32_t call)
{
    return trace->arrival_ns + (int64_t) call * trace->n_ranks;
}
static inline int64_t *clv_trace_exits(const clv_trace_t *trace, int32_t call)
{
    return trace->exit_ns + (int64_t) call * trace->n_ranks;
}

/* NULL with a reason (overwritten by the next call, or by strerror). A named FIFO is refused, since
 * it may never get a writer. A shell's pipes, /dev/fd/N, are read. */
FILE *clv_trace_open(const char *path, const char **reason_p);

/* Reads the whole file into *trace, which need not be initialised and is the caller's to clear.
 * Memory grows with the calls in the file, not with the number it announces. *line_p is the line
 * where the reader stopped, *reason_p the reason (static text). CLV_PROTOCOL: malformed;
 * CLV_NO_MEMORY; CLV_SYSTEM: the file cannot be read, with errno and no reason. */
clv_status_t clv_trace_read(FILE *file, clv_trace_t *trace, int *line_p,
                            const char **reason_p) CLV_MUST_CHECK;

/* Head and calls, written one by one, so that a recorder needs no whole trace in memory. Errors
 * stay in the file (ferror). */
void clv_trace_write_head(FILE *file, int32_t n_ranks);
void clv_trace_write_about(FILE *file, const char *key, const char *text); /* before the calls */
void clv_trace_write_call(FILE *file, int32_t n_ranks, int64_t number, const int64_t *arrival_ns,
                          const int64_t *exit_ns);

/* Writes a whole trace. CLV_SYSTEM: part of it could not be written. */
clv_status_t clv_trace_write(FILE *file, const clv_trace_t *trace) CLV_MUST_CHECK;

#endif
