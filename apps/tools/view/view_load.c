/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the files of a folder into calls by communicator, number and rank (see view.h). Passes over
 * the records: communicators, streams, call numbers, then times.
 */
#include "apps/tools/view/view.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/cli_file.h"
#include "apps/tools/view/view_index.h"
#include "util/util_alloc.h"
#include "util/util_hash.h"
#include "util/util_min_max.h"
#include "util/util_text.h"

/* One rank's streams, and its state in the current pass. */
typedef struct rank_state {
    int32_t *stream; /* by its number; -1: unknown */
    int64_t before_ns;
    view_before_t before;
} rank_state_t;

typedef struct loader {
    view_t *view;
    const view_choice_t *choice;
    view_node_t *node; /* of the file being read */
    rank_state_t *ranks;
    bool *is_wanted; /* by rank */
    view_index_t comms, streams;
    int32_t max_streams, max_comms;
    int32_t *max_calls; /* by communicator */
    char *reason;
    size_t size;
    bool failed;
} loader_t;

static bool fail(loader_t *loader, const char *text, const char *what)
{
    if (!loader->failed) {
        (void) snprintf(loader->reason, loader->size, text, what);
    }
    loader->failed = true;
    return false;
}

/* Makes room for one more item in *items_p, which has n of *max_p. */
static bool grow(loader_t *loader, void **items_p, int32_t n, int32_t *max_p, size_t item_bytes)
{
    if (n < *max_p) {
        return true;
    }
    const int32_t max = *max_p < 16 ? 32 : 2 * *max_p;
    void *items = clv_alloc((size_t) max, item_bytes);
    if (items == NULL) {
        return fail(loader, "%s", "out of memory");
    }
    if (n > 0) {
        memcpy(items, *items_p, (size_t) n * item_bytes);
    }
    clv_free(*items_p);
    *items_p = items;
    *max_p = max;
    return true;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int is_record_file(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);

    return length > 5 && strcmp(entry->d_name + length - 5, ".clva") == 0;
}

static bool start_view(loader_t *loader, const clv_clva_head_t *head)
{
    view_t *view = loader->view;
    const size_t n_ranks = (size_t) head->n_ranks;

    view->n_nodes = (int32_t) head->n_nodes;
    view->n_ranks = (int32_t) head->n_ranks;
    view->nodes = clv_alloc((size_t) head->n_nodes, sizeof *view->nodes);
    view->node_of = clv_alloc(n_ranks, sizeof *view->node_of);
    view->n_dropped = clv_alloc(n_ranks, sizeof *view->n_dropped);
    view->early = clv_alloc(n_ranks, sizeof *view->early);
    view->waits = clv_alloc(n_ranks, sizeof *view->waits);
    loader->ranks = clv_alloc(n_ranks, sizeof *loader->ranks);
    loader->is_wanted = clv_alloc(n_ranks, 1);
    if (view->nodes == NULL || view->node_of == NULL || view->n_dropped == NULL ||
        view->early == NULL || view->waits == NULL || loader->ranks == NULL ||
        loader->is_wanted == NULL) {
        return fail(loader, "%s", "out of memory");
    }
    for (size_t i = 0; i < n_ranks; i++) {
        view->node_of[i] = -1;
        loader->ranks[i].before_ns = CLV_NUMBERS_NO_TIME;
        loader->ranks[i].before.comm = -1;
    }
    return true;
}

static bool fits_the_others(loader_t *loader, const view_node_t *node)
{
    const view_t *view = loader->view;

    if (view->nodes == NULL) {
        return start_view(loader, &node->head);
    }
    for (int32_t i = 0; i < view->n_nodes; i++) {
        if (view->nodes[i].is_there && strcmp(view->nodes[i].head.job, node->head.job) != 0) {
            return fail(loader, "files of two jobs: %s is not of the same as the others",
                        node->path);
        }
    }
    if (node->head.n_nodes != view->n_nodes || node->head.n_ranks != view->n_ranks ||
        view->nodes[node->head.node].is_there) {
        return fail(loader, "%s does not fit the other files of its job", node->path);
    }
    return true;
}

