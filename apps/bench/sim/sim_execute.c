/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The executor's function table over public MPI.
 *
 * On a real connection, the messages of a pair follow each other; in SimGrid, all posted ones share
 * the link. So at most two receives per peer are posted, the second for the message after the
 * current one; further receives of the executor are held back.
 */
#include "apps/bench/sim/sim.h"

#include <mpi.h>
#include <string.h>

#include "util/util_alloc.h"

#define TAG             17
#define POSTED_PER_PEER 2

/* A receive of the executor, by slot. */
typedef struct receive {
    int32_t peer, segment;
    bool is_posted; /* and not complete */
} receive_t;

typedef struct world {
    double combine_ps;
    float *vector;
    float *slots; /* one segment per receive */
    int32_t n_floats;
    int32_t n_segments;
    int32_t slot_floats;
    int32_t recv_window;
    int32_t send_window;
    int32_t n_requests;                            /* of both windows */
    MPI_Request requests[2 * CLV_EXEC_MAX_WINDOW]; /* sends first */
    int done[2 * CLV_EXEC_MAX_WINDOW];
    receive_t receives[CLV_EXEC_MAX_WINDOW];
    int32_t n_held;
    int32_t held[CLV_EXEC_MAX_WINDOW]; /* slots of receives held back, oldest first */
} world_t;

static int32_t segment_first(const world_t *world, int32_t segment)
{
    return (int32_t) ((int64_t) segment * world->n_floats / world->n_segments);
}

static int32_t segment_floats(const world_t *world, int32_t segment)
{
    return segment_first(world, segment + 1) - segment_first(world, segment);
}

static float *slot_floats(const world_t *world, int32_t slot)
{
    return world->slots + (size_t) slot * (size_t) world->slot_floats;
}

static bool has_room(const world_t *world, int32_t peer)
{
    int n_posted = 0;

    for (int32_t slot = 0; slot < world->recv_window; slot++) {
        n_posted += world->receives[slot].is_posted && world->receives[slot].peer == peer;
    }
    return n_posted < POSTED_PER_PEER;
}

/* In the executor's order: a receive held back also holds back later ones of its peer. */
static void post_held(world_t *world)
{
    int32_t n_kept = 0;

    for (int32_t i = 0; i < world->n_held; i++) {
        const int32_t slot = world->held[i];
        receive_t *receive = &world->receives[slot];
        if (!has_room(world, receive->peer)) {
            world->held[n_kept++] = slot;
            continue;
        }
        receive->is_posted = true;
        MPI_Irecv(slot_floats(world, slot), segment_floats(world, receive->segment), MPI_FLOAT,
                  receive->peer, TAG, MPI_COMM_WORLD, &world->requests[world->send_window + slot]);
    }
    world->n_held = n_kept;
}

static clv_status_t post_recv(void *context, int32_t slot, int32_t peer, int32_t segment)
{
    world_t *world = context;

    world->done[world->send_window + slot] = 0;
    world->receives[slot] = (receive_t){.peer = peer, .segment = segment};
    world->held[world->n_held++] = slot;
    post_held(world);
    return CLV_OK;
}

static clv_status_t post_send(void *context, int32_t slot, int32_t peer, int32_t segment,
                              bool synchronous)
{
    world_t *world = context;

    world->done[slot] = 0;
    (synchronous ? MPI_Issend : MPI_Isend)(world->vector + segment_first(world, segment),
                                           segment_floats(world, segment), MPI_FLOAT, peer, TAG,
                                           MPI_COMM_WORLD, &world->requests[slot]);
    return CLV_OK;
}

static clv_status_t test_recv(void *context, int32_t slot)
{
    const world_t *world = context;
    return world->done[world->send_window + slot] ? CLV_OK : CLV_AGAIN;
}

static clv_status_t test_send(void *context, int32_t slot)
{
    return ((world_t *) context)->done[slot] ? CLV_OK : CLV_AGAIN;
}

static clv_status_t combine(void *context, int32_t slot, int32_t segment, bool holds)
{
    const world_t *world = context;
    int32_t n_floats = segment_floats(world, segment);
    const float *restrict in = slot_floats(world, slot);
    float *restrict copy = world->vector + segment_first(world, segment);

    clv_sim_combining(world->combine_ps, n_floats);
    if (!holds) {
        memcpy(copy, in, (size_t) n_floats * sizeof *copy);
        return CLV_OK;
    }
    for (int32_t i = 0; i < n_floats; i++) {
        copy[i] += in[i];
    }
    return CLV_OK;
}

/* MPI_Waitany returns the first complete request. Sends come first: otherwise, a steady flow of
 * receives would keep completed sends in their window. */
static clv_status_t progress(void *context)
{
    world_t *world = context;
    int index = MPI_UNDEFINED;

    MPI_Waitany(world->n_requests, world->requests, &index, MPI_STATUS_IGNORE);
    if (index == MPI_UNDEFINED) {
        return CLV_LOST; /* nothing outstanding and no step left to run: the plan is broken */
    }
    world->done[index] = 1;
    if (index >= world->send_window) {
        world->receives[index - world->send_window].is_posted = false;
        post_held(world);
    }
    return CLV_OK;
}

static const clv_exec_ops_t mpi_ops = {post_recv, post_send, test_recv,
                                       test_send, combine,   progress};

static void world_init(world_t *world, const clv_sim_steps_t *steps,
                       const clv_sim_options_t *options, float *vector)
{
    const clv_exec_limits_t *limits = &options->limits;

    *world = (world_t){.combine_ps = options->combine_ps,
                       .vector = vector,
                       .n_floats = options->n_floats,
                       .n_segments = steps->n_segments,
                       .slot_floats = options->n_floats / steps->n_segments + 1,
                       .recv_window = limits->recv_window,
                       .send_window = limits->send_window,
                       .n_requests = limits->recv_window + limits->send_window};
    for (int32_t i = 0; i < world->n_requests; i++) {
        world->requests[i] = MPI_REQUEST_NULL;
    }
}

clv_status_t clv_sim_execute(const clv_sim_steps_t *steps, const clv_sim_options_t *options,
                             float *vector)
{
    clv_exec_segment_t *segments = clv_alloc((size_t) steps->n_segments, sizeof *segments);
    clv_status_t status = CLV_NO_MEMORY;
    clv_exec_peer_t *peers = NULL;
    clv_exec_t exec;
    world_t world;
    int n_ranks;

    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    world_init(&world, steps, options, vector);
    peers = clv_alloc((size_t) n_ranks, sizeof *peers);
    world.slots = clv_alloc((size_t) world.recv_window * (size_t) world.slot_floats, sizeof(float));
    if (segments != NULL && peers != NULL && world.slots != NULL) {
        status = clv_exec_begin(&exec, steps->steps, steps->n_steps, &options->limits, &mpi_ops,
                                &world, segments, steps->n_segments, peers, n_ranks, true);
    }
    if (status == CLV_OK) {
        status = clv_exec_run(&exec);
    }
    clv_free(world.slots);
    clv_free(peers);
    clv_free(segments);
    return status;
}
