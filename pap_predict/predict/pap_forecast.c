/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From complete records to forecasts: the deterministic integer function; see pap_history.h. Every
 * host computes the same.
 *
 * Each record set goes through four steps: its errors against the outstanding prediction, its row
 * in the window, the next prediction, the next sampling distance.
 */
#include <string.h>

#include "pap_predict/predict/pap_history.h"
#include "pap_predict/predict/pap_history_parts.h"
#include "util/util_hash.h"
#include "util/util_min_max.h"

/* The group's predictor, or the one that `best` follows. */
static clv_pap_predictor_t predictor_in_use(const clv_pap_history_t *history)
{
    return history->predictor == clv_pap_predictor_best ? history->best.followed
                                                        : history->predictor;
}

/* Whether two ranks report different runs of the call before; "no such call" is also a report. */
static bool differ(const clv_pap_record_t *a, const clv_pap_record_t *b)
{
    return ((a->flags ^ b->flags) & CLV_PAP_RECORD_PREVIOUS) != 0 ||
           a->previous_choice != b->previous_choice || a->previous_hash != b->previous_hash;
}

/* In the call before, all ranks must have run the same algorithm from the same forecast. A rank on
 * which that call had not ended reports nothing; its next record without open calls has the hash of
 * all. */
static bool ranks_disagree(const clv_pap_record_set_t *set)
{
    const clv_pap_record_t *first = NULL;
    if ((clv_pap_record_set_any_flags(set) & CLV_PAP_RECORD_INVALID) != 0 &&
        (clv_pap_record_set_any_flags(set) & CLV_PAP_RECORD_ANNOUNCED) != 0) {
        return false; /* may hold the previous stream's records; see clv_pap_agree_make_stale */
    }
    for (int32_t rank = 0; rank < set->n_ranks; rank++) {
        const clv_pap_record_t *one = &set->records[rank];
        if ((one->flags & CLV_PAP_RECORD_OPEN) != 0) {
            continue;
        }
        if (first != NULL && differ(first, one)) {
            return true;
        }
        first = one;
    }
    return false;
}

static uint32_t largest_clock_error(const clv_pap_record_set_t *set)
{
    uint32_t largest_ns = 0;
    for (int32_t rank = 0; rank < set->n_ranks; rank++) {
        if (set->records[rank].clock_error_ns > largest_ns) {
            largest_ns = set->records[rank].clock_error_ns;
        }
    }
    return largest_ns;
}

/* Describes how the call before went, for the chooser of algorithms. */
static void describe_previous(const clv_pap_record_set_t *set, clv_pap_forecast_t *forecast)
{
    int64_t last_arrival_ns = INT64_MIN;
    int64_t last_exit_ns = INT64_MIN;
    int64_t in_mpi_ns = 0;
    for (int32_t rank = 0; rank < set->n_ranks; rank++) {
        const clv_pap_record_t *record = &set->records[rank];
        if (record->previous_arrival_ns > last_arrival_ns) {
            last_arrival_ns = record->previous_arrival_ns;
        }
        if (record->previous_exit_ns > last_exit_ns) {
            last_exit_ns = record->previous_exit_ns;
        }
        in_mpi_ns += clv_pap_clamp_spread(record->previous_exit_ns - record->previous_arrival_ns);
    }
    int64_t after_ns = last_exit_ns - last_arrival_ns;
    forecast->previous_choice = set->records[0].previous_choice;
    forecast->previous_after_ns = after_ns < 0 ? 0 : after_ns;
    forecast->previous_in_mpi_ns = in_mpi_ns < 0 ? 0 : in_mpi_ns / set->n_ranks;
}

/* -1: another rank arrived within the errors of two clocks. */
static int32_t last_rank_of(const clv_pap_record_set_t *set, int64_t clock_error_ns)
{
    int32_t last = 0;
    for (int32_t rank = 1; rank < set->n_ranks; rank++) {
        last = set->records[rank].arrival_ns > set->records[last].arrival_ns ? rank : last;
    }
    for (int32_t rank = 0; rank < set->n_ranks; rank++) {
        if (rank != last &&
            set->records[last].arrival_ns - set->records[rank].arrival_ns <= 2 * clock_error_ns) {
            return -1;
        }
    }
    return last;
}

/* Also finds out whether the program synchronises its ranks in each iteration: if a call must end
 * everywhere before any rank goes on, no rank arrives earlier than that, within clock errors. */
