/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line, as one table: a new option is one row.
 */
#ifndef TRANSPORT_OPTIONS_H
#define TRANSPORT_OPTIONS_H

#include <stdint.h>
#include <stdio.h>

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
typedef const char *transport_text_t; /* one of argv, or NULL: not given */
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

#endif
