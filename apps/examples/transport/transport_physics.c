/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One particle at a time, analogue (no weights, no variance reduction): each collision scores as it
 * happens. See the header for units and for the exact results.
 */
#include "apps/examples/transport/transport.h"

#include <math.h>

/* ---- random numbers
 *
 * They depend on the particle and the number of draws, not on the rank: every particle owns the
 * stream (seed, particle). So one rank alone reproduces the work of many.
 *
 * splitmix64 (Steele, Lea, Flood 2014): a counter and a mixing function. Not for cryptography. No
 * state but the stream on the caller's stack; thread-safe. About 1 ns per number. */

typedef struct rng {
    uint64_t counter;
} rng_t;

static uint64_t rng_mix(uint64_t bits)
{
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bits ^ (bits >> 31);
}

/* Mixed twice: neighbouring particles must not start at neighbouring counters. */
static rng_t rng_stream(uint64_t seed, uint64_t particle)
{
    return (rng_t){rng_mix(rng_mix(seed) + particle)};
}

static uint64_t rng_next(rng_t *rng)
{
    rng->counter += UINT64_C(0x9e3779b97f4a7c15);
    return rng_mix(rng->counter);
}

/* Uniform in (0, 1]: never 0, so its logarithm is finite. */
static double rng_uniform(rng_t *rng)
{
    return ((double) (rng_next(rng) >> 11) + 1.0) * 0x1p-53;
}

/* ---- one particle --------------------------------------------------------------------------- */

typedef struct particle {
    double at[3];
    double direction[3];
    int64_t n_collisions;
} particle_t;

static int64_t n_cells(const transport_box_t *box)
{
    return box->cells[0] * box->cells[1] * box->cells[2];
}

size_t transport_tally_items(const transport_box_t *box)
{
    return TRANSPORT_N_SCORES * (size_t) n_cells(box);
}

static particle_t born(const transport_box_t *box, rng_t *rng)
{
    const double x = box->thickness * rng_uniform(rng);
    const double y = box->thickness * rng_uniform(rng);
    return (particle_t){.at = {x, y, 0.0}, .direction = {0.0, 0.0, 1.0}};
}

static void fly(particle_t *particle, rng_t *rng)
{
    const double distance = -log(rng_uniform(rng));
    for (int axis = 0; axis < 3; axis++) {
        particle->at[axis] += distance * particle->direction[axis];
    }
}

static int is_inside(const transport_box_t *box, const particle_t *particle)
{
    for (int axis = 0; axis < 3; axis++) {
        if (particle->at[axis] < 0.0 || particle->at[axis] >= box->thickness) {
            return 0;
        }
    }
    return 1;
}

static void scatter(particle_t *particle, rng_t *rng)
{
    const double pi = 3.14159265358979323846;
    const double cosine = 2.0 * rng_uniform(rng) - 1.0;
    const double sine = sqrt(1.0 - cosine * cosine);
    const double azimuth = 2.0 * pi * rng_uniform(rng);
    particle->direction[0] = sine * cos(azimuth);
    particle->direction[1] = sine * sin(azimuth);
    particle->direction[2] = cosine;
}

/* at / thickness can round up to 1 just inside the far face: clamp to the last cell. */
static int64_t cell_along(const transport_box_t *box, const particle_t *particle, int axis)
{
    const int64_t cell =
        (int64_t) (particle->at[axis] / box->thickness * (double) box->cells[axis]);
    return cell < box->cells[axis] ? cell : box->cells[axis] - 1;
}

static void score(const transport_box_t *box, const particle_t *particle, double *tally)
{
    const int64_t cell = cell_along(box, particle, 0) +
                         box->cells[0] * (cell_along(box, particle, 1) +
                                          box->cells[1] * cell_along(box, particle, 2));
    tally[TRANSPORT_SCORE_COLLISIONS * n_cells(box) + cell] += 1.0;
    if (particle->n_collisions == 1) {
        tally[TRANSPORT_SCORE_FIRST * n_cells(box) + cell] += 1.0;
    }
}

static void follow_one(const transport_box_t *box, rng_t rng, double *tally,
                       transport_fates_t *fates)
{
    particle_t particle = born(box, &rng);
    fates->started++;
    for (;;) {
        fly(&particle, &rng);
        if (!is_inside(box, &particle)) {
            fates->leaked++;
            fates->uncollided += (particle.n_collisions == 0);
            return;
        }
        particle.n_collisions++;
        score(box, &particle, tally);
        if (rng_uniform(&rng) > box->scatter) {
            fates->absorbed++;
            return;
        }
        scatter(&particle, &rng);
    }
}

void transport_follow(const transport_box_t *box, uint64_t seed, int64_t first, int64_t n,
                      double *tally, transport_fates_t *fates)
{
    for (int64_t particle = first; particle < first + n; particle++) {
        follow_one(box, rng_stream(seed, (uint64_t) particle), tally, fates);
    }
}

double transport_transmission_deviation(const transport_box_t *box, const transport_fates_t *fates)
{
    const double n = (double) fates->started;
    const double exact = exp(-box->thickness);
    const double sigma = sqrt(exact * (1.0 - exact) / n);
    return ((double) fates->uncollided / n - exact) / sigma;
}

static double first_collisions_in_layer(const transport_box_t *box, const double *tally,
                                        int64_t layer)
{
    const int64_t n_in_layer = box->cells[0] * box->cells[1];
    const double *cell = tally + TRANSPORT_SCORE_FIRST * n_cells(box) + layer * n_in_layer;
    double sum = 0.0;
    for (int64_t i = 0; i < n_in_layer; i++) {
        sum += cell[i];
    }
    return sum;
}

double transport_profile_deviation(const transport_box_t *box, const double *tally, int64_t started)
{
    const double n_layers = (double) box->cells[2];
    const double width = box->thickness / n_layers;
    double chi2 = 0.0;
    for (int64_t layer = 0; layer < box->cells[2]; layer++) {
        const double depth = width * (double) layer;
        const double expected = (double) started * (exp(-depth) - exp(-(depth + width)));
        const double found = first_collisions_in_layer(box, tally, layer);
        chi2 += (found - expected) * (found - expected) / expected;
    }
    return (chi2 - n_layers) / sqrt(2.0 * n_layers);
}

/* ---- the source. The table serves as working memory: first the shuffled positions 0 .. n_ranks -
 * 1, then sums of shares. */

/* Fisher-Yates; the bias of the modulo is negligible for a shuffle of ranks. */
static void shuffled_positions(int n_ranks, rng_t rng, int64_t *position)
{
    for (int rank = 0; rank < n_ranks; rank++) {
        const int other = (int) (rng_next(&rng) % (uint64_t) (rank + 1));
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
    shuffled_positions(n_ranks, rng_stream(~seed, shuffle), first);
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
