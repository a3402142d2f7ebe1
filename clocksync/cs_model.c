/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The model of one clock against another: a line and its error bound.
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

void clv_cs_model_compose(const clv_cs_model_t *outer, const clv_cs_model_t *inner,
                          clv_cs_model_t *model_p)
{
    const int64_t middle_ns = clv_cs_model_global(inner, inner->origin_ns);
    clv_cs_model_t model = *inner;
    model.offset_ns = cs_sub(inner->origin_ns, clv_cs_model_global(outer, middle_ns));
    model.slope = inner->slope + outer->slope - inner->slope * outer->slope;
    model.error_ns = cs_add(inner->error_ns, clv_cs_model_error(outer, middle_ns));
    model.error_ppb = cs_add(inner->error_ppb, outer->error_ppb);
    *model_p = model;
}
