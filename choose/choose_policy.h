/* SPDX-License-Identifier: BSD-3-Clause
 *
 * All numbers of the choice: XX(name, value, unit, meaning). docs/design/ablation.md says what
 * moving each of them does, and which of them only emulated hosts can judge. Not: bounds of memory
 * and arithmetic, which stand beside their code; nor users' parameters (choose_parameters.h).
 *
 * PURE: constants.
 */
#ifndef CLV_CHOOSE_POLICY_H
#define CLV_CHOOSE_POLICY_H

/* clang-format off */
#define CLV_POLICY_MAP(XX) \
    XX(SURE_SETS,                4, "record sets",    "with fewer, sigma is a guess and decoupled ranks do not show yet") \
    XX(CLIP_SIGMAS,              4, "sigma",          "a rank is expected this many after its predicted arrival, not before") \
    XX(CLEAR_PERMILLE,         950, "of a score",     "a clear gain: replaces the running choice, and wins a trial at an equal iteration time") \
    XX(LATE_VECTORS,             2, "vectors' time",  "a rank this long after all others is far late") \
    XX(IN_MPI_WEIGHT,            8, "part",           "a second of all ranks in MPI counts as this part of a second after the last arrival") \
    XX(PRESUMED_PERMILLE,      500, "of an estimate", "lower bound of a factor that was never measured") \
    XX(AGAIN_FORECASTS,          8, "forecasts",      "after these a plan measured once is unknown again; and a plan that synchronises over shared links is estimated again") \
    XX(BOTH_WAYS_BYTES,      65536, "bytes",          "of Open MPI's allreduce travel both ways at once; twice as many more wait for their receiver") \
    XX(WAITING_PERMILLE,       300, "of a message",   "longer, for each BOTH_WAYS_BYTES that wait") \
    XX(TREES_MIN_RANKS,         32, "ranks",          "of helper trees: below, TCP takes longer than estimated") \
    XX(TREES_HOPS,               4, "messages",       "of a rank must take as long as the bytes for helper trees") \
    XX(LEAST_SEGMENT_BYTES,   4096, "bytes",          "smallest segment of a plan") \
    XX(NEAR_COUNTS,              7, "segments",       "additional counts tried for a forced plan by rounds") \
    XX(FEW_CELLS,             8192, "cells",          "ranks times segments of a plan that costs little to make; without a forecast classic ones are compared up to there") \
    XX(FREE_SETS,               16, "record sets",    "ranks once seen decoupled count as decoupled for these") \
    XX(CHANGE_CALLS,             2, "calls",          "after a change of algorithm do not count") \
    XX(PAUSE_TIMES,              2, "times",          "the usual is a pause") \
    XX(BLOCK_CALLS,             10, "calls",          "of a block, at least; fewer differ more") \
    XX(ODD_PERMILLE,           120, "of iterations",  "a block this far from the others is odd") \
    XX(ODD_BLOCKS,               2, "blocks",         "this many odd ones in a row mean another program") \
    XX(BUDGET_PERMILLE,          4, "of the time",    "may be lost to trials") \
    XX(BETTER_PERMILLE,        990, "of iterations",  "of one block, then of three, wins a trial") \
    XX(NOISE_PERMILLE,          20, "of iterations",  "counts as scatter of blocks at most, and in the summary at least; a plan this close to computing has nothing to gain") \
    XX(WAITS_PERMILLE,         800, "of time in MPI", "or less: ranks wait less") \
    XX(FIRST_WAIT,              64, "calls",          "before a choice that failed is tried again; doubled each time") \
/* clang-format on */

enum {
#define CLV_POLICY_ENUM(name, value, unit, meaning) CLV_POLICY_##name = (value),
    CLV_POLICY_MAP(CLV_POLICY_ENUM)
#undef CLV_POLICY_ENUM
};

#endif
