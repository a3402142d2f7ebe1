/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Records of this host's ranks: when to look for them, and how they reach the agreement, in global
 * time; see pap_leader_parts.h.
 */
#include "pap_predict/pap_leader_parts.h"

#include "pap_predict/agree/pap_record.h"
#include "util/util_log.h"

/* Announced records do not show when they were given, so they say nothing about the next look. */
static void set_polling(clv_pap_leader_t *leader, int32_t slot, int64_t last_ns, uint32_t flags)
{
    if ((flags & (CLV_PAP_RECORD_INVALID | CLV_PAP_RECORD_ANNOUNCED)) == 0) {
        clv_pap_polling_found(&leader->polling[slot], last_ns);
    } else {
        clv_pap_polling_init(&leader->polling[slot]);
    }
}

/* The latency known when the record was given. After a slow exchange, or a late look that finds two
 * records, only one of them reports how slow it was. */
static uint32_t latency_at(const clv_pap_leader_t *leader, int64_t local_ns)
{
    return local_ns < leader->measured_ns ? leader->older_latency_ns : leader->latency_ns;
}

/* Passes on the record of one of this host's ranks, in global time. 0: it is not usable. */
static bool hand_in_one(clv_pap_leader_t *leader, int32_t rank, const clv_pap_local_record_t *given,
                        int64_t now_ns)
{
    const clv_cs_model_t *model = leader->clock.is_ready ? &leader->clock.model : NULL;
    clv_pap_record_t record;
    clv_pap_local_to_record(given, model, latency_at(leader, given->arrival_ns), &record);
    return clv_pap_agree_local_record(leader->agree, now_ns, rank, given->slot, given->generation,
                                      given->sequence, &record) == CLV_OK;
}

static void hand_in(clv_pap_leader_t *leader, int32_t slot, int64_t version, int64_t now_ns)
{
    const int32_t first = leader->layout.first[leader->host];
    const int32_t n_local = leader->layout.first[leader->host + 1] - first;
    int64_t last_ns = INT64_MIN;
    uint32_t flags = 0;
    clv_pap_clock_used(&leader->clock, now_ns);
    for (int32_t i = 0; i < n_local; i++) {
        clv_pap_local_record_t given = {.flags = CLV_PAP_RECORD_INVALID};
        if (clv_pap_record_take(leader->table, i, slot, version, &given) != CLV_OK ||
            !hand_in_one(leader, leader->layout.rank_at[first + i], &given, now_ns)) {
            clv_log(CLV_LOG_DEBUG, "host %d: slot %d, record %lld of local rank %d is not usable",
                    leader->host, slot, (long long) version, i);
        }
        last_ns = given.arrival_ns > last_ns ? given.arrival_ns : last_ns;
        flags |= given.flags;
    }
    set_polling(leader, slot, last_ns, flags);
}

static void hand_in_slot(clv_pap_leader_t *leader, int32_t slot, uint32_t pending, int64_t now_ns)
{
    int64_t versions[2] = {0, 0};
    int32_t ignored;
    for (int half = 0; half < 2; half++) {
        if (pending >> (2 * slot + half) & 1) {
            versions[half] = clv_pap_table_given(leader->table, 2 * slot + half, &ignored);
        }
    }
    /* Both halves can be pending; the agreement takes them in order. */
    const bool older = versions[0] > versions[1];
    for (int i = 0; i < 2; i++) {
        const int64_t version = versions[i == 0 ? older : !older];
        if (version > 0) {
            hand_in(leader, slot, version, now_ns);
        }
    }
}

static void collect_all(clv_pap_leader_t *leader, int64_t now_ns)
{
    const uint32_t pending = clv_pap_table_answer(leader->table);
    for (int32_t slot = 0; pending != 0 && slot < CLV_PAP_MAX_STREAMS; slot++) {
        if (pending >> (2 * slot) & 3) {
            hand_in_slot(leader, slot, pending, now_ns);
        }
    }
}

static void pass_on_asks(clv_pap_leader_t *leader, int64_t now_ns)
{
    for (int32_t slot = 0; slot < CLV_PAP_MAX_STREAMS; slot++) {
        const int64_t version = clv_pap_table_asked(leader->table, slot);
        if (version > clv_pap_agree_n_versions(leader->agree, slot)) {
            clv_pap_agree_ask_void(leader->agree, now_ns, slot, version - 1);
        }
    }
}

/* Plans the next looks. Returns the slots for which ranks ring from now on and did not before. */
static uint32_t plan_looks(clv_pap_leader_t *leader, int64_t now_ns)
{
    const uint32_t before = leader->expected;
    leader->expected = 0;
    leader->look_ns = INT64_MAX;
    for (int32_t slot = 0; slot < CLV_PAP_MAX_STREAMS; slot++) {
        clv_pap_polling_t *polling = &leader->polling[slot];
        if (polling->look_ns <= now_ns) {
            clv_pap_polling_missed(polling, now_ns);
        }
        leader->expected |= (uint32_t) (polling->look_ns != INT64_MAX) << slot;
        leader->look_ns = polling->look_ns < leader->look_ns ? polling->look_ns : leader->look_ns;
    }
    if (leader->expected != before) {
        clv_pap_table_expect(leader->table, leader->expected);
    }
    return before & ~leader->expected;
}

/* Takes all pending records. Repeats if it stops looking at some slot (see
 * clv_pap_table_expect). */
void clv_pap_collect(clv_pap_leader_t *leader, int64_t now_ns)
{
    do {
        collect_all(leader, now_ns);
        pass_on_asks(leader, now_ns);
    } while (plan_looks(leader, now_ns) != 0);
}
