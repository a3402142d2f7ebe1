/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The predictor that follows the best of the others: programs whose arrival pattern changes its
 * nature are drawn at random, and `best` must come close to whichever fixed predictor suits the
 * pattern of the moment, without flapping, and with a sigma of what it announced itself.
 */
#include <math.h>

#include "pap_predict/predict/pap_follow.h"
#include "pap_predict/predict/pap_history.h"
#include "tests/sim/cs_random.h"
#include "tests/support/test.h"
#include "util/util_time.h"

#define US     CLV_NS_PER_US
#define MS     CLV_NS_PER_MS
#define P      8
#define WINDOW 8
#define PHASE  60 /* calls of one nature */
#define SETTLE 30 /* the first of them are not judged */
#define PHASES 6
#define CALLS  (PHASE * PHASES)
#define JOBS   60

typedef enum nature { REPEATED, PERIODIC, DRIFTING, DISTURBED, WANDERING, FRESH, NATURES } nature_t;

static cs_random_t generator;

/* What a job's ranks do: global arrivals and exits. */
typedef struct job {
    nature_t nature[PHASES];
    int64_t arrival_ns[CALLS][P];
    int64_t exit_ns[CALLS][P];
} job_t;

/* ---- drawing jobs ---------------------------------------------------------------------------- */

/* Lateness that one phase keeps: of each rank, for each of three calls in turn. */
static void draw_usual(int64_t usual[3][P])
{
    for (int turn = 0; turn < 3; turn++) {
        for (int rank = 0; rank < P; rank++) {
            usual[turn][rank] = cs_random_range(&generator, 0, 40 * MS);
        }
    }
}

static int64_t draw_late(nature_t nature, int64_t usual[3][P], int call, int rank)
{
    switch (nature) {
    case PERIODIC:
        return usual[call % 3][rank];
    case DRIFTING:
        return call * (usual[0][rank] / 16);
    case DISTURBED:
        return usual[0][rank] + (cs_random_range(&generator, 1, 6 * P) == 1 ? 80 * MS : 0);
    case WANDERING:
        usual[0][rank] += cs_random_range(&generator, -2 * MS, 2 * MS);
        return usual[0][rank];
    case FRESH:
        return cs_random_range(&generator, 0, 40 * MS);
    default:
        return usual[0][rank];
    }
}

/* Released as soon as its own part is done, or, where nothing drifts, by a barrier. */
static int64_t draw_exit(nature_t nature, const int64_t *arrival_ns, int rank)
{
    int64_t last_ns = arrival_ns[rank];
    for (int other = 0; other < P && nature != DRIFTING; other++) {
        last_ns = arrival_ns[other] > last_ns ? arrival_ns[other] : last_ns;
    }
    return last_ns + MS + cs_random_range(&generator, 0, 50 * US);
}

static void draw_job(job_t *job)
{
    int64_t usual[3][P];
    for (int call = 0; call < CALLS; call++) {
        nature_t *nature = &job->nature[call / PHASE];
        if (call % PHASE == 0) {
            draw_usual(usual);
            *nature = (nature_t) cs_random_range(&generator, 0, NATURES - 1);
        }
        for (int rank = 0; rank < P; rank++) {
            job->arrival_ns[call][rank] = (call + 1) * 200 * MS +
                                          draw_late(*nature, usual, call % PHASE, rank) +
                                          cs_random_range(&generator, 0, 200 * US);
        }
        for (int rank = 0; rank < P; rank++) {
            job->exit_ns[call][rank] = draw_exit(*nature, job->arrival_ns[call], rank);
        }
    }
}

/* ---- playing them ---------------------------------------------------------------------------- */

typedef struct play {
    double error_ns[CALLS];   /* rms over the ranks of what was announced before; [0]: none */
    int64_t sigma_ns[CALLS];  /* claimed for the call */
    int32_t predictor[CALLS]; /* who made it */
} play_t;

static double error_of(const int64_t *arrival_ns, const int64_t *predicted_ns)
{
    double mean = 0.0;
    double sum = 0.0;
    for (int rank = 0; rank < P; rank++) {
        mean += (double) (arrival_ns[rank] - arrival_ns[0] - predicted_ns[rank]) / P;
    }
    for (int rank = 0; rank < P; rank++) {
        double off = (double) (arrival_ns[rank] - arrival_ns[0] - predicted_ns[rank]) - mean;
        sum += off * off;
    }
    return sqrt(sum / P);
}

