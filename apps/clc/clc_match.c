/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Matching by counting. Each process numbers its own channels, and the events in each channel. When
 * all processes are added, each channel gets a range of message numbers; its first number plus the
 * event's ordinal is the message. No list of unmatched sends is needed.
 */
#include "apps/clc/clc_match.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/util_alloc.h"

/* A hash table of channels, numbered in order of appearance. */
typedef struct table {
    clv_clc_channel_t *channels;
    uint32_t *slots; /* number + 1 */
    uint32_t n, n_slots;
} table_t;

struct clv_clc_match {
    table_t table;
    clv_clc_counts_t *comms;
    uint32_t **numbers;  /* per process: the global number of each of its channels */
    uint32_t *order;     /* of channels */
    const bool *is_here; /* processes; NULL: all */
    const uint8_t *flavour_of_op;
    uint32_t n_processes, n_comms;
    pthread_mutex_t mutex;
};

/* ---- the table ---- */

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t hash_of(const clv_clc_channel_t *key)
{
    return mix(mix((uint64_t) key->comm << 32 | key->tag) ^
               ((uint64_t) key->source << 32 | key->target));
}

static bool is_same(const clv_clc_channel_t *a, const clv_clc_channel_t *b)
{
    return a->comm == b->comm && a->source == b->source && a->target == b->target &&
           a->tag == b->tag;
}

static uint32_t *slot_of(const table_t *table, const clv_clc_channel_t *key)
{
    uint64_t at = hash_of(key) & (table->n_slots - 1);
    while (table->slots[at] && !is_same(&table->channels[table->slots[at] - 1], key)) {
        at = (at + 1) & (table->n_slots - 1);
    }
    return &table->slots[at];
}

static clv_status_t enlarge(table_t *table)
{
    const uint32_t n_slots = table->n_slots ? 2 * table->n_slots : 64;
    clv_clc_channel_t *channels = clv_alloc(n_slots / 2, sizeof *channels);
    uint32_t *slots = clv_alloc(n_slots, sizeof *slots);
    if (!channels || !slots || n_slots == 0) {
        clv_free(channels);
        clv_free(slots);
        return CLV_NO_MEMORY;
    }
    if (table->n > 0) {
        memcpy(channels, table->channels, table->n * sizeof *channels);
    }
    clv_free(table->channels);
    clv_free(table->slots);
    *table = (table_t){channels, slots, table->n, n_slots};
    for (uint32_t i = 0; i < table->n; i++) {
        *slot_of(table, &channels[i]) = i + 1;
    }
    return CLV_OK;
}

static clv_status_t find(table_t *table, const clv_clc_channel_t *key, uint32_t *number)
{
    if (table->n >= table->n_slots / 2) {
        const clv_status_t status = enlarge(table);
        if (status != CLV_OK) {
            return status;
        }
    }
    uint32_t *slot = slot_of(table, key);
    if (!*slot) {
        table->channels[table->n] = *key;
        *slot = ++table->n;
    }
    *number = *slot - 1;
    return CLV_OK;
}

static void free_table(table_t *table)
{
    clv_free(table->channels);
    clv_free(table->slots);
}

/* ---- one process ---- */

/* Stored in the corrected time of a collective's exit until it is bound. */
#define NO_ROOT 0xfffffffu

static int64_t pack(const clv_clc_note_t *note)
{
    const uint32_t root = note->target < NO_ROOT ? note->target : NO_ROOT;
    return (int64_t) ((uint64_t) note->op | (uint64_t) (note->flags & 3) << 5 |
                      (uint64_t) root << 7 | (uint64_t) (note->source & NO_ROOT) << 35);
}

static uint32_t packed_op(int64_t packed)
{
    return (uint32_t) packed & 31;
}

static uint32_t packed_flags(int64_t packed)
{
    return (uint32_t) ((uint64_t) packed >> 5) & 3;
}

static uint32_t packed_root(int64_t packed)
{
    return (uint32_t) ((uint64_t) packed >> 7) & NO_ROOT;
}

static uint32_t packed_member(int64_t packed)
{
    return (uint32_t) ((uint64_t) packed >> 35) & NO_ROOT;
}

