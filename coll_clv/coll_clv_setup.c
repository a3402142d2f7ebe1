/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sets up a communicator's group: endpoint records, calibration, reports (see coll_clv_setup.h).
 */
#include "ompi_config.h"

#include "coll_clv/coll_clv_setup.h"

#include <stdbool.h>
#include <string.h>

#include "ompi/constants.h"
#include "ompi/group/group.h"

#include "coll_clv/coll_clv.h"
#include "coll_clv/coll_clv_calibrate.h"
#include "coll_clv/coll_clv_compat.h"
#include "coll_clv/coll_clv_gather.h"
#include "coll_clv/coll_clv_known.h"
#include "coll_clv/coll_clv_peers.h"
#include "coll_clv/coll_clv_processors.h"
#include "util/util_alloc.h"
#include "util/util_hash.h"
#include "util/util_log.h"

/* First message: what each rank tells the others. */
typedef struct group_endpoint {
    uint64_t config_hash;
    int32_t why;               /* CLV_FIT, or why this rank cannot exchange: a clv_reason_t */
    int32_t shares_processors; /* ranks of its host do */
    coll_clv_known_t known;
    unsigned char pap[CLV_PAP_ENDPOINT_BYTES];
} group_endpoint_t;

/* Second message: how this rank fared with the others' endpoint records. */
typedef struct group_report {
    int64_t why; /* as in the endpoint record */
    clv_cost_t cost;
} group_report_t;

/* What set-up needs on this rank; allocated before the first message. */
typedef struct setup {
    struct ompi_communicator_t *comm;
    coll_clv_group_t *group;
    const coll_clv_params_t *params;
    int64_t vector_bytes;
    group_endpoint_t mine;
    group_endpoint_t *endpoints;
    unsigned char *more; /* what does not fit into the endpoint records; NULL: nothing */
    group_report_t *reports;
    clv_cost_t *costs;
    char *calibrate_buffer;
    bool is_known; /* the cost of these links is known and not measured again */
    int why;       /* why there is no exchange: a clv_reason_t, else CLV_FIT */
} setup_t;

static uint64_t hash_config(const clv_choose_config_t *config)
{
    int32_t numbers[CLV_N_EQUAL];

    clv_choose_config_numbers(config, numbers);
    return clv_fnv1a64(CLV_FNV1A64_BASIS, numbers, sizeof numbers);
}

static uint64_t hash_processes(struct ompi_communicator_t *comm)
{
    uint64_t hash = CLV_FNV1A64_BASIS;

    for (int p = 0; p < ompi_comm_size(comm); p++) {
        const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, p);
        hash = clv_fnv1a64_u32(clv_fnv1a64_u32(hash, name.jobid), name.vpid);
    }
    return hash;
}

int coll_clv_setup_gather_more(struct ompi_communicator_t *comm, const clv_pap_group_t *pap,
                               const unsigned char *endpoints, size_t stride,
                               unsigned char **more_p, bool *has_memory_p)
{
    const size_t n_bytes = clv_pap_more_bytes(endpoints, stride, ompi_comm_size(comm));
    unsigned char *mine = clv_alloc(1, n_bytes);
    void *all = NULL;
    int rc = OMPI_SUCCESS;

    *has_memory_p = true;
    if (0 < n_bytes) {
        all = clv_alloc((size_t) ompi_comm_size(comm), n_bytes);
        *has_memory_p = coll_clv_agree(comm, NULL != mine && NULL != all);
    }
    if (0 < n_bytes && *has_memory_p) {
        clv_pap_group_more(pap, mine, n_bytes);
        rc = coll_clv_gather(comm, mine, &all, n_bytes);
    }
    *more_p = all;
    clv_free(mine);
    return rc;
}

static bool reserve(setup_t *setup)
{
    size_t n_ranks = (size_t) ompi_comm_size(setup->comm);

    setup->endpoints = clv_alloc(n_ranks, sizeof *setup->endpoints);
    setup->reports = clv_alloc(n_ranks, sizeof *setup->reports);
    setup->costs = clv_alloc(n_ranks, sizeof *setup->costs);
    setup->calibrate_buffer = clv_alloc(1, COLL_CLV_CALIBRATE_BYTES);
    return NULL != setup->endpoints && NULL != setup->reports && NULL != setup->costs &&
           NULL != setup->calibrate_buffer;
}

