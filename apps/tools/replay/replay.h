/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct-mpi: what its files share. Each process has the locations of some clocks, whole, and
 * of a trace what these take part in; it is the home of a share of the collectives
 * (apps/clc/clc_replay.h). What stamps travel by: one at a time in the forward pass
 * (replay_forward.c), all in a row where their order does not matter (replay_packets.c).
 *
 * Units: ticks. Threads: one calls MPI. Memory: replay_close frees it.
 */
#ifndef CLV_REPLAY_H
#define CLV_REPLAY_H

#include <mpi.h>
#include <stdbool.h>

#include "apps/clc/clc_replay.h"
#include "apps/tools/correct/correct_crew.h"

/* Who has members of a communicator. */
typedef struct replay_team {
    int *ranks;                /* that have some, rising */
    uint32_t n_ranks, own;     /* own: our place among them; n_ranks: we have none */
    uint32_t *members, *begin; /* members by rank; where those of each begin */
    uint64_t first;            /* of our collectives at home */
    uint64_t first_member;
} replay_team_t;

/* Where the message of a send goes. */
typedef struct replay_far {
    int32_t rank;
    uint32_t index; /* of the message there */
} replay_far_t;

typedef struct replay {
    MPI_Comm values, stamps;
    int rank, size;
    int words; /* where the last ones of any process go */
    const correct_t *correct;
    int *owner; /* of each process */
    bool *is_here;
    uint32_t *n_here; /* members of each communicator */
    clv_clc_share_t share;
    replay_team_t *teams;
    clv_clc_trace_t home;
    clv_clc_team_t *parts; /* the members that are here */
    replay_far_t *far;
    uint64_t n_received;     /* messages that are received here: the first ones */
    int64_t n_sent, n_taken; /* stamps, in all passes */
    uint32_t key_channel;    /* of the last key, by order */
} replay_t;

extern replay_t replay;

/* Between two looks at whether others went on: makes way for them, longer from look to look. */
void replay_pause(int *n_looks);
/* Of one process, where the others cannot be told any more: ends all. */
void replay_give_up(const char *why) __attribute__((noreturn));

/* ---- replay_packets.c ---- */

/* Items from each process to each, one pair after the other; give and take see those of a pair in
 * the same order. */
typedef struct replay_stream {
    size_t item_bytes;
    void (*begin)(void *context, int to);    /* what is given next goes there; a new pair */
    bool (*give)(void *context, void *item); /* false: that was all */
    void (*take)(void *context, int from, const void *item);
    void *context;
} replay_stream_t;

void replay_run_stream(const replay_stream_t *stream);

/* ---- replay_homes.c ---- */
bool replay_make_teams(correct_t *correct);
bool replay_make_homes(correct_t *correct);
void replay_free_homes(void);
/* Rank of the home of the k-th collective of a communicator; its index there, for us at home. */
int replay_home(uint32_t comm, uint64_t k);
uint64_t replay_home_index(uint32_t comm, uint64_t k);
uint64_t replay_home_ordinal(uint64_t index);
int replay_owner_of_member(uint32_t comm, uint32_t member);
/* The member of a slot of ours. */
uint32_t replay_member(uint32_t comm, uint32_t slot);
/* Where a rank is in ranks of the communicator. */
uint32_t replay_place(uint32_t comm, int rank);
/* The root of a collective of the part, wherever it is: a member. The collective itself has the
 * slot, or behind all slots the member. */
uint32_t replay_root(const clv_clc_collective_t *collective);

/* ---- replay_stamps.c ---- */
/* Channels that lead elsewhere get to know the messages there. */
bool replay_find_far(void);

/* ---- replay_packets.c ---- */
typedef struct replay_stamp {
    int64_t time, second;
    uint32_t kind, a, k, member;
} replay_stamp_t;

bool replay_open_packets(void); /* false: no memory; more than once is fine */
void replay_close_packets(void);
void replay_put(int rank, const replay_stamp_t *stamp);
/* What was put leaves now, even where it fills no packet. */
void replay_post(void);
/* Packets that have left are used again. */
void replay_reclaim(void);
/* All that came; tells whether anything did. */
bool replay_take(void (*take)(const replay_stamp_t *stamp));

/* ---- replay_forward.c ---- */
extern const clv_clc_replay_t replay_pass;

#endif
