/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums over calls: by stream, by rank, over time (see view.h). apps/trace/trace_numbers.c evaluates
 * single calls.
 */
#include "apps/tools/view/view.h"

#include <stdlib.h>
#include <string.h>

#include "util/util_alloc.h"
#include "util/util_min_max.h"
#include "util/util_text.h"

#define N_PARTS ((int32_t) (sizeof((view_counts_t *) 0)->spreads / sizeof(double)))

void view_stream_name(const view_t *view, int32_t stream, char *name, size_t size)
{
    const view_stream_t *one = &view->streams[stream];
    const clv_clva_op_row_t *op = &clv_clva_ops[one->key.op];
    const view_comm_t *comm = &view->comms[one->comm];
    char root[24] = "", bytes[40] = "", call[CLV_CLVA_CALL_NAME_BYTES];
    const char *planned = comm->how == CLV_CLVA_HOW_BLOCKING ? "" : ", not planned";

    clv_clva_call_name(&one->key, call, sizeof call);
    if (op->has_root) {
        (void) snprintf(root, sizeof root, ", root %d", (int) one->key.root);
    }
    if (op->equal_bytes && one->key.op != CLV_CLVA_OP_BARRIER) {
        (void) snprintf(bytes, sizeof bytes, " %lld B", (long long) one->key.bytes);
    }
    (void) snprintf(name, size, "%s%s on %s%s%s", call, bytes,
                    comm->name[0] != '\0' ? comm->name : "a communicator", root, planned);
    clv_text_cut(name, size - 1);
}

bool view_is_whole(const view_comm_t *comm, int32_t call)
{
    const int64_t *arrival_ns = comm->arrival_ns + (size_t) call * (size_t) comm->n_ranks;

    for (int32_t i = 0; i < comm->n_ranks; i++) {
        if (arrival_ns[i] == CLV_NUMBERS_NO_TIME) {
            return false;
        }
    }
    return true;
}

static void forget_waits(int32_t n_ranks, clv_numbers_rank_t *ranks, clv_numbers_call_t *numbers)
{
    for (int32_t i = 0; i < n_ranks; i++) {
        ranks[i].wait_ns = ranks[i].in_mpi_ns = 0;
    }
    numbers->wait_ns = numbers->in_mpi_ns = 0;
}

/* One call's cells as the numbers want them; scratch is one row of 64-bit numbers for each of bound
 * and predicted. */
void view_numbers(const view_comm_t *comm, int32_t call, clv_numbers_rank_t *ranks,
                  clv_numbers_call_t *numbers)
{
    const size_t n = (size_t) comm->n_ranks, first = (size_t) call * n;
    int64_t *scratch = clv_alloc_unset(2 * n, sizeof *scratch);

    if (scratch == NULL) {
        *numbers = (clv_numbers_call_t){.last_rank = -1};
        return;
    }
    const clv_numbers_times_t times = {.n_ranks = comm->n_ranks,
                                       .arrival_ns = comm->arrival_ns + first,
                                       .exit_ns = comm->exit_ns + first,
                                       .before_ns = comm->before_ns + first,
                                       .bound_ns = scratch,
                                       .predicted_ns = scratch + n};
    for (size_t i = 0; i < n; i++) {
        const uint32_t predicted_ns = comm->predicted_ns[first + i];
        scratch[i] = comm->bound_ns[first + i];
        scratch[n + i] =
            predicted_ns == CLV_CLVA_NO_FORECAST ? CLV_NUMBERS_NO_TIME : (int64_t) predicted_ns;
    }
    clv_numbers_of_call(&times, ranks, numbers);
    if (comm->how != CLV_CLVA_HOW_BLOCKING) {
        forget_waits(comm->n_ranks, ranks, numbers);
    }
    clv_free(scratch);
}

/* Means hold sums until finish. */
static void add_to_stream(view_stream_count_t *stream, const view_comm_t *comm,
                          const clv_numbers_call_t *call)
{
    stream->n_calls++;
    stream->n_incomplete += call->n_present < comm->n_ranks;
    stream->n_named += call->last_rank >= 0;
    stream->wait_ns += call->wait_ns;
    stream->in_mpi_ns += call->in_mpi_ns;
    stream->spread_ns += (double) call->spread_ns;
    stream->after_ns += (double) call->after_ns;
    stream->bound_ns = clv_larger(stream->bound_ns, call->bound_ns);
    if (call->error_ns >= 0) {
        stream->n_predicted++;
        stream->error_ns += (double) call->error_ns;
    }
}

static void add_to_ranks(view_rank_count_t *counts, const view_comm_t *comm, int32_t call_at,
                         const clv_numbers_rank_t *ranks, const clv_numbers_call_t *call)
{
    const int64_t *arrival_ns = comm->arrival_ns + (size_t) call_at * (size_t) comm->n_ranks;

    for (int32_t i = 0; i < comm->n_ranks; i++) {
        view_rank_count_t *count = &counts[comm->members[i]];
        if (arrival_ns[i] == CLV_NUMBERS_NO_TIME) {
            continue;
        }
        count->n_calls++;
        count->n_last += call->last_rank == i;
        count->lateness_ns += (double) ranks[i].lateness_ns;
        count->n_parts += call->has_parts;
        count->own_ns += (double) ranks[i].own_ns;
        count->inherited_ns += (double) ranks[i].inherited_ns;
        count->wait_ns += ranks[i].wait_ns;
        count->in_mpi_ns += ranks[i].in_mpi_ns;
    }
}

