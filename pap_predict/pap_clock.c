/* SPDX-License-Identifier: BSD-3-Clause
 * See pap_clock.h.
 */
#include "pap_predict/pap_clock.h"

#include "util/util_min_max.h"
#include "util/util_time.h"

#define BURST_PINGS       8
#define PAUSE_FIRST_NS    (20 * CLV_NS_PER_MS) /* doubles from burst to burst */
#define PAUSE_MAX_NS      (4 * CLV_NS_PER_S)
#define PAUSE_UNUSED_NS   (32 * CLV_NS_PER_S)
#define SUSPEND_MIN_NS    (10 * CLV_NS_PER_MS) /* the counter itself is good to 100 us */
#define MAX_TURNAROUND_NS UINT64_C(1000000)    /* more would add two clocks' drift to the error */

/* The suspended time is the difference of two clock reads, between which the thread may lose its
 * core: so the median of three. */
static int64_t suspended_now_ns(void)
{
    int64_t middle[3];
    for (int i = 0; i < 3; i++) {
        middle[i] = clv_cs_suspended_ns();
    }
    const int64_t low = middle[0] < middle[1] ? middle[0] : middle[1];
    const int64_t high = middle[0] < middle[1] ? middle[1] : middle[0];
    return middle[2] < low ? low : middle[2] > high ? high : middle[2];
}

void clv_pap_clock_init(clv_pap_clock_t *clock, bool is_reference)
{
    *clock = (clv_pap_clock_t){.is_ready = is_reference,
                               .model = clv_cs_identity,
                               .suspended_ns = suspended_now_ns(),
                               .next_burst_ns = INT64_MAX};
    clv_cs_tracker_init(&clock->tracker, BURST_PINGS);
}

void clv_pap_clock_connected(clv_pap_clock_t *clock, int64_t now_ns)
{
    clock->next_burst_ns = now_ns;
    clock->n_left = 0;
    clock->is_outstanding = false;
    clock->n_bursts = 0;
}

void clv_pap_clock_lost(clv_pap_clock_t *clock)
{
    clock->next_burst_ns = INT64_MAX;
    clock->n_left = 0;
    clock->is_outstanding = false;
}

static int64_t pause_ns(const clv_pap_clock_t *clock)
{
    const int64_t pause = PAUSE_FIRST_NS << (clock->n_bursts < 10 ? clock->n_bursts : 10);
    return pause < PAUSE_MAX_NS ? pause : clock->is_used ? PAUSE_MAX_NS : PAUSE_UNUSED_NS;
}

void clv_pap_clock_used(clv_pap_clock_t *clock, int64_t now_ns)
{
    clock->is_used = true;
    if (clock->next_burst_ns != INT64_MAX) {
        const int64_t due_ns = clv_larger(now_ns, clock->last_burst_ns + PAUSE_MAX_NS);
        clock->next_burst_ns = clv_smaller(clock->next_burst_ns, due_ns);
    }
}

/* CLOCK_MONOTONIC does not advance while the host is suspended. */
static void check_suspended(clv_pap_clock_t *clock)
{
    const int64_t suspended_ns = suspended_now_ns();
    if (suspended_ns - clock->suspended_ns > SUSPEND_MIN_NS) {
        clv_cs_tracker_restart(&clock->tracker);
        clock->n_bursts = 0;
    }
    clock->suspended_ns = suspended_ns;
}

bool clv_pap_clock_wants_ping(clv_pap_clock_t *clock, int64_t now_ns)
{
    if (clock->is_outstanding) {
        return false;
    }
    if (clock->n_left > 0) {
        clock->n_left--;
    } else if (now_ns >= clock->next_burst_ns) {
        check_suspended(clock);
        clock->n_left = BURST_PINGS - 1;
        clock->next_burst_ns = now_ns + pause_ns(clock);
        clock->last_burst_ns = now_ns;
        clock->is_used = false;
        clock->n_bursts++;
    } else {
        return false;
    }
    clock->is_outstanding = true;
    return true;
}

int64_t clv_pap_clock_deadline(const clv_pap_clock_t *clock)
{
    /* The answer to an outstanding ping is an event of its own. */
    return clock->is_outstanding ? INT64_MAX : clock->n_left > 0 ? 0 : clock->next_burst_ns;
}

/* After a step the model is unknown, so measure as often as at first, not at the late next burst of
 * a settled clock. Not at once, or a misbehaving parent could make us ping without a pause. */
static void learn_anew(clv_pap_clock_t *clock, int64_t now_ns)
{
    clock->n_bursts = 0;
    if (clock->next_burst_ns > now_ns + PAUSE_FIRST_NS && clock->next_burst_ns != INT64_MAX) {
        clock->next_burst_ns = now_ns + PAUSE_FIRST_NS;
    }
}

static bool feed(clv_pap_clock_t *clock, const clv_net_stamp_t *stamp, int64_t received_ns)
{
    const clv_cs_sample_t sample = {.client_send_ns = stamp->echo_sent_ns,
                                    .reference_recv_ns = stamp->echo_recv_ns,
                                    .reference_send_ns = stamp->sent_ns,
                                    .client_recv_ns = received_ns,
                                    .reference_error_ns = stamp->error_ns};
    /* The tracker needs samples that follow each other: frames that cross are left out. */
    if (!stamp->has_global || stamp->echo_sent_ns <= clock->taken_until_ns ||
        stamp->sent_ns < stamp->echo_recv_ns ||
        (uint64_t) stamp->sent_ns - (uint64_t) stamp->echo_recv_ns > MAX_TURNAROUND_NS) {
        return false;
    }
    clock->taken_until_ns = received_ns;
    const int32_t n_restarts = clock->tracker.n_restarts;
    const bool changed = clv_cs_tracker_feed(&clock->tracker, &sample) == CLV_OK;
    if (clock->tracker.n_restarts != n_restarts) {
        learn_anew(clock, received_ns);
    }
    return changed;
}

bool clv_pap_clock_take(clv_pap_clock_t *clock, const clv_net_stamp_t *stamp, int64_t received_ns,
                        bool is_pong)
{
    const bool was_ready = clock->is_ready;
    clv_cs_model_t model;
    if (is_pong) {
        clock->is_outstanding = false;
        if (!stamp->has_global) {
            clv_pap_clock_lost(clock);             /* until the parent says that it is ready */
            clv_cs_tracker_doubt(&clock->tracker); /* the cause may affect this clock, too */
            clock->is_ready = false;
            return was_ready;
        }
    }
    const bool changed = feed(clock, stamp, received_ns);
    clock->is_ready = clv_cs_tracker_model(&clock->tracker, &model) == CLV_OK;
    if (clock->is_ready) {
        clock->model = model;
    }
    return changed || was_ready != clock->is_ready;
}
