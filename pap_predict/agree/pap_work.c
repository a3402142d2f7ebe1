/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Predicts an arrival from reports of progress; see pap_work.h.
 */
#include "pap_predict/agree/pap_work.h"

#include "pap_predict/agree/pap_stream.h"
#include "util/util_hot.h"

#define REPORTED_FROM 0.125 /* of the work */

static bool can_tell(const clv_pap_work_t *work)
{
    return work->done >= REPORTED_FROM * work->total && work->done > work->from;
}

/* Written so that NaN is not sound. */
static bool is_sound(const clv_pap_work_t *work, double done, double total)
{
    return done >= work->done && done <= total && total > 0 && total == work->total;
}

CLV_HOT bool clv_pap_work_report(clv_pap_work_t *work, int64_t call, double done, double total)
{
    if (work->call != call) {
        *work = (clv_pap_work_t){.call = call, .total = total};
    }
    if (work->is_reported || !is_sound(work, done, total)) {
        return false;
    }
    work->done = done;
    return !work->has_start || can_tell(work);
}

int64_t clv_pap_work_arrival(clv_pap_work_t *work, int64_t begun_ns, int64_t now_ns)
{
    if (!work->has_start) {
        const bool is_begun = work->done > 0 && begun_ns >= 0;
        work->has_start = true;
        work->from = is_begun ? 0 : work->done;
        work->from_ns = is_begun ? begun_ns : now_ns;
    }
    if (!can_tell(work) || now_ns <= work->from_ns) {
        return -1;
    }
    work->is_reported = true;
    const double took_ns = (double) (now_ns - work->from_ns);
    const double left_ns = took_ns * (work->total - work->done) / (work->done - work->from);
    return left_ns <= (double) CLV_PAP_FURTHEST_NS ? (int64_t) left_ns : -1;
}
