/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Time passed down a binomial tree: HCA3 and ClockPropSync.
 *
 *     p = 6, power = 4:    round 1   0 -> 2
 *                          round 2   0 -> 1   2 -> 3
 *                          round 3   0 -> 4   1 -> 5
 *
 * HCA3 (HCA3 paper, section III-B, Algorithm 1): a rank is client once, then reference with its
 * own GLOBAL clock; no models are merged. A rank whose clock failed still answers, "no time", so
 * that its subtree learns of it at once. ClockPropSync (section IV-B, Algorithm 3): the same tree
 * carries a copy of the model, for ranks that share a time source.
 */
#include "clocksync/methods/cs_run.h"

/* One edge of the tree, seen from either end. client returns the status of its rank's clock. */
typedef struct edge_ops {
    clv_status_t (*client)(cs_run_t *run, int32_t reference);
    void (*reference)(cs_run_t *run, int32_t client, clv_status_t status);
} edge_ops_t;

static clv_status_t walk(cs_run_t *run, const edge_ops_t *ops)
{
    const int32_t n = run->group->n_ranks;
    const int32_t me = cs_virtual_rank(run);
    const int32_t power = cs_power_below(n);
    clv_status_t status = me == 0 ? cs_start(run) : CLV_UNSUPPORTED;
    for (int32_t half = power / 2; half > 0 && me < power; half /= 2) {
        if (me % (2 * half) == 0) {
            ops->reference(run, me + half, status);
        } else if (me % (2 * half) == half) {
            status = ops->client(run, me - half);
        }
    }
    if (me >= power) {
        status = ops->client(run, me - power);
    } else if (me < n - power) {
        ops->reference(run, me + power, status);
    }
    return status;
}

static void serve_global(cs_run_t *run, int32_t client, clv_status_t status)
{
    cs_pair_t pair = cs_pair_with(run, client);
    const clv_status_t ignored =
        clv_cs_pair_serve(&pair, status == CLV_OK ? &run->fit.model : NULL);
    (void) ignored; /* the client has its own status */
}

clv_status_t clv_cs_run_hca3(cs_run_t *run)
{
    static const edge_ops_t ops = {cs_learn_from, serve_global};
    return walk(run, &ops);
}

static clv_status_t take_copy(cs_run_t *run, int32_t reference)
{
    cs_record_t record;
    const clv_status_t status =
        clv_cs_recv_records(run->group, cs_index_of(run, reference), &record, 0, 1);
    if (status != CLV_OK) {
        run->time_source = 0; /* nothing to pass on */
        return status;
    }
    /* Children compare theirs with the origin's, not with ours: ours may be the odd one out. */
    const uint64_t mine = run->time_source;
    run->time_source = record.time_source;
    run->fit = (clv_cs_fit_t){.model = record.model, .rms_ns = record.rms_ns};
    run->fit.r_squared = record.r_squared;
    run->fit.is_consistent = record.status == CLV_OK;
    if (record.status != CLV_OK || run->clock == NULL || mine != record.time_source) {
        return CLV_UNSUPPORTED;
    }
    return CLV_OK;
}

static void give_copy(cs_run_t *run, int32_t client, clv_status_t status)
{
    const bool is_relay = cs_virtual_rank(run) != 0;
    const bool has_time = is_relay ? run->fit.is_consistent : status == CLV_OK;
    cs_record_t record = clv_cs_record(0, has_time ? CLV_OK : CLV_UNSUPPORTED, &run->fit);
    record.time_source = run->time_source;
    const clv_status_t ignored =
        clv_cs_send_records(run->group, cs_index_of(run, client), &record, 1);
    (void) ignored;
}

clv_status_t clv_cs_run_prop(cs_run_t *run)
{
    static const edge_ops_t ops = {take_copy, give_copy};
    run->fit.is_consistent = false;
    return walk(run, &ops);
}
