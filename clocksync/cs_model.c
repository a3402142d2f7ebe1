/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The model of one clock against another: a line, and how wrong it may be.
 *
 * Time is int64 ns. The correction is computed as a double of a DIFFERENCE of times: a double of
 * raw epoch ns would resolve 240 ns only. Pure functions, a few ns each, thread-safe.
 */
#include "clocksync/cs_internal.h"

const clv_cs_model_t clv_cs_identity = {0, 0, 0.0, 0, 0};

int64_t clv_cs_model_global(const clv_cs_model_t *model, int64_t local_ns)
{
    const double elapsed = (double) cs_sub(local_ns, model->origin_ns);
    const int64_t offset = cs_add(model->offset_ns, cs_round(model->slope * elapsed));
    return cs_sub(local_ns, offset);
}

/* With x = local - origin the model reads global = origin - offset + x (1 - slope). */
int64_t clv_cs_model_local(const clv_cs_model_t *model, int64_t global_ns)
{
    const int64_t global_at_origin = cs_sub(model->origin_ns, model->offset_ns);
    const int64_t elapsed_global = cs_sub(global_ns, global_at_origin);
    const double stretch = model->slope / (1.0 - model->slope);
    const int64_t elapsed = cs_add(elapsed_global, cs_round((double) elapsed_global * stretch));
    return cs_add(model->origin_ns, elapsed);
}

int64_t clv_cs_model_error(const clv_cs_model_t *model, int64_t local_ns)
{
    const int64_t elapsed = cs_distance(local_ns, model->origin_ns);
    return cs_add(model->error_ns, cs_run_off(elapsed, model->error_ppb));
}
