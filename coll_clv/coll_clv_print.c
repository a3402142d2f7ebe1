/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A board and a plan as text (see coll_clv_print.h).
 */
#include "coll_clv/coll_clv_print.h"

#include <inttypes.h>
#include <stdio.h>

#include "coll_clv/coll_clv_tables.h"

#define MS(ns) ((double) (ns) / 1e6)

static void print_decision(const coll_clv_decision_t *decision, coll_clv_print_line_t print,
                           void *context)
{
    char line[256];

    (void) snprintf(line, sizeof line,
                    "  then %s in %" PRId32 " segments, round %.3f ms, expected to end %.3f ms "
                    "after the last arrival: %s",
                    coll_clv_choice_name((coll_clv_choice_t) decision->choice),
                    decision->n_segments, MS(decision->round_ns),
                    MS(decision->predicted_after_ns),
                    coll_clv_reason_text((coll_clv_reason_t) decision->reason));
    print(context, line);
}

/* The latest rank after (later than, or as late with a higher number than) the one before. */
static int32_t next_latest(const clv_pap_board_t *board, int32_t before)
{
    const int64_t *late_ns = board->predicted_ns;
    int32_t best = -1;

    for (int32_t p = 0; p < board->n_ranks; p++) {
        int is_after = before < 0 || late_ns[p] < late_ns[before] ||
                       (late_ns[p] == late_ns[before] && p > before);
        if (is_after && (best < 0 || late_ns[p] > late_ns[best])) {
            best = p;
        }
    }
    return best;
}

static void print_ranks(const clv_pap_board_t *board, coll_clv_print_line_t print, void *context)
{
    char line[96];
    int32_t rank = -1;
    int32_t n = 0;

    for (; n < board->n_ranks && n < COLL_CLV_PRINT_RANKS; n++) {
        rank = next_latest(board, rank);
        (void) snprintf(line, sizeof line, "  rank %" PRId32 " late by %.3f ms", rank,
                        MS(board->predicted_ns[rank]));
        print(context, line);
    }
    if (n < board->n_ranks) {
        (void) snprintf(line, sizeof line, "  and %" PRId32 " ranks earlier than these",
                        board->n_ranks - n);
        print(context, line);
    }
}

/* Where the arrivals of a board come from. */
static const char *source_of(const clv_pap_board_t *board)
{
    static const char *const sources[] = {
#define PREDICTOR_SOURCE(code, spelling, meaning) "predicted by " spelling,
        COLL_CLV_PREDICTOR_MAP(PREDICTOR_SOURCE)
#undef PREDICTOR_SOURCE
    };

    if (board->announced) {
        return "announced";
    }
    return board->predictor < 0 || board->predictor >= COLL_CLV_N_PREDICTORS
               ? "not predicted"
               : sources[board->predictor];
}

void coll_clv_print_board(const char *title, const clv_pap_stream_key_t *key,
                          const clv_pap_board_t *board, const coll_clv_decision_t *decision,
                          coll_clv_print_line_t print, void *context)
{
    char line[256];

    if (NULL == board) {
        (void) snprintf(line, sizeof line, "%s: reduce of %" PRId64 " bytes to rank %" PRId32
                        ": no board yet", title, key->total_bytes, key->root);
        print(context, line);
    } else {
        (void) snprintf(line, sizeof line, "%s: reduce of %" PRId64 " bytes to rank %" PRId32
                        ", board %" PRId64 ", %s: sigma %.3f ms over %" PRId32
                        " calls, last error at most %.3f ms, clocks to %.3f ms",
                        title, key->total_bytes, key->root, board->version,
                        source_of(board), MS(board->sigma_ns),
                        board->n_vectors,
                        MS(board->worst_error_ns), MS(board->clock_error_ns));
        print(context, line);
        print_ranks(board, print, context);
    }
    print_decision(decision, print, context);
}

void coll_clv_print_plan(const clv_plan_t *plan, coll_clv_print_line_t print, void *context)
{
    char line[96];

    for (int64_t i = 0; i < plan->n_sends; i++) {
        const clv_send_t *send = &plan->sends[i];
        (void) snprintf(line, sizeof line, "%" PRId32 " %" PRId32 " %" PRId32 " %" PRId32,
                        send->round, send->sender, send->receiver, send->segment);
        print(context, line);
    }
}
