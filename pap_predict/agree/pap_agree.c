/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The agreement of one node of one group, as a state machine; see pap_agree.h and
 * docs/design/protocol.md.
 *
 * A lane's record sets live in a ring of four: the two that neighbours may still lack (decided - 2,
 * decided - 1) and the two that ranks may have given records for (decided, decided + 1). More can
 * not be in flight, because a rank gives record q only after it had version q - 1.
 */
#include "pap_predict/agree/pap_agree.h"

#include <string.h>

#include "pap_predict/agree/pap_wire.h"
#include "util/util_alloc.h"
#include "util/util_min_max.h"

#define RING           4
#define OPEN           2 /* sequences from decided on that can have records */
#define MAX_RETRY_STEP 64

typedef struct slot {
    int64_t sequence; /* -1: unused */
    uint32_t generation;
    int32_t n_missing;         /* of the subtree */
    clv_pap_record_t *records; /* by position, all ranks */
    unsigned char *given;      /* by position */
} slot_t;

typedef struct lane {
    int64_t decided; /* record sets complete; the next to decide */
    int64_t sent_up; /* one past the newest record message given to the parent's link */
    slot_t slot[RING];
} lane_t;

typedef struct link {
    int32_t node;
    int32_t up;
    int32_t heard;           /* since it came up */
    int32_t gone;            /* said BYE */
    int64_t silent_since_ns; /* last time it was up and heard; meaningful while it is not */
} link_t;

struct clv_pap_agree {
    clv_pap_agree_options_t options;
    clv_pap_agree_ops_t ops;
    void *context;
    int32_t n_ranks;
    int32_t first; /* the subtree's positions */
    int32_t end;
    int32_t n_children;
    link_t parent; /* node -1 at the top */
    link_t child[CLV_PAP_MAX_CHILDREN];
    lane_t lane[CLV_PAP_MAX_STREAMS];
    clv_pap_record_t *by_rank; /* scratch for publish */
    unsigned char *message;    /* scratch for send */
    int lost;                  /* no more record sets, final */
    int left;                  /* cut off from node 0: no record goes up any more */
    int freed;
    int bye_sent;
    int32_t give_up_reason; /* asked for, not yet decided */
    int64_t due_since_ns;   /* INT64_MAX: no record waits for its set */
    int64_t retry_at_ns;    /* INT64_MAX: no answer is expected */
    int64_t retry_step_ns;
    int32_t asked; /* nothing heard from the parent since this many questions */
};

const char *clv_pap_lost_text(int reason)
{
    static const char *const texts[] = {
#define LOST_TEXT(name, value, text) [value] = text,
        CLV_PAP_LOST_REASON_MAP(LOST_TEXT)
#undef LOST_TEXT
    };
    return reason >= 1 && reason <= CLV_PAP_LOST_LAST ? texts[reason] : "unknown";
}

/* ---- memory --------------------------------------------------------------------------------- */

static void free_lane(lane_t *lane)
{
    for (int i = 0; i < RING; i++) {
        clv_free(lane->slot[i].records);
        clv_free(lane->slot[i].given);
    }
}

void clv_pap_agree_free(clv_pap_agree_t *agree)
{
    if (agree == NULL) {
        return;
    }
    for (int32_t i = 0; i < CLV_PAP_MAX_STREAMS; i++) {
        free_lane(&agree->lane[i]);
    }
    clv_free(agree->by_rank);
    clv_free(agree->message);
    clv_free(agree);
}

static int alloc_lane(lane_t *lane, size_t n_ranks)
{
    for (int i = 0; i < RING; i++) {
        slot_t *slot = &lane->slot[i];
        slot->sequence = -1;
        slot->records = clv_alloc(n_ranks, sizeof *slot->records);
        slot->given = clv_alloc(n_ranks, 1);
        if (slot->records == NULL || slot->given == NULL) {
            return 0;
        }
    }
    return 1;
}

