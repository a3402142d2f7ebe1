/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Converts the records to a run that apps/what_if/ can replay, with a cost (see view.h).
 *
 * Calls of several communicators are ordered so that each follows the previous calls of its ranks.
 * Nonblocking and persistent ones are excluded. Calls with missing ranks are left out; their time
 * then counts as computing, so a run with many of them is refused. If the job ran clv's plans, the
 * collectives with plans are replayed with other algorithms, otherwise all that clv can plan.
 */
#include "apps/tools/view/view.h"

#include <stdlib.h>
#include <string.h>

#include "util/util_alloc.h"
#include "util/util_min_max.h"

#define MAX_COMMS       64
#define MAX_CELLS       INT64_C(4000000) /* ranks * segments of all planned calls */
#define SEGMENTS        64
#define FIT_CALLS       200
#define LATENCY_NS      50000
#define EAGER_BYTES     32768     /* if files do not record it: ob1 over TCP */
#define EARLY_BYTES     (8 << 20) /* if no rank measured it; see tests/mpi/early_probe ... */
#define IN_FLIGHT_BYTES (2 << 20) /* ... also for this */
#define TAKE_PS         500       /* to copy a byte from a socket and combine it */
#define NEAR_PS         100       /* per byte inside a host */
#define NEAR_LATENCY_NS 1000
#define EXCHANGE_NS     200000 /* plus two latencies per step of a tree of nodes */
#define MOST_INCOMPLETE 10     /* at most one call in this many may lack ranks */

typedef struct building {
    const view_t *view;
    int32_t n_comms; /* those of blocking calls, which come first */
    clv_what_if_run_t run;
    clv_what_if_comm_t *comms;
    clv_what_if_call_t *calls;
    int32_t *next;    /* by communicator: its next call in the order */
    uint32_t planned; /* bits 1 << clv_collective_t */
    int32_t n_incomplete, n_planned, n_left_out;
    int64_t max_planned;
    view_what_if_t *what_if;
} building_t;

/* ---- calls ----------------------------------------------------------------------------------- */

static clv_what_if_waits_t waits_of(int op)
{
    switch (op) {
    case CLV_CLVA_OP_BCAST:
    case CLV_CLVA_OP_SCATTER:
    case CLV_CLVA_OP_SCATTERV:
        return CLV_WHAT_IF_WAITS_ROOT;
    case CLV_CLVA_OP_REDUCE:
    case CLV_CLVA_OP_GATHER:
    case CLV_CLVA_OP_GATHERV:
        return CLV_WHAT_IF_WAITS_AT_ROOT;
    case CLV_CLVA_OP_SCAN:
    case CLV_CLVA_OP_EXSCAN:
        return CLV_WHAT_IF_WAITS_LOWER;
    default:
        return CLV_WHAT_IF_WAITS_ALL;
    }
}

/* The collective of a call that clv could plan by default; -1: of any other call. */
static int plannable(const clv_clva_stream_t *key, int32_t n_ranks)
{
    const clv_choose_config_t config = clv_what_if_config();
    const int collective = view_collective_of(key);

    return collective >= 0 && key->bytes >= clv_choose_min_bytes(&config, collective) &&
                   n_ranks >= config.min_ranks && n_ranks <= CLV_SCHED_MAX_RANKS
               ? collective
               : -1;
}

static clv_pap_stream_key_t plan_key(const clv_clva_stream_t *key, int collective)
{
    const int64_t element_bytes = clv_larger(key->element_bytes, 1);

    return (clv_pap_stream_key_t){
        .collective = (int16_t) collective,
        .root = clv_collectives[collective].has_root ? key->root : 0,
        .total_bytes = key->bytes,
        .max_segments = (int16_t) clv_collective_max_segments(
            &clv_collectives[collective], (size_t) (key->bytes / element_bytes), key->bytes)};
}

static void place_call(building_t *building, int32_t at)
{
    const view_comm_t *comm = &building->view->comms[at];
    const int32_t i = building->next[at]++;
    const size_t first = (size_t) i * (size_t) comm->n_ranks;
    const clv_clva_stream_t *key = &building->view->streams[comm->stream[i]].key;
    const int collective = plannable(key, comm->n_ranks);
    clv_what_if_call_t *call = &building->calls[building->run.n_calls];

    if (!view_is_whole(comm, i)) {
        building->n_incomplete++;
        return;
    }
    *call =
        (clv_what_if_call_t){.comm = at,
                             .waits = waits_of(key->op),
                             .root = key->root,
                             .is_planned = collective >= 0 && building->planned >> collective & 1,
                             .arrival_ns = comm->arrival_ns + first,
                             .exit_ns = comm->exit_ns + first};
    if (call->is_planned && building->n_planned == building->max_planned) {
        building->n_left_out++;
    }
    if (building->n_left_out > 0) { /* the run is cut here */
        return;
    }
    if (call->is_planned) {
        building->n_planned++;
        building->what_if->n_planned[collective]++;
        call->key = plan_key(key, collective);
    }
    building->run.n_calls++;
}

