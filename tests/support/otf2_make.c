/* SPDX-License-Identifier: BSD-3-Clause
 *
 * otf2_make: writes a synthetic trace (clc_synth.h) as an OTF2 archive: messages by all four kinds
 * of events, collectives blocking and not, one communicator per team, two hosts' worth of clock
 * offsets, truth as an attribute, and records that clv-correct ignores but must keep. Prints the
 * expected results of clv-correct: messages, and reversed and violated ones for the given
 * latencies.
 *
 * usage: otf2_make DIR RANKS PER_HOST OPS SEED [FAULT]
 *   FAULT: none, lost-receive, lost-exit, length, cycle, snapshot, empty-location, timer=HZ, names
 *     (of any bytes), peers (a fifth of the messages with a rank that there is not), root (the same
 *     of collectives), one-host (all ranks on one, with the clocks of several), metric (an empty
 *     location of metrics), threads (half of a rank's messages are another thread's)
 */
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/clc_synth.h"
#include "apps/tools/otf2/otf2_create.h"

#define NO_RANK  999
#define INTER_NS 4000
#define INTRA_NS 800
/* Host h's clock is ahead by h times this; offsets in the archive correct it. */
#define AHEAD_NS INT64_C(1000000000000)
#define BASE_NS  INT64_C(50000000000000)

static OTF2_Archive *archive;
static clc_synth_t synth;
static const char *fault = "none";
static uint32_t n_strings;
static uint64_t n_written[4096], n_written_beside[4096];

static void need(OTF2_ErrorCode code)
{
    if (code != OTF2_SUCCESS) {
        fprintf(stderr, "otf2_make: %s\n", OTF2_Error_GetDescription(code));
        exit(1);
    }
}

static int is_fault(const char *name)
{
    return !strcmp(fault, name);
}

static int has_one_more(void)
{
    return is_fault("empty-location") || is_fault("metric");
}

static double timer_hz(void)
{
    return !strncmp(fault, "timer=", 6) ? strtod(fault + 6, NULL) : 1e9;
}

/* The ticks of the timer after this many ns. */
static int64_t ticks_of(int64_t ns)
{
    return (int64_t) ((long double) ns * (long double) timer_hz() / 1e9L);
}

/* ---- events ---- */

typedef struct rank {
    int number;
    OTF2_EvtWriter *writer, *beside; /* beside: of its other thread */
    OTF2_AttributeList *attributes;
    uint64_t next_request, n_events, n_beside;
    int depth;
} rank_t;

static OTF2_CollectiveOp op_of(const clv_clc_collective_t *collective)
{
    static const OTF2_CollectiveOp ops[] = {
        OTF2_COLLECTIVE_OP_BCAST, OTF2_COLLECTIVE_OP_REDUCE, OTF2_COLLECTIVE_OP_ALLREDUCE,
        OTF2_COLLECTIVE_OP_SCAN,  OTF2_COLLECTIVE_OP_EXSCAN, OTF2_COLLECTIVE_OP_DESTROY_HANDLE};
    return ops[collective->flavour];
}

static void write_exit(rank_t *rank, OTF2_TimeStamp time, const clv_clc_event_t *event)
{
    const clv_clc_collective_t *collective = &synth.trace.collectives[event->group];
    const clv_clc_member_t *member =
        &synth.trace.members[collective->first + clv_clc_member_of(event)];
    const uint32_t root = is_fault("root") ? NO_RANK : collective->root;
    const uint64_t sent = member->flags & CLV_CLC_SENDS ? 8 : 0;
    const uint64_t received = member->flags & CLV_CLC_RECEIVES ? 8 : 0;
    if (event->group % 3 == 2) {
        need(OTF2_EvtWriter_NonBlockingCollectiveComplete(
            rank->writer, rank->attributes, time, op_of(collective), 1 + collective->team, root,
            sent, received, UINT64_C(1) << 40 | event->group));
    } else {
        need(OTF2_EvtWriter_MpiCollectiveEnd(rank->writer, rank->attributes, time,
                                             op_of(collective), 1 + collective->team, root, sent,
                                             received));
    }
}

/* The peers of each message; in communicator 0, ranks are locations. */
static uint32_t *sender_of, *receiver_of;

static uint32_t peer_of(const uint32_t *peers, uint32_t group)
{
    return is_fault("peers") && group % 5 == 2 ? NO_RANK : peers[group];
}

