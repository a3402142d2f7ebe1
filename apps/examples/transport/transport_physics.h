/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The physics: particles enter a box of one material through its face z = 0, under_way along +z,
 * and are followed until they are absorbed or leave. Pure functions of (seed, particle number).
 *
 * Lengths are in mean free paths (the total cross section is 1). The box is a cube of side
 * `thickness`. At a collision a particle scatters (isotropically) with probability `scatter`, else
 * it is absorbed.
 *
 * Scores: every collision adds 1 to the cell it happens in, a particle's first collision also to
 * the cell's second score. They are whole numbers in doubles, so sums below 2^53 are exact and do
 * not depend on the order of summation: a reduce must give the serial result bit by bit.
 *
 * Known exactly, whatever the scattering: the part that crosses without a collision is
 * exp(-thickness), and first collisions between depths a and b are exp(-a) - exp(-b) of all.
 */
#ifndef TRANSPORT_PHYSICS_H
#define TRANSPORT_PHYSICS_H

#include <stddef.h>
#include <stdint.h>

enum { TRANSPORT_SCORE_COLLISIONS, TRANSPORT_SCORE_FIRST, TRANSPORT_N_SCORES };

typedef struct transport_box {
    double thickness; /* mean free paths, > 0 */
    double scatter;   /* 0 .. < 1 */
    int64_t cells[3]; /* tally cells along x, y, z; >= 1 */
} transport_box_t;

/* How particles ended. */
typedef struct transport_fates {
    int64_t started;
    int64_t uncollided; /* left at z = thickness without a collision; also counted in leaked */
    int64_t leaked;
    int64_t absorbed;
} transport_fates_t;

/* Doubles in a tally: cells in x-fastest order, one block per score. */
size_t transport_tally_items(const transport_box_t *box);

/* Follows particles first .. first + n - 1 and adds to tally and fates. */
void transport_follow(const transport_box_t *box, uint64_t seed, int64_t first, int64_t n,
                      double *tally, transport_fates_t *fates);

/* (measured - exact) / standard deviation of the uncollided transmission. */
double transport_transmission_deviation(const transport_box_t *box, const transport_fates_t *fates);

/* Chi-square of the first collisions per layer of cells in z against the exact profile, as
 * (chi2 - layers) / sqrt(2 layers): about a standard normal number when the tally is right. */
double transport_profile_deviation(const transport_box_t *box, const double *tally,
                                   int64_t started);

#endif
