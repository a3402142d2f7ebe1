/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The previous function as a plan (see choose_previous.h): Open MPI's reduce of medium and long
 * vectors is an unsegmented binomial tree.
 *
 * With a link for each rank that ends after the depth of the tree in vectors: each rank takes its
 * children in one order, so one that is late holds up the others, whenever they came. Who comes
 * early waits as in the replay. Where ranks share links the replay says both, since it depends on
 * who is where how often a link is crossed.
 */
#include "choose/choose_previous.h"

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

/* The tree does not look at arrivals, so it is made for zeros. */
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

/* A limit of the replay is the same on all ranks: the decision stays as it is. */
static clv_status_t refine(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                           const int64_t *arrival_ns, clv_choose_decision_t *decision)
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
    return clv_collectives[key->collective].goal == CLV_GOAL_REDUCE
               ? refine(config, key, arrival_ns, decision)
               : CLV_OK;
}
