/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Records and record sets; see pap_record_set.h.
 */
#include "pap_predict/agree/pap_record_set.h"

#include <stddef.h>

#include "util/util_min_max.h"

static bool in_time_range(int64_t time_ns)
{
    return time_ns >= -CLV_PAP_MAX_TIME_NS && time_ns <= CLV_PAP_MAX_TIME_NS;
}

const char *clv_pap_record_problem(const clv_pap_record_t *record)
{
    if (!in_time_range(record->arrival_ns)) {
        return "arrival out of range";
    }
    if (!in_time_range(record->previous_arrival_ns) || !in_time_range(record->previous_exit_ns)) {
        return "previous call out of range";
    }
    if ((record->flags & ~CLV_PAP_RECORD_FLAGS) != 0) {
        return "unknown flag";
    }
    return NULL;
}

uint32_t clv_pap_record_set_any_flags(const clv_pap_record_set_t *set)
{
    uint32_t flags = 0;
    for (int32_t rank = 0; rank < set->n_ranks; rank++) {
        flags |= set->records[rank].flags;
    }
    return flags;
}

uint32_t clv_pap_record_set_common_flags(const clv_pap_record_set_t *set)
{
    uint32_t flags = CLV_PAP_RECORD_FLAGS;
    for (int32_t rank = 0; rank < set->n_ranks; rank++) {
        flags &= set->records[rank].flags;
    }
    return flags;
}

uint32_t clv_pap_record_set_latency(const clv_pap_record_set_t *set)
{
    uint32_t largest_ns = 0;
    for (int32_t rank = 0; rank < set->n_ranks; rank++) {
        if (set->records[rank].latency_ns > largest_ns) {
            largest_ns = set->records[rank].latency_ns;
        }
    }
    return largest_ns;
}

int64_t clv_pap_record_set_last_reported(const clv_pap_record_set_t *set)
{
    int64_t last_ns = INT64_MIN;
    for (int32_t rank = 0; rank < set->n_ranks; rank++) {
        const clv_pap_record_t *record = &set->records[rank];
        last_ns = clv_larger(last_ns, record->arrival_ns - record->lead_ns);
    }
    return last_ns;
}

/* A hint that was only noted did not give the record: that was given at the arrival. */
int64_t clv_pap_record_set_last_given(const clv_pap_record_set_t *set)
{
    int64_t last_ns = INT64_MIN;
    for (int32_t rank = 0; rank < set->n_ranks; rank++) {
        const clv_pap_record_t *record = &set->records[rank];
        bool ahead = (record->flags & CLV_PAP_RECORD_ANNOUNCED) != 0;
        last_ns = clv_larger(last_ns, record->arrival_ns - (ahead ? record->lead_ns : 0));
    }
    return last_ns;
}

uint32_t clv_pap_latency_update(uint32_t old_ns, int64_t newest_ns)
{
    int64_t faded_ns = old_ns / 2;
    int64_t larger_ns = newest_ns > faded_ns ? newest_ns : faded_ns;
    return larger_ns > (int64_t) UINT32_MAX ? UINT32_MAX : (uint32_t) larger_ns;
}
