/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Backward amortisation (section 3.2): the events before a corrected receive follow it.
 *
 *      shift                                . jump at r*, where the receive would be without
 * message . ' limit of s .  ' _ . - ' | 0 ____ . - - - ' '          | left end                s r*
 * (corrected time)
 *
 * The paper searches the send that requires the steepest line from r*, takes the part right of it,
 * and repeats from there. That is gift wrapping: the result is the lower hull of the left end, the
 * limits of the sends and the jump. One pass computes it here. The shift depends on time only and
 * never decreases, so events keep their order and intervals only grow.
 *
 * Limits come from the receivers' times after the forward pass. Those only move later, so an old
 * limit remains valid, and lines can be processed in any order, by any number of threads. Beyond
 * the look-back or look-ahead the limit is 0, which is always valid.
 */
#include "apps/clc/clc_internal.h"

#include <string.h>

#include "util/util_alloc.h"

typedef struct backward {
    const clv_clc_trace_t *trace;
    const clv_clc_config_t *config;
    int64_t n_slots;  /* size of the ring: the look-back */
    double *steepest; /* per line */
    bool has_no_memory;
} backward_t;

/* The pass over one line. */
typedef struct pass {
    const backward_t *backward;
    clv_clc_walk_t walk;
    clv_clc_clock_t clock;
    clv_clc_event_t **ring; /* the last events of the line, in its order */
    int64_t n;              /* number of events so far */
    int64_t first_ns;       /* time of the first event */
    clv_clc_hull_t hull;
    double steepest;
} pass_t;

static clv_clc_event_t *past_event(const pass_t *pass, int64_t i)
{
    return pass->ring[i % pass->backward->n_slots];
}

static bool is_send(const clv_clc_event_t *event)
{
    const clv_clc_role_t role = clv_clc_role(event);
    return role == CLV_CLC_SEND || role == CLV_CLC_ENTER;
}

static int64_t latest(const backward_t *backward, const clv_clc_event_t *event)
{
    const clv_clc_trace_t *trace = backward->trace;
    if (clv_clc_role(event) == CLV_CLC_ENTER && trace->replay) {
        const uint64_t first = trace->collectives[event->group].first;
        return trace->members[first + clv_clc_member_of(event)].enter;
    }
    if (clv_clc_role(event) == CLV_CLC_ENTER) {
        return clv_clc_latest_enter(trace, backward->config, &trace->collectives[event->group],
                                    clv_clc_member_of(event));
    }
    const clv_clc_message_t *message = &trace->messages[event->group];
    return message->receive == CLV_CLC_UNKNOWN
               ? INT64_MAX
               : message->receive - clv_clc_delay(backward->config, message->from, message->to);
}

/* How far a send may still move: at least 0; INT64_MAX if no receiver waits for it. */
static int64_t room(const backward_t *backward, const clv_clc_event_t *event)
{
    const int64_t ahead_ns = backward->config->look_ahead_ns;
    const int64_t time = latest(backward, event);
    if (time == INT64_MAX) {
        return INT64_MAX;
    }
    const int64_t left = time - event->corrected;
    return left < 0 || (ahead_ns > 0 && left > ahead_ns) ? 0 : left;
}

/* Where the shift begins: limited by the slope, the first event, and the look-back. *begin is the
 * first event that may move. */
static int64_t left_end(const pass_t *pass, int64_t star, int64_t jump, int64_t *begin)
{
    const int64_t n_slots = pass->backward->n_slots;
    const int64_t oldest = pass->n > n_slots ? pass->n - n_slots : 0;
    const double reach = (double) jump / pass->backward->config->slope;
    const int64_t span = star - pass->first_ns;
    int64_t left = reach < (double) span ? star - (int64_t) reach : pass->first_ns;
    int64_t i = pass->n;
    while (i > oldest && past_event(pass, i - 1)->corrected > left) {
        i--;
    }
    if (i == oldest && oldest > 0) { /* events before it stay, so it stays too */
        left = past_event(pass, oldest)->corrected;
        i = oldest + 1;
    }
    *begin = i;
    return left;
}

static void add_point(clv_clc_hull_t *hull, double x, double y)
{
    hull->x[hull->n] = x;
    hull->y[hull->n] = y;
    hull->n++;
}

static void make_hull(pass_t *pass, int64_t star, int64_t jump, int64_t left, int64_t begin)
{
    clv_clc_hull_t *hull = &pass->hull;
    hull->n = 0;
    add_point(hull, 0.0, (double) jump);
    for (int64_t i = pass->n; i-- > begin;) {
        const clv_clc_event_t *event = past_event(pass, i);
        const int64_t limit = is_send(event) ? room(pass->backward, event) : INT64_MAX;
        if (limit < jump) {
            add_point(hull, (double) (star - event->corrected), (double) limit);
        }
    }
    add_point(hull, (double) (star - left), 0.0);
    clv_clc_hull_make(hull);
}

/* Shifts are rounded down. The margin keeps double rounding from lowering a limit that is met. */
#define ROUNDING 1e-3

