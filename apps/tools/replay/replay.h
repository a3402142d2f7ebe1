/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the files of clv-correct-mpi. Each process has all locations of some clocks, and the
 * messages and collectives of these; it is the home of a share of the collectives
 * (apps/clc/clc_replay.h). Stamps travel one at a time in the forward pass (replay_forward.c), and
 * in bulk if their order does not matter (replay_packets.c).
 *
 * Units: ticks. Threads: one calls MPI. Memory: freed by replay_close.
 */
#ifndef CLV_REPLAY_H
#define CLV_REPLAY_H

#include <mpi.h>
#include <stdbool.h>

#include "apps/clc/clc_replay.h"
#include "apps/tools/correct/correct_crew.h"

/* The processes with members of a communicator. */
typedef struct replay_team {
    int *ranks;                /* with members, ascending */
    uint32_t n_ranks, own;     /* own: our index among them; n_ranks: we have no members */
    uint32_t *members, *begin; /* members by rank; where those of each rank begin */
    uint64_t first;            /* of our collectives at home */
    uint64_t first_member;
} replay_team_t;

/* The destination of a send's message. */
typedef struct replay_far {
    int32_t rank;
    uint32_t index; /* of the message there */
} replay_far_t;

typedef struct replay {
    MPI_Comm values, stamps;
    int rank, size;
    int words; /* stderr for a process's last message */
    const correct_t *correct;
    int *owner; /* by process */
    bool *is_here;
    uint32_t *n_here; /* members here, by communicator */
    clv_clc_share_t share;
    replay_team_t *teams;
    clv_clc_trace_t home;
    clv_clc_team_t *parts; /* the members here */
    replay_far_t *far;
    uint64_t n_received;     /* messages received here, which are the first ones */
    int64_t n_sent, n_taken; /* stamps, over all passes */
    uint32_t key_channel;    /* of the last key, in order of channels */
} replay_t;

extern replay_t replay;

/* Between two checks for progress of others: yields to them; sleeps from the check with this number
 * on. */
#define REPLAY_LOOKS 200
void replay_pause(int *n_looks);
/* Called by one process that cannot inform the others any more: ends all. */
void replay_give_up(const char *why) __attribute__((noreturn));

/* ---- replay_packets.c ---- */

/* Items between all pairs of processes, one pair after the other; give and take see the items of a
 * pair in the same order. */
typedef struct replay_stream {
    size_t item_bytes;
    void (*begin)(void *context, int to);    /* a new pair; the next items go to `to` */
    bool (*give)(void *context, void *item); /* false: no more items */
    void (*take)(void *context, int from, const void *item);
    void *context;
} replay_stream_t;

void replay_run_stream(const replay_stream_t *stream);

/* ---- replay_homes.c ---- */
bool replay_make_teams(correct_t *correct);
bool replay_make_homes(correct_t *correct);
void replay_free_homes(void);
/* The rank of the home of the k-th collective of a communicator; its index there, if we are the
 * home. */
int replay_home(uint32_t comm, uint64_t k);
uint64_t replay_home_index(uint32_t comm, uint64_t k);
uint64_t replay_home_ordinal(uint64_t index);
int replay_owner_of_member(uint32_t comm, uint32_t member);
/* The member in a slot of this process. */
uint32_t replay_member(uint32_t comm, uint32_t slot);
/* The index of a rank in the communicator's ranks. */
uint32_t replay_place(uint32_t comm, int rank);
/* The root of a collective of the part, as a member, in any process. The collective itself stores
 * the slot or, after all slots, the member. */
uint32_t replay_root(const clv_clc_collective_t *collective);

/* ---- replay_stamps.c ---- */
/* For channels that lead elsewhere, finds the messages there. */
bool replay_find_far(void);

/* ---- replay_packets.c ---- */
typedef struct replay_stamp {
    int64_t time, second;
    uint32_t kind, a, k, member;
} replay_stamp_t;

bool replay_open_packets(void); /* false: no memory; may be called again */
void replay_close_packets(void);
void replay_put(int rank, const replay_stamp_t *stamp);
/* Sends what was put, even from packets that are not full. */
void replay_post(void);
/* Reuses packets that have been sent. */
void replay_reclaim(void);
/* Looks once for the next packet, which replay_take must take then. */
bool replay_look(void);
/* Takes all stamps that have arrived; returns whether there were any. */
bool replay_take(void (*take)(const replay_stamp_t *stamp));

/* ---- replay_forward.c ---- */
extern const clv_clc_replay_t replay_pass;

#endif
