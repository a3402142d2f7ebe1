/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct-mpi: the bulk exchanges: channels before they are joined, then signatures of
 * collectives, stamps of messages and members, and the limits of the backward pass.
 *
 * Messages between two processes have the same order at both: by channel, then inside the
 * channel.
 */
#include <string.h>

#include "apps/tools/replay/replay.h"
#include "util/util_alloc.h"

/* ---- channels ---- */

typedef struct passing {
    correct_t *correct;
    uint32_t at, n;
    int to;
    bool has_failed;
} passing_t;

static void begin_channels(void *context, int to)
{
    passing_t *passing = context;
    passing->at = 0;
    passing->to = to;
}

/* Channels with one end here and the other there. */
static bool give_channel(void *context, void *item)
{
    passing_t *passing = context;
    uint32_t n;
    const clv_clc_channel_t *channels = clv_clc_match_channels(passing->correct->match, &n);
    while (passing->at < passing->n) {
        const clv_clc_channel_t *channel = &channels[passing->at++];
        const int from = replay.owner[channel->source], to = replay.owner[channel->target];
        if (from != to && (from == passing->to || to == passing->to)) {
            memcpy(item, channel, sizeof *channel);
            return true;
        }
    }
    return false;
}

static void take_channel(void *context, int from, const void *item)
{
    passing_t *passing = context;
    clv_clc_channel_t channel;
    (void) from;
    memcpy(&channel, item, sizeof channel);
    if (clv_clc_match_take_channel(passing->correct->match, &channel) != CLV_OK) {
        passing->has_failed = true;
    }
}

static bool join_channels(correct_t *correct)
{
    passing_t passing = {.correct = correct};
    (void) clv_clc_match_channels(correct->match, &passing.n);
    const replay_stream_t stream = {sizeof(clv_clc_channel_t), begin_channels, give_channel,
                                    take_channel, &passing};
    replay_run_stream(&stream);
    return !passing.has_failed;
}

/* Combines one field of the counts of every communicator. */
static bool reduce_counts(size_t offset, correct_reduce_t how)
{
    const uint32_t n = replay.correct->archive.n_comms;
    char *counts = (char *) clv_clc_match_counts(replay.correct->match) + offset;
    int64_t *values = clv_alloc(n + (size_t) 1, sizeof *values);
    if (!correct_crew_has(values != NULL, "communicators")) {
        clv_free(values);
        return false;
    }
    for (uint32_t c = 0; c < n; c++) {
        memcpy(&values[c], counts + c * sizeof(clv_clc_counts_t), sizeof *values);
    }
    correct_crew_reduce(values, n, how);
    for (uint32_t c = 0; c < n; c++) {
        memcpy(counts + c * sizeof(clv_clc_counts_t), &values[c], sizeof *values);
    }
    clv_free(values);
    return true;
}

#define REDUCE_COUNTS(field, how) reduce_counts(offsetof(clv_clc_counts_t, field), how)

/* Combines the members' numbers of collectives: the least over processes with members, and so
 * on. */
static bool join_counts(const correct_t *correct)
{
    clv_clc_counts_t *counts = clv_clc_match_counts(correct->match);
    const uint32_t n = correct->archive.n_comms;
    for (uint32_t c = 0; c < n; c++) {
        counts[c].least = counts[c].n_present > 0 ? counts[c].least : INT64_MAX;
    }
    if (!REDUCE_COUNTS(least, CORRECT_LEAST) || !REDUCE_COUNTS(most, CORRECT_GREATEST) ||
        !REDUCE_COUNTS(n_present, CORRECT_SUM)) {
        return false;
    }
    for (uint32_t c = 0; c < n; c++) {
        counts[c].least = counts[c].n_present > 0 ? counts[c].least : 0;
    }
    return true;
}

bool correct_crew_join(correct_t *correct)
{
    return correct_crew_has(join_channels(correct), "channels") && join_counts(correct);
}

/* ---- messages to and from other processes ---- */

/* The next message: its channel, in order, and its ordinal there. */
typedef struct cursor {
    uint32_t at;
    int64_t k;
} cursor_t;

typedef struct post {
    const clv_clc_channel_t *channels;
    const uint32_t *order;
    uint32_t n;
    bool is_sending; /* stamps go from senders to receivers */
    cursor_t given, taken;
    int to;
    int64_t (*get)(uint64_t message);
    void (*set)(uint64_t message, int rank, int64_t value);
} post_t;

/* The next message between us and rank, among those that we send or receive; -1: none. */
static int64_t next_message(const post_t *post, cursor_t *next, bool is_sender, int rank)
{
    for (; next->at < post->n; next->at++, next->k = 0) {
        const clv_clc_channel_t *channel = &post->channels[post->order[next->at]];
        const int from = replay.owner[channel->source], to = replay.owner[channel->target];
        const bool is_between =
            is_sender ? from == replay.rank && to == rank : to == replay.rank && from == rank;
        if (is_between && channel->first != CLV_CLC_NO_MESSAGE && next->k < channel->sent.n) {
            return (int64_t) channel->first + next->k++;
        }
    }
    return -1;
}

