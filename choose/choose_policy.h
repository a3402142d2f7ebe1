/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The numbers of the choice, all of them: XX(name, value, unit, what it decides). Each is here for
 * something that gets worse without it (docs/design/ablation.md). Not: bounds of memory and of
 * arithmetic, which are beside what they bound; nor what users set (choose_parameters.h).
 *
 * PURE: constants.
 */
#ifndef CLV_CHOOSE_POLICY_H
#define CLV_CHOOSE_POLICY_H

/* clang-format off */
#define CLV_POLICY_MAP(XX) \
    XX(SURE_SETS,                4, "record sets",    "a sigma of fewer is a guess, and ranks do not show before whether they are decoupled") \
    XX(CLIP_SIGMAS,              4, "sigma",          "nobody is expected before so many after its predicted arrival") \
    XX(CLEAR_PERMILLE,         950, "of a score",     "clearly less: leaves what runs, and wins a trial at an equal iteration time") \
    XX(LEAVE_HOSTS_PERMILLE,  1050, "of a score",     "less than that of the previous function takes host_chains: whole vectors inside hosts take longer than estimated") \
    XX(MOST_TRUST,              10, "times",          "what the guard allows, at most: what a trusted plan may lose") \
    XX(LATE_VECTORS,             2, "vectors' time",  "so long after all others a rank is far late") \
    XX(IN_MPI_WEIGHT,            8, "part",           "a second of all in MPI counts as that part of one after") \
    XX(PRESUMED_PERMILLE,      500, "of an estimate", "a factor that was never measured is no less") \
    XX(RETRY_FORECASTS,          8, "forecasts",      "a plan that was measured once is unknown after so many") \
    XX(BOTH_WAYS_BYTES,      65536, "bytes",          "of Open MPI's allreduce travel both ways at once; twice as many more wait for their receiver") \
    XX(WAITING_PERMILLE,       300, "of a message",   "longer, for each BOTH_WAYS_BYTES that wait") \
    XX(TREES_MIN_RANKS,         32, "ranks",          "of helper trees: below, TCP takes longer than estimated") \
    XX(TREES_HOPS,               4, "messages",       "of a rank must take as long as the bytes for helper trees") \
    XX(LEAST_SEGMENT_BYTES,   4096, "bytes",          "no plan is made of smaller segments") \
    XX(NEAR_COUNTS,              7, "segments",       "more are tried of a plan by rounds that is forced") \
    XX(FEW_CELLS,             8192, "cells",          "ranks times segments of a plan that costs little to make") \
    XX(CLASSIC_FORECASTS,        8, "forecasts",      "where links are shared, plans that bind are estimated once in so many") \
    XX(FREE_SETS,               16, "record sets",    "for which a sight of decoupled ranks counts") \
    XX(FREE_PERMILLE,          970, "of iterations",  "wins for a plan that follows arrivals where ranks are decoupled; and no plan is faster than computing") \
    XX(CHANGE_CALLS,             2, "calls",          "after a change of algorithm do not count") \
    XX(PAUSE_TIMES,              2, "times",          "the usual is a pause") \
    XX(PAUSE_PART,               4, "part",           "of what many calls usually take must a pause among them be") \
    XX(BLOCK_CALLS,             10, "calls",          "of a block, at least; fewer differ more") \
    XX(ODD_PERMILLE,           120, "of iterations",  "a block that far from the others is odd") \
    XX(ODD_BLOCKS,               2, "blocks",         "odd on end are another program") \
    XX(BUDGET_PERMILLE,          4, "of the time",    "may be lost to trials") \
    XX(FIRST_CALLS,             20, "calls",          "nothing is tried in them") \
    XX(BETTER_PERMILLE,        990, "of iterations",  "of one block, then of three, wins a trial") \
    XX(NOISE_PERMILLE,          20, "of iterations",  "counts as scatter of blocks at most, and in the summary at least") \
    XX(WAITS_PERMILLE,         800, "of time in MPI", "or less: ranks wait less") \
    XX(FIRST_WAIT,              64, "calls",          "until what was tried in vain is tried again, twice as many each time") \
    XX(COMPARED_CALLS,           3, "calls",          "of fewer the summary says nothing")
/* clang-format on */

enum {
#define CLV_POLICY_ENUM(name, value, unit, meaning) CLV_POLICY_##name = (value),
    CLV_POLICY_MAP(CLV_POLICY_ENUM)
#undef CLV_POLICY_ENUM
};

#endif
