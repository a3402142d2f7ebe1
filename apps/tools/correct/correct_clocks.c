/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct: presynchronisation by the best source available: recorded clocks, the archive's
 * clock offsets (piecewise), its offsets at begin and end, or none. One map per host, or per
 * process on request: with different offsets, ranks of one host would contradict their own
 * messages.
 */
#include <string.h>

#include "apps/clc/clc_parallel.h"
#include "apps/tools/correct/correct_crew.h"
#include "util/util_alloc.h"

/* How far stamps may lie outside recorded clocks that match by host name only. */
#define SAME_BOOT_NS (INT64_C(3600) * 1000000000)

uint32_t correct_n_clocks(const correct_t *correct)
{
    return correct->options.is_line_per_process ? correct->archive.n_processes
                                                : correct->archive.n_hosts;
}

uint32_t correct_clock_of(const correct_t *correct, uint32_t process)
{
    return correct->options.is_line_per_process
               ? process
               : (uint32_t) correct->archive.processes[process].host;
}

const correct_map_t *correct_map_of(const correct_t *correct, const correct_location_t *location)
{
    return &correct->maps[correct_clock_of(correct, location->process)];
}

const char *correct_source_name(correct_source_t source)
{
    static const char *const names[] = {"recorded clocks, piecewise",
                                        "clock offsets of the archive, piecewise",
                                        "clock offsets at begin and end", "none"};
    return names[source];
}

/* ---- recorded clocks ---- */

static bool is_other(const char *known, const char *recorded)
{
    return known[0] && recorded[0] && strcmp(known, recorded) != 0;
}

/* 1: this source has that host and boot; 0: another host; -1: another boot. */
static int fits(const correct_archive_t *archive, const correct_host_t *host,
                const clv_clc_source_t *source)
{
    const char *boot = correct_string(archive, host->boot_id);
    const char *space = correct_string(archive, host->time_namespace);
    const char *clock = correct_string(archive, host->clock);
    if (source->host[0] && strcmp(source->host, correct_string(archive, host->name))) {
        return 0;
    }
    if (!source->host[0] && (!boot[0] || is_other(boot, source->boot_id))) {
        return 0;
    }
    return is_other(boot, source->boot_id) || is_other(space, source->time_namespace) ||
                   is_other(clock, source->clock)
               ? -1
               : 1;
}

static void span_of_host(const correct_t *correct, int32_t host, int64_t *first, int64_t *last)
{
    *first = INT64_MAX;
    *last = INT64_MIN;
    for (uint32_t i = 0; i < correct->archive.n_locations; i++) {
        const clv_clc_track_t *track = &correct->trace.tracks[i];
        if (correct->archive.locations[i].host == host && track->n_events > 0) {
            const int64_t begin = track->events[0].stamp;
            const int64_t end = track->events[track->n_events - 1].stamp;
            *first = begin < *first ? begin : *first;
            *last = end > *last ? end : *last;
        }
    }
    correct_crew_least(first, 1);
    correct_crew_greatest(last, 1);
}

static bool check_source(const correct_t *correct, int32_t h, const clv_clc_source_t *source)
{
    const char *name = correct_string(&correct->archive, correct->archive.hosts[h].name);
    int64_t first, last;
    span_of_host(correct, h, &first, &last);
    if (source->n_points == 0) {
        return correct_fail(CORRECT_EXIT_INPUT, "the recorded clock of host %s has no points",
                            name);
    }
    if (first <= last && (first > source->points[source->n_points - 1].local_ns + SAME_BOOT_NS ||
                          last < source->points[0].local_ns - SAME_BOOT_NS)) {
        return correct_fail(CORRECT_EXIT_INPUT,
                            "the recorded clock of host %s is of another boot "
                            "or another time: the trace is not within an hour of it",
                            name);
    }
    return true;
}

static bool records_of_host(correct_t *correct, int32_t h, correct_map_t *map)
{
    const correct_host_t *host = &correct->archive.hosts[h];
    const char *name = correct_string(&correct->archive, host->name);
    bool has_other = false;
    for (int64_t i = 0; i < correct->records.n_sources; i++) {
        const clv_clc_source_t *source = &correct->records.sources[i];
        const int fit = fits(&correct->archive, host, source);
        has_other |= fit < 0;
        if (fit > 0) {
            *map = (correct_map_t){.map = {source->points, source->n_points},
                                   .source = CORRECT_BY_RECORDS,
                                   .is_by_name = host->boot_id == CORRECT_NOBODY};
            return check_source(correct, h, source);
        }
    }
    return correct_fail(CORRECT_EXIT_INPUT,
                        has_other ? "the recorded clocks of host %s are of another boot"
                                  : "there is no recorded clock of host %s",
                        name);
}