static int by_order(const void *left, const void *right)
{
    const clv_clc_note_t *a = left, *b = right;
    if (a->order_ns != b->order_ns) {
        return a->order_ns < b->order_ns ? -1 : 1;
    }
    if (a->track != b->track) {
        return a->track < b->track ? -1 : 1;
    }
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

/* Notes come almost in order, since requests span only a few calls, so an insertion sort moves
 * them. Above MOST_MOVES qsort sorts them, which takes as much memory again. */
#define MOST_MOVES 32 /* per note */

static void sort_notes(clv_clc_note_t *notes, int64_t n_notes)
{
    int64_t n_left = MOST_MOVES * n_notes;
    for (int64_t i = 1; i < n_notes && n_left > 0; i++) {
        if (by_order(&notes[i - 1], &notes[i]) <= 0) {
            continue;
        }
        const clv_clc_note_t moving = notes[i];
        int64_t k = i;
        for (; k > 0 && by_order(&notes[k - 1], &moving) > 0; k--, n_left--) {
            notes[k] = notes[k - 1];
        }
        notes[k] = moving;
    }
    if (n_left <= 0 && n_notes > 1) {
        qsort(notes, (size_t) n_notes, sizeof *notes, by_order);
    }
}

static clv_status_t add_message(table_t *own, clv_clc_track_t *tracks, const clv_clc_note_t *note)
{
    const clv_clc_channel_t key = {
        .comm = note->comm, .source = note->source, .target = note->target, .tag = note->tag};
    uint32_t number;
    const clv_status_t status = find(own, &key, &number);
    if (status != CLV_OK) {
        return status;
    }
    const bool is_send = note->kind == CLV_CLC_NOTE_SEND;
    clv_clc_side_t *side = is_send ? &own->channels[number].sent : &own->channels[number].received;
    if (side->n >= CLV_CLC_MAX_MEMBERS) {
        return CLV_LIMIT;
    }
    clv_clc_event_t *event = &tracks[note->track].events[note->event];
    event->group = number;
    event->part = clv_clc_part(is_send ? CLV_CLC_SEND : CLV_CLC_RECEIVE, (uint32_t) side->n);
    side->lengths = mix(side->lengths ^ (note->n_bytes + UINT64_C(0x9e3779b97f4a7c15)));
    side->n++;
    return CLV_OK;
}

static clv_status_t add_collective(int64_t *counts, clv_clc_track_t *tracks,
                                   const clv_clc_note_t *note)
{
    clv_clc_event_t *events = tracks[note->track].events;
    const int64_t ordinal = counts[note->comm]++;
    if (ordinal >= CLV_CLC_MAX_MEMBERS || note->op >= CLV_CLC_MAX_OPS || note->source >= NO_ROOT) {
        return CLV_LIMIT;
    }
    clv_clc_event_t *enter = &events[note->enter], *exit = &events[note->event];
    enter->group = exit->group = note->comm;
    enter->part = clv_clc_part(CLV_CLC_ENTER, (uint32_t) ordinal);
    exit->part = clv_clc_part(CLV_CLC_EXIT, (uint32_t) ordinal);
    enter->corrected = exit->corrected = pack(note);
    return CLV_OK;
}

static clv_status_t take_channel(clv_clc_match_t *match, const clv_clc_channel_t *channel,
                                 uint32_t *number)
{
    const clv_clc_channel_t key = {.comm = channel->comm,
                                   .source = channel->source,
                                   .target = channel->target,
                                   .tag = channel->tag};
    const clv_status_t status = find(&match->table, &key, number);
    if (status == CLV_OK) {
        clv_clc_channel_t *all = &match->table.channels[*number];
        all->sent = channel->sent.n > 0 ? channel->sent : all->sent;
        all->received = channel->received.n > 0 ? channel->received : all->received;
    }
    return status;
}

clv_status_t clv_clc_match_take_channel(clv_clc_match_t *match, const clv_clc_channel_t *channel)
{
    uint32_t number;
    return take_channel(match, channel, &number);
}

/* Adds the channels of one process. No other process has sends, or receives, of the same side of a
 * channel. */
static clv_status_t take_channels(clv_clc_match_t *match, const table_t *own, uint32_t *numbers)
{
    clv_status_t status = CLV_OK;
    for (uint32_t i = 0; i < own->n && status == CLV_OK; i++) {
        status = take_channel(match, &own->channels[i], &numbers[i]);
    }
    return status;
}

static void take_counts(clv_clc_match_t *match, const int64_t *counts)
{
    for (uint32_t c = 0; c < match->n_comms; c++) {
        clv_clc_counts_t *comm = &match->comms[c];
        if (counts[c] == 0) {
            continue;
        }
        comm->least = comm->n_present == 0 || counts[c] < comm->least ? counts[c] : comm->least;
        comm->most = counts[c] > comm->most ? counts[c] : comm->most;
        comm->n_present++;
    }
}

static clv_status_t take_in(clv_clc_match_t *match, uint32_t process, const table_t *own,
                            const int64_t *counts)
{
    uint32_t *numbers = clv_alloc(own->n + (size_t) 1, sizeof *numbers);
    if (!numbers) {
        return CLV_NO_MEMORY;
    }
    pthread_mutex_lock(&match->mutex);
    const clv_status_t status = take_channels(match, own, numbers);
    if (status == CLV_OK) {
        take_counts(match, counts);
        match->numbers[process] = numbers;
    } else {
        clv_free(numbers);
    }
    pthread_mutex_unlock(&match->mutex);
    return status;
}

clv_status_t clv_clc_match_add(clv_clc_match_t *match, uint32_t process, clv_clc_track_t *tracks,
                               clv_clc_note_t *notes, int64_t n_notes)
{
    table_t own = {0};
    int64_t *counts = clv_alloc(match->n_comms + (size_t) 1, sizeof *counts);
    clv_status_t status = counts ? CLV_OK : CLV_NO_MEMORY;
    sort_notes(notes, n_notes);
    for (int64_t i = 0; i < n_notes && status == CLV_OK; i++) {
        status = notes[i].kind == CLV_CLC_NOTE_COLLECTIVE
                     ? add_collective(counts, tracks, &notes[i])
                     : add_message(&own, tracks, &notes[i]);
    }
    if (status == CLV_OK) {
        status = take_in(match, process, &own, counts);
    }
    clv_free(counts);
    free_table(&own);
    return status;
}

/* ---- all processes ---- */

clv_clc_match_t *clv_clc_match_new(uint32_t n_processes, uint32_t n_comms,
                                   const uint8_t *flavour_of_op)
{
    clv_clc_match_t *match = clv_alloc(1, sizeof *match);
    if (!match) {
        return NULL;
    }
    match->n_processes = n_processes;
    match->n_comms = n_comms;
    match->flavour_of_op = flavour_of_op;
    match->comms = clv_alloc(n_comms + (size_t) 1, sizeof *match->comms);
    match->numbers = clv_alloc(n_processes + (size_t) 1, sizeof *match->numbers);
    pthread_mutex_init(&match->mutex, NULL);
    if (!match->comms || !match->numbers) {
        clv_clc_match_free(match);
        return NULL;
    }
    return match;
}

void clv_clc_match_free(clv_clc_match_t *match)
{
    if (!match) {
        return;
    }
    for (uint32_t p = 0; match->numbers && p < match->n_processes; p++) {
        clv_free(match->numbers[p]);
    }
    free_table(&match->table);
    clv_free(match->numbers);
    clv_free(match->comms);
    clv_free(match->order);
    pthread_mutex_destroy(&match->mutex);
    clv_free(match);
}

static const char *fault_of(const clv_clc_channel_t *channel)
{
    if (channel->sent.n != channel->received.n) {
        return channel->sent.n == 0       ? "no sends"
               : channel->received.n == 0 ? "no receives"
                                          : "counts differ";
    }
    return channel->sent.lengths != channel->received.lengths ? "lengths differ" : NULL;
}

static bool is_received_here(const clv_clc_match_t *match, const clv_clc_channel_t *channel)
{
    return !match->is_here || match->is_here[channel->target];
}

static int by_target(const void *left, const void *right, void *context)
{
    const clv_clc_match_t *match = context;
    const clv_clc_channel_t *a = &match->table.channels[*(const uint32_t *) left];
    const clv_clc_channel_t *b = &match->table.channels[*(const uint32_t *) right];
    const uint32_t x[] = {!is_received_here(match, a), a->target, a->comm, a->source, a->tag};
    const uint32_t y[] = {!is_received_here(match, b), b->target, b->comm, b->source, b->tag};
    for (int i = 0; i < 5; i++) {
        if (x[i] != y[i]) {
            return x[i] < y[i] ? -1 : 1;
        }
    }
    return 0;
}

static uint64_t number_messages(clv_clc_match_t *match)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < match->table.n; i++) {
        clv_clc_channel_t *channel = &match->table.channels[match->order[i]];
        channel->first = fault_of(channel) ? CLV_CLC_NO_MESSAGE : n;
        n += fault_of(channel) ? 0 : (uint64_t) channel->sent.n;
    }
    return n;
}

