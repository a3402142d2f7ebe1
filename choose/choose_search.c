/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The candidates for one forecast (see choose_search.h).
 */
#include "choose/choose_search.h"

#include "choose/choose_guard.h"
#include "choose/choose_late.h"
#include "choose/choose_score.h"
#include "util/util_alloc.h"

/* Segment counts that are tried: simulation found them within 5 % of the best in all cases. The
 * leading algorithm also tries the count whose segments leave without their receiver. */
static const int32_t segment_counts[] = {1, 2, 4, 8, 12, 16, 24, 32, 48, 64};
#define N_SEGMENT_COUNTS ((int32_t) (sizeof segment_counts / sizeof segment_counts[0]))
#define MOST_COUNTS      (N_SEGMENT_COUNTS + 2)

/* The clip rule: arrivals are delayed by n_sigmas sigma, none past the last one. */
static void clip_arrivals(int64_t *clipped_ns, const int64_t *predicted_ns, int32_t n_ranks,
                          int64_t n_sigmas, int64_t sigma_ns)
{
    int64_t margin = n_sigmas * clv_smaller(sigma_ns, INT64_MAX / 16);
    int64_t last = predicted_ns[0];

    for (int32_t p = 1; p < n_ranks; p++) {
        last = clv_larger(last, predicted_ns[p]);
    }
    for (int32_t p = 0; p < n_ranks; p++) {
        clipped_ns[p] = last - predicted_ns[p] < margin ? last : predicted_ns[p] + margin;
    }
}

/* The smallest number of segments that leave without their receivers. */
static int64_t early_count(const clv_choose_config_t *config, const clv_pap_stream_key_t *key)
{
    const int64_t n_bytes = clv_cost_segment_bytes(&config->cost, config->place != NULL);

    return (key->total_bytes + n_bytes - 1) / n_bytes;
}

bool clv_choose_search_is_cheap(const clv_choose_config_t *config, const clv_pap_stream_key_t *key)
{
    const int64_t most = clv_smaller(key->total_bytes / CLV_POLICY_LEAST_SEGMENT_BYTES,
                                     segment_counts[N_SEGMENT_COUNTS - 1]);

    return config->place == NULL && most * config->n_ranks <= CLV_POLICY_FEW_CELLS;
}

/* Where a search without experience begins. Where many counts have the same estimate, as when each
 * rank arrives long after the one before, the search stays there. Larger segments would use
 * rendezvous, which the estimate ignores. */
static int32_t first_count(const clv_choose_config_t *config, const clv_pap_stream_key_t *key)
{
    return (int32_t) clv_smaller(early_count(config, key), segment_counts[N_SEGMENT_COUNTS - 1]);
}

/* The previous function has no segment count to start from; see also try_balanced. */
static int32_t start_count(const clv_choose_config_t *config, const clv_choose_state_t *state,
                           const clv_pap_forecast_t *forecast, const clv_pap_stream_key_t *key)
{
    const clv_choose_decision_t *made;

    if (state == NULL) {
        return first_count(config, key);
    }
    made = &state->made[(forecast->version + CLV_CHOOSE_RING - 1) % CLV_CHOOSE_RING];
    return made->algorithm == CLV_ALGORITHM_PREVIOUS ? first_count(config, key) : made->n_segments;
}

