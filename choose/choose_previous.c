/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The previous function as a plan (see choose_previous.h).
 *
 * Open MPI's reduce of medium and long vectors is an unsegmented binomial tree. With a link for
 * each rank it takes one vector per level: a rank receives from its children in a fixed order, so a
 * late child delays those after it. Early ranks wait as in the replay. If ranks share links, the
 * replay gives both times, because the crossings of a link depend on the ranks' hosts.
 *
 * Its allreduce is Rabenseifner's: halves, quarters, ... of the vector are exchanged, first to
 * combine the parts, then back to distribute the result; halves go between neighbours in rank.
 * Large messages wait for their receiver, and the two directions partly follow each other
 * (docs/decisions/0011). No rank ends before all have arrived. If ranks share links, a step lasts
 * as long as the busiest link needs.
 */
#include "choose/choose_previous.h"

#include <string.h>

#include "choose/choose_score.h"
#include "util/util_alloc.h"

static int64_t ceil_log2(int32_t n)
{
    int64_t log = 0;
    while (((int64_t) 1 << log) < n) {
        log++;
    }
    return log;
}

/* The tree ignores arrivals, so it is made for zeros. */
static clv_status_t replay_tree(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                                const int64_t *zeros, const int64_t *arrival_ns,
                                clv_estimate_t *estimate)
{
    const clv_instance_t instance = {.n_ranks = config->n_ranks,
                                     .n_segments = 1,
                                     .root = key->root,
                                     .round_ns = 1,
                                     .arrival_ns = zeros};
    clv_plan_t *plan = NULL;
    clv_status_t status = clv_plan_make(clv_generator_find("binomial"), &instance, &plan);

    if (status == CLV_OK) {
        status = clv_plan_estimate(plan, arrival_ns == NULL ? zeros : arrival_ns, config->place,
                                   key->total_bytes, &config->cost, estimate);
    }
    clv_plan_free(plan);
    return status;
}

/* The replay's limit is the same on all ranks; then the decision stays unchanged. */
static clv_status_t refine_reduce(const clv_choose_config_t *config,
                                  const clv_pap_stream_key_t *key, const int64_t *arrival_ns,
                                  clv_choose_decision_t *decision)
{
    int64_t *zeros = clv_alloc((size_t) config->n_ranks, sizeof *zeros);
    clv_estimate_t estimate;
    clv_status_t status =
        zeros == NULL ? CLV_NO_MEMORY : replay_tree(config, key, zeros, arrival_ns, &estimate);

    if (status == CLV_OK) {
        const int64_t in_mpi_ns = clv_smaller(estimate.in_mpi_ns, CLV_CHOOSE_SCORE_CEILING_NS);
        if (config->place == NULL) {
            decision->predicted_in_mpi_ns = clv_larger(decision->predicted_in_mpi_ns, in_mpi_ns);
        } else {
            decision->predicted_after_ns =
                clv_smaller(estimate.after_ns, CLV_CHOOSE_SCORE_CEILING_NS);
            decision->predicted_in_mpi_ns = in_mpi_ns;
        }
    }
    clv_free(zeros);
    return status == CLV_NO_MEMORY ? status : CLV_OK;
}

/* Without the time per message: with it, the ring would start at sizes where it gains nothing, and
 * such an error is found out later than the opposite one. */
static int64_t bytes_ns(int64_t byte_ps, int64_t n_bytes)
{
    const clv_cost_t cost = {.byte_ps = byte_ps};
    return clv_smaller(clv_cost_round_ns(&cost, n_bytes), CLV_CHOOSE_SCORE_CEILING_NS / 1000);
}

/* Both ways at once: each CLV_POLICY_BOTH_WAYS_BYTES beyond the first, up to two, waits for its
 * receiver and makes the message longer by CLV_POLICY_WAITING_PERMILLE. */
static int64_t exchange_ns(const clv_choose_config_t *config, int64_t n_bytes)
{
    const int64_t ns = bytes_ns(config->cost.byte_ps, n_bytes);
    const int64_t waiting = clv_smaller(clv_larger(n_bytes - CLV_POLICY_BOTH_WAYS_BYTES, 0),
                                        2 * CLV_POLICY_BOTH_WAYS_BYTES);

    return ns + ns * (waiting * CLV_POLICY_WAITING_PERMILLE / CLV_POLICY_BOTH_WAYS_BYTES) / 1000;
}

