/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is wrong with a trace, and what the correction did to its intervals.
 */
#include "clc/clc_internal.h"

#include <math.h>
#include <string.h>

static void count_pair(clv_clc_tally_t *tally, int64_t send, int64_t receive, int64_t delay)
{
    const int64_t early = send - receive;
    if (early > 0) {
        tally->n_reversed++;
        tally->reversed_ns += (double) early;
        tally->worst_ns = early > tally->worst_ns ? early : tally->worst_ns;
    }
    if (early + delay > 0) {
        tally->n_violated++;
        tally->needed_ns = early + delay > tally->needed_ns ? early + delay : tally->needed_ns;
    }
}

static void count_collective(const clv_clc_trace_t *trace, const clv_clc_config_t *config,
                             const clv_clc_collective_t *collective, clv_clc_tally_t *tally)
{
    const clv_clc_member_t *members = &trace->members[collective->first];
    const clv_clc_team_t *team = &trace->teams[collective->team];
    for (uint32_t i = 0; i < team->n_members; i++) {
        for (uint32_t k = 0; k < team->n_members; k++) {
            if (clv_clc_depends(collective, members, k, i)) {
                tally->n_messages++;
                count_pair(tally, members[k].enter, members[i].exit,
                           clv_clc_delay(config, team->host[k], team->host[i]));
            }
        }
    }
}

/* Most collectives are all right, which their extremes tell in O(members). */
static int is_fine(const clv_clc_trace_t *trace, const clv_clc_config_t *config,
                   const clv_clc_collective_t *collective, clv_clc_tally_t *tally)
{
    const clv_clc_member_t *members = &trace->members[collective->first];
    const uint32_t n = trace->teams[collective->team].n_members;
    const int64_t delay = config->inter_ns > config->intra_ns ? config->inter_ns : config->intra_ns;
    int64_t last = INT64_MIN, first = INT64_MAX, n_sends = 0, n_receives = 0, n_both = 0;
    if (collective->flavour != CLV_CLC_N_TO_N) {
        return 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        const int does_send = (members[i].flags & CLV_CLC_SENDS) != 0;
        const int does_receive = (members[i].flags & CLV_CLC_RECEIVES) != 0;
        n_sends += does_send;
        n_receives += does_receive;
        n_both += does_send && does_receive;
        last = does_send && members[i].enter > last ? members[i].enter : last;
        first = does_receive && members[i].exit < first ? members[i].exit : first;
    }
    if (n_sends > 0 && n_receives > 0 && last + delay > first) {
        return 0;
    }
    tally->n_messages += n_sends * n_receives - n_both;
    return 1;
}

void clv_clc_count(const clv_clc_trace_t *trace, const clv_clc_config_t *config,
                   clv_clc_tally_t *tallies)
{
    memset(tallies, 0, CLV_CLC_MAX_OPS * sizeof *tallies);
    for (uint64_t g = 0; g < trace->n_messages; g++) {
        const clv_clc_message_t *message = &trace->messages[g];
        tallies[0].n_messages++;
        count_pair(&tallies[0], message->send, message->receive,
                   clv_clc_delay(config, message->from, message->to));
    }
    for (uint64_t g = 0; g < trace->n_collectives; g++) {
        const clv_clc_collective_t *collective = &trace->collectives[g];
        clv_clc_tally_t *tally = &tallies[collective->op];
        if (!is_fine(trace, config, collective, tally)) {
            count_collective(trace, config, collective, tally);
        }
    }
}

clv_clc_tally_t clv_clc_sum(const clv_clc_tally_t *tallies)
{
    clv_clc_tally_t sum = {0};
    for (int op = 0; op < CLV_CLC_MAX_OPS; op++) {
        const clv_clc_tally_t *tally = &tallies[op];
        sum.n_messages += tally->n_messages;
        sum.n_reversed += tally->n_reversed;
        sum.n_violated += tally->n_violated;
        sum.reversed_ns += tally->reversed_ns;
        sum.worst_ns = tally->worst_ns > sum.worst_ns ? tally->worst_ns : sum.worst_ns;
        sum.needed_ns = tally->needed_ns > sum.needed_ns ? tally->needed_ns : sum.needed_ns;
    }
    return sum;
}

const double clv_clc_thresholds[CLV_CLC_N_THRESHOLDS] = {0, 1e-4, 1e-3, .01, .1, 1};

static void measure_interval(clv_clc_table4_t *table, double was, double is)
{
    const double deviation = fabs(is - was);
    const double relative = was > 0 ? deviation / was : 0;
    table->n_intervals++;
    table->total_ns += was;
    table->deviation_ns += deviation;
    table->largest = relative > table->largest ? relative : table->largest;
    for (int i = 0; i < CLV_CLC_N_THRESHOLDS && relative > clv_clc_thresholds[i]; i++) {
        table->n_above[i]++;
        table->above_ns[i] += was;
    }
}

static void measure_track(clv_clc_table4_t *table, const clv_clc_track_t *track, int64_t pause_ns)
{
    const clv_clc_event_t *events = track->events;
    for (int64_t j = 0; j < track->n_events; j++) {
        const int64_t shift = events[j].corrected - events[j].stamp;
        const int64_t moved = shift - (events[0].corrected - events[0].stamp);
        const int64_t position = moved < 0 ? -moved : moved;
        const double since = (double) (events[j].stamp - events[0].stamp);
        table->largest_shift_ns = shift > table->largest_shift_ns ? shift : table->largest_shift_ns;
        table->position_ns = position > table->position_ns ? position : table->position_ns;
        table->position_relative = since > 0
                                       ? fmax(table->position_relative, (double) position / since)
                                       : table->position_relative;
        if (j == 0) {
            continue;
        }
        const int64_t was = events[j].stamp - events[j - 1].stamp;
        if (pause_ns == 0 || was <= pause_ns) {
            measure_interval(table, (double) was,
                             (double) (events[j].corrected - events[j - 1].corrected));
        }
    }
}

void clv_clc_measure(const clv_clc_trace_t *trace, int64_t pause_ns, clv_clc_table4_t *table)
{
    *table = (clv_clc_table4_t){0};
    for (uint32_t i = 0; i < trace->n_tracks; i++) {
        measure_track(table, &trace->tracks[i], pause_ns);
    }
}
