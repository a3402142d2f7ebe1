/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes recorded calls as an OTF2 archive (see view.h): hosts, ranks, communicators, and for each
 * call an enter, the collective's begin and end, and a leave, in global time; of a trace by
 * liballprof in the hosts' own time, with its clock offsets. For timeline tools and for
 * clv-correct. Built if OTF2 is found; else view_no_otf2.c.
 *
 * Nonblocking and persistent calls are left out: regions of a rank must nest. Stamps are ns from a
 * second before the first arrival. If a rank's clock lines overlap, its stamps are adjusted so that
 * they never decrease.
 */
#include <errno.h>
#include <otf2/otf2.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "apps/tools/otf2/otf2_create.h"
#include "apps/tools/view/view.h"
#include "util/util_alloc.h"
#include "util/util_min_max.h"

#define NS_PER_S   INT64_C(1000000000)
#define NODE_WORDS 300

/* A call of one rank. */
typedef struct one {
    int64_t arrival_ns, exit_ns;
    int32_t comm, call;
} one_t;

typedef struct archive {
    const view_t *view;
    OTF2_Archive *otf2;
    OTF2_GlobalDefWriter *definitions;
    int64_t first_ns, end_ns;
    uint64_t *n_events; /* by rank */
    one_t *calls;       /* of one rank */
    uint32_t n_strings;
    OTF2_ErrorCode code; /* the first error */
} archive_t;

static void keep(archive_t *archive, OTF2_ErrorCode code)
{
    archive->code = archive->code == OTF2_SUCCESS ? code : archive->code;
}

/* ---- events ---------------------------------------------------------------------------------- */

static const OTF2_CollectiveOp ops[CLV_CLVA_N_OPS] = {
#define OP_ROW(code, name, root, equal) OTF2_COLLECTIVE_OP_##code,
    CLV_CLVA_OP_MAP(OP_ROW)
#undef OP_ROW
};

static int in_time(const void *a, const void *b)
{
    const one_t *one = a, *other = b;

    return one->arrival_ns < other->arrival_ns ? -1 : one->arrival_ns > other->arrival_ns;
}

/* The time that is written. */
static int64_t own_ns(const view_t *view, int32_t rank, int64_t global_ns)
{
    return view->clocks == NULL ? global_ns : clv_allprof_local(&view->clocks[rank], global_ns);
}

/* The calls of a rank over all communicators, by time. */
static size_t list_calls(const archive_t *archive, int32_t rank)
{
    const view_t *view = archive->view;
    size_t n = 0;

    for (int32_t k = 0; k < view->n_comms; k++) {
        const view_comm_t *comm = &view->comms[k];
        const bool is_there = comm->rank_of[rank] >= 0 && comm->how == CLV_CLVA_HOW_BLOCKING;
        for (int32_t i = 0; is_there && i < comm->n_calls; i++) {
            const size_t cell = (size_t) i * (size_t) comm->n_ranks + (size_t) comm->rank_of[rank];
            if (comm->arrival_ns[cell] != CLV_NUMBERS_NO_TIME) {
                archive->calls[n++] = (one_t){own_ns(view, rank, comm->arrival_ns[cell]),
                                              own_ns(view, rank, comm->exit_ns[cell]), k, i};
            }
        }
    }
    qsort(archive->calls, n, sizeof *archive->calls, in_time);
    return n;
}

static OTF2_TimeStamp stamp(const archive_t *archive, int64_t ns)
{
    return (OTF2_TimeStamp) (ns - archive->first_ns + NS_PER_S);
}

