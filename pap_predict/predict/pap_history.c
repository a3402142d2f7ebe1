/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What one slot remembers; see pap_history.h. Memory, queries, and the conversion of a record set
 * to a row of the window.
 */
#include "pap_predict/predict/pap_history.h"

#include "pap_predict/predict/pap_history_parts.h"
#include "util/util_alloc.h"

int64_t *clv_pap_history_said(const clv_pap_history_t *history, clv_pap_predictor_t predictor)
{
    return history->predictions_ns + (size_t) predictor * (size_t) history->n_ranks;
}

clv_status_t clv_pap_history_create(int32_t n_ranks, int32_t window, clv_pap_predictor_t predictor,
                                    clv_pap_history_t **history_p)
{
    if (n_ranks < 1 || n_ranks > CLV_PAP_MAX_RANKS || window < 1 || window > CLV_PAP_MAX_WINDOW ||
        (int) predictor < 0 || predictor >= CLV_PAP_N_PREDICTORS) {
        return CLV_INVALID;
    }
    clv_pap_history_t *history = clv_alloc(1, sizeof *history);
    if (history == NULL) {
        return CLV_NO_MEMORY;
    }
    history->n_ranks = n_ranks;
    history->window = window;
    history->predictor = predictor;
    history->n_columns = clv_pap_predictors[predictor].all_columns ? CLV_PAP_COLUMNS : 1;
    size_t n_rows = (size_t) history->n_columns * (size_t) window;
    history->cells = clv_alloc(n_rows * (size_t) n_ranks, sizeof *history->cells);
    size_t n_predictions = predictor == clv_pap_predictor_best ? CLV_PAP_N_PREDICTORS : 1;
    history->predictions_ns = clv_alloc(n_predictions * (size_t) n_ranks, sizeof(int64_t));
    history->prediction_ns = clv_alloc((size_t) n_ranks, sizeof *history->prediction_ns);
    history->scratch_ns = clv_alloc((size_t) n_ranks, sizeof *history->scratch_ns);
    if (history->cells == NULL || history->predictions_ns == NULL ||
        history->prediction_ns == NULL || history->scratch_ns == NULL) {
        clv_pap_history_free(history);
        return CLV_NO_MEMORY;
    }
    history->own_ns = n_predictions == 1 ? history->predictions_ns
                                         : clv_pap_history_said(history, clv_pap_predictor_best);
    *history_p = history;
    return CLV_OK;
}

void clv_pap_history_take_all_calls(clv_pap_history_t *history)
{
    history->takes_all_calls = true;
}

void clv_pap_history_free(clv_pap_history_t *history)
{
    if (history == NULL) {
        return;
    }
    clv_free(history->cells);
    clv_free(history->predictions_ns);
    clv_free(history->prediction_ns);
    clv_free(history->scratch_ns);
    clv_free(history);
}

int32_t clv_pap_history_n_rows(const clv_pap_history_t *history)
{
    return history->n_rows;
}

int32_t clv_pap_history_n_ranks(const clv_pap_history_t *history)
{
    return history->n_ranks;
}

/* 0 <= age < window. No division: this is in the inner loop of every predictor. */
int32_t clv_pap_history_row_index(const clv_pap_history_t *history, int32_t age)
{
    int32_t row = history->newest - age;
    return row < 0 ? row + history->window : row;
}

static int64_t *cell_row(const clv_pap_history_t *history, clv_pap_column_t column, int32_t row)
{
    size_t index = (size_t) column * (size_t) history->window + (size_t) row;
    return history->cells + index * (size_t) history->n_ranks;
}

const int64_t *clv_pap_history_row(const clv_pap_history_t *history, clv_pap_column_t column,
                                   int32_t age)
{
    return cell_row(history, column, clv_pap_history_row_index(history, age));
}

int64_t clv_pap_history_call(const clv_pap_history_t *history, int32_t age)
{
    return history->row_call[clv_pap_history_row_index(history, age)];
}

int64_t clv_pap_history_next_call(const clv_pap_history_t *history)
{
    return history->deferred ? history->call : history->call + history->sample_every;
}

static void start_row(clv_pap_history_t *history, int64_t call, int64_t start_ns)
{
    history->before_call = history->n_rows > 0 ? history->row_call[history->newest] : -1;
    history->before_start_ns = history->row_start_ns[history->newest];
    history->before_last_ns = history->last_ns;
    history->newest = (history->newest + 1) % history->window;
    history->n_rows += history->n_rows < history->window;
    history->row_call[history->newest] = call;
    history->row_start_ns[history->newest] = start_ns;
    for (int32_t column = 1; column < history->n_columns; column++) {
        int64_t *row = cell_row(history, (clv_pap_column_t) column, history->newest);
        for (int32_t rank = 0; rank < history->n_ranks; rank++) {
            row[rank] = INT64_MIN;
        }
    }
}