/* The position of a call between the first and the last one, for the curve of spreads. */
typedef struct span {
    int64_t first_ns, end_ns;
    int64_t n[N_PARTS];
} span_t;

static void add_spread(view_counts_t *counts, span_t *span, const clv_numbers_call_t *call)
{
    const double width = (double) (span->end_ns - span->first_ns) + 1;
    const int32_t part = (int32_t) ((double) (call->first_ns - span->first_ns) / width * N_PARTS);
    const int32_t at = part < 0 ? 0 : part >= N_PARTS ? N_PARTS - 1 : part;

    counts->spreads[at] += (double) call->spread_ns;
    span->n[at]++;
}

static void find_span(const view_t *view, span_t *span)
{
    *span = (span_t){.first_ns = INT64_MAX, .end_ns = INT64_MIN};
    for (int32_t k = 0; k < view->n_comms; k++) {
        const view_comm_t *comm = &view->comms[k];
        const size_t n_cells = (size_t) comm->n_calls * (size_t) comm->n_ranks;
        for (size_t i = 0; i < n_cells; i++) {
            if (comm->arrival_ns[i] != CLV_NUMBERS_NO_TIME) {
                span->first_ns = clv_smaller(span->first_ns, comm->arrival_ns[i]);
                span->end_ns = clv_larger(span->end_ns, comm->exit_ns[i]);
            }
        }
    }
}

static bool count_comm(const view_t *view, const view_comm_t *comm, view_counts_t *counts,
                       span_t *span)
{
    clv_numbers_rank_t *ranks = clv_alloc((size_t) comm->n_ranks, sizeof *ranks);
    clv_numbers_call_t call;

    (void) view;
    if (ranks == NULL) {
        return false;
    }
    for (int32_t i = 0; i < comm->n_calls; i++) {
        view_numbers(comm, i, ranks, &call);
        if (call.n_present < 2) {
            continue;
        }
        add_to_stream(&counts->streams[comm->stream[i]], comm, &call);
        if (comm->how == CLV_CLVA_HOW_BLOCKING) {
            add_to_ranks(counts->ranks, comm, i, ranks, &call);
            add_spread(counts, span, &call);
        }
    }
    clv_free(ranks);
    return true;
}

static int most_lost_first(const void *a, const void *b)
{
    const view_stream_count_t *one = a, *other = b;

    if (one->wait_ns != other->wait_ns) {
        return one->wait_ns > other->wait_ns ? -1 : 1;
    }
    if (one->n_calls != other->n_calls) {
        return one->n_calls > other->n_calls ? -1 : 1;
    }
    return one->stream - other->stream;
}

static void finish_stream(const view_t *view, view_counts_t *counts, view_stream_count_t *stream)
{
    const double n = stream->n_calls > 0 ? (double) stream->n_calls : 1;

    stream->spread_ns /= n;
    stream->after_ns /= n;
    stream->error_ns /= stream->n_predicted > 0 ? (double) stream->n_predicted : 1;
    if (view->streams[stream->stream].key.how != CLV_CLVA_HOW_BLOCKING) {
        counts->n_requests += stream->n_calls;
        counts->n_request_streams += stream->n_calls > 0;
        return;
    }
    counts->n_calls += stream->n_calls;
    counts->n_incomplete += stream->n_incomplete;
    counts->n_named += stream->n_named;
    counts->wait_ns += stream->wait_ns;
    counts->in_mpi_ns += stream->in_mpi_ns;
}

static void finish(const view_t *view, view_counts_t *counts, const span_t *span)
{
    for (int32_t i = 0; i < view->n_streams; i++) {
        finish_stream(view, counts, &counts->streams[i]);
    }
    for (int32_t i = 0; i < view->n_ranks; i++) {
        view_rank_count_t *rank = &counts->ranks[i];
        rank->lateness_ns /= rank->n_calls > 0 ? (double) rank->n_calls : 1;
        rank->own_ns /= rank->n_parts > 0 ? (double) rank->n_parts : 1;
        rank->inherited_ns /= rank->n_parts > 0 ? (double) rank->n_parts : 1;
        counts->n_dropped += view->n_dropped[i];
    }
    counts->run_ns = view->n_cells > 0 ? span->end_ns - span->first_ns : 0;
    for (int32_t i = 0; i < N_PARTS; i++) { /* parts without calls are dropped */
        if (span->n[i] > 0) {
            counts->spreads[counts->n_spreads++] = counts->spreads[i] / (double) span->n[i];
        }
    }
    qsort(counts->streams, (size_t) view->n_streams, sizeof *counts->streams, most_lost_first);
}

bool view_count(const view_t *view, view_counts_t *counts)
{
    span_t span;
    bool done = true;

    *counts = (view_counts_t){0};
    counts->streams = clv_alloc((size_t) view->n_streams + 1, sizeof *counts->streams);
    counts->ranks = clv_alloc((size_t) view->n_ranks, sizeof *counts->ranks);
    if (counts->streams == NULL || counts->ranks == NULL) {
        return false;
    }
    for (int32_t i = 0; i < view->n_streams; i++) {
        counts->streams[i].stream = i;
    }
    find_span(view, &span);
    for (int32_t i = 0; i < view->n_comms && done; i++) {
        done = count_comm(view, &view->comms[i], counts, &span);
    }
    finish(view, counts, &span);
    return done && view_find_blame(view, counts);
}

void view_counts_free(view_counts_t *counts)
{
    clv_free(counts->streams);
    clv_free(counts->ranks);
}