static int alloc_buffers(clv_pap_agree_t *agree)
{
    size_t n_ranks = (size_t) agree->n_ranks;
    agree->by_rank = clv_alloc(n_ranks, sizeof *agree->by_rank);
    agree->message = clv_alloc(clv_pap_wire_max_bytes(agree->n_ranks), 1);
    if (agree->by_rank == NULL || agree->message == NULL) {
        return 0;
    }
    for (int32_t i = 0; i < CLV_PAP_MAX_STREAMS; i++) {
        if (!alloc_lane(&agree->lane[i], n_ranks)) {
            return 0;
        }
    }
    return 1;
}

static void set_up_tree(clv_pap_agree_t *agree, int64_t now_ns)
{
    const clv_pap_layout_t *layout = agree->options.layout;
    int32_t node = agree->options.node;
    agree->first = layout->first[node];
    agree->end = layout->first[clv_pap_tree_subtree_end(layout->n_nodes, node)];
    agree->n_children = clv_pap_tree_n_children(layout->n_nodes, node);
    agree->parent = (link_t){.node = clv_pap_tree_parent(node), .silent_since_ns = now_ns};
    for (int32_t i = 0; i < agree->n_children; i++) {
        agree->child[i] = (link_t){.node = clv_pap_tree_child(node, i), .silent_since_ns = now_ns};
    }
}

static int valid_options(const clv_pap_agree_options_t *options)
{
    return options->layout != NULL && options->node >= 0 &&
           options->node < options->layout->n_nodes && options->lost_ns > 0 &&
           options->retry_ns > 0 && options->abandon_ns >= options->lost_ns;
}

clv_status_t clv_pap_agree_create(const clv_pap_agree_options_t *options,
                                  const clv_pap_agree_ops_t *ops, void *context, int64_t now_ns,
                                  clv_pap_agree_t **agree_p)
{
    if (!valid_options(options)) {
        return CLV_INVALID;
    }
    clv_pap_agree_t *agree = clv_alloc(1, sizeof *agree);
    if (agree == NULL) {
        return CLV_NO_MEMORY;
    }
    agree->options = *options;
    agree->ops = *ops;
    agree->context = context;
    agree->n_ranks = options->layout->n_ranks;
    agree->due_since_ns = INT64_MAX;
    agree->retry_at_ns = INT64_MAX;
    agree->retry_step_ns = options->retry_ns;
    set_up_tree(agree, now_ns);
    if (!alloc_buffers(agree)) {
        clv_pap_agree_free(agree);
        return CLV_NO_MEMORY;
    }
    *agree_p = agree;
    return CLV_OK;
}

/* ---- looking -------------------------------------------------------------------------------- */

int64_t clv_pap_agree_n_versions(const clv_pap_agree_t *agree, int32_t lane)
{
    return agree->lane[lane].decided;
}

static int is_top(const clv_pap_agree_t *agree)
{
    return agree->parent.node < 0;
}

static link_t *find_link(clv_pap_agree_t *agree, int32_t node)
{
    if (node >= 0 && node == agree->parent.node) {
        return &agree->parent;
    }
    for (int32_t i = 0; i < agree->n_children; i++) {
        if (agree->child[i].node == node) {
            return &agree->child[i];
        }
    }
    return NULL;
}

/* The slot of an open or past sequence, NULL when the ring holds no record of it. */
static slot_t *find_slot(lane_t *lane, int64_t sequence)
{
    slot_t *slot = &lane->slot[sequence % RING];
    return slot->sequence == sequence ? slot : NULL;
}

static int is_due(clv_pap_agree_t *agree)
{
    for (int32_t i = 0; i < CLV_PAP_MAX_STREAMS; i++) {
        lane_t *lane = &agree->lane[i];
        for (int64_t ahead = 0; ahead < OPEN; ahead++) {
            if (find_slot(lane, lane->decided + ahead) != NULL) {
                return 1;
            }
        }
    }
    return 0;
}

