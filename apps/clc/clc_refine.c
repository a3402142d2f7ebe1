/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Minimum delays in bins, corridors in windows of bins, one offset per host and window.
 */
#include "apps/clc/clc_refine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/util_alloc.h"
#include "util/util_min_max.h"

#define MOST_BINS      2048 /* of a step */
#define LEAST_BINS     8
#define PAIRS_OF_HOST  8
#define LEAST_OF_SCALE 20 /* widths within 1/20 of the narrowest one count as equal */
#define MOST_SWEEPS    400
#define SMOOTH         2 /* windows on each side */

/* Two hosts that exchange messages. */
typedef struct pair {
    uint32_t low, high;
} pair_t;

/* The corridor of a pair in a window: high is ahead of low by offset. half < 0: no corridor. */
typedef struct edge {
    double offset, half, weight;
} edge_t;

/* A host in one window. */
typedef struct state {
    double offset, tree, bound, weight;
    double sum, sum_of_weights;
    bool is_reached;
} state_t;

struct clv_clc_refine {
    uint32_t n_hosts, n_pairs, most_pairs, reference;
    int64_t first_ns, step_ns, n_steps;
    int64_t most_cells, n_bins; /* of a step */
    double trust_ns;
    int64_t *window_of; /* of a step, plus 1; before begin: whether the step has messages */
    int64_t *step_of, n_windows;
    int64_t *n_seen;     /* messages by both hosts, until begin */
    uint32_t *number_of; /* of a pair, plus 1, by both hosts */
    int64_t *n_taken;    /* messages of each host */
    pair_t *pairs;
    clv_clc_delay_t *cells; /* by pair, direction, window, bin; delay INT64_MAX: empty */
    clv_clc_delay_t *there, *back;
    int64_t *centres; /* of windows */
    edge_t *edges;    /* by window, pair */
    state_t *states;  /* by host, of one window */
    double *offsets;  /* by host, window; NAN: unknown */
    double *bounds, *weights;
    clv_clc_point_t *points; /* by host */
    int64_t *n_points;
};

/* ---- memory ---- */

void clv_clc_refine_free(clv_clc_refine_t *refine)
{
    if (!refine) {
        return;
    }
    void *const parts[] = {refine->window_of, refine->step_of, refine->number_of, refine->n_taken,
                           refine->pairs,     refine->cells,   refine->there,     refine->back,
                           refine->centres,   refine->edges,   refine->states,    refine->offsets,
                           refine->bounds,    refine->weights, refine->points,    refine->n_points,
                           refine->n_seen};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        clv_free(parts[i]);
    }
    clv_free(refine);
}

clv_status_t clv_clc_refine_new(uint32_t n_hosts, int64_t first_ns, int64_t last_ns,
                                int64_t most_cells, clv_clc_refine_t **refine_p)
{
    if (n_hosts == 0 || n_hosts > CLV_CLC_REFINE_MOST_HOSTS || last_ns < first_ns) {
        return CLV_LIMIT;
    }
    clv_clc_refine_t *refine = clv_alloc(1, sizeof *refine);
    if (!refine) {
        return CLV_NO_MEMORY;
    }
    const int64_t n = n_hosts, n_pairs = clv_larger(n * (n - 1) / 2, 1);
    *refine = (clv_clc_refine_t){.n_hosts = n_hosts,
                                 .most_pairs = (uint32_t) clv_smaller(n_pairs, PAIRS_OF_HOST * n),
                                 .first_ns = first_ns,
                                 .step_ns = CLV_CLC_REFINE_STEP_NS,
                                 .n_steps = (last_ns - first_ns) / CLV_CLC_REFINE_STEP_NS + 1,
                                 .most_cells = most_cells};
    refine->window_of = clv_alloc((size_t) refine->n_steps, sizeof *refine->window_of);
    refine->n_seen = clv_alloc((size_t) n_hosts * n_hosts, sizeof *refine->n_seen);
    if (!refine->window_of || !refine->n_seen) {
        clv_clc_refine_free(refine);
        return CLV_NO_MEMORY;
    }
    *refine_p = refine;
    return CLV_OK;
}

