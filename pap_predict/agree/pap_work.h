/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When a rank will arrive, from the progress of the computation before its call (Improving
 * Clairvoyant, Fig. 9): the remaining work takes as long as the same amount of finished work took.
 * Private to the pap_predict module.
 *
 *     call ends      first report              an eighth is done          arrives?
 *        |--------------- * --------- * ---------- * - - - - - - - - - - - - - |
 *                         measured from here       announced once, from here
 *
 * The arrival is announced once, at the first report after an eighth of the work. That reaches the
 * others before the first of them arrives, unless one has eight times the work of another.
 * A report is ignored if it says less than an earlier one (threads overtake each other), another
 * total than the first, or numbers out of range.
 *
 * Units: done and total in any unit of the program's, 0 <= done <= total, 0 < total; times in ns.
 * Threads: one at a time. No heap, no system call, no time call.
 */
#ifndef CLV_PAP_WORK_H
#define CLV_PAP_WORK_H

#include <stdbool.h>
#include <stdint.h>

typedef struct clv_pap_work {
    int64_t call; /* the communicator's call that it is about */
    int64_t from_ns;
    double from; /* work that was done at from_ns */
    double done, total;
    bool has_start; /* from and from_ns are known */
    bool is_reported;
} clv_pap_work_t;

/* A report before `call`. Whether the time is needed now: then clv_pap_work_arrival follows. */
bool clv_pap_work_report(clv_pap_work_t *work, int64_t call, double done, double total);

/* Time from now to the arrival, or -1: there is nothing to tell yet. begun_ns: when the work began,
 * for a first report with work done already; -1: unknown, so that is measured from the report. */
int64_t clv_pap_work_arrival(clv_pap_work_t *work, int64_t begun_ns, int64_t now_ns);

#endif
