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
#define RETRY_BOARDS        8   /* ... and sooner one of a single call, which may have been unlucky */
#define OUTLIER             3   /* one call makes a ratio at most half as large again: (3 + 3) / 4 */
#define RATIO_MIN_PERMILLE  100
#define RATIO_MAX_PERMILLE  100000
#define IN_MPI_WEIGHT       8   /* a second of everybody's waiting counts as 1/8 s after */
#define SCORE_CEILING_NS    (INT64_MAX / RATIO_MAX_PERMILLE)

/* Segment counts tried: the set that simulation found within 5 % of the best in all cases, and for
 * who is ahead then also the one that keeps segments of long vectors at EAGER_BYTES. */
static const int32_t segment_counts[] = {1, 2, 4, 8, 12, 16, 24, 32, 48, 64};
#define N_SEGMENT_COUNTS  ((int32_t) (sizeof segment_counts / sizeof segment_counts[0]))
#define FIRST_COUNT       16 /* where a search begins that knows nothing better */
#define PATIENCE          1  /* counts without a gain before a direction is given up */
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
#define REASON_ROW(code, name, text) text,
    COLL_CLV_REASON_MAP(REASON_ROW)
#undef REASON_ROW
};

const char *coll_clv_choice_name(coll_clv_choice_t choice)
{
    return (unsigned) choice < COLL_CLV_N_CHOICES ? choices[choice].name : "unknown";
}

const char *coll_clv_reason_text(int reason)
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

static int64_t score_of(int64_t ratio_permille, int64_t after_ns, int64_t in_mpi_ns)
{
    return cost_of(after_ns, in_mpi_ns) / 1000 * ratio_permille;
}

/* Measured / estimated. What was never measured is presumed to do no better than the plan that runs: that
 * a model flatters all plans, or that a plan's first call had to connect, is no reason to try the
 * others. */