/* Wipes the communicator's key, which is in the endpoint records of rank 0. */
static void forget_keys(setup_t *setup)
{
    explicit_bzero(&setup->mine, sizeof setup->mine);
    if (NULL != setup->endpoints) {
        explicit_bzero(setup->endpoints, sizeof *setup->endpoints);
    }
}

static void unreserve(setup_t *setup)
{
    forget_keys(setup);
    clv_free(setup->calibrate_buffer);
    clv_free(setup->costs);
    clv_free(setup->reports);
    clv_free(setup->more);
    clv_free(setup->endpoints);
}

clv_status_t coll_clv_setup_channel(const clv_choose_config_t *config,
                                    const struct coll_clv_params *params, bool records,
                                    clv_pap_t **pap_p)
{
    const bool named = NULL != params->interface && '\0' != params->interface[0];
    const clv_pap_options_t options = {.sma_window = config->sma_window,
                                       .predictor = config->predictor,
                                       .interface = named ? params->interface : NULL,
                                       .port_min = params->port_min,
                                       .port_range = params->port_range,
                                       .connect_timeout_ns = coll_clv_relay_lost_ns(),
                                       .patience_ns = COLL_CLV_PATIENCE_NS,
                                       .has_relay = true,
                                       .records = records};

    return coll_clv_process_open(&options, pap_p);
}

/* The reason that a step's status gives for not exchanging; otherwise: the reason where the status
 * has none of its own. */
static int reason_of(clv_status_t status, int otherwise)
{
    if (CLV_OK == status) {
        return CLV_FIT;
    }
    return CLV_NO_MEMORY == status ? CLV_REASON_NO_MEMORY : otherwise;
}

static int reason_of_attach(clv_status_t status)
{
    return CLV_UNSUPPORTED == status ? CLV_REASON_NO_ADDRESS
                                     : reason_of(status, CLV_REASON_NO_TABLE);
}

/* This rank's endpoint record; it also says if there is no channel. */
static void fill_endpoint(setup_t *setup)
{
    coll_clv_group_t *group = setup->group;
    const clv_choose_config_t *config = &group->chooser.config;
    const clv_pap_hooks_t hooks = {.make = clv_choose_node_plan,
                                   .context = &group->chooser,
                                   .memory_bytes = sizeof(clv_choose_memory_t),
                                   .node_plans_bytes = clv_node_plans_capacity(config->n_ranks),
                                   .key_table_bytes = sizeof(clv_choose_keys_t)};
    clv_pap_t *pap = NULL;
    clv_status_t status = CLV_NONE;

    setup->mine.config_hash = hash_config(config);
    setup->mine.shares_processors = coll_clv_processors_are_shared(config->shared_processors);
    setup->mine.known = coll_clv_known_find(hash_processes(setup->comm));
    if (config->exchange) {
        status = coll_clv_setup_channel(config, setup->params, false, &pap);
    }
    if (CLV_OK == status) {
        status = clv_pap_group_create(pap, config->n_ranks, group->rank, &hooks, setup->mine.pap,
                                      &group->clock.pap);
    }
    setup->mine.why = reason_of(status, CLV_REASON_NO_CHANNEL);
}

/* All ranks read the same endpoint records, so they get the same answer. */
static int read_endpoints(const setup_t *setup)
{
    for (int32_t p = 0; p < setup->group->chooser.config.n_ranks; p++) {
        if (setup->endpoints[p].config_hash != setup->endpoints[0].config_hash) {
            return CLV_REASON_UNEQUAL;
        }
        if (CLV_FIT != setup->endpoints[p].why) {
            return setup->endpoints[p].why;
        }
    }
    return CLV_FIT;
}

/* If processors are shared on any host, all ranks plan for it: ranks that wait for one there wait
 * as long. */
static void agree_processors(setup_t *setup)
{
    clv_choose_config_t *config = &setup->group->chooser.config;

    for (int32_t p = 0; p < config->n_ranks; p++) {
        config->is_shared |= setup->endpoints[p].shares_processors;
    }
}

/* Whether all ranks know the same cost of these links, measured with a stream at least as long as
 * this set-up would use. */
static bool all_know(const setup_t *setup)
{
    const clv_choose_config_t *config = &setup->group->chooser.config;
    const coll_clv_known_t *known = &setup->endpoints[0].known;

    for (int32_t p = 1; p < config->n_ranks; p++) {
        if (0 != memcmp(known, &setup->endpoints[p].known, sizeof *known)) {
            return false;
        }
    }
    return known->n_messages >= coll_clv_calibrate_messages(setup->vector_bytes) &&
           (NULL != config->place) == (0 != known->has_places);
}