static bool use_records(correct_t *correct)
{
    if (correct->archive.timer != 1000000000) {
        return correct_fail(CORRECT_EXIT_INPUT,
                            "recorded clocks count ns, this trace's timer "
                            "counts at %llu Hz: they are not of one clock",
                            (unsigned long long) correct->archive.timer);
    }
    for (uint32_t m = 0; m < correct_n_clocks(correct); m++) {
        const int32_t host =
            correct->options.is_line_per_process ? correct->archive.processes[m].host : (int32_t) m;
        if (!records_of_host(correct, host, &correct->maps[m])) {
            return false;
        }
    }
    return true;
}

/* ---- clock offsets of the archive ---- */

/* Of the locations that share a clock, the one with most offsets represents all. */
static correct_location_t *representative(correct_t *correct, uint32_t m)
{
    correct_location_t *found = NULL;
    for (uint32_t i = 0; i < correct->archive.n_locations; i++) {
        correct_location_t *location = &correct->archive.locations[i];
        if (correct_clock_of(correct, location->process) == m && location->n_offsets > 0 &&
            (!found || location->n_offsets > found->n_offsets)) {
            found = location;
        }
    }
    return found;
}

static void use_offsets(correct_t *correct)
{
    for (uint32_t m = 0; m < correct_n_clocks(correct); m++) {
        correct_map_t *map = &correct->maps[m];
        correct_location_t *location =
            correct->options.no_presync ? NULL : representative(correct, m);
        *map = (correct_map_t){.source = CORRECT_BY_NOTHING};
        if (!location) {
            continue;
        }
        location->n_offsets = clv_clc_points_sort(location->offsets, location->n_offsets);
        if (correct->options.only_ends && location->n_offsets > 2) {
            location->offsets[1] = location->offsets[location->n_offsets - 1];
            location->n_offsets = 2;
        }
        map->map = (clv_clc_map_t){location->offsets, location->n_offsets};
        map->source = location->n_offsets > 2 ? CORRECT_BY_OFFSETS : CORRECT_BY_ENDS;
    }
}

void correct_move_track(clv_clc_track_t *track, const clv_clc_map_t *map)
{
    int64_t hint = 0;
    for (int64_t j = 0; j < track->n_events; j++) {
        clv_clc_event_t *event = &track->events[j];
        event->corrected = event->stamp;
        event->stamp = clv_clc_map_global(map, event->stamp, &hint);
        if (j > 0 && event->stamp < event[-1].stamp) {
            event->stamp = event[-1].stamp; /* the offset jumps */
        }
    }
}

static void move_track(void *context, uint32_t i)
{
    correct_t *correct = context;
    correct_move_track(&correct->trace.tracks[i],
                       &correct_map_of(correct, &correct->archive.locations[i])->map);
}

bool correct_presynchronise(correct_t *correct)
{
    correct->maps = clv_alloc(correct_n_clocks(correct) + (size_t) 1, sizeof *correct->maps);
    if (!correct_crew_has(correct->maps != NULL, "clocks")) {
        return false;
    }
    if (correct->options.n_clocks > 0) {
        if (!correct_crew_agree(use_records(correct))) {
            return false;
        }
    } else {
        if (!correct_crew_share_offsets(correct)) {
            return false;
        }
        use_offsets(correct);
    }
    clv_clc_parallel(correct->options.n_threads, correct->trace.n_tracks, move_track, correct);
    return true;
}

void correct_free_maps(correct_t *correct)
{
    for (uint32_t m = 0; correct->maps && m < correct_n_clocks(correct); m++) {
        clv_free(correct->maps[m].refined_points);
    }
    clv_free(correct->maps);
}

/* Between two events, time continues at the rate after the first, but does not pass the second. */
int64_t correct_corrected_at(const correct_t *correct, uint32_t i, uint64_t raw)
{
    const clv_clc_track_t *track = &correct->trace.tracks[i];
    const correct_map_t *map = correct_map_of(correct, &correct->archive.locations[i]);
    int64_t hint = 0, again = 0, low = 0, high = track->n_events;
    const int64_t read = correct_ticks(&correct->archive, raw);
    const int64_t stamp =
        clv_clc_map_global(&map->refined, clv_clc_map_global(&map->map, read, &hint), &again);
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (track->events[middle].stamp <= stamp) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const clv_clc_event_t *before = low > 0 ? &track->events[low - 1] : NULL;
    const clv_clc_event_t *after = low < track->n_events ? &track->events[low] : NULL;
    int64_t time = before ? stamp + (before->corrected - before->stamp) : stamp;
    time = after && time > after->corrected ? after->corrected : time;
    time = before && time < before->corrected ? before->corrected : time;
    return time + correct->base;
}