/* Some record went up and its set has not come down: node 0 may or may not have decided it. */
static int is_unsure(const clv_pap_agree_t *agree)
{
    for (int32_t i = 0; i < CLV_PAP_MAX_STREAMS; i++) {
        if (agree->lane[i].sent_up > agree->lane[i].decided) {
            return 1;
        }
    }
    return 0;
}

/* The parent owes a word: a record set, the end, or any sign of life on a new connection. */
static int is_answer_due(const clv_pap_agree_t *agree)
{
    int asking = agree->give_up_reason != 0 || is_unsure(agree) || !agree->parent.heard;
    return agree->parent.up && !agree->lost && asking;
}

/* ---- sending -------------------------------------------------------------------------------- */

static void send_bytes(clv_pap_agree_t *agree, const link_t *link, size_t n_bytes)
{
    agree->ops.send(agree->context, link->node, agree->message, n_bytes);
}

static void send_counts(clv_pap_agree_t *agree, const link_t *link, clv_pap_wire_kind_t kind,
                        int32_t reason)
{
    int64_t decided[CLV_PAP_MAX_STREAMS];
    for (int32_t i = 0; i < CLV_PAP_MAX_STREAMS; i++) {
        decided[i] = agree->lane[i].decided;
    }
    send_bytes(agree, link, clv_pap_wire_put_counts(agree->message, kind, reason, decided));
}

static void send_bare(clv_pap_agree_t *agree, const link_t *link, clv_pap_wire_kind_t kind,
                      int32_t reason)
{
    send_bytes(agree, link, clv_pap_wire_put_bare(agree->message, kind, reason));
}

static void send_set(clv_pap_agree_t *agree, const link_t *link, int32_t lane_index,
                     const slot_t *slot)
{
    send_bytes(agree, link,
               clv_pap_wire_put_records(agree->message, CLV_PAP_WIRE_DOWN, lane_index,
                                        slot->generation, slot->sequence, slot->records,
                                        agree->n_ranks));
}

static void expect_answer(clv_pap_agree_t *agree, int64_t now_ns)
{
    if (agree->retry_at_ns == INT64_MAX) {
        agree->retry_at_ns = now_ns + agree->retry_step_ns;
    }
}

static void send_subtree(clv_pap_agree_t *agree, int64_t now_ns, int32_t lane_index,
                         const slot_t *slot)
{
    lane_t *lane = &agree->lane[lane_index];
    if (agree->left || !agree->parent.up) {
        return;
    }
    send_bytes(agree, &agree->parent,
               clv_pap_wire_put_records(agree->message, CLV_PAP_WIRE_UP, lane_index,
                                        slot->generation, slot->sequence,
                                        slot->records + agree->first, agree->end - agree->first));
    if (lane->sent_up <= slot->sequence) {
        lane->sent_up = slot->sequence + 1;
    }
    expect_answer(agree, now_ns);
}

/* Everything the parent may not have, on a new connection or after a silence. */
static void ask_parent(clv_pap_agree_t *agree, int64_t now_ns)
{
    send_counts(agree, &agree->parent, CLV_PAP_WIRE_HELLO, 0);
    for (int32_t i = 0; i < CLV_PAP_MAX_STREAMS && !agree->lost; i++) {
        lane_t *lane = &agree->lane[i];
        for (int64_t ahead = 0; ahead < OPEN; ahead++) {
            slot_t *slot = find_slot(lane, lane->decided + ahead);
            if (slot != NULL && slot->n_missing == 0) {
                send_subtree(agree, now_ns, i, slot);
            }
        }
    }
    if (agree->give_up_reason != 0) {
        send_bare(agree, &agree->parent, CLV_PAP_WIRE_GIVE_UP, agree->give_up_reason);
    }
    expect_answer(agree, now_ns);
}

/* What a child that has `decided` record sets of a lane lacks: at most two. */
static void send_missing(clv_pap_agree_t *agree, const link_t *child, int32_t lane_index,
                         int64_t decided)
{
    lane_t *lane = &agree->lane[lane_index];
    for (; decided < lane->decided; decided++) {
        send_set(agree, child, lane_index, find_slot(lane, decided));
    }
}

