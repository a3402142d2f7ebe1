/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The passes of the clock if several programs share a trace: each has some of the lines and replays
 * their communication. A message's stamp goes from its sender's program to its receiver's. The
 * exits of a collective need the maximum of its enters, which the programs compute together. Each
 * collective also has a home, the program that knows all of its members; it counts violations and
 * computes the latest time that each enter may have.
 *
 * Not: the transport of stamps (apps/tools/replay/). A trace here is of one of two kinds. Part: the
 * tracks of a program, their messages and collectives, and of those the members here. Home:
 * collectives with all their members, no tracks.
 *
 * Units: as in clc.h.
 * Errors: none.
 * Memory: the caller's.
 * Threads: one.
 */
#ifndef CLV_CLC_REPLAY_H
#define CLV_CLC_REPLAY_H

#include <stdbool.h>

#include "apps/clc/clc.h"

typedef enum clv_clc_wait {
    CLV_CLC_GO_ON, /* a stamp has arrived */
    CLV_CLC_STUCK, /* no program can proceed, and some have events left */
    CLV_CLC_ENDED  /* no program has events left */
} clv_clc_wait_t;

/* What the forward pass needs from the transport of stamps. */
typedef struct clv_clc_replay {
    void *context;
    /* Called before any stamp is known. is_ready: this program's; returns whether all are ready. */
    bool (*begin)(void *context, const clv_clc_config_t *config, bool is_ready);
    /* A send, or an enter that others wait for, has its corrected time. */
    void (*tell)(void *context, const clv_clc_event_t *event);
    /* No line can proceed here. */
    clv_clc_wait_t (*wait)(void *context, bool has_left);
    /* All programs are stuck: finds the earliest event of all, at equal times on the lowest track.
     * event: NULL if none is left. *broken: ours, then the chosen one. True: ours was chosen, and
     * its message or member holds what is known of the sends it waits for. */
    bool (*choose)(void *context, const clv_clc_event_t *event, clv_clc_broken_t *broken);
} clv_clc_replay_t;

/* ---- a part ---- */

/* The exit waits for nothing from now on. */
void clv_clc_replay_exit(const clv_clc_trace_t *part, uint64_t collective, uint32_t member,
                         int64_t earliest);

/* For most collectives it suffices to know the latest enter of all members, and the latest on other
 * hosts than that one's: a tree of programs combines them. Prefix operations, and hosts whose
 * members are in several programs, need a home. */
bool clv_clc_replay_is_prefix(const clv_clc_collective_t *collective);
/* n_more parts come from other programs. Returns whether all enters are known, ours and theirs. */
bool clv_clc_replay_begin(const clv_clc_trace_t *part, uint64_t collective, int32_t n_more);
/* An enter with its corrected time, as a part; and merging a part. */
clv_clc_extreme_t clv_clc_replay_enter(const clv_clc_trace_t *part, const clv_clc_event_t *event);
bool clv_clc_replay_take(const clv_clc_trace_t *part, uint64_t collective,
                         const clv_clc_extreme_t *extreme);
/* The extreme covers all members: releases the exits here. */
void clv_clc_replay_settle(const clv_clc_trace_t *part, const clv_clc_config_t *config,
                           uint64_t collective);
/* The limit from the enters that have a time here, for an exit of a member on host that must not
 * wait any longer. numbers: of the members here, for prefix operations. */
int64_t clv_clc_replay_known(const clv_clc_trace_t *part, const clv_clc_config_t *config,
                             uint64_t collective, const uint32_t *numbers, uint32_t member,
                             int32_t host);

/* ---- at home; tell: the exit of a member waits for nothing from now on ---- */
typedef void (*clv_clc_tell_exit_t)(void *context, const clv_clc_collective_t *collective,
                                    uint32_t member, int64_t earliest);

typedef struct clv_clc_home {
    const clv_clc_trace_t *trace;
    const clv_clc_config_t *config;
    clv_clc_tell_exit_t tell;
    void *context;
} clv_clc_home_t;

/* No enter is known yet; releases the exits that wait for none. */
void clv_clc_home_begin(const clv_clc_home_t *home, uint64_t collective);
void clv_clc_home_take(const clv_clc_home_t *home, uint64_t collective, uint32_t member,
                       int64_t enter);
/* After the forward pass, with exits in members: replaces each enter by its latest permitted time;
 * INT64_MAX: no receiver waits. */
void clv_clc_home_limit(const clv_clc_home_t *home, uint64_t collective);

#endif
