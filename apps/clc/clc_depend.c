/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which member of a collective waits for which (the paper's section 4), and the resulting limits.
 *
 * In all flavours but the prefixes, every receiver waits for every sender. The extreme stamp of all
 * members and the extreme on other hosts then give the limit from other hosts in O(1). The members
 * of the same host, which have another delay, are visited one by one along their ring.
 *
 * The paper prints the pairs of a prefix operation with the indices swapped: there the exit of
 * member i would wait for the enters above it. MPI_Scan at rank i combines the vectors of ranks 0
 * .. i.
 */
#include "apps/clc/clc_internal.h"

bool clv_clc_sends(const clv_clc_collective_t *collective, const clv_clc_member_t *members,
                   uint32_t k)
{
    return (members[k].flags & CLV_CLC_SENDS) && collective->flavour != CLV_CLC_FREE &&
           (collective->flavour != CLV_CLC_ONE_TO_N || k == collective->root);
}

bool clv_clc_receives(const clv_clc_collective_t *collective, const clv_clc_member_t *members,
                      uint32_t i)
{
    return (members[i].flags & CLV_CLC_RECEIVES) && collective->flavour != CLV_CLC_FREE &&
           (collective->flavour != CLV_CLC_N_TO_ONE || i == collective->root);
}

bool clv_clc_is_prefix(const clv_clc_collective_t *collective)
{
    return collective->flavour == CLV_CLC_SCAN || collective->flavour == CLV_CLC_EXSCAN;
}

/* Scan and exscan differ only in the member's own contribution, whose order its own track
 * ensures. */
bool clv_clc_depends(const clv_clc_collective_t *collective, const clv_clc_member_t *members,
                     uint32_t k, uint32_t i)
{
    return k != i && (!clv_clc_is_prefix(collective) || k < i) &&
           clv_clc_sends(collective, members, k) && clv_clc_receives(collective, members, i);
}

int32_t clv_clc_count_sends(const clv_clc_trace_t *trace, const clv_clc_collective_t *collective)
{
    const clv_clc_member_t *members = &trace->members[collective->first];
    const uint32_t n = trace->teams[collective->team].n_members;
    int32_t count = 0;
    for (uint32_t k = 0; k < n; k++) {
        count += clv_clc_sends(collective, members, k);
    }
    return count;
}

/* Includes one stamp; sign 1 looks for the greatest, -1 for the least. */
static void take(clv_clc_extreme_t *extreme, int64_t stamp, int32_t host, int sign)
{
    if (host == extreme->host) {
        if (sign > 0 ? stamp > extreme->first : stamp < extreme->first) {
            extreme->first = stamp;
        }
    } else if (sign > 0 ? stamp > extreme->first : stamp < extreme->first) {
        extreme->second = extreme->first;
        extreme->first = stamp;
        extreme->host = host;
    } else if (sign > 0 ? stamp > extreme->second : stamp < extreme->second) {
        extreme->second = stamp;
    }
}

void clv_clc_last_enter(const clv_clc_trace_t *trace, clv_clc_collective_t *collective)
{
    const clv_clc_member_t *members = &trace->members[collective->first];
    const clv_clc_team_t *team = &trace->teams[collective->team];
    clv_clc_extreme_t extreme = {CLV_CLC_UNKNOWN, CLV_CLC_UNKNOWN, -1};
    for (uint32_t k = 0; k < team->n_members; k++) {
        if (clv_clc_sends(collective, members, k) && members[k].enter != CLV_CLC_UNKNOWN) {
            take(&extreme, members[k].enter, team->host[k], 1);
        }
    }
    collective->extreme = extreme;
}

void clv_clc_first_exit(const clv_clc_trace_t *trace, clv_clc_collective_t *collective)
{
    const clv_clc_member_t *members = &trace->members[collective->first];
    const clv_clc_team_t *team = &trace->teams[collective->team];
    clv_clc_extreme_t extreme = {INT64_MAX, INT64_MAX, -1};
    for (uint32_t i = 0; i < team->n_members; i++) {
        if (clv_clc_receives(collective, members, i) && members[i].exit != CLV_CLC_UNKNOWN) {
            take(&extreme, members[i].exit, team->host[i], -1);
        }
    }
    collective->extreme = extreme;
}

static void later(int64_t *time, int64_t enter, int64_t delay)
{
    if (enter != CLV_CLC_UNKNOWN && enter + delay > *time) {
        *time = enter + delay;
    }
}

static void earlier(int64_t *time, int64_t exit, int64_t delay)
{
    if (exit != INT64_MAX && exit != CLV_CLC_UNKNOWN && exit - delay < *time) {
        *time = exit - delay;
    }
}

int64_t clv_clc_earliest_exit(const clv_clc_trace_t *trace, const clv_clc_config_t *config,
                              const clv_clc_collective_t *collective, uint32_t member)
{
    const clv_clc_member_t *members = &trace->members[collective->first];
    const clv_clc_team_t *team = &trace->teams[collective->team];
    const int32_t host = team->host[member];
    int64_t time = CLV_CLC_UNKNOWN;
    if (clv_clc_is_prefix(collective)) {
        for (uint32_t k = 0; k < member; k++) {
            if (clv_clc_sends(collective, members, k)) {
                later(&time, members[k].enter, clv_clc_delay(config, team->host[k], host));
            }
        }
        return time;
    }
    const clv_clc_extreme_t *extreme = &collective->extreme;
    later(&time, extreme->host == host ? extreme->second : extreme->first, config->inter_ns);
    for (uint32_t k = team->beside[member]; k != member; k = team->beside[k]) {
        if (clv_clc_sends(collective, members, k)) {
            later(&time, members[k].enter, config->intra_ns);
        }
    }
    return time;
}

int64_t clv_clc_latest_enter(const clv_clc_trace_t *trace, const clv_clc_config_t *config,
                             const clv_clc_collective_t *collective, uint32_t member)
{
    const clv_clc_member_t *members = &trace->members[collective->first];
    const clv_clc_team_t *team = &trace->teams[collective->team];
    const int32_t host = team->host[member];
    int64_t time = INT64_MAX;
    if (!clv_clc_sends(collective, members, member)) {
        return time;
    }
    if (clv_clc_is_prefix(collective)) {
        for (uint32_t i = member + 1; i < team->n_members; i++) {
            if (clv_clc_receives(collective, members, i)) {
                earlier(&time, members[i].exit, clv_clc_delay(config, host, team->host[i]));
            }
        }
        return time;
    }
    const clv_clc_extreme_t *extreme = &collective->extreme;
    earlier(&time, extreme->host == host ? extreme->second : extreme->first, config->inter_ns);
    for (uint32_t i = team->beside[member]; i != member; i = team->beside[i]) {
        if (clv_clc_receives(collective, members, i)) {
            earlier(&time, members[i].exit, config->intra_ns);
        }
    }
    return time;
}