static void fill_records(const job_t *job, int call, clv_pap_record_t *records)
{
    memset(records, 0, P * sizeof *records);
    for (int rank = 0; rank < P; rank++) {
        records[rank].arrival_ns = job->arrival_ns[call][rank];
        if (call > 0) {
            records[rank].previous_arrival_ns = job->arrival_ns[call - 1][rank];
            records[rank].previous_exit_ns = job->exit_ns[call - 1][rank];
            records[rank].flags = CLV_PAP_RECORD_PREVIOUS;
        }
    }
}

static void play(const job_t *job, clv_pap_predictor_t predictor, play_t *play)
{
    clv_pap_history_t *history;
    clv_pap_forecast_t forecast = {0};
    int64_t predicted_ns[P] = {0};
    assert_int_equal(clv_pap_history_create(P, WINDOW, predictor, &history), CLV_OK);
    for (int call = 0; call < CALLS; call++) {
        clv_pap_record_t records[P];
        play->sigma_ns[call] = forecast.sigma_ns;
        play->error_ns[call] = error_of(job->arrival_ns[call], predicted_ns);
        fill_records(job, call, records);
        clv_pap_record_set_t set = {.n_ranks = P, .sequence = call, .records = records};
        clv_pap_history_feed(history, &set, &forecast, predicted_ns);
        play->predictor[call] = forecast.predictor;
        assert_int_equal(forecast.predictor != (int32_t) predictor,
                         predictor == clv_pap_predictor_best);
    }
    clv_pap_history_free(history);
}

/* ---- what must hold -------------------------------------------------------------------------- */

typedef struct tally {
    double squares[NATURES][CLV_PAP_N_PREDICTORS];
} tally_t;

static void add_settled(const job_t *job, const play_t *play, int predictor, tally_t *tally)
{
    for (int call = 0; call < CALLS; call++) {
        double error_ns = play->error_ns[call];
        if (call % PHASE >= SETTLE) {
            tally->squares[job->nature[call / PHASE]][predictor] += error_ns * error_ns;
        }
    }
}

static int best_fixed(const double *squares)
{
    int best = clv_pap_predictor_periodic;
    for (int i = 0; i < CLV_PAP_N_PREDICTORS; i++) {
        if (i != clv_pap_predictor_best && squares[i] < squares[best]) {
            best = i;
        }
    }
    return best;
}

static void it_comes_close_to_the_best_fixed_one_for_every_nature(void **state)
{
    (void) state;
    static job_t job;
    static play_t played;
    static tally_t tally;
    double lost[CLV_PAP_N_PREDICTORS] = {0};
    if (clv_is_left_out()) {
        skip();
    }
    for (int i = 0; i < JOBS; i++) {
        draw_job(&job);
        for (int predictor = 0; predictor < CLV_PAP_N_PREDICTORS; predictor++) {
            play(&job, (clv_pap_predictor_t) predictor, &played);
            add_settled(&job, &played, predictor, &tally);
        }
    }
    for (int nature = 0; nature < NATURES; nature++) {
        const double *squares = tally.squares[nature];
        int fixed = best_fixed(squares);
        double ratio = sqrt(squares[clv_pap_predictor_best] / squares[fixed]);
        printf("# nature %d: best fixed %s, best is at %.3f of it\n", nature,
               clv_pap_predictors[fixed].name, ratio);
        assert_true(ratio <= 1.10);
        for (int i = 0; i < CLV_PAP_N_PREDICTORS; i++) {
            lost[i] = fmax(lost[i], sqrt(squares[i] / squares[fixed]));
        }
    }
    for (int i = 0; i < CLV_PAP_N_PREDICTORS; i++) { /* and no fixed one would do */
        assert_true(i == clv_pap_predictor_best || lost[i] > 1.15);
    }
}

static void it_rarely_changes_its_mind(void **state)
{
    (void) state;
    static job_t job;
    static play_t played;
    int n_changes = 0;
    int n_calls = 0;
    for (int i = 0; i < JOBS; i++) {
        draw_job(&job);
        play(&job, clv_pap_predictor_best, &played);
        for (int call = 1; call < CALLS; call++) {
            n_calls += call % PHASE >= SETTLE;
            n_changes +=
                call % PHASE >= SETTLE && played.predictor[call] != played.predictor[call - 1];
        }
    }
    printf("# %d changes in %d settled calls\n", n_changes, n_calls);
    assert_true(n_changes * 20 < n_calls);
}