static void put_call(archive_t *archive, OTF2_EvtWriter *writer, int32_t rank, const one_t *one,
                     int64_t *now_ns)
{
    const view_comm_t *comm = &archive->view->comms[one->comm];
    const clv_clva_stream_t *key = &archive->view->streams[comm->stream[one->call]].key;
    const bool has_root = clv_clva_ops[key->op].has_root;
    const bool is_root = has_root && comm->rank_of[rank] == key->root;
    const bool comes_from_root = key->op == CLV_CLVA_OP_BCAST || key->op == CLV_CLVA_OP_SCATTER ||
                                 key->op == CLV_CLVA_OP_SCATTERV;
    const uint64_t bytes = (uint64_t) key->bytes;
    const uint64_t sent = has_root && comes_from_root && !is_root ? 0 : bytes;
    const uint64_t received = has_root && !comes_from_root && !is_root ? 0 : bytes;
    const int64_t begin_ns = clv_larger(one->arrival_ns, *now_ns);
    const int64_t end_ns = clv_larger(one->exit_ns, begin_ns);
    const OTF2_TimeStamp begin = stamp(archive, begin_ns), end = stamp(archive, end_ns);

    keep(archive, OTF2_EvtWriter_Enter(writer, NULL, begin, key->op));
    keep(archive, OTF2_EvtWriter_MpiCollectiveBegin(writer, NULL, begin));
    keep(archive, OTF2_EvtWriter_MpiCollectiveEnd(
                      writer, NULL, end, ops[key->op], (OTF2_CommRef) one->comm,
                      has_root ? (uint32_t) key->root : OTF2_UNDEFINED_UINT32, sent, received));
    keep(archive, OTF2_EvtWriter_Leave(writer, NULL, end, key->op));
    archive->n_events[rank] += 4;
    *now_ns = end_ns;
}

/* From init to finalize; of one that has no finalize only init's. */
static void put_offsets(archive_t *archive, OTF2_DefWriter *writer, int32_t rank)
{
    const clv_allprof_rank_t *clock = &archive->view->clocks[rank];

    keep(archive, OTF2_DefWriter_WriteClockOffset(writer, stamp(archive, clock->init_ns),
                                                  clock->init_offset_ns, 0));
    if (clock->finalize_ns > clock->init_ns) {
        keep(archive, OTF2_DefWriter_WriteClockOffset(writer, stamp(archive, clock->finalize_ns),
                                                      clock->finalize_offset_ns, 0));
    }
}

static void put_events(archive_t *archive)
{
    keep(archive, OTF2_Archive_OpenEvtFiles(archive->otf2));
    for (int32_t rank = 0; rank < archive->view->n_ranks; rank++) {
        OTF2_EvtWriter *writer = OTF2_Archive_GetEvtWriter(archive->otf2, (uint64_t) rank);
        const size_t n = list_calls(archive, rank);
        int64_t now_ns = INT64_MIN;
        for (size_t i = 0; i < n && archive->code == OTF2_SUCCESS; i++) {
            put_call(archive, writer, rank, &archive->calls[i], &now_ns);
        }
        keep(archive, OTF2_Archive_CloseEvtWriter(archive->otf2, writer));
    }
    keep(archive, OTF2_Archive_CloseEvtFiles(archive->otf2));
    /* Readers need local definitions for each location, even empty ones. */
    keep(archive, OTF2_Archive_OpenDefFiles(archive->otf2));
    for (int32_t rank = 0; rank < archive->view->n_ranks; rank++) {
        OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(archive->otf2, (uint64_t) rank);
        if (archive->view->clocks != NULL) {
            put_offsets(archive, writer, rank);
        }
        keep(archive, OTF2_Archive_CloseDefWriter(archive->otf2, writer));
    }
    keep(archive, OTF2_Archive_CloseDefFiles(archive->otf2));
}

/* ---- definitions ----------------------------------------------------------------------------- */

static OTF2_StringRef text(archive_t *archive, const char *string)
{
    keep(archive,
         OTF2_GlobalDefWriter_WriteString(archive->definitions, archive->n_strings, string));
    return archive->n_strings++;
}

static void define_regions(archive_t *archive, OTF2_StringRef empty)
{
    char name[64];

    for (uint32_t op = 0; op < CLV_CLVA_N_OPS; op++) {
        (void) snprintf(name, sizeof name, "MPI_%s", clv_clva_ops[op].name);
        name[4] = (char) (name[4] - 'a' + 'A');
        const OTF2_StringRef ref = text(archive, name);
        keep(archive,
             OTF2_GlobalDefWriter_WriteRegion(
                 archive->definitions, op, ref, ref, empty,
                 op == CLV_CLVA_OP_BARRIER ? OTF2_REGION_ROLE_BARRIER : OTF2_REGION_ROLE_COLL_OTHER,
                 OTF2_PARADIGM_MPI, OTF2_REGION_FLAG_NONE, empty, 0, 0));
    }
}