static void begin_post(void *context, int to)
{
    post_t *post = context;
    post->given = post->taken = (cursor_t){0, 0};
    post->to = to;
}

static bool give_post(void *context, void *item)
{
    post_t *post = context;
    if (post->to == replay.rank) {
        return false;
    }
    const int64_t g = next_message(post, &post->given, post->is_sending, post->to);
    if (g >= 0) {
        const int64_t value = post->get((uint64_t) g);
        memcpy(item, &value, sizeof value);
    }
    return g >= 0;
}

static void take_post(void *context, int from, const void *item)
{
    post_t *post = context;
    int64_t value;
    memcpy(&value, item, sizeof value);
    const int64_t g = next_message(post, &post->taken, !post->is_sending, from);
    post->set((uint64_t) g, from, value);
}

static void run_post(bool is_sending, int64_t (*get)(uint64_t message),
                     void (*set)(uint64_t message, int rank, int64_t value))
{
    post_t post = {.is_sending = is_sending, .get = get, .set = set};
    post.channels = clv_clc_match_channels(replay.correct->match, &post.n);
    post.order = clv_clc_match_order(replay.correct->match);
    const replay_stream_t stream = {sizeof(int64_t), begin_post, give_post, take_post, &post};
    replay_run_stream(&stream);
}

static int64_t get_index(uint64_t message)
{
    return (int64_t) message;
}

static void set_far(uint64_t message, int rank, int64_t value)
{
    replay.far[message - replay.n_received] = (replay_far_t){rank, (uint32_t) value};
}

bool replay_find_far(void)
{
    const correct_t *correct = replay.correct;
    replay.far =
        correct_store_get(correct->trace.n_messages - replay.n_received, sizeof *replay.far);
    if (!correct_crew_agree(replay.far != NULL)) {
        return false;
    }
    run_post(false, get_index, set_far);
    return true;
}

static int64_t get_send(uint64_t message)
{
    return replay.correct->trace.messages[message].send;
}

static void set_send(uint64_t message, int rank, int64_t value)
{
    (void) rank;
    replay.correct->trace.messages[message].send = value;
}

static int64_t get_receive(uint64_t message)
{
    return replay.correct->trace.messages[message].receive;
}

static void set_receive(uint64_t message, int rank, int64_t value)
{
    (void) rank;
    replay.correct->trace.messages[message].receive = value;
}

/* ---- members: to the homes of their collectives, and back ---- */

typedef struct member_item {
    uint32_t comm, member;
    uint64_t k;
    int64_t enter, exit, signature;
    uint32_t flags, unused;
} member_item_t;

typedef struct walk {
    uint64_t g;
    uint32_t slot;
    int to;
} walk_t;

static void begin_walk(void *context, int to)
{
    walk_t *walk = context;
    *walk = (walk_t){.to = to};
}

static uint64_t ordinal_here(uint32_t comm, uint64_t g)
{
    return g - clv_clc_match_counts(replay.correct->match)[comm].first;
}

static bool give_member(void *context, void *item)
{
    walk_t *walk = context;
    const clv_clc_trace_t *part = &replay.correct->trace;
    for (; walk->g < part->n_collectives; walk->g++, walk->slot = 0) {
        const clv_clc_collective_t *collective = &part->collectives[walk->g];
        const uint32_t c = collective->team;
        const uint64_t k = ordinal_here(c, walk->g);
        if (walk->slot < replay.n_here[c] && replay_home(c, k) == walk->to) {
            const uint32_t slot = walk->slot++;
            const clv_clc_member_t *member = &part->members[collective->first + slot];
            const member_item_t own = {c,
                                       replay_member(c, slot),
                                       k,
                                       member->enter,
                                       member->exit,
                                       clv_clc_match_signature(collective),
                                       member->flags & ~CLV_CLC_KNOWN,
                                       0};
            memcpy(item, &own, sizeof own);
            return true;
        }
    }
    return false;
}

static clv_clc_member_t *member_at_home(const member_item_t *item,
                                        clv_clc_collective_t **collective_p)
{
    *collective_p = &replay.home.collectives[replay_home_index(item->comm, item->k)];
    return &replay.home.members[(*collective_p)->first + item->member];
}

/* At the first difference between members, the good collectives end. */
static void take_signature(void *context, int from, const void *bytes)
{
    member_item_t item;
    clv_clc_collective_t *collective;
    (void) context;
    (void) from;
    memcpy(&item, bytes, sizeof item);
    member_at_home(&item, &collective)->flags = item.flags;
    clv_clc_counts_t *counts = &clv_clc_match_counts(replay.correct->match)[item.comm];
    if (collective->extreme.first == 0) {
        collective->extreme.first = item.signature;
    } else if (collective->extreme.first != item.signature && (int64_t) item.k < counts->n_good) {
        counts->n_good = (int64_t) item.k;
    }
}