/* On success node->bytes belong to the view; otherwise they are freed. */
static bool take_node(loader_t *loader, view_node_t *node)
{
    bool done = false;

    switch (clv_clva_get_head(node->bytes, node->n_bytes, &node->head, &node->first)) {
    case CLV_OK:
        clv_text_make_plain(node->head.host);
        clv_text_make_plain(node->head.program);
        node->is_there = true;
        done = fits_the_others(loader, node);
        break;
    case CLV_UNSUPPORTED:
        (void) fail(loader, "%s is of a newer format than this clv-view knows", node->path);
        break;
    default:
        (void) fail(loader, "%s is no .clva file", node->path);
    }
    if (!done) {
        clv_free(node->bytes);
        return false;
    }
    loader->view->nodes[node->head.node] = *node;
    loader->view->n_nodes_there++;
    return true;
}

static bool open_node(loader_t *loader, const char *folder, const char *name)
{
    view_node_t node = {.every = 1};
    const char *reason;

    (void) snprintf(node.path, sizeof node.path, "%s/%s", folder, name);
    node.bytes = (unsigned char *) clv_file_read(node.path, &node.n_bytes, &reason);
    if (node.bytes == NULL) {
        (void) snprintf(loader->reason, loader->size, "%s: %s", node.path, reason);
        loader->failed = true;
        return false;
    }
    return take_node(loader, &node);
}

/* Counts the collectives reversed with and without the files' own clock offsets. */
static void find_reversed(view_t *view, const clv_allprof_t *trace)
{
    size_t used = 0;

    for (int32_t op = 0; op < CLV_ALLPROF_N_OPS; op++) {
        int64_t n_calls = 0;
        const int64_t n_local = clv_allprof_reversed(trace, op, false, &n_calls);
        view->n_reversed += clv_allprof_reversed(trace, op, true, &n_calls);
        view->n_by_offsets += n_calls;
        if (n_local > 0 && used < sizeof view->reversed) {
            used +=
                (size_t) snprintf(view->reversed + used, sizeof view->reversed - used,
                                  "%s%lld of %lld %s", used > 0 ? ", " : "", (long long) n_local,
                                  (long long) n_calls, clv_allprof_ops[op].name);
        }
    }
}

static bool keep_clocks(loader_t *loader, const clv_allprof_t *trace)
{
    clv_allprof_rank_t *clocks = clv_alloc((size_t) trace->n_ranks, sizeof *clocks);

    for (int32_t i = 0; i < trace->n_ranks && clocks != NULL; i++) {
        clocks[i] = trace->ranks[i];
        clocks[i].path = NULL;
        clocks[i].calls = NULL;
    }
    loader->view->clocks = clocks;
    return clocks != NULL || fail(loader, "%s", "out of memory");
}

/* Reads a folder of liballprof text as if the recorder had written it. */
static bool open_allprof(loader_t *loader, const char *folder)
{
    clv_allprof_t trace;

    loader->failed = clv_allprof_read(folder, &trace, loader->reason, loader->size) != CLV_OK;
    for (int32_t i = 0; i < trace.n_nodes && !loader->failed; i++) {
        view_node_t node = {.every = 1};
        (void) snprintf(node.path, sizeof node.path, "%s", folder);
        node.bytes = view_allprof_node(&trace, folder, i, &node.n_bytes);
        if (node.bytes == NULL) {
            (void) fail(loader, "%s", "out of memory");
        } else {
            (void) take_node(loader, &node);
        }
    }
    if (!loader->failed && keep_clocks(loader, &trace)) {
        find_reversed(loader->view, &trace);
    }
    if (!loader->choice->is_quiet && !loader->failed && trace.n_other_comms > 0) {
        fprintf(stderr, "clv-view: %lld call%s of smaller communicators %s left out\n",
                (long long) trace.n_other_comms, clv_text_s(trace.n_other_comms),
                trace.n_other_comms == 1 ? "is" : "are");
    }
    clv_allprof_free(&trace);
    return !loader->failed;
}

static bool open_nodes(loader_t *loader, const char *folder)
{
    struct dirent **entries = NULL;
    const int n = scandir(folder, &entries, is_record_file, alphasort);

    if (n < 0) {
        (void) snprintf(loader->reason, loader->size, "%s: %s", folder, strerror(errno));
        loader->failed = true;
        return false;
    }
    for (int i = 0; i < n; i++) {
        if (!loader->failed) {
            (void) open_node(loader, folder, entries[i]->d_name);
        }
        free(entries[i]); /* allocated by scandir */
    }
    free(entries);
    if (n == 0 && clv_allprof_is_there(folder)) {
        return open_allprof(loader, folder);
    }
    return n == 0 ? fail(loader, "no .clva files in %s", folder) : !loader->failed;
}

