/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Verdicts in words (see choose_verdict.h).
 */
#include "choose/choose_verdict.h"

#include <inttypes.h>
#include <stdio.h>

#include "choose/choose_try.h"
#include "util/util_min_max.h"

#define HAND "; run once with --mca coll ^clv and compare"

/* What the compared times are times of. */
static const char *const units[] = {[CLV_OBJECTIVE_PACE] = "from one call to the next",
                                    [CLV_OBJECTIVE_AFTER] = "after their last arrival",
                                    [CLV_OBJECTIVE_MPI_TIME] = "in MPI"};

static bool is_of_run(const clv_verdict_facts_t *facts)
{
    return facts->config->objective == CLV_OBJECTIVE_PACE;
}

static int64_t saved_ns(const clv_verdict_facts_t *facts)
{
    return facts->gains.would_ns - facts->gains.took_ns;
}

static int64_t with_ns(const clv_verdict_facts_t *facts)
{
    return is_of_run(facts) ? facts->run_ns : facts->gains.took_ns;
}

/* The part of the time without clv that is saved; negative: clv takes longer. */
static double share(double saved, double with)
{
    return saved + with > 0 ? saved / (saved + with) : 0;
}

/* How much blocks of calls scatter. */
static double noise(const clv_verdict_facts_t *facts)
{
    const clv_choose_gains_t *gains = &facts->gains;
    double spread = 0;

    if (gains->n_calls > 0) {
        spread = (double) gains->spread_permille / (double) gains->n_calls;
    }
    return (spread > CLV_POLICY_NOISE_PERMILLE ? spread : CLV_POLICY_NOISE_PERMILLE) / 1000;
}

/* Over the compared calls, not the whole run: the noise is theirs. */
static double compared(const clv_verdict_facts_t *facts)
{
    return share((double) (facts->gains.previous_ns - facts->gains.own_ns),
                 (double) facts->gains.own_ns);
}

static double magnitude(double x)
{
    return x < 0 ? -x : x;
}

static bool is_comparable(const clv_verdict_facts_t *facts)
{
    return facts->gains.n_calls >= CLV_POLICY_BLOCK_CALLS && facts->gains.took_ns > 0;
}

clv_verdict_t clv_choose_verdict(const clv_verdict_facts_t *facts)
{
    if (facts->n_calls == facts->n_previous) {
        return CLV_VERDICT_SAME;
    }
    if (!is_comparable(facts) || magnitude(compared(facts)) <= noise(facts)) {
        return CLV_VERDICT_UNKNOWN;
    }
    return saved_ns(facts) > 0 ? CLV_VERDICT_FASTER : CLV_VERDICT_SLOWER;
}

/* ---- words ----------------------------------------------------------------------------------- */