static void take_stamps(void *context, int from, const void *bytes)
{
    member_item_t item;
    clv_clc_collective_t *collective;
    (void) context;
    (void) from;
    memcpy(&item, bytes, sizeof item);
    clv_clc_member_t *member = member_at_home(&item, &collective);
    member->enter = item.enter;
    member->exit = item.exit;
}

static void run_members(void (*take)(void *context, int from, const void *item))
{
    walk_t walk;
    const replay_stream_t stream = {sizeof(member_item_t), begin_walk, give_member, take, &walk};
    replay_run_stream(&stream);
}

static bool give_limit(void *context, void *item)
{
    walk_t *walk = context;
    const clv_clc_trace_t *home = &replay.home;
    for (; walk->g < home->n_collectives; walk->g++, walk->slot = 0) {
        const clv_clc_collective_t *collective = &home->collectives[walk->g];
        const uint32_t c = collective->team;
        while (walk->slot < home->teams[c].n_members) {
            const uint32_t m = walk->slot++;
            if (replay_owner_of_member(c, m) == walk->to) {
                const member_item_t own = {c,
                                           m,
                                           replay_home_ordinal(walk->g),
                                           home->members[collective->first + m].enter,
                                           0,
                                           0,
                                           0,
                                           0};
                memcpy(item, &own, sizeof own);
                return true;
            }
        }
    }
    return false;
}

static void take_limit(void *context, int from, const void *bytes)
{
    member_item_t item;
    (void) context;
    (void) from;
    memcpy(&item, bytes, sizeof item);
    const clv_clc_trace_t *part = &replay.correct->trace;
    const uint64_t g = clv_clc_match_counts(replay.correct->match)[item.comm].first + item.k;
    const uint32_t slot = replay.correct->archive.comms[item.comm].slots[item.member];
    part->members[part->collectives[g].first + slot].enter = item.enter;
}

/* ---- the steps ---- */

/* Replaces roots by slots; roots elsewhere come after all slots (replay_root). */
static void settle_part(correct_t *correct)
{
    const clv_clc_trace_t *part = &correct->trace;
    clv_clc_match_settle(correct->match, &correct->trace);
    for (uint64_t g = 0; g < part->n_collectives; g++) {
        clv_clc_collective_t *collective = &part->collectives[g];
        const uint32_t c = collective->team, root = collective->root;
        const correct_comm_t *comm = &correct->archive.comms[c];
        const bool is_ours =
            root < comm->n_members && replay_owner_of_member(c, root) == replay.rank;
        collective->root = is_ours ? comm->slots[root] : replay.n_here[c] + root;
    }
}

bool correct_crew_settle(correct_t *correct)
{
    if (!replay_make_homes(correct)) {
        return false;
    }
    run_members(take_signature);
    if (!REDUCE_COUNTS(n_good, CORRECT_LEAST)) {
        return false;
    }
    for (uint64_t g = 0; g < replay.home.n_collectives; g++) {
        clv_clc_collective_t *collective = &replay.home.collectives[g];
        clv_clc_match_settle_one(correct->match, collective, clv_clc_match_signature(collective),
                                 (int64_t) replay_home_ordinal(g));
    }
    settle_part(correct);
    correct->trace.teams = replay.parts;
    return replay_find_far();
}

void correct_crew_gather(const correct_t *correct)
{
    (void) correct;
    run_post(true, get_send, set_send);
    run_members(take_stamps);
}

void correct_crew_limit(const correct_t *correct, const clv_clc_config_t *config)
{
    const clv_clc_home_t home = {&replay.home, config, NULL, NULL};
    walk_t walk;
    const replay_stream_t back = {sizeof(member_item_t), begin_walk, give_limit, take_limit, &walk};
    correct_place(correct, CLV_CLC_CORRECTED);
    for (uint64_t g = 0; g < replay.home.n_collectives; g++) {
        clv_clc_home_limit(&home, g);
    }
    run_post(false, get_receive, set_receive);
    replay_run_stream(&back);
}

/* Messages are ordered by receiver, all of whose messages are here, then by index; collectives by
 * communicator and ordinal. Called with rising `at`. */
uint64_t correct_crew_key(const correct_t *correct, uint64_t at)
{
    uint32_t n, *i = &replay.key_channel;
    const clv_clc_channel_t *channels = clv_clc_match_channels(correct->match, &n);
    const uint32_t *order = clv_clc_match_order(correct->match);
    if (at >= replay.home.n_messages) {
        const uint64_t g = at - replay.home.n_messages;
        return UINT64_C(1) << 63 | (uint64_t) replay.home.collectives[g].team << 40 |
               replay_home_ordinal(g);
    }
    while (channels[order[*i]].first == CLV_CLC_NO_MESSAGE ||
           at >= channels[order[*i]].first + (uint64_t) channels[order[*i]].sent.n) {
        (*i)++;
    }
    return (uint64_t) channels[order[*i]].target << 40 | at;
}
