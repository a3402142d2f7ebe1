/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What execute_cases tests: the executor, called with plans of every generator for arrivals drawn
 * at random, and with segment numbers no component would choose. What is not the executor's
 * (inter-communicators, operations that do not commute, nothing to send) goes to MPI_Reduce.
 */
#include "ompi_config.h"

#include <stdio.h>

#include "ompi/communicator/communicator.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/op/op.h"

#include "coll_clv/coll_clv_execute.h"
#include "schedule/schedule.h"
#include "util/util_alloc.h"

#include "tests/mpi/reduce_check.h"

#define MAX_RANKS 256

/* One per thread, as a communicator is used by one thread at a time. */
static _Thread_local coll_clv_scratch_t scratch;
static _Thread_local uint64_t state;
static _Thread_local long n_sends;

static int below(int n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return n > 0 ? (int) ((state >> 33) % (uint64_t) n) : 0;
}

/* From what is equal on all ranks. */
static void draw_instance(clv_instance_t *instance, int64_t *arrival_ns, int size, int count,
                          int root)
{
    state = (uint64_t) count * 2654435761u + (uint64_t) root * 40503u + (uint64_t) size;
    *instance = (clv_instance_t){.n_ranks = size,
                                 .n_segments = 1 + below(count < 60 ? count : 60),
                                 .root = root,
                                 .round_ns = 10,
                                 .arrival_ns = arrival_ns};
    for (int p = 0; p < size; p++) {
        arrival_ns[p] = below(2) * below(600);
    }
}

/* One of the generators that make reduces. */
static const clv_generator_t *draw_generator(void)
{
    const clv_generator_t *drawn;
    int n_generators = 0;

    while (clv_generators[n_generators].name != NULL) {
        n_generators++;
    }
    do {
        drawn = &clv_generators[below(n_generators)];
    } while ((drawn->goals >> CLV_GOAL_REDUCE & 1) == 0);
    return drawn;
}

static clv_plan_t *draw_plan(int size, int count, int root)
{
    int64_t arrival_ns[MAX_RANKS];
    clv_instance_t instance;
    clv_plan_t *plan = NULL;

    draw_instance(&instance, arrival_ns, size, count, root);
    return clv_plan_make(draw_generator(), &instance, &plan) == CLV_OK ? plan : NULL;
}

static int run_plan(const clv_plan_t *plan, const void *sbuf, void *rbuf, int count,
                    MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    int rank = ompi_comm_rank(comm), rc;
    int64_t n_steps = clv_plan_count_steps(plan, rank);
    clv_step_t *steps = clv_alloc((size_t) n_steps + 1, sizeof *steps);

    clv_plan_copy_steps(plan, rank, steps);
    for (int64_t i = 0; i < n_steps; i++) {
        n_sends += clv_step_is_send(&steps[i]);
    }
    coll_clv_job_t job = {.steps = steps,
                          .n_steps = n_steps,
                          .n_segments = plan->n_segments,
                          .goal = plan->goal,
                          .policy = (clv_exec_policy_t) (plan->n_segments % 2),
                          .root = root,
                          .tag = MCA_COLL_BASE_TAG_REDUCE,
                          .sbuf = sbuf,
                          .rbuf = rbuf,
                          .count = (size_t) count,
                          .dtype = type,
                          .op = op,
                          .comm = comm};
    rc = coll_clv_execute_steps(&job, &scratch);
    clv_free(steps);
    return rc;
}

const int rc_bears_odd_types = 1;

int rc_reduce(const void *sbuf, void *rbuf, int count, MPI_Datatype type, MPI_Op op, int root,
              MPI_Comm comm)
{
    clv_plan_t *plan;
    int rc;

    if (OMPI_COMM_IS_INTER(comm) || !ompi_op_is_commute(op) || count < 1 ||
        ompi_comm_size(comm) > MAX_RANKS) {
        return MPI_Reduce(sbuf, rbuf, count, type, op, root, comm);
    }
    plan = draw_plan(ompi_comm_size(comm), count, root);
    if (plan == NULL) {
        return MPI_ERR_NO_MEM;
    }
    rc = run_plan(plan, sbuf, rbuf, count, type, op, root, comm);
    clv_plan_free(plan);
    return rc;
}

void rc_end_thread(void)
{
    printf("# sends: %ld\n", n_sends);
    coll_clv_scratch_free(&scratch);
}