clv_status_t clv_choose_search_open(const clv_choose_config_t *config,
                                    const clv_pap_stream_key_t *key,
                                    const clv_pap_forecast_t *forecast, clv_choose_state_t *state,
                                    clv_plan_cache_t *plans, clv_choose_search_t *search)
{
    const size_t n_ranks = (size_t) config->n_ranks;
    const int64_t sigma_ns = forecast == NULL ? 0 : forecast->sigma_ns;
    int64_t *times = clv_alloc(3 * n_ranks, sizeof *times); /* zeros, then the clipped ones */

    if (times == NULL) {
        return CLV_NO_MEMORY;
    }
    *search = (clv_choose_search_t){.config = config,
                                    .key = key,
                                    .state = state,
                                    .forced = clv_choose_forced(config, key->collective),
                                    .plans = plans,
                                    .start = start_count(config, state, forecast, key),
                                    .times = times,
                                    .order_ns = forecast == NULL ? times : forecast->predicted_ns,
                                    .clipped_ns = times + n_ranks,
                                    .eased_ns = times + 2 * n_ranks,
                                    .late_rank = -1,
                                    .best_score = -1};
    for (int32_t i = 0; i < CLV_N_ALGORITHMS; i++) {
        search->score[i] = -1;
    }
    clip_arrivals(search->clipped_ns, search->order_ns, config->n_ranks, CLV_POLICY_CLIP_SIGMAS,
                  sigma_ns);
    clip_arrivals(search->eased_ns, search->order_ns, config->n_ranks, 1, sigma_ns);
    return CLV_OK;
}

void clv_choose_search_close(clv_choose_search_t *search)
{
    clv_host_order_free(search->host_order);
    search->host_order = NULL;
    clv_free(search->times);
    search->times = NULL;
}

/* Rounding lets similar forecasts share a plan. A quarter of a round costs at most 0.6 % of the
 * estimated time, a whole round up to 1.9 % (docs/design/schedule.md). */
static int64_t quantum_of(const clv_choose_decision_t *decision)
{
    return clv_larger(decision->round_ns / 4, 1);
}

/* What the algorithm makes its plan for. */
static const int64_t *arrivals_for(const clv_choose_search_t *search, int32_t algorithm)
{
    switch (clv_algorithms[algorithm].order) {
    case CLV_ORDER_FIXED:
        return search->times;
    case CLV_ORDER_BY_RANKING:
        return search->order_ns;
    default:
        return clv_algorithm_has(algorithm, CLV_TRAIT_BOUNDED) ? search->eased_ns
                                                               : search->clipped_ns;
    }
}

static clv_instance_t instance_of(const clv_choose_search_t *search,
                                  const clv_choose_decision_t *decision)
{
    const bool needs_times = clv_algorithm_needs_times(decision->algorithm);
    return (clv_instance_t){.n_ranks = search->config->n_ranks,
                            .n_segments = decision->n_segments,
                            .root = search->key->root,
                            .goal = clv_collectives[search->key->collective].goal,
                            .round_ns = decision->round_ns,
                            .arrival_ns = arrivals_for(search, decision->algorithm),
                            .order_ns = needs_times ? search->order_ns : NULL,
                            .place = search->config->place,
                            .host_order = search->host_order,
                            .is_far_late = decision->is_far_late};
}

/* The algorithm's generator; where ranks share links, the one that replaces it there. */
static const clv_generator_t *generator_of(const clv_choose_search_t *search, int32_t algorithm)
{
    const clv_generator_t *generator = clv_generator_find(clv_algorithms[algorithm].generator);
    return search->config->place == NULL ? generator : clv_generator_on_places(generator);
}

clv_status_t clv_choose_search_make(const clv_choose_search_t *search,
                                    const clv_choose_decision_t *decision, clv_plan_t **plan_p)
{
    const clv_instance_t instance = instance_of(search, decision);
    return clv_plan_make_rounded(generator_of(search, decision->algorithm), &instance,
                                 quantum_of(decision), plan_p);
}

clv_status_t clv_choose_search_keep(const clv_choose_search_t *search,
                                    const clv_choose_decision_t *decision,
                                    const clv_plan_t **plan_p)
{
    const clv_instance_t instance = instance_of(search, decision);
    return clv_plan_cache_get(search->plans, generator_of(search, decision->algorithm), &instance,
                              quantum_of(decision), plan_p);
}

clv_status_t clv_choose_search_estimate(const clv_choose_search_t *search,
                                        const clv_choose_subject_t *subject,
                                        const int64_t *arrival_ns, clv_estimate_t *estimate_p)
{
    const clv_choose_config_t *config = search->config;

    return subject->fast != NULL
               ? clv_fast_estimate_run(subject->fast, arrival_ns, search->key->total_bytes,
                                       &config->cost, estimate_p)
               : clv_plan_estimate(subject->plan, arrival_ns, config->place,
                                   search->key->total_bytes, &config->cost, estimate_p);
}

