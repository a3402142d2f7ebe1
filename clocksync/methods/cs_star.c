/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every rank measures against the reference itself: O(p) turns, and errors do not add up.
 *
 * SKaMPI (MBR, appendix B.1): one offset each, no drift. JK (MBR, appendix B.3): fit points taken
 * in turn, point 1 of all clients, point 2 of all, so each client's points spread over the whole
 * synchronisation. That makes JK accurate, and slow.
 */
#include "clocksync/methods/cs_run.h"
#include "util/util_alloc.h"

/* A client that fails has its own status; the others are still served. */
static clv_status_t serve_in_turn(cs_run_t *run)
{
    const clv_status_t status = cs_start(run);
    for (int32_t client = 1; client < run->group->n_ranks; client++) {
        cs_pair_t pair = cs_pair_with(run, client);
        const clv_status_t ignored = clv_cs_pair_serve(&pair, status == CLV_OK ? run->start : NULL);
        (void) ignored;
    }
    return status;
}

clv_status_t clv_cs_run_star(cs_run_t *run)
{
    return cs_virtual_rank(run) == 0 ? serve_in_turn(run) : cs_learn_from(run, 0);
}

static int32_t jk_n_turns(const cs_run_t *run)
{
    return run->method->n_fit_points + (run->method->recompute_intercept ? 1 : 0);
}

/* Without memory for its own records, the reference answers each client once that it has no
 * time. */
static clv_status_t jk_turn_away(cs_run_t *run)
{
    run->start = NULL;
    const clv_status_t ignored = serve_in_turn(run);
    (void) ignored;
    return CLV_NO_MEMORY;
}

static clv_status_t jk_reference(cs_run_t *run)
{
    const int32_t n = run->group->n_ranks;
    cs_pair_t *pairs = clv_alloc((size_t) n, sizeof *pairs);
    if (pairs == NULL) {
        return jk_turn_away(run);
    }
    const clv_status_t status = cs_start(run);
    for (int32_t client = 1; client < n; client++) {
        pairs[client] = cs_pair_with(run, client);
    }
    for (int32_t turn = 0; turn < jk_n_turns(run); turn++) {
        for (int32_t client = 1; client < n; client++) {
            const clv_cs_model_t *model = status == CLV_OK ? run->start : NULL;
            cs_pair_t *pair = &pairs[client];
            if (pair->method != NULL && clv_cs_pair_serve(pair, model) != CLV_OK) {
                pair->method = NULL; /* gone: no more turns */
            }
        }
    }
    clv_free(pairs);
    return status;
}

static clv_status_t jk_measure(cs_run_t *run, cs_pair_t *pair, clv_cs_point_t *points)
{
    clv_status_t status = run->clock == NULL ? CLV_UNSUPPORTED
                          : points == NULL   ? CLV_NO_MEMORY
                                             : CLV_OK;
    if (status != CLV_OK) {
        return clv_cs_pair_done(pair, status);
    }
    for (int32_t turn = 0; status == CLV_OK && turn < jk_n_turns(run); turn++) {
        status = clv_cs_pair_done(pair, clv_cs_pair_offset(pair, &points[turn]));
    }
    run->n_pings += pair->n_pings;
    return status;
}

static clv_status_t jk_client(cs_run_t *run)
{
    const int32_t n_fit = run->method->n_fit_points;
    clv_cs_point_t *points = clv_alloc((size_t) jk_n_turns(run), sizeof *points);
    cs_pair_t pair = cs_pair_with(run, 0);
    const clv_status_t status = jk_measure(run, &pair, points);
    if (status == CLV_OK) {
        clv_cs_fit_of_points(&pair, points, n_fit, &run->fit);
    }
    if (status == CLV_OK && run->method->recompute_intercept) {
        clv_cs_fit_set_intercept(&run->fit, &points[n_fit]);
    }
    clv_free(points);
    return status;
}

clv_status_t clv_cs_run_jk(cs_run_t *run)
{
    return cs_virtual_rank(run) == 0 ? jk_reference(run) : jk_client(run);
}
