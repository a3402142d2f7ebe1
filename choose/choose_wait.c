/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How long a waiting rank may sleep (see choose_wait.h).
 */
#include "choose/choose_wait.h"

#include "util/util_min_max.h"

#define JUDGED         8                /* newest waits that a period is judged by */
#define BRIEF_NS       INT64_C(1000000) /* a shorter wait is spun through */
#define SPIN_NS        INT64_C(50000)   /* least margin: a wake may take this long */
#define MARGIN_PART    8                /* the margin is no more than this part of the wait */
#define TIMEOUT_PART   10               /* a timeout is this part of the time waited */
#define NEAR_PART      4                /* a slice is at most this part of the rest */
#define QUIET_NS       INT64_C(20000)   /* nothing has moved: no segments flow */
#define QUIET_TIMER_NS INT64_C(200000)  /* the same if nothing is known */
#define QUIET_WOKEN_NS INT64_C(100000)  /* the same if a message wakes the rank */
#define SENDS_NS       INT64_C(50000)   /* longest sleep while sends need this rank */
#define MOST_WIDENING  3
#define FINE_CALLS     16 /* calls without a late wake until the margin narrows */

int32_t clv_wait_size_class(int64_t n_bytes)
{
    const int32_t n_bits = 63 - __builtin_clzll((unsigned long long) n_bytes | 1);

    return (int32_t) clv_smaller(n_bits / 2, CLV_WAIT_SIZES - 1);
}

static int64_t took(const clv_wait_history_t *history, int64_t call)
{
    return history->took_ns[call % CLV_WAIT_KEPT];
}

static int64_t distance(int64_t a, int64_t b)
{
    return a < b ? b - a : a - b;
}

/* Mean difference between the newest waits and those one period earlier; -1: too few. */
static int64_t error_of(const clv_wait_history_t *history, int32_t period)
{
    const int64_t n = history->n_calls, kept = clv_smaller(n, CLV_WAIT_KEPT);
    const int64_t n_judged = clv_smaller(kept - period, JUDGED);
    int64_t sum = 0;

    if (n_judged < period || n_judged < 1) {
        return -1;
    }
    for (int64_t call = n - n_judged; call < n; call++) {
        sum += distance(took(history, call), took(history, call - period));
    }
    return sum / n_judged;
}

/* The period with the least error; a longer one must be better by a quarter. 0: none is known. */
static int32_t best_period(const clv_wait_history_t *history, int64_t *error_p)
{
    int32_t best = 0;

    for (int32_t period = 1; period <= CLV_WAIT_PERIODS; period++) {
        const int64_t error_ns = error_of(history, period);
        if (error_ns >= 0 && (best == 0 || error_ns < *error_p - *error_p / 4)) {
            best = period;
            *error_p = error_ns;
        }
    }
    return best;
}

/* The shorter of the last two waits at this place: waking early costs less than waking late. */
static int64_t wait_at(const clv_wait_history_t *history, int32_t period)
{
    const int64_t n = history->n_calls;
    const int64_t last_ns = took(history, n - period);
    const bool has_two = n >= 2 * period;

    return has_two ? clv_smaller(last_ns, took(history, n - 2 * period)) : last_ns;
}

static int64_t margin_of(const clv_wait_history_t *history, int64_t expected_ns, int64_t error_ns)
{
    const int64_t wanted_ns = (SPIN_NS + 3 * error_ns) << history->widening;

    return clv_smaller(wanted_ns, clv_larger(SPIN_NS, expected_ns / MARGIN_PART));
}

