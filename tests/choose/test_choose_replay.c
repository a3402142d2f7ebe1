/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The recorded histories of tests/data/traces, through predictor and chooser: every decision and
 * every plan, as hashes that a change of shape must not change.
 *
 * tests/data/decisions.txt has a line per history and case: how often each algorithm was chosen and
 * a hash over all decisions and plans. A change that is meant to decide otherwise writes it anew
 * (CLV_WRITE=1 ./clv test choose_replay) and says in its commit which lines changed and why.
 *
 * Cases: two networks, two vectors, the algorithm free or forced; the measured times those of the
 * trace, or answers to what was decided (a plan's estimate times a truth of its own), with some
 * calls announced by hints. Not: whether decisions are good (test_choose.c).
 */
#include "choose/choose.h"
#include "pap_predict/predict/pap_history.h"
#include "tests/support/test.h"
#include "apps/trace/trace.h"
#include "util/util_hash.h"

#define WINDOW    8
#define MAX_RANKS 64
#define MAX_CALLS 512
#define MAX_TEXT  (1 << 17)

static const char *const traces[] = {"balanced",        "changing",  "disturbed", "drifting",
                                     "exponential",     "half-late", "held",      "one-late",
                                     "periodic",        "repeated",  "root-late", "transport-clv",
                                     "transport-stock", "uniform"};

typedef struct network_row {
    const char *name;
    clv_cost_t cost;
} network_row_t;

static const network_row_t networks[] = {
    {"slow", {.latency_ns = 60000, .byte_ps = 20000}},
    {"fast", {.latency_ns = 3000, .byte_ps = 90}},
};

typedef enum measured { MEASURED_RECORDED, MEASURED_ANSWERED, MEASURED_ANNOUNCED } measured_t;

typedef struct case_row {
    const char *name;
    measured_t measured;
    int32_t forced;
} case_row_t;

static const case_row_t cases[] = {
    {"recorded", MEASURED_RECORDED, CLV_ALGORITHM_AUTO},
    {"answered", MEASURED_ANSWERED, CLV_ALGORITHM_AUTO},
    {"announced", MEASURED_ANNOUNCED, CLV_ALGORITHM_AUTO},
    {"chain", MEASURED_ANSWERED, CLV_ALGORITHM_CHAIN},
    {"latest_first", MEASURED_ANSWERED, CLV_ALGORITHM_LATEST_FIRST},
    {"clairvoyant", MEASURED_ANNOUNCED, CLV_ALGORITHM_CLAIRVOYANT},
};

/* What a call takes of its estimate, per algorithm: each is best somewhere. */
static const int64_t truth_permille[CLV_N_ALGORITHMS] = {
    [CLV_ALGORITHM_PREVIOUS] = 900,      [CLV_ALGORITHM_RANK_CHAIN] = 1500,
    [CLV_ALGORITHM_CHAIN] = 1500,        [CLV_ALGORITHM_LATEST_FIRST] = 1250,
    [CLV_ALGORITHM_CLAIRVOYANT] = 1200,  [CLV_ALGORITHM_BINOMIAL] = 1300,
    [CLV_ALGORITHM_RABENSEIFNER] = 1100, [CLV_ALGORITHM_RING] = 1400,
};

static const char *const reason_names[] = {
#define REASON_NAME(code, name, text) #name,
    CLV_REASON_MAP(REASON_NAME)
#undef REASON_NAME
};

typedef struct replay {
    const clv_trace_t *trace;
    const case_row_t *is;
    clv_choose_config_t config;
    clv_pap_stream_key_t key;
    clv_choose_state_t state;
    clv_plan_cache_t *plans;
    clv_pap_record_t records[MAX_RANKS];
    int64_t predicted_ns[MAX_RANKS];
    clv_choose_decision_t decided[MAX_CALLS + 1]; /* by version */
    int was_announced[MAX_CALLS + 1];
    int n_chosen[CLV_N_ALGORITHMS];
    uint64_t hash;
} replay_t;

/* ---- what the trace says --------------------------------------------------------------------- */

static FILE *open_data(const char *name, const char *mode)
{
    char path[4096];
    const char *top = getenv("CLV_TOP");
    FILE *file;

    snprintf(path, sizeof path, "%s/tests/data/%s", top == NULL ? "." : top, name);
    file = fopen(path, mode);
    if (file == NULL) {
        fail_msg("%s: cannot open", path);
    }
    return file;
}

static void read_trace(const char *name, clv_trace_t *trace)
{
    char path[256];
    int line;
    const char *reason = "";
    FILE *file;

    snprintf(path, sizeof path, "traces/%s.txt", name);
    file = open_data(path, "r");
    assert_int_equal(clv_trace_read(file, trace, &line, &reason), CLV_OK);
    fclose(file);
    assert_in_range(trace->n_ranks, 2, MAX_RANKS);
    assert_in_range(trace->n_calls, 4, MAX_CALLS);
}

static int64_t last_of(const int64_t *ns, int32_t n_ranks)
{
    int64_t last = ns[0];

    for (int32_t p = 1; p < n_ranks; p++) {
        last = ns[p] > last ? ns[p] : last;
    }
    return last;
}

static int is_announced(const replay_t *replay, int32_t call)
{
    return replay->is->measured == MEASURED_ANNOUNCED && call % 7 < 4;
}

/* What the call before this one ran: the decision it waited for, or the next where announced. */
static const clv_choose_decision_t *ran_before(const replay_t *replay, int32_t call)
{
    const int32_t version = call - 1;
    return &replay->decided[version + (version > 0 && replay->was_announced[version])];
}

static int64_t exit_of(const replay_t *replay, int32_t call, int32_t rank)
{
    const size_t n_ranks = (size_t) replay->trace->n_ranks;
    const int64_t *arrival_ns = replay->trace->arrival_ns + (size_t) (call - 1) * n_ranks;
    const clv_choose_decision_t *ran = ran_before(replay, call);

    if (replay->is->measured == MEASURED_RECORDED) {
        return replay->trace->exit_ns[(size_t) (call - 1) * n_ranks + (size_t) rank];
    }
    return last_of(arrival_ns, replay->trace->n_ranks) +
           ran->predicted_after_ns / 1000 * truth_permille[ran->algorithm] - 100 * rank;
}

static void fill_records(replay_t *replay, int32_t call)
{
    const int32_t n_ranks = replay->trace->n_ranks;
    const int64_t *arrival_ns = replay->trace->arrival_ns + (size_t) call * (size_t) n_ranks;

    for (int32_t rank = 0; rank < n_ranks; rank++) {
        clv_pap_record_t *record = &replay->records[rank];
        *record = (clv_pap_record_t){.arrival_ns = arrival_ns[rank]};
        if (is_announced(replay, call)) {
            record->flags |= CLV_PAP_RECORD_ANNOUNCED;
            record->lead_ns = 1000000;
        }
        if (call > 0) {
            record->previous_arrival_ns = arrival_ns[rank - n_ranks];
            record->previous_exit_ns = exit_of(replay, call, rank);
            record->previous_choice = ran_before(replay, call)->algorithm;
            record->flags |= CLV_PAP_RECORD_PREVIOUS;
        }
    }
}

/* ---- a history ------------------------------------------------------------------------------- */

static void add(replay_t *replay, const void *bytes, size_t n_bytes)
{
    replay->hash = clv_fnv1a64(replay->hash, bytes, n_bytes);
}

static void add_number(replay_t *replay, int64_t number)
{
    add(replay, &number, sizeof number);
}

/* Names, not codes, so that tables may be sorted otherwise. */
static void add_decision(replay_t *replay, const clv_choose_decision_t *decision)
{
    add(replay, clv_algorithm_word(decision->algorithm),
        strlen(clv_algorithm_word(decision->algorithm)));
    add(replay, reason_names[decision->reason], strlen(reason_names[decision->reason]));
    add_number(replay, decision->n_segments);
    add_number(replay, decision->announced);
    add_number(replay, decision->round_ns);
    add_number(replay, decision->sigma_ns);
    add_number(replay, decision->predicted_after_ns);
    add_number(replay, decision->predicted_in_mpi_ns);
    replay->n_chosen[decision->algorithm]++;
}

static void add_plan(replay_t *replay, const clv_pap_forecast_t *forecast,
                     const clv_choose_decision_t *decision)
{
    const clv_plan_t *plan = NULL;

    if (decision->algorithm == CLV_ALGORITHM_PREVIOUS) {
        return;
    }
    assert_int_equal(clv_choose_cached_plan(&replay->config, &replay->key, forecast, decision,
                                            replay->plans, &plan),
                     CLV_OK);
    add_number(replay, (int64_t) clv_plan_hash(plan));
}

static void one_call(replay_t *replay, clv_pap_history_t *history, int32_t call)
{
    const clv_pap_record_set_t set = {
        .n_ranks = replay->trace->n_ranks, .sequence = call, .records = replay->records};
    clv_pap_forecast_t forecast = {0};
    clv_choose_decision_t *decision = &replay->decided[call + 1];

    fill_records(replay, call);
    clv_pap_history_feed(history, &set, &forecast, replay->predicted_ns);
    assert_int_equal(forecast.version, call + 1);
    replay->was_announced[forecast.version] = forecast.announced;
    assert_int_equal(clv_choose(&replay->config, &replay->key, &forecast, &replay->state,
                                replay->plans, decision),
                     CLV_OK);
    add_decision(replay, decision);
    add_plan(replay, &forecast, decision);
}

static void play(replay_t *replay)
{
    clv_pap_history_t *history = NULL;

    assert_int_equal(
        clv_plan_cache_create(CLV_CHOOSE_CACHE_PLANS, CLV_CHOOSE_CACHE_BYTES, &replay->plans),
        CLV_OK);
    assert_int_equal(
        clv_pap_history_create(replay->trace->n_ranks, WINDOW, clv_pap_predictor_best, &history),
        CLV_OK);
    clv_pap_history_take_all_calls(history);
    for (int32_t call = 0; call < replay->trace->n_calls; call++) {
        one_call(replay, history, call);
    }
    clv_pap_history_free(history);
    clv_plan_cache_free(replay->plans);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void append_line(char *text, const char *trace_name, const replay_t *replay,
                        const char *network)
{
    size_t length = strlen(text);

    snprintf(text + length, MAX_TEXT - length,
             "%-15s %s %7lld %-12s previous %3d rank_chain %3d chain %3d latest_first %3d "
             "clairvoyant %3d %016llx\n",
             trace_name, network, (long long) replay->key.total_bytes, replay->is->name,
             replay->n_chosen[CLV_ALGORITHM_PREVIOUS], replay->n_chosen[CLV_ALGORITHM_RANK_CHAIN],
             replay->n_chosen[CLV_ALGORITHM_CHAIN], replay->n_chosen[CLV_ALGORITHM_LATEST_FIRST],
             replay->n_chosen[CLV_ALGORITHM_CLAIRVOYANT], (unsigned long long) replay->hash);
}

static void replay_case(char *text, const char *trace_name, const clv_trace_t *trace,
                        const network_row_t *network, const case_row_t *is, int64_t total_bytes)
{
    static replay_t replay;

    replay = (replay_t){
        .trace = trace,
        .is = is,
        .config = {.n_ranks = trace->n_ranks,
                   .reduce_algorithm = is->forced,
                   .guard_permille = 200,
                   .max_cells = 65536,
                   .cost = network->cost},
        .key = {.collective = CLV_COLLECTIVE_REDUCE, .root = 1, .total_bytes = total_bytes},
        .hash = CLV_FNV1A64_BASIS};
    play(&replay);
    append_line(text, trace_name, &replay, network->name);
}

static void replay_trace(char *text, const char *name)
{
    clv_trace_t trace;

    read_trace(name, &trace);
    for (size_t n = 0; n < sizeof networks / sizeof networks[0]; n++) {
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            replay_case(text, name, &trace, &networks[n], &cases[i], 1 << 16);
            replay_case(text, name, &trace, &networks[n], &cases[i], 1 << 21);
        }
    }
    clv_trace_clear(&trace);
}

static void compare_lines(const char *text, FILE *file)
{
    char expected[512];
    int n_other = 0;

    for (const char *line = text; *line != '\0';) {
        const size_t length = strcspn(line, "\n") + 1;
        if (fgets(expected, (int) sizeof expected, file) == NULL) {
            expected[0] = '\0';
        }
        if (strlen(expected) != length || strncmp(line, expected, length) != 0) {
            print_message("# was %s# is  %.*s", expected[0] == '\0' ? "-\n" : expected,
                          (int) length, line);
            n_other++;
        }
        line += length;
    }
    assert_null(fgets(expected, (int) sizeof expected, file));
    assert_int_equal(n_other, 0);
}

static void recorded_histories_are_decided_as_before(void **state)
{
    static char text[MAX_TEXT];
    const int writes = getenv("CLV_WRITE") != NULL;
    FILE *file;

    (void) state;
    for (size_t i = 0; i < sizeof traces / sizeof traces[0]; i++) {
        replay_trace(text, traces[i]);
    }
    file = open_data("decisions.txt", writes ? "w" : "r");
    if (writes) {
        fputs(text, file);
    } else {
        compare_lines(text, file);
    }
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_histories_are_decided_as_before),
    };

    return clv_run_tests(tests);
}
