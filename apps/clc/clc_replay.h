/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The passes of the clock where several programs share a trace: each has some of its lines and
 * replays what they communicated. A message's stamp goes from its sender's program to its
 * receiver's. What enters of a collective leave for its exits is a maximum, which programs work out
 * together; each collective also has a home, the program that knows all of its members, where they
 * are counted and each enter learns the latest time it may have.
 *
 * Not: what carries stamps (apps/tools/replay/). A trace here is of one of two kinds. Part: the
 * tracks of a program, the messages and collectives they take part in, and of those the members
 * here. Home: collectives with all their members, no tracks.
 *
 * Units: as in clc.h.
 * Errors: none.
 * Memory: all the caller's.
 * Threads: one.
 */
#ifndef CLV_CLC_REPLAY_H
#define CLV_CLC_REPLAY_H

#include <stdbool.h>

#include "apps/clc/clc.h"

typedef enum clv_clc_wait {
    CLV_CLC_GO_ON, /* something came */
    CLV_CLC_STUCK, /* nobody goes on, and somebody has events left */
    CLV_CLC_ENDED  /* nobody has */
} clv_clc_wait_t;

/* What the forward pass asks of those who carry stamps. */
typedef struct clv_clc_replay {
    void *context;
    /* No stamp is known yet. Whether all are ready; is_ready: whether we are. */
    bool (*begin)(void *context, const clv_clc_config_t *config, bool is_ready);
    /* A send has its corrected time, or an enter that somebody waits for. */
    void (*tell)(void *context, const clv_clc_event_t *event);
    /* Nothing goes on here. */
    clv_clc_wait_t (*wait)(void *context, bool has_left);
    /* All are stuck: which of them has the earliest event, on the track of the smallest number?
     * event: NULL where none is left. *broken: ours, then the chosen one. true: it is ours, and
     * what is known of what it waits for is in its message or member. */
    bool (*choose)(void *context, const clv_clc_event_t *event, clv_clc_broken_t *broken);
} clv_clc_replay_t;

/* ---- a part ---- */

/* From then on the exit waits for nobody. */
void clv_clc_replay_exit(const clv_clc_trace_t *part, uint64_t collective, uint32_t member,
                         int64_t earliest);

/* Of most collectives it is enough to know the latest enter of all, and that of other hosts than
 * its: parts meet on a tree. Not of prefix operations, nor where members of a host are in several
 * programs; those need a home. */
bool clv_clc_replay_is_prefix(const clv_clc_collective_t *collective);
/* So many more parts come from others. Whether all is known: that of our members and theirs. */
bool clv_clc_replay_begin(const clv_clc_trace_t *part, uint64_t collective, int32_t n_more);
/* An enter that was told, as a part; and taking one in. */
clv_clc_extreme_t clv_clc_replay_enter(const clv_clc_trace_t *part, const clv_clc_event_t *event);
bool clv_clc_replay_take(const clv_clc_trace_t *part, uint64_t collective,
                         const clv_clc_extreme_t *extreme);
/* The extreme is that of all: exits here. */
void clv_clc_replay_settle(const clv_clc_trace_t *part, const clv_clc_config_t *config,
                           uint64_t collective);
/* By the enters that have a time here, for an exit of a member on host that must not wait any
 * longer. numbers: of the members here, by which prefix operations go. */
int64_t clv_clc_replay_known(const clv_clc_trace_t *part, const clv_clc_config_t *config,
                             uint64_t collective, const uint32_t *numbers, uint32_t member,
                             int32_t host);

/* ---- at home; tell: the exit of a member waits for nobody from now on ---- */
typedef void (*clv_clc_tell_exit_t)(void *context, const clv_clc_collective_t *collective,
                                    uint32_t member, int64_t earliest);

typedef struct clv_clc_home {
    const clv_clc_trace_t *trace;
    const clv_clc_config_t *config;
    clv_clc_tell_exit_t tell;
    void *context;
} clv_clc_home_t;

/* Nothing is known yet; tells exits that wait for nobody. */
void clv_clc_home_begin(const clv_clc_home_t *home, uint64_t collective);
void clv_clc_home_take(const clv_clc_home_t *home, uint64_t collective, uint32_t member,
                       int64_t enter);
/* After the forward pass, with exits in members: enters become the latest that they may be;
 * INT64_MAX: nobody waits. */
void clv_clc_home_limit(const clv_clc_home_t *home, uint64_t collective);

#endif
