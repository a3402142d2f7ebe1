/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Chooses and makes a plan on rank 0, and sends each rank its steps.
 */
#include "apps/bench/sim/sim.h"

#include <mpi.h>
#include <string.h>

#include "util/util_alloc.h"

#define TAG           18
#define NAME_BYTES    32 /* of a host name */
#define N_RECORD_SETS 8  /* on which a forecast is said to rest */
#define RING_TAG      20
#define N_ROUNDS      3
#define SEGMENT_BYTES 32768
#define LEAST_BYTES   4096 /* of a message that may leave early */
#define N_SIZES       4    /* from LEAST_BYTES to SEGMENT_BYTES */

/* ---- the cost of messages on this machine: the chooser's cost model ----------------------------
 *
 * Every rank sends one segment to its right and receives one from its left. The slowest rank's time
 * counts, over a few rounds after an uncounted one. As in the component, small messages give the
 * latency, SEGMENT_BYTES the rate; if a message's time is not linear in its bytes, the model is
 * exact for these two only. If ranks share hosts, one rank per host forms a ring of the hosts, then
 * all ranks form rings inside their hosts. Which messages leave without their receiver is measured
 * as the component does (coll_clv_early.h): smpi/send-is-detached-thresh decides it.
 * --------------------------------------------------------------------------------------------- */

static void one_round(MPI_Comm comm, int32_t n_floats, const float *out, float *in)
{
    int rank, n_ranks;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    MPI_Sendrecv(out, n_floats, MPI_FLOAT, (rank + 1) % n_ranks, RING_TAG, in, n_floats, MPI_FLOAT,
                 (rank + n_ranks - 1) % n_ranks, RING_TAG, comm, MPI_STATUS_IGNORE);
}

/* Returns ns. */
static double measure_round(MPI_Comm comm, int32_t n_floats, float *buffer)
{
    double start, spent, longest;

    one_round(comm, n_floats, buffer, buffer + n_floats);
    MPI_Barrier(comm);
    start = MPI_Wtime();
    for (int i = 0; i < N_ROUNDS; i++) {
        one_round(comm, n_floats, buffer, buffer + n_floats);
    }
    spent = (MPI_Wtime() - start) / N_ROUNDS;
    MPI_Allreduce(&spent, &longest, 1, MPI_DOUBLE, MPI_MAX, comm);
    return longest * 1e9;
}

static clv_status_t measure_ring(MPI_Comm comm, int64_t *latency_ns, int64_t *byte_ps)
{
    const int32_t n_floats = SEGMENT_BYTES / (int32_t) sizeof(float);
    float *buffer = clv_alloc(2 * (size_t) n_floats, sizeof *buffer);
    double small_ns, large_ns;

    if (buffer == NULL) {
        return CLV_NO_MEMORY;
    }
    small_ns = measure_round(comm, 1, buffer);
    large_ns = measure_round(comm, n_floats, buffer);
    clv_free(buffer);
    *latency_ns = 1 + (int64_t) small_ns;
    *byte_ps = 1 + (int64_t) ((large_ns - small_ns) * 1e3 / SEGMENT_BYTES);
    return CLV_OK;
}