/* Estimates the candidate with the predicted times, neither clipped nor rounded; sets its score,
 * and whether it passes the guard. */
static clv_status_t judge(const clv_choose_search_t *search, const clv_choose_subject_t *subject,
                          clv_choose_decision_t *candidate, int64_t *score_p, bool *passes_p)
{
    clv_estimate_t estimate;
    int64_t own_ns = 0;
    clv_status_t status = clv_choose_search_estimate(search, subject, search->order_ns, &estimate);

    if (status == CLV_OK && search->late_rank >= 0) {
        status = clv_choose_late_cost(search, subject->plan, estimate.after_ns, &own_ns);
    }
    if (status != CLV_OK) {
        return status;
    }
    candidate->predicted_after_ns = clv_smaller(estimate.after_ns, CLV_CHOOSE_SCORE_CEILING_NS);
    candidate->predicted_in_mpi_ns = clv_smaller(estimate.in_mpi_ns, CLV_CHOOSE_SCORE_CEILING_NS);
    *score_p =
        search->late_rank >= 0
            ? clv_choose_score(search->config, search->state, candidate->algorithm, own_ns, 0)
            : clv_choose_score(search->config, search->state, candidate->algorithm,
                               candidate->predicted_after_ns, candidate->predicted_in_mpi_ns);
    return clv_choose_guard_check(search, candidate->algorithm, subject, passes_p);
}

static clv_status_t judge_by_fast_estimate(const clv_choose_search_t *search,
                                           clv_choose_decision_t *candidate, int64_t *score_p,
                                           bool *passes_p)
{
    const clv_instance_t instance = instance_of(search, candidate);
    clv_fast_estimate_t *fast = NULL;
    clv_status_t status = clv_fast_estimate_make_rounded(generator_of(search, candidate->algorithm),
                                                         &instance, quantum_of(candidate), &fast);

    if (status == CLV_OK) {
        const clv_choose_subject_t subject = {.fast = fast};
        status = judge(search, &subject, candidate, score_p, passes_p);
    }
    clv_fast_estimate_free(fast);
    return status;
}

static clv_status_t judge_by_plan(const clv_choose_search_t *search,
                                  clv_choose_decision_t *candidate, int64_t *score_p,
                                  bool *passes_p)
{
    clv_plan_t *made = NULL;
    clv_choose_subject_t subject = {.plan = NULL};
    clv_status_t status;

    if (search->plans == NULL) {
        status = clv_choose_search_make(search, candidate, &made);
        subject.plan = made;
    } else {
        status = clv_choose_search_keep(search, candidate, &subject.plan);
    }
    if (status == CLV_OK) {
        status = judge(search, &subject, candidate, score_p, passes_p);
    }
    clv_plan_free(made);
    return status;
}

/* The fast estimate does not give a late rank's own time, so then the plan is made. */
static clv_status_t estimate_candidate(const clv_choose_search_t *search,
                                       clv_choose_decision_t *candidate, int64_t *score_p,
                                       bool *passes_p)
{
    clv_status_t status = CLV_UNSUPPORTED;

    if (search->config->place != NULL && search->late_rank < 0) {
        status = judge_by_fast_estimate(search, candidate, score_p, passes_p);
    }
    return status == CLV_UNSUPPORTED ? judge_by_plan(search, candidate, score_p, passes_p) : status;
}

static void remember_candidate(clv_choose_search_t *search, const clv_choose_decision_t *candidate,
                               int64_t score)
{
    const int32_t algorithm = candidate->algorithm;

    if (search->best_score < 0 || score < search->best_score) {
        search->best_score = score;
        search->best = *candidate;
    }
    if (search->score[algorithm] < 0 || score < search->score[algorithm]) {
        search->score[algorithm] = score;
        search->found[algorithm] = *candidate;
    }
}