static void write_receive(rank_t *rank, OTF2_TimeStamp time, uint32_t group)
{
    const uint64_t length = is_fault("length") && group == 0 ? 9 : 8 + group % 100;
    if (group % 2) {
        need(OTF2_EvtWriter_MpiIrecv(rank->writer, rank->attributes, time,
                                     peer_of(sender_of, group), 0, 7, length, group));
    } else {
        need(OTF2_EvtWriter_MpiRecv(rank->writer, rank->attributes, time, peer_of(sender_of, group),
                                    0, 7, length));
    }
}

static void write_send(rank_t *rank, OTF2_TimeStamp time, uint32_t group)
{
    if (group % 3 == 1) {
        need(OTF2_EvtWriter_MpiIsend(rank->writer, rank->attributes, time,
                                     peer_of(receiver_of, group), 0, 7, 8 + group % 100, group));
    } else {
        need(OTF2_EvtWriter_MpiSend(rank->writer, rank->attributes, time,
                                    peer_of(receiver_of, group), 0, 7, 8 + group % 100));
    }
}

/* The request of a receive stands just before it, as if it had been posted there. */
static void write_request(rank_t *rank, OTF2_TimeStamp time, uint32_t group)
{
    if (group % 2) {
        need(OTF2_EvtWriter_MpiIrecvRequest(rank->writer, NULL, time, group));
        rank->n_events++;
    }
}

static void write_internal(rank_t *rank, OTF2_TimeStamp time, int64_t j)
{
    if (j % 50 == 7) {
        need(OTF2_EvtWriter_ParameterUnsignedInt(rank->writer, rank->attributes, time, 0,
                                                 (uint64_t) j));
    } else if (j % 50 == 23) {
        need(OTF2_EvtWriter_BufferFlush(rank->writer, rank->attributes, time, time + 1));
    } else if (rank->depth > 0) {
        rank->depth--;
        need(OTF2_EvtWriter_Leave(rank->writer, rank->attributes, time, 0));
    } else {
        rank->depth++;
        need(OTF2_EvtWriter_Enter(rank->writer, rank->attributes, time, 0));
    }
}

static void write_event(rank_t *rank, const clv_clc_event_t *event, int64_t j)
{
    const int host = rank->number / synth.config.per_host;
    const OTF2_TimeStamp time = (OTF2_TimeStamp) ticks_of(event->stamp + BASE_NS + host * AHEAD_NS);
    const clv_clc_role_t role = clv_clc_role(event);
    const uint32_t group = event->group;
    if (role == CLV_CLC_RECEIVE) {
        write_request(rank, time, group);
    }
    OTF2_AttributeList_AddInt64(rank->attributes, 0, (int64_t) synth.truth[rank->number][j]);
    rank->n_events++;
    switch (role) {
    case CLV_CLC_SEND:
        write_send(rank, time, group);
        return;
    case CLV_CLC_RECEIVE:
        if (is_fault("lost-receive") && group == 0) {
            break;
        }
        write_receive(rank, time, group);
        return;
    case CLV_CLC_ENTER:
        if (group % 3 == 2) {
            need(OTF2_EvtWriter_NonBlockingCollectiveRequest(rank->writer, rank->attributes, time,
                                                             UINT64_C(1) << 40 | group));
        } else {
            need(OTF2_EvtWriter_MpiCollectiveBegin(rank->writer, rank->attributes, time));
        }
        return;
    case CLV_CLC_EXIT:
        if (is_fault("lost-exit") && group == 0 && clv_clc_member_of(event) == 0) {
            break;
        }
        write_exit(rank, time, event);
        return;
    case CLV_CLC_INTERNAL:
        break;
    }
    write_internal(rank, time, j);
}

/* The location of rank p's other thread; these come after all ranks. */
static uint64_t beside(int p)
{
    return (uint64_t) (synth.config.n_ranks + p);
}

/* Writes the event by this thread or the other one. */
static void write_by_thread(rank_t *rank, const clv_clc_event_t *event, int64_t j)
{
    const int is_message =
        clv_clc_role(event) == CLV_CLC_SEND || clv_clc_role(event) == CLV_CLC_RECEIVE;
    if (!rank->beside || !is_message || event->group % 4 < 2) {
        write_event(rank, event, j);
        return;
    }
    rank_t other = *rank;
    other.writer = rank->beside;
    other.n_events = rank->n_beside;
    write_event(&other, event, j);
    rank->n_beside = other.n_events;
}