/* The rms of the last WINDOW errors of what was announced, whoever it came from, a little raised.
 */
static void sigma_is_the_error_of_what_was_announced(void **state)
{
    (void) state;
    static job_t job;
    static play_t played;
    int n_changes = 0;
    for (int i = 0; i < JOBS / 4; i++) {
        draw_job(&job);
        play(&job, clv_pap_predictor_best, &played);
        for (int call = 2; call < CALLS; call++) { /* sigma for call: errors of calls before it */
            double squares = 0.0;
            int n = call - 1 < WINDOW ? call - 1 : WINDOW;
            for (int age = 1; age <= n; age++) {
                squares += played.error_ns[call - age] * played.error_ns[call - age];
            }
            double claimed = sqrt(squares / n) * (1.0 + 1.0 / n);
            claimed = fmax(claimed, played.error_ns[call - 1]);
            assert_true(fabs(claimed - (double) played.sigma_ns[call]) <= 50.0 + claimed * 1e-3);
            n_changes += played.predictor[call] != played.predictor[call - 1];
        }
    }
    assert_true(n_changes > 0);
}

/* ---- the choice alone ------------------------------------------------------------------------ */

static void judge_times(clv_pap_follow_t *best, int n_calls, const int64_t *error_ns)
{
    for (int i = 0; i < n_calls; i++) {
        clv_pap_follow_judge(best, error_ns);
    }
}

static void nearly_equal_ones_do_not_take_turns(void **state)
{
    (void) state;
    clv_pap_follow_t best;
    int64_t error_ns[CLV_PAP_N_PREDICTORS];
    clv_pap_follow_begin(&best);
    for (int call = 0; call < 1000; call++) {
        for (int i = 0; i < CLV_PAP_N_PREDICTORS; i++) {
            error_ns[i] = MS + cs_random_range(&generator, 0, MS / 25);
        }
        clv_pap_follow_judge(&best, error_ns);
        assert_int_equal(best.followed, clv_pap_predictor_periodic);
    }
}

static void the_better_one_is_found_and_the_past_forgotten(void **state)
{
    (void) state;
    clv_pap_follow_t best;
    for (int i = 1; i < CLV_PAP_N_PREDICTORS; i++) {
        int64_t error_ns[CLV_PAP_N_PREDICTORS];
        for (int other = 0; other < CLV_PAP_N_PREDICTORS; other++) {
            error_ns[other] = other == i ? 0 : MS; /* best's own place is the worst decoy: 0 */
        }
        error_ns[clv_pap_predictor_best] = 0;
        clv_pap_follow_begin(&best);
        judge_times(&best, 1, error_ns);
        assert_int_equal(best.followed, i);
        error_ns[i] = 3 * MS;
        judge_times(&best, CLV_PAP_FOLLOW_JUDGED, error_ns);
        assert_int_not_equal(best.followed, i);
        assert_int_not_equal(best.followed, clv_pap_predictor_best);
    }
}

static void a_call_that_surprises_all_alike_changes_nothing(void **state)
{
    (void) state;
    clv_pap_follow_t best;
    int64_t error_ns[CLV_PAP_N_PREDICTORS];
    for (int i = 0; i < CLV_PAP_N_PREDICTORS; i++) {
        error_ns[i] = i == clv_pap_predictor_median ? US : MS;
    }
    clv_pap_follow_begin(&best);
    judge_times(&best, 5, error_ns);
    assert_int_equal(best.followed, clv_pap_predictor_median);
    for (int i = 0; i < CLV_PAP_N_PREDICTORS; i++) {
        error_ns[i] = INT64_C(1) << 43;
    }
    judge_times(&best, 40, error_ns);
    assert_int_equal(best.followed, clv_pap_predictor_median);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_comes_close_to_the_best_fixed_one_for_every_nature),
        cmocka_unit_test(it_rarely_changes_its_mind),
        cmocka_unit_test(sigma_is_the_error_of_what_was_announced),
        cmocka_unit_test(nearly_equal_ones_do_not_take_turns),
        cmocka_unit_test(the_better_one_is_found_and_the_past_forgotten),
        cmocka_unit_test(a_call_that_surprises_all_alike_changes_nothing),
    };
    cs_random_seed_from_environment(&generator);
    return clv_run_tests(tests);
}
