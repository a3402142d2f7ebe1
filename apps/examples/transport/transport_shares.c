/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The uneven source, see the header. The table is used for its own working memory: first the
 * shuffled positions 0 .. n_ranks - 1, then sums of shares.
 */
#include "apps/examples/transport/transport_shares.h"

#include "apps/examples/transport/transport_rng.h"

/* Fisher-Yates; the modulo's bias is far below what a shuffle of ranks could show. */
static void shuffled_positions(int n_ranks, transport_rng_t rng, int64_t *position)
{
    for (int rank = 0; rank < n_ranks; rank++) {
        const int other = (int) (transport_rng_next(&rng) % (uint64_t) (rank + 1));
        position[rank] = position[other];
        position[other] = rank;
    }
}

static double strength(int n_ranks, double uneven, int64_t position)
{
    return n_ranks < 2 ? 1.0 : 1.0 + uneven * (double) position / (n_ranks - 1);
}

void transport_shares(int n_ranks, int64_t n_particles, double uneven, uint64_t seed,
                      uint64_t shuffle, int64_t *first)
{
    const double total = n_ranks < 2 ? 1.0 : n_ranks * (1.0 + 0.5 * uneven);
    double before = 0.0;
    shuffled_positions(n_ranks, transport_rng_stream(~seed, shuffle), first);
    for (int rank = 0; rank < n_ranks; rank++) {
        const double mine = strength(n_ranks, uneven, first[rank]);
        first[rank] = (int64_t) ((double) n_particles * (before / total));
        before += mine;
    }
    first[n_ranks] = n_particles;
}

int64_t transport_shares_largest(int n_ranks, const int64_t *first)
{
    int64_t largest = 0;
    for (int rank = 0; rank < n_ranks; rank++) {
        const int64_t share = first[rank + 1] - first[rank];
        largest = share > largest ? share : largest;
    }
    return largest;
}
