/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Check-Global-Clock (HCA3 paper, Algorithm 6): the error of every rank's global clock.
 *
 * GLOBAL clocks are compared on both sides. (The known mistake is to answer with the reference's
 * local clock, which differs as soon as the reference has a model of its own.) The result is only
 * as good as one SKaMPI-Offset; where the true time is available to all, compare with that.
 */
#include "clocksync/methods/cs_run.h"

typedef struct global_clock {
    const clv_cs_clock_t *base;
    const clv_cs_model_t *model;
} global_clock_t;

static int64_t global_now(const clv_cs_clock_t *clock)
{
    const global_clock_t *global = clock->context;
    return clv_cs_model_global(global->model, clv_cs_clock_now_ns(global->base));
}

static clv_status_t check_client(cs_run_t *run, const clv_cs_model_t *model)
{
    global_clock_t global = {run->clock, model};
    const clv_cs_clock_t clock = {.now_ns = global_now, .name = "global", .context = &global};
    clv_cs_point_t point;
    clv_cs_fit_t fit = {.model = clv_cs_identity};
    clv_status_t status = CLV_UNSUPPORTED;
    cs_pair_t pair = cs_pair_with(run, 0);
    if (run->clock != NULL && model != NULL) {
        pair.clock = &clock;
        status = clv_cs_pair_offset(&pair, &point);
    }
    if (status == CLV_OK) {
        fit.model.origin_ns = point.local_ns;
        fit.model.offset_ns = point.offset_ns;
        fit.model.error_ns = point.error_ns;
    }
    status = clv_cs_pair_done(&pair, status);
    const cs_record_t record = clv_cs_record(cs_virtual_rank(run), status, &fit);
    const clv_status_t sent = clv_cs_send_records(run->group, cs_index_of(run, 0), &record, 1);
    return status != CLV_OK ? status : sent;
}

static clv_cs_point_t check_one(cs_run_t *run, int32_t client, const clv_cs_model_t *model)
{
    const clv_cs_point_t failed = {0, 0, INT64_MAX};
    cs_pair_t pair = cs_pair_with(run, client);
    cs_record_t record;
    clv_status_t status = clv_cs_pair_serve(&pair, model);
    if (status >= CLV_OK) {
        status = clv_cs_recv_records(run->group, cs_index_of(run, client), &record, client, 1);
    }
    if (status != CLV_OK || record.status != CLV_OK) {
        return failed;
    }
    return (clv_cs_point_t){record.model.origin_ns, record.model.offset_ns, record.model.error_ns};
}

clv_status_t clv_cs_check(const clv_cs_group_t *group, const clv_cs_clock_t *clock,
                          const clv_cs_model_t *model, int32_t n_exchanges,
                          clv_cs_point_t *points_p)
{
    const clv_cs_method_t method = {.algorithm = CLV_CS_SKAMPI,
                                    .offset = CLV_CS_OFFSET_SKAMPI,
                                    .n_fit_points = 1,
                                    .n_exchanges = n_exchanges};
    cs_run_t run = {.group = group, .method = &method, .clock = clock};
    if (n_exchanges < 1) {
        return CLV_INVALID;
    }
    if (cs_virtual_rank(&run) != 0) {
        return check_client(&run, model);
    }
    for (int32_t client = 1; client < group->n_ranks; client++) {
        points_p[cs_index_of(&run, client)] = check_one(&run, client, model);
    }
    points_p[group->rank] = (clv_cs_point_t){0, 0, 0};
    return clock != NULL && model != NULL ? CLV_OK : CLV_UNSUPPORTED;
}
