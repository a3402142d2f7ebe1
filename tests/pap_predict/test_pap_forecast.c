/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Forecasts and predictors: against slow obvious versions, and for the honesty of sigma.
 */
#include <math.h>

#include "pap_predict/predict/pap_history.h"
#include "tests/sim/cs_random.h"
#include "tests/support/test.h"
#include "util/util_alloc.h"
#include "util/util_time.h"

#define US    CLV_NS_PER_US
#define MS    CLV_NS_PER_MS
#define P     6
#define CALLS 40

static cs_random_t generator;

/* One stream fed call by call. */
typedef struct bench {
    clv_pap_history_t *history;
    clv_pap_record_t records[P];
    clv_pap_forecast_t forecast;
    int64_t predicted_ns[P];
    int64_t sequence;
    uint32_t generation;
    int64_t start_ns; /* of the next call */
} bench_t;

static void start(bench_t *bench, int32_t window, clv_pap_predictor_t predictor)
{
    memset(bench, 0, sizeof *bench);
    assert_int_equal(clv_pap_history_create(P, window, predictor, &bench->history), CLV_OK);
    bench->start_ns = 5 * MS;
}

static void take_down(bench_t *bench)
{
    clv_pap_history_free(bench->history);
}

static void set_arrivals(bench_t *bench, const int64_t *late_ns)
{
    memset(bench->records, 0, sizeof bench->records);
    for (int i = 0; i < P; i++) {
        bench->records[i].arrival_ns = bench->start_ns + late_ns[i];
    }
}

static void feed(bench_t *bench)
{
    clv_pap_record_set_t set = {.n_ranks = P,
                                .generation = bench->generation,
                                .sequence = bench->sequence++,
                                .records = bench->records};
    clv_pap_history_feed(bench->history, &set, &bench->forecast, bench->predicted_ns);
    assert_int_equal(bench->forecast.version, bench->sequence);
    assert_int_equal(bench->forecast.n_ranks, P);
    assert_ptr_equal(bench->forecast.predicted_ns, bench->predicted_ns);
    assert_int_not_equal(bench->forecast.hash, 0);
    bench->start_ns += 10 * MS;
}

