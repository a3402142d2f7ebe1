/* SPDX-License-Identifier: BSD-3-Clause
 * See choose_loop.h.
 */
#include "tests/support/choose_loop.h"

#include "choose/choose_previous.h"
#include "pap_predict/predict/pap_history.h"
#include "tests/support/random_instance.h"
#include "tests/support/test.h"
#include "util/util_min_max.h"

#define WINDOW         8
#define COMBINE_NS     20000
#define BCAST_NS       1000000
#define LATENCY_NS     500000 /* of the exchange */
#define LOOP_MAX_SENDS 65536

typedef struct loop {
    const loop_program_t *program;
    const loop_setting_t *setting;
    clv_pap_stream_key_t key;
    clv_choose_state_t state;
    clv_plan_cache_t *plans;
    clv_pap_history_t *history;
    uint64_t random;
    int64_t arrival_ns[LOOP_MAX_CALLS][LOOP_MAX_RANKS];
    int64_t start_ns[LOOP_MAX_CALLS][LOOP_MAX_RANKS]; /* arrival, or that of the forecast */
    int64_t exit_ns[LOOP_MAX_CALLS][LOOP_MAX_RANKS];
    int64_t out_ns[LOOP_MAX_RANKS]; /* the links are busy until then */
    int64_t in_ns[LOOP_MAX_RANKS];
    int64_t near_in_ns[LOOP_MAX_RANKS]; /* from ranks of the same host */
    int64_t ready_ns[LOOP_MAX_RANKS][CLV_SCHED_MAX_SEGMENTS];
    int64_t wire_ns, near_wire_ns, combine_ns; /* of a send of the plan that runs */
    /* exchange */
    int32_t next_sample, every;
    int64_t n_samples;
    int64_t known_ns;            /* when the newest forecast was computed */
    clv_pap_forecast_t forecast; /* the newest, and the decision for it */
    int64_t predicted_ns[LOOP_MAX_RANKS];
    clv_choose_decision_t newest;
    int is_void; /* the forecast of the next sampled call never comes */
    uint64_t luck;
    clv_choose_decision_t held; /* for calls without a forecast */
    clv_pap_forecast_t in_use;  /* the forecast that calls use; version 0: none */
    int64_t in_use_ns[LOOP_MAX_RANKS];
    clv_choose_decision_t decision;
    clv_pap_record_t records[LOOP_MAX_RANKS];
    loop_result_t *result;
} loop_t;

/* ---- a call on the network ------------------------------------------------------------------- */

static int64_t last_of(const int64_t *ns, int32_t n)
{
    int64_t last = ns[0];
    for (int32_t i = 1; i < n; i++) {
        last = clv_larger(last, ns[i]);
    }
    return last;
}

static int32_t host_of(const loop_t *loop, int32_t rank)
{
    const int32_t *place = loop->setting->config.place;

    return place == NULL ? rank : place[rank];
}

/* The links that a send occupies; inside a host only the receiver's own one. */
static int64_t *way_out(loop_t *loop, const clv_send_t *is)
{
    const int32_t host = host_of(loop, is->sender);

    return host == host_of(loop, is->receiver) ? &loop->near_in_ns[is->receiver]
                                               : &loop->out_ns[host];
}

static int64_t *way_in(loop_t *loop, const clv_send_t *is)
{
    const int32_t host = host_of(loop, is->receiver);

    return host == host_of(loop, is->sender) ? &loop->near_in_ns[is->receiver] : &loop->in_ns[host];
}

static int64_t wire_ns_of(const loop_t *loop, const clv_send_t *is)
{
    const loop_setting_t *setting = loop->setting;
    const int is_near = host_of(loop, is->sender) == host_of(loop, is->receiver);
    const int is_slow = is->sender == setting->slow_rank || is->receiver == setting->slow_rank;

    return (is_near ? loop->near_wire_ns : loop->wire_ns) *
           (is_slow && setting->slow_times > 0 ? setting->slow_times : 1);
}