/* The middle between sending and receiving: the same for both directions, whichever clock is
 * ahead. */
static int64_t time_of(int64_t sent_ns, int64_t received_ns)
{
    return sent_ns + (received_ns - sent_ns) / 2;
}

/* -1: outside the range. */
static int64_t step_of(const clv_clc_refine_t *refine, int64_t time_ns)
{
    const int64_t since_ns = time_ns - refine->first_ns, step = since_ns / refine->step_ns;
    return since_ns >= 0 && step < refine->n_steps ? step : -1;
}

static size_t pair_index(const clv_clc_refine_t *refine, uint32_t a, uint32_t b)
{
    return (size_t) clv_smaller(a, b) * refine->n_hosts + (size_t) clv_larger(a, b);
}

void clv_clc_refine_see(clv_clc_refine_t *refine, int32_t from, int32_t to, int64_t sent_ns,
                        int64_t received_ns)
{
    const int64_t step = step_of(refine, time_of(sent_ns, received_ns));
    if (from != to && step >= 0) {
        refine->window_of[step] = 1;
        refine->n_seen[pair_index(refine, (uint32_t) from, (uint32_t) to)]++;
    }
}

static int64_t count_windows(const clv_clc_refine_t *refine)
{
    int64_t n = 0;
    for (int64_t step = 0; step < refine->n_steps; step++) {
        n += refine->window_of[step];
    }
    return n;
}

/* Merges pairs of steps. */
static void widen(clv_clc_refine_t *refine)
{
    const int64_t n = refine->n_steps;
    for (int64_t step = 0; step < n; step += 2) {
        const int64_t next = step + 1 < n ? refine->window_of[step + 1] : 0;
        refine->window_of[step / 2] = refine->window_of[step] | next;
    }
    refine->n_steps = (n + 1) / 2;
    refine->step_ns *= 2;
}

/* Sets the number of windows, and of bins per window, so that the cells are within the limit. */
static void set_shape(clv_clc_refine_t *refine)
{
    for (;;) {
        refine->n_windows = count_windows(refine);
        const int64_t n = 2 * (int64_t) refine->most_pairs * clv_larger(refine->n_windows, 1);
        refine->n_bins = clv_smaller(refine->most_cells / n, MOST_BINS);
        if (refine->n_bins >= LEAST_BINS || refine->n_steps == 1) {
            break;
        }
        widen(refine);
    }
    refine->n_bins = clv_larger(refine->n_bins, LEAST_BINS);
}

static bool get_memory(clv_clc_refine_t *refine)
{
    const size_t n = refine->n_hosts, n_pairs = refine->most_pairs;
    const size_t n_windows = (size_t) clv_larger(refine->n_windows, 1);
    const size_t n_bins = (size_t) refine->n_bins;
    refine->step_of = clv_alloc(n_windows, sizeof *refine->step_of);
    refine->centres = clv_alloc(n_windows, sizeof *refine->centres);
    refine->number_of = clv_alloc(n * n, sizeof *refine->number_of);
    refine->n_taken = clv_alloc(n, sizeof *refine->n_taken);
    refine->pairs = clv_alloc(n_pairs, sizeof *refine->pairs);
    refine->cells = clv_alloc_unset(n_pairs * 2 * n_windows * n_bins, sizeof *refine->cells);
    refine->there = clv_alloc(3 * n_bins, sizeof *refine->there);
    refine->back = clv_alloc(3 * n_bins, sizeof *refine->back);
    refine->edges = clv_alloc(n_pairs * n_windows, sizeof *refine->edges);
    refine->states = clv_alloc(n, sizeof *refine->states);
    refine->offsets = clv_alloc(n * n_windows, sizeof *refine->offsets);
    refine->bounds = clv_alloc(n * n_windows, sizeof *refine->bounds);
    refine->weights = clv_alloc(n * n_windows, sizeof *refine->weights);
    refine->points = clv_alloc(n * n_windows, sizeof *refine->points);
    refine->n_points = clv_alloc(n, sizeof *refine->n_points);
    return refine->step_of && refine->centres && refine->number_of && refine->n_taken &&
           refine->pairs && refine->cells && refine->there && refine->back && refine->edges &&
           refine->states && refine->offsets && refine->bounds && refine->weights &&
           refine->points && refine->n_points;
}