static void write_events(void)
{
    need(OTF2_Archive_OpenEvtFiles(archive));
    for (int p = 0; p < synth.config.n_ranks; p++) {
        rank_t rank = {.number = p,
                       .writer = OTF2_Archive_GetEvtWriter(archive, (uint64_t) p),
                       .attributes = OTF2_AttributeList_New()};
        if (is_fault("threads")) {
            rank.beside = OTF2_Archive_GetEvtWriter(archive, beside(p));
        }
        const clv_clc_track_t *track = &synth.trace.tracks[p];
        for (int64_t j = 0; j < track->n_events; j++) {
            write_by_thread(&rank, &track->events[j], j);
        }
        n_written[p] = rank.n_events;
        n_written_beside[p] = rank.n_beside;
        if (rank.beside) {
            need(OTF2_Archive_CloseEvtWriter(archive, rank.beside));
        }
        OTF2_AttributeList_Delete(rank.attributes);
        need(OTF2_Archive_CloseEvtWriter(archive, rank.writer));
    }
    need(OTF2_Archive_CloseEvtFiles(archive));
}

/* ---- definitions ---- */

static void write_offsets(void)
{
    const int n = synth.config.n_ranks;
    need(OTF2_Archive_OpenDefFiles(archive));
    for (int p = 0; p < (is_fault("threads") ? 2 * n : n + has_one_more()); p++) {
        OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(archive, (uint64_t) p);
        const int rank = is_fault("threads") ? p % n : p;
        const int64_t ahead = rank / synth.config.per_host * AHEAD_NS;
        need(OTF2_DefWriter_WriteClockOffset(writer, (uint64_t) ticks_of(BASE_NS + ahead - 1000),
                                             -ticks_of(ahead), 0.3e-6 * timer_hz()));
        need(OTF2_DefWriter_WriteClockOffset(writer, (uint64_t) ticks_of(2 * BASE_NS + ahead),
                                             -ticks_of(ahead), 0.3e-6 * timer_hz()));
        need(OTF2_Archive_CloseDefWriter(archive, writer));
    }
    need(OTF2_Archive_CloseDefFiles(archive));
}

static uint32_t text(OTF2_GlobalDefWriter *writer, const char *string)
{
    need(OTF2_GlobalDefWriter_WriteString(writer, n_strings, string));
    return n_strings++;
}

static void define_places(OTF2_GlobalDefWriter *writer)
{
    char name[64];
    const int n_ranks = synth.config.n_ranks, per_host = synth.config.per_host;
    const uint32_t machine = text(writer, "machine"), node = text(writer, "node");
    const uint32_t thread = text(writer, "thread"), value = text(writer, "kept");
    need(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, 0, machine, machine,
                                                  OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (int h = 0; h * per_host < n_ranks; h++) {
        OTF2_AttributeValue property = {.stringRef = value};
        snprintf(name, sizeof name, is_fault("names") ? "n\xc3%d\xff \"<\n" : "n%d", h);
        need(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, 1 + (uint32_t) h, text(writer, name),
                                                      node, 0));
        need(OTF2_GlobalDefWriter_WriteSystemTreeNodeProperty(writer, 1 + (uint32_t) h, value,
                                                              OTF2_TYPE_STRING, property));
    }
    for (int p = 0; p < n_ranks + has_one_more(); p++) {
        const int h = p < n_ranks && !is_fault("one-host") ? p / per_host : 0;
        snprintf(name, sizeof name, "rank %d", p);
        need(OTF2_GlobalDefWriter_WriteLocationGroup(
            writer, (uint32_t) p, text(writer, name), OTF2_LOCATION_GROUP_TYPE_PROCESS,
            1 + (uint32_t) h, OTF2_UNDEFINED_LOCATION_GROUP));
        need(OTF2_GlobalDefWriter_WriteLocation(writer, (uint64_t) p, thread,
                                                p == n_ranks && is_fault("metric")
                                                    ? OTF2_LOCATION_TYPE_METRIC
                                                    : OTF2_LOCATION_TYPE_CPU_THREAD,
                                                n_written[p], (uint32_t) p));
    }
    for (int p = 0; p < n_ranks && is_fault("threads"); p++) {
        need(OTF2_GlobalDefWriter_WriteLocation(writer, beside(p), thread,
                                                OTF2_LOCATION_TYPE_CPU_THREAD, n_written_beside[p],
                                                (uint32_t) p));
    }
}