static void feed_late(bench_t *bench, const int64_t *late_ns)
{
    set_arrivals(bench, late_ns);
    feed(bench);
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

static void roots_are_floors(void **state)
{
    (void) state;
    for (int i = 0; i < 100000; i++) {
        uint64_t number = cs_random_u64(&generator) >> (i % 64);
        uint64_t root = clv_pap_isqrt(number);
        assert_true(root * root <= number);
        assert_true(root == UINT32_MAX || (root + 1) * (root + 1) > number);
    }
    assert_int_equal(clv_pap_isqrt(0), 0);
    assert_int_equal(clv_pap_isqrt(UINT64_MAX), UINT32_MAX);
}

static void rms_is_close_to_the_real_one(void **state)
{
    (void) state;
    for (int round = 0; round < 2000; round++) {
        int64_t values[50];
        double sum = 0.0;
        int32_t n = (int32_t) cs_random_range(&generator, 1, 50);
        int64_t limit = INT64_C(1) << cs_random_range(&generator, 8, 43);
        for (int32_t i = 0; i < n; i++) {
            values[i] = cs_random_range(&generator, -limit, limit);
            sum += (double) values[i] * (double) values[i];
        }
        double rms = sqrt(sum / n);
        assert_true(fabs((double) clv_pap_rms(values, n) - rms) <= 1.0 + rms * 1e-5);
    }
    assert_int_equal(clv_pap_rms(NULL, 0), 0);
}

/* ---- predictions ----------------------------------------------------------------------------- */

static void sma_equals_the_slow_average(void **state)
{
    (void) state;
    for (int32_t window = 1; window <= 9; window++) {
        int64_t late[CALLS][P];
        bench_t bench;
        start(&bench, window, clv_pap_predictor_sma);
        for (int call = 0; call < CALLS; call++) {
            for (int rank = 0; rank < P; rank++) {
                late[call][rank] = cs_random_range(&generator, 0, 50 * MS);
            }
            late[call][call % P] = 0;
            feed_late(&bench, late[call]);
            int32_t n = call + 1 < window ? call + 1 : window;
            int64_t mean[P];
            int64_t smallest = INT64_MAX;
            for (int rank = 0; rank < P; rank++) {
                int64_t sum = 0;
                for (int i = 0; i < n; i++) {
                    sum += late[call - i][rank];
                }
                mean[rank] = sum / n;
                smallest = mean[rank] < smallest ? mean[rank] : smallest;
            }
            assert_int_equal(bench.forecast.n_record_sets, n);
            for (int rank = 0; rank < P; rank++) {
                assert_int_equal(bench.predicted_ns[rank], mean[rank] - smallest);
            }
        }
        take_down(&bench);
    }
}

static int64_t pattern(int kind, int call, int rank)
{
    switch (kind) {
    case 0:
        return rank * MS; /* repeated */
    case 1:
        return ((call % 3) * 7 + rank * 5) % P * MS; /* period 3 */
    case 2:
        return (call % 9 == 4 && rank == 2 ? 90 : rank) * MS; /* one call disturbed */
    default:
        return (int64_t) call * rank * 100 * US; /* drifting apart */
    }
}

/* Mean absolute error relative to each call's mean, after a warm-up. */
static int64_t error_of(clv_pap_predictor_t predictor, int kind)
{
    bench_t bench;
    int64_t sum = 0;
    start(&bench, 12, predictor);
    clv_pap_history_take_all_calls(bench.history);
    for (int call = 0; call < CALLS; call++) {
        int64_t late[P];
        int64_t mean = 0;
        for (int rank = 0; rank < P; rank++) {
            late[rank] = pattern(kind, call, rank);
            mean += (late[rank] - bench.predicted_ns[rank]) / P;
        }
        for (int rank = 0; rank < P && call >= CALLS / 2; rank++) {
            sum += llabs(late[rank] - bench.predicted_ns[rank] - mean);
        }
        set_arrivals(&bench, late);
        for (int rank = 0; rank < P && call > 0; rank++) {
            bench.records[rank].previous_arrival_ns =
                bench.start_ns - 10 * MS + pattern(kind, call - 1, rank);
            bench.records[rank].previous_exit_ns = bench.records[rank].previous_arrival_ns + MS;
            bench.records[rank].flags = CLV_PAP_RECORD_PREVIOUS;
        }
        feed(&bench);
    }
    take_down(&bench);
    return sum / (CALLS / 2) / P;
}

static void each_predictor_has_its_pattern(void **state)
{
    (void) state;
    for (int i = 0; i < CLV_PAP_N_PREDICTORS; i++) {
        assert_true(error_of((clv_pap_predictor_t) i, 0) < 10 * US);
        assert_non_null(clv_pap_predictors[i].name);
    }
    assert_true(error_of(clv_pap_predictor_periodic, 1) < 10 * US);
    assert_true(error_of(clv_pap_predictor_sma, 1) > MS);
    assert_true(error_of(clv_pap_predictor_median, 2) < error_of(clv_pap_predictor_sma, 2));
    assert_true(error_of(clv_pap_predictor_compute, 3) < 10 * US);
    assert_true(error_of(clv_pap_predictor_ewma, 3) < error_of(clv_pap_predictor_sma, 3));
    assert_int_equal(error_of(clv_pap_predictor_periodic, 0), error_of(clv_pap_predictor_sma, 0));
}

/* ---- uncertainty ----------------------------------------------------------------------------- */

/* Over many jobs of random patterns: calls outside 4 sigma are few, sigma is not far too large. */
static void sigma_is_honest(void **state)
{
    (void) state;
    int n_judged = 0;
    int n_outside = 0;
    double claimed = 0.0;
    double shown = 0.0;
    for (int round = 0; round < 200; round++) {
        bench_t bench;
        int64_t spread = cs_random_range(&generator, 100 * US, 50 * MS);
        start(&bench, 8, clv_pap_predictor_sma);
        for (int call = 0; call < CALLS; call++) {
            int64_t late[P];
            int64_t sigma = bench.forecast.sigma_ns;
            for (int rank = 0; rank < P; rank++) {
                late[rank] = rank * 3 * MS + cs_random_range(&generator, 0, spread);
            }
            feed_late(&bench, late);
            if (call > 1) {
                n_judged++;
                n_outside += bench.forecast.worst_error_ns > 4 * sigma;
                claimed += (double) sigma;
                shown += (double) bench.forecast.worst_error_ns / 2;
            }
        }
        take_down(&bench);
    }
    assert_true(n_outside * 100 < n_judged);
    assert_true(claimed > 0.6 * shown);
    assert_true(claimed < 3.0 * shown);
}

static void few_record_sets_make_a_large_sigma(void **state)
{
    (void) state;
    bench_t bench;
    const int64_t late[P] = {0, 0, 0, 0, 0, 60 * MS};
    start(&bench, 8, clv_pap_predictor_sma);
    feed_late(&bench, late);
    assert_true(bench.forecast.sigma_ns > 40 * MS); /* nothing was predicted yet */
    feed_late(&bench, late);
    assert_int_equal(bench.forecast.sigma_ns, 0);
    assert_int_equal(bench.forecast.worst_error_ns, 0);
    take_down(&bench);
}

static void a_surprise_widens_sigma_at_once(void **state)
{
    (void) state;
    bench_t bench;
    const int64_t before[P] = {0, 1 * MS, 2 * MS, 3 * MS, 4 * MS, 5 * MS};
    const int64_t after[P] = {50 * MS, 0, 0, 0, 0, 0};
    start(&bench, 8, clv_pap_predictor_sma);
    for (int i = 0; i < 20; i++) {
        feed_late(&bench, before);
    }
    int64_t sigma = bench.forecast.sigma_ns;
    feed_late(&bench, after);
    assert_true(bench.forecast.worst_error_ns > 4 * sigma + 40 * MS);
    assert_true(bench.forecast.sigma_ns > 15 * MS);
    take_down(&bench);
}

static void the_clock_error_is_a_floor(void **state)
{
    (void) state;
    bench_t bench;
    const int64_t late[P] = {0};
    start(&bench, 8, clv_pap_predictor_sma);
    for (int i = 0; i < 3; i++) {
        set_arrivals(&bench, late);
        bench.records[4].clock_error_ns = 7777;
        feed(&bench);
    }
    assert_int_equal(bench.forecast.clock_error_ns, 7777);
    assert_int_equal(bench.forecast.sigma_ns, 7777);
    take_down(&bench);
}

/* ---- what makes no row ----------------------------------------------------------------------- */

static void invalid_record_sets_are_skipped_alike(void **state)
{
    (void) state;
    bench_t bench;
    const int64_t late[P] = {0, MS, 2 * MS};
    const int64_t wild[P] = {0, 900 * MS};
    start(&bench, 8, clv_pap_predictor_sma);
    set_arrivals(&bench, wild);
    bench.records[3].flags = CLV_PAP_RECORD_INVALID;
    feed(&bench);
    assert_int_equal(bench.forecast.n_record_sets, 0);
    assert_int_equal(bench.forecast.sample_every, 2); /* while clocks come up, ask less and less */
    feed_late(&bench, late);
    assert_int_equal(bench.forecast.n_record_sets, 1);
    set_arrivals(&bench, wild);
    bench.records[0].flags = CLV_PAP_RECORD_INVALID;
    feed(&bench);
    assert_int_equal(bench.forecast.n_record_sets, 1);
    assert_int_equal(bench.predicted_ns[2], 2 * MS);
    take_down(&bench);
}

static void a_new_stream_in_the_slot_starts_afresh(void **state)
{
    (void) state;
    bench_t bench;
    const int64_t late[P] = {0, 40 * MS};
    const int64_t other[P] = {3 * MS};
    start(&bench, 8, clv_pap_predictor_sma);
    for (int i = 0; i < 5; i++) {
        feed_late(&bench, late);
    }
    bench.generation++;
    feed_late(&bench, other);
    assert_int_equal(bench.forecast.n_record_sets, 1);
    assert_int_equal(bench.forecast.generation, 1);
    assert_int_equal(bench.predicted_ns[0], 3 * MS);
    assert_int_equal(bench.predicted_ns[1], 0);
    take_down(&bench);
}

static void wild_times_stay_in_range(void **state)
{
    (void) state;
    for (int i = 0; i < CLV_PAP_N_PREDICTORS; i++) {
        bench_t bench;
        start(&bench, 5, (clv_pap_predictor_t) i);
        for (int call = 0; call < 30; call++) {
            for (int rank = 0; rank < P; rank++) {
                clv_pap_record_t *record = &bench.records[rank];
                int64_t limit = CLV_PAP_MAX_TIME_NS;
                record->arrival_ns = cs_random_range(&generator, -limit, limit);
                record->previous_arrival_ns = cs_random_range(&generator, -limit, limit);
                record->previous_exit_ns = cs_random_range(&generator, -limit, limit);
                record->latency_ns = (uint32_t) cs_random_u64(&generator);
                record->flags = CLV_PAP_RECORD_PREVIOUS;
            }
            feed(&bench);
            assert_true(bench.forecast.sample_every >= 1);
            assert_true(bench.forecast.sample_every <= CLV_PAP_MAX_SAMPLE_EVERY);
            assert_true(bench.forecast.sigma_ns >= 0);
            for (int rank = 0; rank < P; rank++) {
                assert_true(bench.predicted_ns[rank] >= 0);
                assert_true(bench.predicted_ns[rank] <= CLV_PAP_MAX_SPREAD_NS);
            }
        }
        take_down(&bench);
    }
}

/* ---- the call before, the sampling distance, hints ------------------------------------------- */

/* Who comes before the call before is over everywhere is bound by nobody. */
static void progress_is_measured_and_decoupled_ranks_are_seen(void **state)
{
    (void) state;
    const int64_t late[P] = {0, 1 * MS, 2 * MS, 3 * MS, 9 * MS, 4 * MS};
    for (int clock_error_ms = 0; clock_error_ms < 3; clock_error_ms++) {
        bench_t bench;
        start(&bench, 8, clv_pap_predictor_sma);
        const clv_pap_progress_t *progress = clv_pap_history_progress(bench.history);
        feed_late(&bench, late);
        assert_int_equal(progress->call, 0);
        assert_int_equal(progress->last_arrival_ns, 5 * MS + 9 * MS);
        assert_int_equal(progress->last_rank, 4); /* ahead of the next by 5 ms */
        assert_int_equal(progress->computing_ns, 0);
        for (int over_ms = -2; over_ms < 3; over_ms++) {
            set_arrivals(&bench, late);
            for (int rank = 0; rank < P; rank++) {
                bench.records[rank].flags = CLV_PAP_RECORD_PREVIOUS;
                bench.records[rank].clock_error_ns = (uint32_t) (clock_error_ms * MS / 2);
                bench.records[rank].previous_exit_ns = bench.start_ns + (over_ms - rank) * MS;
            }
            feed(&bench);
            assert_int_equal(progress->is_decoupled, over_ms > clock_error_ms);
            assert_int_equal(progress->last_rank, 4);
            assert_int_equal(progress->computing_ns, (9 - over_ms + 4) * MS);
        }
        set_arrivals(&bench, late);
        bench.records[1].flags = CLV_PAP_RECORD_INVALID;
        feed(&bench);
        assert_int_equal(progress->call, 6);
        assert_int_equal(progress->last_arrival_ns, 0);
        assert_int_equal(progress->last_rank, -1);
        set_arrivals(&bench, late);
        for (int rank = 0; rank < P; rank++) {
            bench.records[rank].clock_error_ns = (uint32_t) (5 * MS / 2); /* twice that is 5 ms */
        }
        feed(&bench);
        assert_int_equal(progress->last_rank, -1);
        take_down(&bench);
    }
}

static void the_call_before_is_described(void **state)
{
    (void) state;
    bench_t bench;
    const int64_t late[P] = {0};
    start(&bench, 8, clv_pap_predictor_sma);
    feed_late(&bench, late);
    assert_int_equal(bench.forecast.previous_choice, -1);
    assert_int_equal(bench.forecast.previous_after_ns, -1);
    set_arrivals(&bench, late);
    for (int rank = 0; rank < P; rank++) {
        bench.records[rank].flags = CLV_PAP_RECORD_PREVIOUS;
        bench.records[rank].previous_choice = 4;
        bench.records[rank].previous_arrival_ns = 1000 * rank;
        bench.records[rank].previous_exit_ns = 1000 * rank + (rank == 2 ? 9000 : 600);
    }
    feed(&bench);
    assert_int_equal(bench.forecast.previous_choice, 4);
    assert_int_equal(bench.forecast.previous_after_ns, 11000 - 5000);
    assert_int_equal(bench.forecast.previous_in_mpi_ns, (9000 + 5 * 600) / P);
    assert_false(bench.forecast.disagree);
    bench.records[5].previous_choice = 3;
    feed(&bench);
    assert_true(bench.forecast.disagree);
    assert_int_equal(bench.forecast.n_record_sets, 0);
    assert_int_equal(bench.forecast.previous_choice, -1);
    take_down(&bench);
}

/* n sampled calls of a loop that takes interval_ns per call; returns how many calls that were. */
static int64_t run_loop(bench_t *bench, int n, int64_t interval_ns, uint32_t latency_ns)
{
    int64_t n_calls = 0;
    for (int i = 0; i < n; i++) {
        int64_t every = bench->sequence > 0 ? bench->forecast.sample_every : 1;
        for (int rank = 0; rank < P; rank++) {
            bench->records[rank] =
                (clv_pap_record_t){.arrival_ns = bench->start_ns, .latency_ns = latency_ns};
        }
        feed(bench);
        bench->start_ns += every * interval_ns - 10 * MS;
        n_calls += every;
    }
    return n_calls;
}

static void calls_far_apart_are_all_sampled(void **state)
{
    (void) state;
    bench_t bench;
    start(&bench, 4, clv_pap_predictor_sma);
    assert_true(run_loop(&bench, 30, 10 * US, 1 * MS) > 3000);
    assert_int_equal(bench.forecast.sample_every, 300); /* three latencies */
    (void) run_loop(&bench, 30, 10 * MS, 1 * MS);
    assert_int_equal(bench.forecast.sample_every, 1);
    (void) run_loop(&bench, 30, CLV_PAP_SAMPLE_NS, 5 * US);
    assert_int_equal(bench.forecast.sample_every, 1);
    take_down(&bench);
}

/* Three latencies of 3 us would be every call. */
static void a_quick_exchange_does_not_make_more_records(void **state)
{
    (void) state;
    bench_t bench;
    start(&bench, 4, clv_pap_predictor_sma);
    (void) run_loop(&bench, 10, 20 * US, 3 * US);
    assert_int_equal(bench.forecast.sample_every, CLV_PAP_SAMPLE_NS / (20 * US));
    take_down(&bench);
}

/* A loop that runs free: rank r computes a tenth of 50 ms less than the rank before it, and is at
 * most `ahead` calls before rank 0. Who is sampled waits until all have come to the sample before.
 */
typedef struct free_loop {
    int64_t arrival_ns[1000][P];
    int64_t leave_ns[P];
    int64_t waited_ns; /* in the newest half of the calls */
    int ahead;         /* 0: nobody leaves before the last has come */
} free_loop_t;

static int64_t last_of(const int64_t *arrival_ns)
{
    int64_t last_ns = arrival_ns[0];
    for (int rank = 1; rank < P; rank++) {
        last_ns = arrival_ns[rank] > last_ns ? arrival_ns[rank] : last_ns;
    }
    return last_ns;
}

static void free_call(free_loop_t *loop, int call, int sample_before)
{
    int64_t *arrival_ns = loop->arrival_ns[call];
    for (int rank = 0; rank < P; rank++) {
        arrival_ns[rank] = loop->leave_ns[rank] + (50 - 5 * rank) * MS;
        loop->leave_ns[rank] = arrival_ns[rank];
    }
    for (int rank = 0; rank < P; rank++) {
        const int64_t there_ns = sample_before < 0 ? 0 : last_of(loop->arrival_ns[sample_before]);
        const int64_t may_ns = loop->ahead == 0     ? last_of(arrival_ns)
                               : call < loop->ahead ? 0
                                                    : loop->arrival_ns[call - loop->ahead][0];
        if (loop->leave_ns[rank] < there_ns) {
            loop->waited_ns += call < 500 ? 0 : there_ns - loop->leave_ns[rank];
            loop->leave_ns[rank] = there_ns;
        }
        loop->leave_ns[rank] = may_ns > loop->leave_ns[rank] ? may_ns : loop->leave_ns[rank];
    }
}

/* Returns the largest K of the newest half. */
static int32_t run_free(free_loop_t *loop, bench_t *bench)
{
    int32_t largest = 0;
    for (int call = 0, next = 0, before = -1; call < 1000; call++) {
        const int sampled = call == next;
        free_call(loop, call, sampled ? before : -1);
        if (sampled) {
            const int64_t *arrival_ns = loop->arrival_ns[call];
            /* At this call the forecast before counts; this record's serves the next one. */
            next += bench->sequence > 0 ? bench->forecast.sample_every : 1;
            before = call;
            bench->start_ns = 0;
            feed_late(bench, arrival_ns);
            largest = call >= 500 && bench->forecast.sample_every > largest
                          ? bench->forecast.sample_every
                          : largest;
        }
    }
    return largest;
}

static void who_may_run_ahead_does_not_wait_for_forecasts(void **state)
{
    (void) state;
    for (int ahead = 1; ahead <= 40; ahead += 3) {
        static free_loop_t loop;
        bench_t bench;
        loop = (free_loop_t){.ahead = ahead};
        start(&bench, 8, clv_pap_predictor_best);
        const int32_t every = run_free(&loop, &bench);
        assert_int_equal(loop.waited_ns, 0);
        assert_true(every <= 2 * ahead + 2);
        take_down(&bench);
    }
}

/* However different their computing is, ranks that wait for each other in each call give records in
 * each. */
static void coupled_ranks_are_sampled_in_each_call(void **state)
{
    (void) state;
    static free_loop_t loop;
    bench_t bench;
    loop = (free_loop_t){.ahead = 0};
    start(&bench, 8, clv_pap_predictor_best);
    assert_int_equal(run_free(&loop, &bench), 1);
    loop.ahead = 20;
    assert_true(run_free(&loop, &bench) > 20);
    loop.ahead = 0;
    assert_int_equal(run_free(&loop, &bench), 1);
    take_down(&bench);
}

static void announce(bench_t *bench, const int64_t *late_ns, const int64_t *actual_before_ns)
{
    set_arrivals(bench, late_ns);
    for (int rank = 0; rank < P; rank++) {
        bench->records[rank].flags = CLV_PAP_RECORD_ANNOUNCED | CLV_PAP_RECORD_PREVIOUS;
        bench->records[rank].previous_arrival_ns =
            bench->start_ns - 10 * MS + (actual_before_ns != NULL ? actual_before_ns[rank] : 0);
        bench->records[rank].previous_exit_ns = bench->records[rank].previous_arrival_ns + MS;
    }
    feed(bench);
}

static void announced_arrivals_are_the_prediction(void **state)
{
    (void) state;
    bench_t bench;
    int64_t late[P];
    int64_t actual[P];
    start(&bench, 8, clv_pap_predictor_sma);
    for (int call = 0; call < 20; call++) {
        int64_t before[P];
        memcpy(before, actual, sizeof before);
        for (int rank = 0; rank < P; rank++) {
            late[rank] = rank == 0 ? 0 : cs_random_range(&generator, 10 * US, 50 * MS);
            actual[rank] = late[rank] + cs_random_range(&generator, 0, 10 * US);
        }
        announce(&bench, late, call == 0 ? NULL : before);
        assert_true(bench.forecast.announced);
        assert_int_equal(bench.forecast.predictor, -1);
        assert_int_equal(bench.forecast.sample_every, 1);
        assert_memory_equal(bench.predicted_ns, late, sizeof late);
        if (call > 0) {
            assert_true(bench.forecast.sigma_ns < 20 * US); /* afresh each call, and yet known */
        }
    }
    const int64_t plain[P] = {0};
    feed_late(&bench, plain);
    assert_false(bench.forecast.announced);
    assert_int_equal(bench.forecast.predictor, clv_pap_predictor_sma);
    assert_true(bench.forecast.n_record_sets >
                0); /* the rows of the calls before are real arrivals */
    set_arrivals(&bench, plain);
    bench.records[1].flags = CLV_PAP_RECORD_ANNOUNCED;
    feed(&bench);
    assert_false(bench.forecast.announced); /* one rank is not all */
    take_down(&bench);
}

/* A call whose ranks all said lead_ns[] ahead when they would come; the exchange takes 8 ms. Heard:
 * their records came with the hint, else (the forecast ignores hints) at the call itself. */
static void tell(bench_t *bench, const int64_t *late_ns, const int64_t *lead_ns,
                 const int64_t *before_ns)
{
    int heard = !bench->forecast.hints_ignored;
    set_arrivals(bench, late_ns);
    for (int rank = 0; rank < P; rank++) {
        clv_pap_record_t *record = &bench->records[rank];
        record->flags = CLV_PAP_RECORD_PREVIOUS | (heard ? CLV_PAP_RECORD_ANNOUNCED : 0);
        record->previous_arrival_ns = bench->start_ns - 10 * MS + before_ns[rank];
        record->previous_exit_ns = record->previous_arrival_ns + MS;
        record->latency_ns = 8 * MS;
        record->lead_ns = (uint32_t) lead_ns[rank];
    }
    feed(bench);
    bench->start_ns += 20 * MS; /* longer than three exchanges: every call is sampled */
}

/* All told one millisecond before the first comes. */
static void tell_of_spread(bench_t *bench, int64_t spread_ns, int n_calls)
{
    int64_t late[P], before[P], lead[P];
    memset(late, 0, sizeof late);
    for (int call = 0; call < n_calls; call++) {
        memcpy(before, late, sizeof before);
        for (int rank = 0; rank < P; rank++) {
            late[rank] = cs_random_range(&generator, 0, spread_ns);
            lead[rank] = late[rank] + MS;
        }
        tell(bench, late, lead, before);
    }
}

static void hints_are_heard_while_they_save_more_than_they_cost(void **state)
{
    (void) state;
    bench_t bench;
    for (int i = 0; i < CLV_PAP_N_PREDICTORS; i++) {
        start(&bench, 8, (clv_pap_predictor_t) i);
        tell_of_spread(&bench, 50 * MS, 30);
        assert_true(
            bench.forecast.announced); /* one exchange is little against what nobody predicts */
        tell_of_spread(&bench, 100 * US, 30);
        assert_true(
            bench.forecast.hints_ignored); /* all would wait 7 ms, to be told what is known */
        assert_false(bench.forecast.announced);
        assert_int_not_equal(bench.forecast.predictor, -1);
        assert_true(bench.forecast.sigma_ns < MS);
        tell_of_spread(&bench, 50 * MS, 30);
        assert_false(
            bench.forecast.hints_ignored); /* it still listened to how much ahead they were */
        assert_true(bench.forecast.announced);
        take_down(&bench);
    }
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void equal_record_sets_make_equal_forecasts(void **state)
{
    (void) state;
    bench_t a;
    bench_t b;
    for (int i = 0; i < CLV_PAP_N_PREDICTORS; i++) {
        start(&a, 6, (clv_pap_predictor_t) i);
        start(&b, 6, (clv_pap_predictor_t) i);
        for (int call = 0; call < CALLS; call++) {
            int64_t late[P];
            for (int rank = 0; rank < P; rank++) {
                late[rank] = cs_random_range(&generator, 0, 50 * MS);
            }
            feed_late(&a, late);
            feed_late(&b, late);
            assert_int_equal(a.forecast.hash, b.forecast.hash);
        }
        a.records[0].arrival_ns += MS;
        feed(&a);
        feed(&b);
        assert_int_not_equal(a.forecast.hash, b.forecast.hash);
        take_down(&a);
        take_down(&b);
    }
}

static int fail_at(void *context, size_t n_bytes)
{
    int *left = context;
    (void) n_bytes;
    return (*left)-- == 0;
}

static void wrong_sizes_and_no_memory_are_reported(void **state)
{
    (void) state;
    clv_pap_history_t *history = NULL;
    clv_status_t status = CLV_NO_MEMORY;
    assert_int_equal(clv_pap_history_create(0, 5, clv_pap_predictor_sma, &history), CLV_INVALID);
    assert_int_equal(clv_pap_history_create(2, 0, clv_pap_predictor_sma, &history), CLV_INVALID);
    assert_int_equal(clv_pap_history_create(2, 65, clv_pap_predictor_sma, &history), CLV_INVALID);
    assert_int_equal(clv_pap_history_create(2, 5, CLV_PAP_N_PREDICTORS, &history), CLV_INVALID);
    for (int site = 0; status != CLV_OK; site++) {
        int left = site;
        clv_alloc_set_hook(fail_at, &left);
        status = clv_pap_history_create(2, 5, clv_pap_predictor_compute, &history);
        clv_alloc_set_hook(NULL, NULL);
        assert_true(status == (site < 5 ? CLV_NO_MEMORY : CLV_OK));
    }
    clv_pap_history_free(history);
    clv_pap_history_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roots_are_floors),
        cmocka_unit_test(rms_is_close_to_the_real_one),
        cmocka_unit_test(sma_equals_the_slow_average),
        cmocka_unit_test(each_predictor_has_its_pattern),
        cmocka_unit_test(sigma_is_honest),
        cmocka_unit_test(few_record_sets_make_a_large_sigma),
        cmocka_unit_test(a_surprise_widens_sigma_at_once),
        cmocka_unit_test(the_clock_error_is_a_floor),
        cmocka_unit_test(invalid_record_sets_are_skipped_alike),
        cmocka_unit_test(a_new_stream_in_the_slot_starts_afresh),
        cmocka_unit_test(wild_times_stay_in_range),
        cmocka_unit_test(the_call_before_is_described),
        cmocka_unit_test(progress_is_measured_and_decoupled_ranks_are_seen),
        cmocka_unit_test(calls_far_apart_are_all_sampled),
        cmocka_unit_test(who_may_run_ahead_does_not_wait_for_forecasts),
        cmocka_unit_test(coupled_ranks_are_sampled_in_each_call),
        cmocka_unit_test(a_quick_exchange_does_not_make_more_records),
        cmocka_unit_test(announced_arrivals_are_the_prediction),
        cmocka_unit_test(hints_are_heard_while_they_save_more_than_they_cost),
        cmocka_unit_test(equal_record_sets_make_equal_forecasts),
        cmocka_unit_test(wrong_sizes_and_no_memory_are_reported),
    };
    cs_random_seed_from_environment(&generator);
    return clv_run_tests(tests);
}
