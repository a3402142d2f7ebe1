/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct-mpi: the forward pass. A message's stamp goes from its sender's process to its
 * receiver's. Enters of a collective are reduced on a binomial tree of the processes that have
 * members, as in MPI_Reduce, MPI_Bcast and MPI_Allreduce: the two latest enters of different hosts
 * go up, those of all members go down, and each process derives its exits. If an exit depends on
 * more, on the members before it (prefix operations) or on members of its host in another process
 * (a clock per process), enters go to the collective's home one by one, and exits come from there.
 *
 * No process waits for a particular stamp: a stuck process takes whatever arrives. Termination is
 * detected by counting (Mattern's four counters): a process that has no events left, or has been
 * stuck for long, adds its numbers of sent and received stamps to a sum over all. If two successive
 * sums are equal, and as many stamps were received as sent, nothing happened between them and
 * nothing is in flight.
 *
 * Cost: per collective O(log processes) successive packets, 2 stamps from each process;
 *   at a home O(members) stamps.
 */
#include <string.h>

#include "apps/tools/replay/replay.h"

#define STAMPS_A_GLANCE 256 /* sent between two checks for arrivals */

/* SEND: a is the message's index at the receiver; otherwise communicator and ordinal. REPORT, to
 * the process above: how many stamps were sent (time) and taken (second), how many processes have
 * events left (a); VERDICT, to those below: a clv_clc_wait_t (a). */
enum { STAMP_SEND, STAMP_ENTER, STAMP_EXIT, STAMP_UP, STAMP_DOWN, STAMP_REPORT, STAMP_VERDICT };

enum { SENT, TAKEN, LEFT, N_SUMS };

static struct {
    const clv_clc_config_t *config;
    clv_clc_home_t home;
    int64_t n_reported;
    int64_t sums[N_SUMS], last[N_SUMS]; /* of a wave of reports; of the wave before */
    int n_missing;                      /* reports of processes below, and our own */
    bool has_reported, has_last;
    clv_clc_wait_t verdict;
} pass;

static const clv_clc_trace_t *part(void)
{
    return &replay.correct->trace;
}

static uint64_t group_of(uint32_t comm, uint64_t k)
{
    return clv_clc_match_counts(replay.correct->match)[comm].first + k;
}

static uint32_t ordinal_of(uint64_t g)
{
    return (uint32_t) (g - group_of(part()->collectives[g].team, 0));
}

/* ---- the tree of a collective ---- */

/* Our number in it, counted from its root. */
typedef struct place {
    const replay_team_t *team;
    uint32_t comm, k, root, own;
} place_t;

static bool has_tree(const clv_clc_collective_t *collective)
{
    return !clv_clc_replay_is_prefix(collective) && !replay.correct->options.is_line_per_process;
}

static place_t place_of(uint64_t g)
{
    const clv_clc_collective_t *collective = &part()->collectives[g];
    const uint32_t c = collective->team, k = ordinal_of(g);
    const replay_team_t *team = &replay.teams[c];
    const bool is_rooted =
        collective->flavour == CLV_CLC_ONE_TO_N || collective->flavour == CLV_CLC_N_TO_ONE;
    const uint32_t root = is_rooted
                              ? replay_place(c, replay_owner_of_member(c, replay_root(collective)))
                              : k % team->n_ranks;
    return (place_t){team, c, k, root, (team->own + team->n_ranks - root) % team->n_ranks};
}

static uint32_t count_children(const place_t *place)
{
    uint32_t n = 0;
    for (uint32_t bit = 1; !(place->own & bit) && (place->own | bit) < place->team->n_ranks;
         bit <<= 1) {
        n++;
    }
    return n;
}

static void put_extreme(const place_t *place, uint32_t kind, uint32_t to,
                        const clv_clc_extreme_t *extreme)
{
    const int rank = place->team->ranks[(to + place->root) % place->team->n_ranks];
    replay_put(rank, &(replay_stamp_t){extreme->first, extreme->second, kind, place->comm, place->k,
                                       (uint32_t) extreme->host});
}

/* The maximum over all members is known; passes it to the processes below. */
static void settle(const place_t *place, uint64_t g)
{
    const clv_clc_collective_t *collective = &part()->collectives[g];
    const uint32_t n = collective->flavour == CLV_CLC_N_TO_ONE ? 0 : count_children(place);
    for (uint32_t i = n; i-- > 0;) {
        put_extreme(place, STAMP_DOWN, place->own | UINT32_C(1) << i, &collective->extreme);
    }
    clv_clc_replay_settle(part(), pass.config, g);
}

/* Our enters and those of the processes below are known. */
static void go_up(uint64_t g)
{
    const place_t place = place_of(g);
    if (place.own == 0) {
        settle(&place, g);
    } else {
        put_extreme(&place, STAMP_UP, place.own & (place.own - 1), &part()->collectives[g].extreme);
    }
}

static void take_part(uint64_t g, const clv_clc_extreme_t *extreme)
{
    if (clv_clc_replay_take(part(), g, extreme)) {
        go_up(g);
    }
}

/* In a broadcast nothing goes up. */
static void begin_tree(uint64_t g)
{
    const clv_clc_collective_t *collective = &part()->collectives[g];
    const place_t place = place_of(g);
    const bool is_down = collective->flavour == CLV_CLC_ONE_TO_N;
    const int32_t n_below = is_down ? 0 : (int32_t) count_children(&place);
    if ((!is_down || place.own == 0) && clv_clc_replay_begin(part(), g, n_below)) {
        go_up(g);
    }
}

/* ---- the end: waves of reports, on a binomial tree of all processes ---- */

static void begin_wave(void)
{
    memset(pass.sums, 0, sizeof pass.sums);
    pass.n_missing = 1;
    for (int bit = 1; !(replay.rank & bit) && (replay.rank | bit) < replay.size; bit <<= 1) {
        pass.n_missing++;
    }
    pass.has_reported = false;
}

/* These stamps are not counted. */
static void put_wave(int rank, const replay_stamp_t *stamp)
{
    replay_put(rank, stamp);
    replay.n_sent--;
}

static void end_wave(clv_clc_wait_t verdict)
{
    for (int bit = 1; !(replay.rank & bit) && (replay.rank | bit) < replay.size; bit <<= 1) {
        put_wave(replay.rank | bit, &(replay_stamp_t){0, 0, STAMP_VERDICT, verdict, 0, 0});
    }
    pass.verdict = verdict;
    begin_wave();
}

/* All are stuck if two sums in a row are the same and no stamp is under way. */
static void judge(void)
{
    const bool is_same = pass.has_last && !memcmp(pass.sums, pass.last, sizeof pass.last);
    const bool is_over = is_same && pass.sums[SENT] == pass.sums[TAKEN];
    memcpy(pass.last, pass.sums, sizeof pass.last);
    pass.has_last = !is_over;
    end_wave(!is_over ? CLV_CLC_GO_ON : pass.sums[LEFT] > 0 ? CLV_CLC_STUCK : CLV_CLC_ENDED);
}

static void add_report(int64_t n_sent, int64_t n_taken, uint32_t n_left)
{
    pass.sums[SENT] += n_sent;
    pass.sums[TAKEN] += n_taken;
    pass.sums[LEFT] += n_left;
    if (--pass.n_missing > 0) {
        return;
    }
    if (replay.rank == 0) {
        judge();
    } else {
        put_wave(replay.rank & (replay.rank - 1),
                 &(replay_stamp_t){pass.sums[SENT], pass.sums[TAKEN], STAMP_REPORT,
                                   (uint32_t) pass.sums[LEFT], 0, 0});
    }
}

static void report(bool has_left)
{
    pass.has_reported = true;
    add_report(replay.n_sent, replay.n_taken, has_left);
}

static void take_wave(const replay_stamp_t *stamp)
{
    replay.n_taken--;
    if (stamp->kind == STAMP_REPORT) {
        add_report(stamp->time, stamp->second, stamp->a);
    } else {
        end_wave((clv_clc_wait_t) stamp->a);
    }
}

/* ---- receiving ---- */

static void take_exit(uint32_t comm, uint64_t k, uint32_t member, int64_t earliest)
{
    clv_clc_replay_exit(part(), group_of(comm, k),
                        replay.correct->archive.comms[comm].slots[member], earliest);
}

static void take(const replay_stamp_t *stamp)
{
    const clv_clc_extreme_t extreme = {stamp->time, stamp->second, (int32_t) stamp->member};
    if (stamp->kind >= STAMP_REPORT) {
        take_wave(stamp);
    } else if (stamp->kind == STAMP_SEND) {
        part()->messages[stamp->a].send = stamp->time;
    } else if (stamp->kind == STAMP_ENTER) {
        clv_clc_home_take(&pass.home, replay_home_index(stamp->a, stamp->k), stamp->member,
                          stamp->time);
    } else if (stamp->kind == STAMP_EXIT) {
        take_exit(stamp->a, stamp->k, stamp->member, stamp->time);
    } else if (stamp->kind == STAMP_UP) {
        take_part(group_of(stamp->a, stamp->k), &extreme);
    } else {
        const uint64_t g = group_of(stamp->a, stamp->k);
        const place_t place = place_of(g);
        part()->collectives[g].extreme = extreme;
        settle(&place, g);
    }
}

/* ---- sending ---- */

static void tell_exit(void *context, const clv_clc_collective_t *collective, uint32_t member,
                      int64_t earliest)
{
    const uint32_t c = collective->team;
    const uint64_t k = replay_home_ordinal((uint64_t) (collective - replay.home.collectives));
    const int rank = replay_owner_of_member(c, member);
    (void) context;
    if (rank == replay.rank) {
        take_exit(c, k, member, earliest);
    } else {
        replay_put(rank, &(replay_stamp_t){earliest, 0, STAMP_EXIT, c, (uint32_t) k, member});
    }
}

static void tell_enter(const clv_clc_event_t *event)
{
    const clv_clc_collective_t *collective = &part()->collectives[event->group];
    const uint32_t c = collective->team, k = ordinal_of(event->group);
    if (has_tree(collective)) {
        const clv_clc_extreme_t extreme = clv_clc_replay_enter(part(), event);
        take_part(event->group, &extreme);
        return;
    }
    const int rank = replay_home(c, k);
    const replay_stamp_t stamp = {
        event->corrected, 0, STAMP_ENTER, c, k, replay_member(c, clv_clc_member_of(event))};
    if (rank == replay.rank) {
        take(&stamp);
    } else {
        replay_put(rank, &stamp);
    }
}

static void tell(void *context, const clv_clc_event_t *event)
{
    (void) context;
    if (clv_clc_role(event) == CLV_CLC_ENTER) {
        tell_enter(event);
    } else if (event->group >= replay.n_received) {
        const replay_far_t *far = &replay.far[event->group - replay.n_received];
        replay_put(far->rank, &(replay_stamp_t){event->corrected, 0, STAMP_SEND, far->index, 0, 0});
    }
    if (++pass.n_reported % STAMPS_A_GLANCE == 0) {
        replay_reclaim();
        (void) replay_take(take);
    }
}

/* ---- waiting ---- */

static clv_clc_wait_t wait(void *context, bool has_left)
{
    int n_looks = 0;
    (void) context;
    for (;;) {
        replay_post();
        const bool has_any = replay_take(take);
        if (pass.verdict != CLV_CLC_GO_ON) {
            const clv_clc_wait_t verdict = pass.verdict;
            replay_post();
            pass.verdict = CLV_CLC_GO_ON;
            return verdict;
        }
        if (has_any) {
            return CLV_CLC_GO_ON;
        }
        if (!pass.has_reported && (!has_left || n_looks > REPLAY_LOOKS)) {
            report(has_left);
        } else if (!replay_look()) {
            replay_pause(&n_looks);
        }
    }
}

/* ---- cycles ---- */

typedef struct chosen {
    int64_t stamp, event;
    uint32_t track, is_exit, comm, k, member, unused;
} chosen_t;

static chosen_t describe(const clv_clc_event_t *event, const clv_clc_broken_t *broken)
{
    chosen_t chosen = {INT64_MAX, 0, UINT32_MAX, 0, 0, 0, 0, 0};
    if (event) {
        chosen.stamp = event->stamp;
        chosen.event = broken->event;
        chosen.track = broken->track;
    }
    if (event && clv_clc_role(event) == CLV_CLC_EXIT) {
        chosen.is_exit = 1;
        chosen.comm = part()->collectives[event->group].team;
        chosen.k = ordinal_of(event->group);
        chosen.member = replay_member(chosen.comm, clv_clc_member_of(event));
    }
    return chosen;
}

static int64_t known_here(const chosen_t *chosen)
{
    const replay_team_t *team = &replay.teams[chosen->comm];
    const correct_archive_t *archive = &replay.correct->archive;
    const uint32_t process = archive->comms[chosen->comm].processes[chosen->member];
    return replay.n_here[chosen->comm] == 0
               ? CLV_CLC_UNKNOWN
               : clv_clc_replay_known(part(), pass.config, group_of(chosen->comm, chosen->k),
                                      &team->members[team->begin[team->own]], chosen->member,
                                      archive->processes[process].host);
}

static bool choose(void *context, const clv_clc_event_t *event, clv_clc_broken_t *broken)
{
    chosen_t chosen = describe(event, broken);
    int64_t stamp = chosen.stamp, track;
    (void) context;
    correct_crew_least(&stamp, 1);
    track = chosen.stamp == stamp ? (int64_t) chosen.track : INT64_MAX;
    correct_crew_least(&track, 1);
    const correct_archive_t *archive = &replay.correct->archive;
    const int owner = replay.owner[archive->locations[track].process];
    MPI_Bcast(&chosen, (int) sizeof chosen, MPI_BYTE, owner, replay.values);
    *broken = (clv_clc_broken_t){chosen.track, chosen.event};
    if (chosen.is_exit) {
        int64_t known = known_here(&chosen);
        correct_crew_greatest(&known, 1);
        if (owner == replay.rank) {
            take_exit(chosen.comm, chosen.k, chosen.member, known);
        }
    }
    return owner == replay.rank;
}

/* ---- all ---- */

static bool begin(void *context, const clv_clc_config_t *config, bool is_ready)
{
    (void) context;
    if (!correct_crew_has(is_ready && replay_open_packets(), "the forward pass")) {
        return false;
    }
    pass.config = config;
    pass.home = (clv_clc_home_t){&replay.home, config, tell_exit, NULL};
    pass.has_last = false;
    pass.verdict = CLV_CLC_GO_ON;
    begin_wave();
    for (uint64_t g = 0; g < replay.home.n_collectives; g++) {
        if (!has_tree(&replay.home.collectives[g])) {
            clv_clc_home_begin(&pass.home, g);
        }
    }
    for (uint64_t g = 0; g < part()->n_collectives; g++) {
        const clv_clc_collective_t *collective = &part()->collectives[g];
        if (has_tree(collective) && collective->flavour != CLV_CLC_FREE) {
            begin_tree(g);
        }
    }
    return true;
}

const clv_clc_replay_t replay_pass = {NULL, begin, tell, wait, choose};