static bool is_in_use(const clv_choose_search_t *search, int32_t algorithm)
{
    const clv_choose_state_t *state = search->state;

    return state != NULL &&
           (algorithm == state->running || algorithm == state->iterations.incumbent ||
            (state->iterations.trial.is_on && algorithm == state->iterations.trial.algorithm));
}

/* Whether the algorithm's own best candidate is wanted, even if another algorithm is better: it is
 * running, or it is cheap to make and may be tried. */
static bool is_asked_for(const clv_choose_search_t *search, int32_t algorithm)
{
    return is_in_use(search, algorithm) ||
           (search->state != NULL && !clv_algorithm_needs_times(algorithm));
}

/* Whether the candidate could become the best one, or the best of a wanted algorithm, if it reached
 * the lower bound of any plan: the last rank to arrive sends or, as the root, receives every
 * segment after that, and so does every rank after its own arrival. */
static bool can_win(const clv_choose_search_t *search, const clv_choose_decision_t *candidate)
{
    const clv_cost_t *cost = &search->config->cost;
    int64_t n_bytes = clv_segment_bytes(search->key->total_bytes, candidate->n_segments);
    const int64_t byte_ps = search->config->place == NULL
                                ? cost->byte_ps
                                : clv_smaller(cost->byte_ps, cost->near_byte_ps);
    int64_t wire_ns = clv_cost_round_ns(&(clv_cost_t){.byte_ps = byte_ps}, n_bytes);
    int64_t after_ns = clv_smaller(wire_ns, CLV_CHOOSE_SCORE_CEILING_NS / CLV_SCHED_MAX_SEGMENTS) *
                       candidate->n_segments;
    int64_t floor = clv_choose_score(search->config, search->state, candidate->algorithm, after_ns,
                                     after_ns - search->config->n_ranks);
    const int64_t own = search->score[candidate->algorithm];

    return search->late_rank >= 0 || search->best_score < 0 || floor < search->best_score ||
           (is_asked_for(search, candidate->algorithm) && (own < 0 || floor < own));
}

/* The algorithm's best candidate so far is not estimated again. */
static bool is_known(const clv_choose_search_t *search, int32_t algorithm, int32_t n_segments)
{
    return search->score[algorithm] >= 0 && search->found[algorithm].n_segments == n_segments;
}

/* *score_p is INT64_MAX if there is no such candidate or it cannot win. */
static clv_status_t try_candidate(clv_choose_search_t *search, int32_t algorithm,
                                  int32_t n_segments, int64_t *score_p)
{
    const clv_choose_config_t *config = search->config;
    int64_t n_bytes = clv_segment_bytes(search->key->total_bytes, n_segments);
    clv_choose_decision_t candidate = {.algorithm = algorithm,
                                       .n_segments = n_segments,
                                       .is_far_late = clv_choose_late_is_far(search, algorithm)};
    int64_t score = INT64_MAX;
    bool passes = false;
    clv_status_t status;

    if (is_known(search, algorithm, n_segments)) {
        *score_p = search->score[algorithm];
        return CLV_OK;
    }
    *score_p = INT64_MAX;
    candidate.round_ns = config->round_time_ns > 0
                             ? config->round_time_ns
                             : clv_larger(clv_cost_round_ns(&config->cost, n_bytes), 1);
    if (!can_win(search, &candidate)) {
        return CLV_OK;
    }
    status = estimate_candidate(search, &candidate, &score, &passes);
    if (status == CLV_OK && passes) {
        remember_candidate(search, &candidate, score);
        *score_p = score;
    }
    return status == CLV_NO_MEMORY ? status : CLV_OK; /* a limit is the same on all ranks */
}

/* No segment may be empty. */
static int64_t max_segments(const clv_pap_stream_key_t *key)
{
    return key->max_segments > 0 ? key->max_segments : CLV_SCHED_MAX_SEGMENTS;
}

static bool fits(const clv_choose_search_t *search, int64_t n_segments)
{
    return n_segments >= 1 && n_segments <= max_segments(search->key) &&
           n_segments * search->config->n_ranks <= search->config->max_cells;
}

