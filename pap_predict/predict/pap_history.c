/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From complete vectors to boards; see pap_history.h. Integers only: every node computes the same.
 *
 * One vector goes through: its errors against the prediction that was outstanding, its row into
 * the window, the next prediction, the next sampling distance.
 */
#include "pap_predict/predict/pap_history.h"

#include <string.h>

#include "pap_predict/predict/pap_best.h"
#include "util/util_alloc.h"
#include "util/util_hash.h"

#define INVALID_SAMPLE_EVERY                                                                       \
    8                         /* while the clock comes up: neither wait often nor miss its coming */
#define AFTER_WEIGHT        8 /* all ranks wait for the last one: the decider weighs it so, too */
#define SLOW_EXCHANGE       4 /* a wait for hints counts as at most so many errors of the predictor */
#define SAMPLE_EVERY_GROWTH 4 /* per vector: one short interval must not make predictions old */

struct clv_pap_history {
    int32_t n_ranks;
    int32_t window;
    clv_pap_predictor_t predictor;
    int32_t n_columns;

    uint32_t generation;
    int32_t begun;        /* a vector of this generation was fed */
    int64_t call;         /* number of the newest sampled call */
    int32_t sample_every; /* from the newest sampled call to the next ... */
    int32_t next_every;   /* ... and from there on, as the newest board says */
    int32_t n_rows;
    int32_t newest;      /* row index */
    int64_t before_call; /* of the row before the newest, also with a window of 1; -1: none */
    int64_t before_start_ns;
    int32_t n_errors; /* in error_ns, at most window */
    int32_t next_error;
    int32_t has_prediction;
    int32_t announced;      /* ... and it comes from hints */
    int32_t is_deaf;        /* hints are not waited for */
    int64_t hint_wait_ns;   /* what waiting for them costs, moving average; -1: none came yet */
    int64_t blind_error_ns; /* the predictor's own error, moving average; -1: never judged */
    int32_t deferred;       /* the newest vector was announced: its arrivals come with the next */
    int64_t worst_error_ns; /* of the newest error */
    int64_t mean_error_ns;  /* over the ranks; -1: the newest vector judged nothing */
    int64_t newest_error_ns;
    int64_t row_call[CLV_PAP_MAX_WINDOW];
    int64_t row_start_ns[CLV_PAP_MAX_WINDOW]; /* global ns of the earliest arrival */
    int64_t error_ns[CLV_PAP_MAX_WINDOW];     /* rms over ranks, one per judged prediction */
    int64_t *cells;                           /* [column][row][rank] */
    int64_t *predictions_ns; /* [predictor][rank] for `best`, else the predictor's own alone */
    int64_t *own_ns;         /* what the predictor says of the next row, within predictions_ns */
    int64_t *prediction_ns;  /* the one outstanding: own_ns, or what was announced */
    int64_t *scratch_ns;
    int32_t has_own; /* predictions_ns is of the next row */
    clv_pap_best_t best;
};

/* ---- arithmetic ------------------------------------------------------------------------------ */

uint64_t clv_pap_isqrt(uint64_t number)
{
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 62; bit != 0; bit >>= 2) {
        if (number >= root + bit) {
            number -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return root;
}

static int64_t magnitude(int64_t value)
{
    return value < 0 ? -value : value;
}

static int64_t largest_magnitude(const int64_t *values, int32_t n_values)
{
    int64_t largest = 0;
    for (int32_t i = 0; i < n_values; i++) {
        if (magnitude(values[i]) > largest) {
            largest = magnitude(values[i]);
        }
    }
    return largest;
}

/* Squares of 22 bits, summed over at most 2^20 values, fit 64 bits. */
int64_t clv_pap_rms(const int64_t *values, int32_t n_values)
{
    int shift = 0;
    uint64_t sum = 0;
    if (n_values == 0) {
        return 0;
    }
    for (int64_t largest = largest_magnitude(values, n_values); largest >> shift >= 1 << 22;) {
        shift++;
    }
    for (int32_t i = 0; i < n_values; i++) {
        uint64_t small = (uint64_t) magnitude(values[i]) >> shift;
        sum += small * small;
    }
    return (int64_t) (clv_pap_isqrt(sum / (uint64_t) n_values) << shift);
}

static int64_t clamp_spread(int64_t value)
{
    if (value > CLV_PAP_MAX_SPREAD_NS) {
        return CLV_PAP_MAX_SPREAD_NS;
    }
    return value < -CLV_PAP_MAX_SPREAD_NS ? -CLV_PAP_MAX_SPREAD_NS : value;
}

static int64_t mean_magnitude(const int64_t *values, int32_t n_values)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < n_values; i++) {
        sum += magnitude(values[i]);
    }
    return sum / n_values;
}

