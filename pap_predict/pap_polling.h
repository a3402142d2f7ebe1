/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When a leader's thread looks for the next records of a slot without a bell. A rank that wakes the
 * thread pays a system call, microseconds in the middle of MPI_Reduce. A thread that knows when the
 * records will come sets a timer, and the rank only stores.
 *
 *      records          the smaller of the two newest distances, d             nothing came:
 *         |------------------------------------------------|-|-|--|----|--------|  ranks ring
 *                                                          looks at d + d/16, d/8, d/4, d/2, d
 *
 * For records that come later, ranks ring. After records much earlier than expected, they ring
 * until two distances are known again. So ranks never ring in a program that calls regularly, and
 * always in an irregular one; if calls stop, the last look is one distance after the missing call.
 * A rank that needs a forecast rings in any case, so no rank waits for a look.
 *
 * Pure: no time, no table. Local ns. One slot, one thread at a time.
 */
#ifndef CLV_PAP_POLLING_H
#define CLV_PAP_POLLING_H

#include <stdint.h>

typedef struct clv_pap_polling {
    int64_t last_ns;   /* when the newest records came; 0: none yet */
    int64_t newest_ns; /* time between those and the ones before; 0: unknown; the next likewise */
    int64_t previous_ns;
    int64_t look_ns; /* the next look; INT64_MAX: ranks ring */
    int64_t step_ns; /* from that look to the one after */
    int32_t n_looks; /* left after the next */
} clv_pap_polling_t;

void clv_pap_polling_init(clv_pap_polling_t *polling);
/* The host's last record was given at given_ns and has been found. */
void clv_pap_polling_found(clv_pap_polling_t *polling, int64_t given_ns);
/* A look that was due found nothing. */
void clv_pap_polling_missed(clv_pap_polling_t *polling, int64_t now_ns);

#endif
