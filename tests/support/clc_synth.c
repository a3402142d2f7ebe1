/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Draws a run, then generates the readings of its clocks.
 */
#include "tests/support/clc_synth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct host_clock {
    double offset, drift, amplitude, period, phase;
} host_clock_t;

typedef struct maker {
    clc_synth_t *synth;
    const clc_synth_config_t *config;
    cs_random_t *random;
    double *now; /* true time of each rank */
    int *chosen; /* ranks of a collective */
    double *enter;
} maker_t;

static void *need(void *memory)
{
    if (!memory) {
        abort();
    }
    return memory;
}

/* Enlarges an array whose capacity is *n_slots. */
#define ROOM(array, n, n_slots)                                                                    \
    do {                                                                                           \
        if ((n) > (n_slots)) {                                                                     \
            (n_slots) = 2 * (n) + 64;                                                              \
            (array) = need(realloc((array), (size_t) (n_slots) * sizeof *(array)));                \
        }                                                                                          \
    } while (0)

static double uniform(maker_t *maker, double low, double high)
{
    return cs_random_uniform(maker->random, low, high);
}

static int chance(maker_t *maker, double share)
{
    return uniform(maker, 0, 1) < share;
}

static int host_of(const maker_t *maker, int rank)
{
    return rank / maker->config->per_host;
}

static void add_event(maker_t *maker, int rank, double time, clv_clc_role_t role, uint64_t group,
                      int member)
{
    clc_synth_t *synth = maker->synth;
    clv_clc_track_t *track = &synth->trace.tracks[rank];
    if (track->n_events + 1 > synth->slots.events[rank]) {
        const int64_t n = synth->slots.events[rank] = 2 * track->n_events + 64;
        track->events = need(realloc(track->events, (size_t) n * sizeof *track->events));
        synth->truth[rank] = need(realloc(synth->truth[rank], (size_t) n * sizeof(double)));
    }
    synth->truth[rank][track->n_events] = time;
    track->events[track->n_events++] =
        (clv_clc_event_t){0, 0, (uint32_t) group, clv_clc_part(role, (uint32_t) member)};
    synth->n_events++;
}

static double delay(maker_t *maker, int a, int b)
{
    const double least =
        host_of(maker, a) == host_of(maker, b) ? maker->config->intra_ns : maker->config->inter_ns;
    return least * (1 + cs_random_exponential(maker->random, maker->config->jitter)) + 1;
}

static void compute(maker_t *maker, int rank)
{
    maker->now[rank] += cs_random_exponential(maker->random, 30000);
    add_event(maker, rank, maker->now[rank], CLV_CLC_INTERNAL, 0, 0);
    maker->now[rank] += cs_random_exponential(maker->random, 20000) + 1;
    add_event(maker, rank, maker->now[rank], CLV_CLC_INTERNAL, 0, 0);
}

static void message(maker_t *maker)
{
    clv_clc_trace_t *trace = &maker->synth->trace;
    const int n = maker->config->n_ranks;
    const int a = (int) cs_random_range(maker->random, 0, n - 1);
    const int b = (a + 1 + (int) cs_random_range(maker->random, 0, n - 2)) % n;
    const uint64_t g = trace->n_messages;
    ROOM(trace->messages, g + 1, maker->synth->slots.messages);
    trace->messages[g] = (clv_clc_message_t){0, 0, host_of(maker, a), host_of(maker, b)};
    trace->n_messages++;
    maker->now[a] += 500;
    add_event(maker, a, maker->now[a], CLV_CLC_SEND, g, 0);
    double arrival = maker->now[a] + delay(maker, a, b);
    maker->now[a] += 500;
    add_event(maker, a, maker->now[a], CLV_CLC_INTERNAL, 0, 0);
    maker->now[b] += 300;
    add_event(maker, b, maker->now[b], CLV_CLC_INTERNAL, 0, 0);
    arrival = arrival < maker->now[b] + 200 ? maker->now[b] + 200 : arrival;
    add_event(maker, b, arrival, CLV_CLC_RECEIVE, g, 0);
    maker->now[b] = arrival + 300;
}