static clv_clc_delay_t *cells_of(const clv_clc_refine_t *refine, uint32_t pair, int is_back,
                                 int64_t window)
{
    const size_t row = 2 * (size_t) pair + (size_t) is_back;
    return &refine->cells[(row * (size_t) refine->n_windows + (size_t) window) *
                          (size_t) refine->n_bins];
}

/* Pairs with more messages than the result are taken, and the first *n_equal of those with exactly
 * as many. */
static int64_t least_of_pairs(const clv_clc_refine_t *refine, uint32_t *n_equal)
{
    const size_t n = (size_t) refine->n_hosts * refine->n_hosts;
    int64_t low = 0, high = INT64_MAX; /* too many pairs above low, not above high */
    uint32_t n_above = 0;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        n_above = 0;
        for (size_t i = 0; i < n; i++) {
            n_above += refine->n_seen[i] > middle;
        }
        low = n_above > refine->most_pairs ? middle + 1 : low;
        high = n_above > refine->most_pairs ? high : middle;
    }
    n_above = 0;
    for (size_t i = 0; i < n; i++) {
        n_above += refine->n_seen[i] > low;
    }
    *n_equal = refine->most_pairs - n_above;
    return low;
}

static void add_pair(clv_clc_refine_t *refine, uint32_t low, uint32_t high)
{
    const uint32_t number = refine->n_pairs++;
    refine->pairs[number] = (pair_t){low, high};
    refine->number_of[pair_index(refine, low, high)] = number + 1;
    clv_clc_delay_t *cells = cells_of(refine, number, 0, 0);
    for (int64_t i = 0; i < 2 * refine->n_windows * refine->n_bins; i++) {
        cells[i] = (clv_clc_delay_t){0, INT64_MAX};
    }
}

static void choose_pairs(clv_clc_refine_t *refine)
{
    uint32_t n_equal;
    const int64_t least = least_of_pairs(refine, &n_equal);
    for (uint32_t low = 0; low < refine->n_hosts; low++) {
        for (uint32_t high = low + 1; high < refine->n_hosts; high++) {
            const int64_t n = refine->n_seen[pair_index(refine, low, high)];
            const bool is_equal = n == least && n > 0 && n_equal > 0;
            if (n > least || is_equal) {
                n_equal -= is_equal ? 1 : 0;
                add_pair(refine, low, high);
            }
        }
    }
}

clv_status_t clv_clc_refine_begin(clv_clc_refine_t *refine)
{
    int64_t n = 0;
    set_shape(refine);
    if (!get_memory(refine)) {
        return CLV_NO_MEMORY;
    }
    for (int64_t step = 0; step < refine->n_steps; step++) {
        if (refine->window_of[step] != 0) {
            refine->step_of[n++] = step;
            refine->window_of[step] = n;
        }
    }
    choose_pairs(refine);
    return CLV_OK;
}

clv_clc_refine_parts_t clv_clc_refine_parts(const clv_clc_refine_t *refine)
{
    const size_t n = refine->n_hosts, n_bins = (size_t) refine->n_bins;
    return (clv_clc_refine_parts_t){.has = refine->window_of,
                                    .n_seen = refine->n_seen,
                                    .cells = refine->cells,
                                    .n_taken = refine->n_taken,
                                    .n_steps = (size_t) refine->n_steps,
                                    .n_pairs = n * n,
                                    .n_cells = 2 * (size_t) refine->n_pairs *
                                               (size_t) refine->n_windows * n_bins,
                                    .n_hosts = n};
}