/* When the sender has its segment, and its receiver is at most ahead_calls calls behind. */
static int64_t may_send_ns(const loop_t *loop, int32_t call, const clv_send_t *is,
                           int32_t ahead_calls)
{
    const int64_t own_ns = loop->ready_ns[is->sender][is->segment];
    const int32_t until = call - ahead_calls;

    return until < 0 ? own_ns : clv_larger(own_ns, loop->start_ns[until][is->receiver]);
}

static int64_t combine_ns_of(const loop_setting_t *setting, int64_t n_bytes)
{
    const clv_cost_t *cost = &setting->config.cost;
    const clv_cost_t combine = {.byte_ps = cost->combine_ps};

    return !setting->goes_by_cost ? COMBINE_NS
           : cost->combine_ps > 0 ? clv_cost_round_ns(&combine, n_bytes)
                                  : cost->latency_ns / 3;
}

/* From the link to the receiver, whose core it does not take. */
static int64_t flight_ns_of(const loop_t *loop, const clv_send_t *is)
{
    const clv_cost_t *cost = &loop->setting->config.cost;

    return !loop->setting->goes_by_cost                               ? 0
           : host_of(loop, is->sender) == host_of(loop, is->receiver) ? cost->near_latency_ns
           : cost->combine_ps > 0                                     ? cost->latency_ns
                                  : cost->latency_ns - cost->latency_ns / 3;
}

/* What each send of a plan takes. */
static void weigh_sends(loop_t *loop, int64_t n_bytes)
{
    const clv_cost_t *cost = &loop->setting->config.cost;

    loop->wire_ns = clv_cost_round_ns(&(clv_cost_t){.byte_ps = cost->byte_ps}, n_bytes);
    loop->near_wire_ns = clv_cost_round_ns(&(clv_cost_t){.byte_ps = cost->near_byte_ps}, n_bytes);
    loop->combine_ns = combine_ns_of(loop->setting, n_bytes);
}

static void send(loop_t *loop, int32_t call, const clv_send_t *is, int32_t ahead_calls)
{
    const int64_t wire_ns = wire_ns_of(loop, is);
    const int64_t busy_ns = clv_larger(wire_ns, loop->setting->config.cost.gap_ns);
    const int64_t may_ns = may_send_ns(loop, call, is, ahead_calls);
    int64_t *out_ns = way_out(loop, is), *in_ns = way_in(loop, is);
    const int64_t start_ns = clv_larger(may_ns, clv_larger(*out_ns, *in_ns));
    int64_t *exit_ns = loop->exit_ns[call];
    int64_t combined_ns;

    *out_ns = *in_ns = start_ns + busy_ns;
    exit_ns[is->sender] =
        clv_larger(exit_ns[is->sender], ahead_calls > 0 ? may_ns : start_ns + wire_ns);
    combined_ns = clv_larger(start_ns + wire_ns + flight_ns_of(loop, is), exit_ns[is->receiver]) +
                  loop->combine_ns;
    loop->ready_ns[is->receiver][is->segment] =
        clv_larger(loop->ready_ns[is->receiver][is->segment], combined_ns);
    exit_ns[is->receiver] = combined_ns;
}

/* Sends of a plan that share links: each rank's in its order, and each segment's after the parts of
 * it that its sender receives before. */
typedef struct queue {
    const clv_plan_t *plan;
    int64_t next[LOOP_MAX_RANKS]; /* by sender; n_sends: none */
    int32_t had[LOOP_MAX_RANKS][CLV_SCHED_MAX_SEGMENTS];
    int32_t needs[LOOP_MAX_SENDS];
} queue_t;

static int64_t next_of(const clv_plan_t *plan, int32_t sender, int64_t from)
{
    while (from < plan->n_sends && plan->sends[from].sender != sender) {
        from++;
    }
    return from;
}

