/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Radix-K over public point to point; the picture is in bench_radix.h.
 */
#include "apps/bench/measure/bench_radix.h"

#include <stdint.h>
#include <string.h>

#include "util/util_alloc.h"

enum { TAG_SHARE = 121, TAG_GATHER = 122 };

typedef struct piece {
    int first;
    int count;
} piece_t;

/* State of a running reduce. */
typedef struct run {
    const clv_radix_t *radix;
    char *in;              /* count + n_ranks elements: parts of a piece differ by at most one */
    MPI_Request *requests; /* 2 * n_ranks */
    int n_requests;
    int status;
} run_t;

/* The largest preferred size that fits, or the smallest prime factor. */
static int group_size(int n_left, int largest)
{
    int k = largest;

    while (k > 1 && n_left % k != 0) {
        k--;
    }
    for (int factor = largest + 1; k <= 1; factor++) {
        k = n_left % factor == 0 ? factor : 1;
    }
    return k;
}

static piece_t part_of(piece_t whole, int part, int n_parts)
{
    const int from = (int) ((int64_t) whole.count * part / n_parts);
    const int to = (int) ((int64_t) whole.count * (part + 1) / n_parts);

    return (piece_t){whole.first + from, to - from};
}

/* The piece that a rank has after all digits. */
static piece_t last_piece(const clv_radix_t *radix, int rank)
{
    piece_t piece = {0, radix->count};
    int k;

    for (int n_left = radix->n_ranks; n_left > 1; n_left /= k, rank /= k) {
        k = group_size(n_left, radix->largest_group);
        piece = part_of(piece, rank % k, k);
    }
    return piece;
}

static char *element(const clv_radix_t *radix, void *buffer, int index)
{
    return (char *) buffer + (size_t) index * radix->item;
}

static void note(run_t *run, int status)
{
    run->status = run->status == MPI_SUCCESS ? status : run->status;
}

static void receive(run_t *run, void *to, int count, int peer, int tag)
{
    note(run, MPI_Irecv(to, count, run->radix->type, peer, tag, run->radix->comm,
                        &run->requests[run->n_requests++]));
}

static void send(run_t *run, piece_t piece, int peer, int tag)
{
    const clv_radix_t *radix = run->radix;

    note(run, MPI_Isend(element(radix, radix->vector, piece.first), piece.count, radix->type, peer,
                        tag, radix->comm, &run->requests[run->n_requests++]));
}

static void wait_all(run_t *run)
{
    note(run, MPI_Waitall(run->n_requests, run->requests, MPI_STATUSES_IGNORE));
    run->n_requests = 0;
}

/* One digit: the group's members are stride apart; this one is number mine of k. */
static piece_t share_out(run_t *run, piece_t piece, int stride, int k)
{
    const clv_radix_t *radix = run->radix;
    const int mine = radix->rank / stride % k;
    const piece_t kept = part_of(piece, mine, k);
    char *target = element(radix, radix->vector, kept.first);

    for (int i = 1; i < k; i++) {
        const int to = (mine + i) % k;
        const int from = (mine + k - i) % k;
        receive(run, element(radix, run->in, (i - 1) * kept.count), kept.count,
                radix->rank + (from - mine) * stride, TAG_SHARE);
        send(run, part_of(piece, to, k), radix->rank + (to - mine) * stride, TAG_SHARE);
    }
    wait_all(run);
    for (int i = 0; i + 1 < k; i++) {
        note(run, MPI_Reduce_local(element(radix, run->in, i * kept.count), target, kept.count,
                                   radix->type, radix->operation));
    }
    return kept;
}

static void gather(run_t *run, piece_t piece)
{
    const clv_radix_t *radix = run->radix;

    if (radix->rank != radix->root) {
        send(run, piece, radix->root, TAG_GATHER);
    } else {
        memcpy(element(radix, radix->sum, piece.first), element(radix, radix->vector, piece.first),
               (size_t) piece.count * radix->item);
    }
    for (int p = 0; p < radix->n_ranks && radix->rank == radix->root; p++) {
        const piece_t from = last_piece(radix, p);
        if (p != radix->root) {
            receive(run, element(radix, radix->sum, from.first), from.count, p, TAG_GATHER);
        }
    }
    wait_all(run);
}

int clv_radix_reduce(const clv_radix_t *radix)
{
    run_t run = {.radix = radix, .status = MPI_SUCCESS};
    piece_t piece = {0, radix->count};
    int status = MPI_ERR_NO_MEM;
    int k;

    run.in = clv_alloc((size_t) radix->count + (size_t) radix->n_ranks, radix->item);
    run.requests = clv_alloc(2 * (size_t) radix->n_ranks, sizeof(MPI_Request));
    if (run.in != NULL && run.requests != NULL) {
        for (int stride = 1; stride < radix->n_ranks; stride *= k) {
            k = group_size(radix->n_ranks / stride, radix->largest_group);
            piece = share_out(&run, piece, stride, k);
        }
        gather(&run, piece);
        status = run.status;
    }
    clv_free(run.requests);
    clv_free(run.in);
    return status;
}
