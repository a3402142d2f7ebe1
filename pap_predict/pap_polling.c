/* SPDX-License-Identifier: BSD-3-Clause
 * See pap_polling.h.
 */
#include "pap_predict/pap_polling.h"

#include <stdbool.h>

#include "util/util_min_max.h"
#include "util/util_time.h"

#define N_LOOKS         5  /* 1 + 2 + 4 + 8 = 15 steps after the first: one distance */
#define STEPS           16 /* of a distance */
#define LONGEST_STEP_NS CLV_NS_PER_MS
#define SHORTEST_NS     (100 * CLV_NS_PER_US) /* distances; below, the thread would never sleep */
#define LONGEST_NS      CLV_NS_PER_S

void clv_pap_polling_init(clv_pap_polling_t *polling)
{
    *polling = (clv_pap_polling_t){.look_ns = INT64_MAX};
}

/* The records were there long before the look, so the expected time was wrong. */
static bool was_early(const clv_pap_polling_t *polling, int64_t given_ns)
{
    return polling->look_ns != INT64_MAX && polling->look_ns - given_ns > 4 * polling->step_ns;
}

static void take_distance(clv_pap_polling_t *polling, int64_t given_ns)
{
    const bool is_known = polling->last_ns != 0 && !was_early(polling, given_ns);
    polling->previous_ns = is_known ? polling->newest_ns : 0;
    polling->newest_ns = is_known ? given_ns - polling->last_ns : 0;
    polling->last_ns = given_ns;
}

void clv_pap_polling_found(clv_pap_polling_t *polling, int64_t given_ns)
{
    take_distance(polling, given_ns);
    const int64_t distance_ns = clv_smaller(polling->newest_ns, polling->previous_ns);
    polling->look_ns = INT64_MAX;
    if (distance_ns >= SHORTEST_NS && distance_ns <= LONGEST_NS) {
        polling->step_ns = clv_smaller(distance_ns / STEPS, LONGEST_STEP_NS);
        polling->look_ns = given_ns + distance_ns + polling->step_ns;
        polling->n_looks = N_LOOKS - 1;
    }
}

void clv_pap_polling_missed(clv_pap_polling_t *polling, int64_t now_ns)
{
    polling->look_ns = INT64_MAX;
    if (polling->n_looks > 0) {
        polling->n_looks--;
        polling->look_ns = now_ns + polling->step_ns;
        polling->step_ns *= 2;
    }
}