/* A ring of the ranks of one colour; the others wait. */
static clv_status_t measure_part(int colour, bool takes_part, int64_t *latency_ns, int64_t *byte_ps)
{
    clv_status_t status = CLV_OK;
    MPI_Comm part;

    MPI_Comm_split(MPI_COMM_WORLD, takes_part ? colour : MPI_UNDEFINED, 0, &part);
    if (takes_part) {
        status = measure_ring(part, latency_ns, byte_ps);
        MPI_Comm_free(&part);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return status;
}

/* Collective; on rank 0, which sends: the largest message that is complete while the receiver has
 * posted nothing. */
static clv_status_t measure_early(int receiver, int64_t *bytes_p)
{
    MPI_Request sends[N_SIZES];
    int rank, is_complete;
    char *buffer = clv_alloc(SEGMENT_BYTES, 1);

    if (buffer == NULL) {
        return CLV_NO_MEMORY;
    }
    *bytes_p = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; rank == 0 && i < N_SIZES; i++) {
        MPI_Isend(buffer, LEAST_BYTES << i, MPI_CHAR, receiver, RING_TAG, MPI_COMM_WORLD,
                  &sends[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < N_SIZES; i++) {
        MPI_Test(&sends[i], &is_complete, MPI_STATUS_IGNORE);
        *bytes_p = is_complete ? LEAST_BYTES << i : *bytes_p;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == receiver && i < N_SIZES; i++) {
        MPI_Recv(buffer, LEAST_BYTES << i, MPI_CHAR, 0, RING_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
    if (rank == 0) {
        MPI_Waitall(N_SIZES, sends, MPI_STATUSES_IGNORE);
    }
    clv_free(buffer);
    return CLV_OK;
}

/* To the first rank of another host, and, where ranks share hosts, to one of rank 0's. */
static clv_status_t measure_both_early(const int32_t *place, clv_cost_t *cost)
{
    int n_ranks, far = 1, near = 1;
    clv_status_t status;

    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (; place != NULL && far < n_ranks && place[far] == 0; far++) {
    }
    for (; place != NULL && near < n_ranks && place[near] != 0; near++) {
    }
    status = far < n_ranks ? measure_early(far, &cost->early_bytes) : CLV_OK;
    if (status == CLV_OK && place != NULL && near < n_ranks) {
        status = measure_early(near, &cost->near_early_bytes);
    }
    return status;
}

/* Collective; valid on rank 0. place: by rank; NULL: each rank has its own host. CLV_NO_MEMORY on
 * any rank: the call was not collective, so give up. */
static clv_status_t measure_cost(const int32_t *place, clv_cost_t *cost_p)
{
    clv_status_t status;
    int rank;

    *cost_p = (clv_cost_t){0};
    if (place == NULL) {
        status = measure_ring(MPI_COMM_WORLD, &cost_p->latency_ns, &cost_p->byte_ps);
        return status == CLV_OK ? measure_both_early(place, cost_p) : status;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    status = measure_part(0, place[rank] == rank, &cost_p->latency_ns, &cost_p->byte_ps);
    if (status == CLV_OK) {
        status = measure_part(place[rank], true, &cost_p->near_latency_ns, &cost_p->near_byte_ps);
    }
    return status == CLV_OK ? measure_both_early(place, cost_p) : status;
}

/* ---- the chooser ---------------------------------------------------------------------------- */

int32_t clv_sim_chosen(const char *name)
{
    for (int32_t a = 0; a < CLV_N_ALGORITHMS; a++) {
        const clv_algorithm_row_t *row = &clv_algorithms[a];
        if (row->generator != NULL &&
            (strcmp(name, row->generator) == 0 || strcmp(name, row->word) == 0)) {
            return a;
        }
    }
    return CLV_ALGORITHM_AUTO;
}

static int64_t total_bytes(const clv_sim_options_t *options)
{
    return (int64_t) options->n_floats * (int64_t) sizeof(float);
}

/* Names each rank's host by its first rank. */
static void name_places(const char *names, int32_t n_ranks, int32_t *place)
{
    for (int32_t p = 0; p < n_ranks; p++) {
        place[p] = 0;
        while (strcmp(names + (size_t) place[p] * NAME_BYTES, names + (size_t) p * NAME_BYTES) !=
               0) {
            place[p]++;
        }
    }
}

/* NULL if no two ranks share a host, or all share one. */
static clv_status_t find_places(int32_t n_ranks, int32_t **place_p)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "", *names = clv_alloc((size_t) n_ranks, NAME_BYTES);
    int32_t *place = clv_alloc((size_t) n_ranks, sizeof *place);
    int n_bytes, n_places = 0;

    if (names == NULL || place == NULL) {
        clv_free(names);
        clv_free(place);
        return CLV_NO_MEMORY;
    }
    MPI_Get_processor_name(name, &n_bytes);
    name[NAME_BYTES - 1] = '\0';
    MPI_Allgather(name, NAME_BYTES, MPI_CHAR, names, NAME_BYTES, MPI_CHAR, MPI_COMM_WORLD);
    name_places(names, n_ranks, place);
    clv_free(names);
    for (int32_t p = 0; p < n_ranks; p++) {
        n_places += place[p] == p;
    }
    if (n_places == 1 || n_places == n_ranks) {
        clv_free(place);
        place = NULL;
    }
    *place_p = place;
    return CLV_OK;
}

void clv_sim_chooser_close(clv_sim_chooser_t *chooser)
{
    clv_free(chooser->place);
    chooser->place = NULL;
}

clv_status_t clv_sim_chooser_open(const clv_sim_options_t *options, clv_sim_chooser_t *chooser)
{
    const int32_t n_segments = options->n_segments;
    clv_status_t status;

    *chooser = (clv_sim_chooser_t){
        .config = {
            .reduce_algorithm = clv_sim_chosen(options->algorithm),
            .allreduce_algorithm = clv_sim_chosen(options->algorithm),
            .segment_bytes =
                n_segments > 0 ? (int32_t) clv_segment_bytes(total_bytes(options), n_segments) : 0,
            .max_cells = CLV_CHOOSE_MAX_CELLS}};
    MPI_Comm_size(MPI_COMM_WORLD, &chooser->config.n_ranks);
    status = find_places(chooser->config.n_ranks, &chooser->place);
    if (status == CLV_OK) {
        status = measure_cost(chooser->place, &chooser->config.cost);
    }
    chooser->config.place = chooser->place;
    chooser->config.cost.combine_ps = (int64_t) options->combine_ps;
    return status;
}

static int64_t stretched(const clv_sim_options_t *options, int64_t round_ns)
{
    return 1 + (int64_t) ((double) round_ns * options->round_factor);
}

/* As the component chooses, except for --round-factor, which the component lacks. */
static clv_status_t make_chosen(const clv_sim_options_t *options, clv_sim_chooser_t *chooser,
                                const int64_t *predicted_ns, int64_t sigma_ns, clv_plan_t **plan_p)
{
    const clv_pap_stream_key_t key = {.collective = clv_sim_is_allreduce(options)
                                                        ? CLV_COLLECTIVE_ALLREDUCE
                                                        : CLV_COLLECTIVE_REDUCE,
                                      .total_bytes = total_bytes(options)};
    const clv_pap_forecast_t forecast = {.n_ranks = chooser->config.n_ranks,
                                         .n_record_sets = N_RECORD_SETS,
                                         .version = ++chooser->version,
                                         .sigma_ns = sigma_ns,
                                         .sample_every = 1,
                                         .previous_after_ns = -1,
                                         .previous_in_mpi_ns = -1,
                                         .predicted_ns = predicted_ns};
    clv_choose_decision_t decision;
    clv_status_t status =
        clv_choose(&chooser->config, &key, &forecast, &chooser->state, NULL, &decision);

    if (status != CLV_OK) {
        return status;
    }
    if (decision.algorithm == CLV_ALGORITHM_PREVIOUS) {
        return CLV_LIMIT; /* no such plan for this many ranks */
    }
    if (options->round_factor != 1) {
        decision.round_ns = stretched(options, decision.round_ns);
    }
    return clv_choose_plan(&chooser->config, &key, &forecast, &decision, plan_p);
}

/* Makes a plan that the component does not choose. */
static clv_status_t make_asked(const clv_sim_options_t *options, const clv_sim_chooser_t *chooser,
                               const int64_t *predicted_ns, clv_plan_t **plan_p)
{
    const int64_t n_bytes = clv_segment_bytes(total_bytes(options), options->n_segments);
    const clv_instance_t instance = {
        .n_ranks = chooser->config.n_ranks,
        .n_segments = options->n_segments,
        .goal = clv_sim_is_allreduce(options) ? CLV_GOAL_ALLREDUCE : CLV_GOAL_REDUCE,
        .round_ns = stretched(options, clv_cost_round_ns(&chooser->config.cost, n_bytes)),
        .arrival_ns = predicted_ns,
        .place = chooser->place};

    return clv_plan_make(clv_generator_find(options->algorithm), &instance, plan_p);
}

static clv_status_t copy_part(const clv_plan_t *plan, int32_t rank, clv_sim_steps_t *part)
{
    part->n_segments = plan->n_segments;
    part->n_steps = clv_plan_count_steps(plan, rank);
    part->steps = clv_alloc((size_t) part->n_steps + 1, sizeof *part->steps);
    if (part->steps == NULL) {
        return CLV_NO_MEMORY;
    }
    clv_plan_copy_steps(plan, rank, part->steps);
    return CLV_OK;
}

/* One message per rank: its steps, then one whose segment is the number of segments. */
static clv_status_t send_part(const clv_plan_t *plan, int32_t rank)
{
    clv_sim_steps_t part = {0};
    clv_status_t status = copy_part(plan, rank, &part);

    if (status == CLV_OK) {
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
    if (part->steps == NULL) {
        return CLV_NO_MEMORY;
    }
    MPI_Recv(part->steps, n_bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    part->n_steps = n_bytes / (int) sizeof *part->steps - 1;
    part->n_segments = part->steps[part->n_steps].segment;
    return CLV_OK;
}

clv_status_t clv_sim_deal_plan(const clv_sim_options_t *options, clv_sim_chooser_t *chooser,
                               const int64_t *predicted_ns, int64_t sigma_ns,
                               clv_sim_steps_t *steps_p)
{
    clv_plan_t *plan = NULL;
    clv_status_t status;
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0) {
        return receive_part(steps_p);
    }
    status = clv_sim_chosen(options->algorithm) == CLV_ALGORITHM_AUTO
                 ? make_asked(options, chooser, predicted_ns, &plan)
                 : make_chosen(options, chooser, predicted_ns, sigma_ns, &plan);
    for (int p = 1; p < chooser->config.n_ranks && status == CLV_OK; p++) {
        status = send_part(plan, p);
    }
    if (status == CLV_OK) {
        status = copy_part(plan, 0, steps_p);
    }
    clv_plan_free(plan);
    return status;
}
