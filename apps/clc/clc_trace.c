/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Validates a trace, and copies stamps between events and their groups.
 */
#include "apps/clc/clc_internal.h"

#include <math.h>

/* Stamps up to this distance from 0 leave room for shifts. */
#define LARGEST_STAMP (INT64_C(1) << 61)
#define LARGEST_DELAY (INT64_C(1) << 40)

static const char *check_group(const clv_clc_trace_t *trace, const clv_clc_event_t *event)
{
    const clv_clc_role_t role = clv_clc_role(event);
    if (role == CLV_CLC_INTERNAL) {
        return NULL;
    }
    if (role == CLV_CLC_SEND || role == CLV_CLC_RECEIVE) {
        return event->group < trace->n_messages ? NULL : "an event of no message";
    }
    if (role > CLV_CLC_EXIT || event->group >= trace->n_collectives) {
        return "an event of no collective";
    }
    const clv_clc_collective_t *collective = &trace->collectives[event->group];
    return clv_clc_member_of(event) < trace->teams[collective->team].n_members
               ? NULL
               : "an event of no member";
}

const char *clv_clc_check_track(const clv_clc_trace_t *trace, uint32_t i)
{
    const clv_clc_track_t *track = &trace->tracks[i];
    for (int64_t j = 0; j < track->n_events; j++) {
        const clv_clc_event_t *event = &track->events[j];
        if (event->stamp > LARGEST_STAMP || event->stamp < -LARGEST_STAMP) {
            return "a stamp beyond 73 years";
        }
        if (j > 0 && event->stamp < event[-1].stamp) {
            return "stamps of a track fall";
        }
        const char *reason = check_group(trace, event);
        if (reason) {
            return reason;
        }
    }
    return NULL;
}

static const char *check_collective(const clv_clc_trace_t *trace, uint64_t g)
{
    const clv_clc_collective_t *collective = &trace->collectives[g];
    if (collective->team >= trace->n_teams) {
        return "a collective of no team";
    }
    const clv_clc_team_t *team = &trace->teams[collective->team];
    if (collective->flavour > CLV_CLC_FREE || collective->op >= CLV_CLC_MAX_OPS) {
        return "a collective of no kind";
    }
    if (collective->first > trace->n_members ||
        team->n_members > trace->n_members - collective->first) {
        return "a collective with too few members";
    }
    if ((collective->flavour == CLV_CLC_ONE_TO_N || collective->flavour == CLV_CLC_N_TO_ONE) &&
        collective->root >= team->n_members) {
        return "a root that is no member";
    }
    return NULL;
}

const char *clv_clc_check_groups(const clv_clc_trace_t *trace, uint64_t *where)
{
    const char *reason = NULL;
    for (uint64_t g = 0; g < trace->n_collectives && !reason; g++) {
        *where = g;
        reason = check_collective(trace, g);
    }
    for (uint32_t l = 0; l < trace->n_lines && !reason; l++) {
        *where = l;
        for (uint32_t k = 0; k < trace->lines[l].n_tracks && !reason; k++) {
            reason = trace->lines[l].tracks[k] < trace->n_tracks ? NULL : "a line of no track";
        }
    }
    return reason;
}

const char *clv_clc_check(const clv_clc_trace_t *trace, uint64_t *where)
{
    const char *reason = clv_clc_check_groups(trace, where);
    for (uint32_t i = 0; i < trace->n_tracks && !reason; i++) {
        *where = i;
        reason = clv_clc_check_track(trace, i);
    }
    return reason;
}

const char *clv_clc_check_config(const clv_clc_config_t *config)
{
    if (!(config->gamma >= 0 && config->gamma <= 1)) {
        return "gamma is not between 0 and 1";
    }
    if (!(config->slope > 0) || !isfinite(config->slope)) {
        return "the slope is not above 0";
    }
    if (config->inter_ns < 0 || config->intra_ns < 0 || config->inter_ns > LARGEST_DELAY ||
        config->intra_ns > LARGEST_DELAY) {
        return "a latency is not between 0 and 18 minutes";
    }
    if (config->look_back < 0 || config->look_ahead_ns < 0 || config->n_threads < 0) {
        return "a bound is below 0";
    }
    return NULL;
}

/* Links the members of one host in a ring, each to the one before, the first to the last. */
void clv_clc_team_ring(clv_clc_team_t *team)
{
    for (uint32_t i = 0; i < team->n_members; i++) {
        team->beside[i] = i;
        for (uint32_t k = i; k-- > 0;) {
            if (team->host[k] == team->host[i]) {
                team->beside[i] = team->beside[k];
                team->beside[k] = i;
                break;
            }
        }
    }
}

typedef struct placing {
    const clv_clc_trace_t *trace;
    clv_clc_which_t which;
} placing_t;

static void place_track(void *context, uint32_t i)
{
    const placing_t *placing = context;
    const clv_clc_trace_t *trace = placing->trace;
    const clv_clc_track_t *track = &trace->tracks[i];
    for (int64_t j = 0; j < track->n_events; j++) {
        const clv_clc_event_t *event = &track->events[j];
        const clv_clc_role_t role = clv_clc_role(event);
        const int64_t stamp = clv_clc_which(event, placing->which);
        if (role == CLV_CLC_SEND) {
            trace->messages[event->group].send = stamp;
        } else if (role == CLV_CLC_RECEIVE) {
            trace->messages[event->group].receive = stamp;
        } else if (role != CLV_CLC_INTERNAL) {
            const uint64_t first = trace->collectives[event->group].first;
            clv_clc_member_t *member = &trace->members[first + clv_clc_member_of(event)];
            *(role == CLV_CLC_ENTER ? &member->enter : &member->exit) = stamp;
        }
    }
}

void clv_clc_place(const clv_clc_trace_t *trace, clv_clc_which_t which, int32_t n_threads)
{
    placing_t placing = {trace, which};
    clv_clc_parallel(n_threads, trace->n_tracks, place_track, &placing);
}
