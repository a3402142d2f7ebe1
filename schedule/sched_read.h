/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads an instance, and a plan if there is one, in the golden format: strict, because nobody would
 * notice that a schedule was made from a misread file.
 *
 *   P <ranks>  N <segments>  root <rank>  d <ns>      each on its own line, in this order
 *   goal <name>                                       optional, before d; reduce without it
 *   arrival <ns> ... one per rank
 *   order <ns> ...                                    optional, see clv_instance_t
 *   place <number> ... one per rank                   optional, see clv_instance_t
 *   sends <count>, last_round <round>, fnv1a64 <16 hex digits>, schedule + tuples   optional: the
 *                                                     plan that the file expects; a tuple is
 *                                                     round sender receiver segment [copy]
 *
 * The tuples become a plan, which is only as good as the file: clv_plan_validate judges it.
 * Cost: O(bytes).
 *
 * Units: ns.
 * Errors: as of clv_instance_check, with line and reason; CLV_NO_MEMORY.
 * Memory: on CLV_OK the caller frees what was parsed; on failure nothing is left.
 * Threads: safe.
 */
#ifndef CLV_SCHED_READ_H
#define CLV_SCHED_READ_H

#include <stdbool.h>

#include "schedule/schedule.h"

typedef struct clv_parsed {
    clv_instance_t instance; /* its arrays point to the three below */
    int64_t *arrival_ns;
    int64_t *order_ns;
    int32_t *place;
    int64_t n_sends;    /* -1: not stated */
    int64_t last_round; /* -1: none; only meaningful with n_sends */
    bool has_hash;
    uint64_t hash;
    clv_plan_t *plan; /* of the tuples; NULL without `schedule` */
} clv_parsed_t;

typedef struct clv_parse_error {
    int64_t line; /* from 1 */
    char reason[120];
} clv_parse_error_t;

/* CLV_OK, CLV_NO_MEMORY, or what clv_instance_check would say, with the line and the reason in
 * error_p. The text need not end in a zero byte. On CLV_OK the caller frees. */
clv_status_t clv_instance_parse(const char *text, size_t n_bytes, clv_parsed_t *parsed_p,
                                clv_parse_error_t *error_p) CLV_MUST_CHECK;
void clv_parsed_free(clv_parsed_t *parsed);

#endif
