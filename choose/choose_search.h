/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The candidates for one board: each kind of plan in a few segment counts, made, estimated and
 * scored. PURE and private to the decider.
 *
 * Not: which of them is taken (coll_clv_decide.c). Cost: a plan per candidate that could still win.
 */
#ifndef COLL_CLV_SEARCH_H
#define COLL_CLV_SEARCH_H

#include "choose/choose.h"

typedef struct coll_clv_choice_row {
    const char *name;
    const char *generator;
    int leans;
} coll_clv_choice_row_t;

extern const coll_clv_choice_row_t coll_clv_choices[COLL_CLV_N_CHOICES];

/* One decision in the making: what is asked, and the best answer so far. */
typedef struct coll_clv_search {
    const coll_clv_terms_t *terms;
    const clv_pap_stream_key_t *key;
    const int64_t *order_ns;   /* predicted arrivals */
    int64_t *clipped_ns;       /* the same by the clip rule */
    int64_t *times;            /* memory of both */
    coll_clv_memory_t *memory; /* NULL: no experience */
    clv_plan_cache_t *plans;   /* NULL: every plan is made anew */
    int32_t start;             /* segment count that the search begins at */
    int64_t best_score;
    int64_t running_score; /* of the running choice's best candidate; -1: none */
    coll_clv_decision_t best;
    coll_clv_decision_t running;
} coll_clv_search_t;

/* A search over a board's arrivals (board NULL: all equal), to be closed. memory and plans may be
 * NULL: no experience; every plan is made anew. CLV_NO_MEMORY. */
clv_status_t coll_clv_search_open(const coll_clv_terms_t *terms, const clv_pap_stream_key_t *key,
                                  const clv_pap_board_t *board, coll_clv_memory_t *memory,
                                  clv_plan_cache_t *plans,
                                  coll_clv_search_t *search) CLV_MUST_CHECK;
void coll_clv_search_close(coll_clv_search_t *search);

/* Tries what is allowed; best and running then are the answer. The only failure is CLV_NO_MEMORY.
 */
clv_status_t coll_clv_search_plans(coll_clv_search_t *search,
                                   const clv_pap_board_t *board) CLV_MUST_CHECK;

/* The plan of a decision: one's own, to be freed, or the cache's. */
clv_status_t coll_clv_search_make(const coll_clv_search_t *search,
                                  const coll_clv_decision_t *decision,
                                  clv_plan_t **plan_p) CLV_MUST_CHECK;
clv_status_t coll_clv_search_keep(const coll_clv_search_t *search,
                                  const coll_clv_decision_t *decision,
                                  const clv_plan_t **plan_p) CLV_MUST_CHECK;

#endif