static clv_status_t order_channels(clv_clc_match_t *match)
{
    const uint32_t n = match->table.n;
    match->order = clv_alloc(n + (size_t) 1, sizeof *match->order);
    if (!match->order) {
        return CLV_NO_MEMORY;
    }
    for (uint32_t i = 0; i < n; i++) {
        match->order[i] = i;
    }
    if (n > 1) {
        qsort_r(match->order, n, sizeof *match->order, by_target, match);
    }
    return CLV_OK;
}

clv_status_t clv_clc_match_join(clv_clc_match_t *match, const uint32_t *team_sizes,
                                const clv_clc_share_t *share, uint64_t *n_messages,
                                uint64_t *n_collectives, uint64_t *n_members)
{
    match->is_here = share ? share->is_here : NULL;
    const clv_status_t status = order_channels(match);
    if (status != CLV_OK) {
        return status;
    }
    *n_messages = number_messages(match);
    *n_collectives = *n_members = 0;
    for (uint32_t c = 0; c < match->n_comms; c++) {
        clv_clc_counts_t *comm = &match->comms[c];
        comm->team_size = team_sizes[c];
        comm->n_here = share ? share->n_here[c] : team_sizes[c];
        comm->n = team_sizes[c] > 0 && comm->n_present == (int64_t) team_sizes[c] ? comm->least : 0;
        comm->n_good = comm->n;
        comm->first = *n_collectives;
        comm->first_member = *n_members;
        *n_collectives += comm->n_here > 0 ? (uint64_t) comm->n : 0;
        *n_members += (uint64_t) comm->n * comm->n_here;
    }
    return *n_messages < UINT32_MAX && *n_collectives < UINT32_MAX ? CLV_OK : CLV_LIMIT;
}

