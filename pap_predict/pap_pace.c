/* SPDX-License-Identifier: BSD-3-Clause
 * See pap_pace.h.
 */
#include "pap_predict/pap_pace.h"

#include "util/util_min_max.h"
#include "util/util_time.h"

#define N_LOOKS         5  /* 1 + 2 + 4 + 8 = 15 steps after the first: a distance in all */
#define STEPS           16 /* of a distance */
#define LONGEST_STEP_NS CLV_NS_PER_MS
#define SHORTEST_NS     (100 * CLV_NS_PER_US) /* distances; below, the thread would never sleep */
#define LONGEST_NS      CLV_NS_PER_S

void clv_pap_pace_init(clv_pap_pace_t *pace)
{
    *pace = (clv_pap_pace_t){.look_ns = INT64_MAX};
}

/* It lay there for long before the look: what was expected is no use. */
static int was_early(const clv_pap_pace_t *pace, int64_t given_ns)
{
    return pace->look_ns != INT64_MAX && pace->look_ns - given_ns > 4 * pace->step_ns;
}

static void take_distance(clv_pap_pace_t *pace, int64_t given_ns)
{
    const int is_known = pace->last_ns != 0 && !was_early(pace, given_ns);
    pace->previous_ns = is_known ? pace->newest_ns : 0;
    pace->newest_ns = is_known ? given_ns - pace->last_ns : 0;
    pace->last_ns = given_ns;
}

void clv_pap_pace_found(clv_pap_pace_t *pace, int64_t given_ns)
{
    take_distance(pace, given_ns);
    const int64_t distance_ns = clv_smaller(pace->newest_ns, pace->previous_ns);
    pace->look_ns = INT64_MAX;
    if (distance_ns >= SHORTEST_NS && distance_ns <= LONGEST_NS) {
        pace->step_ns = clv_smaller(distance_ns / STEPS, LONGEST_STEP_NS);
        pace->look_ns = given_ns + distance_ns + pace->step_ns;
        pace->n_looks = N_LOOKS - 1;
    }
}

void clv_pap_pace_missed(clv_pap_pace_t *pace, int64_t now_ns)
{
    pace->look_ns = INT64_MAX;
    if (pace->n_looks > 0) {
        pace->n_looks--;
        pace->look_ns = now_ns + pace->step_ns;
        pace->step_ns *= 2;
    }
}
