/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Models gathered up an inverted binomial tree: Netgauge, HCA2 and HCA.
 *
 *     p = 6, power = 4:    round 1   1 -> 0   3 -> 2
 *                          round 2   2 -> 0, with 2's model of 3
 *                          round 3   4 -> 0   5 -> 1, and 5 sends 0 its model against 1
 *                          then 0 sends each rank that rank's model against 0
 *
 * Each pair measures base clocks; the reference of a pair merges its model with those its client
 * collected (MBR, section 4.4, Equation 1), so errors add up along the way. HCA then measures each
 * intercept directly, in p - 1 short turns (MBR, Compute_And_Set_All_Intercepts). Netgauge (MBR,
 * appendix B.2) is the same tree with offsets in place of lines.
 *
 * Records travel one by one: a rank without memory for its records still takes part.
 */
#include "clocksync/methods/cs_run.h"
#include "util/util_alloc.h"

/* What a rank collected. Record i compares virtual rank me + i with me; record 0 compares me with
 * its own reference, once learnt. */
typedef struct collected {
    cs_run_t *run;
    cs_record_t *records; /* NULL: no memory */
    int32_t me;
} collected_t;

static void note(collected_t *collected, int32_t i, const cs_record_t *record)
{
    if (collected->records != NULL) {
        collected->records[i] = *record;
        collected->records[i].rank = collected->me + i;
    }
}

static cs_record_t noted(const collected_t *collected, int32_t i)
{
    return collected->records != NULL ? collected->records[i]
                                      : clv_cs_record(collected->me + i, CLV_NO_MEMORY, NULL);
}

static void merge(cs_record_t *record, const cs_record_t *outer)
{
    if (outer->status != CLV_OK) {
        record->status = record->status != CLV_OK ? record->status : CLV_UNSUPPORTED;
    } else if (record->status == CLV_OK) {
        clv_cs_model_compose(&outer->model, &record->model, &record->model);
    }
}

static clv_status_t serve_local(cs_run_t *run, int32_t client)
{
    cs_pair_t pair = cs_pair_with(run, client);
    return clv_cs_pair_serve(&pair, &clv_cs_identity);
}

/* Receives n records of the ranks from client on. Reads nothing after a failed serve: the link may
 * then be in any state. */
static void collect_records(collected_t *collected, int32_t client, int32_t n, clv_status_t served)
{
    const int32_t index = cs_index_of(collected->run, client);
    clv_status_t status = served >= CLV_OK ? CLV_OK : served;
    cs_record_t first = clv_cs_record(client, status, &collected->run->fit);
    for (int32_t i = 0; i < n; i++) {
        cs_record_t record = clv_cs_record(client + i, status, &collected->run->fit);
        if (status == CLV_OK) {
            status = clv_cs_recv_records(collected->run->group, index, &record, client + i, 1);
            record = status == CLV_OK ? record : clv_cs_record(client + i, status, NULL);
        }
        if (i == 0) {
            first = record;
        } else {
            merge(&record, &first);
        }
        note(collected, client + i - collected->me, &record);
    }
}

static void send_collected(const collected_t *collected, int32_t to, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const cs_record_t record = noted(collected, i);
        if (clv_cs_send_records(collected->run->group, cs_index_of(collected->run, to), &record,
                                1) != CLV_OK) {
            return;
        }
    }
}

static void learn_and_note(collected_t *collected, int32_t reference)
{
    const clv_status_t status = cs_learn_from(collected->run, reference);
    const cs_record_t record = clv_cs_record(collected->me, status, &collected->run->fit);
    note(collected, 0, &record);
}

/* MBR, Algorithm 3, Sync_Clocks_Pow2. */
static void climb(collected_t *collected, int32_t power)
{
    for (int32_t half = 1; half < power; half *= 2) {
        if (collected->me % (2 * half) == half) {
            learn_and_note(collected, collected->me - half);
            send_collected(collected, collected->me - half, half);
            return;
        }
        const int32_t client = collected->me + half;
        collect_records(collected, client, half, serve_local(collected->run, client));
    }
}

