/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Synthetic traces from a pattern: a program that computes (by the pattern), calls, and repeats.
 *
 * What: arrival = begin + pause + delay of the pattern + jitter of the machine. The coupling
 * determines when a rank begins to compute and which ranks wait in a call for the last arrival.
 * Not: a model of any plan or network. Predictors, readers and tests need only plausible times.
 * The same arguments give the same trace on every machine.
 *
 * Units: int64 ns.
 * Errors: CLV_INVALID, CLV_LIMIT, CLV_NO_MEMORY.
 * Memory: the trace is the caller's to clear.
 * Threads: safe.
 */
#ifndef CLV_TRACE_MAKE_H
#define CLV_TRACE_MAKE_H

#include "apps/trace/trace.h"
#include "apps/trace/trace_patterns.h"

/* How the ranks of the program are synchronised in an iteration.
 *   name, word, meaning */
#define CLV_TRACE_COUPLINGS(XX)                                                                    \
    XX(NONE, "none", "each rank continues at its own exit; calls do not synchronise")              \
    XX(BARRIER, "barrier", "all ranks start together when the last has left the previous call")    \
    XX(ALLREDUCE, "allreduce", "each rank continues at its own exit; every call synchronises ranks")

typedef enum clv_trace_coupling {
#define CLV_TRACE_COUPLING(name, word, meaning) CLV_TRACE_COUPLE_##name,
    CLV_TRACE_COUPLINGS(CLV_TRACE_COUPLING)
#undef CLV_TRACE_COUPLING
} clv_trace_coupling_t;

/* CLV_INVALID: no such word. */
clv_status_t clv_trace_coupling_parse(const char *word,
                                      clv_trace_coupling_t *coupling) CLV_MUST_CHECK;

/* n_calls calls of pattern->n_ranks ranks; the caller clears the trace. CLV_INVALID: no calls or
 * ranks; CLV_LIMIT: too many; CLV_NO_MEMORY. */
clv_status_t clv_trace_make(const clv_pattern_t *pattern, clv_trace_coupling_t coupling,
                            int32_t n_calls, clv_trace_t *trace) CLV_MUST_CHECK;

#endif
