/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who follows which particles of a batch. The source is uneven: the strongest rank has 1 + uneven
 * times the particles of the weakest, the others lie evenly between, and which rank is which is
 * shuffled (seed, shuffle), so that rank order says nothing about lateness.
 *
 * Every rank computes the same table. n_ranks doubles of memory during the call; O(n_ranks).
 */
#ifndef TRANSPORT_SHARES_H
#define TRANSPORT_SHARES_H

#include <stdint.h>

/* first[r] .. first[r + 1] - 1 are the particles of rank r; first has n_ranks + 1 items and ends in
 * n_particles. */
void transport_shares(int n_ranks, int64_t n_particles, double uneven, uint64_t seed,
                      uint64_t shuffle, int64_t *first);

/* The largest share in the table. */
int64_t transport_shares_largest(int n_ranks, const int64_t *first);

#endif