/* ---- taking ---- */

void clv_clc_refine_lesser(clv_clc_delay_t *cell, clv_clc_delay_t other)
{
    if (other.delay_ns < cell->delay_ns ||
        (other.delay_ns == cell->delay_ns && other.time_ns < cell->time_ns)) {
        *cell = other;
    }
}

void clv_clc_refine_take(clv_clc_refine_t *refine, int32_t from, int32_t to, int64_t sent_ns,
                         int64_t received_ns)
{
    const int64_t time_ns = time_of(sent_ns, received_ns);
    const int64_t step = step_of(refine, time_ns);
    if (from == to || step < 0 || refine->window_of[step] == 0) {
        return;
    }
    const uint32_t a = (uint32_t) from, b = (uint32_t) to;
    const uint32_t number = refine->number_of[pair_index(refine, a, b)];
    if (number == 0) {
        return;
    }
    const int64_t within_ns = time_ns - refine->first_ns - step * refine->step_ns;
    const int64_t bin = within_ns * refine->n_bins / refine->step_ns;
    refine->n_taken[a]++;
    refine->n_taken[b]++;
    clv_clc_refine_lesser(&cells_of(refine, number - 1, a > b, refine->window_of[step] - 1)[bin],
                          (clv_clc_delay_t){time_ns, received_ns - sent_ns});
}

/* ---- corridors ---- */

/* The mean time of the cells in use: messages may fill a small part of a step. */
static void set_centre(clv_clc_refine_t *refine, int64_t window)
{
    const int64_t begin_ns = refine->first_ns + refine->step_of[window] * refine->step_ns;
    double sum = 0;
    int64_t n = 0;
    for (uint32_t row = 0; row < 2 * refine->n_pairs; row++) {
        const clv_clc_delay_t *cells = cells_of(refine, row / 2, (int) (row % 2), window);
        for (int64_t bin = 0; bin < refine->n_bins; bin++) {
            if (cells[bin].delay_ns != INT64_MAX) {
                sum += (double) (cells[bin].time_ns - begin_ns);
                n++;
            }
        }
    }
    refine->centres[window] = begin_ns + (n > 0 ? (int64_t) (sum / (double) n) : 0);
}

/* Collects the delays of a window and of its direct neighbours. */
static int64_t gather(const clv_clc_refine_t *refine, uint32_t pair, bool is_back, int64_t window,
                      clv_clc_delay_t *list)
{
    int64_t n = 0;
    for (int64_t w = clv_larger(window - 1, 0); w <= window + 1 && w < refine->n_windows; w++) {
        const clv_clc_delay_t *cells = cells_of(refine, pair, is_back, w);
        const int64_t apart = refine->step_of[w] - refine->step_of[window];
        for (int64_t bin = 0; apart == w - window && bin < refine->n_bins; bin++) {
            if (cells[bin].delay_ns != INT64_MAX) {
                list[n++] = cells[bin];
            }
        }
    }
    return n;
}

static void make_edges(clv_clc_refine_t *refine, uint32_t p)
{
    for (int64_t w = 0; w < refine->n_windows; w++) {
        edge_t *edge = &refine->edges[(size_t) w * refine->n_pairs + p];
        const int64_t n = gather(refine, p, false, w, refine->there);
        const int64_t m = gather(refine, p, true, w, refine->back);
        const bool is_known = clv_clc_corridor(refine->there, n, refine->back, m,
                                               refine->centres[w], &edge->offset, &edge->half);
        edge->half = is_known ? fmax(edge->half, 0) : -1;
    }
}

/* The narrowest corridor is as wide as two messages without delay; the excess width of another one
 * is the possible error of its middle. A receiver that is always late widens one side only, and all
 * of its corridors are wrong alike. So a corridor wider than the error of the stamps hardly
 * counts. */
