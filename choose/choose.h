/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which plan for which board. PURE: no Open MPI here, so that a test can play any history.
 *
 * What: from a board (equal on all ranks), a cost model (agreed once) and the memory of this
 * stream's earlier boards, the choice for the calls that use the board, and the plan that goes
 * with it. Integers only; a deterministic function of its arguments, because every node's leader
 * computes it alone and all must come to the same answer.
 * Not: whether a call is eligible at all, and how a plan is run.
 *
 * The rules (docs/decisions/0002-choice-by-measured-cost.md):
 *   1. learn: the first calls run the previous reduce, which measures what there is to beat;
 *   2. predict: every candidate plan is made for the clipped arrivals and its end estimated;
 *   3. correct: each choice's estimate is multiplied by what its measured calls took against
 *      their estimates, so that a model that flatters a plan is found out;
 *   4. choose the least, but leave the previous reduce only for a clear gain, and a running
 *      choice only for a clear gain;
 *   5. distrust: after a surprise (an error above four sigma) plans that lean on the predicted
 *      times are out for a while.
 *
 * Plans are made for arrivals in whole round lengths, counted from the first, with or without a
 * cache: so a plan is a function of the board alone, whatever a node's cache holds.
 *
 * Units: ns; byte_ps is picoseconds per byte. Cost: one plan per candidate tried, on the background
 * thread; docs/design/schedule.md has a table. Thread-safe on distinct memories and caches.
 */
#ifndef COLL_CLV_DECIDE_H
#define COLL_CLV_DECIDE_H

#include <stddef.h>
#include <stdint.h>

#include "coll_clv/coll_clv_tables.h"
#include "pap_predict/pap_predict.h"
#include "schedule/sched_cache.h"
#include "schedule/sched_cost.h"

/* What a call can run on account of its board. `generator` names the schedule's row; NULL: none.
 * `leans`: the plan depends on the predicted times, not only on their order. */
/*     name           generator             leans */
#define COLL_CLV_CHOICE_MAP(XX)                                                                    \
    XX(PREVIOUS,      NULL,                 0)                                                     \
    XX(CHAIN,         "chain",              0)                                                     \
    XX(LATEST_FIRST,  "latest-first-rns",   1)                                                     \
    XX(CLAIRVOYANT,   "bitset",             1)

typedef enum coll_clv_choice {
#define COLL_CLV_CHOICE_ENUM(name, generator, leans) COLL_CLV_CHOICE_##name,
    COLL_CLV_CHOICE_MAP(COLL_CLV_CHOICE_ENUM)
#undef COLL_CLV_CHOICE_ENUM
    COLL_CLV_N_CHOICES
} coll_clv_choice_t;

const char *coll_clv_choice_name(coll_clv_choice_t choice);
const char *coll_clv_reason_text(int reason); /* a coll_clv_reason_t */

/* Rank-equal settings of one communicator. */
typedef struct coll_clv_terms {
    int32_t n_ranks;
    int32_t forced;         /* a coll_clv_choice_t, or -1: choose */
    int64_t round_ns;       /* of a segment; 0: from the cost model */
    int64_t segment_bytes;  /* 0: choose */
    int64_t max_sends;      /* a plan with more is no candidate */
    clv_cost_t cost;        /* agreed once */
} coll_clv_terms_t;

/* The choice for the calls that use one board. */
typedef struct coll_clv_decision {
    int32_t choice;
    int32_t reason;
    int32_t n_segments;
    int32_t announced;      /* the board came from hints */
    int64_t round_ns;
    int64_t sigma_ns;
    int64_t predicted_after_ns;
    int64_t predicted_in_mpi_ns;
} coll_clv_decision_t;

/* Bounds of a communicator's plan cache. */
#define COLL_CLV_CACHE_PLANS 64
#define COLL_CLV_CACHE_BYTES (INT64_C(8) << 20)

/* What a stream remembers between boards; all zero at first. */
#define COLL_CLV_DECIDE_RING 4 /* a call is measured two boards later */

typedef struct coll_clv_score {
    int64_t n_measured;
    int64_t ratio_permille;  /* measured / predicted, moving average; 0: never measured */
    int64_t newest_permille; /* of the newest call alone */
    int64_t idle_boards;     /* since it was last measured */
} coll_clv_score_t;

typedef struct coll_clv_memory {
    int32_t running;
    int32_t distrust; /* boards left without plans that lean on times */
    coll_clv_score_t score[COLL_CLV_N_CHOICES];
    coll_clv_decision_t made[COLL_CLV_DECIDE_RING]; /* by board version */
    int64_t last_sigma_ns;
} coll_clv_memory_t;

/* Decides; coll_clv_decided_plan or coll_clv_kept_plan then gives the plan. plans keeps the
 * candidates' plans for later boards (NULL: none is kept); it changes the time, never the answer. A
 * plan that cannot be made for a reason equal on all ranks (a limit) is no candidate. The only
 * failure is CLV_NO_MEMORY, which is this process's own: the caller must report it and must not
 * go another way alone. */
clv_status_t coll_clv_decide(const coll_clv_terms_t *terms, const clv_pap_stream_key_t *key,
                             const clv_pap_board_t *board, coll_clv_memory_t *memory,
                             clv_plan_cache_t *plans,
                             coll_clv_decision_t *decision) CLV_MUST_CHECK;

/* The plan of a decision that has one, made from the same board (NULL: equal arrivals). */
clv_status_t coll_clv_decided_plan(const coll_clv_terms_t *terms, const clv_pap_stream_key_t *key,
                                  const clv_pap_board_t *board,
                                  const coll_clv_decision_t *decision,
                                  clv_plan_t **plan_p) CLV_MUST_CHECK;

/* The same plan, from the cache (not NULL), whose it stays: valid until the cache's next use. */
clv_status_t coll_clv_kept_plan(const coll_clv_terms_t *terms, const clv_pap_stream_key_t *key,
                                const clv_pap_board_t *board, const coll_clv_decision_t *decision,
                                clv_plan_cache_t *plans, const clv_plan_t **plan_p) CLV_MUST_CHECK;

/* The decision of a forced choice where no board exists: equal arrivals. CLV_LIMIT: none is
 * possible. */
clv_status_t coll_clv_decide_blind(const coll_clv_terms_t *terms, const clv_pap_stream_key_t *key,
                                   coll_clv_decision_t *decision) CLV_MUST_CHECK;

#endif
