/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Matches sends with receives, and the events of each collective.
 *
 * The k-th send of a channel (communicator, source, destination, tag) belongs to its k-th posted
 * receive: MPI does not let messages overtake each other. If the counts or lengths of a channel
 * differ, an event is missing, and all later pairs would be wrong: the channel is left out and
 * listed. The k-th collective of a communicator belongs to the k-th of every member; from the first
 * one that a member lacks, or that differs in operation or root, the communicator's collectives are
 * left out and listed.
 *
 * Use: processes are added in any order, also by several threads at once, each with the notes of
 * all its threads; then join, once; then bind, per process; then settle, once; then trim, per
 * process. Until then, group and part of an event, and corrected of exit events, are used
 * internally. Cost: a note of 72 bytes per message or collective of one process while it is added;
 * 56 bytes per channel for good.
 *
 * Units: ticks; lengths in bytes.
 * Errors: CLV_NO_MEMORY, CLV_LIMIT; a trace that contradicts itself is no error but listed as left
 *   out.
 * Memory: a match is freed by clv_clc_match_free; notes and tracks stay the caller's,
 *   flavour_of_op is kept by reference.
 * Threads: clv_clc_match_add, _bind and _trim for different processes or tracks at once; the
 *   others alone.
 */
#ifndef CLV_CLC_MATCH_H
#define CLV_CLC_MATCH_H

#include <stdbool.h>

#include "apps/clc/clc.h"

typedef enum clv_clc_note_kind {
    CLV_CLC_NOTE_SEND,
    CLV_CLC_NOTE_RECEIVE,
    CLV_CLC_NOTE_COLLECTIVE
} clv_clc_note_kind_t;

/* One send, receive or collective, as read from a trace. */
typedef struct clv_clc_note {
    int64_t order_ns;         /* of the send, of posting the receive, of entering the collective */
    int64_t event;            /* index in its track: of the send, receive or exit */
    int64_t enter;            /* collectives only */
    uint64_t n_bytes;         /* messages only */
    uint32_t track, sequence; /* sequence: order among equal order_ns */
    uint32_t comm;            /* an index, not an OTF2 reference */
    uint32_t source, target;  /* messages: processes; collectives: this member and the root */
    uint32_t tag;
    uint8_t kind, op, flags; /* flags: CLV_CLC_SENDS and CLV_CLC_RECEIVES */
} clv_clc_note_t;

typedef struct clv_clc_match clv_clc_match_t;

/* flavour_of_op: flavours of the caller's operations, CLV_CLC_MAX_OPS of them; kept by
 * reference. */
clv_clc_match_t *clv_clc_match_new(uint32_t n_processes, uint32_t n_comms,
                                   const uint8_t *flavour_of_op);
void clv_clc_match_free(clv_clc_match_t *match);

/* Sorts notes and marks the events. Thread-safe for different processes. CLV_NO_MEMORY, CLV_LIMIT.
 */
CLV_MUST_CHECK clv_status_t clv_clc_match_add(clv_clc_match_t *match, uint32_t process,
                                              clv_clc_track_t *tracks, clv_clc_note_t *notes,
                                              int64_t n_notes);

/* If several programs share a trace: which processes this program has, and how many members of each
 * communicator. Those members are numbered from 0 among themselves. */
typedef struct clv_clc_share {
    const bool *is_here;
    const uint32_t *n_here;
} clv_clc_share_t;

/* Returns how many messages, collectives and members there will be here. team_sizes: members per
 * communicator; 0: its collectives are left out. share: NULL for all. Messages received here come
 * first. */
CLV_MUST_CHECK clv_status_t clv_clc_match_join(clv_clc_match_t *match, const uint32_t *team_sizes,
                                               const clv_clc_share_t *share, uint64_t *n_messages,
                                               uint64_t *n_collectives, uint64_t *n_members);

/* ---- exchanged between programs that share a trace ---- */

typedef struct clv_clc_side {
    int64_t n;
    uint64_t lengths; /* hash of the lengths in order */
} clv_clc_side_t;

typedef struct clv_clc_channel {
    uint32_t comm, source, target, tag;
    clv_clc_side_t sent, received;
    uint64_t first; /* message of ordinal 0, after join; CLV_CLC_NO_MESSAGE: left out */
} clv_clc_channel_t;
#define CLV_CLC_NO_MESSAGE UINT64_MAX

/* Before join: all channels, and adding one that another program reports. */
const clv_clc_channel_t *clv_clc_match_channels(const clv_clc_match_t *match, uint32_t *n);
CLV_MUST_CHECK clv_status_t clv_clc_match_take_channel(clv_clc_match_t *match,
                                                       const clv_clc_channel_t *channel);
/* After join: the channels' order, by target, communicator, source and tag; those received here
 * first. */
const uint32_t *clv_clc_match_order(const clv_clc_match_t *match);

typedef struct clv_clc_counts {
    int64_t least, most, n_present; /* before join: per member here, and the members here */
    int64_t n, n_good;            /* after join: in the trace, and before the first that differs */
    uint64_t first, first_member; /* of the collectives here */
    uint32_t team_size, n_here;
} clv_clc_counts_t;

/* Per communicator; the caller may change them by what other programs report. */
clv_clc_counts_t *clv_clc_match_counts(clv_clc_match_t *match);
/* A member's operation and root of a collective, between bind and settle; and settling one. */
int64_t clv_clc_match_signature(const clv_clc_collective_t *collective);
void clv_clc_match_settle_one(const clv_clc_match_t *match, clv_clc_collective_t *collective,
                              int64_t signature, int64_t k);

/* Fills the messages, collectives (team: the communicator's index) and members of trace. Its arrays
 * are zero and have the sizes that join returned. hosts: of each process. */
void clv_clc_match_prepare(const clv_clc_match_t *match, clv_clc_trace_t *trace,
                           const int32_t *hosts);
void clv_clc_match_bind(clv_clc_match_t *match, clv_clc_trace_t *trace, uint32_t process,
                        uint32_t track);
/* After all are bound: decides which collectives are consistent. */
void clv_clc_match_settle(clv_clc_match_t *match, clv_clc_trace_t *trace);
/* Removes the events of left-out channels and collectives from their groups. */
void clv_clc_match_trim(const clv_clc_match_t *match, clv_clc_trace_t *trace, uint32_t track);

/* The left-out channels, then collectives. */
typedef struct clv_clc_left_out {
    uint32_t comm, source, target, tag; /* collectives: source is CLV_CLC_ALL */
    int64_t n_sent, n_received;         /* collectives: the first one left out, and their number */
    char reason[24];
} clv_clc_left_out_t;
#define CLV_CLC_ALL UINT32_MAX

void clv_clc_match_left_out(const clv_clc_match_t *match,
                            void (*tell)(void *context, const clv_clc_left_out_t *left_out),
                            void *context);

#endif