/* ---- records of a file ----------------------------------------------------------------------- */

typedef bool (*take_t)(loader_t *loader, const clv_clva_record_t *record);

static bool each_record(loader_t *loader, take_t take)
{
    view_node_t *node = loader->node;
    size_t at = node->first, used = 0;
    clv_status_t status = CLV_OK;

    while (status == CLV_OK && at < node->n_bytes) {
        clv_clva_record_t record;
        status = clv_clva_get_record(node->bytes + at, node->n_bytes - at, loader->view->n_ranks,
                                     &record, &used);
        if (status == CLV_OK && !take(loader, &record)) {
            return false;
        }
        at += status == CLV_OK ? used : 0;
    }
    node->is_cut = status == CLV_AGAIN;
    return status != CLV_PROTOCOL || fail(loader, "%s is damaged", node->path);
}

static bool each_file(loader_t *loader, take_t take)
{
    for (int32_t i = 0; i < loader->view->n_nodes; i++) {
        loader->node = &loader->view->nodes[i];
        if (loader->node->is_there && !each_record(loader, take)) {
            return false;
        }
    }
    return true;
}

/* ---- first pass: ranks, communicators, clocks ------------------------------------------------ */

/* The id is already a hash, and ids are unique. */
static int32_t find_comm(const loader_t *loader, uint64_t id)
{
    size_t probe = 0;

    return view_index_next(&loader->comms, id, &probe);
}

/* Adds a communicator. NULL: no memory. */
static view_comm_t *add_comm(loader_t *loader, const view_comm_t *like)
{
    view_t *view = loader->view;

    if (!grow(loader, (void **) &view->comms, view->n_comms, &loader->max_comms,
              sizeof *view->comms)) {
        return NULL;
    }
    view->comms[view->n_comms] = *like;
    return &view->comms[view->n_comms++];
}

static bool take_comm(loader_t *loader, const clv_clva_comm_t *from)
{
    view_t *view = loader->view;
    view_comm_t like = {.id = from->id, .n_ranks = from->n_ranks};

    if (find_comm(loader, from->id) >= 0) {
        return true;
    }
    memcpy(like.name, from->name, sizeof like.name);
    clv_text_make_plain(like.name);
    view_comm_t *comm = add_comm(loader, &like);
    if (comm == NULL) {
        return false;
    }
    comm->members = clv_alloc((size_t) comm->n_ranks, sizeof *comm->members);
    comm->rank_of = clv_alloc((size_t) view->n_ranks, sizeof *comm->rank_of);
    if (comm->members == NULL || comm->rank_of == NULL ||
        !view_index_put(&loader->comms, comm->id, view->n_comms - 1)) {
        return fail(loader, "%s", "out of memory");
    }
    memset(comm->rank_of, 0xff, (size_t) view->n_ranks * sizeof *comm->rank_of);
    for (int32_t i = 0; i < comm->n_ranks; i++) {
        comm->members[i] = clv_clva_get_member(from, i);
        comm->rank_of[comm->members[i]] = i;
    }
    return true;
}

/* Copies a communicator for calls with their own numbers; shares the members of the original. -1:
 * no memory. */
static int32_t copy_comm(loader_t *loader, int32_t from, uint8_t how)
{
    view_comm_t like = loader->view->comms[from];

    like.id = 0;
    like.how = how;
    return add_comm(loader, &like) == NULL ? -1 : loader->view->n_comms - 1;
}

static bool take_clock(loader_t *loader, const clv_clva_clock_t *clock)
{
    view_node_t *node = loader->node;
    int32_t max = node->n_clocks; /* doubled at powers of two */

    if ((node->n_clocks & (node->n_clocks - 1)) == 0 || node->n_clocks == 0) {
        if (!grow(loader, (void **) &node->clocks, node->n_clocks, &max, sizeof *clock)) {
            return false;
        }
    }
    node->clocks[node->n_clocks++] = *clock;
    return true;
}

static void take_early(view_t *view, int32_t rank, const clv_clva_early_t *early)
{
    clv_clva_early_t *most = &view->early[rank];

    if (early->window_bytes + early->buffer_bytes > most->window_bytes + most->buffer_bytes) {
        *most = *early;
    }
}

