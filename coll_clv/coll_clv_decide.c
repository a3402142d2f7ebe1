/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which plan for which board (see coll_clv_decide.h for the rules).
 */
#include "coll_clv/coll_clv_decide.h"

#include "util/util_alloc.h"

/* The measures of caution, each with its reason. */
#define LEARN_CALLS         2   /* measured calls of the previous reduce before anything else */
#define CLIP_SIGMAS         4   /* the clip rule */
#define DISTRUST_BOARDS     4   /* boards without leaning plans after a surprise */
#define LEAN_MIN_VECTORS    4   /* a sigma of fewer vectors is a guess */
#define LEAVE_PERMILLE      970 /* leave the previous reduce only below this share of its score */
#define SWITCH_PERMILLE     950 /* leave a running plan only below this share of its score */
#define FORGET_BOARDS       64  /* after so many boards unmeasured, a bad record starts to fade */
#define RATIO_MIN_PERMILLE  100
#define RATIO_MAX_PERMILLE  100000
#define IN_MPI_WEIGHT       8   /* a second of everybody's waiting counts as 1/8 s after */
#define SCORE_CEILING_NS    (INT64_MAX / RATIO_MAX_PERMILLE)

/* Segment counts tried: the set that simulation found within 5 % of the best in all cases, and
 * above it what keeps segments of long vectors at EAGER_BYTES. */
static const int32_t segment_counts[] = {1, 2, 4, 8, 12, 16, 24, 32, 48, 64};
#define N_SEGMENT_COUNTS  ((int32_t) (sizeof segment_counts / sizeof segment_counts[0]))
#define EAGER_BYTES       32768
#define MIN_SEGMENT_BYTES 4096

typedef struct choice_row {
    const char *name;
    const char *generator;
    int leans;
} choice_row_t;

static const choice_row_t choices[COLL_CLV_N_CHOICES] = {
#define CHOICE_ROW(name, generator, leans) {#name, generator, leans},
    COLL_CLV_CHOICE_MAP(CHOICE_ROW)
#undef CHOICE_ROW
};

static const char *const reasons[] = {
#define REASON_ROW(name, text) text,
    COLL_CLV_REASON_MAP(REASON_ROW)
#undef REASON_ROW
};

const char *coll_clv_choice_name(coll_clv_choice_t choice)
{
    return (unsigned) choice < COLL_CLV_N_CHOICES ? choices[choice].name : "unknown";
}