/* Chooses a team of all ranks or of some, in rank order or shuffled. */
static int choose_team(maker_t *maker)
{
    clv_clc_trace_t *trace = &maker->synth->trace;
    const int is_world = chance(maker, 0.5), turn = chance(maker, 0.3);
    int n = 0;
    for (int p = 0; p < maker->config->n_ranks; p++) {
        if (is_world || chance(maker, 0.6)) {
            maker->chosen[n++] = turn ? maker->config->n_ranks - 1 - p : p;
        }
    }
    if (n == 0) {
        maker->chosen[n++] = 0;
    }
    ROOM(trace->teams, trace->n_teams + 1, maker->synth->slots.teams);
    clv_clc_team_t *team = &trace->teams[trace->n_teams++];
    team->n_members = (uint32_t) n;
    team->host = need(malloc((size_t) n * sizeof *team->host));
    team->beside = need(malloc((size_t) n * sizeof *team->beside));
    for (int i = 0; i < n; i++) {
        team->host[i] = host_of(maker, maker->chosen[i]);
    }
    clv_clc_team_ring(team);
    return n;
}

static int waits(clv_clc_flavour_t flavour, int root, int k, int i)
{
    return flavour == CLV_CLC_ONE_TO_N   ? k == root
           : flavour == CLV_CLC_N_TO_ONE ? i == root
           : flavour == CLV_CLC_N_TO_N   ? 1
           : flavour == CLV_CLC_FREE     ? 0
                                         : k < i;
}

static void collective(maker_t *maker)
{
    clv_clc_trace_t *trace = &maker->synth->trace;
    const int n = choose_team(maker), has_empty = chance(maker, 0.3);
    const uint64_t g = trace->n_collectives, first = trace->n_members;
    const clv_clc_flavour_t flavour = (clv_clc_flavour_t) cs_random_range(maker->random, 0, 5);
    const int root = (int) cs_random_range(maker->random, 0, n - 1);
    ROOM(trace->collectives, g + 1, maker->synth->slots.collectives);
    ROOM(trace->members, first + (uint64_t) n, maker->synth->slots.members);
    trace->collectives[g] = (clv_clc_collective_t){.first = first,
                                                   .team = trace->n_teams - 1,
                                                   .root = (uint32_t) root,
                                                   .flavour = (uint8_t) flavour,
                                                   .op = (uint8_t) (1 + flavour)};
    trace->n_collectives++;
    trace->n_members += (uint64_t) n;
    clv_clc_member_t *members = &trace->members[first];
    for (int i = 0; i < n; i++) {
        const int p = maker->chosen[i];
        members[i] = (clv_clc_member_t){0, 0, CLV_CLC_SENDS | CLV_CLC_RECEIVES};
        if (has_empty) {
            members[i].flags = (uint32_t) cs_random_range(maker->random, 0, 3);
        }
        maker->enter[i] = maker->now[p] += 400;
        add_event(maker, p, maker->enter[i], CLV_CLC_ENTER, g, i);
    }
    for (int i = 0; i < n; i++) {
        const int p = maker->chosen[i];
        double exit = maker->enter[i] + 600;
        for (int k = 0; k < n; k++) {
            if (k != i && waits(flavour, root, k, i) && (members[k].flags & CLV_CLC_SENDS) &&
                (members[i].flags & CLV_CLC_RECEIVES)) {
                exit = fmax(exit, maker->enter[k] + delay(maker, maker->chosen[k], p));
            }
        }
        maker->now[p] = exit;
        add_event(maker, p, exit, CLV_CLC_EXIT, g, i);
    }
}

static void run(maker_t *maker)
{
    const clc_synth_config_t *config = maker->config;
    for (int p = 0; p < config->n_ranks; p++) {
        maker->now[p] = uniform(maker, 0, 1e5);
        add_event(maker, p, maker->now[p], CLV_CLC_INTERNAL, 0, 0);
        maker->now[p] += config->pause_ns;
    }
    for (int o = 0; o < config->n_ops; o++) {
        for (int p = 0; p < config->n_ranks; p++) {
            if (chance(maker, 0.3)) {
                compute(maker, p);
            }
        }
        if (config->n_ranks < 2 || chance(maker, config->collective_share)) {
            collective(maker);
        } else {
            message(maker);
        }
    }
    for (int p = 0; p < config->n_ranks; p++) {
        maker->now[p] += config->pause_ns;
        add_event(maker, p, maker->now[p], CLV_CLC_INTERNAL, 0, 0);
    }
}

