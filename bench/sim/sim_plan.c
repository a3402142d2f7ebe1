/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A plan is made on rank 0, its number of segments by estimate if none is asked for, and dealt out.
 */
#include "bench/sim/sim_plan.h"

#include <mpi.h>

#include "bench/sim/sim_round.h"
#include "util/util_alloc.h"

#define TAG 18

clv_status_t clv_sim_measure_cuts(const clv_sim_options_t *options, clv_sim_cuts_t *cuts_p)
{
    static const int32_t choices[CLV_SIM_MAX_CUTS] = {8, 12, 16, 24, 32, 48, 64};
    int32_t asked = options->n_segments;
    clv_status_t status = CLV_OK;

    cuts_p->n_cuts = 0;
    for (int i = 0; i < CLV_SIM_MAX_CUTS && CLV_OK == status; i++) {
        int32_t n_segments = asked > 0 ? asked : choices[i];
        if (n_segments <= options->n_floats && (0 == asked || 0 == i)) {
            cuts_p->n_segments[cuts_p->n_cuts] = n_segments;
            status = clv_sim_measure_round((options->n_floats + n_segments - 1) / n_segments,
                                           &cuts_p->cost[cuts_p->n_cuts++]);
        }
    }
    return status;
}

/* What a plan is made for: the caller's arrivals, one row of the cuts. */
typedef struct order {
    const clv_sim_options_t *options;
    const clv_sim_cuts_t *cuts;
    const int64_t *arrival_ns;
    const int64_t *order_ns;
    int n_ranks;
} order_t;

static clv_status_t make(const order_t *order, int32_t cut, clv_plan_t **plan_p,
                         clv_estimate_t *estimate_p)
{
    const clv_cost_t *cost = &order->cuts->cost[cut];
    int32_t n_segments = order->cuts->n_segments[cut];
    int64_t vector_bytes = (int64_t) order->options->n_floats * 4;
    double round_ns = (double) clv_cost_round_ns(cost, clv_segment_bytes(vector_bytes, n_segments));
    clv_instance_t instance = {.n_ranks = order->n_ranks,
                               .n_segments = n_segments,
                               .round_ns = 1 + (int64_t) (round_ns * order->options->round_factor),
                               .arrival_ns = order->arrival_ns,
                               .order_ns = order->order_ns};
    clv_status_t status =
        clv_plan_make(clv_generator_find(order->options->algorithm), &instance, plan_p);

    return CLV_OK != status ? status
                            : clv_plan_estimate(*plan_p, order->arrival_ns, NULL, vector_bytes,
                                                cost, estimate_p);
}

static clv_status_t make_best(const order_t *order, clv_plan_t **best_p)
{
    clv_estimate_t best = {0};         /* of *best_p, once there is one */
    clv_status_t status = CLV_INVALID; /* of no cut at all */

    for (int32_t cut = 0; cut < order->cuts->n_cuts; cut++) {
        clv_plan_t *plan = NULL;
        clv_estimate_t estimate;
        status = make(order, cut, &plan, &estimate);
        if (CLV_OK == status && (NULL == *best_p || estimate.end_ns < best.end_ns)) {
            clv_plan_t *worse = *best_p;
            best = estimate;
            *best_p = plan;
            plan = worse;
        }
        clv_plan_free(plan);
        if (CLV_OK != status) {
            break;
        }
    }
    return status;
}

static clv_status_t copy_part(const clv_plan_t *plan, int32_t rank, clv_sim_steps_t *part)
{
    part->n_segments = plan->n_segments;
    part->n_steps = clv_plan_count_steps(plan, rank);
    part->steps = clv_alloc((size_t) part->n_steps + 1, sizeof *part->steps);
    if (NULL == part->steps) {
        return CLV_NO_MEMORY;
    }
    clv_plan_copy_steps(plan, rank, part->steps);
    return CLV_OK;
}

/* One message a rank: the steps, and behind them one whose segment is the number of segments. */
static clv_status_t send_part(const clv_plan_t *plan, int32_t rank)
{
    clv_sim_steps_t part = {0};
    clv_status_t status = copy_part(plan, rank, &part);

    if (CLV_OK == status) {
        part.steps[part.n_steps].segment = part.n_segments;
        MPI_Send(part.steps, (int) ((size_t) (part.n_steps + 1) * sizeof *part.steps), MPI_BYTE,
                 rank, TAG, MPI_COMM_WORLD);
    }
    clv_free(part.steps);
    return status;
}

static clv_status_t receive_part(clv_sim_steps_t *part)
{
    MPI_Status status;
    int n_bytes;

    MPI_Probe(0, TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &n_bytes);
    part->steps = clv_alloc((size_t) n_bytes, 1);
    if (NULL == part->steps) {
        return CLV_NO_MEMORY;
    }
    MPI_Recv(part->steps, n_bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    part->n_steps = n_bytes / (int) sizeof *part->steps - 1;
    part->n_segments = part->steps[part->n_steps].segment;
    return CLV_OK;
}

clv_status_t clv_sim_deal_plan(const clv_sim_options_t *options, const clv_sim_cuts_t *cuts,
                               const int64_t *arrival_ns, const int64_t *order_ns,
                               clv_sim_steps_t *steps_p)
{
    order_t order = {options, cuts, arrival_ns, order_ns, 0};
    clv_plan_t *plan = NULL;
    clv_status_t status;
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &order.n_ranks);
    if (0 != rank) {
        return receive_part(steps_p);
    }
    status = make_best(&order, &plan);
    for (int p = 1; p < order.n_ranks && CLV_OK == status; p++) {
        status = send_part(plan, p);
    }
    if (CLV_OK == status) {
        status = copy_part(plan, 0, steps_p);
    }
    clv_plan_free(plan);
    return status;
}
