/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of a stream's plan keys (see choose_keys.h).
 */
#include "choose/choose_keys.h"

#include "util/util_hot.h"

CLV_HOT clv_pap_stream_key_t clv_choose_arrivals_key(const clv_pap_stream_key_t *key)
{
    const uint64_t n_bytes = key->total_bytes > 0 ? (uint64_t) key->total_bytes : 0;
    const int64_t size_class =
        n_bytes > 0 ? (int64_t) (UINT64_C(1) << (63 - __builtin_clzll(n_bytes))) : 0;
    return (clv_pap_stream_key_t){.collective = key->collective, .total_bytes = size_class};
}

CLV_HOT bool clv_choose_same_key(const clv_pap_stream_key_t *a, const clv_pap_stream_key_t *b)
{
    return a->collective == b->collective && a->root == b->root &&
           a->max_segments == b->max_segments && a->total_bytes == b->total_bytes;
}

/* The key's slot, else a free one, else that of the least recently used key. */
static int32_t slot_for(const clv_choose_keys_t *keys, const clv_pap_stream_key_t *key)
{
    int32_t oldest = 0;

    for (int32_t i = 0; i < keys->n_keys; i++) {
        if (clv_choose_same_key(&keys->slot[i].key, key)) {
            return i;
        }
        oldest = keys->slot[i].used < keys->slot[oldest].used ? i : oldest;
    }
    return keys->n_keys < CLV_CHOOSE_MAX_KEYS ? keys->n_keys : oldest;
}

CLV_HOT void clv_choose_keys_use(clv_choose_keys_t *keys, const clv_pap_stream_key_t *key)
{
    const int64_t n_calls = keys->slot[keys->newest].used;
    const int32_t slot = slot_for(keys, key);

    keys->n_keys += slot == keys->n_keys;
    keys->slot[slot].key = *key;
    keys->slot[slot].used = n_calls + 1;
    keys->newest = slot;
}

CLV_HOT size_t clv_choose_keys_bytes(const clv_choose_keys_t *keys)
{
    return offsetof(clv_choose_keys_t, slot) + (size_t) keys->n_keys * sizeof keys->slot[0];
}

int32_t clv_choose_keys_order(const clv_choose_keys_t *keys, int32_t slots[CLV_CHOOSE_MAX_KEYS])
{
    for (int32_t i = 0; i < keys->n_keys; i++) {
        int32_t at = i;

        while (at > 0 && keys->slot[slots[at - 1]].used < keys->slot[i].used) {
            slots[at] = slots[at - 1];
            at--;
        }
        slots[at] = i;
    }
    return keys->n_keys;
}

clv_status_t clv_choose_memory_follow(const clv_choose_config_t *config,
                                      const clv_choose_keys_t *keys, clv_choose_memory_t *memory)
{
    const int32_t n_before = memory->keys.n_keys;
    const clv_choose_state_t known = memory->state[memory->keys.newest];
    clv_status_t status = CLV_OK;

    for (int32_t i = 0; i < keys->n_keys; i++) {
        clv_choose_state_t *state = &memory->state[i];
        if (i < n_before && clv_choose_same_key(&memory->keys.slot[i].key, &keys->slot[i].key)) {
            continue;
        }
        if (clv_choose_begin(config, &keys->slot[i].key, memory->announced, state) != CLV_OK) {
            status = CLV_NO_MEMORY;
        }
        clv_choose_share(&known, state);
    }
    if (keys->n_keys > 0) {
        memory->keys = *keys;
        memory->state[keys->newest].iterations = known.iterations;
    }
    return status;
}