clv_wait_plan_t clv_wait_predict(const clv_wait_history_t *history, int64_t forecast_ns)
{
    clv_wait_plan_t plan = {.expected_ns = -1, .forecast_ns = forecast_ns};
    int64_t error_ns = 0;
    const int32_t period = best_period(history, &error_ns);

    if (period > 0) {
        plan.expected_ns = wait_at(history, period);
    }
    if (forecast_ns >= 0 && history->n_forecasts > 1 &&
        (period == 0 || history->forecast_error_ns < error_ns)) {
        plan.expected_ns = forecast_ns;
        error_ns = history->forecast_error_ns;
    }
    if (plan.expected_ns >= 0 && 2 * error_ns > plan.expected_ns) {
        plan.expected_ns = -1; /* no better than nothing */
    }
    plan.margin_ns = margin_of(history, plan.expected_ns, error_ns);
    return plan;
}

static void learn_forecast(clv_wait_history_t *history, int64_t error_ns)
{
    const int64_t before_ns = history->n_forecasts > 0 ? history->forecast_error_ns : error_ns;

    history->forecast_error_ns = before_ns + (error_ns - before_ns) / 4;
    history->n_forecasts += history->n_forecasts < CLV_WAIT_KEPT;
}

static void learn_late(clv_wait_history_t *history, bool is_late)
{
    history->n_late += is_late;
    history->n_fine = is_late ? 0 : history->n_fine + 1;
    if (history->n_late > 1 && history->widening < MOST_WIDENING) {
        history->widening++;
        history->n_late = 0;
    } else if (history->n_fine >= FINE_CALLS) {
        history->widening -= history->widening > 0;
        history->n_late = 0;
        history->n_fine = 0;
    }
}

void clv_wait_record(clv_wait_history_t *history, const clv_wait_plan_t *plan, int64_t took_ns,
                     bool is_late)
{
    history->took_ns[history->n_calls++ % CLV_WAIT_KEPT] = took_ns;
    if (plan->forecast_ns >= 0) {
        learn_forecast(history, distance(took_ns, plan->forecast_ns));
    }
    learn_late(history, is_late && plan->expected_ns >= 0);
}

/* For a wait without a prediction, or one past its predicted end. */
static int64_t timeout(const clv_wait_now_t *now, int64_t overdue_ns)
{
    const int64_t quiet_ns = now->message_wakes ? QUIET_WOKEN_NS : QUIET_TIMER_NS;
    const int64_t part_ns = clv_smaller(now->idle_ns / TIMEOUT_PART, overdue_ns);

    if (now->idle_ns < quiet_ns || overdue_ns < quiet_ns) {
        return 0;
    }
    return now->message_wakes ? CLV_WAIT_DEAF_NS : clv_smaller(part_ns, CLV_WAIT_MOST_NS);
}

/* Slices get shorter towards the end, since the end may come a little early. */
static int64_t until(const clv_wait_now_t *now, int64_t left_ns)
{
    const int64_t far_ns = clv_smaller(now->idle_ns / TIMEOUT_PART, left_ns / NEAR_PART);
    const int64_t cap_ns = clv_larger(CLV_WAIT_CAP_NS, clv_smaller(far_ns, CLV_WAIT_MOST_NS));

    if (!now->message_wakes && now->idle_ns < QUIET_NS) {
        return 0;
    }
    return clv_smaller(left_ns, now->message_wakes ? CLV_WAIT_DEAF_NS : cap_ns);
}

int64_t clv_wait_slice(const clv_wait_plan_t *plan, const clv_wait_now_t *now)
{
    int64_t slice_ns = 0;

    if (plan->expected_ns < 0) {
        slice_ns = timeout(now, now->elapsed_ns);
    } else if (now->elapsed_ns < plan->expected_ns - plan->margin_ns) {
        slice_ns = plan->expected_ns < BRIEF_NS
                       ? 0
                       : until(now, plan->expected_ns - plan->margin_ns - now->elapsed_ns);
    } else if (now->elapsed_ns > plan->expected_ns + plan->margin_ns) {
        slice_ns = timeout(now, now->elapsed_ns - plan->expected_ns - plan->margin_ns);
    }
    if (now->has_sends && !now->message_wakes) {
        slice_ns = clv_smaller(slice_ns, SENDS_NS);
    }
    return slice_ns < CLV_WAIT_LEAST_NS ? 0 : slice_ns;
}
