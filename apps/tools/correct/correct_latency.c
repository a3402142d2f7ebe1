/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct: the minimum delays, given or determined. Between hosts: half the least recorded
 * round trip, else the gap of lower hulls in windows (clc_latency.h), over messages and collectives
 * of all pairs of hosts. Inside a host there is one clock, so it is the least observed delay.
 */
#include <stdlib.h>

#include "apps/clc/clc_latency.h"
#include "apps/tools/correct/correct_crew.h"
#include "util/util_alloc.h"

/* Larger numbers of samples are reduced by leaving out whole windows. */
#define MOST_SAMPLES 200000
/* Collectives over more hosts give no samples between them. */
#define MOST_HOSTS 32

typedef struct sample {
    int32_t low, high; /* hosts */
    int32_t is_back;   /* from high to low */
    clv_clc_delay_t delay;
    uint64_t key; /* orders the samples of all processes */
} sample_t;

typedef struct samples {
    sample_t *list;
    int64_t n, n_slots, every;
    int64_t intra; /* minimum inside hosts, INT64_MAX: none */
    const correct_t *correct;
} samples_t;

static void add(void *context, const correct_delay_t *d)
{
    samples_t *samples = context;
    const int64_t delay = d->received - d->sent, window = d->sent / CLV_CLC_WINDOW_NS;
    if (d->from == d->to) {
        samples->intra = delay < samples->intra ? delay : samples->intra;
    } else if (samples->n < samples->n_slots && window % samples->every == 0) {
        samples->list[samples->n++] = (sample_t){d->from < d->to ? d->from : d->to,
                                                 d->from < d->to ? d->to : d->from,
                                                 d->from > d->to,
                                                 {d->sent, delay},
                                                 correct_crew_key(samples->correct, d->at)};
    }
}

/* An exit on one host can follow only the last enter of each other host. */
static void take_collective(const clv_clc_trace_t *trace, uint64_t g, correct_take_t take,
                            void *context)
{
    const clv_clc_collective_t *collective = &trace->collectives[g];
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
                take(context, &(correct_delay_t){hosts[h], team->host[i], members[last[h]].enter,
                                                 members[i].exit, trace->n_messages + g});
            }
        }
    }
}

void correct_each_delay(const clv_clc_trace_t *trace, correct_take_t take, void *context)
{
    for (uint64_t g = 0; g < trace->n_messages; g++) {
        const clv_clc_message_t *m = &trace->messages[g];
        take(context, &(correct_delay_t){m->from, m->to, m->send, m->receive, g});
    }
    for (uint64_t g = 0; g < trace->n_collectives; g++) {
        take_collective(trace, g, take, context);
    }
}

static int by_pair(const void *left, const void *right)
{
    const sample_t *a = left, *b = right;
    const int64_t x[] = {a->low, a->high, a->is_back, a->delay.time_ns, a->delay.delay_ns};
    const int64_t y[] = {b->low, b->high, b->is_back, b->delay.time_ns, b->delay.delay_ns};
    for (int i = 0; i < 5; i++) {
        if (x[i] != y[i]) {
            return x[i] < y[i] ? -1 : 1;
        }
    }
    return 0;
}

/* Processes the samples of one pair from `first` on; returns where the next pair begins. */
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

/* How many samples here have a smaller key. */
static int64_t count_below(const samples_t *samples, uint64_t key)
{
    int64_t low = 0, high = samples->n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        low = samples->list[middle].key < key ? middle + 1 : low;
        high = samples->list[middle].key < key ? high : middle;
    }
    return low;
}

/* Keeps the first samples of all processes, as many as one process would take. Samples with the key
 * at the cut are in one process. */
static void cut(samples_t *samples)
{
    uint64_t low = 0, high = UINT64_MAX; /* not too many below low */
    int64_t n = samples->n;
    correct_crew_sum(&n, 1);
    if (n <= samples->n_slots) {
        return;
    }
    while (low < high) {
        const uint64_t middle = high - (high - low) / 2;
        n = count_below(samples, middle);
        correct_crew_sum(&n, 1);
        low = n <= samples->n_slots ? middle : low;
        high = n <= samples->n_slots ? high : middle - 1;
    }
    const int64_t below = count_below(samples, low), mine = samples->n;
    n = below;
    correct_crew_sum(&n, 1);
    samples->n = below;
    while (samples->n < mine && samples->list[samples->n].key == low && n < samples->n_slots) {
        samples->n++;
        n++;
    }
}

/* Afterwards the first process has the samples of all. */
static bool collect_all(samples_t *samples)
{
    void *list = samples->list;
    cut(samples);
    size_t n = (size_t) samples->n;
    const bool is_good = correct_crew_collect(&list, &n, sizeof *samples->list);
    samples->list = list;
    samples->n = (int64_t) n;
    return is_good;
}

static bool collect(const correct_t *correct, samples_t *samples)
{
    const clv_clc_trace_t *trace = correct->whole;
    int64_t n = 0;
    for (uint64_t g = 0; g < trace->n_messages; g++) {
        n += trace->messages[g].from != trace->messages[g].to;
    }
    correct_crew_sum(&n, 1);
    samples->correct = correct;
    samples->n_slots = MOST_SAMPLES;
    samples->every = n / (MOST_SAMPLES / 4) + 1;
    samples->list = clv_alloc_unset(MOST_SAMPLES, sizeof *samples->list);
    if (!correct_crew_has(samples->list != NULL, "delays")) {
        return false;
    }
    correct_each_delay(trace, add, samples);
    correct_crew_least(&samples->intra, 1);
    return collect_all(samples);
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

/* Requires presynchronised stamps in messages and members. */
bool correct_choose_latency(correct_t *correct)
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
        return true;
    }
    if (latency->known_inter >= 0) {
        latency->inter = latency->known_inter;
        latency->intra = latency->known_intra;
        latency->source = "the archive, which was corrected with them";
        return true;
    }
    samples_t samples = {.intra = INT64_MAX};
    if (!collect(correct, &samples)) {
        clv_free(samples.list);
        return false;
    }
    const int64_t trip = recorded_trip(correct);
    latency->intra = at_least_0(samples.intra);
    if (trip > 0) {
        latency->inter = trip / 2;
        latency->source = "half the least recorded round trip";
    } else {
        int64_t least = least_between(&samples);
        correct_crew_tell(&least, sizeof least);
        latency->inter = at_least_0(least);
        latency->source =
            least == INT64_MAX || least < 0 ? "the trace, which does not tell it: 0" : "the trace";
    }
    clv_free(samples.list);
    return true;
}
