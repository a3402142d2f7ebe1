/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct-mpi: distributes the trace. Clocks go to processes, the largest first, each to the
 * process with the least so far. The homes of a communicator's collectives alternate between the
 * processes that have members of it.
 */
#include <stdlib.h>
#include <string.h>

#include "apps/tools/replay/replay.h"
#include "util/util_alloc.h"

/* ---- clocks ---- */

typedef struct load {
    double n_events;
    uint32_t clock;
} load_t;

static int by_load(const void *left, const void *right)
{
    const load_t *a = left, *b = right;
    if (a->n_events != b->n_events) {
        return a->n_events > b->n_events ? -1 : 1;
    }
    return (a->clock > b->clock) - (a->clock < b->clock);
}

static void deal(const correct_t *correct, load_t *loads, uint32_t n, double *sums, int *rank_of)
{
    const correct_archive_t *archive = &correct->archive;
    for (uint32_t c = 0; c < n; c++) {
        loads[c].clock = c;
    }
    for (uint32_t i = 0; i < archive->n_locations; i++) {
        loads[correct_clock_of(correct, archive->locations[i].process)].n_events +=
            (double) archive->locations[i].n_defined;
    }
    qsort(loads, n, sizeof *loads, by_load);
    for (uint32_t c = 0; c < n; c++) {
        int least = 0;
        for (int r = 1; r < replay.size; r++) {
            least = sums[r] < sums[least] ? r : least;
        }
        rank_of[loads[c].clock] = least;
        sums[least] += loads[c].n_events + 1;
    }
}

static void set_owners(correct_t *correct, const int *rank_of)
{
    correct_archive_t *archive = &correct->archive;
    for (uint32_t p = 0; p < archive->n_processes; p++) {
        replay.owner[p] = rank_of[correct_clock_of(correct, p)];
        replay.is_here[p] = replay.owner[p] == replay.rank;
    }
    for (uint32_t i = 0; i < archive->n_locations; i++) {
        archive->locations[i].is_away = !replay.is_here[archive->locations[i].process];
    }
}

bool correct_crew_share(correct_t *correct)
{
    const correct_archive_t *archive = &correct->archive;
    const uint32_t n = correct_n_clocks(correct);
    load_t *loads = clv_alloc(n + (size_t) 1, sizeof *loads);
    double *sums = clv_alloc((size_t) replay.size, sizeof *sums);
    int *rank_of = clv_alloc(n + (size_t) 1, sizeof *rank_of);
    replay.owner = clv_alloc(archive->n_processes + (size_t) 1, sizeof *replay.owner);
    replay.is_here = clv_alloc(archive->n_processes + (size_t) 1, 1);
    bool is_good = loads && sums && rank_of && replay.owner && replay.is_here;
    if (is_good) {
        deal(correct, loads, n, sums, rank_of);
        set_owners(correct, rank_of);
        is_good = replay_make_teams(correct);
    }
    clv_free(loads);
    clv_free(sums);
    clv_free(rank_of);
    replay.share = (clv_clc_share_t){replay.is_here, replay.n_here};
    correct->share = &replay.share;
    replay.correct = correct;
    return correct_crew_has(is_good, "who has what");
}

/* ---- communicators ---- */

static int rank_of_member(const correct_comm_t *comm, uint32_t m)
{
    return comm->processes[m] == CORRECT_NOBODY ? 0 : replay.owner[comm->processes[m]];
}

/* Sorts members by rank: counts, then places them. counts has size + 1 zeroes. */
static void sort_members(correct_comm_t *comm, replay_team_t *team, uint32_t *counts)
{
    for (uint32_t m = 0; m < comm->n_members; m++) {
        counts[rank_of_member(comm, m) + 1]++;
    }
    team->own = UINT32_MAX;
    for (int r = 0; r < replay.size; r++) {
        if (counts[r + 1] > 0) {
            team->own = r == replay.rank ? team->n_ranks : team->own;
            team->begin[team->n_ranks] = counts[r];
            team->ranks[team->n_ranks++] = r;
        }
        counts[r + 1] += counts[r];
    }
    team->begin[team->n_ranks] = comm->n_members;
    for (uint32_t m = 0; m < comm->n_members; m++) {
        const int r = rank_of_member(comm, m);
        const uint32_t at = counts[r]++;
        team->members[at] = m;
    }
    for (uint32_t i = 0; i < team->n_ranks; i++) {
        for (uint32_t at = team->begin[i]; at < team->begin[i + 1]; at++) {
            comm->slots[team->members[at]] = at - team->begin[i];
        }
    }
}

static bool make_team(correct_comm_t *comm, replay_team_t *team)
{
    const size_t n = comm->n_members + (size_t) 1, size = (size_t) replay.size + 1;
    uint32_t *counts = clv_alloc(size, sizeof *counts);
    team->ranks = clv_alloc(size, sizeof *team->ranks);
    team->begin = clv_alloc(size, sizeof *team->begin);
    team->members = clv_alloc(n, sizeof *team->members);
    comm->slots = clv_alloc(n, sizeof *comm->slots);
    const bool is_good = counts && team->ranks && team->begin && team->members && comm->slots;
    if (is_good) {
        sort_members(comm, team, counts);
    }
    clv_free(counts);
    return is_good;
}

bool replay_make_teams(correct_t *correct)
{
    const uint32_t n = correct->archive.n_comms;
    replay.teams = clv_alloc(n + (size_t) 1, sizeof *replay.teams);
    replay.n_here = clv_alloc(n + (size_t) 1, sizeof *replay.n_here);
    bool is_good = replay.teams && replay.n_here;
    for (uint32_t c = 0; c < n && is_good; c++) {
        replay_team_t *team = &replay.teams[c];
        is_good = make_team(&correct->archive.comms[c], team);
        if (is_good && team->own != UINT32_MAX) {
            replay.n_here[c] = team->begin[team->own + 1] - team->begin[team->own];
        }
    }
    return is_good;
}