static void find_host(coll_clv_group_t *group)
{
    group->chooser.host_ranks =
        clv_pap_group_host_ranks(group->clock.pap, &group->chooser.n_host_ranks);
    for (int32_t i = 0; i < group->chooser.n_host_ranks; i++) {
        if (group->chooser.host_ranks[i] == group->rank) {
            group->host_index = i;
        }
    }
}

static int calibrate(setup_t *setup, clv_cost_t *mine_p)
{
    setup->is_known = all_know(setup);
    if (setup->is_known) {
        return OMPI_SUCCESS;
    }
    coll_clv_count(&mca_coll_clv_component.counters.calibrations, 1);
    return coll_clv_calibrate(setup->comm, setup->group->chooser.config.place, setup->vector_bytes,
                              &setup->calibrate_buffer, mine_p);
}

/* Takes the measured cost, except for the early bytes that the user sets. */
static void take_cost(clv_choose_config_t *config, const clv_cost_t *cost)
{
    config->cost = *cost;
    if (0 < config->early_bytes) {
        config->cost.early_bytes = config->early_bytes;
        config->cost.near_early_bytes = config->early_bytes;
    }
}

static void agree_cost(setup_t *setup)
{
    clv_choose_config_t *config = &setup->group->chooser.config;
    const int32_t n_ranks = config->n_ranks;
    coll_clv_known_t known = setup->mine.known;

    if (!setup->is_known) {
        for (int32_t p = 0; p < n_ranks; p++) {
            setup->costs[p] = setup->reports[p].cost;
        }
        known.n_messages = coll_clv_calibrate_messages(setup->vector_bytes);
        known.has_places = NULL != config->place;
        known.cost = clv_cost_agree(setup->costs, n_ranks);
        coll_clv_known_put(&known);
    }
    take_cost(config, &known.cost);
}

static int read_reports(const setup_t *setup)
{
    for (int32_t p = 0; p < setup->group->chooser.config.n_ranks; p++) {
        if (CLV_FIT != setup->reports[p].why) {
            return (int) setup->reports[p].why;
        }
    }
    return CLV_FIT;
}

/* The second half: attach, calibrate, report, activate. */
static int join(setup_t *setup)
{
    coll_clv_group_t *group = setup->group;
    group_report_t mine = {.why = CLV_REASON_NO_TABLE};
    void *all = setup->reports;
    int rc;

    if (CLV_FIT == setup->why) {
        mine.why = reason_of_attach(clv_pap_group_attach(group->clock.pap, setup->endpoints->pap,
                                                         sizeof *setup->endpoints, setup->more));
    }
    rc = calibrate(setup, &mine.cost);
    if (OMPI_SUCCESS == rc) {
        rc = coll_clv_gather(setup->comm, &mine, &all, sizeof mine);
        setup->reports = all;
    }
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    agree_cost(setup);
    if (CLV_FIT == setup->why) {
        setup->why = read_reports(setup);
    }
    if (CLV_FIT == setup->why) {
        find_host(group);
        if (CLV_OK != clv_pap_group_activate(group->clock.pap)) {
            clv_log(CLV_LOG_ERROR, "the background thread did not take the communicator");
        }
    }
    return OMPI_SUCCESS;
}

static int gather_more(setup_t *setup)
{
    bool has_memory;
    const int rc =
        coll_clv_setup_gather_more(setup->comm, setup->group->clock.pap, setup->endpoints->pap,
                                   sizeof *setup->endpoints, &setup->more, &has_memory);

    if (!has_memory) {
        setup->why = CLV_REASON_NO_MEMORY;
    }
    return rc;
}

/* Exchanges endpoint records and what does not fit into them, then joins: the same steps on all
 * ranks, whatever fails on one. */
static int exchange_endpoints(setup_t *setup)
{
    void *all = setup->endpoints;
    int rc;

    fill_endpoint(setup);
    rc = coll_clv_gather(setup->comm, &setup->mine, &all, sizeof setup->mine);
    setup->endpoints = all;
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    agree_processors(setup);
    setup->why =
        setup->group->chooser.config.exchange ? read_endpoints(setup) : CLV_REASON_EXCHANGE_OFF;
    if (CLV_FIT == setup->why) {
        rc = gather_more(setup);
    }
    return OMPI_SUCCESS == rc ? join(setup) : rc;
}

