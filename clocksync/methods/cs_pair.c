/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pings between two ranks, the reference's answers, and records of models. See cs_pair.h.
 *
 * Input is not trusted: the length (by the link), kind and number of every message are checked
 * before it is used.
 */
#include "clocksync/methods/cs_pair.h"

#include <string.h>

#define CS_MAGIC 0x436c7643u /* also detects hosts of the other byte order */

typedef enum cs_kind { CS_PING = 1, CS_PONG = 2, CS_DONE = 3, CS_GONE = 4 } cs_kind_t;

/* Pings and pongs have the same size, so that both directions take the same time. */
typedef struct cs_message {
    uint32_t magic;
    uint32_t kind;
    uint32_t sequence;
    uint32_t error_ppb; /* of a pong: error of its global clock's rate */
    int64_t recv_ns;    /* global; of a pong */
    int64_t send_ns;    /* global; of a pong */
    int64_t error_ns;   /* of a pong; negative: no time */
} cs_message_t;

cs_pair_t clv_cs_pair(const clv_cs_group_t *group, const clv_cs_clock_t *clock,
                      const clv_cs_method_t *method, int32_t peer)
{
    cs_pair_t pair = {.group = group, .clock = clock, .method = method, .peer = peer};
    pair.least_round_trip_ns = INT64_MAX;
    return pair;
}

static int link_peer(const clv_cs_group_t *group, int32_t index)
{
    return group->ranks != NULL ? group->ranks[index] : index;
}

static clv_status_t send_bytes(const clv_cs_group_t *group, int32_t peer, const void *data,
                               size_t n_bytes)
{
    return group->ops->send(group->link, link_peer(group, peer), data, n_bytes);
}

static clv_status_t recv_bytes(const clv_cs_group_t *group, int32_t peer, void *data,
                               size_t n_bytes)
{
    return group->ops->recv(group->link, link_peer(group, peer), data, n_bytes, group->timeout_ns);
}

static clv_status_t answer(cs_pair_t *pair, const clv_cs_model_t *model, uint32_t sequence,
                           int64_t recv_local_ns)
{
    cs_message_t pong = {.magic = CS_MAGIC, .kind = CS_PONG, .sequence = sequence};
    pong.error_ns = -1;
    if (model != NULL && pair->clock != NULL) {
        pong.recv_ns = clv_cs_model_global(model, recv_local_ns);
        pong.error_ns = clv_cs_model_error(model, recv_local_ns);
        pong.error_ppb = (uint32_t) (model->error_ppb < UINT32_MAX ? model->error_ppb : UINT32_MAX);
        pong.send_ns = clv_cs_model_global(model, clv_cs_clock_now_ns(pair->clock));
    }
    return send_bytes(pair->group, pair->peer, &pong, sizeof pong);
}

clv_status_t clv_cs_pair_serve(cs_pair_t *pair, const clv_cs_model_t *model)
{
    for (;;) {
        cs_message_t ping;
        clv_status_t status = recv_bytes(pair->group, pair->peer, &ping, sizeof ping);
        const int64_t now_ns = pair->clock != NULL ? clv_cs_clock_now_ns(pair->clock) : 0;
        if (status != CLV_OK) {
            return status;
        }
        if (ping.magic != CS_MAGIC || ping.sequence != pair->sequence) {
            return CLV_PROTOCOL;
        }
        pair->sequence++;
        if (ping.kind != CS_PING) {
            return ping.kind == CS_DONE ? CLV_OK : ping.kind == CS_GONE ? CLV_NONE : CLV_PROTOCOL;
        }
        status = answer(pair, model, ping.sequence, now_ns);
        if (status != CLV_OK) {
            return status;
        }
    }
}

clv_status_t clv_cs_pair_ping(cs_pair_t *pair, clv_cs_sample_t *sample_p)
{
    cs_message_t pong;
    cs_message_t ping = {.magic = CS_MAGIC, .kind = CS_PING, .sequence = pair->sequence++};
    const int64_t send_ns = clv_cs_clock_now_ns(pair->clock);
    clv_status_t status = send_bytes(pair->group, pair->peer, &ping, sizeof ping);
    if (status == CLV_OK) {
        status = recv_bytes(pair->group, pair->peer, &pong, sizeof pong);
    }
    const int64_t recv_ns = clv_cs_clock_now_ns(pair->clock);
    if (status != CLV_OK) {
        return status;
    }
    if (pong.magic != CS_MAGIC || pong.kind != CS_PONG || pong.sequence != ping.sequence) {
        return CLV_PROTOCOL;
    }
    if (pong.error_ns < 0) {
        return CLV_UNSUPPORTED;
    }
    pair->n_pings++;
    if (pong.error_ppb > pair->reference_ppb) {
        pair->reference_ppb = pong.error_ppb;
    }
    *sample_p = (clv_cs_sample_t){send_ns, pong.recv_ns, pong.send_ns, recv_ns, pong.error_ns};
    return CLV_OK;
}

clv_status_t clv_cs_pair_done(cs_pair_t *pair, clv_status_t status)
{
    if (status == CLV_LOST) {
        return status;
    }
    cs_message_t done = {.magic = CS_MAGIC, .sequence = pair->sequence++};
    done.kind = status == CLV_OK ? CS_DONE : CS_GONE;
    const clv_status_t reported = send_bytes(pair->group, pair->peer, &done, sizeof done);
    return status != CLV_OK ? status : reported;
}

cs_record_t clv_cs_record(int32_t rank, clv_status_t status, const clv_cs_fit_t *fit)
{
    cs_record_t record;
    memset(&record, 0, sizeof record);
    record.magic = CS_MAGIC;
    record.rank = rank;
    record.status = status;
    if (status == CLV_OK) {
        record.model = fit->model;
        record.rms_ns = fit->rms_ns;
        record.r_squared = fit->r_squared;
    }
    return record;
}

clv_status_t clv_cs_send_records(const clv_cs_group_t *group, int32_t peer,
                                 const cs_record_t *records, int32_t n_records)
{
    return send_bytes(group, peer, records, (size_t) n_records * sizeof *records);
}

static bool record_is_sane(const cs_record_t *record, int32_t rank)
{
    if (record->magic != CS_MAGIC || record->rank != rank) {
        return false;
    }
    if (record->status != CLV_OK) {
        return record->status < CLV_OK && record->status >= CLV_SYSTEM;
    }
    return fabs(record->model.slope) < 0.1 && record->model.error_ns >= 0 &&
           record->model.error_ppb >= 0;
}

clv_status_t clv_cs_recv_records(const clv_cs_group_t *group, int32_t peer, cs_record_t *records_p,
                                 int32_t first, int32_t n_records)
{
    const clv_status_t status =
        recv_bytes(group, peer, records_p, (size_t) n_records * sizeof *records_p);
    if (status != CLV_OK) {
        return status;
    }
    for (int32_t i = 0; i < n_records; i++) {
        if (!record_is_sane(&records_p[i], first + i)) {
            return CLV_PROTOCOL;
        }
    }
    return CLV_OK;
}