static bool take_first(loader_t *loader, const clv_clva_record_t *record)
{
    view_t *view = loader->view;

    switch (record->kind) {
    case CLV_CLVA_LOCAL:
        for (int32_t i = 0; i < record->n; i++) {
            view->node_of[clv_clva_get_local(record, i)] = (int32_t) loader->node->head.node;
        }
        return true;
    case CLV_CLVA_COMM:
        return take_comm(loader, &record->comm);
    case CLV_CLVA_CLOCK:
        return take_clock(loader, &record->clock);
    case CLV_CLVA_DROPPED:
        view->n_dropped[record->rank] = record->number;
        return true;
    case CLV_CLVA_EVERY:
        loader->node->every = record->number;
        return true;
    case CLV_CLVA_COST:
        view->cost = view->cost.byte_ps == 0 ? record->cost : view->cost;
        return true;
    case CLV_CLVA_EARLY:
        take_early(view, record->rank, &record->early);
        return true;
    case CLV_CLVA_WAITS:
        view->waits[record->rank] = record->waits;
        return true;
    case CLV_CLVA_END:
        loader->node->has_ended = true;
        loader->node->thread_ns = record->thread_ns;
        return true;
    default:
        return true;
    }
}

/* ---- second pass: streams -------------------------------------------------------------------- */

static bool is_same_stream(const clv_clva_stream_t *a, const clv_clva_stream_t *b)
{
    return a->op == b->op && a->how == b->how && a->request == b->request && a->comm == b->comm &&
           a->bytes == b->bytes && a->root == b->root && a->type == b->type &&
           a->element_bytes == b->element_bytes;
}

static uint64_t hash_of(const clv_clva_stream_t *key)
{
    const uint64_t words[4] = {key->comm, (uint64_t) key->bytes,
                               (uint64_t) (uint32_t) key->root << 32 | key->request,
                               (uint64_t) key->element_bytes << 24 | (uint64_t) key->type << 16 |
                                   (uint64_t) key->how << 8 | key->op};

    return clv_fnv1a64(CLV_FNV1A64_BASIS, words, sizeof words);
}

/* -1: the communicator is unknown, or memory is short. */
static int32_t add_stream(loader_t *loader, const clv_clva_stream_t *key)
{
    view_t *view = loader->view;
    int32_t comm = find_comm(loader, key->comm);

    if (comm >= 0 && key->how != CLV_CLVA_HOW_BLOCKING) {
        comm = copy_comm(loader, comm, key->how);
    }
    if (comm < 0 || !grow(loader, (void **) &view->streams, view->n_streams, &loader->max_streams,
                          sizeof *view->streams)) {
        return -1;
    }
    if (!view_index_put(&loader->streams, hash_of(key), view->n_streams)) {
        (void) fail(loader, "%s", "out of memory");
        return -1;
    }
    view->streams[view->n_streams] = (view_stream_t){comm, *key};
    return view->n_streams++;
}

static int32_t find_stream(loader_t *loader, const clv_clva_stream_t *key)
{
    const uint64_t hash = hash_of(key);
    size_t probe = 0;
    int32_t at;

    do {
        at = view_index_next(&loader->streams, hash, &probe);
    } while (at >= 0 && !is_same_stream(&loader->view->streams[at].key, key));
    return at >= 0 ? at : add_stream(loader, key);
}

static bool take_stream(loader_t *loader, const clv_clva_record_t *record)
{
    rank_state_t *rank = &loader->ranks[record->rank];

    if (record->kind != CLV_CLVA_STREAM) {
        return true;
    }
    if (rank->stream == NULL) {
        rank->stream = clv_alloc(CLV_CLVA_MAX_STREAMS, sizeof *rank->stream);
        if (rank->stream == NULL) {
            return fail(loader, "%s", "out of memory");
        }
        memset(rank->stream, 0xff, CLV_CLVA_MAX_STREAMS * sizeof *rank->stream);
    }
    rank->stream[record->stream.stream] = find_stream(loader, &record->stream);
    return !loader->failed;
}

/* ---- third pass: call numbers ---------------------------------------------------------------- */

