/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Private to schedule/: how a generator collects sends into a plan.
 *
 * A generator reserves room for a whole round (or for everything), writes, and finishes. Not:
 * order; the generator writes in plan order, or clv_builder_sort sorts. Memory: 12 bytes a send.
 */
#ifndef CLV_SCHED_PLAN_H
#define CLV_SCHED_PLAN_H

#include <string.h>

#include "schedule/schedule.h"

typedef struct clv_builder {
    clv_send_t *sends;
    int64_t n_sends;
    int64_t capacity;
} clv_builder_t;

/* Makes room for the sends that an instance usually needs, so that growing is rare. */
clv_status_t clv_builder_init(clv_builder_t *builder,
                              const clv_instance_t *instance) CLV_MUST_CHECK;
void clv_builder_drop(clv_builder_t *builder);

/* Makes room for n_more further sends; works on a zeroed builder, too. */
clv_status_t clv_builder_reserve(clv_builder_t *builder, int64_t n_more) CLV_MUST_CHECK;

/* Adds a MOVE; plans of a reduce have no other kind. */
static inline void clv_builder_put(clv_builder_t *builder, int32_t round, int32_t sender,
                                   int32_t receiver, int32_t segment)
{
    builder->sends[builder->n_sends++] = clv_send_of(round, sender, receiver, segment, CLV_MOVE);
}

/* Writes a MOVE for generators in a hurry: the four 16-bit numbers in one store. With four stores,
 * a skewed plan of 512 ranks and segments takes 8 % longer. */
static inline void clv_send_store(clv_send_t *to, int32_t round, int32_t sender, int32_t receiver,
                                  int32_t segment)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t numbers = (uint64_t) (uint16_t) sender | (uint64_t) (uint16_t) receiver << 16 |
                             (uint64_t) (uint16_t) segment << 32 | (uint64_t) CLV_MOVE << 48;
    to->round = round;
    memcpy((char *) to + offsetof(clv_send_t, sender), &numbers, sizeof numbers);
#else
    *to = clv_send_of(round, sender, receiver, segment, CLV_MOVE);
#endif
}

/* Stable sort by round, for generators that work rank by rank. Needs the same memory once more. */
clv_status_t clv_builder_sort(clv_builder_t *builder) CLV_MUST_CHECK;

/* Moves the sends into a new plan of the instance's goal; on failure the builder still owns
 * them. */
clv_status_t clv_builder_finish(clv_builder_t *builder, const clv_instance_t *instance,
                                clv_plan_t **plan_p) CLV_MUST_CHECK;

#endif