/* The cost assumed until links are measured: a gigabit network with expensive messages, so that
 * only vectors are planned that gain from segments on any network. Inside a host only the memory is
 * faster. Segments of the early size leave without their receiver on all transports that were
 * measured (docs/results/transports.md). */
static const clv_cost_t built_in_cost = {.latency_ns = 100000,
                                         .byte_ps = 8000,
                                         .near_latency_ns = 100000,
                                         .near_byte_ps = 1000,
                                         .gap_ns = 50000,
                                         .early_bytes = 8192,
                                         .near_early_bytes = 8192};

/* Finds which ranks share a link. If all ranks have one place, or each has its own, a link belongs
 * to one rank, as if places were unknown. */
static clv_status_t find_places(coll_clv_group_t *group)
{
    clv_choose_config_t *config = &group->chooser.config;
    int32_t n_places = 0;
    clv_status_t status = CLV_NO_MEMORY;

    group->place = clv_alloc((size_t) config->n_ranks, sizeof *group->place);
    if (NULL != group->place) {
        status = coll_clv_peers_places(group->comm, group->place, &n_places);
    }
    config->place = 1 < n_places && n_places < config->n_ranks ? group->place : NULL;
    return status;
}

coll_clv_group_t *coll_clv_group_local(struct ompi_communicator_t *comm,
                                       const clv_choose_config_t *config)
{
    coll_clv_group_t *group = clv_alloc_line(sizeof *group);

    if (NULL == group) {
        return NULL;
    }
    group->comm = comm;
    group->rank = ompi_comm_rank(comm);
    group->why = CLV_REASON_NOT_YET;
    group->chooser.config = *config;
    take_cost(&group->chooser.config, &built_in_cost);
    if (CLV_OK != find_places(group)) {
        coll_clv_group_free(group);
        return NULL;
    }
    return group;
}

bool coll_clv_group_is_local(const coll_clv_group_t *group)
{
    return NULL == group || CLV_REASON_NOT_YET == group->why;
}

/* A group before anything is exchanged with other ranks. NULL: no memory. */
static coll_clv_group_t *new_group(struct ompi_communicator_t *comm,
                                   const clv_choose_config_t *config)
{
    coll_clv_group_t *group = coll_clv_group_local(comm, config);

    if (NULL == group) {
        return NULL;
    }
    if (config->exchange &&
        CLV_OK != clv_plan_cache_create(CLV_CHOOSE_CACHE_PLANS, CLV_CHOOSE_CACHE_BYTES,
                                        &group->chooser.plans)) {
        group->chooser.plans = NULL;
    }
    if (0 != (mca_coll_clv_component.params.print & CLV_PRINT_SUMMARY)) { /* NULL: not counted */
        group->chooser.n_last = clv_alloc((size_t) config->n_ranks, sizeof *group->chooser.n_last);
    }
    return group;
}

/* All ranks exchange, or none does. */
static void settle(coll_clv_group_t *group, int why)
{
    group->why = why;
    if (CLV_FIT != why) {
        clv_pap_group_free(group->clock.pap);
        group->clock.pap = NULL;
    } else {
        group->clock.chooser = &group->chooser;
        coll_clv_process_show_clock(&group->clock);
        coll_clv_relay_begin(&group->relay, group->comm, group->clock.pap);
    }
}

int coll_clv_group_setup(struct ompi_communicator_t *comm, const clv_choose_config_t *config,
                         const struct coll_clv_params *params, int64_t vector_bytes,
                         coll_clv_group_t **group_p, int *why_p)
{
    coll_clv_group_t *group = new_group(comm, config);
    setup_t setup = {.comm = comm,
                     .group = group,
                     .params = params,
                     .vector_bytes = vector_bytes,
                     .why = CLV_FIT};
    int rc = OMPI_ERR_OUT_OF_RESOURCE;

    if (NULL != group && reserve(&setup)) {
        rc = exchange_endpoints(&setup);
    }
    unreserve(&setup);
    if (OMPI_SUCCESS == rc) {
        settle(group, setup.why);
        *group_p = group;
        *why_p = setup.why;
    } else {
        coll_clv_group_free(group);
    }
    return rc;
}