/* ---- clocks ---- */

static double clock_read(const host_clock_t *clock, double time)
{
    const double angle = 2 * M_PI * time / clock->period;
    return clock->offset + time * (1 + clock->drift) +
           clock->amplitude * (sin(angle + clock->phase) - sin(clock->phase));
}

static host_clock_t draw_clock(maker_t *maker)
{
    const double span = 2 * maker->config->pause_ns + 1e10;
    return (host_clock_t){uniform(maker, 0, 3.6e12), uniform(maker, -5e-5, 5e-5),
                          maker->config->wander_ns * uniform(maker, 0.5, 1.5),
                          span * uniform(maker, 0.6, 1.6), uniform(maker, 0, 6)};
}

/* The offset of a clock to that of host 0 at its local time, from measured points. */
typedef struct points {
    double *local, *offset;
    int n;
} points_t;

static double offset_at(const points_t *points, double local, int *at)
{
    while (*at < points->n - 2 && local > points->local[*at + 1]) {
        (*at)++;
    }
    const double *x = &points->local[*at], *y = &points->offset[*at];
    return y[0] + (y[1] - y[0]) * (local - x[0]) / (x[1] - x[0]);
}

static points_t measure_points(maker_t *maker, const host_clock_t *clock,
                               const host_clock_t *reference, double end)
{
    points_t points;
    points.n = maker->config->presync == CLC_SYNTH_PIECEWISE ? 2 + (int) (end / 30e9) : 2;
    points.local = need(malloc((size_t) points.n * sizeof(double)));
    points.offset = need(malloc((size_t) points.n * sizeof(double)));
    for (int i = 0; i < points.n; i++) {
        const double time = end * i / (points.n - 1), error = maker->config->offset_error_ns;
        points.local[i] = clock_read(clock, time);
        points.offset[i] = points.local[i] - clock_read(reference, time);
        points.offset[i] += clock == reference ? 0 : uniform(maker, -error, error);
    }
    return points;
}

static void stamp_rank(maker_t *maker, int p, const host_clock_t *clock, const points_t *points)
{
    clv_clc_track_t *track = &maker->synth->trace.tracks[p];
    const int64_t tick = maker->config->tick_ns > 1 ? maker->config->tick_ns : 1;
    int at = 0;
    for (int64_t j = 0; j < track->n_events; j++) {
        const int64_t shown = (int64_t) clock_read(clock, maker->synth->truth[p][j]) / tick * tick;
        const double offset =
            maker->config->presync == CLC_SYNTH_NONE ? 0 : offset_at(points, (double) shown, &at);
        track->events[j].stamp = shown - (int64_t) llround(offset);
    }
}

static void stamp_all(maker_t *maker)
{
    const int n_hosts = host_of(maker, maker->config->n_ranks - 1) + 1;
    const host_clock_t reference = draw_clock(maker);
    double end = 0;
    for (int p = 0; p < maker->config->n_ranks; p++) {
        end = fmax(end, maker->now[p]);
    }
    for (int h = 0; h < n_hosts; h++) {
        const host_clock_t own = h == 0 ? reference : draw_clock(maker);
        points_t points = measure_points(maker, h == 0 ? &reference : &own, &reference, end);
        for (int p = h * maker->config->per_host;
             p < maker->config->n_ranks && host_of(maker, p) == h; p++) {
            stamp_rank(maker, p, &own, &points);
        }
        free(points.local);
        free(points.offset);
    }
}

static void make_lines(clc_synth_t *synth)
{
    const int n_ranks = synth->config.n_ranks;
    const int width = synth->config.is_line_per_host ? synth->config.per_host : 1;
    synth->trace.n_lines = (uint32_t) ((n_ranks + width - 1) / width);
    synth->trace.lines = need(calloc(synth->trace.n_lines, sizeof *synth->trace.lines));
    synth->track_of_line = need(calloc((size_t) n_ranks, sizeof *synth->track_of_line));
    for (int p = 0; p < n_ranks; p++) {
        clv_clc_line_t *line = &synth->trace.lines[p / width];
        synth->track_of_line[p] = (uint32_t) p;
        line->tracks = &synth->track_of_line[p - p % width];
        line->n_tracks++;
    }
}