/* Nodes have numbers from 1 below the machine; one more is for ranks whose node was not
 * recorded. */
static void define_places(archive_t *archive)
{
    const view_t *view = archive->view;
    const OTF2_StringRef machine = text(archive, "machine"), node = text(archive, "node");
    const OTF2_StringRef thread = text(archive, "thread");
    char name[NODE_WORDS];

    keep(archive, OTF2_GlobalDefWriter_WriteSystemTreeNode(
                      archive->definitions, 0, machine, machine, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (int32_t i = 0; i <= view->n_nodes; i++) {
        const bool is_there = i < view->n_nodes && view->nodes[i].is_there;
        (void) snprintf(name, sizeof name, "%s",
                        is_there ? view->nodes[i].head.host : "not recorded");
        keep(archive, OTF2_GlobalDefWriter_WriteSystemTreeNode(
                          archive->definitions, 1 + (uint32_t) i, text(archive, name), node, 0));
    }
    for (int32_t p = 0; p < view->n_ranks; p++) {
        const int32_t at = view->node_of[p] < 0 ? view->n_nodes : view->node_of[p];
        (void) snprintf(name, sizeof name, "rank %d", (int) p);
        keep(archive, OTF2_GlobalDefWriter_WriteLocationGroup(
                          archive->definitions, (uint32_t) p, text(archive, name),
                          OTF2_LOCATION_GROUP_TYPE_PROCESS, 1 + (uint32_t) at,
                          OTF2_UNDEFINED_LOCATION_GROUP));
        keep(archive, OTF2_GlobalDefWriter_WriteLocation(archive->definitions, (uint64_t) p, thread,
                                                         OTF2_LOCATION_TYPE_CPU_THREAD,
                                                         archive->n_events[p], (uint32_t) p));
    }
}

static void define_group(archive_t *archive, uint32_t ref, OTF2_GroupType type, OTF2_StringRef name,
                         int32_t n, const int32_t *members)
{
    uint64_t *ranks = clv_alloc((size_t) n, sizeof *ranks);

    if (ranks == NULL) {
        keep(archive, OTF2_ERROR_MEM_ALLOC_FAILED);
        return;
    }
    for (int32_t i = 0; i < n; i++) {
        ranks[i] = (uint64_t) (members == NULL ? i : members[i]);
    }
    keep(archive,
         OTF2_GlobalDefWriter_WriteGroup(archive->definitions, ref, name, type, OTF2_PARADIGM_MPI,
                                         OTF2_GROUP_FLAG_NONE, (uint32_t) n, ranks));
    clv_free(ranks);
}

static void define(archive_t *archive)
{
    const view_t *view = archive->view;
    const uint64_t lasted_ns = (uint64_t) (archive->end_ns - archive->first_ns + 2 * NS_PER_S);
    const uint64_t started_ns =
        (uint64_t) view_any_head(view)->started_unix_s * (uint64_t) NS_PER_S;

    archive->definitions = OTF2_Archive_GetGlobalDefWriter(archive->otf2);
    keep(archive, OTF2_GlobalDefWriter_WriteClockProperties(
                      archive->definitions, (uint64_t) NS_PER_S, 0, lasted_ns, started_ns));
    const OTF2_StringRef empty = text(archive, "");
    define_regions(archive, empty);
    define_places(archive);
    define_group(archive, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, empty, view->n_ranks, NULL);
    for (int32_t i = 0; i < view->n_comms; i++) {
        const view_comm_t *comm = &view->comms[i];
        if (comm->how != CLV_CLVA_HOW_BLOCKING) {
            continue;
        }
        const OTF2_StringRef name = text(archive, comm->name);
        define_group(archive, 1 + (uint32_t) i, OTF2_GROUP_TYPE_COMM_GROUP, empty, comm->n_ranks,
                     comm->members);
        keep(archive, OTF2_GlobalDefWriter_WriteComm(archive->definitions, (uint32_t) i, name,
                                                     1 + (uint32_t) i, OTF2_UNDEFINED_COMM,
                                                     OTF2_COMM_FLAG_NONE));
    }
    keep(archive, OTF2_Archive_CloseGlobalDefWriter(archive->otf2, archive->definitions));
}

/* ---- the archive ----------------------------------------------------------------------------- */

static void span(archive_t *archive, int64_t first_ns, int64_t end_ns)
{
    archive->first_ns = clv_smaller(archive->first_ns, first_ns);
    archive->end_ns = clv_larger(archive->end_ns, end_ns);
}

/* Finds its time span, and allocates the calls of a rank. False: no memory. */
static bool measure(archive_t *archive)
{
    const view_t *view = archive->view;
    size_t n_calls = 1;

    archive->first_ns = INT64_MAX;
    archive->end_ns = INT64_MIN;
    for (int32_t k = 0; k < view->n_comms; k++) {
        const view_comm_t *comm = &view->comms[k];
        n_calls += (size_t) comm->n_calls;
        for (size_t i = 0; i < (size_t) comm->n_calls * (size_t) comm->n_ranks; i++) {
            if (comm->arrival_ns[i] != CLV_NUMBERS_NO_TIME) {
                const int32_t rank = comm->members[i % (size_t) comm->n_ranks];
                span(archive, own_ns(view, rank, comm->arrival_ns[i]),
                     own_ns(view, rank, comm->exit_ns[i]));
            }
        }
    }
    for (int32_t r = 0; r < view->n_ranks && view->clocks != NULL; r++) {
        span(archive, view->clocks[r].init_ns, view->clocks[r].finalize_ns);
    }
    archive->calls = clv_alloc(n_calls, sizeof *archive->calls);
    archive->n_events = clv_alloc((size_t) view->n_ranks, sizeof *archive->n_events);
    return archive->calls != NULL && archive->n_events != NULL;
}

static OTF2_ErrorCode write_archive(archive_t *archive, const char *folder)
{
    archive->otf2 = clv_otf2_create(folder, "traces", CLV_OTF2_EVENT_CHUNK,
                                    CLV_OTF2_DEFINITION_CHUNK, OTF2_COMPRESSION_NONE);
    if (archive->otf2 == NULL) {
        return OTF2_ERROR_FILE_CAN_NOT_OPEN;
    }
    keep(archive, OTF2_Archive_SetSerialCollectiveCallbacks(archive->otf2));
    keep(archive, OTF2_Archive_SetCreator(archive->otf2, "clv-view"));
    put_events(archive);
    define(archive);
    keep(archive, OTF2_Archive_Close(archive->otf2));
    return archive->code;
}

/* Silences OTF2: our own line describes the error code. */
static OTF2_ErrorCode say_nothing(void *user, const char *file, uint64_t number,
                                  const char *function, OTF2_ErrorCode code, const char *format,
                                  va_list arguments)
{
    (void) user;
    (void) file;
    (void) number;
    (void) function;
    (void) format;
    (void) arguments;
    return code;
}

int view_export_otf2(const view_t *view, const char *folder)
{
    archive_t archive = {.view = view};
    OTF2_ErrorCode code = OTF2_ERROR_MEM_ALLOC_FAILED;

    if (folder == NULL || folder[0] == '\0' || !view->has_time || view->n_cells == 0) {
        fprintf(stderr, "clv-view: --export otf2 needs calls on one clock and -o FOLDER\n");
        return 2;
    }
    if (mkdir(folder, 0777) != 0 && errno != EEXIST && errno != ENOENT) { /* OTF2 creates parents */
        fprintf(stderr, "clv-view: %s: %s\n", folder, strerror(errno));
        return 2;
    }
    OTF2_Error_RegisterCallback(say_nothing, NULL);
    if (measure(&archive)) {
        code = write_archive(&archive, folder);
    }
    clv_free(archive.calls);
    clv_free(archive.n_events);
    if (code != OTF2_SUCCESS) {
        fprintf(stderr, "clv-view: %s: %s\n", folder, OTF2_Error_GetDescription(code));
    }
    return code == OTF2_SUCCESS ? 0 : 1;
}