/* ---- their order ----------------------------------------------------------------------------- */

static int64_t arrival_at_next(const building_t *building, int32_t comm_at, int32_t rank)
{
    const view_comm_t *comm = &building->view->comms[comm_at];
    const int32_t call = building->next[comm_at];

    return call >= comm->n_calls || comm->rank_of[rank] < 0
               ? INT64_MAX
               : comm->arrival_ns[(size_t) call * (size_t) comm->n_ranks +
                                  (size_t) comm->rank_of[rank]];
}

/* Whether none of its ranks has an earlier call elsewhere before its next call. */
static bool is_next(const building_t *building, int32_t comm_at)
{
    const view_comm_t *comm = &building->view->comms[comm_at];

    for (int32_t p = 0; p < comm->n_ranks; p++) {
        const int32_t rank = comm->members[p];
        const int64_t here_ns = arrival_at_next(building, comm_at, rank);
        for (int32_t other = 0; other < building->n_comms; other++) {
            if (other != comm_at && arrival_at_next(building, other, rank) < here_ns) {
                return false;
            }
        }
    }
    return true;
}

static int64_t first_at_next(const building_t *building, int32_t comm_at)
{
    const view_comm_t *comm = &building->view->comms[comm_at];
    int64_t first_ns = INT64_MAX;

    for (int32_t p = 0; p < comm->n_ranks; p++) {
        first_ns = clv_smaller(first_ns, arrival_at_next(building, comm_at, comm->members[p]));
    }
    return first_ns;
}

/* The first communicator with is_next; if the records contradict each other, the one with the
 * earliest arrival. -1: all calls are ordered. */