static void try_bye(clv_pap_agree_t *agree)
{
    for (int32_t i = 0; i < agree->n_children; i++) {
        if (!agree->child[i].gone) {
            return;
        }
    }
    if (agree->freed && agree->parent.up) {
        send_bare(agree, &agree->parent, CLV_PAP_WIRE_BYE, 0);
        agree->bye_sent = 1;
    }
}

/* ---- the end of predictions ----------------------------------------------------------------- */

/* Final on this node. Children hear it behind the record sets that were decided before. */
static void end_here(clv_pap_agree_t *agree, clv_pap_lost_reason_t reason)
{
    int64_t n_versions[CLV_PAP_MAX_STREAMS];
    if (agree->lost) {
        return;
    }
    for (int32_t i = 0; i < CLV_PAP_MAX_STREAMS; i++) {
        n_versions[i] = agree->lane[i].decided;
    }
    agree->lost = (int) reason;
    agree->due_since_ns = INT64_MAX;
    agree->ops.lost(agree->context, reason, n_versions);
    for (int32_t i = 0; i < agree->n_children; i++) {
        if (agree->child[i].up && agree->child[i].heard) {
            send_counts(agree, &agree->child[i], CLV_PAP_WIRE_LOST, agree->lost);
        }
    }
}

void clv_pap_agree_give_up(clv_pap_agree_t *agree, int64_t now_ns, clv_pap_lost_reason_t reason)
{
    if (agree->lost || agree->give_up_reason != 0) {
        return;
    }
    agree->give_up_reason = (int32_t) reason;
    if (is_top(agree)) {
        end_here(agree, reason);
    } else if (agree->parent.up) {
        send_bare(agree, &agree->parent, CLV_PAP_WIRE_GIVE_UP, agree->give_up_reason);
        expect_answer(agree, now_ns);
    }
}

/* Cut off from node 0 for too long. Nothing goes up from now on, so node 0 can decide nothing that
 * was not sent already; if nothing was, the end is certain here at once. */
static void leave(clv_pap_agree_t *agree)
{
    agree->left = 1;
    if (agree->give_up_reason == 0) {
        agree->give_up_reason = CLV_PAP_LOST_LINK;
    }
    if (!is_unsure(agree)) {
        end_here(agree, CLV_PAP_LOST_LINK);
    }
}

/* ---- record sets ---------------------------------------------------------------------------- */

static void publish(clv_pap_agree_t *agree, int32_t lane_index, const slot_t *slot)
{
    clv_pap_record_set_t set = {.lane = lane_index,
                                .n_ranks = agree->n_ranks,
                                .generation = slot->generation,
                                .sequence = slot->sequence,
                                .records = agree->by_rank};
    for (int32_t position = 0; position < agree->n_ranks; position++) {
        agree->by_rank[agree->options.layout->rank_at[position]] = slot->records[position];
    }
    agree->ops.publish(agree->context, &set);
}

/* The record set of a slot is complete, by node 0's word: use it and pass it on. */
static void accept(clv_pap_agree_t *agree, int64_t now_ns, int32_t lane_index, const slot_t *slot)
{
    agree->lane[lane_index].decided = slot->sequence + 1;
    publish(agree, lane_index, slot);
    for (int32_t i = 0; i < agree->n_children; i++) {
        if (agree->child[i].up && agree->child[i].heard) {
            send_set(agree, &agree->child[i], lane_index, slot);
        }
    }
    agree->due_since_ns = is_due(agree) ? now_ns : INT64_MAX;
    agree->retry_step_ns = agree->options.retry_ns;
    agree->retry_at_ns = INT64_MAX;
    if (is_unsure(agree)) {
        expect_answer(agree, now_ns);
    }
}

