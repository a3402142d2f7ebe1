/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_Reduce with clv: the whole story on one screen.
 *
 *   not for us -------------------------------------> the previous reduce
 *   not all ranks have us, with the same parameters -> the previous reduce
 *   forced to an algorithm that needs no plan ------> that algorithm
 *   first eligible call: the communicator's group is set up (collective)
 *   begin: number the call, give the record, wait for the board
 *       the sheet beside the board has a plan ------> run this rank's steps
 *       it has none, or there is no board ----------> the previous reduce
 *   end: what ran, and when this rank left
 *
 * Every condition is computed from what MPI makes equal on all ranks (count, type signature,
 * operation, root), from parameters, or from the board.
 */
#include "coll_clv/coll_clv.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/op/op.h"

#include "coll_clv/coll_clv_group.h"
#include "coll_clv/coll_clv_peers.h"
#include "choose/choose_print.h"
#include "util/util_hot.h"
#include "util/util_log.h"

/* MPI_Reduce's arguments, which travel together. */
typedef struct reduce_args {
    const void *sbuf;
    void *rbuf;
    coll_clv_count_t count;
    struct ompi_datatype_t *dtype;
    struct ompi_op_t *op;
    int root;
    struct ompi_communicator_t *comm;
    coll_clv_module_t *module;
} reduce_args_t;

static int64_t total_bytes(const reduce_args_t *args)
{
    size_t element_bytes = 0;
    ompi_datatype_type_size(args->dtype, &element_bytes);
    return (int64_t) (element_bytes * (size_t) args->count);
}

/* ---- not for us ----------------------------------------------------------------------------- */

static bool is_integer(const reduce_args_t *args)
{
    return ompi_op_is_intrinsic(args->op) && ompi_datatype_is_predefined(args->dtype) &&
           OMPI_DATATYPE_FLAG_DATA_INT ==
               (args->dtype->super.flags & OMPI_DATATYPE_FLAG_DATA_TYPE);
}

/* Plans combine in an order that follows the arrivals. */
static bool must_keep_order(const reduce_args_t *args)
{
    switch (mca_coll_clv_component.params.reproducible) {
    case COLL_CLV_REPRODUCIBLE_OFF:
        return false;
    case COLL_CLV_REPRODUCIBLE_FLOAT:
        return !is_integer(args);
    default:
        return true;
    }
}

static int unfit_for_plans(const reduce_args_t *args, int algorithm)
{
    const coll_clv_params_t *params = &mca_coll_clv_component.params;
    const int reason = coll_clv_algorithms[COLL_CLV_ALGORITHM_CLAIRVOYANT].unfit(
        (size_t) args->count, args->op, ompi_comm_size(args->comm));

    if (COLL_CLV_FIT != reason) {
        return reason;
    }
    if (must_keep_order(args)) {
        return COLL_CLV_REASON_REPRODUCIBLE;
    }
    if (ompi_comm_size(args->comm) > CLV_SCHED_MAX_RANKS) {
        return COLL_CLV_REASON_MANY_RANKS;
    }
    if (COLL_CLV_ALGORITHM_AUTO != algorithm) {
        return COLL_CLV_FIT; /* forced: small ones too */
    }
    if (!params->exchange) {
        return COLL_CLV_REASON_EXCHANGE_OFF;
    }
    if (total_bytes(args) < params->min_bytes || ompi_comm_size(args->comm) < params->min_ranks) {
        return COLL_CLV_REASON_TOO_SMALL;
    }
    return COLL_CLV_FIT;
}

static bool peers_are_equal(const reduce_args_t *args)
{
    coll_clv_module_t *module = args->module;

    if (!module->has_asked) {
        module->peers_are_equal = coll_clv_peers_are_equal(args->comm);
        module->has_asked = true;
    }
    return module->peers_are_equal;
}

/* ---- running -------------------------------------------------------------------------------- */

