/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two levels of communicators (see coll_clv_levels.h).
 */
#include "coll_clv/coll_clv_levels.h"

#include <string.h>

#include "ompi/group/group.h"

#include "choose/choose_levels.h"
#include "choose/choose_wait.h"
#include "coll_clv/coll_clv_account.h"
#include "coll_clv/coll_clv_buffers.h"
#include "coll_clv/coll_clv_call_group.h"
#include "coll_clv/coll_clv_failure.h"
#include "coll_clv/coll_clv_fit.h"
#include "coll_clv/coll_clv_gather.h"
#include "coll_clv/coll_clv_group.h"
#include "coll_clv/coll_clv_peers.h"
#include "util/util_alloc.h"
#include "util/util_log.h"
#include "util/util_min_max.h"
#include "util/util_time.h"

struct coll_clv_levels {
    struct ompi_communicator_t *host;    /* this host's ranks; rank 0 is the leader */
    struct ompi_communicator_t *leaders; /* one rank per host; MPI_COMM_NULL: not a leader */
    int32_t *host_of;    /* by rank: its host's rank in leaders; NULL: not a leader */
    int root, root_here; /* the newest root; its rank in host, or MPI_UNDEFINED */
    void *sum;           /* of a host, on its leader: memory kept between calls */
    size_t sum_bytes;
    int failure; /* of an earlier call: every later one fails alike */
    clv_levels_trial_t trials[CLV_N_COLLECTIVES][CLV_WAIT_SIZES];
};

/* ---- making and freeing ---------------------------------------------------------------------- */

static void free_comm(struct ompi_communicator_t **comm)
{
    if (NULL != *comm && MPI_COMM_NULL != *comm) {
        (void) ompi_comm_free(comm);
    }
    *comm = NULL;
}

void coll_clv_levels_free(coll_clv_levels_t *levels)
{
    if (NULL != levels) {
        free_comm(&levels->leaders);
        free_comm(&levels->host);
        clv_free(levels->host_of);
        clv_free(levels->sum);
        clv_free(levels);
    }
}

/* The user frees the communicator: ours can still send. */
static void release_levels(struct ompi_communicator_t *comm, void *context)
{
    coll_clv_module_t *module = context;

    (void) comm;
    coll_clv_levels_free(module->levels);
    module->levels = NULL;
}

/* The level's calls are parts of the program's and not counted beside them; none is left alone for
 * its size before it is counted. Forcing two levels forces nothing inside them. */
static void adopt(struct ompi_communicator_t *comm, bool is_silent)
{
    coll_clv_module_t *module = coll_clv_module_of(comm);

    if (NULL == module) { /* one rank */
        return;
    }
    module->is_level = true;
    module->is_silent = is_silent;
    memset(module->alone_below, 0, sizeof module->alone_below);
#define ADOPT_ROW(to, code, name, mpi, goal, root, op, counts, result, bytes, least)               \
    if (CLV_ALGORITHM_TWO_LEVELS == module->config.name##_algorithm) {                             \
        module->config.name##_algorithm = CLV_ALGORITHM_AUTO;                                      \
    }
    CLV_COLLECTIVE_MAP(ADOPT_ROW, )
#undef ADOPT_ROW
}

/* Both splits on every rank, whatever fails on this one. */
static bool split(coll_clv_levels_t *levels, struct ompi_communicator_t *comm)
{
    const int32_t *host_of = levels->host_of;
    const int rank = ompi_comm_rank(comm);
    int first = 0, rc, rc_leaders; /* the first rank of this host */

    while (host_of[first] != host_of[rank]) {
        first++;
    }
    rc = ompi_comm_split(comm, host_of[rank], rank, &levels->host, false);
    rc_leaders =
        ompi_comm_split(comm, first == rank ? 0 : MPI_UNDEFINED, rank, &levels->leaders, false);
    if (OMPI_SUCCESS != rc || OMPI_SUCCESS != rc_leaders) {
        return false;
    }
    adopt(levels->host, 0 < rank);
    adopt(levels->leaders, 0 < rank);
    if (first != rank) {
        clv_free(levels->host_of);
        levels->host_of = NULL;
    }
    return true;
}

/* Once per communicator. The same result on all ranks. Places are numbered by their first ranks, as
 * leaders are. */