void clc_synth_make(clc_synth_t *synth, const clc_synth_config_t *config, cs_random_t *random)
{
    const size_t n = (size_t) config->n_ranks;
    maker_t maker = {synth,
                     config,
                     random,
                     need(calloc(n, sizeof(double))),
                     need(calloc(n, sizeof(int))),
                     need(calloc(n, sizeof(double)))};
    *synth = (clc_synth_t){.config = *config};
    synth->trace.n_tracks = (uint32_t) n;
    synth->trace.tracks = need(calloc(n, sizeof *synth->trace.tracks));
    synth->truth = need(calloc(n, sizeof *synth->truth));
    synth->slots.events = need(calloc(n, sizeof *synth->slots.events));
    run(&maker);
    stamp_all(&maker);
    make_lines(synth);
    free(maker.now);
    free(maker.chosen);
    free(maker.enter);
}

void clc_synth_free(clc_synth_t *synth)
{
    for (uint32_t i = 0; i < synth->trace.n_tracks; i++) {
        free(synth->trace.tracks[i].events);
        free(synth->truth[i]);
    }
    for (uint32_t i = 0; i < synth->trace.n_teams; i++) {
        free(synth->trace.teams[i].host);
        free(synth->trace.teams[i].beside);
    }
    free(synth->trace.tracks);
    free(synth->trace.lines);
    free(synth->trace.messages);
    free(synth->trace.teams);
    free(synth->trace.collectives);
    free(synth->trace.members);
    free(synth->truth);
    free(synth->track_of_line);
    free(synth->slots.events);
}

/* ---- against the truth ---- */

typedef struct arrival {
    double truth;
    int64_t stamp;
} arrival_t;

static void gather_arrivals(const clc_synth_t *synth, clv_clc_which_t which, arrival_t *arrivals)
{
    const clv_clc_trace_t *trace = &synth->trace;
    for (uint32_t i = 0; i < trace->n_tracks; i++) {
        for (int64_t j = 0; j < trace->tracks[i].n_events; j++) {
            const clv_clc_event_t *event = &trace->tracks[i].events[j];
            if (clv_clc_role(event) == CLV_CLC_ENTER) {
                const uint64_t m =
                    trace->collectives[event->group].first + clv_clc_member_of(event);
                arrivals[m].truth = synth->truth[i][j];
                arrivals[m].stamp = which == CLV_CLC_STAMP ? event->stamp : event->corrected;
            }
        }
    }
}

clc_synth_error_t clc_synth_judge(const clc_synth_t *synth, clv_clc_which_t which)
{
    const clv_clc_trace_t *trace = &synth->trace;
    arrival_t *arrivals = need(calloc(trace->n_members + 1, sizeof *arrivals));
    clc_synth_error_t error = {0};
    int64_t n_values = 0;
    gather_arrivals(synth, which, arrivals);
    for (uint64_t g = 0; g < trace->n_collectives; g++) {
        const arrival_t *a = &arrivals[trace->collectives[g].first];
        const uint32_t n = trace->teams[trace->collectives[g].team].n_members;
        uint32_t last = 0, seeming = 0;
        for (uint32_t i = 1; i < n; i++) {
            last = a[i].truth > a[last].truth ? i : last;
            seeming = a[i].stamp > a[seeming].stamp ? i : seeming;
        }
        for (uint32_t i = 0; i < n; i++) {
            if (i != last) {
                error.mean_us +=
                    fabs((double) (a[i].stamp - a[last].stamp) - (a[i].truth - a[last].truth)) /
                    1e3;
                n_values++;
            }
        }
        error.n_collectives += n > 1;
        error.n_wrong_last += seeming != last;
    }
    error.mean_us /= n_values > 0 ? (double) n_values : 1;
    free(arrivals);
    return error;
}
