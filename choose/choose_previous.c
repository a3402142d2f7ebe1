/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The previous function as a plan (see choose_previous.h).
 *
 * Open MPI's reduce of medium and long vectors is an unsegmented binomial tree. With a link for
 * each rank that ends after the depth of the tree in vectors: each rank takes its children in one
 * order, so one that is late holds up the others, whenever they came. Who comes early waits as in
 * the replay. Where ranks share links the replay says both, since it depends on who is where how
 * often a link is crossed.
 *
 * Its allreduce is Rabenseifner's: halves, quarters, ... of the vector, each way at once, to a sum
 * of parts and back. Large messages wait for their receiver, and the two ways follow each other in
 * part (docs/decisions/0033). Nobody ends before all have come.
 */
#include "choose/choose_previous.h"

#include "choose/choose_score.h"
#include "util/util_alloc.h"

/* Messages of up to so many bytes travel both ways at once; for each time as many again, up to
 * the most that counts, they take so much longer. */
#define BOTH_WAYS_BYTES  65536
#define WAITING_BYTES    131072
#define WAITING_PERMILLE 300

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

/* Without what a message alone takes: by that a ring would begin where it gains nothing, which is
 * found out later than that it gains something. */
static int64_t exchange_ns(const clv_choose_config_t *config, int64_t n_bytes)
{
    const clv_cost_t cost = {.byte_ps = config->cost.byte_ps};
    const int64_t ns =
        clv_smaller(clv_cost_round_ns(&cost, n_bytes), CLV_CHOOSE_SCORE_CEILING_NS / 1000);
    const int64_t waiting = clv_smaller(clv_larger(n_bytes - BOTH_WAYS_BYTES, 0), WAITING_BYTES);

    return ns + ns * (waiting * WAITING_PERMILLE / BOTH_WAYS_BYTES) / 1000;
}

/* With a link for each rank. Ranks beyond a power of two first give their vector to another one,
 * and get it back last. */
static int64_t rabenseifner_ns(const clv_choose_config_t *config, int64_t n_bytes)
{
    const int64_t n_ranks = config->n_ranks;
    int64_t power = 1, sum_ns = 0, part = n_bytes;

    for (; 2 * power <= n_ranks; power *= 2) {
        part = (part + 1) / 2;
        sum_ns += 2 * exchange_ns(config, part);
    }
    return power == n_ranks ? sum_ns : sum_ns + 2 * exchange_ns(config, n_bytes);
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

static void refine_allreduce(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                             const int64_t *arrival_ns, clv_choose_decision_t *decision)
{
    const int64_t wait_ns = arrival_ns == NULL ? 0 : mean_wait_ns(config, arrival_ns);

    if (config->place == NULL) {
        decision->predicted_after_ns =
            clv_smaller(rabenseifner_ns(config, key->total_bytes), CLV_CHOOSE_SCORE_CEILING_NS);
    }
    decision->predicted_in_mpi_ns =
        clv_smaller(decision->predicted_after_ns + wait_ns, CLV_CHOOSE_SCORE_CEILING_NS);
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
        refine_allreduce(config, key, arrival_ns, decision);
        return CLV_OK;
    default:
        return CLV_OK;
    }
}