/* A subtree completed a record set: node 0 decides, the others tell their parent. */
static void subtree_complete(clv_pap_agree_t *agree, int64_t now_ns, int32_t lane_index,
                             int64_t sequence)
{
    lane_t *lane = &agree->lane[lane_index];
    if (!is_top(agree)) {
        send_subtree(agree, now_ns, lane_index, find_slot(lane, sequence));
        return;
    }
    slot_t *slot = find_slot(lane, lane->decided);
    while (slot != NULL && slot->n_missing == 0) {
        accept(agree, now_ns, lane_index, slot);
        slot = find_slot(lane, lane->decided);
    }
}

/* Records of one sequence name one generation, but for this: a rank announced a call by a hint and
 * the lane was recycled before that call came. Its record then stands in the younger generation's
 * record set, marked invalid so that nobody predicts from it. Anything else is a disagreement. */
static int make_stale(clv_pap_record_t *record)
{
    if ((record->flags & CLV_PAP_RECORD_ANNOUNCED) == 0) {
        return 0;
    }
    record->flags |= CLV_PAP_RECORD_INVALID;
    return 1;
}

static int raise_generation(clv_pap_agree_t *agree, slot_t *slot, uint32_t generation)
{
    for (int32_t position = agree->first; position < agree->end; position++) {
        if (slot->given[position] && !make_stale(&slot->records[position])) {
            return 0;
        }
    }
    slot->generation = generation;
    return 1;
}

/* The slot for an open sequence; an old record set in it is no longer needed by anyone. NULL: ranks
 * do not agree on their calls. */
static slot_t *open_slot(clv_pap_agree_t *agree, int64_t now_ns, lane_t *lane, int64_t sequence,
                         uint32_t generation)
{
    slot_t *slot = &lane->slot[sequence % RING];
    if (slot->sequence == sequence) {
        int fits = generation <= slot->generation || raise_generation(agree, slot, generation);
        return fits ? slot : NULL;
    }
    slot->sequence = sequence;
    slot->generation = generation;
    slot->n_missing = agree->end - agree->first;
    memset(slot->given, 0, (size_t) agree->n_ranks);
    if (agree->due_since_ns == INT64_MAX) {
        agree->due_since_ns = now_ns;
    }
    return slot;
}

static int is_open(const lane_t *lane, int64_t sequence)
{
    return sequence >= lane->decided && sequence < lane->decided + OPEN;
}

static int valid_local(const clv_pap_agree_t *agree, int32_t rank, int32_t lane_index,
                       int64_t sequence, const clv_pap_record_t *record)
{
    const clv_pap_layout_t *layout = agree->options.layout;
    if (rank < 0 || rank >= agree->n_ranks || lane_index < 0 || lane_index >= CLV_PAP_MAX_STREAMS ||
        sequence >= CLV_PAP_MAX_SEQUENCE || clv_pap_record_problem(record) != NULL) {
        return 0;
    }
    int32_t position = layout->position_of[rank];
    return position >= layout->first[agree->options.node] &&
           position < layout->first[agree->options.node + 1];
}

clv_status_t clv_pap_agree_local_record(clv_pap_agree_t *agree, int64_t now_ns, int32_t rank,
                                        int32_t lane_index, uint32_t generation, int64_t sequence,
                                        const clv_pap_record_t *record)
{
    if (!valid_local(agree, rank, lane_index, sequence, record)) {
        return CLV_INVALID;
    }
    if (agree->lost) {
        return CLV_OK;
    }
    lane_t *lane = &agree->lane[lane_index];
    int32_t position = agree->options.layout->position_of[rank];
    slot_t *slot = NULL;
    if (is_open(lane, sequence)) {
        slot = open_slot(agree, now_ns, lane, sequence, generation);
        if (slot == NULL) {
            clv_pap_agree_give_up(agree, now_ns, CLV_PAP_LOST_DISAGREE);
        }
    }
    if (slot == NULL || slot->given[position]) {
        return CLV_INVALID;
    }
    clv_pap_record_t taken = *record;
    if (generation < slot->generation && !make_stale(&taken)) {
        clv_pap_agree_give_up(agree, now_ns, CLV_PAP_LOST_DISAGREE);
        return CLV_INVALID;
    }
    slot->records[position] = taken;
    slot->given[position] = 1;
    if (--slot->n_missing == 0) {
        subtree_complete(agree, now_ns, lane_index, sequence);
    }
    return CLV_OK;
}