/* MBR, Algorithm 3, Sync_Clocks_Remaining. */
static void climb_remaining(collected_t *collected, int32_t power)
{
    const int32_t n_remaining = collected->run->group->n_ranks - power;
    clv_status_t served = CLV_OK;
    if (collected->me >= power) {
        learn_and_note(collected, collected->me - power);
        send_collected(collected, 0, 1);
    } else if (collected->me < n_remaining) {
        served = serve_local(collected->run, collected->me + power);
    }
    for (int32_t i = 0; collected->me == 0 && i < n_remaining; i++) {
        collect_records(collected, power + i, 1, i == 0 ? served : CLV_OK);
        if (i > 0 && collected->records != NULL) {
            merge(&collected->records[power + i], &collected->records[i]);
        }
    }
}

static clv_status_t receive_mine(cs_run_t *run)
{
    cs_record_t record;
    const clv_status_t status =
        clv_cs_recv_records(run->group, cs_index_of(run, 0), &record, cs_virtual_rank(run), 1);
    if (status != CLV_OK || record.status != CLV_OK) {
        return status != CLV_OK ? status : (clv_status_t) record.status;
    }
    run->fit.model = record.model;
    return CLV_OK;
}

/* Scatters the results. The reference's own model enters here, so that levels can be stacked. */
static clv_status_t hand_out(collected_t *collected)
{
    cs_run_t *run = collected->run;
    const clv_status_t status = cs_start(run);
    const cs_record_t own = clv_cs_record(0, status, &run->fit);
    for (int32_t i = 1; i < run->group->n_ranks; i++) {
        cs_record_t record = noted(collected, i);
        merge(&record, &own);
        const clv_status_t ignored =
            clv_cs_send_records(run->group, cs_index_of(run, i), &record, 1);
        (void) ignored;
    }
    return collected->records != NULL ? status : CLV_NO_MEMORY;
}

/* MBR, Compute_And_Set_All_Intercepts: always SKaMPI's offset. */
static clv_status_t set_all_intercepts(cs_run_t *run, clv_status_t status)
{
    clv_cs_method_t method = *run->method;
    method.offset = CLV_CS_OFFSET_SKAMPI;
    if (cs_virtual_rank(run) == 0) {
        for (int32_t i = 1; i < run->group->n_ranks; i++) {
            cs_pair_t pair = cs_pair_with(run, i);
            const clv_status_t ignored =
                clv_cs_pair_serve(&pair, status == CLV_OK ? &run->fit.model : NULL);
            (void) ignored;
        }
        return status;
    }
    clv_cs_point_t point;
    cs_pair_t pair = clv_cs_pair(run->group, run->clock, &method, cs_index_of(run, 0));
    status = status == CLV_OK ? clv_cs_pair_offset(&pair, &point) : status;
    status = clv_cs_pair_done(&pair, status);
    if (status == CLV_OK) {
        clv_cs_fit_set_intercept(&run->fit, &point);
    }
    run->n_pings += pair.n_pings;
    return status;
}

clv_status_t clv_cs_run_tree_up(cs_run_t *run)
{
    const int32_t n = run->group->n_ranks;
    const int32_t power = cs_power_below(n);
    collected_t collected = {run, NULL, cs_virtual_rank(run)};
    collected.records = clv_alloc((size_t) (n - collected.me), sizeof *collected.records);
    if (collected.me < power) {
        climb(&collected, power);
    }
    climb_remaining(&collected, power);
    clv_status_t status = collected.me == 0 ? hand_out(&collected) : receive_mine(run);
    clv_free(collected.records);
    if (run->method->algorithm == CLV_CS_HCA) {
        status = set_all_intercepts(run, status);
    }
    return status;
}