static int32_t next_comm(const building_t *building)
{
    int32_t first = -1;

    for (int32_t i = 0; i < building->n_comms; i++) {
        if (building->next[i] == building->view->comms[i].n_calls) {
            continue;
        }
        if (is_next(building, i)) {
            return i;
        }
        if (first < 0 || first_at_next(building, i) < first_at_next(building, first)) {
            first = i;
        }
    }
    return first;
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Numbers nodes by their first ranks; NULL if each rank has its own. */
static bool find_places(const view_t *view, const view_comm_t *comm, const int32_t **place_p)
{
    int32_t *place = clv_alloc((size_t) comm->n_ranks, sizeof *place);
    int32_t n_places = 0;

    if (place == NULL) {
        return false;
    }
    for (int32_t p = 0; p < comm->n_ranks; p++) {
        int32_t q = 0;
        while (view->node_of[comm->members[q]] != view->node_of[comm->members[p]]) {
            q++;
        }
        place[p] = q < p ? place[q] : n_places++;
    }
    if (n_places == comm->n_ranks) {
        clv_free(place);
        place = NULL;
    }
    *place_p = place;
    return true;
}

static bool build(building_t *building)
{
    const view_t *view = building->view;
    int64_t n_calls = 0, cells = 1;

    building->next = clv_alloc((size_t) building->n_comms + 1, sizeof *building->next);
    for (int32_t i = 0; i < building->n_comms; i++) {
        n_calls += view->comms[i].n_calls;
        cells = clv_larger(cells, (int64_t) view->comms[i].n_ranks * SEGMENTS);
    }
    building->max_planned = clv_larger(MAX_CELLS / cells, 1);
    building->comms = clv_alloc((size_t) building->n_comms + 1, sizeof *building->comms);
    building->calls = clv_alloc((size_t) n_calls + 1, sizeof *building->calls);
    if (building->comms == NULL || building->calls == NULL || building->next == NULL) {
        return false;
    }
    building->run = (clv_what_if_run_t){.n_ranks = view->n_ranks,
                                        .n_comms = building->n_comms,
                                        .comms = building->comms,
                                        .calls = building->calls};
    for (int32_t i = 0; i < building->n_comms; i++) {
        const view_comm_t *comm = &view->comms[i];
        building->comms[i].n_ranks = comm->n_ranks;
        building->comms[i].members = comm->members;
        if (!find_places(view, comm, &building->comms[i].place)) {
            return false;
        }
    }
    for (int32_t at = next_comm(building); at >= 0; at = next_comm(building)) {
        place_call(building, at);
    }
    return true;
}

static void unbuild(building_t *building)
{
    for (int32_t i = 0; building->comms != NULL && i < building->n_comms; i++) {
        clv_free((void *) building->comms[i].place);
    }
    clv_free(building->comms);
    clv_free(building->calls);
    clv_free(building->next);
}

/* ---- which algorithm ran, and the cost of a message ------------------------------------------ */

/* The collectives for which most calls that clv could have planned ran its plan. */
static uint32_t ran_plans(const view_t *view)
{
    const clv_clva_head_t *head = view_any_head(view);
    int64_t n_more[CLV_N_COLLECTIVES] = {0}; /* calls with a plan minus calls without */
    uint32_t bits = 0;

    for (int32_t k = 0; k < view->n_comms; k++) {
        const view_comm_t *comm = &view->comms[k];
        for (int32_t i = 0; i < comm->n_calls; i++) {
            const int collective = plannable(&view->streams[comm->stream[i]].key, comm->n_ranks);
            int length = 0;
            const char *word = clv_clva_word(head->choices, comm->choice[i], &length);
            const bool is_plan = comm->choice[i] != CLV_CLVA_NOT_OURS && word != NULL &&
                                 strncmp(word, "previous", (size_t) length) != 0;
            if (collective >= 0) {
                n_more[collective] += is_plan ? 1 : -1;
            }
        }
    }
    for (int i = 0; i < CLV_N_COLLECTIVES; i++) {
        bits |= n_more[i] > 0 ? 1U << i : 0;
    }
    return bits;
}

static void find_what_ran(building_t *building, const view_network_t *network)
{
    const uint32_t bits = ran_plans(building->view);
    view_what_if_t *what_if = building->what_if;

    what_if->ran = bits != 0 ? CLV_WHAT_IF_CLV : CLV_WHAT_IF_DEFAULT;
    for (int i = 0; network->ran != NULL && i < CLV_WHAT_IF_N_WAYS; i++) {
        if (strcmp(network->ran, clv_what_if_ways[i].word) == 0) {
            what_if->ran = (clv_what_if_way_t) i;
        }
    }
    building->planned = what_if->ran == CLV_WHAT_IF_CLV && bits != 0 ? bits : UINT32_MAX;
}

static int64_t exchange_ns(int32_t n_nodes, int64_t latency_ns)
{
    int64_t steps = 0;

    while ((INT64_C(1) << steps) < n_nodes) {
        steps++;
    }
    return EXCHANGE_NS + 2 * steps * latency_ns;
}

/* The cost that clv measured if the job ran it; else values typical of most networks. */
static clv_cost_t cost_known(const clv_clva_cost_t *measured)
{
    clv_cost_t cost = {.latency_ns = LATENCY_NS,
                       .near_latency_ns = NEAR_LATENCY_NS,
                       .near_byte_ps = NEAR_PS,
                       .gap_ns = measured->gap_ns,
                       .early_bytes = EAGER_BYTES,
                       .near_early_bytes = measured->near_early_bytes};

    if (measured->byte_ps > 0) {
        cost.latency_ns = measured->latency_ns;
        cost.byte_ps = measured->byte_ps;
    }
    if (measured->early_bytes > 0) {
        cost.early_bytes = measured->early_bytes;
    }
    if (measured->near_byte_ps > 0) {
        cost.near_latency_ns = measured->near_latency_ns;
        cost.near_byte_ps = measured->near_byte_ps;
        cost.combine_ps = measured->combine_ps;
    }
    return cost;
}

static int smaller_first(const void *a, const void *b)
{
    return clv_compare(*(const int64_t *) a, *(const int64_t *) b);
}

/* The median buffer of the ranks that measured a connection, with the window or without; 0: none
 * measured. */
static int64_t median_early(const view_t *view, bool with_window)
{
    int64_t *bytes = clv_alloc((size_t) view->n_ranks, sizeof *bytes);
    int64_t median = 0;
    size_t n = 0;

    for (int32_t i = 0; bytes != NULL && i < view->n_ranks; i++) {
        const clv_clva_early_t *early = &view->early[i];
        if (early->sent_bytes > 0) {
            bytes[n++] = early->buffer_bytes + (with_window ? early->window_bytes : 0);
        }
    }
    if (n > 0) {
        qsort(bytes, n, sizeof *bytes, smaller_first);
        median = bytes[n / 2];
    }
    clv_free(bytes);
    return median;
}

/* What a pair holds unread: the sender's buffer plus the receiver's window. What a sender can leave
 * of a larger message: its buffer. */
static void find_early(const view_t *view, const view_network_t *network, view_what_if_t *what_if)
{
    const int64_t pair = median_early(view, true), in_flight = median_early(view, false);

    what_if->early_from = pair > 0 ? "measured" : "taken";
    what_if->setting.early =
        (clv_early_t){.eager_bytes = what_if->setting.cost.early_bytes,
                      .pair_bytes = pair > 0 ? pair : EARLY_BYTES,
                      .take_ps = TAKE_PS,
                      .in_flight_bytes = in_flight > 0 ? in_flight : IN_FLIGHT_BYTES};
    if (network->early_kib >= 0) {
        what_if->early_from = "given";
        what_if->setting.early.pair_bytes = (int64_t) (1024 * network->early_kib);
    }
}

/* Given, else measured, else fitted to what ran. */
static clv_status_t find_cost(const building_t *building, const view_network_t *network)
{
    view_what_if_t *what_if = building->what_if;
    clv_what_if_setting_t *setting = &what_if->setting;
    const char *from = building->view->cost.byte_ps > 0 ? "measured by clv" : NULL;

    *setting = (clv_what_if_setting_t){.cost = cost_known(&building->view->cost)};
    find_early(building->view, network, what_if);
    what_if->latency_from = network->latency_us >= 0 ? "given" : from != NULL ? from : "taken";
    what_if->cost_from = network->gbit > 0 ? "given" : from != NULL ? from : "fitted to what ran";
    if (network->latency_us >= 0) {
        setting->cost.latency_ns = (int64_t) (1e3 * network->latency_us);
    }
    setting->exchange_ns = exchange_ns(building->view->n_nodes, setting->cost.latency_ns);
    if (network->gbit > 0) {
        setting->cost.byte_ps = (int64_t) (8000 / network->gbit);
        setting->cost.gap_ns = 0; /* that of the measured network */
    }
    if (setting->cost.byte_ps > 0) {
        return CLV_OK;
    }
    return what_if->ran == CLV_WHAT_IF_CLV
               ? CLV_NONE
               : clv_what_if_fit(&building->run, what_if->ran, FIT_CALLS, &setting->cost);
}

/* ---- results --------------------------------------------------------------------------------- */

/* The iteration time in each part of the curve. */
static void draw_curve(const clv_what_if_result_t *result, double *iteration_ns, int32_t *n_parts_p)
{
    const int32_t n = result->n_planned - 1;
    const int32_t n_parts = (int32_t) clv_smaller(n, VIEW_PARTS);

    for (int32_t part = 0; part < n_parts; part++) {
        const int32_t first = (int32_t) ((int64_t) part * n / n_parts);
        const int32_t end = (int32_t) ((int64_t) (part + 1) * n / n_parts);
        iteration_ns[part] =
            (double) (result->last_arrival_ns[end] - result->last_arrival_ns[first]) /
            (end - first);
    }
    *n_parts_p = (int32_t) clv_larger(n_parts, 0);
}

static clv_status_t measure(const building_t *building, int64_t *last_arrival_ns)
{
    view_what_if_t *what_if = building->what_if;

    what_if->measured.last_arrival_ns = last_arrival_ns;
    clv_what_if_measured(&building->run, &what_if->measured);
    draw_curve(&what_if->measured, what_if->measured_iteration_ns, &what_if->n_parts);
    what_if->measured.last_arrival_ns = NULL;
    return clv_what_if_balanced(&building->run, &what_if->balanced_ns);
}

static clv_status_t replay_ways(const building_t *building, int64_t *last_arrival_ns)
{
    view_what_if_t *what_if = building->what_if;
    clv_status_t status = CLV_OK;

    for (int i = 0; i < CLV_WHAT_IF_N_WAYS && status == CLV_OK; i++) {
        clv_what_if_result_t *model = &what_if->model[i];
        model->last_arrival_ns = last_arrival_ns;
        status =
            clv_what_if_replay(&building->run, &what_if->setting, (clv_what_if_way_t) i, model);
        if (status == CLV_OK) {
            draw_curve(model, what_if->iteration_ns[i], &what_if->n_parts);
        }
        model->last_arrival_ns = NULL;
    }
    return status;
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static void judge(view_what_if_t *what_if)
{
    const clv_what_if_result_t *model = &what_if->model[what_if->ran];
    const clv_what_if_result_t *measured = &what_if->measured;

    what_if->fidelity_run = ratio((double) model->run_ns, (double) measured->run_ns);
    what_if->fidelity_in_mpi = ratio(model->in_mpi_ns, measured->in_mpi_ns);
    what_if->fidelity_after = ratio(model->after_ns, measured->after_ns);
    what_if->fidelity_iteration = ratio(model->iteration_ns, measured->iteration_ns);
}

clv_what_if_result_t view_scaled(const view_what_if_t *what_if, clv_what_if_way_t way)
{
    clv_what_if_result_t scaled = what_if->model[way];

    scaled.run_ns = (int64_t) ratio((double) scaled.run_ns, what_if->fidelity_run);
    scaled.in_mpi_ns = ratio(scaled.in_mpi_ns, what_if->fidelity_in_mpi);
    scaled.after_ns = ratio(scaled.after_ns, what_if->fidelity_after);
    scaled.iteration_ns = ratio(scaled.iteration_ns, what_if->fidelity_iteration);
    return scaled;
}

void view_indicative(const view_what_if_t *what_if, char *names, size_t size)
{
    const struct {
        const char *name;
        double fidelity;
    } rows[] = {{"run", what_if->fidelity_run},
                {"iteration", what_if->fidelity_iteration},
                {"in MPI", what_if->fidelity_in_mpi},
                {"after", what_if->fidelity_after}};
    size_t used = 0;

    names[0] = '\0';
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!clv_what_if_is_faithful(rows[i].fidelity, 1) && used < size) {
            used += (size_t) snprintf(names + used, size - used, "%s%s", used > 0 ? ", " : "",
                                      rows[i].name);
        }
    }
}