static void open_queue(queue_t *queue, const clv_plan_t *plan)
{
    assert_true(plan->n_sends <= LOOP_MAX_SENDS);
    memset(queue->had, 0, sizeof queue->had);
    queue->plan = plan;
    for (int64_t i = 0; i < plan->n_sends; i++) {
        const clv_send_t *is = &plan->sends[i];
        queue->needs[i] = queue->had[is->sender][is->segment];
        queue->had[is->receiver][is->segment]++;
    }
    memset(queue->had, 0, sizeof queue->had);
    for (int32_t p = 0; p < plan->n_ranks; p++) {
        queue->next[p] = next_of(plan, p, 0);
    }
}

/* The sender whose next send can begin first; -1: all have sent. */
static int32_t first_sender(loop_t *loop, int32_t call, const queue_t *queue, int32_t ahead_calls)
{
    int64_t least_ns = INT64_MAX;
    int32_t first = -1;

    for (int32_t p = 0; p < queue->plan->n_ranks; p++) {
        const clv_send_t *is = &queue->plan->sends[queue->next[p]];
        int64_t start_ns;

        if (queue->next[p] == queue->plan->n_sends ||
            queue->had[p][is->segment] < queue->needs[queue->next[p]]) {
            continue;
        }
        start_ns = clv_larger(may_send_ns(loop, call, is, ahead_calls),
                              clv_larger(*way_out(loop, is), *way_in(loop, is)));
        if (start_ns < least_ns) {
            least_ns = start_ns;
            first = p;
        }
    }
    return first;
}

static void run_shared(loop_t *loop, int32_t call, const clv_plan_t *plan, int32_t ahead_calls)
{
    static queue_t queue;
    int64_t n_sent = 0;
    int32_t sender;

    open_queue(&queue, plan);
    while ((sender = first_sender(loop, call, &queue, ahead_calls)) >= 0) {
        const clv_send_t *is = &plan->sends[queue.next[sender]];
        send(loop, call, is, ahead_calls);
        queue.had[is->receiver][is->segment]++;
        queue.next[sender] = next_of(plan, sender, queue.next[sender] + 1);
        n_sent++;
    }
    assert_int_equal(n_sent, plan->n_sends);
}

static void run_plan(loop_t *loop, int32_t call, const clv_plan_t *plan, int32_t ahead_calls)
{
    const int64_t n_bytes = clv_segment_bytes(loop->setting->total_bytes, plan->n_segments);

    if (loop->setting->has_rendezvous && n_bytes > loop->setting->config.cost.early_bytes) {
        ahead_calls = 0;
    }
    weigh_sends(loop, n_bytes);
    for (int32_t p = 0; p < plan->n_ranks; p++) {
        loop->exit_ns[call][p] = loop->start_ns[call][p];
        for (int32_t s = 0; s < plan->n_segments; s++) {
            loop->ready_ns[p][s] = loop->start_ns[call][p];
        }
    }
    if (loop->setting->config.place != NULL) {
        run_shared(loop, call, plan, ahead_calls);
        return;
    }
    for (int64_t i = 0; i < plan->n_sends; i++) {
        send(loop, call, &plan->sends[i], ahead_calls);
    }
}

/* Whole vectors up a binomial tree, or one block per rank round a ring; long messages wait for
 * their receiver. */
static void run_previous(loop_t *loop, int32_t call)
{
    const int64_t none[LOOP_MAX_RANKS] = {0};
    const clv_goal_t goal = clv_collectives[loop->key.collective].goal;
    const int is_reduce = goal == CLV_GOAL_REDUCE;
    const clv_instance_t instance = {.n_ranks = loop->setting->config.n_ranks,
                                     .n_segments = is_reduce ? 1 : loop->setting->config.n_ranks,
                                     .round_ns = 1000,
                                     .goal = goal,
                                     .arrival_ns = none};
    clv_plan_t *plan = NULL;

    assert_int_equal(
        clv_plan_make(clv_generator_find(is_reduce ? "binomial" : "plain-ring"), &instance, &plan),
        CLV_OK);
    run_plan(loop, call, plan, 0);
    clv_plan_free(plan);
}