const char *coll_clv_reason_text(coll_clv_reason_t reason)
{
    return (unsigned) reason < sizeof reasons / sizeof reasons[0] ? reasons[reason] : "unknown";
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t ceil_log2(int32_t n)
{
    int64_t log = 0;
    while (((int64_t) 1 << log) < n) {
        log++;
    }
    return log;
}

/* ---- scores: estimate times what experience says about estimates of this kind ------------- */

static int64_t cost_of(int64_t after_ns, int64_t in_mpi_ns)
{
    return smaller(larger(after_ns, 0) + larger(in_mpi_ns, 0) / IN_MPI_WEIGHT, SCORE_CEILING_NS);
}

static int64_t score_of(const coll_clv_score_t *score, int64_t after_ns, int64_t in_mpi_ns)
{
    int64_t ratio = 0 == score->n_measured ? 1000 : score->ratio_permille;
    return cost_of(after_ns, in_mpi_ns) / 1000 * ratio;
}

/* Open MPI's reduce of medium and long vectors is an unsegmented binomial tree. */
static void predict_previous(const coll_clv_terms_t *terms, int64_t n_bytes,
                             coll_clv_decision_t *decision)
{
    int64_t tree_ns = smaller(clv_cost_round_ns(&terms->cost, n_bytes), SCORE_CEILING_NS / 64);

    decision->choice = COLL_CLV_CHOICE_PREVIOUS;
    decision->n_segments = 1;
    decision->round_ns = tree_ns;
    decision->predicted_after_ns = tree_ns * ceil_log2(terms->n_ranks);
    decision->predicted_in_mpi_ns = decision->predicted_after_ns;
}

/* The call measured by this board was decided by the board two versions earlier: the newest
 * vector's record tells of the call before it. */
static void learn_from(coll_clv_memory_t *memory, const clv_pap_board_t *board)
{
    const coll_clv_decision_t *made;
    coll_clv_score_t *score;
    int64_t predicted;
    int64_t ratio;

    if (board->version <= 2 || board->previous_after_ns < 0) {
        return; /* the very first call set up connections and says nothing about the rest */
    }
    made = &memory->made[(board->version - 2) % COLL_CLV_DECIDE_RING];
    if (made->choice != board->previous_choice) {
        return;
    }
    score = &memory->score[made->choice];
    predicted = larger(cost_of(made->predicted_after_ns, made->predicted_in_mpi_ns) / 1000, 1);
    ratio = cost_of(board->previous_after_ns, board->previous_in_mpi_ns) / predicted;
    ratio = larger(smaller(ratio, RATIO_MAX_PERMILLE), RATIO_MIN_PERMILLE);
    score->ratio_permille = 0 == score->n_measured ? ratio : (3 * score->ratio_permille + ratio) / 4;
    score->n_measured++;
    score->idle_boards = 0;
}

/* A plan that did badly once gets another chance, later and later less often spoken of. */
static void forget_slowly(coll_clv_memory_t *memory)
{
    for (int c = 0; c < COLL_CLV_N_CHOICES; c++) {
        coll_clv_score_t *score = &memory->score[c];
        score->idle_boards++;
        if (score->idle_boards >= FORGET_BOARDS && score->ratio_permille > 1000) {
            score->ratio_permille -= (score->ratio_permille - 1000) / 4;
            score->idle_boards = 0;
        }
    }
}

static void watch_for_surprise(coll_clv_memory_t *memory, const clv_pap_board_t *board)
{
    if (memory->distrust > 0) {
        memory->distrust--;
    }
    if (board->n_vectors >= LEAN_MIN_VECTORS && memory->last_sigma_ns > 0 &&
        board->worst_error_ns > CLIP_SIGMAS * memory->last_sigma_ns) {
        memory->distrust = DISTRUST_BOARDS;
    }
    memory->last_sigma_ns = smaller(board->sigma_ns, INT64_MAX / CLIP_SIGMAS / 2);
}

/* ---- candidates ----------------------------------------------------------------------------- */

/* One decision in the making: what is asked, and the best answer so far. */
typedef struct search {
    const coll_clv_terms_t *terms;
    const clv_pap_stream_key_t *key;
    const int64_t *order_ns;   /* predicted arrivals */
    int64_t *clipped_ns;
    coll_clv_memory_t *memory; /* NULL: no experience */
    int64_t best_score;
    int64_t running_score;     /* of the running choice's best candidate; -1: none */
    coll_clv_decision_t best;
    coll_clv_decision_t running;
} search_t;

/* The clip rule: nobody is expected before 4 sigma have passed, nobody after the last. */
static void clip_arrivals(int64_t *clipped_ns, const int64_t *predicted_ns, int32_t n_ranks,
                          int64_t sigma_ns)
{
    int64_t margin = CLIP_SIGMAS * smaller(sigma_ns, INT64_MAX / 16);
    int64_t last = predicted_ns[0];

    for (int32_t p = 1; p < n_ranks; p++) {
        last = larger(last, predicted_ns[p]);
    }
    for (int32_t p = 0; p < n_ranks; p++) {
        clipped_ns[p] = last - predicted_ns[p] < margin ? last : predicted_ns[p] + margin;
    }
}

static clv_status_t make_candidate(const search_t *search, const coll_clv_decision_t *decision,
                                   clv_plan_t **plan_p)
{
    const choice_row_t *row = &choices[decision->choice];
    clv_instance_t instance = {.n_ranks = search->terms->n_ranks,
                               .n_segments = decision->n_segments,
                               .root = search->key->root,
                               .round_ns = decision->round_ns,
                               .arrival_ns = row->leans ? search->clipped_ns : search->order_ns,
                               .order_ns = row->leans ? search->order_ns : NULL};

    return clv_plan_make(clv_generator_find(row->generator), &instance, plan_p);
}

static void remember_candidate(search_t *search, const coll_clv_decision_t *candidate)
{
    const coll_clv_score_t none = {0};
    const coll_clv_score_t *score =
        NULL == search->memory ? &none : &search->memory->score[candidate->choice];
    int64_t value = score_of(score, candidate->predicted_after_ns, candidate->predicted_in_mpi_ns);

    if (search->best_score < 0 || value < search->best_score) {
        search->best_score = value;
        search->best = *candidate;
    }
    if (NULL != search->memory && candidate->choice == search->memory->running &&
        (search->running_score < 0 || value < search->running_score)) {
        search->running_score = value;
        search->running = *candidate;
    }
}

static clv_status_t try_candidate(search_t *search, int32_t choice, int32_t n_segments)
{
    const coll_clv_terms_t *terms = search->terms;
    int64_t n_bytes = clv_segment_bytes(search->key->total_bytes, n_segments);
    coll_clv_decision_t candidate = {.choice = choice, .n_segments = n_segments};
    clv_plan_t *plan = NULL;
    clv_estimate_t estimate;
    clv_status_t status;

    candidate.round_ns =
        terms->round_ns > 0 ? terms->round_ns : larger(clv_cost_round_ns(&terms->cost, n_bytes), 1);
    status = make_candidate(search, &candidate, &plan);
    if (CLV_OK == status) {
        status = clv_plan_estimate(plan, search->order_ns, search->key->total_bytes, &terms->cost,
                                   &estimate);
        clv_plan_free(plan);
    }
    if (CLV_OK == status) {
        candidate.predicted_after_ns = smaller(estimate.after_ns, SCORE_CEILING_NS);
        candidate.predicted_in_mpi_ns = smaller(estimate.in_mpi_ns, SCORE_CEILING_NS);
        remember_candidate(search, &candidate);
    }
    return CLV_NO_MEMORY == status ? status : CLV_OK; /* a limit is the same on all ranks */
}

static int fits(const coll_clv_terms_t *terms, int64_t n_segments)
{
    return n_segments >= 1 && n_segments <= CLV_SCHED_MAX_SEGMENTS &&
           n_segments * terms->n_ranks <= terms->max_sends;
}

static clv_status_t try_segment_counts(search_t *search, int32_t choice)
{
    const coll_clv_terms_t *terms = search->terms;
    int64_t n_bytes = search->key->total_bytes;
    int64_t eager = (n_bytes + EAGER_BYTES - 1) / EAGER_BYTES;
    clv_status_t status = CLV_OK;

    if (terms->segment_bytes > 0) {
        int64_t forced = (n_bytes + terms->segment_bytes - 1) / terms->segment_bytes;
        return fits(terms, forced) ? try_candidate(search, choice, (int32_t) forced) : CLV_OK;
    }
    for (int32_t i = 0; i < N_SEGMENT_COUNTS && CLV_OK == status; i++) {
        int32_t n = segment_counts[i];
        if (fits(terms, n) && (1 == n || n_bytes / n >= MIN_SEGMENT_BYTES)) {
            status = try_candidate(search, choice, n);
        }
    }
    if (CLV_OK == status && eager > segment_counts[N_SEGMENT_COUNTS - 1] && fits(terms, eager)) {
        status = try_candidate(search, choice, (int32_t) eager);
    }
    return status;
}

static int allowed(const search_t *search, const clv_pap_board_t *board, int32_t choice)
{
    if (search->terms->forced >= 0) {
        return choice == search->terms->forced;
    }
    return !choices[choice].leans ||
           (board->n_vectors >= LEAN_MIN_VECTORS && 0 == search->memory->distrust);
}

static clv_status_t search_plans(search_t *search, const clv_pap_board_t *board)
{
    clv_status_t status = CLV_OK;

    for (int32_t c = 0; c < COLL_CLV_N_CHOICES && CLV_OK == status; c++) {
        if (NULL != choices[c].generator && allowed(search, board, c)) {
            status = try_segment_counts(search, c);
        }
    }
    return status;
}

/* ---- the choice ----------------------------------------------------------------------------- */

static void settle(search_t *search, const coll_clv_decision_t *previous,
                   coll_clv_decision_t *decision)
{
    int64_t previous_score = score_of(&search->memory->score[COLL_CLV_CHOICE_PREVIOUS],
                                      previous->predicted_after_ns, previous->predicted_in_mpi_ns);

    if (search->best_score < 0) {
        *decision = *previous;
        decision->reason = COLL_CLV_REASON_NO_PLAN;
    } else if (search->best_score >= previous_score / 1000 * LEAVE_PERMILLE) {
        *decision = *previous;
        decision->reason = COLL_CLV_REASON_NO_GAIN;
    } else if (search->running_score >= 0 && search->best.choice != search->running.choice &&
               search->best_score >= search->running_score / 1000 * SWITCH_PERMILLE) {
        *decision = search->running;
        decision->reason = COLL_CLV_REASON_KEPT;
    } else {
        *decision = search->best;
        decision->reason = COLL_CLV_REASON_PREDICTED;
    }
}

static clv_status_t choose(search_t *search, const clv_pap_board_t *board,
                           coll_clv_decision_t *decision)
{
    coll_clv_decision_t previous = {0};
    clv_status_t status;

    predict_previous(search->terms, search->key->total_bytes, &previous);
    if (search->terms->forced < 0 &&
        search->memory->score[COLL_CLV_CHOICE_PREVIOUS].n_measured < LEARN_CALLS) {
        *decision = previous;
        decision->reason = COLL_CLV_REASON_LEARNING;
        return CLV_OK;
    }
    status = search_plans(search, board);
    if (CLV_OK != status) {
        return status;
    }
    if (search->terms->forced >= 0 && search->best_score >= 0) {
        *decision = search->best;
        decision->reason = COLL_CLV_REASON_FORCED;
    } else {
        settle(search, &previous, decision);
    }
    return CLV_OK;
}

/* A search over a board's arrivals (board NULL: all equal); times has 2 * n_ranks items, zeroed. */
static search_t search_of(const coll_clv_terms_t *terms, const clv_pap_stream_key_t *key,
                          const clv_pap_board_t *board, int64_t *times)
{
    search_t search = {.terms = terms, .key = key, .best_score = -1, .running_score = -1};

    search.order_ns = NULL == board ? times : board->predicted_ns;
    search.clipped_ns = times + terms->n_ranks;
    clip_arrivals(search.clipped_ns, search.order_ns, terms->n_ranks,
                  NULL == board ? 0 : board->sigma_ns);
    return search;
}

clv_status_t coll_clv_decide(const coll_clv_terms_t *terms, const clv_pap_stream_key_t *key,
                             const clv_pap_board_t *board, coll_clv_memory_t *memory,
                             coll_clv_decision_t *decision)
{
    int64_t *times = clv_alloc(2 * (size_t) terms->n_ranks, sizeof *times);
    search_t search;
    clv_status_t status;

    if (NULL == times) {
        return CLV_NO_MEMORY;
    }
    search = search_of(terms, key, board, times);
    search.memory = memory;
    learn_from(memory, board);
    forget_slowly(memory);
    watch_for_surprise(memory, board);
    status = choose(&search, board, decision);
    if (CLV_OK == status) {
        decision->sigma_ns = board->sigma_ns;
        memory->running = decision->choice;
        memory->made[board->version % COLL_CLV_DECIDE_RING] = *decision;
    }
    clv_free(times);
    return status;
}

clv_status_t coll_clv_decided_plan(const coll_clv_terms_t *terms, const clv_pap_stream_key_t *key,
                                   const clv_pap_board_t *board,
                                   const coll_clv_decision_t *decision, clv_plan_t **plan_p)
{
    int64_t *times = clv_alloc(2 * (size_t) terms->n_ranks, sizeof *times);
    search_t search;
    clv_status_t status;

    if (NULL == times) {
        return CLV_NO_MEMORY;
    }
    search = search_of(terms, key, board, times);
    status = make_candidate(&search, decision, plan_p);
    clv_free(times);
    return status;
}

clv_status_t coll_clv_decide_blind(const coll_clv_terms_t *terms, const clv_pap_stream_key_t *key,
                                   coll_clv_decision_t *decision)
{
    int64_t *times = clv_alloc(2 * (size_t) terms->n_ranks, sizeof *times);
    search_t search;
    clv_status_t status;

    if (NULL == times) {
        return CLV_NO_MEMORY;
    }
    search = search_of(terms, key, NULL, times);
    status = search_plans(&search, NULL);
    if (CLV_OK == status && search.best_score < 0) {
        status = CLV_LIMIT;
    }
    if (CLV_OK == status) {
        *decision = search.best;
        decision->reason = COLL_CLV_REASON_FORCED;
    }
    clv_free(times);
    return status;
}
