/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules of windows; see bench_window.h.
 */
#include "apps/bench/measure/bench_window.h"

#include <stddef.h>
#include <string.h>

#include "util/util_min_max.h"

#define FIRST_BATCH    8 /* rounds of SKaMPI's first batch */
#define LEAST_ROUNDS   4 /* of any batch, and the fewest that NBCBench must keep */
#define LONGEST_ALL_NS (INT64_C(10) * 1000000000) /* limit of all rounds of NBCBench */
#define LONGEST_MARGIN 5
#define LARGEST_WINDOW (INT64_C(1000) * 1000000000)

/* Algorithm 10, lines 23 to 32. */
static void judge_as_skampi(clv_window_t *window, const clv_window_batch_t *batch)
{
    if (4 * batch->n_invalid >= batch->n_calls) {
        const int64_t seen_ns = batch->total_ns / (batch->n_rounds + 1) * 3 / 2;
        window->window_ns = clv_larger(2 * window->window_ns, seen_ns);
    }
    if (2 * batch->longest_invalid > batch->n_rounds) {
        window->n_rounds = clv_larger(batch->n_rounds / 2, LEAST_ROUNDS);
    } else {
        window->n_rounds = clv_larger(window->n_rounds, window->least);
    }
    window->is_done = batch->n_kept >= window->most || (batch->n_kept >= window->least &&
                                                        batch->standard_error <= window->precision);
    window->n_rounds = clv_smaller(window->n_rounds, window->most - batch->n_kept);
}

/* Algorithm 14, lines 26 to 28. */
static void judge_as_nbcbench(clv_window_t *window, const clv_window_batch_t *batch)
{
    const int64_t enough = clv_smaller(LEAST_ROUNDS, window->n_rounds);

    window->is_done = 4 * batch->n_invalid <= batch->n_calls && batch->n_kept >= enough;
    if (!window->is_done) {
        window->window_ns += window->window_ns / 2 + 1;
        window->starts_anew = true;
    }
}

const clv_window_rule_t clv_window_rules[] = {
    {"fixed", "as large as --window says", false, NULL},
    {"skampi", "doubled while a quarter of the calls is invalid; ends at --precision", false,
     judge_as_skampi},
    {"nbcbench", "estimated, times 1.5 and anew while a quarter is invalid", true,
     judge_as_nbcbench},
    {NULL, NULL, false, NULL},
};

const clv_window_rule_t *clv_window_rule_find(const char *name)
{
    const clv_window_rule_t *rule = clv_window_rules;

    while (rule->name != NULL && strcmp(rule->name, name) != 0) {
        rule++;
    }
    return rule->name != NULL ? rule : NULL;
}

void clv_window_start(clv_window_t *window, int64_t window_ns, int64_t most)
{
    window->window_ns = window_ns;
    window->most = most;
    window->n_rounds =
        window->rule->judge == judge_as_skampi ? clv_smaller(FIRST_BATCH, most) : most;
    window->n_batches = window->n_bad = window->n_kept = window->n_calls = window->n_invalid = 0;
    window->standard_error = 0.0;
    window->is_done = window->starts_anew = false;
}

void clv_window_estimate(clv_window_t *window, int64_t call_ns)
{
    window->window_ns = clv_larger(call_ns, 1);
    if (call_ns > LONGEST_ALL_NS / LONGEST_MARGIN / window->n_rounds) {
        window->n_rounds =
            clv_smaller(clv_larger(window->n_rounds / 2, LEAST_ROUNDS), window->n_rounds);
    }
}

void clv_window_judge(clv_window_t *window, const clv_window_batch_t *batch)
{
    window->n_batches++;
    window->n_bad += window->starts_anew || batch->n_kept <= window->n_kept;
    window->n_kept = batch->n_kept;
    window->n_calls += batch->n_calls;
    window->n_invalid += batch->n_invalid;
    window->standard_error = batch->standard_error;
    window->starts_anew = false;
    if (window->rule->judge == NULL) {
        window->is_done = true;
        return;
    }
    window->rule->judge(window, batch);
    window->window_ns = clv_smaller(window->window_ns, LARGEST_WINDOW);
    if (window->n_bad >= CLV_WINDOW_MOST_BAD) {
        window->is_done = true;
        window->starts_anew = false;
    }
}
