/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The inside of a history (pap_history.h), for the files that share the work on one record set:
 * pap_history.c rows, pap_judge.c errors, pap_sampling.c K, pap_hints.c hints, pap_forecast.c the
 * rest and the order of these steps. For nobody else.
 */
#ifndef CLV_PAP_HISTORY_PARTS_H
#define CLV_PAP_HISTORY_PARTS_H

#include <stdbool.h>

#include "pap_predict/predict/pap_follow.h"
#include "pap_predict/predict/pap_history.h"
#include "pap_predict/predict/pap_numbers.h"

struct clv_pap_history {
    int32_t n_ranks;
    int32_t window;
    clv_pap_predictor_t predictor;
    int32_t n_columns;

    uint32_t generation;
    bool takes_all_calls;
    bool begun;           /* a record set of this generation came */
    int64_t call;         /* number of the newest sampled call */
    int32_t sample_every; /* distance from the newest sampled call to the next ... */
    int32_t next_every;   /* ... and from there on, by the newest forecast */
    int32_t n_rows;
    int32_t newest;      /* row index */
    uint32_t was_void;   /* a bit per set, the newest is bit 0: it was void */
    int64_t before_call; /* of the row before the newest, even with a window of 1; -1: none */
    int64_t before_start_ns;
    int64_t last_ns;        /* the last arrival of the newest row, global ... */
    int64_t before_last_ns; /* ... and of the one before */
    int64_t n_early;  /* samples in a row at which the first rank came before the last forecast */
    int32_t n_errors; /* in error_ns, at most window */
    int32_t next_error;
    bool has_prediction;
    bool announced;         /* ... and it comes from hints */
    bool hints_ignored;     /* hints are not waited for */
    int64_t hint_wait_ns;   /* cost of waiting for hints, moving average; -1: none came yet */
    int64_t blind_error_ns; /* the predictor's own error, moving average; -1: never judged */
    bool deferred;          /* the newest set was announced: its arrivals come with the next one */
    int64_t worst_error_ns; /* of the newest error */
    int64_t mean_error_ns;  /* over the ranks; -1: the newest set judged nothing */
    int64_t newest_error_ns;
    int64_t row_call[CLV_PAP_MAX_WINDOW];
    int64_t row_start_ns[CLV_PAP_MAX_WINDOW]; /* global ns of the earliest arrival */
    int64_t error_ns[CLV_PAP_MAX_WINDOW];     /* rms over ranks, one per judged prediction */
    int64_t *cells;                           /* [column][row][rank] */
    int64_t *predictions_ns; /* [predictor][rank] for `best`, else only the predictor's own */
    int64_t *own_ns;         /* the predictor's own prediction of the next row, in predictions_ns */
    int64_t *prediction_ns;  /* the outstanding one: own_ns, or announced arrivals */
    int64_t *scratch_ns;
    clv_pap_progress_t progress; /* by the newest record set */
    bool has_own;                /* predictions_ns is for the next row */
    clv_pap_follow_t best;
};

/* ---- pap_history.c ---- */
/* For `best`: what a predictor said of the next call, a row of n_ranks. */
int64_t *clv_pap_history_said(const clv_pap_history_t *history, clv_pap_predictor_t predictor);
/* 0 <= age < window. No division: this is in the inner loop of every predictor. */
int32_t clv_pap_history_row_index(const clv_pap_history_t *history, int32_t age);
/* Valid records: judges the prediction and adds a row. Deferred: real arrivals of an announced
 * call. */
void clv_pap_history_take_deferred(clv_pap_history_t *history, const clv_pap_record_set_t *set);
void clv_pap_history_take_row(clv_pap_history_t *history, const clv_pap_record_set_t *set,
                              bool has_previous);
/* The next record set: of another generation, or one sample later. */
void clv_pap_history_advance(clv_pap_history_t *history, const clv_pap_record_set_t *set);

/* The same for a void set. */
void clv_pap_history_advance_void(clv_pap_history_t *history);

/* ---- pap_judge.c ---- */
void clv_pap_history_judge(clv_pap_history_t *history, const int64_t *arrival_ns);
int64_t clv_pap_history_sigma(clv_pap_history_t *history, int64_t clock_error_ns);

/* ---- pap_sampling.c ---- */
int64_t clv_pap_history_interval(const clv_pap_history_t *history);
int32_t clv_pap_history_sample_every(clv_pap_history_t *history, uint32_t latency_ns,
                                     int32_t now_every);
int32_t clv_pap_sample_every_invalid(int32_t now_every);

/* ---- pap_hints.c ---- */
bool clv_pap_record_set_is_reported(const clv_pap_record_set_t *set); /* all its records are */
void clv_pap_history_weigh_hints(clv_pap_history_t *history, const clv_pap_record_set_t *set);

#endif