static void make_levels(const coll_clv_call_t *call)
{
    coll_clv_module_t *module = call->module;
    const int32_t n_ranks = module->config.n_ranks;
    coll_clv_levels_t *levels = clv_alloc(1, sizeof *levels);
    int32_t *host_of = clv_alloc((size_t) n_ranks, sizeof *host_of);
    int32_t n_hosts = 0;
    const bool is_ready = NULL != levels && NULL != host_of &&
                          CLV_OK == coll_clv_peers_places(call->comm, host_of, &n_hosts);

    module->has_asked_levels = true;
    if (NULL == levels) {
        clv_free(host_of);
    } else {
        *levels = (coll_clv_levels_t){.host_of = host_of, .root = -1};
    }
    if (coll_clv_agree(call->comm, is_ready) && 1 < n_hosts && n_hosts < n_ranks &&
        n_hosts <= CLV_SCHED_MAX_RANKS && coll_clv_agree(call->comm, split(levels, call->comm))) {
        module->levels = levels;
        (void) coll_clv_failure_on_free(call->comm, release_levels, module);
        if (0 == ompi_comm_rank(call->comm)) {
            clv_log(CLV_LOG_INFO, "two levels on %s: %d ranks on %d hosts", call->comm->c_name,
                    (int) n_ranks, (int) n_hosts);
        }
    } else {
        coll_clv_levels_free(levels);
    }
}

/* ---- the trial ------------------------------------------------------------------------------- */

/* The slowest rank's medians. This allreduce is nested in our call, so it goes to the previous
 * function on all ranks. After an error this rank knows no verdict: the call fails. */
static int judge(const coll_clv_call_t *call, clv_levels_trial_t *trial)
{
    const mca_coll_base_comm_coll_t *coll = call->comm->c_coll;
    int64_t ns[] = {clv_levels_median(trial->iteration_ns[CLV_LEVELS_USED]),
                    clv_levels_median(trial->iteration_ns[CLV_LEVELS_UNUSED])};
    const int rc = coll->coll_allreduce(MPI_IN_PLACE, ns, CLV_LEVELS_WAYS, MPI_INT64_T, MPI_MAX,
                                        call->comm, coll->coll_allreduce_module);

    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    clv_levels_judge(trial, ns);
    if (0 == ompi_comm_rank(call->comm)) {
        clv_log(CLV_LOG_INFO,
                "%s of %lld bytes on %s: from call to call %.3f ms with two levels, %.3f without",
                clv_collective_name((int) call->collective), (long long) call->total_bytes,
                call->comm->c_name, (double) ns[CLV_LEVELS_USED] / 1e6,
                (double) ns[CLV_LEVELS_UNUSED] / 1e6);
    }
    return OMPI_SUCCESS;
}

static int32_t try_levels(const coll_clv_call_t *call, int *reason_p)
{
    const bool is_too_large = call->module->config.n_ranks > CLV_SCHED_MAX_RANKS;
    coll_clv_levels_t *levels = call->module->levels;
    clv_levels_trial_t *trial =
        &levels->trials[call->collective][clv_wait_size_class(call->total_bytes)];

    if (CLV_LEVELS_OPEN == trial->verdict && clv_levels_begin(trial, clv_local_now_ns())) {
        levels->failure = judge(call, trial);
    }
    if (OMPI_SUCCESS != levels->failure) { /* coll_clv_run_two_levels returns it */
        *reason_p = CLV_REASON_TRYING;
        return CLV_ALGORITHM_TWO_LEVELS;
    }
    switch (trial->verdict) {
    case CLV_LEVELS_WON:
        *reason_p = CLV_REASON_MANY_RANKS;
        return CLV_ALGORITHM_TWO_LEVELS;
    case CLV_LEVELS_LOST:
        *reason_p = CLV_REASON_NO_GAIN;
        return is_too_large ? CLV_ALGORITHM_PREVIOUS : CLV_ALGORITHM_AUTO;
    default:
        *reason_p = CLV_REASON_TRYING;
        return CLV_LEVELS_USED == clv_levels_way(trial->n_calls - 1) ? CLV_ALGORITHM_TWO_LEVELS
                                                                     : CLV_ALGORITHM_PREVIOUS;
    }
}

static bool are_wanted(const coll_clv_call_t *call, int32_t forced)
{
    const clv_choose_config_t *config = &call->module->config;

    if (call->module->is_level || coll_clv_failure_is_survived()) {
        return false;
    }
    return CLV_ALGORITHM_TWO_LEVELS == forced ||
           (CLV_ALGORITHM_AUTO == forced && config->exchange && !call->is_fixed &&
            0 < config->two_level_ranks && config->n_ranks > config->two_level_ranks);
}