static bool is_worth_making(const clv_choose_search_t *search, int64_t n_segments)
{
    return fits(search, n_segments) && (n_segments == 1 || search->key->total_bytes / n_segments >=
                                                               CLV_POLICY_LEAST_SEGMENT_BYTES);
}

/* The i-th segment count: those of segment_counts, and beyond them multiples of n_ranks for plans
 * in which each rank owns equally many. Rising; ends with INT32_MAX. */
static int32_t count_at(const clv_choose_search_t *search, int32_t i)
{
    const int32_t n_ranks = search->config->n_ranks;
    const bool shares = clv_collectives[search->key->collective].goal == CLV_GOAL_ALLREDUCE &&
                        n_ranks > segment_counts[N_SEGMENT_COUNTS - 1];

    if (i < N_SEGMENT_COUNTS) {
        return segment_counts[i];
    }
    return shares ? (i - N_SEGMENT_COUNTS + 1) * n_ranks : INT32_MAX;
}

/* Lists the segment counts for this vector, rising. If the user sets the segment size, only the
 * nearest count. Counts with segments too large to leave without their receiver are left out if
 * there are larger counts: an early rank could not leave such segments behind, nor the last one
 * find them there. A late rank's own time already includes that. */
static int32_t list_counts(const clv_choose_search_t *search, int32_t *counts)
{
    const int64_t n_bytes = search->key->total_bytes;
    const int64_t segment_bytes = search->config->segment_bytes;
    const int64_t early = early_count(search->config, search->key);
    int32_t n_counts = 0;

    if (segment_bytes > 0) {
        int64_t forced =
            clv_smaller((n_bytes + segment_bytes - 1) / segment_bytes, max_segments(search->key));
        counts[0] = fits(search, forced) ? (int32_t) forced : 0;
        return counts[0] > 0;
    }
    if (early > segment_counts[N_SEGMENT_COUNTS - 1] && search->late_rank < 0 &&
        count_at(search, N_SEGMENT_COUNTS) == INT32_MAX && fits(search, early) &&
        early * search->config->n_ranks <= CLV_POLICY_FEW_CELLS) {
        counts[0] = (int32_t) early;
        return 1;
    }
    for (int32_t i = 0; i < MOST_COUNTS; i++) {
        const int32_t n = count_at(search, i);
        if (is_worth_making(search, n)) {
            if (n_counts > 0 && counts[0] < first_count(search->config, search->key) &&
                search->late_rank < 0) {
                n_counts = 0; /* it is too low */
            }
            counts[n_counts++] = n;
        }
    }
    return n_counts;
}

/* Moves from counts[at] in steps of +1 or -1 as long as the score improves. */
static clv_status_t climb(clv_choose_search_t *search, int32_t algorithm, const int32_t *counts,
                          int32_t n_counts, int32_t at, int32_t step, int64_t best)
{
    int64_t score = best;
    clv_status_t status = CLV_OK;

    do {
        best = score;
        at += step;
        if (at >= 0 && at < n_counts) {
            status = try_candidate(search, algorithm, counts[at], &score);
        }
    } while (status == CLV_OK && score < best);
    return status;
}

/* The index of the largest count that is at most `most`; 0 if all are larger. */
static int32_t count_before(const int32_t *counts, int32_t n_counts, int32_t most)
{
    int32_t at = 0;

    while (at + 1 < n_counts && counts[at + 1] <= most) {
        at++;
    }
    return at;
}

/* A segment count with which at least one plan passes the guard; 0: unknown. */
static int32_t guarded_count(const clv_choose_search_t *search)
{
    return search->limit_ns > 0 ? search->state->balanced.n_segments : 0;
}

/* Tries all: with a late rank's own time the score may have several minima. */
static clv_status_t try_all_counts(clv_choose_search_t *search, int32_t algorithm,
                                   const int32_t *counts, int32_t n_counts)
{
    clv_status_t status = CLV_OK;
    int64_t score;

    for (int32_t i = 0; i < n_counts && status == CLV_OK; i++) {
        status = try_candidate(search, algorithm, counts[i], &score);
    }
    return status;
}