/* ---- messages ------------------------------------------------------------------------------- */

static clv_status_t take_up(clv_pap_agree_t *agree, int64_t now_ns, const link_t *child,
                            const clv_pap_message_t *message)
{
    const clv_pap_layout_t *layout = agree->options.layout;
    lane_t *lane = &agree->lane[message->lane];
    int32_t first = layout->first[child->node];
    int32_t end = layout->first[clv_pap_tree_subtree_end(layout->n_nodes, child->node)];
    if (message->n_items != end - first || message->sequence >= lane->decided + OPEN) {
        return CLV_PROTOCOL;
    }
    if (agree->lost || message->sequence < lane->decided) {
        return CLV_OK; /* sent again, answered already */
    }
    slot_t *slot = open_slot(agree, now_ns, lane, message->sequence, message->generation);
    if (slot == NULL) {
        clv_pap_agree_give_up(agree, now_ns, CLV_PAP_LOST_DISAGREE);
        return CLV_PROTOCOL;
    }
    if (slot->given[first]) {
        return CLV_OK;
    }
    for (int32_t i = 0; i < message->n_items; i++) {
        clv_pap_record_t *record = &slot->records[first + i];
        clv_pap_wire_get_record(message, i, record);
        if (message->generation < slot->generation && !make_stale(record)) {
            clv_pap_agree_give_up(agree, now_ns, CLV_PAP_LOST_DISAGREE);
            return CLV_PROTOCOL;
        }
    }
    memset(slot->given + first, 1, (size_t) message->n_items);
    slot->n_missing -= message->n_items;
    if (slot->n_missing == 0) {
        subtree_complete(agree, now_ns, message->lane, message->sequence);
    }
    return CLV_OK;
}

static clv_status_t take_down(clv_pap_agree_t *agree, int64_t now_ns,
                              const clv_pap_message_t *message)
{
    lane_t *lane = &agree->lane[message->lane];
    if (agree->lost || message->sequence < lane->decided) {
        return CLV_OK;
    }
    if (message->sequence > lane->decided) {
        return CLV_PROTOCOL;
    }
    slot_t *slot = find_slot(lane, message->sequence);
    if (slot == NULL || slot->n_missing != 0) {
        return CLV_PROTOCOL; /* node 0 can not have decided without this subtree */
    }
    if (slot->generation > message->generation) {
        clv_pap_agree_give_up(agree, now_ns, CLV_PAP_LOST_DISAGREE);
        return CLV_PROTOCOL;
    }
    slot->generation = message->generation;
    for (int32_t i = 0; i < message->n_items; i++) {
        clv_pap_wire_get_record(message, i, &slot->records[i]);
    }
    accept(agree, now_ns, message->lane, slot);
    return CLV_OK;
}

/* How far a child can be: decided is at most two ahead of it, never behind. */
static int plausible_counts(const clv_pap_agree_t *agree, const clv_pap_message_t *message)
{
    for (int32_t i = 0; i < CLV_PAP_MAX_STREAMS; i++) {
        int64_t theirs = clv_pap_wire_get_count(message, i);
        if (theirs > agree->lane[i].decided || theirs + OPEN < agree->lane[i].decided) {
            return 0;
        }
    }
    return 1;
}

static clv_status_t take_hello(clv_pap_agree_t *agree, link_t *child,
                               const clv_pap_message_t *message)
{
    if (!plausible_counts(agree, message)) {
        return CLV_PROTOCOL;
    }
    for (int32_t i = 0; i < CLV_PAP_MAX_STREAMS; i++) {
        send_missing(agree, child, i, clv_pap_wire_get_count(message, i));
    }
    if (agree->lost) {
        send_counts(agree, child, CLV_PAP_WIRE_LOST, agree->lost);
    } else {
        send_counts(agree, child, CLV_PAP_WIRE_HELLO, 0);
    }
    return CLV_OK;
}