/* As many bytes as a set-up of one level would need: on each rank the first look at what all others
 * published takes as long as all of them are many. */
static bool carries_enough(const coll_clv_call_t *call)
{
    coll_clv_module_t *module = call->module;
    const int64_t enough = coll_clv_setup_enough(&module->config);

    module->carried_bytes += clv_smaller(call->total_bytes, enough);
    return module->carried_bytes >= enough;
}

int32_t coll_clv_levels_choose(const coll_clv_call_t *call, int32_t forced, int *reason_p)
{
    coll_clv_module_t *module = call->module;

    if (!are_wanted(call, forced)) {
        return CLV_ALGORITHM_AUTO;
    }
    *reason_p = CLV_REASON_NOT_YET;
    if (!module->has_asked_levels && CLV_ALGORITHM_AUTO == forced && !carries_enough(call)) {
        return CLV_ALGORITHM_PREVIOUS;
    }
    if (!coll_clv_call_peers_are_equal(call) || 0 != (module->devices >> call->collective & 1)) {
        return CLV_ALGORITHM_AUTO;
    }
    if (!module->has_asked_levels) {
        make_levels(call);
    }
    if (NULL == module->levels) {
        return CLV_ALGORITHM_AUTO;
    }
    *reason_p = CLV_REASON_FORCED;
    return CLV_ALGORITHM_AUTO == forced ? try_levels(call, reason_p) : CLV_ALGORITHM_TWO_LEVELS;
}

/* ---- a call ---------------------------------------------------------------------------------- */

/* Calls a function of a level: not nested in our call, but a call of its own. */
#define ON(level, name, ...)                                                                       \
    (*coll_clv_inside() = false,                                                                   \
     rc = (level)->c_coll->coll_##name(__VA_ARGS__, level, (level)->c_coll->coll_##name##_module), \
     *coll_clv_inside() = true, rc)

static int reduce_on(const coll_clv_call_t *call, struct ompi_communicator_t *level,
                     const void *sbuf, void *rbuf, int root)
{
    int rc;
    return ON(level, reduce, sbuf, rbuf, call->count, call->dtype, call->op, root);
}

static int allreduce_on(const coll_clv_call_t *call, struct ompi_communicator_t *level,
                        const void *sbuf)
{
    int rc;
    return ON(level, allreduce, sbuf, call->rbuf, call->count, call->dtype, call->op);
}

static int bcast_on(const coll_clv_call_t *call, struct ompi_communicator_t *level, int root)
{
    int rc;
    return 1 == ompi_comm_size(level)
               ? OMPI_SUCCESS
               : ON(level, bcast, call->rbuf, call->count, call->dtype, root);
}

/* The root's rank in this host; MPI_UNDEFINED: it is on another one. */
static int root_here(const coll_clv_call_t *call)
{
    coll_clv_levels_t *levels = call->module->levels;

    if (levels->root != call->root) {
        (void) ompi_group_translate_ranks(call->comm->c_local_group, 1, &call->root,
                                          levels->host->c_local_group, &levels->root_here);
        levels->root = call->root;
    }
    return levels->root_here;
}

/* Where the leader combines; NULL: no memory. */
static void *sum_of(const coll_clv_call_t *call)
{
    coll_clv_levels_t *levels = call->module->levels;
    const coll_clv_buffers_t buffers =
        coll_clv_buffers_for(call->dtype, (size_t) call->count, call->op, call->sbuf);
    const size_t n_bytes = coll_clv_buffers_bytes(&buffers, 1);

    if (levels->sum_bytes < n_bytes) {
        clv_free(levels->sum);
        levels->sum = clv_alloc_unset(n_bytes, 1);
        levels->sum_bytes = NULL == levels->sum ? 0 : n_bytes;
    }
    return NULL == levels->sum ? NULL : coll_clv_buffers_first(&buffers, levels->sum);
}

static int reduce_as_leader(const coll_clv_call_t *call, int here)
{
    const coll_clv_levels_t *levels = call->module->levels;
    const int root_host = levels->host_of[call->root];
    const bool is_alone = 1 == ompi_comm_size(levels->host);
    void *sum = 0 == here || is_alone ? call->rbuf : sum_of(call);
    const void *mine = call->sbuf;
    int rc = OMPI_SUCCESS;

    if (NULL == sum && 0 != here && !is_alone) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (0 < here) { /* brings the other hosts' sum into its own host's reduce */
        rc = reduce_on(call, levels->leaders, mine, sum, root_host);
        return OMPI_SUCCESS == rc ? reduce_on(call, levels->host, sum, NULL, here) : rc;
    }
    if (!is_alone) {
        rc = reduce_on(call, levels->host, mine, sum, 0);
        mine = 0 == here ? MPI_IN_PLACE : sum;
    }
    return OMPI_SUCCESS == rc ? reduce_on(call, levels->leaders, mine, call->rbuf, root_host) : rc;
}

