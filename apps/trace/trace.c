/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A trace in memory, and its writer; see trace.h.
 */
#include "apps/trace/trace.h"

#include <string.h>

#include "util/util_alloc.h"

/* ---- memory ---------------------------------------------------------------------------------- */

void clv_trace_clear(clv_trace_t *trace)
{
    clv_free(trace->number);
    clv_free(trace->arrival_ns);
    clv_free(trace->exit_ns);
    *trace = (clv_trace_t){0};
}

int32_t clv_trace_max_calls(int32_t n_ranks)
{
    int64_t by_cells = CLV_TRACE_MAX_CELLS / n_ranks;

    return by_cells < CLV_TRACE_MAX_CALLS ? (int32_t) by_cells : CLV_TRACE_MAX_CALLS;
}

static clv_status_t check_size(int32_t n_ranks, int32_t n_calls)
{
    if (n_ranks < 1 || n_calls < 1) {
        return CLV_INVALID;
    }
    return n_ranks <= CLV_TRACE_MAX_RANKS && n_calls <= clv_trace_max_calls(n_ranks) ? CLV_OK
                                                                                     : CLV_LIMIT;
}

static void copy_calls(clv_trace_t *to, const clv_trace_t *from)
{
    size_t n_cells = (size_t) from->n_calls * (size_t) from->n_ranks;

    if (n_cells > 0) {
        memcpy(to->number, from->number, (size_t) from->n_calls * sizeof *to->number);
        memcpy(to->arrival_ns, from->arrival_ns, n_cells * sizeof *to->arrival_ns);
        memcpy(to->exit_ns, from->exit_ns, n_cells * sizeof *to->exit_ns);
    }
}

clv_status_t clv_trace_reserve(clv_trace_t *trace, int32_t max_calls)
{
    clv_status_t status = check_size(trace->n_ranks, max_calls);
    clv_trace_t larger = *trace;
    size_t n_cells = (size_t) max_calls * (size_t) trace->n_ranks;

    if (status != CLV_OK || max_calls <= trace->max_calls) {
        return status;
    }
    larger.max_calls = max_calls; /* so that clear frees only new memory */
    larger.number = clv_alloc((size_t) max_calls, sizeof *larger.number);
    larger.arrival_ns = clv_alloc(n_cells, sizeof *larger.arrival_ns);
    larger.exit_ns = clv_alloc(n_cells, sizeof *larger.exit_ns);
    if (larger.number == NULL || larger.arrival_ns == NULL || larger.exit_ns == NULL) {
        clv_trace_clear(&larger);
        return CLV_NO_MEMORY;
    }
    copy_calls(&larger, trace);
    clv_trace_clear(trace);
    *trace = larger;
    return CLV_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put_times(FILE *file, const int64_t *times_ns, int32_t n_ranks)
{
    fputs(" |", file);
    for (int32_t rank = 0; rank < n_ranks; rank++) {
        fprintf(file, " %lld", (long long) times_ns[rank]);
    }
}

void clv_trace_write_head(FILE *file, int32_t n_ranks)
{
    fprintf(file, "clv-trace %d\nranks %d\n", CLV_TRACE_VERSION, n_ranks);
}

void clv_trace_write_about(FILE *file, const char *key, const char *text)
{
    fprintf(file, "about %s %s\n", key, text);
}

void clv_trace_write_call(FILE *file, int32_t n_ranks, int64_t number, const int64_t *arrival_ns,
                          const int64_t *exit_ns)
{
    fprintf(file, "call %lld", (long long) number);
    put_times(file, arrival_ns, n_ranks);
    put_times(file, exit_ns, n_ranks);
    fputc('\n', file);
}

clv_status_t clv_trace_write(FILE *file, const clv_trace_t *trace)
{
    clv_trace_write_head(file, trace->n_ranks);
    for (int32_t call = 0; call < trace->n_calls; call++) {
        clv_trace_write_call(file, trace->n_ranks, trace->number[call],
                             clv_trace_arrivals(trace, call), clv_trace_exits(trace, call));
    }
    return fflush(file) == 0 && !ferror(file) ? CLV_OK : CLV_SYSTEM;
}