static clv_status_t take_lost(clv_pap_agree_t *agree, const clv_pap_message_t *message)
{
    if (agree->lost) {
        return CLV_OK;
    }
    for (int32_t i = 0; i < CLV_PAP_MAX_STREAMS; i++) {
        if (clv_pap_wire_get_count(message, i) != agree->lane[i].decided) {
            return CLV_PROTOCOL;
        }
    }
    end_here(agree, (clv_pap_lost_reason_t) message->reason);
    return CLV_OK;
}

static clv_status_t from_parent(clv_pap_agree_t *agree, int64_t now_ns,
                                const clv_pap_message_t *message)
{
    switch (message->kind) {
    case CLV_PAP_WIRE_HELLO:
        return CLV_OK; /* nothing was missing; that it answers is the news */
    case CLV_PAP_WIRE_DOWN:
        return take_down(agree, now_ns, message);
    case CLV_PAP_WIRE_LOST:
        return take_lost(agree, message);
    default:
        return CLV_PROTOCOL;
    }
}

static clv_status_t from_child(clv_pap_agree_t *agree, int64_t now_ns, link_t *child,
                               const clv_pap_message_t *message)
{
    if (message->kind == CLV_PAP_WIRE_HELLO) {
        return take_hello(agree, child, message);
    }
    if (!child->heard) {
        return CLV_PROTOCOL; /* what it has is not known yet, so nothing could be passed down */
    }
    switch (message->kind) {
    case CLV_PAP_WIRE_UP:
        return take_up(agree, now_ns, child, message);
    case CLV_PAP_WIRE_GIVE_UP:
        clv_pap_agree_give_up(agree, now_ns, (clv_pap_lost_reason_t) message->reason);
        return CLV_OK;
    case CLV_PAP_WIRE_BYE:
        child->gone = 1;
        try_bye(agree);
        return CLV_OK;
    default:
        return CLV_PROTOCOL;
    }
}

clv_status_t clv_pap_agree_message(clv_pap_agree_t *agree, int64_t now_ns, int32_t from_node,
                                   const void *bytes, size_t n_bytes)
{
    clv_pap_message_t message;
    link_t *link = find_link(agree, from_node);
    if (link == NULL || !link->up) {
        return CLV_PROTOCOL;
    }
    clv_status_t status = clv_pap_wire_decode(bytes, n_bytes, agree->n_ranks, &message);
    if (status != CLV_OK) {
        return status;
    }
    if (link == &agree->parent) {
        agree->asked = 0;
        status = from_parent(agree, now_ns, &message);
    } else {
        status = from_child(agree, now_ns, link, &message);
    }
    if (status == CLV_OK) {
        link->heard = 1;
    }
    if (!is_answer_due(agree)) {
        agree->retry_at_ns = INT64_MAX; /* an idle group wakes nobody */
    }
    return status;
}

/* ---- links ---------------------------------------------------------------------------------- */

void clv_pap_agree_link_up(clv_pap_agree_t *agree, int64_t now_ns, int32_t node)
{
    link_t *link = find_link(agree, node);
    if (link == NULL) {
        return;
    }
    if (link->up) {
        clv_pap_agree_link_lost(agree, now_ns, node);
    }
    link->up = 1;
    link->heard = 0;
    if (link == &agree->parent) {
        agree->asked = 0;
        agree->retry_at_ns = INT64_MAX;
        agree->retry_step_ns = agree->options.retry_ns;
        ask_parent(agree, now_ns);
        try_bye(agree);
    }
}

/* A link that came up without a word does not make its silence any shorter. */
void clv_pap_agree_link_lost(clv_pap_agree_t *agree, int64_t now_ns, int32_t node)
{
    link_t *link = find_link(agree, node);
    if (link == NULL || !link->up) {
        return;
    }
    if (link->heard) {
        link->silent_since_ns = now_ns;
    }
    link->up = 0;
    link->heard = 0;
    if (link == &agree->parent) {
        agree->retry_at_ns = INT64_MAX;
    }
}

