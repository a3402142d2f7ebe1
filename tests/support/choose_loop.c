/* SPDX-License-Identifier: BSD-3-Clause
 * See choose_loop.h.
 */
#include "tests/support/choose_loop.h"

#include "choose/choose_previous.h"
#include "pap_predict/predict/pap_history.h"
#include "tests/support/random_instance.h"
#include "tests/support/test.h"
#include "util/util_min_max.h"

#define WINDOW      8
#define COMBINE_NS  20000
#define BCAST_NS    1000000
#define LATENCY_NS  500000 /* of the exchange */
#define MAX_SAMPLES (LOOP_MAX_CALLS + 1)

typedef struct loop {
    const loop_program_t *program;
    const loop_setting_t *setting;
    clv_pap_stream_key_t key;
    clv_choose_state_t state;
    clv_plan_cache_t *plans;
    clv_pap_history_t *history;
    uint64_t random;
    int64_t arrival_ns[LOOP_MAX_CALLS][LOOP_MAX_RANKS];
    int64_t start_ns[LOOP_MAX_CALLS][LOOP_MAX_RANKS]; /* when the forecast was there, too */
    int64_t exit_ns[LOOP_MAX_CALLS][LOOP_MAX_RANKS];
    int64_t out_ns[LOOP_MAX_RANKS]; /* ways are busy until then */
    int64_t in_ns[LOOP_MAX_RANKS];
    int64_t ready_ns[LOOP_MAX_RANKS][CLV_SCHED_MAX_SEGMENTS];
    /* exchange */
    int32_t next_sample, every;
    int64_t n_samples;
    int64_t known_ns;            /* when the newest forecast was made */
    clv_pap_forecast_t forecast; /* the newest, and what was decided for it */
    int64_t predicted_ns[LOOP_MAX_RANKS];
    clv_choose_decision_t newest;
    int is_void; /* the forecast of the next sampled call never comes */
    uint64_t luck;
    clv_choose_decision_t held; /* what calls without a forecast run */
    clv_pap_forecast_t in_use;  /* the one that calls use; version 0: none */
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

static void send(loop_t *loop, int32_t call, const clv_send_t *is, int64_t wire_ns,
                 int32_t ahead_calls)
{
    const int64_t own_ns = loop->ready_ns[is->sender][is->segment];
    const int32_t until = call - ahead_calls;
    const int64_t may_ns =
        until < 0 ? own_ns : clv_larger(own_ns, loop->start_ns[until][is->receiver]);
    const int64_t start_ns =
        clv_larger(may_ns, clv_larger(loop->out_ns[is->sender], loop->in_ns[is->receiver]));
    int64_t *exit_ns = loop->exit_ns[call];
    int64_t combined_ns;

    loop->out_ns[is->sender] = loop->in_ns[is->receiver] = start_ns + wire_ns;
    exit_ns[is->sender] =
        clv_larger(exit_ns[is->sender], ahead_calls > 0 ? may_ns : start_ns + wire_ns);
    combined_ns = clv_larger(start_ns + wire_ns, exit_ns[is->receiver]) + COMBINE_NS;
    loop->ready_ns[is->receiver][is->segment] =
        clv_larger(loop->ready_ns[is->receiver][is->segment], combined_ns);
    exit_ns[is->receiver] = combined_ns;
}

static void run_plan(loop_t *loop, int32_t call, const clv_plan_t *plan, int32_t ahead_calls)
{
    const clv_cost_t wire = {.byte_ps = loop->setting->config.cost.byte_ps};
    const int64_t wire_ns =
        clv_cost_round_ns(&wire, clv_segment_bytes(loop->setting->total_bytes, plan->n_segments));

    for (int32_t p = 0; p < plan->n_ranks; p++) {
        loop->exit_ns[call][p] = loop->start_ns[call][p];
        for (int32_t s = 0; s < plan->n_segments; s++) {
            loop->ready_ns[p][s] = loop->start_ns[call][p];
        }
    }
    for (int64_t i = 0; i < plan->n_sends; i++) {
        send(loop, call, &plan->sends[i], wire_ns, ahead_calls);
    }
}

/* Whole vectors up a binomial tree, or a block for each rank round a ring; long messages wait for
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

/* The plan of the forecast in use, or the one that needs none. */
static void run_call(loop_t *loop, int32_t call)
{
    const clv_pap_forecast_t *forecast = loop->in_use.version > 0 ? &loop->in_use : NULL;
    const clv_plan_t *plan = NULL;
    clv_plan_t *made = NULL;

    loop->result->ran[call] = loop->decision.algorithm;
    loop->result->tried[call] = loop->decision.reason == CLV_REASON_TRYING;
    if (loop->decision.algorithm == CLV_ALGORITHM_PREVIOUS) {
        run_previous(loop, call);
        return;
    }
    assert_int_equal(
        clv_choose_plan(&loop->setting->config, &loop->key, forecast, &loop->decision, &made),
        CLV_OK);
    plan = made;
    run_plan(loop, call, plan, loop->setting->ahead_calls);
    clv_plan_free(made);
}

/* ---- the exchange ---------------------------------------------------------------------------- */

static void make_records(loop_t *loop, int32_t call)
{
    for (int32_t p = 0; p < loop->setting->config.n_ranks; p++) {
        clv_pap_record_t *record = &loop->records[p];
        *record = (clv_pap_record_t){.arrival_ns = loop->arrival_ns[call][p],
                                     .previous_arrival_ns = loop->arrival_ns[call][p],
                                     .previous_exit_ns = loop->arrival_ns[call][p],
                                     .clock_error_ns = 2000,
                                     .latency_ns = LATENCY_NS,
                                     .previous_choice = -1};
        if (call > 0) {
            record->previous_arrival_ns = loop->arrival_ns[call - 1][p];
            record->previous_exit_ns = loop->exit_ns[call - 1][p];
            record->previous_choice = loop->result->ran[call - 1];
            record->flags = CLV_PAP_RECORD_PREVIOUS;
        }
    }
}

/* Its records give the next forecast, which the sampled call after this one waits for. */
static void decide(loop_t *loop, int32_t call, int64_t sequence)
{
    const clv_pap_record_set_t set = {
        .n_ranks = loop->setting->config.n_ranks, .sequence = sequence, .records = loop->records};
    const int32_t settled = loop->state.pace.settled;
    const int is_settled = loop->state.pace.paces.n_blocks > 0;

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
    loop->result->n_settled += is_settled && loop->state.pace.settled != settled;
}

/* At a sampled call the forecast of the sample before comes into use, and who came before that was
 * known waits. */
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
        loop->held = clv_choose_goes_on(&loop->newest) ? loop->newest : loop->held;
        every = loop->forecast.sample_every;
    }
    for (int32_t p = 0; p < n_ranks; p++) {
        loop->start_ns[call][p] = clv_larger(loop->arrival_ns[call][p], loop->known_ns);
    }
    loop->every = every;
    loop->next_sample = call + every;
    decide(loop, call, loop->n_samples++);
    loop->known_ns = last_of(loop->arrival_ns[call], n_ranks) + LATENCY_NS;
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
        last_of(loop->exit_ns[call], n_ranks) - loop->result->front_ns[call];
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
        result->front_ns[call] = last_of(loop.arrival_ns[call], setting->config.n_ranks);
        result->regret_ns[call] = loop.state.pace.trial.regret_ns;
        run_call(&loop, call);
        measure_call(&loop, call);
    }
    clv_pap_history_free(loop.history);
    clv_plan_cache_free(loop.plans);
}

int64_t loop_pace(const loop_result_t *result, int32_t from, int32_t to)
{
    return (result->front_ns[to] - result->front_ns[from]) / (to - from);
}

int64_t loop_mean(const int64_t *ns, int32_t from, int32_t to)
{
    int64_t sum_ns = 0;

    for (int32_t call = from; call < to; call++) {
        sum_ns += ns[call];
    }
    return sum_ns / (to - from);
}
