/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What measured calls say about estimates (see coll_clv_score.h).
 */
#include "choose/choose_score.h"

#define DISTRUST_BOARDS    4  /* boards without leaning plans after a surprise */
#define SURPRISE_VECTORS   4  /* a sigma of fewer vectors is a guess */
#define FORGET_BOARDS      64 /* after so many boards unmeasured, a bad record starts to fade */
#define RETRY_BOARDS       8  /* ... and sooner one of a single call, which may have been unlucky */
#define OUTLIER            3  /* one call makes a ratio at most half as large again: (3 + 3) / 4 */
#define RATIO_MIN_PERMILLE 100
#define IN_MPI_WEIGHT      8 /* a second of everybody's waiting counts as 1/8 s after */

static int64_t cost_of(int64_t after_ns, int64_t in_mpi_ns)
{
    return clv_smaller(clv_larger(after_ns, 0) + clv_larger(in_mpi_ns, 0) / IN_MPI_WEIGHT,
                       COLL_CLV_SCORE_CEILING_NS);
}

/* Measured / estimated. What was never measured is presumed to do no better than the plan that
 * runs: that a model flatters all plans, or that a plan's first call had to connect, is no reason
 * to try the others. */
static int64_t ratio_of(const coll_clv_memory_t *memory, int32_t choice)
{
    const coll_clv_score_t *score = &memory->score[choice];
    const coll_clv_score_t *running = &memory->score[memory->running];

    if (score->n_measured > 0) {
        return score->ratio_permille;
    }
    return COLL_CLV_CHOICE_PREVIOUS == memory->running ? 1000
                                                       : clv_larger(running->ratio_permille, 1000);
}

int64_t coll_clv_score(const coll_clv_memory_t *memory, int32_t choice, int64_t after_ns,
                       int64_t in_mpi_ns)
{
    return cost_of(after_ns, in_mpi_ns) / 1000 * (NULL == memory ? 1000 : ratio_of(memory, choice));
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
 * call that took longer counts only as far as the call before it did, too: a single one that was
 * disturbed must not decide. */
static int64_t new_ratio(const coll_clv_score_t *score, int64_t ratio)
{
    if (0 == score->n_measured || (1 == score->n_measured && ratio < score->ratio_permille)) {
        return ratio;
    }
    ratio = clv_smaller(ratio, clv_larger(score->newest_permille, score->ratio_permille));
    ratio = clv_smaller(ratio, OUTLIER * score->ratio_permille);
    return (3 * score->ratio_permille + ratio) / 4;
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
    predicted = clv_larger(cost_of(made->predicted_after_ns, made->predicted_in_mpi_ns) / 1000, 1);
    ratio = cost_of(board->previous_after_ns, board->previous_in_mpi_ns) / predicted;
    ratio = clv_larger(clv_smaller(ratio, COLL_CLV_RATIO_MAX_PERMILLE), RATIO_MIN_PERMILLE);
    score->ratio_permille = new_ratio(score, ratio);
    score->newest_permille = ratio;
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
    if (board->n_vectors >= SURPRISE_VECTORS && memory->last_sigma_ns > 0 &&
        board->worst_error_ns > COLL_CLV_CLIP_SIGMAS * memory->last_sigma_ns) {
        memory->distrust = DISTRUST_BOARDS;
    }
    memory->last_sigma_ns = clv_smaller(board->sigma_ns, INT64_MAX / COLL_CLV_CLIP_SIGMAS / 2);
}

void coll_clv_score_learn(coll_clv_memory_t *memory, const clv_pap_board_t *board)
{
    learn_from(memory, board);
    forget_slowly(memory);
    watch_for_surprise(memory, board);
}