/* How many rounds a plan by rounds takes depends on how arrivals fall into them. With the best of
 * eight counts near the optimum it takes 3 to 10 % less. */
static bool has_near_counts(const clv_choose_search_t *search, int32_t algorithm)
{
    return search->forced == algorithm && search->score[algorithm] >= 0 &&
           search->config->segment_bytes == 0 &&
           clv_algorithms[algorithm].policy == CLV_EXEC_ROUNDS;
}

static clv_status_t try_near_counts(clv_choose_search_t *search, int32_t algorithm)
{
    const int32_t best = search->found[algorithm].n_segments;
    clv_status_t status = CLV_OK;
    int64_t score;

    for (int32_t n = best + 1; n <= best + CLV_POLICY_NEAR_COUNTS && status == CLV_OK; n++) {
        if ((int64_t) n * search->config->n_ranks <= CLV_POLICY_FEW_CELLS &&
            is_worth_making(search, n)) {
            status = try_candidate(search, algorithm, n, &score);
        }
    }
    return status;
}

/* Few segments fill the pipeline badly, and each segment costs latency: the score has one minimum
 * between, usually where the stream's last forecast had it. If the guard forbids that count, the
 * search starts at one that passes. */
static clv_status_t try_segment_counts(clv_choose_search_t *search, int32_t algorithm)
{
    int32_t counts[MOST_COUNTS];
    int32_t n_counts = list_counts(search, counts);
    int32_t at = count_before(counts, n_counts, search->start);
    int64_t score;
    clv_status_t status;

    if (n_counts == 0) {
        return CLV_OK;
    }
    if (search->late_rank >= 0) {
        return try_all_counts(search, algorithm, counts, n_counts);
    }
    status = try_candidate(search, algorithm, counts[at], &score);
    if (status == CLV_OK && score == INT64_MAX && guarded_count(search) > counts[at]) {
        at = count_before(counts, n_counts, guarded_count(search));
        status = try_candidate(search, algorithm, counts[at], &score);
    }
    if (status == CLV_OK) {
        status = climb(search, algorithm, counts, n_counts, at, 1, score);
    }
    if (status == CLV_OK) {
        status = climb(search, algorithm, counts, n_counts, at, -1, score);
    }
    return status == CLV_OK && has_near_counts(search, algorithm)
               ? try_near_counts(search, algorithm)
               : status;
}

/* If sending the vector takes longer than the hops of a ring, the ring is more robust. */
static bool trees_pay(const clv_choose_search_t *search)
{
    const clv_cost_t *cost = &search->config->cost;
    const int64_t n_hops = (int64_t) CLV_POLICY_TREES_HOPS * search->config->n_ranks;
    const int64_t wire_ns =
        clv_cost_round_ns(&(clv_cost_t){.byte_ps = cost->byte_ps}, search->key->total_bytes);

    return search->config->n_ranks >= CLV_POLICY_TREES_MIN_RANKS &&
           cost->latency_ns >= wire_ns / n_hops;
}

static bool is_classic_due(const clv_choose_search_t *search, const clv_pap_forecast_t *forecast,
                           int32_t algorithm)
{
    return search->config->place == NULL || forecast->version % CLV_POLICY_AGAIN_FORECASTS == 0 ||
           is_in_use(search, algorithm);
}

static bool allowed(const clv_choose_search_t *search, const clv_pap_forecast_t *forecast,
                    int32_t algorithm)
{
    if (search->forced >= 0) {
        return algorithm == search->forced;
    }
    if (clv_algorithm_has(algorithm, CLV_TRAIT_HOSTS) && search->config->place == NULL) {
        return false;
    }
    if (clv_algorithm_synchronises(algorithm)) {
        return forecast != NULL && forecast->n_record_sets >= CLV_POLICY_SURE_SETS &&
               search->state->n_bound_segments[algorithm] > 0 &&
               is_classic_due(search, forecast, algorithm);
    }
    if (forecast == NULL) {
        return !clv_algorithm_needs_times(algorithm);
    }
    if (clv_algorithm_has(algorithm, CLV_TRAIT_MANY) && !trees_pay(search)) {
        return false;
    }
    return !clv_algorithm_needs_times(algorithm) || forecast->n_record_sets >= CLV_POLICY_SURE_SETS;
}