static void measure_progress(clv_pap_history_t *history, const clv_pap_record_set_t *set,
                             int64_t clock_error_ns)
{
    const bool known = (clv_pap_record_set_common_flags(set) & CLV_PAP_RECORD_PREVIOUS) != 0;
    int64_t first_arrival_ns = INT64_MAX;
    int64_t last_arrival_ns = INT64_MIN;
    int64_t last_exit_ns = INT64_MIN;
    int64_t computing_ns = 0;
    history->progress = (clv_pap_progress_t){.call = history->call, .last_rank = -1};
    if ((clv_pap_record_set_any_flags(set) & CLV_PAP_RECORD_INVALID) != 0) {
        return;
    }
    for (int32_t rank = 0; rank < set->n_ranks; rank++) {
        const clv_pap_record_t *record = &set->records[rank];
        first_arrival_ns = clv_smaller(first_arrival_ns, record->arrival_ns);
        last_arrival_ns = clv_larger(last_arrival_ns, record->arrival_ns);
        last_exit_ns = clv_larger(last_exit_ns, record->previous_exit_ns);
        computing_ns = clv_larger(computing_ns, record->arrival_ns - record->previous_exit_ns);
    }
    history->progress.last_arrival_ns = last_arrival_ns;
    history->progress.last_rank = last_rank_of(set, clock_error_ns);
    if (known) {
        history->progress.computing_ns = clv_pap_clamp_spread(computing_ns);
        history->progress.is_decoupled = first_arrival_ns + 2 * clock_error_ns < last_exit_ns;
    }
}

const clv_pap_progress_t *clv_pap_history_progress(const clv_pap_history_t *history)
{
    return &history->progress;
}

static void predict_by(const clv_pap_history_t *history, clv_pap_predictor_t predictor,
                       int64_t *predicted_ns)
{
    clv_pap_predictors[predictor].predict(history, predicted_ns);
    clv_pap_zero_smallest(predicted_ns, history->n_ranks);
}

static void predict_rivals(clv_pap_history_t *history)
{
    for (int i = 0; i < CLV_PAP_N_PREDICTORS; i++) {
        if (i != clv_pap_predictor_best) {
            clv_pap_predictor_t rival = (clv_pap_predictor_t) i;
            predict_by(history, rival, clv_pap_history_said(history, rival));
        }
    }
}

static void predict_own(clv_pap_history_t *history)
{
    history->has_own = history->n_rows > 0;
    if (!history->has_own) {
        return;
    }
    if (history->predictor == clv_pap_predictor_best) {
        predict_rivals(history);
        history->own_ns = clv_pap_history_said(history, history->best.followed);
    } else {
        predict_by(history, history->predictor, history->own_ns);
    }
}

static void predict(clv_pap_history_t *history)
{
    predict_own(history);
    history->has_prediction = history->has_own;
    memcpy(history->prediction_ns, history->own_ns,
           (size_t) history->n_ranks * sizeof *history->own_ns);
}

static void predict_announced(clv_pap_history_t *history, const clv_pap_record_set_t *set)
{
    predict_own(history);
    for (int32_t rank = 0; rank < history->n_ranks; rank++) {
        history->prediction_ns[rank] = set->records[rank].arrival_ns;
    }
    clv_pap_zero_smallest(history->prediction_ns, history->n_ranks);
    history->has_prediction = true;
}

/* Errors of hints say nothing about errors of the predictor, nor the reverse. */
static void set_announced(clv_pap_history_t *history, bool announced)
{
    if (history->announced != announced) {
        history->announced = announced;
        history->n_errors = 0;
        history->next_error = 0;
    }
}

/* Returns whether the next call uses announced arrivals. */
static bool take_valid(clv_pap_history_t *history, const clv_pap_record_set_t *set)
{
    uint32_t common = clv_pap_record_set_common_flags(set);
    bool has_previous = (common & CLV_PAP_RECORD_PREVIOUS) != 0;
    bool all_announced = (common & CLV_PAP_RECORD_ANNOUNCED) != 0;
    bool any_announced = (clv_pap_record_set_any_flags(set) & CLV_PAP_RECORD_ANNOUNCED) != 0;
    if (history->deferred && has_previous) {
        clv_pap_history_take_deferred(history, set);
    }
    history->deferred = any_announced && history->sample_every == 1;
    if (!history->deferred) {
        clv_pap_history_take_row(history, set, has_previous);
    }
    clv_pap_history_weigh_hints(history, set);
    return all_announced && history->deferred && !history->hints_ignored;
}

static uint64_t hash_i64(uint64_t hash, int64_t number)
{
    hash = clv_fnv1a64_u32(hash, (uint32_t) (uint64_t) number);
    return clv_fnv1a64_u32(hash, (uint32_t) ((uint64_t) number >> 32));
}

