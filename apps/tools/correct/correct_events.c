/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct: handlers for the events read. Rows "note" of otf2_records.txt call these
 * functions.
 */
#include "apps/tools/correct/correct_notes.h"

#include <string.h>

#include "util/util_alloc.h"

/* The definition gives the number of events; a longer trace gets more room. */
static bool more_room(correct_reading_t *reading, clv_clc_track_t *track,
                      correct_location_t *location)
{
    const int64_t n = 2 * location->n_slots + 64;
    const size_t used = (size_t) reading->n_events;
    clv_clc_event_t *events = correct_store_get((size_t) n, sizeof *events);
    int64_t *truth = location->truth ? correct_store_get((size_t) n, sizeof *truth) : NULL;
    if (!events || (location->truth && !truth)) {
        return false;
    }
    if (used > 0) {
        memcpy(events, track->events, used * sizeof *events);
    }
    if (truth && used > 0) {
        memcpy(truth, location->truth, used * sizeof *truth);
        location->truth = truth;
    }
    track->events = events;
    location->n_slots = n;
    return true;
}

static int64_t truth_of(const correct_reading_t *reading, OTF2_AttributeList *attributes)
{
    int64_t value = CLV_CLC_UNKNOWN;
    const uint32_t ref = reading->correct->archive.truth_attribute;
    if (ref == CORRECT_NOBODY || OTF2_AttributeList_GetInt64(attributes, ref, &value)) {
        return CLV_CLC_UNKNOWN;
    }
    return value;
}

bool correct_take_event(void *user, OTF2_TimeStamp time, OTF2_AttributeList *attributes)
{
    correct_reading_t *reading = user;
    correct_location_t *location = &reading->correct->archive.locations[reading->location];
    clv_clc_track_t *track = &reading->correct->trace.tracks[reading->location];
    const int64_t stamp = correct_ticks(&reading->correct->archive, time);
    if (stamp >= CORRECT_LARGEST_STAMP) {
        return correct_fail(CORRECT_EXIT_INPUT, "location %llu: the stamp %llu is beyond 73 years",
                            (unsigned long long) location->ref, (unsigned long long) time);
    }
    if (reading->n_events == location->n_slots && !more_room(reading, track, location)) {
        return false;
    }
    const int64_t j = reading->n_events++;
    clv_clc_event_t *event = &track->events[j];
    event->stamp = stamp;
    if (j > 0 && event->stamp < event[-1].stamp) {
        event->stamp = event[-1].stamp;
        location->n_falling++;
    }
    if (location->truth) {
        location->truth[j] = truth_of(reading, attributes);
    }
    return true;
}

/* ---- notes ---- */

static int64_t here(const correct_reading_t *reading)
{
    return reading->n_events - 1;
}

static int64_t stamp_at(const correct_reading_t *reading, int64_t event)
{
    return reading->correct->trace.tracks[reading->location].events[event].stamp;
}

/* Its sequence is an event's number, also where it is posted or begun: with a slow timer, many
 * events have the same stamp. */
static clv_clc_note_t *new_note(correct_reading_t *reading)
{
    if (reading->n_notes == reading->n_note_slots) {
        const int64_t n = 2 * reading->n_note_slots + 1024;
        clv_clc_note_t *larger = correct_store_get((size_t) n, sizeof *larger);
        if (!larger) {
            return NULL;
        }
        if (reading->n_notes > 0) {
            memcpy(larger, reading->notes, (size_t) reading->n_notes * sizeof *larger);
        }
        correct_store_give_back(reading->notes);
        reading->notes = larger;
        reading->n_note_slots = n;
    }
    clv_clc_note_t *note = &reading->notes[reading->n_notes++];
    *note = (clv_clc_note_t){
        .event = here(reading), .track = reading->location, .sequence = (uint32_t) here(reading)};
    note->order_ns = stamp_at(reading, note->event);
    return note;
}

static void leave_out(correct_reading_t *reading, correct_left_t why)
{
    __atomic_add_fetch(&reading->correct->n_left[why], 1, __ATOMIC_RELAXED);
}

static const correct_comm_t *find_comm(correct_reading_t *reading, uint32_t ref, uint32_t *index)
{
    *index = correct_find_comm(&reading->correct->archive, ref);
    if (*index == CORRECT_NOBODY) {
        leave_out(reading, CORRECT_LEFT_UNKNOWN_COMM);
        return NULL;
    }
    return &reading->correct->archive.comms[*index];
}