const clv_clc_channel_t *clv_clc_match_channels(const clv_clc_match_t *match, uint32_t *n)
{
    *n = match->table.n;
    return match->table.channels;
}

const uint32_t *clv_clc_match_order(const clv_clc_match_t *match)
{
    return match->order;
}

clv_clc_counts_t *clv_clc_match_counts(clv_clc_match_t *match)
{
    return match->comms;
}

void clv_clc_match_prepare(const clv_clc_match_t *match, clv_clc_trace_t *trace,
                           const int32_t *hosts)
{
    for (uint32_t i = 0; i < match->table.n; i++) {
        const clv_clc_channel_t *channel = &match->table.channels[i];
        for (int64_t k = 0; channel->first != CLV_CLC_NO_MESSAGE && k < channel->sent.n; k++) {
            clv_clc_message_t *message = &trace->messages[channel->first + (uint64_t) k];
            message->from = hosts[channel->source];
            message->to = hosts[channel->target];
        }
    }
    for (uint32_t c = 0; c < match->n_comms; c++) {
        const clv_clc_counts_t *comm = &match->comms[c];
        for (uint64_t k = 0; comm->n_here > 0 && k < (uint64_t) comm->n; k++) {
            clv_clc_collective_t *collective = &trace->collectives[comm->first + k];
            collective->first = comm->first_member + k * comm->n_here;
            collective->team = c;
        }
    }
}

/* ---- binding ---- */

static void drop(clv_clc_event_t *event)
{
    event->group = 0;
    event->part = clv_clc_part(CLV_CLC_INTERNAL, 0);
}

static void bind_message(const clv_clc_match_t *match, const uint32_t *numbers,
                         clv_clc_event_t *event)
{
    const clv_clc_channel_t *channel = &match->table.channels[numbers[event->group]];
    if (channel->first == CLV_CLC_NO_MESSAGE) {
        drop(event);
        return;
    }
    event->group = (uint32_t) (channel->first + clv_clc_member_of(event));
    event->part = clv_clc_part(clv_clc_role(event), 0);
}