/* Runs the plan of the active forecast, or the one that needs none. */
static void run_call(loop_t *loop, int32_t call)
{
    const clv_pap_forecast_t *forecast = loop->in_use.version > 0 ? &loop->in_use : NULL;
    const clv_plan_t *plan = NULL;

    loop->result->ran[call] = loop->decision.algorithm;
    loop->result->tried[call] = loop->decision.reason == CLV_REASON_TRYING;
    if (loop->decision.algorithm == CLV_ALGORITHM_PREVIOUS) {
        run_previous(loop, call);
        return;
    }
    assert_int_equal(clv_choose_cached_plan(&loop->setting->config, &loop->key, forecast,
                                            &loop->decision, loop->plans, &plan),
                     CLV_OK);
    run_plan(loop, call, plan, loop->setting->ahead_calls);
}

/* ---- the exchange ---------------------------------------------------------------------------- */

static int64_t exchange_ns(const loop_t *loop)
{
    return loop->setting->exchange_ns > 0 ? loop->setting->exchange_ns : LATENCY_NS;
}

static void make_records(loop_t *loop, int32_t call)
{
    for (int32_t p = 0; p < loop->setting->config.n_ranks; p++) {
        clv_pap_record_t *record = &loop->records[p];
        *record = (clv_pap_record_t){.arrival_ns = loop->arrival_ns[call][p],
                                     .previous_arrival_ns = loop->arrival_ns[call][p],
                                     .previous_exit_ns = loop->arrival_ns[call][p],
                                     .clock_error_ns = 2000,
                                     .latency_ns = (uint32_t) exchange_ns(loop),
                                     .previous_choice = -1};
        if (call > 0) {
            record->previous_arrival_ns = loop->arrival_ns[call - 1][p];
            record->previous_exit_ns = loop->exit_ns[call - 1][p];
            record->previous_choice = loop->result->ran[call - 1];
            record->flags = CLV_PAP_RECORD_PREVIOUS;
        }
    }
}

/* The call's records give the next forecast, for which the next sampled call waits. */
static void decide(loop_t *loop, int32_t call, int64_t sequence)
{
    const clv_pap_record_set_t set = {
        .n_ranks = loop->setting->config.n_ranks, .sequence = sequence, .records = loop->records};
    const int32_t incumbent = loop->state.iterations.incumbent;
    const int has_incumbent = loop->state.iterations.blocks.n_blocks > 0;

    loop->is_void = clv_random_between(&loop->luck, 1, 1000) <= loop->setting->void_permille;
    if (loop->is_void) {
        return;
    }
    make_records(loop, call);
    clv_pap_history_feed(loop->history, &set, &loop->forecast, loop->predicted_ns);
    assert_int_equal(clv_choose_shared(&loop->setting->config, &loop->key, &loop->forecast,
                                       clv_pap_history_progress(loop->history), 1, &loop->state,
                                       loop->plans, &loop->newest),
                     CLV_OK);
    loop->result->n_incumbents += has_incumbent && loop->state.iterations.incumbent != incumbent;
}

/* A sampled call activates the forecast of the previous sample; ranks that arrive before it is
 * known wait. */