static int64_t ratio_of(const coll_clv_memory_t *memory, int32_t choice)
{
    const coll_clv_score_t *score = &memory->score[choice];
    const coll_clv_score_t *running = &memory->score[memory->running];

    if (score->n_measured > 0) {
        return score->ratio_permille;
    }
    return COLL_CLV_CHOICE_PREVIOUS == memory->running ? 1000
                                                       : larger(running->ratio_permille, 1000);
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

/* The newest vector's record tells of the call before it, which waited for the board two versions
 * earlier, and went on to the next one where that was announced. */
static const coll_clv_decision_t *measured_decision(const coll_clv_memory_t *memory,
                                                    const clv_pap_board_t *board)
{
    const coll_clv_decision_t *waited_for =
        &memory->made[(board->version - 2) % COLL_CLV_DECIDE_RING];

    return waited_for->announced ? &memory->made[(board->version - 1) % COLL_CLV_DECIDE_RING]
                                 : waited_for;
}

/* A moving average. A plan's first call had to connect, and the second one knows better; later a
 * single call that was disturbed must not decide. */
static int64_t new_ratio(const coll_clv_score_t *score, int64_t ratio)
{
    if (0 == score->n_measured || (1 == score->n_measured && ratio < score->ratio_permille)) {
        return ratio;
    }
    return (3 * score->ratio_permille + smaller(ratio, OUTLIER * score->ratio_permille)) / 4;
}

static void learn_from(coll_clv_memory_t *memory, const clv_pap_board_t *board)
{
    const coll_clv_decision_t *made;
    coll_clv_score_t *score;
    int64_t predicted;
    int64_t ratio;

    if (board->version <= 2 || board->previous_after_ns < 0) {
        return; /* the very first call set up connections and says nothing about the rest */
    }
    made = measured_decision(memory, board);
    if (made->choice != board->previous_choice) {
        return;
    }
    score = &memory->score[made->choice];
    predicted = larger(cost_of(made->predicted_after_ns, made->predicted_in_mpi_ns) / 1000, 1);
    ratio = cost_of(board->previous_after_ns, board->previous_in_mpi_ns) / predicted;
    ratio = larger(smaller(ratio, RATIO_MAX_PERMILLE), RATIO_MIN_PERMILLE);
    score->ratio_permille = new_ratio(score, ratio);
    score->n_measured++;
    score->idle_boards = 0;
}

/* A plan that did badly once gets another chance, later and later less often spoken of. */
static void forget_slowly(coll_clv_memory_t *memory)
{
    for (int c = 0; c < COLL_CLV_N_CHOICES; c++) {
        coll_clv_score_t *score = &memory->score[c];
        score->idle_boards++;
        if (1 == score->n_measured && score->idle_boards >= RETRY_BOARDS) {
            score->n_measured = 0;
        }
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
    clv_plan_cache_t *plans;   /* NULL: every plan is made anew */
    int32_t start;             /* segment count that the search begins at */
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

/* A grain lets boards that look alike share a plan. A quarter of a round costs at most 0.6 % of the
 * estimated time, a whole round up to 1.9 % (docs/schedule.md). */
static int64_t quantum_of(const coll_clv_decision_t *decision)
{
    return larger(decision->round_ns / 4, 1);
}

static clv_instance_t instance_of(const search_t *search, const coll_clv_decision_t *decision)
{
    int leans = choices[decision->choice].leans;
    return (clv_instance_t){.n_ranks = search->terms->n_ranks,
                            .n_segments = decision->n_segments,
                            .root = search->key->root,
                            .round_ns = decision->round_ns,
                            .arrival_ns = leans ? search->clipped_ns : search->order_ns,
                            .order_ns = leans ? search->order_ns : NULL};
}

/* A plan of one's own, to be freed. */
static clv_status_t make_plan(const search_t *search, const coll_clv_decision_t *decision,
                              clv_plan_t **plan_p)
{
    const clv_instance_t instance = instance_of(search, decision);
    return clv_plan_make_rounded(clv_generator_find(choices[decision->choice].generator),
                                 &instance, quantum_of(decision), plan_p);
}

/* The same plan, the cache's. */
static clv_status_t keep_plan(const search_t *search, const coll_clv_decision_t *decision,
                              const clv_plan_t **plan_p)
{
    const clv_instance_t instance = instance_of(search, decision);
    return clv_plan_cache_get(search->plans,
                              clv_generator_find(choices[decision->choice].generator), &instance,
                              quantum_of(decision), plan_p);
}

/* How it will go by the times as predicted, neither clipped nor rounded. */
static clv_status_t estimate_candidate(const search_t *search,
                                       const coll_clv_decision_t *candidate,
                                       clv_estimate_t *estimate)
{
    clv_plan_t *made = NULL;
    const clv_plan_t *plan = NULL;
    clv_status_t status;

    if (NULL == search->plans) {
        status = make_plan(search, candidate, &made);
        plan = made;
    } else {
        status = keep_plan(search, candidate, &plan);
    }
    if (CLV_OK == status) {
        status = clv_plan_estimate(plan, search->order_ns, search->key->total_bytes,
                                   &search->terms->cost, estimate);
    }
    clv_plan_free(made);
    return status;
}

static int64_t score_with_memory(const search_t *search, int32_t choice, int64_t after_ns,
                                 int64_t in_mpi_ns)
{
    return score_of(NULL == search->memory ? 1000 : ratio_of(search->memory, choice), after_ns,
                    in_mpi_ns);
}

/* Gives its score. */
static int64_t remember_candidate(search_t *search, const coll_clv_decision_t *candidate)
{
    int64_t score = score_with_memory(search, candidate->choice, candidate->predicted_after_ns,
                                      candidate->predicted_in_mpi_ns);

    if (search->best_score < 0 || score < search->best_score) {
        search->best_score = score;
        search->best = *candidate;
    }
    if (NULL != search->memory && candidate->choice == search->memory->running &&
        (search->running_score < 0 || score < search->running_score)) {
        search->running_score = score;
        search->running = *candidate;
    }
    return score;
}

/* Whether the candidate could become the best one, or the best of the running choice, if it were
 * as good as any plan can be: whoever arrives last sends or, as the root, receives every segment
 * after that, and so does everybody after his own arrival. */
static int can_win(const search_t *search, const coll_clv_decision_t *candidate)
{
    const clv_cost_t *cost = &search->terms->cost;
    int64_t n_bytes = clv_segment_bytes(search->key->total_bytes, candidate->n_segments);
    int64_t wire_ns = clv_cost_round_ns(&(clv_cost_t){0, cost->byte_ps}, n_bytes);
    int64_t after_ns = smaller(wire_ns, SCORE_CEILING_NS / CLV_SCHED_MAX_SEGMENTS) *
                       candidate->n_segments;
    int64_t floor = score_with_memory(search, candidate->choice, after_ns,
                                      after_ns - search->terms->n_ranks);

    return search->best_score < 0 || floor < search->best_score ||
           (NULL != search->memory && candidate->choice == search->memory->running &&
            (search->running_score < 0 || floor < search->running_score));
}

/* *score_p is INT64_MAX for a candidate that is none, or cannot win. */
static clv_status_t try_candidate(search_t *search, int32_t choice, int32_t n_segments,
                                  int64_t *score_p)
{
    const coll_clv_terms_t *terms = search->terms;
    int64_t n_bytes = clv_segment_bytes(search->key->total_bytes, n_segments);
    coll_clv_decision_t candidate = {.choice = choice, .n_segments = n_segments};
    clv_estimate_t estimate;
    clv_status_t status;

    *score_p = INT64_MAX;
    candidate.round_ns =
        terms->round_ns > 0 ? terms->round_ns : larger(clv_cost_round_ns(&terms->cost, n_bytes), 1);
    if (!can_win(search, &candidate)) {
        return CLV_OK;
    }
    status = estimate_candidate(search, &candidate, &estimate);
    if (CLV_OK == status) {
        candidate.predicted_after_ns = smaller(estimate.after_ns, SCORE_CEILING_NS);
        candidate.predicted_in_mpi_ns = smaller(estimate.in_mpi_ns, SCORE_CEILING_NS);
        *score_p = remember_candidate(search, &candidate);
    }
    return CLV_NO_MEMORY == status ? status : CLV_OK; /* a limit is the same on all ranks */
}

static int fits(const coll_clv_terms_t *terms, int64_t n_segments)
{
    return n_segments >= 1 && n_segments <= CLV_SCHED_MAX_SEGMENTS &&
           n_segments * terms->n_ranks <= terms->max_sends;
}

/* The segment counts there are for this vector, rising. */
static int32_t list_counts(const coll_clv_terms_t *terms, int64_t n_bytes, int32_t *counts)
{
    int32_t n_counts = 0;

    if (terms->segment_bytes > 0) {
        int64_t forced = (n_bytes + terms->segment_bytes - 1) / terms->segment_bytes;
        counts[0] = fits(terms, forced) ? (int32_t) forced : 0;
        return counts[0] > 0;
    }
    for (int32_t i = 0; i < N_SEGMENT_COUNTS; i++) {
        int32_t n = segment_counts[i];
        if (fits(terms, n) && (1 == n || n_bytes / n >= MIN_SEGMENT_BYTES)) {
            counts[n_counts++] = n;
        }
    }
    return n_counts;
}

/* From counts[at] on in steps of +1 or -1, for as long as it gains. */
static clv_status_t climb(search_t *search, int32_t choice, const int32_t *counts, int32_t n_counts,
                          int32_t at, int32_t step, int64_t best)
{
    for (int32_t patience = PATIENCE; patience > 0; patience--) {
        int64_t score;
        clv_status_t status;

        at += step;
        if (at < 0 || at >= n_counts) {
            break;
        }
        status = try_candidate(search, choice, counts[at], &score);
        if (CLV_OK != status) {
            return status;
        }
        if (score < best) {
            best = score;
            patience = PATIENCE + 1;
        }
    }
    return CLV_OK;
}

/* Few segments fill the pipeline badly, many pay latency for each: between the two lies one
 * valley, and mostly where it lay for the stream's last board. */
static clv_status_t try_segment_counts(search_t *search, int32_t choice)
{
    int32_t counts[N_SEGMENT_COUNTS];
    int32_t n_counts = list_counts(search->terms, search->key->total_bytes, counts);
    int32_t at = 0;
    int64_t score;
    clv_status_t status;

    if (0 == n_counts) {
        return CLV_OK;
    }
    while (at + 1 < n_counts && counts[at + 1] <= search->start) {
        at++;
    }
    status = try_candidate(search, choice, counts[at], &score);
    if (CLV_OK == status) {
        status = climb(search, choice, counts, n_counts, at, 1, score);
    }
    if (CLV_OK == status) {
        status = climb(search, choice, counts, n_counts, at, -1, score);
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

/* A plan of that many segments is the dearest to make: only for the two that can be chosen. */
static clv_status_t try_eager_counts(search_t *search)
{
    int64_t n_segments = (search->key->total_bytes + EAGER_BYTES - 1) / EAGER_BYTES;
    const int32_t leader = search->best_score >= 0 ? search->best.choice : -1;
    const int32_t running = search->running_score >= 0 ? search->running.choice : -1;
    clv_status_t status = CLV_OK;
    int64_t score;

    if (search->terms->segment_bytes > 0 || !fits(search->terms, n_segments) ||
        n_segments <= segment_counts[N_SEGMENT_COUNTS - 1]) {
        return CLV_OK;
    }
    if (leader >= 0) {
        status = try_candidate(search, leader, (int32_t) n_segments, &score);
    }
    if (CLV_OK == status && running >= 0 && running != leader) {
        status = try_candidate(search, running, (int32_t) n_segments, &score);
    }
    return status;
}

static clv_status_t search_plans(search_t *search, const clv_pap_board_t *board)
{
    clv_status_t status = CLV_OK;

    for (int32_t c = 0; c < COLL_CLV_N_CHOICES && CLV_OK == status; c++) {
        if (NULL != choices[c].generator && allowed(search, board, c)) {
            status = try_segment_counts(search, c);
        }
    }
    return CLV_OK == status ? try_eager_counts(search) : status;
}

/* ---- the choice ----------------------------------------------------------------------------- */

static void settle(search_t *search, const coll_clv_decision_t *previous,
                   coll_clv_decision_t *decision)
{
    int64_t previous_score = score_of(ratio_of(search->memory, COLL_CLV_CHOICE_PREVIOUS),
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
    search_t search = {.terms = terms, .key = key, .best_score = -1, .running_score = -1,
                       .start = FIRST_COUNT};

    search.order_ns = NULL == board ? times : board->predicted_ns;
    search.clipped_ns = times + terms->n_ranks;
    clip_arrivals(search.clipped_ns, search.order_ns, terms->n_ranks,
                  NULL == board ? 0 : board->sigma_ns);
    return search;
}

/* The previous reduce tells nothing about segments. */
static int32_t start_count(const coll_clv_memory_t *memory, const clv_pap_board_t *board)
{
    const coll_clv_decision_t *made =
        &memory->made[(board->version + COLL_CLV_DECIDE_RING - 1) % COLL_CLV_DECIDE_RING];
    return COLL_CLV_CHOICE_PREVIOUS == made->choice ? FIRST_COUNT : made->n_segments;
}

clv_status_t coll_clv_decide(const coll_clv_terms_t *terms, const clv_pap_stream_key_t *key,
                             const clv_pap_board_t *board, coll_clv_memory_t *memory,
                             clv_plan_cache_t *plans, coll_clv_decision_t *decision)
{
    int64_t *times = clv_alloc(2 * (size_t) terms->n_ranks, sizeof *times);
    search_t search;
    clv_status_t status;

    if (NULL == times) {
        return CLV_NO_MEMORY;
    }
    search = search_of(terms, key, board, times);
    search.memory = memory;
    search.plans = plans;
    search.start = start_count(memory, board);
    learn_from(memory, board);
    forget_slowly(memory);
    watch_for_surprise(memory, board);
    status = choose(&search, board, decision);
    if (CLV_OK == status) {
        decision->sigma_ns = board->sigma_ns;
        decision->announced = board->announced;
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
    status = make_plan(&search, decision, plan_p);
    clv_free(times);
    return status;
}

clv_status_t coll_clv_kept_plan(const coll_clv_terms_t *terms, const clv_pap_stream_key_t *key,
                                const clv_pap_board_t *board, const coll_clv_decision_t *decision,
                                clv_plan_cache_t *plans, const clv_plan_t **plan_p)
{
    int64_t *times = clv_alloc(2 * (size_t) terms->n_ranks, sizeof *times);
    search_t search;
    clv_status_t status;

    if (NULL == times) {
        return CLV_NO_MEMORY;
    }
    search = search_of(terms, key, board, times);
    search.plans = plans;
    status = keep_plan(&search, decision, plan_p);
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