static int64_t smallest_of(const int64_t *values, int32_t n_values)
{
    int64_t smallest = values[0];
    for (int32_t i = 1; i < n_values; i++) {
        if (values[i] < smallest) {
            smallest = values[i];
        }
    }
    return smallest;
}

/* At most 2^20 values of at most 2^42 or their differences: the sum fits. */
static void subtract_mean(int64_t *values, int32_t n_values)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < n_values; i++) {
        sum += values[i];
    }
    for (int32_t i = 0; i < n_values; i++) {
        values[i] -= sum / n_values;
    }
}

/* ---- memory and looking ---------------------------------------------------------------------- */

static int64_t *rival_row(const clv_pap_history_t *history, clv_pap_predictor_t predictor)
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
    history->own_ns =
        n_predictions == 1 ? history->predictions_ns : rival_row(history, clv_pap_predictor_best);
    *history_p = history;
    return CLV_OK;
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

/* 0 <= age < window. In every predictor's inner loop: no division. */
static int32_t row_index(const clv_pap_history_t *history, int32_t age)
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
    return cell_row(history, column, row_index(history, age));
}

int64_t clv_pap_history_call(const clv_pap_history_t *history, int32_t age)
{
    return history->row_call[row_index(history, age)];
}

int64_t clv_pap_history_next_call(const clv_pap_history_t *history)
{
    return history->deferred ? history->call : history->call + history->sample_every;
}

const int64_t *clv_pap_history_followed(const clv_pap_history_t *history)
{
    return rival_row(history, history->best.followed);
}

/* The one created with, or whom `best` follows. */
static clv_pap_predictor_t predictor_in_use(const clv_pap_history_t *history)
{
    return history->predictor == clv_pap_predictor_best ? history->best.followed
                                                        : history->predictor;
}

/* ---- what a vector says ---------------------------------------------------------------------- */

static uint32_t any_flags(const clv_pap_vector_t *vector)
{
    uint32_t flags = 0;
    for (int32_t rank = 0; rank < vector->n_ranks; rank++) {
        flags |= vector->records[rank].flags;
    }
    return flags;
}

/* Both say what they ran in the call before, or that there was none, and not the same. */
static int differ(const clv_pap_record_t *a, const clv_pap_record_t *b)
{
    return ((a->flags ^ b->flags) & CLV_PAP_RECORD_PREVIOUS) != 0 ||
           a->previous_choice != b->previous_choice || a->previous_hash != b->previous_hash;
}

/* Every rank must have run the same thing from the same board in the call before. One on which that
 * call had not ended says nothing; its next record without open calls has the hash of all. */
static int ranks_disagree(const clv_pap_vector_t *vector)
{
    const clv_pap_record_t *first = NULL;
    if ((any_flags(vector) & CLV_PAP_RECORD_INVALID) != 0 &&
        (any_flags(vector) & CLV_PAP_RECORD_ANNOUNCED) != 0) {
        return 0; /* may hold records of the stream before; see make_stale in pap_agree.c */
    }
    for (int32_t rank = 0; rank < vector->n_ranks; rank++) {
        const clv_pap_record_t *one = &vector->records[rank];
        if ((one->flags & CLV_PAP_RECORD_OPEN) != 0) {
            continue;
        }
        if (first != NULL && differ(first, one)) {
            return 1;
        }
        first = one;
    }
    return 0;
}

static uint32_t largest_latency(const clv_pap_vector_t *vector)
{
    uint32_t largest_ns = 0;
    for (int32_t rank = 0; rank < vector->n_ranks; rank++) {
        if (vector->records[rank].latency_ns > largest_ns) {
            largest_ns = vector->records[rank].latency_ns;
        }
    }
    return largest_ns;
}