static const char *forced_word(const clv_choose_config_t *config, const char **name_p)
{
#define FORCED(to, code, name, mpi, goal, root, op, counts, result, bytes, least)                  \
    if (config->name##_algorithm != CLV_ALGORITHM_AUTO) {                                          \
        *name_p = #name;                                                                           \
        return clv_algorithm_word(config->name##_algorithm);                                       \
    }
    CLV_COLLECTIVE_MAP(FORCED, )
#undef FORCED
    return NULL;
}

/* Why nothing, or too little, was compared. */
static void print_why(char *text, size_t size, const clv_verdict_facts_t *facts)
{
    const clv_choose_config_t *config = facts->config;
    const char *name = NULL, *word = forced_word(config, &name);

    if (word != NULL) {
        (void) snprintf(text, size, "coll_clv_%s_algorithm is %s, so nothing else was tried", name,
                        word);
    } else if (config->reproducible != CLV_REPRODUCIBLE_OFF && facts->n_timed == 0) {
        (void) snprintf(text, size,
                        "coll_clv_reproducible asks for a fixed order, so nothing else was tried");
    } else if (!config->exchange) {
        (void) snprintf(text, size, "coll_clv_exchange is off, so nothing was measured");
    } else if (facts->n_calls <= CLV_CHOOSE_FIRST_CALLS) {
        (void) snprintf(text, size, "%" PRId64 " call%s too few: trials begin after %d",
                        facts->n_calls, facts->n_calls == 1 ? " is" : "s are",
                        CLV_CHOOSE_FIRST_CALLS);
    } else if (facts->gains.took_ns + facts->gains.unknown_ns == 0) {
        (void) snprintf(text, size,
                        "none of %" PRId64 " calls was measured; they may carry too few bytes "
                        "(coll_clv_setup_bytes)",
                        facts->n_calls);
    } else {
        (void) snprintf(text, size,
                        "no trial compared the plans with the previous function: trials begin "
                        "after %d calls and may cost 0.%d %% of the run",
                        CLV_CHOOSE_FIRST_CALLS, CLV_POLICY_BUDGET_PERMILLE);
    }
}

static void print_unknown(char *text, size_t size, const clv_verdict_facts_t *facts)
{
    char why[256];

    if (is_comparable(facts)) {
        (void) snprintf(text, size,
                        "unknown, because the difference of %.1f %% in %" PRId64
                        " compared calls is within the %.1f %% by which calls differ anyway" HAND,
                        100 * magnitude(compared(facts)), facts->gains.n_calls, 100 * noise(facts));
        return;
    }
    print_why(why, sizeof why, facts);
    (void) snprintf(text, size, "unknown, because %s" HAND, why);
}

static void print_same(char *text, size_t size, const clv_verdict_facts_t *facts)
{
    if (facts->n_calls == 0) {
        (void) snprintf(text, size, "no faster and no slower: clv took no call");
    } else if (facts->n_calls == 1) {
        (void) snprintf(
            text, size,
            "no faster and no slower: the previous function ran in the only call, because %s",
            clv_reason_text(facts->reason));
    } else {
        (void) snprintf(text, size,
                        "no faster and no slower: the previous function ran in all %" PRId64
                        " calls, mostly because %s",
                        facts->n_calls, clv_reason_text(facts->reason));
    }
}

/* The run's time, if that is what is compared. */
static void print_run(char *text, size_t size, const clv_verdict_facts_t *facts)
{
    (void) snprintf(text, size, ": %.2f s from the first call to the last instead of %.2f",
                    (double) facts->run_ns / 1e9, (double) (facts->run_ns + saved_ns(facts)) / 1e9);
}

static void print_known(char *text, size_t size, const clv_verdict_facts_t *facts)
{
    const clv_choose_gains_t *gains = &facts->gains;
    const double saved = (double) saved_ns(facts), with = (double) with_ns(facts);
    const double percent = 100 * magnitude(share(saved, with)), n = (double) gains->n_calls * 1e6;
    const double rest = share((double) gains->unknown_ns, (double) gains->took_ns);
    char run[96] = "", unknown[64] = "";

    if (is_of_run(facts)) {
        print_run(run, sizeof run, facts);
    }
    if (rest >= 0.01) { /* a percent, the precision of the line */
        (void) snprintf(unknown, sizeof unknown, "; %.0f %% of the time was not compared",
                        100 * rest);
    }
    (void) snprintf(text, size,
                    "%s by %.*f %% than the previous function%s, judged by %" PRId64
                    " calls of trials: %.3f ms each with clv, %.3f without, %s%s",
                    saved > 0 ? "faster" : "slower", percent < 10 ? 1 : 0, percent, run,
                    gains->n_calls, (double) gains->own_ns / n, (double) gains->previous_ns / n,
                    units[facts->config->objective], unknown);
}

void clv_choose_print_verdict(char *text, size_t size, const clv_verdict_facts_t *facts)
{
    switch (clv_choose_verdict(facts)) {
    case CLV_VERDICT_SAME:
        print_same(text, size, facts);
        break;
    case CLV_VERDICT_UNKNOWN:
        print_unknown(text, size, facts);
        break;
    default:
        print_known(text, size, facts);
    }
}