/* ---- time ----------------------------------------------------------------------------------- */

/* When a silent link counts as lost: only while a record here waits for its set. */
static int64_t link_deadline(const clv_pap_agree_t *agree, const link_t *link)
{
    if (agree->lost || agree->due_since_ns == INT64_MAX || (link->up && link->heard)) {
        return INT64_MAX;
    }
    return clv_larger(link->silent_since_ns, agree->due_since_ns) + agree->options.lost_ns;
}

static int64_t children_deadline(const clv_pap_agree_t *agree, clv_pap_lost_reason_t *reason_p)
{
    int64_t first_ns = INT64_MAX;
    for (int32_t i = 0; i < agree->n_children && agree->give_up_reason == 0; i++) {
        int64_t deadline_ns = link_deadline(agree, &agree->child[i]);
        if (deadline_ns < first_ns) {
            first_ns = deadline_ns;
            *reason_p = agree->child[i].gone ? CLV_PAP_LOST_LEFT : CLV_PAP_LOST_LINK;
        }
    }
    return first_ns;
}

/* First leave, then, if node 0 may have decided something unheard, go on alone much later. */
static int64_t parent_deadline(const clv_pap_agree_t *agree)
{
    int64_t leave_ns = is_top(agree) ? INT64_MAX : link_deadline(agree, &agree->parent);
    if (leave_ns == INT64_MAX || !agree->left || !is_unsure(agree)) {
        return leave_ns;
    }
    return leave_ns - agree->options.lost_ns + agree->options.abandon_ns;
}

int64_t clv_pap_agree_deadline(const clv_pap_agree_t *agree)
{
    clv_pap_lost_reason_t reason;
    int64_t first_ns = clv_smaller(children_deadline(agree, &reason), parent_deadline(agree));
    return clv_smaller(first_ns, agree->retry_at_ns);
}

/* Two questions in a row without a word back: the connection is dead whatever it says. */
static void retry(clv_pap_agree_t *agree, int64_t now_ns)
{
    agree->retry_at_ns = INT64_MAX;
    if (!is_answer_due(agree)) {
        return;
    }
    if (agree->asked >= 2 && agree->ops.stale != NULL) {
        clv_pap_agree_link_lost(agree, now_ns, agree->parent.node);
        agree->ops.stale(agree->context, agree->parent.node);
        return;
    }
    agree->asked++;
    agree->retry_step_ns =
        clv_smaller(2 * agree->retry_step_ns, MAX_RETRY_STEP * agree->options.retry_ns);
    ask_parent(agree, now_ns);
}

void clv_pap_agree_tick(clv_pap_agree_t *agree, int64_t now_ns)
{
    clv_pap_lost_reason_t reason = CLV_PAP_LOST_LINK;
    if (now_ns >= agree->retry_at_ns) {
        retry(agree, now_ns);
    }
    if (now_ns >= children_deadline(agree, &reason)) {
        clv_pap_agree_give_up(agree, now_ns, reason);
    }
    if (now_ns >= parent_deadline(agree)) {
        if (agree->left) {
            end_here(agree, is_unsure(agree) ? CLV_PAP_LOST_ABANDONED : CLV_PAP_LOST_LINK);
        } else {
            leave(agree);
        }
    }
}

/* ---- the end of the group ------------------------------------------------------------------- */

void clv_pap_agree_bye(clv_pap_agree_t *agree, int64_t now_ns)
{
    (void) now_ns;
    agree->freed = 1;
    try_bye(agree);
}

int clv_pap_agree_may_close(const clv_pap_agree_t *agree)
{
    for (int32_t i = 0; i < agree->n_children; i++) {
        if (!agree->child[i].gone) {
            return 0;
        }
    }
    return agree->freed && (is_top(agree) || agree->bye_sent);
}
