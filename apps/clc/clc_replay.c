/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The collectives of a trace that several programs share.
 *
 * The home collects enters as they arrive, and releases an exit as soon as all enters that it waits
 * for are known. In a prefix operation, these are the exits up to the first member whose enter is
 * missing. In the other flavours, all exits wait for the last enter.
 */
#include "apps/clc/clc_replay.h"

#include "apps/clc/clc_internal.h"
#include "util/util_min_max.h"

void clv_clc_replay_exit(const clv_clc_trace_t *part, uint64_t collective, uint32_t member,
                         int64_t earliest)
{
    clv_clc_member_t *own = &part->members[part->collectives[collective].first + member];
    own->exit = earliest;
    own->flags |= CLV_CLC_KNOWN;
}

bool clv_clc_replay_is_prefix(const clv_clc_collective_t *collective)
{
    return clv_clc_is_prefix(collective);
}

bool clv_clc_replay_begin(const clv_clc_trace_t *part, uint64_t g, int32_t n_more)
{
    clv_clc_collective_t *collective = &part->collectives[g];
    collective->n_missing = n_more + clv_clc_count_sends(part, collective);
    return collective->n_missing == 0;
}

clv_clc_extreme_t clv_clc_replay_enter(const clv_clc_trace_t *part, const clv_clc_event_t *event)
{
    const clv_clc_team_t *team = &part->teams[part->collectives[event->group].team];
    return (clv_clc_extreme_t){event->corrected, CLV_CLC_UNKNOWN,
                               team->host[clv_clc_member_of(event)]};
}

/* Both may contain stamps of the same host. */
static clv_clc_extreme_t later_of(clv_clc_extreme_t a, clv_clc_extreme_t b)
{
    const clv_clc_extreme_t last = b.first > a.first ? b : a, other = b.first > a.first ? a : b;
    const int64_t beside = last.host == other.host ? other.second : other.first;
    return (clv_clc_extreme_t){last.first, clv_larger(last.second, beside), last.host};
}

bool clv_clc_replay_take(const clv_clc_trace_t *part, uint64_t g, const clv_clc_extreme_t *extreme)
{
    clv_clc_collective_t *collective = &part->collectives[g];
    collective->extreme = later_of(collective->extreme, *extreme);
    return --collective->n_missing == 0;
}

void clv_clc_replay_settle(const clv_clc_trace_t *part, const clv_clc_config_t *config, uint64_t g)
{
    const clv_clc_collective_t *collective = &part->collectives[g];
    const clv_clc_member_t *members = &part->members[collective->first];
    for (uint32_t i = 0; i < part->teams[collective->team].n_members; i++) {
        if (clv_clc_receives(collective, members, i)) {
            clv_clc_replay_exit(part, g, i, clv_clc_earliest_exit(part, config, collective, i));
        }
    }
}

int64_t clv_clc_replay_known(const clv_clc_trace_t *part, const clv_clc_config_t *config,
                             uint64_t g, const uint32_t *numbers, uint32_t member, int32_t host)
{
    const clv_clc_collective_t *collective = &part->collectives[g];
    const clv_clc_member_t *members = &part->members[collective->first];
    const clv_clc_team_t *team = &part->teams[collective->team];
    int64_t time = CLV_CLC_UNKNOWN;
    for (uint32_t i = 0; i < team->n_members; i++) {
        const bool is_other =
            clv_clc_is_prefix(collective) ? numbers[i] < member : numbers[i] != member;
        if (is_other && clv_clc_sends(collective, members, i) &&
            members[i].enter != CLV_CLC_UNKNOWN) {
            const int64_t delay = clv_clc_delay(config, team->host[i], host);
            time = clv_larger(time, members[i].enter + delay);
        }
    }
    return time;
}

static void tell_member(const clv_clc_home_t *home, const clv_clc_collective_t *collective,
                        uint32_t member)
{
    if (clv_clc_receives(collective, &home->trace->members[collective->first], member)) {
        home->tell(home->context, collective, member,
                   clv_clc_earliest_exit(home->trace, home->config, collective, member));
    }
}

/* n_missing is the number of members released so far. */
static void go_on_prefix(const clv_clc_home_t *home, clv_clc_collective_t *collective)
{
    const clv_clc_member_t *members = &home->trace->members[collective->first];
    const int32_t n = (int32_t) home->trace->teams[collective->team].n_members;
    while (collective->n_missing < n) {
        const uint32_t last = (uint32_t) collective->n_missing - 1;
        if (collective->n_missing > 0 && clv_clc_sends(collective, members, last) &&
            members[last].enter == CLV_CLC_UNKNOWN) {
            return;
        }
        tell_member(home, collective, (uint32_t) collective->n_missing++);
    }
}

static void tell_all(const clv_clc_home_t *home, clv_clc_collective_t *collective)
{
    clv_clc_last_enter(home->trace, collective);
    for (uint32_t i = 0; i < home->trace->teams[collective->team].n_members; i++) {
        tell_member(home, collective, i);
    }
}

void clv_clc_home_begin(const clv_clc_home_t *home, uint64_t g)
{
    clv_clc_collective_t *collective = &home->trace->collectives[g];
    const uint32_t n = home->trace->teams[collective->team].n_members;
    for (uint32_t i = 0; i < n; i++) {
        clv_clc_member_t *member = &home->trace->members[collective->first + i];
        member->enter = member->exit = CLV_CLC_UNKNOWN;
    }
    if (clv_clc_is_prefix(collective)) {
        collective->n_missing = 0;
        go_on_prefix(home, collective);
        return;
    }
    collective->n_missing = clv_clc_count_sends(home->trace, collective);
    if (collective->n_missing == 0) {
        tell_all(home, collective);
    }
}

void clv_clc_home_take(const clv_clc_home_t *home, uint64_t g, uint32_t member, int64_t enter)
{
    clv_clc_collective_t *collective = &home->trace->collectives[g];
    clv_clc_member_t *members = &home->trace->members[collective->first];
    members[member].enter = enter;
    if (clv_clc_is_prefix(collective)) {
        go_on_prefix(home, collective);
    } else if (clv_clc_sends(collective, members, member) && --collective->n_missing == 0) {
        tell_all(home, collective);
    }
}

/* Overwrites the enters: the limits follow from exits alone. */
void clv_clc_home_limit(const clv_clc_home_t *home, uint64_t g)
{
    clv_clc_collective_t *collective = &home->trace->collectives[g];
    clv_clc_first_exit(home->trace, collective);
    for (uint32_t i = 0; i < home->trace->teams[collective->team].n_members; i++) {
        home->trace->members[collective->first + i].enter =
            clv_clc_latest_enter(home->trace, home->config, collective, i);
    }
}
