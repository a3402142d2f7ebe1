/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct: the least delays, given or found. Between hosts: half the least round trip that was
 * recorded, else the gap of lower hulls in windows (clc_latency.h), over messages and collectives
 * of all pairs of hosts. Inside a host the clock is one, so it is the least that was seen.
 */
#include <stdlib.h>

#include "apps/clc/clc_latency.h"
#include "apps/tools/correct/correct.h"
#include "util/util_alloc.h"

/* More than that are thinned by leaving whole windows out. */
#define MOST_SAMPLES 200000
/* Collectives over more hosts than that give no samples between them. */
#define MOST_HOSTS 32

typedef struct sample {
    int32_t low, high; /* hosts */
    int32_t is_back;   /* from high to low */
    clv_clc_delay_t delay;
} sample_t;

typedef struct samples {
    sample_t *list;
    int64_t n, n_slots, every;
    int64_t intra; /* least inside hosts, INT64_MAX: none */
} samples_t;

static void add(void *context, int32_t from, int32_t to, int64_t sent, int64_t received)
{
    samples_t *samples = context;
    if (from == to) {
        const int64_t delay = received - sent;
        samples->intra = delay < samples->intra ? delay : samples->intra;
        return;
    }
    const int64_t window = sent / CLV_CLC_WINDOW_NS;
    if (samples->n < samples->n_slots && window % samples->every == 0) {
        samples->list[samples->n++] = (sample_t){
            from < to ? from : to, from < to ? to : from, from > to, {sent, received - sent}};
    }
}

typedef void (*take_t)(void *context, int32_t from, int32_t to, int64_t sent, int64_t received);

/* Exits of a host can follow the last enter of each other host only. */
static void take_collective(const clv_clc_trace_t *trace, const clv_clc_collective_t *collective,
                            take_t take, void *context)
{
    const clv_clc_member_t *members = &trace->members[collective->first];
    const clv_clc_team_t *team = &trace->teams[collective->team];
    int32_t hosts[MOST_HOSTS];
    uint32_t last[MOST_HOSTS], n_hosts = 0;
    if (collective->flavour != CLV_CLC_N_TO_N) {
        return;
    }
    for (uint32_t i = 0; i < team->n_members; i++) {
        uint32_t h = 0;
        if (!(members[i].flags & CLV_CLC_SENDS)) {
            continue;
        }
        while (h < n_hosts && hosts[h] != team->host[i]) {
            h++;
        }
        if (h == MOST_HOSTS) {
            return;
        }
        if (h == n_hosts) {
            hosts[n_hosts++] = team->host[i];
            last[h] = i;
        }
        last[h] = members[i].enter > members[last[h]].enter ? i : last[h];
    }
    for (uint32_t h = 0; h < n_hosts; h++) {
        for (uint32_t i = 0; i < team->n_members; i++) {
            if (i != last[h] && (members[i].flags & CLV_CLC_RECEIVES)) {
                take(context, hosts[h], team->host[i], members[last[h]].enter, members[i].exit);
            }
        }
    }
}

void correct_each_delay(const clv_clc_trace_t *trace, take_t take, void *context)
{
    for (uint64_t g = 0; g < trace->n_messages; g++) {
        const clv_clc_message_t *message = &trace->messages[g];
        take(context, message->from, message->to, message->send, message->receive);
    }
    for (uint64_t g = 0; g < trace->n_collectives; g++) {
        take_collective(trace, &trace->collectives[g], take, context);
    }
}

static int by_pair(const void *left, const void *right)
{
    const sample_t *a = left, *b = right;
    const int64_t x[] = {a->low, a->high, a->is_back, a->delay.time_ns};
    const int64_t y[] = {b->low, b->high, b->is_back, b->delay.time_ns};
    for (int i = 0; i < 4; i++) {
        if (x[i] != y[i]) {
            return x[i] < y[i] ? -1 : 1;
        }
    }
    return 0;
}

/* The samples of one pair from first on; returns where the next pair begins. */
static int64_t least_of_pair(const samples_t *samples, int64_t first, clv_clc_delay_t *scratch,
                             int64_t *least)
{
    const sample_t *list = samples->list;
    int64_t i = first, n_there = 0, n = 0;
    for (; i < samples->n && list[i].low == list[first].low && list[i].high == list[first].high;
         i++) {
        n_there += !list[i].is_back;
        scratch[n++] = list[i].delay;
    }
    const int64_t own =
        clv_clc_least_delay_of_pair(scratch, n_there, scratch + n_there, n - n_there);
    *least = own < *least ? own : *least;
    return i;
}

static int64_t least_between(samples_t *samples)
{
    clv_clc_delay_t *scratch = clv_alloc((size_t) samples->n + 1, sizeof *scratch);
    int64_t least = INT64_MAX;
    if (!scratch) {
        return INT64_MAX;
    }
    if (samples->n > 1) {
        qsort(samples->list, (size_t) samples->n, sizeof *samples->list, by_pair);
    }
    for (int64_t i = 0; i < samples->n;) {
        i = least_of_pair(samples, i, scratch, &least);
    }
    clv_free(scratch);
    return least;
}

static int collect(const correct_t *correct, samples_t *samples)
{
    const clv_clc_trace_t *trace = &correct->trace;
    uint64_t n = 0;
    for (uint64_t g = 0; g < trace->n_messages; g++) {
        n += trace->messages[g].from != trace->messages[g].to;
    }
    samples->n_slots = MOST_SAMPLES;
    samples->every = (int64_t) (n / (MOST_SAMPLES / 4)) + 1;
    samples->list = clv_alloc_unset(MOST_SAMPLES, sizeof *samples->list);
    if (!samples->list) {
        return correct_fail(CORRECT_EXIT_MACHINE, "out of memory for delays");
    }
    correct_each_delay(trace, add, samples);
    return 1;
}

static int64_t recorded_trip(const correct_t *correct)
{
    int64_t least = 0;
    for (int64_t i = 0; i < correct->records.n_sources; i++) {
        const int64_t trip = correct->records.sources[i].round_trip_ns;
        least = trip > 0 && (least == 0 || trip < least) ? trip : least;
    }
    return least;
}

static int64_t at_least_0(int64_t delay)
{
    return delay == INT64_MAX || delay < 0 ? 0 : delay;
}

/* Messages and members hold presynchronised stamps. */
int correct_choose_latency(correct_t *correct)
{
    correct_latency_t *latency = &correct->latency;
    const correct_options_t *options = &correct->options;
    const double ticks = correct->archive.ticks_per_ns;
    if (options->inter_ns >= 0) {
        *latency = (correct_latency_t){(int64_t) (options->inter_ns * ticks),
                                       (int64_t) (options->intra_ns * ticks),
                                       -1,
                                       -1,
                                       "given",
                                       0};
        return 1;
    }
    if (latency->known_inter >= 0) {
        latency->inter = latency->known_inter;
        latency->intra = latency->known_intra;
        latency->source = "the archive, which was corrected with them";
        return 1;
    }
    samples_t samples = {.intra = INT64_MAX};
    if (!collect(correct, &samples)) {
        return 0;
    }
    const int64_t trip = recorded_trip(correct);
    latency->intra = at_least_0(samples.intra);
    if (trip > 0) {
        latency->inter = trip / 2;
        latency->source = "half the least recorded round trip";
    } else {
        const int64_t least = least_between(&samples);
        latency->inter = at_least_0(least);
        latency->source =
            least == INT64_MAX || least < 0 ? "the trace, which does not tell it: 0" : "the trace";
    }
    clv_free(samples.list);
    return 1;
}