static uint32_t largest_clock_error(const clv_pap_vector_t *vector)
{
    uint32_t largest_ns = 0;
    for (int32_t rank = 0; rank < vector->n_ranks; rank++) {
        if (vector->records[rank].clock_error_ns > largest_ns) {
            largest_ns = vector->records[rank].clock_error_ns;
        }
    }
    return largest_ns;
}

/* The call before: how it went, for whoever chooses algorithms. */
static void describe_previous(const clv_pap_vector_t *vector, clv_pap_board_t *board)
{
    int64_t last_arrival_ns = INT64_MIN;
    int64_t last_exit_ns = INT64_MIN;
    int64_t in_mpi_ns = 0;
    for (int32_t rank = 0; rank < vector->n_ranks; rank++) {
        const clv_pap_record_t *record = &vector->records[rank];
        if (record->previous_arrival_ns > last_arrival_ns) {
            last_arrival_ns = record->previous_arrival_ns;
        }
        if (record->previous_exit_ns > last_exit_ns) {
            last_exit_ns = record->previous_exit_ns;
        }
        in_mpi_ns += clamp_spread(record->previous_exit_ns - record->previous_arrival_ns);
    }
    int64_t after_ns = last_exit_ns - last_arrival_ns;
    board->previous_choice = vector->records[0].previous_choice;
    board->previous_after_ns = after_ns < 0 ? 0 : after_ns;
    board->previous_in_mpi_ns = in_mpi_ns < 0 ? 0 : in_mpi_ns / vector->n_ranks;
}

/* ---- judging the outstanding prediction --------------------------------------------------------
 */

/* Relative to the call's mean; leaves the errors by rank in scratch_ns. */
static int64_t error_of(clv_pap_history_t *history, const int64_t *predicted_ns,
                        const int64_t *arrival_ns)
{
    int64_t *error_ns = history->scratch_ns;
    for (int32_t rank = 0; rank < history->n_ranks; rank++) {
        error_ns[rank] = arrival_ns[rank] - predicted_ns[rank];
    }
    subtract_mean(error_ns, history->n_ranks);
    return clv_pap_rms(error_ns, history->n_ranks);
}

/* All predictors by the same call: the next prediction comes from the one that was least wrong. */
static void judge_rivals(clv_pap_history_t *history, const int64_t *arrival_ns)
{
    int64_t error_ns[CLV_PAP_N_PREDICTORS] = {0};
    for (int i = 0; i < CLV_PAP_N_PREDICTORS; i++) {
        if (i != clv_pap_predictor_best) {
            const int64_t *predicted_ns = rival_row(history, (clv_pap_predictor_t) i);
            error_ns[i] = error_of(history, predicted_ns, arrival_ns);
        }
    }
    clv_pap_best_judge(&history->best, error_ns);
}

static int64_t moving_average(int64_t average_ns, int64_t newest_ns)
{
    return average_ns < 0 ? newest_ns : (3 * average_ns + newest_ns) / 4;
}

/* What the predictor said, also where its word was not taken because there were hints. */
static void judge_own(clv_pap_history_t *history, const int64_t *arrival_ns)
{
    if (!history->has_own) {
        return;
    }
    if (history->predictor == clv_pap_predictor_best) {
        judge_rivals(history, arrival_ns);
    }
    history->blind_error_ns = moving_average(history->blind_error_ns,
                                             error_of(history, history->own_ns, arrival_ns));
}

static void judge(clv_pap_history_t *history, const int64_t *arrival_ns)
{
    const int64_t *error_ns = history->scratch_ns;
    judge_own(history, arrival_ns);
    if (!history->has_prediction) {
        return;
    }
    history->newest_error_ns = error_of(history, history->prediction_ns, arrival_ns);
    history->worst_error_ns = largest_magnitude(error_ns, history->n_ranks);
    history->mean_error_ns = mean_magnitude(error_ns, history->n_ranks);
    history->error_ns[history->next_error] = history->newest_error_ns;
    history->next_error = (history->next_error + 1) % history->window;
    history->n_errors += history->n_errors < history->window;
}