/* Synthetic teams have no list of members; their enters identify them. */
static void define_teams(OTF2_GlobalDefWriter *writer, uint32_t empty)
{
    const clv_clc_trace_t *trace = &synth.trace;
    uint64_t *all = calloc(trace->n_members + 1, sizeof *all);
    for (uint32_t p = 0; all && p < trace->n_tracks; p++) {
        for (int64_t j = 0; j < trace->tracks[p].n_events; j++) {
            const clv_clc_event_t *event = &trace->tracks[p].events[j];
            if (clv_clc_role(event) == CLV_CLC_ENTER) {
                all[trace->collectives[event->group].first + clv_clc_member_of(event)] = p;
            }
        }
    }
    for (uint64_t g = 0; g < trace->n_collectives; g++) {
        const clv_clc_collective_t *collective = &trace->collectives[g];
        const uint32_t ref = 1 + collective->team;
        need(OTF2_GlobalDefWriter_WriteGroup(writer, 1 + ref, empty, OTF2_GROUP_TYPE_COMM_GROUP,
                                             OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                             trace->teams[collective->team].n_members,
                                             &all[collective->first]));
        need(OTF2_GlobalDefWriter_WriteComm(writer, ref, empty, 1 + ref, 0, OTF2_COMM_FLAG_NONE));
    }
    free(all);
}