static void count_run(int algorithm, int reason)
{
    static unsigned long long *const ran[COLL_CLV_N_ALGORITHMS] = {
        [COLL_CLV_ALGORITHM_PREVIOUS] = &mca_coll_clv_component.counters.ran_previous,
        [COLL_CLV_ALGORITHM_CLAIRVOYANT] = &mca_coll_clv_component.counters.ran_clairvoyant,
        [COLL_CLV_ALGORITHM_LATEST_FIRST] = &mca_coll_clv_component.counters.ran_latest_first,
        [COLL_CLV_ALGORITHM_CHAIN] = &mca_coll_clv_component.counters.ran_chain,
        [COLL_CLV_ALGORITHM_BINOMIAL] = &mca_coll_clv_component.counters.ran_binomial,
        [COLL_CLV_ALGORITHM_RABENSEIFNER] = &mca_coll_clv_component.counters.ran_rabenseifner,
        [COLL_CLV_ALGORITHM_RING] = &mca_coll_clv_component.counters.ran_ring,
    };
    (*ran[algorithm])++;
    if (COLL_CLV_ALGORITHM_PREVIOUS == algorithm) {
        mca_coll_clv_component.fell_back[reason]++;
    }
}

static void tell(const reduce_args_t *args, int algorithm, int reason)
{
    count_run(algorithm, reason);
    if (mca_coll_clv_component.params.verbose >= CLV_LOG_INFO) { /* also the price of a small one */
        coll_clv_tell(args->module, args->comm, (size_t) args->count, args->dtype, args->root,
                      algorithm, reason);
    }
}

static int run_without_plan(const reduce_args_t *args, int algorithm, int reason)
{
    tell(args, algorithm, reason);
    return coll_clv_algorithms[algorithm].run(args->sbuf, args->rbuf, args->count, args->dtype,
                                              args->op, args->root, args->comm,
                                              &args->module->super);
}

/* Codes of the decider and of the parameter, side by side. */
static const int algorithm_of_choice[COLL_CLV_N_CHOICES] = {
    [COLL_CLV_CHOICE_PREVIOUS] = COLL_CLV_ALGORITHM_PREVIOUS,
    [COLL_CLV_CHOICE_CHAIN] = COLL_CLV_ALGORITHM_CHAIN,
    [COLL_CLV_CHOICE_LATEST_FIRST] = COLL_CLV_ALGORITHM_LATEST_FIRST,
    [COLL_CLV_CHOICE_CLAIRVOYANT] = COLL_CLV_ALGORITHM_CLAIRVOYANT,
};

static int forced_choice(int algorithm)
{
    for (int choice = 0; choice < COLL_CLV_N_CHOICES; choice++) {
        if (algorithm_of_choice[choice] == algorithm) {
            return choice;
        }
    }
    return -1;
}

static int run_order(const reduce_args_t *args, const coll_clv_order_t *order)
{
    const int reason = order->decision.reason;

    if (NULL == order->steps) {
        return run_without_plan(args, COLL_CLV_ALGORITHM_PREVIOUS, reason);
    }
    if ((size_t) order->decision.n_segments > (size_t) args->count) {
        return run_without_plan(args, COLL_CLV_ALGORITHM_PREVIOUS, COLL_CLV_REASON_FEW_ELEMENTS);
    }
    mca_coll_clv_component.counters.plans_ahead += 0 != order->made_ahead;
    mca_coll_clv_component.counters.plans_late += 0 == order->made_ahead;
    tell(args, algorithm_of_choice[order->decision.choice], reason);
    return coll_clv_execute_steps(order->steps, order->n_steps, order->decision.n_segments,
                                  args->sbuf, args->rbuf, (size_t) args->count, args->dtype,
                                  args->op, args->root, args->comm, &args->module->scratch);
}

/* ---- showing -------------------------------------------------------------------------------- */

static void print_line(void *context, const char *line)
{
    opal_output(((coll_clv_component_t *) context)->output, "coll:clv: %s", line);
}

