/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A line: its clock (equation 4 without messages), and the walk along its tracks.
 */
#include "apps/clc/clc_internal.h"

#include <math.h>

#include "util/util_alloc.h"

/* A shift decays by 1 - gamma of the elapsed time and keeps its fraction: rounded to whole
 * nanoseconds, each event would lose up to 1 ns, far more than gamma requires. */
void clv_clc_clock_turn(clv_clc_clock_t *clock, const clv_clc_config_t *config, int64_t stamp)
{
    if (!clock->is_started) {
        *clock = (clv_clc_clock_t){
            .stamp = stamp, .floor = INT64_MIN, .top = INT64_MIN, .is_started = true};
        return;
    }
    const double passed = (double) (stamp - clock->stamp);
    clock->shift = fmax(0.0, clock->next_shift - (1.0 - config->gamma) * passed);
    clock->next_shift = clock->shift;
    clock->floor = clock->top + 1; /* minimum distance between events of different stamps */
    clock->stamp = stamp;
}

int64_t clv_clc_clock_local(const clv_clc_clock_t *clock)
{
    const int64_t kept = clock->stamp + (int64_t) (clock->shift + 0.5);
    return kept > clock->floor ? kept : clock->floor;
}

void clv_clc_clock_note(clv_clc_clock_t *clock, int64_t corrected)
{
    if (corrected > clock->top) {
        clock->top = corrected;
    }
    /* Within half a nanosecond it is the rounded shift; keep its fraction. */
    const double shift = (double) (corrected - clock->stamp);
    if (shift > clock->next_shift + 0.5) {
        clock->next_shift = shift;
    }
}

/* ---- the walk ---- */

static int64_t stamp_of(const clv_clc_walk_t *walk, uint32_t at)
{
    return walk->tracks[walk->line->tracks[at]].events[walk->next[at]].stamp;
}

static void sift_down(clv_clc_walk_t *walk, uint32_t slot)
{
    const uint32_t moving = walk->heap[slot];
    const int64_t stamp = stamp_of(walk, moving);
    for (;;) {
        uint32_t child = 2 * slot + 1;
        if (child >= walk->n_heap) {
            break;
        }
        if (child + 1 < walk->n_heap &&
            stamp_of(walk, walk->heap[child + 1]) < stamp_of(walk, walk->heap[child])) {
            child++;
        }
        if (stamp_of(walk, walk->heap[child]) >= stamp) {
            break;
        }
        walk->heap[slot] = walk->heap[child];
        slot = child;
    }
    walk->heap[slot] = moving;
}

static void heap_add(clv_clc_walk_t *walk, uint32_t at)
{
    uint32_t slot = walk->n_heap++;
    const int64_t stamp = stamp_of(walk, at);
    while (slot > 0 && stamp_of(walk, walk->heap[(slot - 1) / 2]) > stamp) {
        walk->heap[slot] = walk->heap[(slot - 1) / 2];
        slot = (slot - 1) / 2;
    }
    walk->heap[slot] = at;
}

clv_status_t clv_clc_walk_open(clv_clc_walk_t *walk, const clv_clc_trace_t *trace,
                               const clv_clc_line_t *line)
{
    const size_t n = line->n_tracks > 0 ? line->n_tracks : 1;
    *walk = (clv_clc_walk_t){.tracks = trace->tracks, .line = line};
    /* One allocation, on cache lines of its own. */
    walk->next = clv_alloc_line(n * (sizeof *walk->next + sizeof *walk->heap + sizeof *walk->open));
    if (!walk->next) {
        return CLV_NO_MEMORY;
    }
    walk->heap = (uint32_t *) (walk->next + n);
    walk->open = walk->heap + n;
    for (uint32_t at = 0; at < line->n_tracks; at++) {
        if (trace->tracks[line->tracks[at]].n_events > 0) {
            heap_add(walk, at);
        }
    }
    return CLV_OK;
}

void clv_clc_walk_close(clv_clc_walk_t *walk)
{
    clv_free(walk->next);
    walk->next = NULL;
    walk->heap = walk->open = NULL;
}

bool clv_clc_walk_turn(clv_clc_walk_t *walk)
{
    if (walk->n_heap == 0) {
        return false;
    }
    walk->stamp = stamp_of(walk, walk->heap[0]);
    while (walk->n_heap > 0 && stamp_of(walk, walk->heap[0]) == walk->stamp) {
        walk->open[walk->n_open++] = walk->heap[0];
        walk->heap[0] = walk->heap[--walk->n_heap];
        if (walk->n_heap > 0) {
            sift_down(walk, 0);
        }
    }
    return true;
}

void clv_clc_walk_pass(clv_clc_walk_t *walk, uint32_t slot)
{
    const uint32_t at = walk->open[slot];
    const int64_t n_events = walk->tracks[walk->line->tracks[at]].n_events;
    walk->next[at]++;
    if (walk->next[at] < n_events && stamp_of(walk, at) == walk->stamp) {
        return;
    }
    walk->open[slot] = walk->open[--walk->n_open];
    if (walk->next[at] < n_events) {
        heap_add(walk, at);
    }
}