/* A receive that would be at star has jumped; the events before it follow. */
static void follow(pass_t *pass, int64_t star, int64_t jump)
{
    int64_t begin;
    const int64_t left = left_end(pass, star, jump, &begin);
    if (left >= star || begin >= pass->n) {
        return;
    }
    make_hull(pass, star, jump, left, begin);
    const double steepest = clv_clc_hull_steepest(&pass->hull);
    pass->steepest = steepest > pass->steepest ? steepest : pass->steepest;
    int64_t right = pass->hull.n - 1;
    for (int64_t i = begin; i < pass->n; i++) {
        clv_clc_event_t *event = past_event(pass, i);
        const double x = (double) (star - event->corrected);
        event->corrected += (int64_t) (clv_clc_hull_at(&pass->hull, &right, x) + ROUNDING);
    }
}

/* The least corrected time of the batch: earlier events may move up to it. */
static int64_t batch_least(const pass_t *pass)
{
    const clv_clc_walk_t *walk = &pass->walk;
    int64_t least = INT64_MAX;
    for (uint32_t slot = 0; slot < walk->n_open; slot++) {
        const int64_t time = clv_clc_walk_event(walk, slot)->corrected;
        least = time < least ? time : least;
    }
    return least;
}

/* By track, so that the ring does not depend on the order in the walk's heap. */
static void sort_open(clv_clc_walk_t *walk)
{
    for (uint32_t i = 1; i < walk->n_open; i++) {
        const uint32_t moving = walk->open[i];
        uint32_t k = i;
        for (; k > 0 && walk->open[k - 1] > moving; k--) {
            walk->open[k] = walk->open[k - 1];
        }
        walk->open[k] = moving;
    }
}

static void remember_batch(pass_t *pass)
{
    while (pass->walk.n_open > 0) {
        clv_clc_event_t *event = clv_clc_walk_event(&pass->walk, 0);
        pass->ring[pass->n++ % pass->backward->n_slots] = event;
        clv_clc_clock_note(&pass->clock, event->corrected);
        clv_clc_walk_pass(&pass->walk, 0);
    }
}

static void run_pass(pass_t *pass)
{
    const clv_clc_config_t *config = pass->backward->config;
    while (clv_clc_walk_turn(&pass->walk)) {
        sort_open(&pass->walk);
        clv_clc_clock_turn(&pass->clock, config, pass->walk.stamp);
        const int64_t star = clv_clc_clock_local(&pass->clock);
        const int64_t least = batch_least(pass);
        if (pass->n == 0) {
            pass->first_ns = least;
        } else if (least > star) {
            follow(pass, star, least - star);
        }
        remember_batch(pass);
    }
}

static void run_line(void *context, uint32_t l)
{
    backward_t *backward = context;
    const size_t n_points = (size_t) backward->n_slots + 2;
    pass_t pass = {.backward = backward};
    pass.ring = clv_alloc_unset((size_t) backward->n_slots, sizeof(clv_clc_event_t *));
    pass.hull.x = clv_alloc_unset(n_points, sizeof(double));
    pass.hull.y = clv_alloc_unset(n_points, sizeof(double));
    if (pass.ring && pass.hull.x && pass.hull.y &&
        clv_clc_walk_open(&pass.walk, backward->trace, &backward->trace->lines[l]) == CLV_OK) {
        run_pass(&pass);
        backward->steepest[l] = pass.steepest;
        clv_clc_walk_close(&pass.walk);
    } else {
        __atomic_store_n(&backward->has_no_memory, true, __ATOMIC_RELAXED);
    }
    clv_free(pass.hull.y);
    clv_free(pass.hull.x);
    clv_free(pass.ring);
}

static void find_first_exits(void *context, uint32_t i)
{
    const backward_t *backward = context;
    const uint64_t n = backward->trace->replay ? 0 : backward->trace->n_collectives;
    for (uint64_t g = clv_clc_piece(n, i); g < clv_clc_piece(n, i + 1); g++) {
        clv_clc_first_exit(backward->trace, &backward->trace->collectives[g]);
    }
}

clv_status_t clv_clc_backward(const clv_clc_trace_t *trace, const clv_clc_config_t *config,
                              double *steepest)
{
    const int64_t n_slots = config->look_back > 0 ? config->look_back : CLV_CLC_LOOK_BACK;
    backward_t backward = {trace, config, n_slots, NULL, false};
    backward.steepest = clv_alloc(trace->n_lines + (size_t) 1, sizeof(double));
    if (!backward.steepest) {
        return CLV_NO_MEMORY;
    }
    clv_clc_parallel(config->n_threads, CLV_CLC_PIECES, find_first_exits, &backward);
    clv_clc_parallel(config->n_threads, trace->n_lines, run_line, &backward);
    double largest = 0;
    for (uint32_t l = 0; l < trace->n_lines; l++) {
        largest = backward.steepest[l] > largest ? backward.steepest[l] : largest;
    }
    clv_free(backward.steepest);
    if (backward.has_no_memory) {
        return CLV_NO_MEMORY;
    }
    *steepest = largest;
    return CLV_OK;
}