/* A classic algorithm has the same plan for each forecast, so its count was found once. */
static bool has_one_count(const clv_choose_search_t *search, int32_t algorithm)
{
    return search->forced < 0 && clv_algorithm_synchronises(algorithm);
}

/* Plans with this many segments cost most to make. They are made only for algorithms that can be
 * chosen, except those whose count was found once. */
static clv_status_t try_early_counts(clv_choose_search_t *search)
{
    const int64_t n_segments = early_count(search->config, search->key);
    const int32_t leader = search->best_score >= 0 ? search->best.algorithm : -1;
    clv_status_t status = CLV_OK;
    int64_t score;

    if (search->config->segment_bytes > 0 || !fits(search, n_segments) ||
        n_segments <= segment_counts[N_SEGMENT_COUNTS - 1]) {
        return CLV_OK;
    }
    if (leader >= 0 && !has_one_count(search, leader)) {
        status = try_candidate(search, leader, (int32_t) n_segments, &score);
    }
    for (int32_t a = 0; a < CLV_N_ALGORITHMS && status == CLV_OK; a++) {
        if (a != leader && search->score[a] >= 0 && is_asked_for(search, a) &&
            !has_one_count(search, a)) {
            status = try_candidate(search, a, (int32_t) n_segments, &score);
        }
    }
    return status;
}

/* Tries the one plan that surely passes the guard, so that the search has it. */
static clv_status_t try_balanced(clv_choose_search_t *search)
{
    const clv_choose_decision_t *balanced = search->limit_ns > 0 ? &search->state->balanced : NULL;
    int64_t score;

    if (balanced == NULL || balanced->n_segments == 0) {
        return CLV_OK;
    }
    if (search->state->running == CLV_ALGORITHM_PREVIOUS) { /* it has no segment count */
        search->start = balanced->n_segments;
    }
    return try_candidate(search, balanced->algorithm, balanced->n_segments, &score);
}

static clv_status_t try_algorithm(clv_choose_search_t *search, int32_t algorithm)
{
    int64_t score;

    return has_one_count(search, algorithm)
               ? try_candidate(search, algorithm, search->state->n_bound_segments[algorithm],
                               &score)
               : try_segment_counts(search, algorithm);
}

/* The ranks in the order of the forecast, so that each candidate finds them nearly sorted. */
static clv_status_t make_host_order(clv_choose_search_t *search)
{
    const clv_instance_t instance = {.n_ranks = search->config->n_ranks,
                                     .n_segments = 1,
                                     .root = search->key->root,
                                     .arrival_ns = search->order_ns,
                                     .place = search->config->place};

    if (search->config->place == NULL ||
        clv_collectives[search->key->collective].goal != CLV_GOAL_REDUCE) {
        return CLV_OK;
    }
    return clv_host_order_make(&instance, &search->host_order) == CLV_NO_MEMORY ? CLV_NO_MEMORY
                                                                                : CLV_OK;
}

clv_status_t clv_choose_search_plans(clv_choose_search_t *search,
                                     const clv_pap_forecast_t *forecast)
{
    clv_status_t status = clv_choose_guard_limit(search);

    clv_choose_late_find(search, forecast);
    if (status == CLV_OK) {
        status = make_host_order(search);
    }
    if (status == CLV_OK) {
        status = try_balanced(search);
    }
    for (int32_t c = 0; c < CLV_N_ALGORITHMS && status == CLV_OK; c++) {
        if (clv_algorithm_plans(c, search->key->collective) && allowed(search, forecast, c)) {
            status = try_algorithm(search, c);
        }
    }
    return status == CLV_OK ? try_early_counts(search) : status;
}