/* Rank 0 shows each board once, and its plan. */
static void show(const reduce_args_t *args, const clv_pap_stream_key_t *key,
                 const coll_clv_order_t *order)
{
    coll_clv_component_t *component = &mca_coll_clv_component;
    const int64_t version = NULL == order->board ? 0 : order->board->version;
    clv_plan_t *plan;

    if (COLL_CLV_PRINT_NONE == component->params.print || 0 != ompi_comm_rank(args->comm) ||
        (version == args->module->shown_version && key->root == args->module->shown_root)) {
        return;
    }
    args->module->shown_version = version;
    args->module->shown_root = key->root;
    if (0 != (component->params.print & COLL_CLV_PRINT_BOARD)) {
        coll_clv_print_board(args->comm->c_name, key, order->board, &order->decision, print_line,
                             component);
    }
    if (0 != (component->params.print & COLL_CLV_PRINT_PLAN)) {
        plan = coll_clv_group_plan(args->module->group, key, order);
        if (NULL != plan) {
            coll_clv_print_plan(plan, print_line, component);
            clv_plan_free(plan);
        }
    }
}

/* ---- the communicator's group --------------------------------------------------------------- */

static int set_up_group(const reduce_args_t *args, int algorithm)
{
    const coll_clv_params_t *params = &mca_coll_clv_component.params;
    const bool named = NULL != params->interface && '\0' != params->interface[0];
    const coll_clv_settings_t settings = {
        .pap = {.sma_window = params->sma_window,
                .predictor = params->predictor,
                .interface = named ? params->interface : NULL,
                .connect_timeout_ns = COLL_CLV_CONNECT_NS},
        .forced = forced_choice(algorithm),
        .exchange = params->exchange,
        .round_ns = params->round_time_ns,
        .segment_bytes = params->segment_bytes,
    };
    int why = COLL_CLV_FIT;
    int rc = coll_clv_group_setup(args->comm, &settings, &args->module->group, &why);

    if (OMPI_SUCCESS == rc && COLL_CLV_FIT != why && 0 == ompi_comm_rank(args->comm)) {
        clv_log(CLV_LOG_INFO, "no predictions on %s: %s", args->comm->c_name,
                coll_clv_reason_text(why));
    }
    return rc;
}

static int reduce_by_plan(const reduce_args_t *args, int algorithm)
{
    const clv_pap_stream_key_t key = {
        .root = args->root, .commutative = 1, .total_bytes = total_bytes(args)};
    coll_clv_module_t *module = args->module;
    coll_clv_order_t order;
    clv_pap_call_t call;
    int rc = NULL == module->group ? set_up_group(args, algorithm) : OMPI_SUCCESS;

    if (OMPI_SUCCESS == rc) {
        rc = coll_clv_group_begin(module->group, &key, &call, &order);
    }
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    mca_coll_clv_component.counters.lookup_ns += (unsigned long long) order.lookup_ns;
    show(args, &key, &order);
    rc = run_order(args, &order);
    coll_clv_group_end(module->group, &call, &order);
    return rc;
}

CLV_HOT int mca_coll_clv_reduce(const void *sbuf, void *rbuf, coll_clv_count_t count,
                                struct ompi_datatype_t *dtype, struct ompi_op_t *op, int root,
                                struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    const reduce_args_t args = {.sbuf = sbuf, .rbuf = rbuf, .count = count, .dtype = dtype,
                                .op = op,     .root = root, .comm = comm,
                                .module = (coll_clv_module_t *) module};
    const int algorithm = args.module->algorithm;
    const coll_clv_algorithm_row_t *row = &coll_clv_algorithms[algorithm];
    const bool planned = NULL == row->run;
    const int unfit = planned ? unfit_for_plans(&args, algorithm)
                                : row->unfit((size_t) count, op, ompi_comm_size(comm));

    mca_coll_clv_component.counters.calls++;
    if (COLL_CLV_FIT != unfit) {
        return run_without_plan(&args, COLL_CLV_ALGORITHM_PREVIOUS, unfit);
    }
    if (!peers_are_equal(&args)) {
        return run_without_plan(&args, COLL_CLV_ALGORITHM_PREVIOUS, COLL_CLV_REASON_UNEQUAL);
    }
    if (!planned) {
        return run_without_plan(&args, algorithm, COLL_CLV_REASON_FORCED);
    }
    return reduce_by_plan(&args, algorithm);
}