/* Of the first 2 * n_beyond ranks, one per pair takes part for both. */
static int32_t taking_part(int32_t number, int32_t n_beyond)
{
    return number < n_beyond ? 2 * number : number + n_beyond;
}

/* The number of messages that cross the busiest link of a place each way, in the step in which
 * ranks `apart` from each other exchange. loads: scratch, one per place. */
static int32_t link_load(const clv_choose_config_t *config, int32_t apart, int32_t power,
                         int32_t *loads)
{
    const int32_t n_beyond = config->n_ranks - power;
    int32_t most = 0;

    memset(loads, 0, (size_t) config->n_ranks * sizeof *loads);
    for (int32_t i = 0; i < power; i++) {
        const int32_t place = config->place[taking_part(i, n_beyond)];
        if (place != config->place[taking_part(i ^ apart, n_beyond)]) {
            most = ++loads[place] > most ? loads[place] : most;
        }
    }
    return most;
}

/* One step of the halving: ranks `apart` from each other exchange parts of the vector. */
static int64_t step_ns(const clv_choose_config_t *config, int32_t apart, int32_t power,
                       int64_t part, int32_t *loads)
{
    const int32_t n_crossing = config->place == NULL ? 1 : link_load(config, apart, power, loads);

    return n_crossing > 0 ? n_crossing * exchange_ns(config, part)
                          : bytes_ns(config->cost.near_byte_ps, part);
}

/* Ranks beyond a power of two first give their vector to another rank, and get the result last.
 * loads: n_ranks entries, where ranks share links. */
static int64_t rabenseifner_ns(const clv_choose_config_t *config, int64_t n_bytes, int32_t *loads)
{
    int64_t sum_ns = 0, part = n_bytes;
    int32_t power = 1;

    while (2 * power <= config->n_ranks) {
        power *= 2;
    }
    for (int32_t apart = 1; apart < power; apart *= 2) {
        part = (part + 1) / 2;
        sum_ns += 2 * step_ns(config, apart, power, part, loads);
    }
    return power == config->n_ranks ? sum_ns : sum_ns + 2 * exchange_ns(config, n_bytes);
}

static int64_t mean_wait_ns(const clv_choose_config_t *config, const int64_t *arrival_ns)
{
    int64_t last_ns = 0, sum_ns = 0;

    for (int32_t p = 0; p < config->n_ranks; p++) {
        last_ns = clv_larger(last_ns, arrival_ns[p]);
    }
    for (int32_t p = 0; p < config->n_ranks; p++) {
        sum_ns += (last_ns - arrival_ns[p]) / config->n_ranks;
    }
    return sum_ns;
}

static clv_status_t refine_allreduce(const clv_choose_config_t *config,
                                     const clv_pap_stream_key_t *key, const int64_t *arrival_ns,
                                     clv_choose_decision_t *decision)
{
    const int64_t wait_ns = arrival_ns == NULL ? 0 : mean_wait_ns(config, arrival_ns);
    int32_t *loads = NULL;

    if (config->place != NULL) {
        loads = clv_alloc((size_t) config->n_ranks, sizeof *loads);
        if (loads == NULL) {
            return CLV_NO_MEMORY;
        }
    }
    decision->predicted_after_ns =
        clv_smaller(rabenseifner_ns(config, key->total_bytes, loads), CLV_CHOOSE_SCORE_CEILING_NS);
    decision->predicted_in_mpi_ns =
        clv_smaller(decision->predicted_after_ns + wait_ns, CLV_CHOOSE_SCORE_CEILING_NS);
    clv_free(loads);
    return CLV_OK;
}

clv_status_t clv_choose_previous(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                                 const int64_t *arrival_ns, clv_choose_decision_t *decision)
{
    const int64_t tree_ns = clv_smaller(clv_cost_round_ns(&config->cost, key->total_bytes),
                                        CLV_CHOOSE_SCORE_CEILING_NS / 64);

    decision->algorithm = CLV_ALGORITHM_PREVIOUS;
    decision->n_segments = 1;
    decision->round_ns = tree_ns;
    decision->predicted_after_ns = tree_ns * ceil_log2(config->n_ranks);
    decision->predicted_in_mpi_ns = decision->predicted_after_ns;
    switch (clv_collectives[key->collective].goal) {
    case CLV_GOAL_REDUCE:
        return refine_reduce(config, key, arrival_ns, decision);
    case CLV_GOAL_ALLREDUCE:
        return refine_allreduce(config, key, arrival_ns, decision);
    default:
        return CLV_OK;
    }
}
