/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The executor over the PML with random plans of the four goals: every rank draws the same jobs,
 * does its part and checks what it got. Usage: execute_goals [JOBS [SEED [AHEAD_BYTES]]].
 * Both policies in turn. Last line as reduce_cases; the first names the seed.
 */
#include "ompi_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/mca/coll/base/coll_tags.h"

#include "coll_clv/coll_clv_ahead.h"
#include "coll_clv/coll_clv_execute.h"
#include "schedule/sched_goal.h"
#include "schedule/schedule.h"
#include "tests/support/random_instance.h"
#include "tests/support/random_plan.h"
#include "util/util_alloc.h"

enum { MAX_COUNT = 4096, MAX_PER_BLOCK = 4, UNTOUCHED = -77 };

static int rank, size;
static MPI_Comm comm;
static int64_t input[MAX_COUNT], output[MAX_COUNT], saved[MAX_COUNT];

/* What the rank contributes to an element. */
static int64_t contribution(int64_t job, int who, size_t element)
{
    return (job * 31 + who * 1009 + 7) * (int64_t) (element + 1);
}

static int64_t expected(const clv_plan_t *plan, int64_t job, size_t element)
{
    int64_t sum = 0;
    for (int p = 0; p < size; p++) {
        sum += contribution(job, p, element);
    }
    return plan->goal == CLV_GOAL_BCAST ? contribution(job, plan->root, element) : sum;
}

/* The elements of the whole vector that this rank must have in the end: [*first_p, *end_p). */
static void wanted(const clv_plan_t *plan, size_t count, size_t *first_p, size_t *end_p)
{
    const int all = plan->goal != CLV_GOAL_REDUCE || plan->root == rank;
    *first_p = 0;
    *end_p = all ? count : 0;
    if (plan->goal == CLV_GOAL_REDUCE_SCATTER) {
        *first_p = count / (size_t) size * (size_t) rank;
        *end_p = *first_p + count / (size_t) size;
    }
}

static int is_right(const clv_plan_t *plan, int64_t job, size_t count, int in_place)
{
    size_t first, end, at = 0;
    wanted(plan, count, &first, &end);
    for (size_t i = first; i < end; i++) {
        if (output[at++] != expected(plan, job, i)) {
            return 0;
        }
    }
    for (; at < count && !in_place; at++) { /* no more than the result is written */
        if (output[at] != UNTOUCHED) {
            return 0;
        }
    }
    return memcmp(input, saved, sizeof input) == 0;
}

static void fill(const clv_plan_t *plan, int64_t job, size_t count, int in_place)
{
    for (size_t i = 0; i < count; i++) {
        const int given = in_place && (plan->goal != CLV_GOAL_BCAST || plan->root == rank);
        input[i] = contribution(job, rank, i);
        output[i] = given ? contribution(job, rank, i) : UNTOUCHED;
    }
    memcpy(saved, input, sizeof input);
}

static size_t draw_count(uint64_t *state, const clv_plan_t *plan)
{
    const int64_t more =
        clv_random_between(state, 0, 3) == 0 ? 0 : clv_random_between(state, 0, 60);
    if (plan->goal != CLV_GOAL_REDUCE_SCATTER) {
        return (size_t) (plan->n_segments + more);
    }
    return (size_t) ((plan->n_segments / size + more / 4) * size);
}

/* MPI_IN_PLACE, or for a broadcast the buffer itself. */
static int draw_in_place(uint64_t *state, const clv_plan_t *plan)
{
    const int drawn = clv_random_between(state, 0, 2) == 0;
    return plan->goal == CLV_GOAL_BCAST ||
           (drawn && (plan->goal != CLV_GOAL_REDUCE || plan->root == rank));
}

/* 1 when this rank's part came out right. */
static int do_job(uint64_t *state, int64_t number, coll_clv_scratch_t *scratch)
{
    clv_plan_t *plan = clv_random_plan(state, (clv_goal_t) (number % CLV_N_GOALS), size,
                                       (int32_t) clv_random_between(state, 1, MAX_PER_BLOCK),
                                       (int32_t) clv_random_between(state, 0, 15));
    const size_t count = draw_count(state, plan);
    const int in_place = draw_in_place(state, plan);
    clv_step_t *steps = clv_alloc((size_t) clv_plan_count_steps(plan, rank) + 1, sizeof *steps);
    const coll_clv_job_t job = {.steps = steps,
                                .n_steps = clv_plan_count_steps(plan, rank),
                                .n_segments = plan->n_segments,
                                .goal = plan->goal,
                                .policy = (clv_exec_policy_t) (number / CLV_N_GOALS % 2),
                                .root = plan->root,
                                .tag = MCA_COLL_BASE_TAG_REDUCE,
                                .sbuf = in_place ? MPI_IN_PLACE : input,
                                .rbuf = output,
                                .count = count,
                                .dtype = MPI_INT64_T,
                                .op = MPI_SUM,
                                .comm = comm};

    clv_plan_copy_steps(plan, rank, steps);
    fill(plan, number, count, in_place);
    const int rc = coll_clv_execute_steps(&job, scratch);
    const int right = rc == OMPI_SUCCESS && is_right(plan, number, count, in_place);
    if (!right) {
        printf("# WRONG: rank %d, job %lld, %s, %zu elements, in place %d, rc %d\n", rank,
               (long long) number, clv_goal_name(plan->goal), count, in_place, rc);
    }
    clv_free(steps);
    clv_plan_free(plan);
    return right;
}

int main(int argc, char **argv)
{
    uint64_t state = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t) time(NULL);
    const int64_t n_jobs = argc > 1 ? atoll(argv[1]) : 1000;
    coll_clv_scratch_t scratch = {0};
    int n_wrong = 0, all_wrong = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    state += state == 0;
    coll_clv_ahead_budget(argc > 3 ? atoll(argv[3]) : 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Bcast(&state, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("# seed %llu, %lld jobs\n", (unsigned long long) state, (long long) n_jobs);
    }
    for (int64_t job = 0; job < n_jobs; job++) {
        n_wrong += !do_job(&state, job, &scratch);
    }
    MPI_Allreduce(&n_wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_free(&comm); /* waits for the last credit messages */
    coll_clv_scratch_free(&scratch);
    if (rank == 0 && all_wrong == 0) {
        printf("# reduce_cases: all right\n");
    }
    MPI_Finalize();
    return all_wrong != 0;
}