static void weigh_edges(clv_clc_refine_t *refine)
{
    const size_t n = (size_t) refine->n_windows * refine->n_pairs;
    double least = refine->trust_ns;
    for (size_t i = 0; i < n; i++) {
        least = refine->edges[i].half < 0 ? least : fmin(least, refine->edges[i].half);
    }
    for (size_t i = 0; i < n; i++) {
        edge_t *edge = &refine->edges[i];
        const double above = edge->half - least + 1 + least / LEAST_OF_SCALE;
        const double doubt = 1 + (above / refine->trust_ns) * (above / refine->trust_ns);
        edge->weight = edge->half < 0 ? 0 : 1 / (above * above * doubt * doubt);
    }
}

/* ---- one window ---- */

/* The narrowest corridor between a host with an offset and one without. */
static int64_t next_pair(const clv_clc_refine_t *refine, const edge_t *edges)
{
    int64_t found = -1;
    for (uint32_t p = 0; p < refine->n_pairs; p++) {
        const pair_t *pair = &refine->pairs[p];
        if (edges[p].half >= 0 &&
            refine->states[pair->low].is_reached != refine->states[pair->high].is_reached &&
            (found < 0 || edges[p].half < edges[found].half)) {
            found = p;
        }
    }
    return found;
}

/* The weight of a host's present offset. */
static double trust_of(const clv_clc_refine_t *refine)
{
    return 1 / (refine->trust_ns * refine->trust_ns);
}

/* Sets first offsets from the reference on, corridor by corridor, so that the least-squares passes
 * start near their result. */
static void reach(const clv_clc_refine_t *refine, const edge_t *edges)
{
    state_t *states = refine->states;
    memset(states, 0, refine->n_hosts * sizeof *states);
    states[refine->reference].is_reached = true;
    for (int64_t p = next_pair(refine, edges); p >= 0; p = next_pair(refine, edges)) {
        state_t *low = &states[refine->pairs[p].low], *high = &states[refine->pairs[p].high];
        const state_t *from = low->is_reached ? low : high;
        state_t *to = low->is_reached ? high : low;
        to->tree = from->offset + (to == high ? edges[p].offset : -edges[p].offset);
        to->offset = to->tree * edges[p].weight / (edges[p].weight + trust_of(refine));
        to->bound = from->bound + edges[p].half + fabs(from->offset - from->tree);
        to->is_reached = true;
    }
}

/* One pass of least squares: moves each host halfway to the mean of its corridors and its present
 * offset, which is wrong by about trust. Returns the largest move. */
static double sweep(const clv_clc_refine_t *refine, const edge_t *edges)
{
    const double trust = trust_of(refine);
    double largest = 0;
    for (uint32_t h = 0; h < refine->n_hosts; h++) {
        refine->states[h].sum = -trust * refine->states[h].offset;
        refine->states[h].sum_of_weights = trust;
    }
    for (uint32_t p = 0; p < refine->n_pairs; p++) {
        state_t *low = &refine->states[refine->pairs[p].low];
        state_t *high = &refine->states[refine->pairs[p].high];
        if (edges[p].half >= 0 && low->is_reached) {
            low->sum += edges[p].weight * (high->offset - edges[p].offset - low->offset);
            high->sum += edges[p].weight * (low->offset + edges[p].offset - high->offset);
            low->sum_of_weights += edges[p].weight;
            high->sum_of_weights += edges[p].weight;
        }
    }
    for (uint32_t h = 0; h < refine->n_hosts; h++) {
        state_t *state = &refine->states[h];
        if (state->is_reached && h != refine->reference) {
            const double move = state->sum / state->sum_of_weights / 2;
            state->offset += move;
            largest = fmax(largest, fabs(move));
        }
    }
    return largest;
}