static void define(void)
{
    OTF2_GlobalDefWriter *writer = OTF2_Archive_GetGlobalDefWriter(archive);
    const uint32_t n = (uint32_t) synth.config.n_ranks;
    uint64_t *world = calloc(n, sizeof *world);
    need(OTF2_GlobalDefWriter_WriteClockProperties(
        writer, (uint64_t) timer_hz(), (uint64_t) ticks_of(BASE_NS), (uint64_t) ticks_of(BASE_NS),
        1700000000000000000));
    const uint32_t empty = text(writer, "");
    const uint32_t region =
        text(writer, is_fault("names") ? "\xff\xfe\\ \xed\xa0\x80\x01\xc3" : "compute \"it\"");
    const uint32_t name = text(writer, "true_ns");
    need(OTF2_GlobalDefWriter_WriteAttribute(writer, 0, name, empty, OTF2_TYPE_INT64));
    need(OTF2_GlobalDefWriter_WriteParameter(writer, 0, region, OTF2_PARAMETER_TYPE_UINT64));
    need(OTF2_GlobalDefWriter_WriteRegion(writer, 0, region, region, empty,
                                          OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER,
                                          OTF2_REGION_FLAG_NONE, empty, 0, 0));
    define_places(writer);
    for (uint32_t p = 0; world && p < n; p++) {
        world[p] = p;
    }
    need(OTF2_GlobalDefWriter_WriteGroup(writer, 0, empty, OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                         OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, n, world));
    need(OTF2_GlobalDefWriter_WriteGroup(writer, 1, empty, OTF2_GROUP_TYPE_COMM_GROUP,
                                         OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, n, world));
    need(OTF2_GlobalDefWriter_WriteComm(writer, 0, text(writer, "MPI_COMM_WORLD"), 1,
                                        OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    define_teams(writer, empty);
    need(OTF2_Archive_CloseGlobalDefWriter(archive, writer));
    free(world);
}

static void mark(void)
{
    OTF2_MarkerWriter *writer = OTF2_Archive_GetMarkerWriter(archive);
    need(OTF2_MarkerWriter_WriteDefMarker(writer, 0, "test", "kept", OTF2_SEVERITY_LOW));
    need(OTF2_MarkerWriter_WriteMarker(writer, (uint64_t) ticks_of(BASE_NS + 500), 10, 0,
                                       OTF2_MARKER_SCOPE_LOCATION, 0, "a marker"));
    need(OTF2_Archive_CloseMarkerWriter(archive, writer));
}

/* ---- expected results ---- */

static void find_partners(void)
{
    sender_of = calloc(synth.trace.n_messages + 1, sizeof *sender_of);
    receiver_of = calloc(synth.trace.n_messages + 1, sizeof *receiver_of);
    for (uint32_t p = 0; sender_of && receiver_of && p < synth.trace.n_tracks; p++) {
        for (int64_t j = 0; j < synth.trace.tracks[p].n_events; j++) {
            const clv_clc_event_t *event = &synth.trace.tracks[p].events[j];
            if (clv_clc_role(event) == CLV_CLC_SEND) {
                sender_of[event->group] = p;
            } else if (clv_clc_role(event) == CLV_CLC_RECEIVE) {
                receiver_of[event->group] = p;
            }
        }
    }
}

/* The next event of this role after first, in a message between rank and peer; -1: none. */
static int64_t find_event(uint32_t rank, int64_t first, clv_clc_role_t role, uint32_t peer)
{
    const clv_clc_track_t *track = &synth.trace.tracks[rank];
    const uint32_t *peers = role == CLV_CLC_SEND ? receiver_of : sender_of;
    for (int64_t j = first; j < track->n_events; j++) {
        if (clv_clc_role(&track->events[j]) == role && peers[track->events[j].group] == peer) {
            return j;
        }
    }
    return -1;
}

static int64_t find_group(uint32_t rank, clv_clc_role_t role, uint32_t group)
{
    const clv_clc_track_t *track = &synth.trace.tracks[rank];
    for (int64_t j = 0; j < track->n_events; j++) {
        if (clv_clc_role(&track->events[j]) == role && track->events[j].group == group) {
            return j;
        }
    }
    return -1;
}

/* Creates a cycle: rank 0 receives an answer of the last rank before it sends the message that the
 * answer follows. Exchanges these two events of rank 0, if no other message of the two ranks is
 * between. */
static void make_cycle(void)
{
    const uint32_t peer = (uint32_t) synth.config.n_ranks - 1;
    clv_clc_event_t *own = synth.trace.tracks[0].events;
    const clv_clc_event_t *theirs = synth.trace.tracks[peer].events;
    for (int64_t sent = find_event(0, 0, CLV_CLC_SEND, peer); sent >= 0;
         sent = find_event(0, sent + 1, CLV_CLC_SEND, peer)) {
        const int64_t got = find_group(peer, CLV_CLC_RECEIVE, own[sent].group);
        const int64_t answer = find_event(peer, got + 1, CLV_CLC_SEND, 0);
        if (answer < 0) {
            break;
        }
        const int64_t back = find_event(0, sent, CLV_CLC_RECEIVE, peer);
        const int64_t next = find_event(0, sent + 1, CLV_CLC_SEND, peer);
        if (back > sent && own[back].group == theirs[answer].group && (next < 0 || next > back)) {
            const clv_clc_event_t moving = own[sent];
            own[sent].part = own[back].part;
            own[sent].group = own[back].group;
            own[back].part = moving.part;
            own[back].group = moving.group;
            return;
        }
    }
    fprintf(stderr, "otf2_make: no cycle can be made of this trace\n");
    exit(1);
}

static void print_expected(void)
{
    const clv_clc_config_t config = {.inter_ns = INTER_NS, .intra_ns = INTRA_NS};
    clv_clc_tally_t tallies[CLV_CLC_MAX_OPS];
    clv_clc_place(&synth.trace, CLV_CLC_STAMP, 1);
    clv_clc_count(&synth.trace, &config, tallies);
    const clv_clc_tally_t sum = clv_clc_sum(tallies);
    printf("events %lld messages %lld reversed %lld violated %lld\n",
           (long long) synth.n_events + (long long) synth.trace.n_messages / 2,
           (long long) sum.n_messages, (long long) sum.n_reversed, (long long) sum.n_violated);
}

static int write_archive(const char *folder)
{
    archive = clv_otf2_create(folder, "traces", CLV_OTF2_EVENT_CHUNK, CLV_OTF2_DEFINITION_CHUNK,
                              OTF2_COMPRESSION_NONE);
    if (!archive) {
        return 0;
    }
    need(clv_otf2_spare(archive));
    need(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
    need(OTF2_Archive_SetCreator(archive, "otf2_make"));
    need(OTF2_Archive_SetProperty(archive, "CLV::TEST", "kept", true));
    write_events();
    write_offsets();
    define();
    mark();
    if (is_fault("snapshot")) {
        need(OTF2_Archive_SetNumberOfSnapshots(archive, 1));
    }
    need(OTF2_Archive_Close(archive));
    return 1;
}

int main(int argc, char **argv)
{
    if (argc < 6) {
        fprintf(stderr, "usage: otf2_make DIR RANKS PER_HOST OPS SEED [FAULT]\n");
        return 2;
    }
    cs_random_t random = {strtoull(argv[5], NULL, 0)};
    fault = argc > 6 ? argv[6] : fault;
    const clc_synth_config_t config = {.n_ranks = atoi(argv[2]),
                                       .per_host = atoi(argv[3]),
                                       .n_ops = atoi(argv[4]),
                                       .presync = CLC_SYNTH_ENDS,
                                       .pause_ns = 6e10,
                                       .wander_ns = 3e4,
                                       .offset_error_ns = 1e3,
                                       .intra_ns = 1000,
                                       .inter_ns = 5000,
                                       .jitter = 0.3,
                                       .collective_share = 0.03,
                                       .is_line_per_host = 1};
    clc_synth_make(&synth, &config, &random);
    find_partners();
    if (is_fault("cycle")) {
        make_cycle();
    }
    print_expected();
    if (!write_archive(argv[1])) {
        return 1;
    }
    free(sender_of);
    free(receiver_of);
    clc_synth_free(&synth);
    return 0;
}