/* The rms over the window, raised by 1/n because n calls are few, and never below what the newest
 * call showed: believing a prediction too much costs far more than too little. */
static int64_t judged_sigma(const clv_pap_history_t *history)
{
    int64_t mean_ns = clv_pap_rms(history->error_ns, history->n_errors);
    int64_t sigma_ns = mean_ns + mean_ns / history->n_errors;
    return sigma_ns > history->newest_error_ns ? sigma_ns : history->newest_error_ns;
}

/* Nothing was ever predicted: a prediction is worth no more than the spread it was made from. */
static int64_t unjudged_sigma(clv_pap_history_t *history)
{
    int64_t *deviation_ns = history->scratch_ns;
    memcpy(deviation_ns, history->prediction_ns, (size_t) history->n_ranks * sizeof *deviation_ns);
    subtract_mean(deviation_ns, history->n_ranks);
    history->worst_error_ns = largest_magnitude(deviation_ns, history->n_ranks);
    return 2 * clv_pap_rms(deviation_ns, history->n_ranks);
}

static int64_t find_sigma(clv_pap_history_t *history, int64_t clock_error_ns)
{
    int64_t sigma_ns = history->n_errors > 0 ? judged_sigma(history) : unjudged_sigma(history);
    return sigma_ns > clock_error_ns ? sigma_ns : clock_error_ns;
}

/* ---- rows --------------------------------------------------------------------------------------
 */

