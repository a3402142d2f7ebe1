/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts the violations in a trace, and how the correction changed its intervals.
 */
#include "apps/clc/clc_internal.h"

#include <math.h>
#include <string.h>

#include "util/util_min_max.h"

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

/* Most collectives have no violation; their extremes show that in O(members). */
static bool is_fine(const clv_clc_trace_t *trace, const clv_clc_config_t *config,
                    const clv_clc_collective_t *collective, clv_clc_tally_t *tally)
{
    const clv_clc_member_t *members = &trace->members[collective->first];
    const uint32_t n = trace->teams[collective->team].n_members;
    const int64_t delay = config->inter_ns > config->intra_ns ? config->inter_ns : config->intra_ns;
    int64_t last = INT64_MIN, first = INT64_MAX, n_sends = 0, n_receives = 0, n_both = 0;
    if (collective->flavour != CLV_CLC_N_TO_N) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        const bool does_send = (members[i].flags & CLV_CLC_SENDS) != 0;
        const bool does_receive = (members[i].flags & CLV_CLC_RECEIVES) != 0;
        n_sends += does_send;
        n_receives += does_receive;
        n_both += does_send && does_receive;
        last = does_send && members[i].enter > last ? members[i].enter : last;
        first = does_receive && members[i].exit < first ? members[i].exit : first;
    }
    if (n_sends > 0 && n_receives > 0 && last + delay > first) {
        return false;
    }
    tally->n_messages += n_sends * n_receives - n_both;
    return true;
}

typedef struct counting {
    const clv_clc_trace_t *trace;
    const clv_clc_config_t *config;
    clv_clc_tally_t tallies[CLV_CLC_PIECES][CLV_CLC_MAX_OPS];
} counting_t;

static void count_messages(counting_t *counting, uint64_t first, uint64_t end,
                           clv_clc_tally_t *tally)
{
    for (uint64_t g = first; g < end; g++) {
        const clv_clc_message_t *message = &counting->trace->messages[g];
        tally->n_messages++;
        count_pair(tally, message->send, message->receive,
                   clv_clc_delay(counting->config, message->from, message->to));
    }
}

static void count_piece(void *context, uint32_t i)
{
    counting_t *counting = context;
    const clv_clc_trace_t *trace = counting->trace;
    const uint64_t n = trace->n_messages, m = trace->n_collectives;
    clv_clc_tally_t *tallies = counting->tallies[i];
    count_messages(counting, clv_clc_piece(n, i), clv_clc_piece(n, i + 1), &tallies[0]);
    for (uint64_t g = clv_clc_piece(m, i); g < clv_clc_piece(m, i + 1); g++) {
        const clv_clc_collective_t *collective = &trace->collectives[g];
        clv_clc_tally_t *tally = &tallies[collective->op];
        if (!is_fine(trace, counting->config, collective, tally)) {
            count_collective(trace, counting->config, collective, tally);
        }
    }
}

static void add_tally(clv_clc_tally_t *sum, const clv_clc_tally_t *tally)
{
    sum->n_messages += tally->n_messages;
    sum->n_reversed += tally->n_reversed;
    sum->n_violated += tally->n_violated;
    sum->reversed_ns += tally->reversed_ns;
    sum->worst_ns = clv_larger(sum->worst_ns, tally->worst_ns);
    sum->needed_ns = clv_larger(sum->needed_ns, tally->needed_ns);
}

void clv_clc_count(const clv_clc_trace_t *trace, const clv_clc_config_t *config,
                   clv_clc_tally_t *tallies)
{
    counting_t counting = {.trace = trace, .config = config};
    clv_clc_parallel(config->n_threads, CLV_CLC_PIECES, count_piece, &counting);
    memset(tallies, 0, CLV_CLC_MAX_OPS * sizeof *tallies);
    for (int i = 0; i < CLV_CLC_PIECES; i++) {
        for (int op = 0; op < CLV_CLC_MAX_OPS; op++) {
            add_tally(&tallies[op], &counting.tallies[i][op]);
        }
    }
}

clv_clc_tally_t clv_clc_sum(const clv_clc_tally_t *tallies)
{
    clv_clc_tally_t sum = {0};
    for (int op = 0; op < CLV_CLC_MAX_OPS; op++) {
        add_tally(&sum, &tallies[op]);
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

typedef struct measuring {
    const clv_clc_trace_t *trace;
    int64_t pause_ns;
    clv_clc_table4_t tables[CLV_CLC_PIECES];
} measuring_t;

static void measure_piece(void *context, uint32_t i)
{
    measuring_t *measuring = context;
    const uint64_t n = measuring->trace->n_tracks;
    for (uint64_t t = clv_clc_piece(n, i); t < clv_clc_piece(n, i + 1); t++) {
        measure_track(&measuring->tables[i], &measuring->trace->tracks[t], measuring->pause_ns);
    }
}

static void add_table(clv_clc_table4_t *sum, const clv_clc_table4_t *table)
{
    sum->n_intervals += table->n_intervals;
    sum->total_ns += table->total_ns;
    sum->deviation_ns += table->deviation_ns;
    for (int i = 0; i < CLV_CLC_N_THRESHOLDS; i++) {
        sum->n_above[i] += table->n_above[i];
        sum->above_ns[i] += table->above_ns[i];
    }
    sum->largest = fmax(sum->largest, table->largest);
    sum->position_relative = fmax(sum->position_relative, table->position_relative);
    sum->position_ns = clv_larger(sum->position_ns, table->position_ns);
    sum->largest_shift_ns = clv_larger(sum->largest_shift_ns, table->largest_shift_ns);
}

void clv_clc_measure(const clv_clc_trace_t *trace, int64_t pause_ns, int32_t n_threads,
                     clv_clc_table4_t *table)
{
    measuring_t measuring = {.trace = trace, .pause_ns = pause_ns};
    clv_clc_parallel(n_threads, CLV_CLC_PIECES, measure_piece, &measuring);
    *table = (clv_clc_table4_t){0};
    for (int i = 0; i < CLV_CLC_PIECES; i++) {
        add_table(table, &measuring.tables[i]);
    }
}