static void solve_window(clv_clc_refine_t *refine, int64_t w)
{
    const edge_t *edges = &refine->edges[(size_t) w * refine->n_pairs];
    reach(refine, edges);
    for (int i = 0; i < MOST_SWEEPS && sweep(refine, edges) > 0.5; i++) {
    }
    for (uint32_t h = 0; h < refine->n_hosts; h++) {
        const state_t *state = &refine->states[h];
        const size_t at = (size_t) h * (size_t) refine->n_windows + (size_t) w;
        const bool is_known = state->is_reached && h != refine->reference;
        refine->offsets[at] = is_known ? state->offset : NAN;
        refine->bounds[at] = state->bound + fabs(state->offset - state->tree);
        refine->weights[at] = state->sum_of_weights;
    }
}

/* ---- over windows ---- */

/* The sums of a weighted line. */
typedef struct sums {
    double s, x, y, xx, xy;
} sums_t;

static void add(sums_t *sums, double weight, double x, double y)
{
    sums->s += weight;
    sums->x += weight * x;
    sums->y += weight * y;
    sums->xx += weight * x * x;
    sums->xy += weight * x * y;
}

/* The value at the window of the weighted line through it and its neighbours. */
static double smoothed(const clv_clc_refine_t *refine, size_t row, int64_t window)
{
    const double *offsets = &refine->offsets[row], *weights = &refine->weights[row];
    const double own = offsets[window], reach = (SMOOTH + 0.5) * (double) refine->step_ns;
    sums_t sums = {0};
    for (int64_t w = clv_larger(window - SMOOTH, 0); w <= window + SMOOTH && w < refine->n_windows;
         w++) {
        const double x = (double) (refine->centres[w] - refine->centres[window]);
        if (!isnan(offsets[w]) && fabs(x) <= reach) {
            add(&sums, weights[w], x / reach, offsets[w] - own);
        }
    }
    const double spread = sums.s * sums.xx - sums.x * sums.x;
    return spread > 1e-9 * sums.s * sums.s ? own + (sums.xx * sums.y - sums.x * sums.xy) / spread
                                           : own;
}

static void make_points(clv_clc_refine_t *refine, uint32_t h)
{
    const size_t row = (size_t) h * (size_t) refine->n_windows;
    for (int64_t w = 0; w < refine->n_windows; w++) {
        const size_t at = row + (size_t) w;
        if (!isnan(refine->offsets[at])) {
            const double offset = smoothed(refine, row, w);
            const double moved = fabs(offset - refine->offsets[at]);
            refine->points[row + (size_t) refine->n_points[h]++] = (clv_clc_point_t){
                refine->centres[w], llround(offset), llround(refine->bounds[at] + moved) + 1};
        }
    }
}

void clv_clc_refine_solve(clv_clc_refine_t *refine, int64_t trust_ns)
{
    refine->trust_ns = (double) clv_larger(trust_ns, 1);
    for (uint32_t h = 0; h < refine->n_hosts; h++) {
        refine->reference =
            refine->n_taken[h] > refine->n_taken[refine->reference] ? h : refine->reference;
    }
    for (int64_t w = 0; w < refine->n_windows; w++) {
        set_centre(refine, w);
    }
    for (uint32_t p = 0; p < refine->n_pairs; p++) {
        make_edges(refine, p);
    }
    weigh_edges(refine);
    for (int64_t w = 0; w < refine->n_windows; w++) {
        solve_window(refine, w);
    }
    for (uint32_t h = 0; h < refine->n_hosts; h++) {
        make_points(refine, h);
    }
}

int64_t clv_clc_refine_step(const clv_clc_refine_t *refine)
{
    return refine->step_ns;
}

int64_t clv_clc_refine_points(const clv_clc_refine_t *refine, uint32_t host,
                              const clv_clc_point_t **points_p)
{
    *points_p = &refine->points[(size_t) host * (size_t) refine->n_windows];
    return refine->n_points[host];
}
