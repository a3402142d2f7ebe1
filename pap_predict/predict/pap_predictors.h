/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Predictors: from the remembered calls of one stream to the next relative arrivals.
 * Private to the pap_predict module and to the tools.
 *
 * All but `best`, which chooses among them (pap_follow.h), are pure. A predictor sees a view:
 * n_rows remembered calls, newest first. It fills predicted_ns[rank]; any common constant may be
 * added (the forecast makes the smallest 0). Integers only, the same on every machine. A predictor
 * does not state its uncertainty: the forecast measures that as the error of the predictions made
 * before the calls that they are compared with.
 */
#ifndef CLV_PAP_PREDICTORS_H
#define CLV_PAP_PREDICTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "pap_predict/pap_predict.h"

/* 73 minutes; larger differences are cut off. */
#define CLV_PAP_MAX_SPREAD_NS (INT64_C(1) << 42)

/* What is kept of a call. The first column always, the others only for predictors with all_columns.
 * INT64_MIN: unknown. */
typedef enum clv_pap_column {
    CLV_PAP_ARRIVAL, /* relative: the earliest rank is 0 */
    CLV_PAP_COMPUTE, /* arrival - exit of the previous call */
    CLV_PAP_IN_MPI,  /* exit - arrival of the previous call */
    CLV_PAP_EXIT,    /* exit of the previous call - its last arrival */
    CLV_PAP_COLUMNS
} clv_pap_column_t;

typedef struct clv_pap_history clv_pap_history_t; /* pap_history.h */

int32_t clv_pap_history_n_rows(const clv_pap_history_t *history);
int32_t clv_pap_history_n_ranks(const clv_pap_history_t *history);
const int64_t *clv_pap_history_row(const clv_pap_history_t *history, clv_pap_column_t column,
                                   int32_t age);                             /* age 0: the newest */
int64_t clv_pap_history_call(const clv_pap_history_t *history, int32_t age); /* its call number */
int64_t clv_pap_history_next_call(const clv_pap_history_t *history); /* the one to predict */

typedef struct clv_pap_predictor_ops {
    const char *name;
    const char *meaning;
    bool all_columns;
    void (*predict)(const clv_pap_history_t *history,
                    int64_t *predicted_ns); /* n_rows >= 1; NULL: `best` */
} clv_pap_predictor_ops_t;

#define CLV_PAP_PREDICTOR_DECLARE(stem, all_columns, meaning)                                      \
    void clv_pap_##stem##_predict(const clv_pap_history_t *history, int64_t *predicted_ns);
CLV_PAP_PURE_PREDICTOR_MAP(CLV_PAP_PREDICTOR_DECLARE)
#undef CLV_PAP_PREDICTOR_DECLARE

extern const clv_pap_predictor_ops_t clv_pap_predictors[CLV_PAP_N_PREDICTORS];

#endif
