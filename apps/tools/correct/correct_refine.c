/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct: if the presynchronisation leaves messages reversed, the trace's own messages give
 * the remaining offsets between hosts (clc_refine.h). Far from any window with messages, the
 * measured points are kept.
 *
 * Stamps become refined ones; until the clock runs, corrected holds the earlier ones.
 */
#include <string.h>

#include "apps/clc/clc_parallel.h"
#include "apps/clc/clc_refine.h"
#include "apps/tools/correct/correct_crew.h"
#include "util/util_alloc.h"
#include "util/util_min_max.h"

#define MOST_CELLS                                                                                 \
    (INT64_C(1) << 19) /* 8 MiB whatever --memory is: so the result does not depend on it */

#define NEAR_STEPS 20

/* *trust: approximate error of the stamps, from messages. */
static bool is_wanted(const correct_t *correct, int64_t *trust)
{
    const clv_clc_config_t config = {.n_threads = correct->options.n_threads};
    const uint32_t n_hosts = correct->archive.n_hosts;
    clv_clc_tally_t tallies[CLV_CLC_MAX_OPS];
    if (correct->options.is_check || correct->options.has_no_refinement ||
        correct->options.is_line_per_process || n_hosts < 2 ||
        n_hosts > CLV_CLC_REFINE_MOST_HOSTS) {
        return false;
    }
    correct_count(correct, &config, tallies);
    const clv_clc_tally_t sum = clv_clc_sum(tallies);
    *trust = sum.worst_ns;
    return sum.n_reversed > 0 && sum.worst_ns < CLV_CLC_REFINE_STEP_NS / 4;
}

static void see(void *refine, const correct_delay_t *d)
{
    clv_clc_refine_see(refine, d->from, d->to, d->sent, d->received);
}

static void take(void *refine, const correct_delay_t *d)
{
    clv_clc_refine_take(refine, d->from, d->to, d->sent, d->received);
}

static bool solve(const correct_t *correct, int64_t first, int64_t last, int64_t trust,
                  clv_clc_refine_t **refine_p)
{
    const bool is_new =
        clv_clc_refine_new(correct->archive.n_hosts, first, last, MOST_CELLS, refine_p) == CLV_OK;
    if (!correct_crew_has(is_new, "clocks")) {
        return false;
    }
    correct_each_delay(correct->whole, see, *refine_p);
    clv_clc_refine_parts_t parts = clv_clc_refine_parts(*refine_p);
    correct_crew_greatest(parts.has, parts.n_steps);
    correct_crew_sum(parts.n_seen, parts.n_pairs);
    if (!correct_crew_has(clv_clc_refine_begin(*refine_p) == CLV_OK, "clocks")) {
        return false;
    }
    correct_each_delay(correct->whole, take, *refine_p);
    parts = clv_clc_refine_parts(*refine_p);
    correct_crew_reduce(parts.cells, parts.n_cells, CORRECT_LEAST_DELAY);
    correct_crew_sum(parts.n_taken, parts.n_hosts);
    clv_clc_refine_solve(*refine_p, trust);
    return true;
}

/* ---- one host ---- */

/* Between two bursts of messages the line is straight; a measured point there, with its error,
 * would bend it. In a long pause, measured points are the best available. */
static bool is_near(const clv_clc_point_t *points, int64_t n, int64_t time, int64_t reach)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t apart = points[i].local_ns - time;
        if (apart < reach && apart > -reach) {
            return true;
        }
    }
    return false;
}

/* The points of a host, measured points where there are none, and constant ends. */
static int64_t join_points(const clv_clc_map_t *measured, const clv_clc_point_t *points, int64_t n,
                           int64_t first, int64_t reach, clv_clc_point_t *list)
{
    memcpy(list, points, (size_t) n * sizeof *list);
    int64_t n_all = n;
    for (int64_t i = 0; i < measured->n_points; i++) {
        const clv_clc_point_t *point = &measured->points[i];
        const int64_t time = point->local_ns - point->offset_ns;
        if (!is_near(points, n, time, reach)) {
            list[n_all++] = (clv_clc_point_t){time, 0, point->bound_ns};
        }
    }
    n_all = clv_clc_points_sort(list, n_all);
    const clv_clc_point_t begin = list[0], end = list[n_all - 1];
    list[n_all++] =
        (clv_clc_point_t){clv_smaller(first, begin.local_ns) - 1, begin.offset_ns, begin.bound_ns};
    list[n_all++] =
        (clv_clc_point_t){end.local_ns + CLV_CLC_REFINE_STEP_NS, end.offset_ns, end.bound_ns};
    return clv_clc_points_sort(list, n_all);
}

static bool refine_host(correct_t *correct, const clv_clc_refine_t *refine, uint32_t h,
                        int64_t first)
{
    const clv_clc_point_t *points;
    correct_map_t *map = &correct->maps[h];
    const int64_t n = clv_clc_refine_points(refine, h, &points);
    const int64_t reach =
        clv_larger(NEAR_STEPS * CLV_CLC_REFINE_STEP_NS, 4 * clv_clc_refine_step(refine));
    if (n == 0) {
        return true;
    }
    clv_clc_point_t *list = clv_alloc((size_t) (n + map->map.n_points + 2), sizeof *list);
    if (!list) {
        return correct_fail(CORRECT_EXIT_MACHINE, "out of memory for clocks");
    }
    map->refined_points = list;
    map->refined = (clv_clc_map_t){list, join_points(&map->map, points, n, first, reach, list)};
    correct->refinement.n_points += n;
    correct->refinement.n_hosts++;
    for (int64_t i = 0; i < n; i++) {
        const int64_t moved = points[i].offset_ns < 0 ? -points[i].offset_ns : points[i].offset_ns;
        correct->refinement.most = clv_larger(correct->refinement.most, moved);
    }
    return true;
}

static void move_track(void *context, uint32_t i)
{
    correct_t *correct = context;
    const clv_clc_map_t *map = &correct_map_of(correct, &correct->archive.locations[i])->refined;
    correct_move_track(&correct->trace.tracks[i], map);
}

bool correct_refine(correct_t *correct)
{
    clv_clc_refine_t *refine = NULL;
    int64_t trust = 0, first, last;
    if (!is_wanted(correct, &trust)) {
        return true;
    }
    correct_span(correct, CLV_CLC_STAMP, &first, &last);
    bool is_good = solve(correct, first, last, trust, &refine);
    for (uint32_t h = 0; h < correct->archive.n_hosts && is_good; h++) {
        is_good = refine_host(correct, refine, h, first);
    }
    clv_clc_refine_free(refine);
    is_good = correct_crew_agree(is_good);
    if (is_good && correct->refinement.n_points > 0) {
        clv_clc_parallel(correct->options.n_threads, correct->trace.n_tracks, move_track, correct);
        correct_place(correct, CLV_CLC_STAMP);
    }
    return is_good;
}