int replay_home(uint32_t comm, uint64_t k)
{
    const replay_team_t *team = &replay.teams[comm];
    return team->ranks[k % team->n_ranks];
}

uint64_t replay_home_index(uint32_t comm, uint64_t k)
{
    return replay.teams[comm].first + k / replay.teams[comm].n_ranks;
}

uint64_t replay_home_ordinal(uint64_t index)
{
    const replay_team_t *team = &replay.teams[replay.home.collectives[index].team];
    return (index - team->first) * team->n_ranks + team->own;
}

int replay_owner_of_member(uint32_t comm, uint32_t member)
{
    return rank_of_member(&replay.correct->archive.comms[comm], member);
}

uint32_t replay_member(uint32_t comm, uint32_t slot)
{
    const replay_team_t *team = &replay.teams[comm];
    return team->members[team->begin[team->own] + slot];
}

uint32_t replay_place(uint32_t comm, int rank)
{
    const replay_team_t *team = &replay.teams[comm];
    uint32_t low = 0, high = team->n_ranks;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        low = team->ranks[middle] < rank ? middle + 1 : low;
        high = team->ranks[middle] < rank ? high : middle;
    }
    return low;
}

uint32_t replay_root(const clv_clc_collective_t *collective)
{
    const uint32_t c = collective->team, n = replay.n_here[c];
    return collective->root < n ? replay_member(c, collective->root) : collective->root - n;
}

/* ---- homes ---- */

static uint64_t count_at_home(const clv_clc_counts_t *counts, const replay_team_t *team)
{
    const uint64_t n = (uint64_t) counts->n;
    return counts->n_here > 0 && n > team->own ? (n - team->own - 1) / team->n_ranks + 1 : 0;
}

static bool get_home(const correct_t *correct)
{
    clv_clc_trace_t *home = &replay.home;
    const clv_clc_counts_t *counts = clv_clc_match_counts(correct->match);
    for (uint32_t c = 0; c < correct->archive.n_comms; c++) {
        const uint64_t n = count_at_home(&counts[c], &replay.teams[c]);
        replay.teams[c].first = home->n_collectives;
        replay.teams[c].first_member = home->n_members;
        home->n_collectives += n;
        home->n_members += n * counts[c].team_size;
    }
    home->collectives = correct_store_get(home->n_collectives, sizeof *home->collectives);
    home->members = correct_store_get(home->n_members, sizeof *home->members);
    return home->collectives && home->members;
}

static void set_homes(const correct_t *correct)
{
    const clv_clc_counts_t *counts = clv_clc_match_counts(correct->match);
    for (uint32_t c = 0; c < correct->archive.n_comms; c++) {
        const uint64_t n = count_at_home(&counts[c], &replay.teams[c]);
        for (uint64_t i = 0; i < n; i++) {
            clv_clc_collective_t *collective = &replay.home.collectives[replay.teams[c].first + i];
            collective->team = c;
            collective->first = replay.teams[c].first_member + i * counts[c].team_size;
        }
    }
}

/* Messages received here come first, and are complete once the senders have reported. */
static void count_received(const correct_t *correct)
{
    uint32_t n;
    const clv_clc_channel_t *channels = clv_clc_match_channels(correct->match, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (replay.is_here[channels[i].target] && channels[i].first != CLV_CLC_NO_MESSAGE) {
            replay.n_received += (uint64_t) channels[i].received.n;
        }
    }
    replay.home.messages = correct->trace.messages;
    replay.home.n_messages = replay.n_received;
}

static bool make_part(const clv_clc_team_t *whole, uint32_t comm, clv_clc_team_t *team)
{
    const uint32_t n = whole->n_members > 0 ? replay.n_here[comm] : 0;
    team->host = clv_alloc(n + (size_t) 1, sizeof *team->host);
    team->beside = clv_alloc(n + (size_t) 1, sizeof *team->beside);
    if (!team->host || !team->beside) {
        return false;
    }
    team->n_members = n;
    for (uint32_t i = 0; i < n; i++) {
        team->host[i] = whole->host[replay_member(comm, i)];
    }
    clv_clc_team_ring(team);
    return true;
}

static bool make_parts(correct_t *correct)
{
    const uint32_t n = correct->archive.n_comms;
    replay.home.teams = correct->trace.teams;
    replay.home.n_teams = n;
    replay.parts = clv_alloc(n + (size_t) 1, sizeof *replay.parts);
    bool is_good = replay.parts != NULL;
    for (uint32_t c = 0; c < n && is_good; c++) {
        is_good = make_part(&replay.home.teams[c], c, &replay.parts[c]);
    }
    return is_good;
}

bool replay_make_homes(correct_t *correct)
{
    if (!correct_crew_has(make_parts(correct) && get_home(correct), "collectives")) {
        return false;
    }
    set_homes(correct);
    count_received(correct);
    correct->whole = &replay.home;
    correct->trace.replay = &replay_pass;
    return true;
}

void replay_free_homes(void)
{
    const uint32_t n = replay.correct ? replay.correct->archive.n_comms : 0;
    for (uint32_t c = 0; replay.teams && c < n; c++) {
        clv_free(replay.teams[c].ranks);
        clv_free(replay.teams[c].begin);
        clv_free(replay.teams[c].members);
    }
    for (uint32_t c = 0; replay.parts && c < n; c++) {
        clv_free(replay.parts[c].host);
        clv_free(replay.parts[c].beside);
    }
    clv_free(replay.teams);
    clv_free(replay.parts);
    clv_free(replay.n_here);
    clv_free(replay.is_here);
    clv_free(replay.owner);
}