static int run_reduce(const coll_clv_call_t *call)
{
    const int here = root_here(call);

    if (NULL != call->module->levels->host_of) {
        return reduce_as_leader(call, here);
    }
    return reduce_on(call, call->module->levels->host, call->sbuf, call->rbuf, 0 < here ? here : 0);
}

static int run_allreduce(const coll_clv_call_t *call)
{
    const coll_clv_levels_t *levels = call->module->levels;
    const bool leads = NULL != levels->host_of;
    const void *mine = MPI_IN_PLACE == call->sbuf && !leads ? call->rbuf : call->sbuf;
    int rc = OMPI_SUCCESS;

    if (1 < ompi_comm_size(levels->host)) {
        rc = reduce_on(call, levels->host, mine, call->rbuf, 0);
        mine = MPI_IN_PLACE;
    }
    if (OMPI_SUCCESS == rc && leads) {
        rc = allreduce_on(call, levels->leaders, mine);
    }
    return OMPI_SUCCESS == rc ? bcast_on(call, levels->host, 0) : rc;
}

/* The root's own buffer is only read: its host gets the vector from the root, not from the
 * leader. */
static int run_bcast(const coll_clv_call_t *call)
{
    const coll_clv_levels_t *levels = call->module->levels;
    const int here = root_here(call);
    const bool is_first = MPI_UNDEFINED != here;
    int rc = is_first ? bcast_on(call, levels->host, here) : OMPI_SUCCESS;

    if (OMPI_SUCCESS == rc && NULL != levels->host_of) {
        rc = bcast_on(call, levels->leaders, levels->host_of[call->root]);
    }
    return OMPI_SUCCESS == rc && !is_first ? bcast_on(call, levels->host, 0) : rc;
}

static coll_clv_group_t *group_of(struct ompi_communicator_t *level)
{
    const coll_clv_module_t *module = coll_clv_module_of(level);

    return NULL == module ? NULL : module->group;
}

/* All ranks of both levels learn of it, and leaders tell their hosts. Open MPI may still use the
 * leader's memory, which is therefore never freed. */
static int fail(const coll_clv_call_t *call, int rc)
{
    coll_clv_levels_t *levels = call->module->levels;

    (void) coll_clv_group_break(group_of(levels->leaders));
    (void) coll_clv_group_break(group_of(levels->host));
    levels->sum = NULL;
    levels->sum_bytes = 0;
    levels->failure = rc;
    return coll_clv_fail(call, rc);
}

int coll_clv_run_two_levels(const coll_clv_call_t *call)
{
    static int (*const runs[CLV_N_COLLECTIVES])(const coll_clv_call_t *) = {
#define RUN_ROW(to, code, name, mpi, goal, root, op, counts, result, bytes, least) run_##name,
        CLV_COLLECTIVE_MAP(RUN_ROW, )
#undef RUN_ROW
    };
    coll_clv_levels_t *levels = call->module->levels;
    const clv_pap_call_t numbered = {.arrival_ns = clv_local_now_ns()};
    const coll_clv_node_plan_t by_levels = {.decision = {.algorithm = CLV_ALGORITHM_TWO_LEVELS}};
    int rc = levels->failure;

    if (OMPI_SUCCESS == rc && (coll_clv_group_is_broken(group_of(levels->leaders)) ||
                               coll_clv_group_is_broken(group_of(levels->host)))) {
        rc = MPI_ERR_OTHER;
    }
    if (OMPI_SUCCESS == rc) {
        rc = runs[call->collective](call);
    }
    if (OMPI_SUCCESS != rc) {
        return fail(call, rc);
    }
    if (levels->sum_bytes > COLL_CLV_SCRATCH_KEEP_BYTES) {
        clv_free(levels->sum);
        levels->sum = NULL;
        levels->sum_bytes = 0;
    }
    coll_clv_account(call, &numbered, &by_levels, clv_local_now_ns() - numbered.arrival_ns);
    return OMPI_SUCCESS;
}

struct ompi_communicator_t *coll_clv_levels_hinted(const coll_clv_levels_t *levels)
{
    return NULL != levels->host_of ? levels->leaders : levels->host;
}
