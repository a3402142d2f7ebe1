/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The choice of the predictor that `best` follows; see pap_follow.h. The history keeps each
 * predictor's predictions, and pap_judge.c judges them.
 */
#include "pap_predict/predict/pap_follow.h"

#define MARGIN 16 /* another must be better by a 16th */

void clv_pap_follow_begin(clv_pap_follow_t *best)
{
    *best = (clv_pap_follow_t){.followed = clv_pap_predictor_periodic};
}

/* A sum of magnitudes, not squares: a call that surprised all predictors adds the same to each and
 * hides nothing. */
static int64_t recent_error(const clv_pap_follow_t *best, clv_pap_predictor_t predictor)
{
    int64_t sum_ns = 0;
    for (int i = 0; i < best->n_judged; i++) {
        sum_ns += best->error_ns[predictor][i];
    }
    return sum_ns;
}

void clv_pap_follow_judge(clv_pap_follow_t *best, const int64_t *error_ns)
{
    for (int i = 0; i < CLV_PAP_N_PREDICTORS; i++) {
        best->error_ns[i][best->next] = error_ns[i];
    }
    best->next = (best->next + 1) % CLV_PAP_FOLLOW_JUDGED;
    best->n_judged += best->n_judged < CLV_PAP_FOLLOW_JUDGED;
    int64_t followed_ns = recent_error(best, best->followed);
    int64_t least_ns = followed_ns - followed_ns / MARGIN;
    for (int i = 0; i < CLV_PAP_N_PREDICTORS; i++) {
        clv_pap_predictor_t other = (clv_pap_predictor_t) i;
        if (other != clv_pap_predictor_best && recent_error(best, other) < least_ns) {
            least_ns = recent_error(best, other);
            best->followed = other;
        }
    }
}