/* ---- whether an estimate is possible --------------------------------------------------------- */

static const char no_plans[] =
    "no reduces, allreduces or broadcasts of 64 KiB or more on 3 ranks or more";

static const char *refusal_of_run(const building_t *building)
{
    const view_t *view = building->view;

    for (int32_t i = 0; i < view->n_nodes; i++) {
        if (view->nodes[i].is_there && view->nodes[i].every > 1) {
            return "not all calls were recorded, and what is not would count as computing";
        }
    }
    return (int64_t) building->n_incomplete * MOST_INCOMPLETE > building->run.n_calls
               ? "too many calls lack ranks"
               : NULL;
}

static const char *refusal_of(clv_status_t status)
{
    return status == CLV_NONE ? "no cost fits what ran: give --gbit and --latency-us"
                              : "times that no replay can have";
}

static int32_t n_blocking(const view_t *view)
{
    int32_t n = 0;

    while (n < view->n_comms && view->comms[n].how == CLV_CLVA_HOW_BLOCKING) {
        n++;
    }
    return n;
}

static bool find(building_t *building, const view_network_t *network)
{
    view_what_if_t *what_if = building->what_if;
    const char *why = building->n_comms > MAX_COMMS ? "too many communicators" : NULL;
    int64_t *last_arrival_ns = NULL;
    clv_status_t status = CLV_OK;

    if (why == NULL) {
        find_what_ran(building, network);
        if (!build(building)) {
            return false;
        }
    }
    why = why == NULL ? refusal_of_run(building) : why;
    if (why == NULL) {
        last_arrival_ns = clv_alloc((size_t) building->run.n_calls + 1, sizeof *last_arrival_ns);
        status = last_arrival_ns == NULL ? CLV_NO_MEMORY : measure(building, last_arrival_ns);
        why = building->n_planned < 2 ? no_plans : NULL;
    }
    if (why == NULL && status == CLV_OK) {
        what_if->n_left_out = building->n_left_out;
        status = find_cost(building, network);
    }
    if (why == NULL && status == CLV_OK) {
        status = replay_ways(building, last_arrival_ns);
        judge(what_if);
    }
    clv_free(last_arrival_ns);
    if (why != NULL || status != CLV_OK) {
        (void) snprintf(what_if->why_not, sizeof what_if->why_not, "%s",
                        why != NULL ? why : refusal_of(status));
    }
    return status != CLV_NO_MEMORY;
}

bool view_find_what_if(const view_t *view, const view_network_t *network, view_what_if_t *what_if)
{
    building_t building = {.view = view, .n_comms = n_blocking(view), .what_if = what_if};
    bool done = true;

    *what_if = (view_what_if_t){0};
    if (!view->has_time || view->n_cells == 0) {
        (void) snprintf(what_if->why_not, sizeof what_if->why_not, "no calls on one clock");
    } else {
        done = find(&building, network);
        unbuild(&building);
    }
    return done;
}