static uint32_t forecast_hash(const clv_pap_forecast_t *forecast)
{
    const int64_t fields[] = {
        forecast->n_record_sets,   forecast->version,           forecast->mean_error_ns,
        forecast->generation,      forecast->sigma_ns,          forecast->worst_error_ns,
        forecast->clock_error_ns,  forecast->interval_ns,       forecast->sample_every,
        forecast->previous_choice, forecast->previous_after_ns, forecast->previous_in_mpi_ns,
        forecast->announced,       forecast->predictor,         forecast->hints_ignored};
    uint64_t hash = CLV_FNV1A64_BASIS;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        hash = hash_i64(hash, fields[i]);
    }
    for (int32_t rank = 0; rank < forecast->n_ranks; rank++) {
        hash = hash_i64(hash, forecast->predicted_ns[rank]);
    }
    uint32_t folded = (uint32_t) (hash ^ (hash >> 32));
    return folded == 0 ? 1 : folded;
}

static void start_forecast(const clv_pap_history_t *history, const clv_pap_record_set_t *set,
                           clv_pap_forecast_t *forecast, int64_t *predicted_ns)
{
    *forecast = (clv_pap_forecast_t){.n_ranks = history->n_ranks,
                                     .version = set->sequence + 1,
                                     .generation = set->generation,
                                     .clock_error_ns = largest_clock_error(set),
                                     .disagree = ranks_disagree(set),
                                     .predictor = -1,
                                     .mean_error_ns = -1,
                                     .previous_choice = -1,
                                     .previous_after_ns = -1,
                                     .previous_in_mpi_ns = -1,
                                     .predicted_ns = predicted_ns};
    /* The call before used the forecast two sets back or, if that one was announced, the next. */
    const bool had_forecast = (history->was_void & (1u << 1 | 1u << 2)) == 0;
    bool known = had_forecast &&
                 (clv_pap_record_set_common_flags(set) & CLV_PAP_RECORD_PREVIOUS) != 0 &&
                 (clv_pap_record_set_any_flags(set) & CLV_PAP_RECORD_INVALID) == 0;
    if (known && !forecast->disagree) {
        describe_previous(set, forecast);
    }
}

/* prediction_ns remains until the next valid record set judges it. */
static void finish_forecast(clv_pap_history_t *history, clv_pap_forecast_t *forecast,
                            int64_t *predicted_ns)
{
    if (history->has_prediction && !forecast->disagree) {
        forecast->n_record_sets = history->n_rows > 0 ? history->n_rows : 1;
        forecast->sigma_ns = clv_pap_history_sigma(history, forecast->clock_error_ns);
        forecast->worst_error_ns = history->worst_error_ns;
        forecast->mean_error_ns = history->mean_error_ns;
        forecast->interval_ns = clv_pap_history_interval(history);
        forecast->predictor = history->announced ? -1 : (int32_t) predictor_in_use(history);
    }
    memcpy(predicted_ns, history->prediction_ns, (size_t) history->n_ranks * sizeof *predicted_ns);
    forecast->hash = forecast_hash(forecast);
}

/* Returns the next sampling distance, and predicts. */
static int32_t digest(clv_pap_history_t *history, const clv_pap_record_set_t *set)
{
    int32_t now_every = history->sample_every;
    history->mean_error_ns = -1;
    if ((clv_pap_record_set_any_flags(set) & CLV_PAP_RECORD_INVALID) != 0) {
        history->deferred = false;
        set_announced(history, false);
        predict(history);
        return clv_pap_sample_every_invalid(now_every);
    }
    set_announced(history, take_valid(history, set));
    if (history->announced) {
        predict_announced(history, set);
        return 1;
    }
    predict(history);
    if (clv_pap_record_set_is_reported(set) && !history->hints_ignored) {
        return 1; /* the next record must tell how an announced call went */
    }
    return clv_pap_history_sample_every(history, clv_pap_record_set_latency(set), now_every);
}

void clv_pap_history_feed(clv_pap_history_t *history, const clv_pap_record_set_t *set,
                          clv_pap_forecast_t *forecast, int64_t *predicted_ns)
{
    clv_pap_history_advance(history, set);
    start_forecast(history, set, forecast, predicted_ns);
    measure_progress(history, set, forecast->clock_error_ns);
    history->next_every = digest(history, set);
    forecast->sample_every = history->next_every;
    forecast->announced = history->announced;
    forecast->hints_ignored = history->hints_ignored;
    finish_forecast(history, forecast, predicted_ns);
}

/* The outstanding prediction now applies to a later call. */
void clv_pap_history_feed_void(clv_pap_history_t *history, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        clv_pap_history_advance_void(history);
    }
    set_announced(history, false);
    predict(history);
}
