/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Synthetic traces from a pattern; see trace_make.h.
 */
#include "apps/trace/trace_make.h"

#include <stdbool.h>
#include <string.h>

#include "util/util_time.h"

#define JITTER_NS  (CLV_NS_PER_MS / 2) /* of the machine, on every arrival and exit */
#define PAUSE_NS   (3 * CLV_NS_PER_MS) /* computation, equal on all ranks */
#define IN_CALL_NS (2 * CLV_NS_PER_MS) /* time in the call of a rank that does not wait */
#define AFTER_NS   (5 * CLV_NS_PER_MS) /* from the last arrival to the exit of ranks that wait */

#define ARRIVAL_SALT UINT64_C(0x61727269766564)
#define EXIT_SALT    UINT64_C(0x657869746564)

clv_status_t clv_trace_coupling_parse(const char *word, clv_trace_coupling_t *coupling)
{
    static const char *const words[] = {
#define CLV_TRACE_COUPLING(name, word, meaning) word,
        CLV_TRACE_COUPLINGS(CLV_TRACE_COUPLING)
#undef CLV_TRACE_COUPLING
    };
    const size_t n_words = sizeof words / sizeof words[0];

    for (size_t i = 0; i < n_words; i++) {
        if (strcmp(words[i], word) == 0) {
            *coupling = (clv_trace_coupling_t) i;
            return CLV_OK;
        }
    }
    return CLV_INVALID;
}

static int64_t jitter_ns(const clv_pattern_t *pattern, uint64_t salt, int32_t call, int32_t rank)
{
    const double part = clv_pattern_random(pattern->seed ^ salt, (uint64_t) call, (uint64_t) rank);

    return (int64_t) (part * (double) JITTER_NS);
}

static int64_t last_of(const int64_t *ns, int32_t n)
{
    int64_t last_ns = ns[0];

    for (int32_t i = 1; i < n; i++) {
        last_ns = ns[i] > last_ns ? ns[i] : last_ns;
    }
    return last_ns;
}

/* Adds the time from which each rank computes for the next call. */
static void add_begins(const clv_trace_t *trace, clv_trace_coupling_t coupling, int64_t *arrival_ns)
{
    const int64_t *exit_ns;
    int64_t last_ns;

    if (trace->n_calls == 0) {
        return;
    }
    exit_ns = clv_trace_exits(trace, trace->n_calls - 1);
    last_ns = last_of(exit_ns, trace->n_ranks);
    for (int32_t rank = 0; rank < trace->n_ranks; rank++) {
        arrival_ns[rank] += coupling == CLV_TRACE_COUPLE_BARRIER ? last_ns : exit_ns[rank];
    }
}

static bool is_held(const clv_pattern_t *pattern, clv_trace_coupling_t coupling, int32_t rank)
{
    return coupling == CLV_TRACE_COUPLE_ALLREDUCE ||
           (coupling == CLV_TRACE_COUPLE_BARRIER && rank == pattern->root);
}

/* Makes the next call; memory is reserved. */
static void make_call(const clv_pattern_t *pattern, clv_trace_coupling_t coupling,
                      clv_trace_t *trace)
{
    const int32_t call = trace->n_calls;
    int64_t *arrival_ns = clv_trace_arrivals(trace, call);
    int64_t *exit_ns = clv_trace_exits(trace, call);
    int64_t last_ns;

    clv_pattern_fill(pattern, call, arrival_ns);
    add_begins(trace, coupling, arrival_ns);
    for (int32_t rank = 0; rank < trace->n_ranks; rank++) {
        arrival_ns[rank] += PAUSE_NS + jitter_ns(pattern, ARRIVAL_SALT, call, rank);
    }
    last_ns = last_of(arrival_ns, trace->n_ranks);
    for (int32_t rank = 0; rank < trace->n_ranks; rank++) {
        exit_ns[rank] = (is_held(pattern, coupling, rank) ? last_ns + AFTER_NS
                                                          : arrival_ns[rank] + IN_CALL_NS) +
                        jitter_ns(pattern, EXIT_SALT, call, rank);
    }
    trace->number[call] = call;
    trace->n_calls++;
}

clv_status_t clv_trace_make(const clv_pattern_t *pattern, clv_trace_coupling_t coupling,
                            int32_t n_calls, clv_trace_t *trace)
{
    clv_trace_t made = {.n_ranks = pattern->n_ranks};
    clv_status_t status = clv_trace_reserve(&made, n_calls);

    if (status != CLV_OK) {
        return status;
    }
    while (made.n_calls < n_calls) {
        make_call(pattern, coupling, &made);
    }
    *trace = made;
    return CLV_OK;
}
