/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the files of the example: its options, its physics, the assignment of particles to
 * ranks, and its reports.
 */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- transport_options.c: the command line, as one table: a new option is one row. */

/* clang-format off */
/*     kind  name          default  least  most   meaning; TEXT: not given if not given */
#define TRANSPORT_OPTION_MAP(XX)                                                                   \
    XX(WHOLE, batches,      20,      1,    1e6,   "batches; each ends in one MPI_Reduce")          \
    XX(WHOLE, warmup,       5,       0,    1e6,   "first batches left out of the summary")         \
    XX(WHOLE, particles,    200000,  1,    1e12,  "particles per batch, all ranks together")       \
    XX(REAL,  uneven,       1,       0,    1e3,   "strongest rank's source: 1 + this x weakest's") \
    XX(FLAG,  fresh,        0,       0,    1,     "shuffle the source strengths anew every batch") \
    XX(FLAG,  free,         0,       0,    1,     "count batches instead of waiting for the root's decision") \
    XX(REAL,  pace,         0,       0,    1e6,   "ms: the strongest rank sleeps this in place of computing") \
    XX(REAL,  thickness,    3,       0.01, 50,    "side of the box, mean free paths")              \
    XX(REAL,  scatter,      0.5,     0,    0.99,  "probability that a collision scatters")         \
    XX(WHOLE, cells_x,      64,      1,    4096,  "tally cells along x")                           \
    XX(WHOLE, cells_y,      64,      1,    4096,  "tally cells along y")                           \
    XX(WHOLE, cells_z,      32,      1,    4096,  "tally cells along z")                           \
    XX(WHOLE, root,         0,       0,    1e6,   "rank that collects the tally")                  \
    XX(WHOLE, seed,         1,       0,    1e15,  "random seed")                                   \
    XX(FLAG,  common_clock, 0,       0,    1,     "ranks share CLOCK_REALTIME: show the time after the last") \
    XX(TEXT,  trace,        0,       0,    1,     "file for the arrivals at every reduce, for clv-predict") \
    XX(FLAG,  no_serial,    0,       0,    1,     "skip the serial run that the tally is compared with") \
    XX(FLAG,  quiet,        0,       0,    1,     "no line per batch")
/* clang-format on */

typedef int64_t transport_whole_t;
typedef double transport_real_t;
typedef int64_t transport_flag_t;
typedef const char *transport_text_t; /* points into argv; NULL: not given */
#define TRANSPORT_TYPE_WHOLE transport_whole_t
#define TRANSPORT_TYPE_REAL  transport_real_t
#define TRANSPORT_TYPE_FLAG  transport_flag_t
#define TRANSPORT_TYPE_TEXT  transport_text_t

typedef struct transport_options {
#define TRANSPORT_OPTION_FIELD(kind, name, preset, least, most, meaning) TRANSPORT_TYPE_##kind name;
    TRANSPORT_OPTION_MAP(TRANSPORT_OPTION_FIELD)
#undef TRANSPORT_OPTION_FIELD
} transport_options_t;

/* Fills the options from "--name value", "--name=value" and "--flag" ("-" and "_" are the same in
 * a name). Returns NULL, or what is wrong as a line for the user (static memory, not thread-safe).
 */
const char *transport_options_parse(int argc, char **argv, transport_options_t *options);

/* One line per option: name, default, range, meaning. */
void transport_options_help(FILE *out);

/* ---- transport_physics.c
 *
 * The physics: particles enter a box of one material through its face z = 0, flying along +z, and
 * are followed until they are absorbed or leave. Pure functions of (seed, particle number).
 *
 * Lengths are in mean free paths (the total cross section is 1). The box is a cube of side
 * `thickness`. At a collision a particle scatters (isotropically) with probability `scatter`, else
 * it is absorbed.
 *
 * Scores: every collision adds 1 to the cell it happens in, a particle's first collision also to
 * the cell's second score. They are whole numbers in doubles, so sums below 2^53 are exact and do
 * not depend on the order of summation: a reduce must give the serial result bit by bit.
 *
 * Known exactly for any scattering: the fraction that crosses without a collision is
 * exp(-thickness), and the fraction with a first collision between depths a and b is exp(-a) -
 * exp(-b). */

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

/* ---- and its source
 *
 * Assigns the particles of a batch to ranks. The source is uneven: the strongest rank has 1 +
 * uneven times the particles of the weakest, the others lie evenly between, and which rank is which
 * is shuffled (seed, shuffle), so that rank order says nothing about lateness.
 *
 * Every rank computes the same table. n_ranks doubles of memory during the call; O(n_ranks). */

/* first[r] .. first[r + 1] - 1 are the particles of rank r; first has n_ranks + 1 items and ends in
 * n_particles. */
void transport_shares(int n_ranks, int64_t n_particles, double uneven, uint64_t seed,
                      uint64_t shuffle, int64_t *first);

/* The largest share in the table. */
int64_t transport_shares_largest(int n_ranks, const int64_t *first);

/* ---- transport_report.c
 *
 * The output: one line per batch, a summary, and one line for programs. Printed on the root rank
 * only, after the batches, so that it disturbs no measurement.
 *
 * A rank knows how long it was inside MPI_Reduce. The last arrival is known only if the ranks share
 * a clock (--common-clock); otherwise that column shows "-". Times are seconds in doubles, as
 * MPI_Wtime gives them; printed in ms. */

/* One rank's times of one batch. */
typedef struct transport_times {
    double enter; /* MPI_Reduce entered and left; on CLOCK_REALTIME with --common-clock */
    double leave;
    double batch; /* from the start of the batch to the next one */
} transport_times_t;

#define TRANSPORT_TIMES_DOUBLES 3

/* Results of the self-check; 0 in a field is good. */
typedef struct transport_verdict {
    double transmission_deviation; /* in standard deviations, see above */
    double profile_deviation;
    int64_t n_unbalanced; /* started - leaked - absorbed */
    int64_t n_differing;  /* tally items that differ from the serial run; -1: not compared */
} transport_verdict_t;

/* The first problem as text; NULL: none. */
const char *transport_verdict_problem(const transport_verdict_t *verdict);

/* times[rank * n_batches + batch]. */
void transport_report(const transport_options_t *options, int n_ranks,
                      const transport_times_t *times, const transport_fates_t *fates,
                      const transport_verdict_t *verdict);

/* ---- and the trace
 *
 * Writes when each rank entered and left every reduce, as a trace that clv-predict replays: how
 * well would the arrivals of this program have been predicted? Root only, after the batches.
 *
 * Nanoseconds since the first rank entered the first reduce, on the clock of --common-clock. A
 * double of seconds since 1970 resolves 240 ns, far below the error of a prediction. */

/* times[rank * n_batches + batch]. Returns 0 if the file could not be written. */
int transport_trace_write(FILE *file, const transport_options_t *options, int n_ranks,
                          const transport_times_t *times);

#endif
