/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Radix-K over public point to point; the picture is in sim_radix_k.h.
 */
#include "bench/sim/sim_radix_k.h"

#include <mpi.h>
#include <string.h>

#include "util/util_alloc.h"

#define TAG_SHARE  21
#define TAG_GATHER 22
#define MAX_GROUP  8 /* the largest preferred size: every member has this many flows at a time */

typedef struct piece {
    int32_t first;
    int32_t n_floats;
} piece_t;

/* Everything a rank needs while it runs. */
typedef struct radix {
    const clv_sim_call_t *call;
    float *in;             /* n_floats + n_ranks: parts of a piece differ by one float at most */
    MPI_Request *requests; /* 2 * n_ranks */
    int n_requests;
} radix_t;

/* A preferred size, or the smallest prime factor. */
static int group_size(int n_left)
{
    int k = MAX_GROUP;

    while (k > 1 && n_left % k != 0) {
        k--;
    }
    for (int factor = MAX_GROUP + 1; k <= 1; factor++) {
        k = n_left % factor == 0 ? factor : 1;
    }
    return k;
}

static piece_t part_of(piece_t whole, int part, int n_parts)
{
    int32_t from = (int32_t) ((int64_t) whole.n_floats * part / n_parts);
    int32_t to = (int32_t) ((int64_t) whole.n_floats * (part + 1) / n_parts);

    return (piece_t){whole.first + from, to - from};
}

/* What a rank has when all digits are done. */
static piece_t last_piece(const clv_sim_call_t *call, int rank)
{
    piece_t piece = {0, call->n_floats};
    int k;

    for (int n_left = call->n_ranks; n_left > 1; n_left /= k, rank /= k) {
        k = group_size(n_left);
        piece = part_of(piece, rank % k, k);
    }
    return piece;
}

static void receive(radix_t *radix, float *to, int32_t n_floats, int peer, int tag)
{
    MPI_Irecv(to, n_floats, MPI_FLOAT, peer, tag, MPI_COMM_WORLD,
              &radix->requests[radix->n_requests++]);
}

static void send(radix_t *radix, piece_t piece, int peer, int tag)
{
    MPI_Isend(radix->call->vector + piece.first, piece.n_floats, MPI_FLOAT, peer, tag,
              MPI_COMM_WORLD, &radix->requests[radix->n_requests++]);
}

static void wait_all(radix_t *radix)
{
    MPI_Waitall(radix->n_requests, radix->requests, MPI_STATUSES_IGNORE);
    radix->n_requests = 0;
}

/* One digit: the group's members are stride apart, this one is number mine of k. */
static piece_t share_out(radix_t *radix, piece_t piece, int stride, int k)
{
    const clv_sim_call_t *call = radix->call;
    int mine = call->rank / stride % k;
    piece_t kept = part_of(piece, mine, k);

    for (int i = 1; i < k; i++) {
        int to = (mine + i) % k, from = (mine + k - i) % k;
        receive(radix, radix->in + (size_t) (i - 1) * (size_t) kept.n_floats, kept.n_floats,
                call->rank + (from - mine) * stride, TAG_SHARE);
        send(radix, part_of(piece, to, k), call->rank + (to - mine) * stride, TAG_SHARE);
    }
    wait_all(radix);
    for (int64_t i = 0; i < (int64_t) (k - 1) * kept.n_floats; i++) {
        call->vector[kept.first + i % kept.n_floats] += radix->in[i];
    }
    return kept;
}

static void gather(radix_t *radix, piece_t piece)
{
    const clv_sim_call_t *call = radix->call;

    if (call->rank == 0) {
        memcpy(call->sum + piece.first, call->vector + piece.first,
               (size_t) piece.n_floats * sizeof *call->sum);
    } else {
        send(radix, piece, 0, TAG_GATHER);
    }
    for (int p = 1; p < call->n_ranks && call->rank == 0; p++) {
        piece_t from = last_piece(call, p);
        receive(radix, call->sum + from.first, from.n_floats, p, TAG_GATHER);
    }
    wait_all(radix);
}

clv_status_t clv_sim_radix_k(const clv_sim_call_t *call)
{
    radix_t radix = {.call = call};
    piece_t piece = {0, call->n_floats};
    clv_status_t status = CLV_NO_MEMORY;
    int k;

    radix.in = clv_alloc((size_t) call->n_floats + (size_t) call->n_ranks, sizeof *radix.in);
    radix.requests = clv_alloc(2 * (size_t) call->n_ranks, sizeof(MPI_Request));
    if (radix.in != NULL && radix.requests != NULL) {
        for (int stride = 1; stride < call->n_ranks; stride *= k) {
            k = group_size(call->n_ranks / stride);
            piece = share_out(&radix, piece, stride, k);
        }
        gather(&radix, piece);
        status = CLV_OK;
    }
    clv_free(radix.requests);
    clv_free(radix.in);
    return status;
}