static void sample(loop_t *loop, int32_t call)
{
    const int32_t n_ranks = loop->setting->config.n_ranks;
    int32_t every = 1;

    if (loop->is_void) {
        every = clv_pap_sample_every_void(loop->every);
        loop->in_use.version = 0;
        loop->decision = loop->held;
    } else if (loop->n_samples > 0) {
        memcpy(loop->in_use_ns, loop->predicted_ns, sizeof loop->in_use_ns);
        loop->in_use = loop->forecast;
        loop->in_use.predicted_ns = loop->in_use_ns;
        loop->decision = loop->newest;
        loop->held = clv_choose_is_sticky(&loop->newest) ? loop->newest : loop->held;
        every = loop->forecast.sample_every;
    }
    for (int32_t p = 0; p < n_ranks; p++) {
        loop->start_ns[call][p] = clv_larger(loop->arrival_ns[call][p], loop->known_ns);
    }
    loop->every = every;
    loop->next_sample = call + every;
    decide(loop, call, loop->n_samples++);
    loop->known_ns = last_of(loop->arrival_ns[call], n_ranks) + exchange_ns(loop);
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void arrive(loop_t *loop, int32_t call)
{
    const int32_t n_ranks = loop->setting->config.n_ranks;
    int64_t bound_ns = 0;

    if (call > 0 && loop->program->couple(call) == LOOP_BCAST) {
        bound_ns = loop->exit_ns[call - 1][loop->key.root] + BCAST_NS;
    }
    for (int32_t p = 0; p < n_ranks; p++) {
        const int64_t before_ns =
            clv_larger(call > 0 ? loop->exit_ns[call - 1][p] : 1000000000, bound_ns);
        loop->arrival_ns[call][p] = before_ns + loop->program->computing_ns(p, call, &loop->random);
    }
    memcpy(loop->start_ns[call], loop->arrival_ns[call], sizeof loop->start_ns[call]);
}

static void start(loop_t *loop, const loop_program_t *program, const loop_setting_t *setting,
                  loop_result_t *result)
{
    const int32_t none[CLV_CHOOSE_RING] = {0};

    memset(loop, 0, sizeof *loop);
    memset(result, 0, sizeof *result);
    loop->program = program;
    loop->setting = setting;
    loop->random = setting->seed;
    loop->luck = ~setting->seed;
    loop->result = result;
    loop->key = (clv_pap_stream_key_t){.collective = (int16_t) setting->collective,
                                       .total_bytes = setting->total_bytes};
    assert_int_equal(clv_pap_history_create(setting->config.n_ranks, WINDOW, clv_pap_predictor_best,
                                            &loop->history),
                     CLV_OK);
    assert_int_equal(
        clv_plan_cache_create(CLV_CHOOSE_CACHE_PLANS, CLV_CHOOSE_CACHE_BYTES, &loop->plans),
        CLV_OK);
    assert_int_equal(clv_choose_begin(&setting->config, &loop->key, none, &loop->state), CLV_OK);
    assert_int_equal(clv_choose_without_forecast(&setting->config, &loop->key, &loop->held),
                     CLV_OK);
    if (setting->void_permille > 0) {
        assert_int_equal(clv_choose_previous(&setting->config, &loop->key, NULL, &loop->held),
                         CLV_OK);
    }
    loop->decision = loop->held;
}

static void measure_call(loop_t *loop, int32_t call)
{
    const int32_t n_ranks = loop->setting->config.n_ranks;
    int64_t sum_ns = 0;

    for (int32_t p = 0; p < n_ranks; p++) {
        sum_ns += loop->exit_ns[call][p] - loop->arrival_ns[call][p];
    }
    loop->result->after_ns[call] =
        last_of(loop->exit_ns[call], n_ranks) - loop->result->last_arrival_ns[call];
    loop->result->in_mpi_ns[call] = sum_ns / n_ranks;
    loop->result->last_in_mpi_ns[call] =
        loop->exit_ns[call][n_ranks - 1] - loop->arrival_ns[call][n_ranks - 1];
}

void loop_run(const loop_program_t *program, const loop_setting_t *setting, loop_result_t *result)
{
    static loop_t loop;

    start(&loop, program, setting, result);
    for (int32_t call = 0; call < setting->n_calls; call++) {
        arrive(&loop, call);
        if (call == loop.next_sample) {
            sample(&loop, call);
        }
        result->last_arrival_ns[call] = last_of(loop.arrival_ns[call], setting->config.n_ranks);
        result->regret_ns[call] = loop.state.iterations.trial.regret_ns;
        run_call(&loop, call);
        measure_call(&loop, call);
    }
    clv_pap_history_free(loop.history);
    clv_plan_cache_free(loop.plans);
}

int64_t loop_iteration_ns(const loop_result_t *result, int32_t from, int32_t to)
{
    return (result->last_arrival_ns[to] - result->last_arrival_ns[from]) / (to - from);
}

int64_t loop_mean(const int64_t *ns, int32_t from, int32_t to)
{
    int64_t sum_ns = 0;

    for (int32_t call = from; call < to; call++) {
        sum_ns += ns[call];
    }
    return sum_ns / (to - from);
}