/* On entry row[] has global arrivals, on return relative ones. Returns the earliest arrival. */
static int64_t make_relative(int64_t *row, int32_t n_ranks)
{
    int64_t earliest_ns = clv_pap_smallest(row, n_ranks);
    for (int32_t rank = 0; rank < n_ranks; rank++) {
        row[rank] = clv_pap_clamp_spread(row[rank] - earliest_ns);
    }
    return earliest_ns;
}

static void fill_columns(clv_pap_history_t *history, const clv_pap_record_set_t *set)
{
    int64_t *compute = cell_row(history, CLV_PAP_COMPUTE, history->newest);
    int64_t *in_mpi = cell_row(history, CLV_PAP_IN_MPI, history->newest);
    int64_t *exit = cell_row(history, CLV_PAP_EXIT, history->newest);
    int64_t last_arrival_ns = INT64_MIN;
    for (int32_t rank = 0; rank < history->n_ranks; rank++) {
        if (set->records[rank].previous_arrival_ns > last_arrival_ns) {
            last_arrival_ns = set->records[rank].previous_arrival_ns;
        }
    }
    for (int32_t rank = 0; rank < history->n_ranks; rank++) {
        const clv_pap_record_t *record = &set->records[rank];
        compute[rank] = clv_pap_clamp_spread(record->arrival_ns - record->previous_exit_ns);
        in_mpi[rank] = clv_pap_clamp_spread(record->previous_exit_ns - record->previous_arrival_ns);
        exit[rank] = clv_pap_clamp_spread(record->previous_exit_ns - last_arrival_ns);
    }
}

static void make_row_relative(clv_pap_history_t *history, int64_t *row)
{
    const int64_t start_ns = make_relative(row, history->n_ranks);
    history->row_start_ns[history->newest] = start_ns;
    history->last_ns = start_ns + clv_pap_largest_magnitude(row, history->n_ranks);
}

/* The real arrivals of an announced call come with the next record set, as its previous call. */
void clv_pap_history_take_deferred(clv_pap_history_t *history, const clv_pap_record_set_t *set)
{
    start_row(history, history->call - 1, 0);
    int64_t *row = cell_row(history, CLV_PAP_ARRIVAL, history->newest);
    for (int32_t rank = 0; rank < history->n_ranks; rank++) {
        row[rank] = set->records[rank].previous_arrival_ns;
    }
    make_row_relative(history, row);
    clv_pap_history_judge(history, row);
}

void clv_pap_history_take_row(clv_pap_history_t *history, const clv_pap_record_set_t *set,
                              bool has_previous)
{
    start_row(history, history->call, 0);
    int64_t *row = cell_row(history, CLV_PAP_ARRIVAL, history->newest);
    for (int32_t rank = 0; rank < history->n_ranks; rank++) {
        row[rank] = set->records[rank].arrival_ns;
    }
    make_row_relative(history, row);
    if (has_previous && history->n_columns > 1) {
        fill_columns(history, set);
    }
    clv_pap_history_judge(history, row);
}

/* A slot's first stream is sampled from call 0, any later one from call 1 (pap_stream.c). */
static void begin_generation(clv_pap_history_t *history, uint32_t generation)
{
    history->generation = generation;
    history->begun = true;
    history->call = generation == 0 ? 0 : 1;
    history->sample_every = 1;
    history->next_every = 1;
    history->announced = false;
    history->n_rows = 0;
    history->before_call = -1;
    history->n_early = 0;
    history->n_errors = 0;
    history->next_error = 0;
    history->has_prediction = false;
    history->has_own = false;
    history->hints_ignored = false;
    history->hint_wait_ns = -1;
    history->blind_error_ns = -1;
    clv_pap_follow_begin(&history->best);
    history->deferred = false;
    history->worst_error_ns = 0;
    history->newest_error_ns = 0;
}

static void next_sample(clv_pap_history_t *history)
{
    history->call += history->sample_every;
    history->sample_every = history->next_every;
}

void clv_pap_history_advance(clv_pap_history_t *history, const clv_pap_record_set_t *set)
{
    history->was_void <<= 1;
    if (!history->begun || set->generation != history->generation) {
        begin_generation(history, set->generation);
    } else {
        next_sample(history);
    }
}

/* A void set has no generation. If it was the next stream's, that begins with the next set. */
void clv_pap_history_advance_void(clv_pap_history_t *history)
{
    history->was_void = history->was_void << 1 | 1;
    if (!history->begun) {
        begin_generation(history, 0);
    } else {
        next_sample(history);
    }
    history->next_every = clv_pap_sample_every_void(history->next_every);
    history->deferred = false;
}