static clv_clc_note_t *note_message(correct_reading_t *reading, clv_clc_note_kind_t kind,
                                    uint32_t rank, uint32_t ref, uint32_t tag, uint64_t bytes)
{
    uint32_t index;
    const correct_comm_t *comm = find_comm(reading, ref, &index);
    const uint32_t peer = comm ? correct_peer(comm, reading->process, rank) : CORRECT_NOBODY;
    const bool is_send = kind == CLV_CLC_NOTE_SEND;
    clv_clc_note_t *note = peer != CORRECT_NOBODY ? new_note(reading) : NULL;
    if (comm && peer == CORRECT_NOBODY) {
        leave_out(reading, is_send ? CORRECT_LEFT_NO_RECEIVER : CORRECT_LEFT_NO_SENDER);
    }
    if (note) {
        note->kind = (uint8_t) kind;
        note->comm = index;
        note->tag = tag;
        note->n_bytes = bytes;
        note->source = is_send ? reading->process : peer;
        note->target = is_send ? peer : reading->process;
    }
    return note;
}

/* ---- requests: a table by their numbers, of those that are open ---- */

static correct_request_t *slot_of(const correct_reading_t *reading, uint64_t id)
{
    const uint32_t mask = reading->n_request_slots - 1;
    uint32_t at = (uint32_t) ((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;
    while (reading->requests[at].is_used && reading->requests[at].id != id) {
        at = (at + 1) & mask;
    }
    return &reading->requests[at];
}

static bool more_requests(correct_reading_t *reading)
{
    const correct_reading_t old = *reading;
    const uint32_t n = old.n_request_slots ? 2 * old.n_request_slots : 64;
    reading->requests = clv_alloc(n, sizeof *reading->requests);
    if (!reading->requests) {
        reading->requests = old.requests;
        return correct_fail(CORRECT_EXIT_MACHINE, "out of memory for requests");
    }
    reading->n_request_slots = n;
    for (uint32_t i = 0; i < old.n_request_slots; i++) {
        if (old.requests[i].is_used) {
            *slot_of(reading, old.requests[i].id) = old.requests[i];
        }
    }
    clv_free(old.requests);
    return true;
}

static void open_request(correct_reading_t *reading, uint64_t id)
{
    if (2 * reading->n_requests >= reading->n_request_slots && !more_requests(reading)) {
        return;
    }
    correct_request_t *slot = slot_of(reading, id);
    reading->n_requests += !slot->is_used;
    const int64_t event = here(reading);
    *slot = (correct_request_t){id, event, stamp_at(reading, event), reading->location, true};
}

/* Removes an open request; requests that it displaced move up. */
static bool close_request(correct_reading_t *reading, uint64_t id, correct_request_t *request)
{
    correct_request_t *slot = reading->n_request_slots > 0 ? slot_of(reading, id) : NULL;
    if (!slot || !slot->is_used) {
        return false;
    }
    *request = *slot;
    slot->is_used = false;
    reading->n_requests--;
    const uint32_t mask = reading->n_request_slots - 1;
    for (uint32_t at = (uint32_t) (slot - reading->requests + 1) & mask;
         reading->requests[at].is_used; at = (at + 1) & mask) {
        const correct_request_t moved = reading->requests[at];
        reading->requests[at].is_used = false;
        *slot_of(reading, moved.id) = moved;
    }
    return true;
}

/* ---- one kind each ---- */

void note_Enter(void *user, OTF2_RegionRef region)
{
    (void) user;
    (void) region;
}

void note_Leave(void *user, OTF2_RegionRef region)
{
    (void) user;
    (void) region;
}

void note_MpiSend(void *user, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    note_message(user, CLV_CLC_NOTE_SEND, receiver, comm, tag, bytes);
}

void note_MpiIsend(void *user, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
                   uint64_t request)
{
    (void) request;
    note_message(user, CLV_CLC_NOTE_SEND, receiver, comm, tag, bytes);
}

void note_MpiIrecvRequest(void *user, uint64_t request)
{
    open_request(user, request);
}

void note_MpiRecv(void *user, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    note_message(user, CLV_CLC_NOTE_RECEIVE, sender, comm, tag, bytes);
}

void note_MpiIrecv(void *user, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
                   uint64_t request)
{
    correct_request_t posted;
    const bool is_known = close_request(user, request, &posted);
    if (!is_known) {
        __atomic_add_fetch(&((correct_reading_t *) user)->correct->n_lost_requests, 1,
                           __ATOMIC_RELAXED);
    }
    clv_clc_note_t *note = note_message(user, CLV_CLC_NOTE_RECEIVE, sender, comm, tag, bytes);
    if (note && is_known) {
        note->order_ns = posted.order_ns;
        note->sequence = (uint32_t) posted.event;
    }
}

void note_MpiCollectiveBegin(void *user)
{
    correct_reading_t *reading = user;
    reading->begin = here(reading);
}

/* With contributions of 0 bytes no member waits; a barrier has none, and all wait. */
static uint8_t flags_of(OTF2_CollectiveOp op, uint64_t sent, uint64_t received)
{
    if (op == OTF2_COLLECTIVE_OP_BARRIER || op >= OTF2_COLLECTIVE_OP_CREATE_HANDLE) {
        return CLV_CLC_SENDS | CLV_CLC_RECEIVES;
    }
    return (uint8_t) ((sent > 0 ? CLV_CLC_SENDS : 0) | (received > 0 ? CLV_CLC_RECEIVES : 0));
}

static bool has_root(OTF2_CollectiveOp op)
{
    return (op >= OTF2_COLLECTIVE_OP_BCAST && op <= OTF2_COLLECTIVE_OP_SCATTERV) ||
           op == OTF2_COLLECTIVE_OP_REDUCE;
}

/* Why no member waits in this collective as recorded; CORRECT_N_LEFT: no fault, the clock uses
 * it. */
static correct_left_t fault_of(const correct_reading_t *reading, const correct_comm_t *comm,
                               int64_t enter, OTF2_CollectiveOp op, uint32_t root)
{
    if (comm->other != CORRECT_NOBODY) {
        return CORRECT_LEFT_INTERCOMM;
    }
    if (correct_member(comm, reading->process) == CORRECT_NOBODY) {
        return CORRECT_LEFT_NO_MEMBER;
    }
    if (enter < 0) {
        return CORRECT_LEFT_NO_BEGIN;
    }
    if (op > OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE) {
        return CORRECT_LEFT_ODD_OPERATION;
    }
    if (has_root(op) && root >= comm->n_members) {
        return CORRECT_LEFT_NO_ROOT;
    }
    return (op == OTF2_COLLECTIVE_OP_ALLTOALLV || op == OTF2_COLLECTIVE_OP_ALLTOALLW) &&
                   !reading->correct->options.has_dense_alltoallv
               ? CORRECT_LEFT_ALLTOALLV
               : CORRECT_N_LEFT;
}

/* A collective that is left out is noted too, if possible: it has its place in the order of the
 * communicator's collectives. */
static void note_collective(correct_reading_t *reading, int64_t enter, OTF2_CollectiveOp op,
                            uint32_t ref, uint32_t root, uint64_t sent, uint64_t received)
{
    uint32_t index;
    const correct_comm_t *comm = find_comm(reading, ref, &index);
    if (!comm || comm->is_self) {
        return;
    }
    const correct_left_t fault = fault_of(reading, comm, enter, op, root);
    if (fault != CORRECT_N_LEFT) {
        leave_out(reading, fault);
    }
    if (fault == CORRECT_LEFT_INTERCOMM || fault == CORRECT_LEFT_NO_MEMBER ||
        fault == CORRECT_LEFT_NO_BEGIN) {
        return;
    }
    clv_clc_note_t *note = new_note(reading);
    if (note) {
        note->kind = CLV_CLC_NOTE_COLLECTIVE;
        note->enter = enter;
        note->order_ns = stamp_at(reading, enter);
        note->sequence = (uint32_t) enter;
        note->comm = index;
        const uint32_t member = correct_member(comm, reading->process);
        note->source = comm->slots ? comm->slots[member] : member;
        note->target = root;
        note->op = op < CLV_CLC_MAX_OPS - 1 ? (uint8_t) (1 + op) /* 0 counts messages */
                                            : CLV_CLC_MAX_OPS - 1;
        note->flags = flags_of(op, sent, received);
    }
}

void note_MpiCollectiveEnd(void *user, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
                           uint64_t sent, uint64_t received)
{
    correct_reading_t *reading = user;
    note_collective(reading, reading->begin, op, comm, root, sent, received);
    reading->begin = -1;
}

void note_NonBlockingCollectiveRequest(void *user, uint64_t request)
{
    open_request(user, request);
}

/* If another thread began it, its event is on another track, for which a note has no field. */
void note_NonBlockingCollectiveComplete(void *user, OTF2_CollectiveOp op, OTF2_CommRef comm,
                                        uint32_t root, uint64_t sent, uint64_t received,
                                        uint64_t request)
{
    correct_reading_t *reading = user;
    correct_request_t started;
    const bool is_known = close_request(reading, request, &started);
    if (is_known && started.track != reading->location) {
        leave_out(reading, CORRECT_LEFT_OTHER_THREAD);
        return;
    }
    note_collective(reading, is_known ? started.event : -1, op, comm, root, sent, received);
}