static void lower(int64_t *n_good, int64_t k)
{
    int64_t now = __atomic_load_n(n_good, __ATOMIC_RELAXED);
    while (k < now &&
           !__atomic_compare_exchange_n(n_good, &now, k, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

/* The first member's operation and root become the collective's. At the first member that differs
 * the communicator's good collectives end. extreme holds both until it is needed. */
static void agree(clv_clc_counts_t *comm, clv_clc_collective_t *collective, int64_t packed,
                  int64_t k)
{
    const int64_t mine = 1 + (int64_t) (packed_op(packed) | (uint64_t) packed_root(packed) << 8);
    int64_t theirs = 0;
    if (!__atomic_compare_exchange_n(&collective->extreme.first, &theirs, mine, 0, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED) &&
        theirs != mine) {
        lower(&comm->n_good, k);
    }
}

static void bind_collective(clv_clc_match_t *match, clv_clc_trace_t *trace, clv_clc_event_t *event)
{
    clv_clc_counts_t *comm = &match->comms[event->group];
    const int64_t k = clv_clc_member_of(event), packed = event->corrected;
    const uint32_t member = packed_member(packed);
    if (k >= comm->n || member >= comm->n_here) {
        drop(event);
        return;
    }
    event->group = (uint32_t) (comm->first + (uint64_t) k);
    event->part = clv_clc_part(clv_clc_role(event), member);
    clv_clc_collective_t *collective = &trace->collectives[event->group];
    trace->members[collective->first + member].flags = packed_flags(packed);
    agree(comm, collective, packed, k);
}

void clv_clc_match_bind(clv_clc_match_t *match, clv_clc_trace_t *trace, uint32_t process,
                        uint32_t track)
{
    const clv_clc_track_t *own = &trace->tracks[track];
    for (int64_t j = 0; j < own->n_events; j++) {
        clv_clc_event_t *event = &own->events[j];
        const clv_clc_role_t role = clv_clc_role(event);
        if (role == CLV_CLC_SEND || role == CLV_CLC_RECEIVE) {
            bind_message(match, match->numbers[process], event);
        } else if (role == CLV_CLC_EXIT || role == CLV_CLC_ENTER) {
            bind_collective(match, trace, event);
        }
    }
}

int64_t clv_clc_match_signature(const clv_clc_collective_t *collective)
{
    return collective->extreme.first;
}

void clv_clc_match_settle_one(const clv_clc_match_t *match, clv_clc_collective_t *collective,
                              int64_t signature, int64_t k)
{
    const clv_clc_counts_t *comm = &match->comms[collective->team];
    const uint64_t packed = (uint64_t) signature - 1;
    collective->op = (uint8_t) (packed & 31);
    collective->root = (uint32_t) (packed >> 8);
    collective->flavour = k < comm->n_good ? match->flavour_of_op[collective->op] : CLV_CLC_FREE;
    const bool has_root =
        collective->flavour == CLV_CLC_ONE_TO_N || collective->flavour == CLV_CLC_N_TO_ONE;
    if (has_root && collective->root >= comm->team_size) {
        collective->flavour = CLV_CLC_FREE;
    }
}

void clv_clc_match_settle(clv_clc_match_t *match, clv_clc_trace_t *trace)
{
    for (uint32_t c = 0; c < match->n_comms; c++) {
        for (int64_t k = 0; match->comms[c].n_here > 0 && k < match->comms[c].n; k++) {
            clv_clc_collective_t *collective =
                &trace->collectives[match->comms[c].first + (uint64_t) k];
            clv_clc_match_settle_one(match, collective, clv_clc_match_signature(collective), k);
        }
    }
}

void clv_clc_match_trim(const clv_clc_match_t *match, clv_clc_trace_t *trace, uint32_t track)
{
    const clv_clc_track_t *own = &trace->tracks[track];
    for (int64_t j = 0; j < own->n_events; j++) {
        clv_clc_event_t *event = &own->events[j];
        const clv_clc_role_t role = clv_clc_role(event);
        if (role == CLV_CLC_ENTER || role == CLV_CLC_EXIT) {
            const clv_clc_counts_t *comm = &match->comms[trace->collectives[event->group].team];
            if ((int64_t) (event->group - comm->first) >= comm->n_good) {
                drop(event);
            }
        }
    }
}

/* ---- what became of it ---- */

static const char *fault_of_comm(const clv_clc_counts_t *comm)
{
    return comm->most <= comm->n_good                    ? NULL
           : comm->team_size == 0                        ? "members not known"
           : comm->n_present < (int64_t) comm->team_size ? "a member has none"
           : comm->n_good < comm->n                      ? "members differ"
                                                         : "a member lacks some";
}

static void tell_fault(clv_clc_left_out_t left_out, const char *fault,
                       void (*tell)(void *context, const clv_clc_left_out_t *left_out),
                       void *context)
{
    if (fault) {
        snprintf(left_out.reason, sizeof left_out.reason, "%s", fault);
        tell(context, &left_out);
    }
}

void clv_clc_match_left_out(const clv_clc_match_t *match,
                            void (*tell)(void *context, const clv_clc_left_out_t *left_out),
                            void *context)
{
    for (uint32_t k = 0; k < match->table.n; k++) {
        const clv_clc_channel_t *channel = &match->table.channels[match->order[k]];
        if (!is_received_here(match, channel)) {
            continue;
        }
        tell_fault((clv_clc_left_out_t){channel->comm, channel->source, channel->target,
                                        channel->tag, channel->sent.n, channel->received.n, ""},
                   fault_of(channel), tell, context);
    }
    for (uint32_t c = 0; c < match->n_comms; c++) {
        const clv_clc_counts_t *comm = &match->comms[c];
        tell_fault((clv_clc_left_out_t){c, CLV_CLC_ALL, CLV_CLC_ALL, 0, comm->n_good,
                                        comm->most - comm->n_good, ""},
                   fault_of_comm(comm), tell, context);
    }
}