static void start_row(clv_pap_history_t *history, int64_t call, int64_t start_ns)
{
    history->before_call = history->n_rows > 0 ? history->row_call[history->newest] : -1;
    history->before_start_ns = history->row_start_ns[history->newest];
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

/* row[] holds global arrivals on entry, relative ones on return; the result is the earliest. */
static int64_t make_relative(int64_t *row, int32_t n_ranks)
{
    int64_t earliest_ns = smallest_of(row, n_ranks);
    for (int32_t rank = 0; rank < n_ranks; rank++) {
        row[rank] = clamp_spread(row[rank] - earliest_ns);
    }
    return earliest_ns;
}

static void fill_columns(clv_pap_history_t *history, const clv_pap_vector_t *vector)
{
    int64_t *compute = cell_row(history, CLV_PAP_COMPUTE, history->newest);
    int64_t *in_mpi = cell_row(history, CLV_PAP_IN_MPI, history->newest);
    int64_t *exit = cell_row(history, CLV_PAP_EXIT, history->newest);
    int64_t last_arrival_ns = INT64_MIN;
    for (int32_t rank = 0; rank < history->n_ranks; rank++) {
        if (vector->records[rank].previous_arrival_ns > last_arrival_ns) {
            last_arrival_ns = vector->records[rank].previous_arrival_ns;
        }
    }
    for (int32_t rank = 0; rank < history->n_ranks; rank++) {
        const clv_pap_record_t *record = &vector->records[rank];
        compute[rank] = clamp_spread(record->arrival_ns - record->previous_exit_ns);
        in_mpi[rank] = clamp_spread(record->previous_exit_ns - record->previous_arrival_ns);
        exit[rank] = clamp_spread(record->previous_exit_ns - last_arrival_ns);
    }
}

/* An announced call's real arrivals come with the next vector, as its previous call. */
static void take_deferred(clv_pap_history_t *history, const clv_pap_vector_t *vector)
{
    start_row(history, history->call - 1, 0);
    int64_t *row = cell_row(history, CLV_PAP_ARRIVAL, history->newest);
    for (int32_t rank = 0; rank < history->n_ranks; rank++) {
        row[rank] = vector->records[rank].previous_arrival_ns;
    }
    history->row_start_ns[history->newest] = make_relative(row, history->n_ranks);
    judge(history, row);
}

static void take_row(clv_pap_history_t *history, const clv_pap_vector_t *vector, int has_previous)
{
    start_row(history, history->call, 0);
    int64_t *row = cell_row(history, CLV_PAP_ARRIVAL, history->newest);
    for (int32_t rank = 0; rank < history->n_ranks; rank++) {
        row[rank] = vector->records[rank].arrival_ns;
    }
    history->row_start_ns[history->newest] = make_relative(row, history->n_ranks);
    if (has_previous && history->n_columns > 1) {
        fill_columns(history, vector);
    }
    judge(history, row);
}

static void zero_smallest(int64_t *values, int32_t n_values)
{
    int64_t smallest = smallest_of(values, n_values);
    for (int32_t i = 0; i < n_values; i++) {
        values[i] = clamp_spread(values[i] - smallest);
    }
}

static void predict_by(const clv_pap_history_t *history, clv_pap_predictor_t predictor,
                       int64_t *predicted_ns)
{
    clv_pap_predictors[predictor].predict(history, predicted_ns);
    zero_smallest(predicted_ns, history->n_ranks);
}

static void predict_rivals(clv_pap_history_t *history)
{
    for (int i = 0; i < CLV_PAP_N_PREDICTORS; i++) {
        if (i != clv_pap_predictor_best) {
            clv_pap_predictor_t rival = (clv_pap_predictor_t) i;
            predict_by(history, rival, rival_row(history, rival));
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
    }
    predict_by(history, history->predictor, history->own_ns);
}

static void predict(clv_pap_history_t *history)
{
    predict_own(history);
    history->has_prediction = history->has_own;
    memcpy(history->prediction_ns, history->own_ns,
           (size_t) history->n_ranks * sizeof *history->own_ns);
}

static void predict_announced(clv_pap_history_t *history, const clv_pap_vector_t *vector)
{
    predict_own(history);
    for (int32_t rank = 0; rank < history->n_ranks; rank++) {
        history->prediction_ns[rank] = vector->records[rank].arrival_ns;
    }
    zero_smallest(history->prediction_ns, history->n_ranks);
    history->has_prediction = 1;
}

/* Errors of hints say nothing about errors of the predictor, and the reverse. */
static void set_announced(clv_pap_history_t *history, int announced)
{
    if (history->announced != announced) {
        history->announced = announced;
        history->n_errors = 0;
        history->next_error = 0;
    }
}

/* ---- how often to sample ------------------------------------------------------------------------
 */

static int64_t mean_interval(const clv_pap_history_t *history)
{
    int32_t oldest = history->n_rows - 1;
    int64_t span_ns =
        history->row_start_ns[history->newest] - history->row_start_ns[row_index(history, oldest)];
    return oldest < 1 || span_ns < 0 ? 0 : span_ns / oldest;
}

static int64_t call_interval(const clv_pap_history_t *history)
{
    int64_t n_calls = clv_pap_history_call(history, 0) - history->before_call;
    int64_t span_ns = history->row_start_ns[history->newest] - history->before_start_ns;
    int64_t interval_ns = span_ns / (n_calls > 0 ? n_calls : 1);
    return interval_ns > 0 ? interval_ns : 1;
}

/* A few exchange latencies, so that nobody waits for a board; and where the exchange takes a few
 * microseconds, long enough that the records cost nothing beside the calls. */
static int64_t sampling_distance(uint32_t latency_ns)
{
    int64_t latencies_ns = (int64_t) CLV_PAP_LATENCIES_PER_SAMPLE * latency_ns;
    return latencies_ns > CLV_PAP_SAMPLE_NS ? latencies_ns : CLV_PAP_SAMPLE_NS;
}

static int32_t choose_sample_every(const clv_pap_history_t *history, uint32_t latency_ns,
                                   int32_t now_every)
{
    if (history->before_call < 0) {
        return 1;
    }
    int64_t interval_ns = call_interval(history);
    int64_t every = (sampling_distance(latency_ns) + interval_ns - 1) / interval_ns;
    int64_t limit = (int64_t) SAMPLE_EVERY_GROWTH * now_every;
    if (limit > CLV_PAP_MAX_SAMPLE_EVERY) {
        limit = CLV_PAP_MAX_SAMPLE_EVERY;
    }
    every = every > limit ? limit : every;
    return every < 1 ? 1 : (int32_t) every;
}

static int32_t sample_every_invalid(int32_t now_every)
{
    return 2 * now_every > INVALID_SAMPLE_EVERY ? INVALID_SAMPLE_EVERY : 2 * now_every;
}

/* ---- one vector ---------------------------------------------------------------------------------
 */

/* A lane's first stream is sampled from call 0, any later one from call 1 (pap_stream.c). */
static void begin_generation(clv_pap_history_t *history, uint32_t generation)
{
    history->generation = generation;
    history->begun = 1;
    history->call = generation == 0 ? 0 : 1;
    history->sample_every = 1;
    history->next_every = 1;
    history->announced = 0;
    history->n_rows = 0;
    history->before_call = -1;
    history->n_errors = 0;
    history->next_error = 0;
    history->has_prediction = 0;
    history->has_own = 0;
    history->is_deaf = 0;
    history->hint_wait_ns = -1;
    history->blind_error_ns = -1;
    clv_pap_best_begin(&history->best);
    history->deferred = 0;
    history->worst_error_ns = 0;
    history->newest_error_ns = 0;
}

static void next_call(clv_pap_history_t *history, const clv_pap_vector_t *vector)
{
    if (!history->begun || vector->generation != history->generation) {
        begin_generation(history, vector->generation);
    } else {
        history->call += history->sample_every;
        history->sample_every = history->next_every;
    }
}

/* ---- whether hints are worth waiting for --------------------------------------------------------
 * A board made of hints is there one exchange after the last of them. Who arrives before that waits,
 * which costs its time, and everybody's where it lasts beyond the last arrival. Without hints
 * nobody waits, but plans are wrong by the predictor's error; it costs about its own size.
 */

static int is_told(const clv_pap_vector_t *vector)
{
    for (int32_t rank = 0; rank < vector->n_ranks; rank++) {
        if (vector->records[rank].lead_ns == 0) {
            return 0;
        }
    }
    return 1;
}

static int64_t hint_wait(const clv_pap_vector_t *vector)
{
    int64_t there_ns = clv_pap_vector_last_told(vector) + largest_latency(vector);
    int64_t last_ns = INT64_MIN;
    int64_t sum_ns = 0;
    for (int32_t rank = 0; rank < vector->n_ranks; rank++) {
        int64_t arrival_ns = vector->records[rank].arrival_ns;
        last_ns = arrival_ns > last_ns ? arrival_ns : last_ns;
        sum_ns += arrival_ns < there_ns ? clamp_spread(there_ns - arrival_ns) : 0;
    }
    int64_t after_ns = last_ns < there_ns ? clamp_spread(there_ns - last_ns) : 0;
    return sum_ns / vector->n_ranks + AFTER_WEIGHT * after_ns;
}

/* Ears close when waiting costs more than it saves, and open when it would cost half. A single slow
 * exchange, however slow, does not close them; two in a row do. */
static void weigh_hints(clv_pap_history_t *history, const clv_pap_vector_t *vector)
{
    const int64_t saved_ns = history->blind_error_ns;
    if (!is_told(vector) || saved_ns < 0) {
        return;
    }
    int64_t wait_ns = hint_wait(vector);
    if (wait_ns > SLOW_EXCHANGE * saved_ns) {
        wait_ns = SLOW_EXCHANGE * saved_ns;
    }
    history->hint_wait_ns = moving_average(history->hint_wait_ns, wait_ns);
    history->is_deaf = history->hint_wait_ns > (history->is_deaf ? saved_ns / 2 : saved_ns);
}

/* Returns whether the next call goes by announced arrivals. */
static int take_valid(clv_pap_history_t *history, const clv_pap_vector_t *vector)
{
    uint32_t common = clv_pap_vector_common_flags(vector);
    int has_previous = (common & CLV_PAP_RECORD_PREVIOUS) != 0;
    int all_announced = (common & CLV_PAP_RECORD_ANNOUNCED) != 0;
    int any_announced = (any_flags(vector) & CLV_PAP_RECORD_ANNOUNCED) != 0;
    if (history->deferred && has_previous) {
        take_deferred(history, vector);
    }
    history->deferred = any_announced && history->sample_every == 1;
    if (!history->deferred) {
        take_row(history, vector, has_previous);
    }
    weigh_hints(history, vector);
    return all_announced && history->deferred && !history->is_deaf;
}

static uint64_t hash_i64(uint64_t hash, int64_t number)
{
    hash = clv_fnv1a64_u32(hash, (uint32_t) (uint64_t) number);
    return clv_fnv1a64_u32(hash, (uint32_t) ((uint64_t) number >> 32));
}

static uint32_t board_hash(const clv_pap_board_t *board)
{
    const int64_t fields[] = {board->n_vectors,          board->version,
                              board->mean_error_ns,
                              board->generation,         board->sigma_ns,
                              board->worst_error_ns,     board->clock_error_ns,
                              board->interval_ns,        board->sample_every,
                              board->previous_choice,    board->previous_after_ns,
                              board->previous_in_mpi_ns, board->announced,
                              board->predictor,          board->is_deaf};
    uint64_t hash = CLV_FNV1A64_BASIS;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        hash = hash_i64(hash, fields[i]);
    }
    for (int32_t rank = 0; rank < board->n_ranks; rank++) {
        hash = hash_i64(hash, board->predicted_ns[rank]);
    }
    uint32_t folded = (uint32_t) (hash ^ (hash >> 32));
    return folded == 0 ? 1 : folded;
}

static void start_board(const clv_pap_history_t *history, const clv_pap_vector_t *vector,
                        clv_pap_board_t *board, int64_t *predicted_ns)
{
    *board = (clv_pap_board_t){.n_ranks = history->n_ranks,
                               .version = vector->sequence + 1,
                               .generation = vector->generation,
                               .clock_error_ns = largest_clock_error(vector),
                               .disagree = ranks_disagree(vector),
                               .predictor = -1,
                               .mean_error_ns = -1,
                               .previous_choice = -1,
                               .previous_after_ns = -1,
                               .previous_in_mpi_ns = -1,
                               .predicted_ns = predicted_ns};
    int known = (clv_pap_vector_common_flags(vector) & CLV_PAP_RECORD_PREVIOUS) != 0 &&
                (any_flags(vector) & CLV_PAP_RECORD_INVALID) == 0;
    if (known && !board->disagree) {
        describe_previous(vector, board);
    }
}

/* prediction_ns stays outstanding until the next valid vector judges it. */
static void finish_board(clv_pap_history_t *history, clv_pap_board_t *board, int64_t *predicted_ns)
{
    if (history->has_prediction && !board->disagree) {
        board->n_vectors = history->n_rows > 0 ? history->n_rows : 1;
        board->sigma_ns = find_sigma(history, board->clock_error_ns);
        board->worst_error_ns = history->worst_error_ns;
        board->mean_error_ns = history->mean_error_ns;
        board->interval_ns = mean_interval(history);
        board->predictor = history->announced ? -1 : (int32_t) predictor_in_use(history);
    }
    memcpy(predicted_ns, history->prediction_ns, (size_t) history->n_ranks * sizeof *predicted_ns);
    board->hash = board_hash(board);
}

/* The next sampling distance; the prediction in passing. */
static int32_t digest(clv_pap_history_t *history, const clv_pap_vector_t *vector)
{
    int32_t now_every = history->sample_every;
    history->mean_error_ns = -1;
    if ((any_flags(vector) & CLV_PAP_RECORD_INVALID) != 0) {
        history->deferred = 0;
        set_announced(history, 0);
        predict(history);
        return sample_every_invalid(now_every);
    }
    set_announced(history, take_valid(history, vector));
    if (history->announced) {
        predict_announced(history, vector);
        return 1;
    }
    predict(history);
    if (is_told(vector) && !history->is_deaf) {
        return 1; /* an announced call is used only where the next record tells how it went */
    }
    return choose_sample_every(history, largest_latency(vector), now_every);
}

void clv_pap_history_feed(clv_pap_history_t *history, const clv_pap_vector_t *vector,
                          clv_pap_board_t *board, int64_t *predicted_ns)
{
    next_call(history, vector);
    start_board(history, vector, board, predicted_ns);
    history->next_every = digest(history, vector);
    board->sample_every = history->next_every;
    board->announced = history->announced;
    board->is_deaf = history->is_deaf;
    finish_board(history, board, predicted_ns);
}