/* The call's communicator, and the index of its stream; NULL: not selected, or unknown. */
static view_comm_t *comm_of(const loader_t *loader, int32_t rank, const clv_clva_call_t *call,
                            int32_t *stream_p)
{
    const rank_state_t *state = &loader->ranks[rank];
    view_t *view = loader->view;

    *stream_p = state->stream == NULL ? -1 : state->stream[call->stream];
    if (*stream_p < 0 || !loader->is_wanted[rank] || call->number < loader->choice->first_call ||
        call->number > loader->choice->last_call ||
        (loader->choice->stream >= 0 && loader->choice->stream != *stream_p)) {
        return NULL;
    }
    return &view->comms[view->streams[*stream_p].comm];
}

/* The index of a number among the ascending ones; n_calls if it is larger than all. */
static int32_t place_of(const view_comm_t *comm, uint32_t number)
{
    int32_t low = 0, high = comm->n_calls;

    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (comm->number[middle] < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Ranks are read one after the other, so most numbers are either new at the end or known. */
static bool add_number(loader_t *loader, view_comm_t *comm, uint32_t number)
{
    const int32_t at = place_of(comm, number);

    if (at < comm->n_calls && comm->number[at] == number) {
        return true;
    }
    if (!grow(loader, (void **) &comm->number, comm->n_calls,
              &loader->max_calls[comm - loader->view->comms], sizeof *comm->number)) {
        return false;
    }
    memmove(comm->number + at + 1, comm->number + at,
            (size_t) (comm->n_calls - at) * sizeof *comm->number);
    comm->number[at] = number;
    comm->n_calls++;
    return true;
}

static bool take_numbers(loader_t *loader, const clv_clva_record_t *record)
{
    clv_clva_call_t call;
    int32_t stream;

    for (int32_t i = 0; record->kind == CLV_CLVA_CALLS && i < record->n; i++) {
        if (clv_clva_get_call(record, i, &call) != CLV_OK) {
            return fail(loader, "%s is damaged", loader->node->path);
        }
        view_comm_t *comm = comm_of(loader, record->rank, &call, &stream);
        if (comm != NULL && !add_number(loader, comm, call.number)) {
            return false;
        }
    }
    return true;
}

/* ---- fourth pass: the times ------------------------------------------------------------------ */

static bool reserve_times(loader_t *loader, view_comm_t *comm)
{
    const size_t n_calls = (size_t) comm->n_calls;

    if (n_calls == 0) {
        return true;
    }
    comm->stream = clv_alloc(n_calls, sizeof *comm->stream);
    comm->choice = clv_alloc(n_calls, 1);
    comm->reason = clv_alloc(n_calls, 1);
    const size_t n_cells = n_calls * (size_t) comm->n_ranks;
    comm->arrival_ns = clv_alloc_unset(n_cells, sizeof *comm->arrival_ns);
    comm->exit_ns = clv_alloc(n_cells, sizeof *comm->exit_ns);
    comm->before_ns = clv_alloc(n_cells, sizeof *comm->before_ns);
    comm->before = clv_alloc(n_cells, sizeof *comm->before);
    comm->bound_ns = clv_alloc(n_cells, sizeof *comm->bound_ns);
    comm->predicted_ns = clv_alloc(n_cells, sizeof *comm->predicted_ns);
    if (comm->stream == NULL || comm->choice == NULL || comm->reason == NULL ||
        comm->arrival_ns == NULL || comm->exit_ns == NULL || comm->before_ns == NULL ||
        comm->before == NULL || comm->bound_ns == NULL || comm->predicted_ns == NULL) {
        return fail(loader, "%s", "out of memory");
    }
    for (size_t i = 0; i < n_cells; i++) {
        comm->arrival_ns[i] = CLV_NUMBERS_NO_TIME;
    }
    return true;
}

int64_t view_global(const view_node_t *node, int64_t local_ns, int64_t *bound_ns_p)
{
    int32_t low = 0, high = node->n_clocks; /* the first line that became valid later */
    int64_t other_bound_ns;

    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (node->clocks[middle].from_ns <= local_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *bound_ns_p = 0;
    if (node->n_clocks == 0) {
        return local_ns;
    }
    const int32_t here = low > 0 ? low - 1 : 0, next = low < node->n_clocks ? low : here;
    const int64_t global_ns = clv_clva_global(&node->clocks[here], local_ns, bound_ns_p);
    const int64_t other_ns = clv_clva_global(&node->clocks[next], local_ns, &other_bound_ns);
    const int64_t apart_ns = other_ns > global_ns ? other_ns - global_ns : global_ns - other_ns;
    /* The next line may be more exact, unless the clock was set in between. */
    if (other_bound_ns < *bound_ns_p && apart_ns <= other_bound_ns + *bound_ns_p) {
        *bound_ns_p = other_bound_ns;
        return other_ns;
    }
    return global_ns;
}

static void set_times(loader_t *loader, view_comm_t *comm, int32_t rank,
                      const clv_clva_call_t *call, int32_t stream)
{
    const int32_t at = place_of(comm, call->number);
    const size_t cell = (size_t) at * (size_t) comm->n_ranks + (size_t) comm->rank_of[rank];
    int64_t bound_ns, exit_bound_ns;

    comm->stream[at] = stream;
    comm->choice[at] = call->choice;
    comm->reason[at] = call->reason;
    comm->arrival_ns[cell] = view_global(loader->node, call->arrival_ns, &bound_ns);
    comm->exit_ns[cell] = clv_larger(comm->arrival_ns[cell],
                                     view_global(loader->node, call->exit_ns, &exit_bound_ns));
    comm->before_ns[cell] =
        comm->how == CLV_CLVA_HOW_BLOCKING ? loader->ranks[rank].before_ns : CLV_NUMBERS_NO_TIME;
    comm->before[cell] = loader->ranks[rank].before;
    comm->bound_ns[cell] = (int32_t) clv_smaller(bound_ns, INT32_MAX);
    comm->predicted_ns[cell] = call->predicted_ns;
    loader->view->worst_bound_ns = clv_larger(loader->view->worst_bound_ns, bound_ns);
    loader->view->n_cells++;
}

/* The rank has left a blocking call; comm: NULL if that is not shown. */
static void leave(loader_t *loader, int32_t rank, const clv_clva_call_t *call, int32_t stream,
                  const view_comm_t *comm)
{
    rank_state_t *state = &loader->ranks[rank];
    int64_t bound_ns;

    if (stream < 0 || loader->view->streams[stream].key.how == CLV_CLVA_HOW_BLOCKING) {
        state->before_ns = view_global(loader->node, call->exit_ns, &bound_ns);
        state->before.comm = comm == NULL ? -1 : (int32_t) (comm - loader->view->comms);
        state->before.call = comm == NULL ? 0 : place_of(comm, call->number);
    }
}

static bool take_times(loader_t *loader, const clv_clva_record_t *record)
{
    clv_clva_call_t call;
    int32_t stream;

    for (int32_t i = 0; record->kind == CLV_CLVA_CALLS && i < record->n; i++) {
        if (clv_clva_get_call(record, i, &call) != CLV_OK) {
            return fail(loader, "%s is damaged", loader->node->path);
        }
        view_comm_t *comm = comm_of(loader, record->rank, &call, &stream);
        if (comm != NULL && comm->rank_of[record->rank] < 0) {
            comm = NULL;
        }
        if (comm != NULL) {
            set_times(loader, comm, record->rank, &call, stream);
        }
        leave(loader, record->rank, &call, stream, comm);
    }
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int read_rank(const char **at, int32_t n_ranks, int32_t *rank_p)
{
    const char *text = *at;
    int64_t rank = 0;

    for (; *text >= '0' && *text <= '9' && rank < n_ranks; text++) {
        rank = 10 * rank + (*text - '0');
    }
    if (text == *at || rank >= n_ranks) {
        return 0;
    }
    *at = text;
    *rank_p = (int32_t) rank;
    return 1;
}

/* Parses "0,4-7"; NULL is all. */
static bool read_ranks(loader_t *loader)
{
    const char *at = loader->choice->ranks;
    const int32_t n_ranks = loader->view->n_ranks;

    if (at == NULL) {
        memset(loader->is_wanted, 1, (size_t) n_ranks);
        return true;
    }
    do {
        int32_t first = 0;
        bool is_good = read_rank(&at, n_ranks, &first);
        int32_t last = first;
        if (is_good && *at == '-') {
            at++;
            is_good = read_rank(&at, n_ranks, &last);
        }
        if (!is_good || last < first || (*at != ',' && *at != '\0')) {
            (void) snprintf(loader->reason, loader->size,
                            "--ranks must be ranks of this job, 0 to %d, such as 0,4-7, not '%s'",
                            (int) n_ranks - 1, loader->choice->ranks);
            loader->failed = true;
            return false;
        }
        memset(loader->is_wanted + first, 1, (size_t) (last - first + 1));
    } while (*at++ == ',');
    return true;
}

/* Prints one line on a node's most serious problem. */
static void warn_of_node(view_t *view, int32_t at)
{
    const view_node_t *node = &view->nodes[at];

    if (!node->is_there) {
        fprintf(stderr, "clv-view: the file of host %d is missing: its ranks are left out\n",
                (int) at);
        view->is_partial = true;
    } else if (node->n_clocks == 0 && view->n_nodes > 1) {
        fprintf(stderr, "clv-view: %s: the clock was never synchronised: no lateness\n",
                node->path);
        view->is_partial = true;
    } else if (node->is_cut) {
        fprintf(stderr, "clv-view: %s ends early, within a record: what is before it is shown\n",
                node->path);
        view->is_partial = true;
    } else if (!node->has_ended) {
        fprintf(stderr, "clv-view: %s ends early: the job is running or was killed\n", node->path);
    }
}

/* Whether the nodes' clocks can be compared. */
static bool has_clocks(const view_t *view)
{
    for (int32_t i = 0; i < view->n_nodes; i++) {
        if (view->nodes[i].is_there && view->nodes[i].n_clocks == 0 && view->n_nodes > 1) {
            return false;
        }
    }
    return true;
}

static void warn(view_t *view)
{
    for (int32_t i = 0; i < view->n_nodes; i++) {
        warn_of_node(view, i);
    }
}

static bool load(loader_t *loader, const char *folder)
{
    view_t *view = loader->view;

    if (!open_nodes(loader, folder) || !read_ranks(loader) || !each_file(loader, take_first) ||
        !each_file(loader, take_stream)) {
        return false;
    }
    view->has_time = has_clocks(view);
    if (!loader->choice->is_quiet) {
        warn(view);
    }
    loader->max_calls = clv_alloc((size_t) view->n_comms + 1, sizeof *loader->max_calls);
    if (loader->max_calls == NULL) {
        return fail(loader, "%s", "out of memory");
    }
    if (!each_file(loader, take_numbers)) {
        return false;
    }
    for (int32_t i = 0; i < view->n_comms; i++) {
        if (!reserve_times(loader, &view->comms[i])) {
            return false;
        }
    }
    return each_file(loader, take_times);
}

bool view_load(const char *folder, const view_choice_t *choice, view_t *view, char *reason,
               size_t size)
{
    loader_t loader = {.view = view, .choice = choice, .reason = reason, .size = size};

    *view = (view_t){0};
    (void) load(&loader, folder);
    for (int32_t i = 0; loader.ranks != NULL && i < view->n_ranks; i++) {
        clv_free(loader.ranks[i].stream);
    }
    clv_free(loader.ranks);
    clv_free(loader.is_wanted);
    clv_free(loader.max_calls);
    view_index_free(&loader.comms);
    view_index_free(&loader.streams);
    return loader.failed;
}

void view_free(view_t *view)
{
    for (int32_t i = 0; view->nodes != NULL && i < view->n_nodes; i++) {
        clv_free(view->nodes[i].bytes);
        clv_free(view->nodes[i].clocks);
    }
    for (int32_t i = 0; i < view->n_comms; i++) {
        view_comm_t *comm = &view->comms[i];
        if (comm->how == CLV_CLVA_HOW_BLOCKING) { /* the others share these members */
            clv_free(comm->members);
            clv_free(comm->rank_of);
        }
        clv_free(comm->number);
        clv_free(comm->stream);
        clv_free(comm->choice);
        clv_free(comm->reason);
        clv_free(comm->arrival_ns);
        clv_free(comm->exit_ns);
        clv_free(comm->before_ns);
        clv_free(comm->before);
        clv_free(comm->bound_ns);
        clv_free(comm->predicted_ns);
    }
    clv_free(view->comms);
    clv_free(view->clocks);
    clv_free(view->streams);
    clv_free(view->nodes);
    clv_free(view->node_of);
    clv_free(view->n_dropped);
    clv_free(view->early);
    clv_free(view->waits);
    *view = (view_t){0};
}
