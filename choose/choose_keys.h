/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two keys of a call. Its arrivals key (collective, size class) names the stream of its records and
 * forecasts; decisions and measurements belong to its plan key (collective, root, total bytes, max
 * segments). So calls with a rotating root, or with slightly varying sizes, learn arrivals
 * together, and each gets the plan for its own root.
 *
 * What: the table of a stream's recently used plan keys, which every rank keeps and publishes at
 * the end of its calls, and the background thread's state for each of them.
 * Not: decisions (choose.h), nor how the table gets to the thread (pap_predict.h).
 *
 * Its key identifies a slot; a new key replaces the least recently used one, in the order of calls,
 * which is the same on all ranks, hence so is the table. PURE. Cost: a look at 8 keys per call.
 */
#ifndef CLV_CHOOSE_KEYS_H
#define CLV_CHOOSE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "choose/choose.h"

#define CLV_CHOOSE_MAX_KEYS 8 /* plan keys per stream */

/* The arrivals key of a call: total_bytes is its size class, the largest power of two not above the
 * total (so a class spans a factor of two; 0 is its own), root and max_segments are 0. */
clv_pap_stream_key_t clv_choose_arrivals_key(const clv_pap_stream_key_t *key);

bool clv_choose_same_key(const clv_pap_stream_key_t *a, const clv_pap_stream_key_t *b);

/* ---- the table, given at a call's end; all zero at first ------------------------------------- */

typedef struct clv_choose_keys {
    int32_t n_keys;
    int32_t newest; /* slot of the newest call */
    struct {
        int64_t used; /* number of its newest call, from 1 */
        clv_pap_stream_key_t key;
    } slot[CLV_CHOOSE_MAX_KEYS];
} clv_choose_keys_t;
_Static_assert(sizeof(clv_choose_keys_t) <= CLV_PAP_KEY_TABLE_BYTES, "a table of keys fits");

/* The next call of the stream has this key. */
void clv_choose_keys_use(clv_choose_keys_t *keys, const clv_pap_stream_key_t *key);

/* The bytes in use, so that a table of one key is copied as one cache line. */
size_t clv_choose_keys_bytes(const clv_choose_keys_t *keys);

/* Writes the slots, most recently used first; gives their number. */
int32_t clv_choose_keys_order(const clv_choose_keys_t *keys, int32_t slots[CLV_CHOOSE_MAX_KEYS]);

/* ---- what a stream remembers between forecasts; all zero at first ---------------------------- */

typedef struct clv_choose_memory {
    clv_choose_keys_t keys;
    int32_t announced[CLV_CHOOSE_RING];            /* by forecast version */
    clv_choose_state_t state[CLV_CHOOSE_MAX_KEYS]; /* by slot */
} clv_choose_memory_t;

/* Takes over the table that came with a forecast. A slot with a new key starts anew, but knows what
 * the stream knows of the previous function. A table without keys changes nothing. Fails only with
 * CLV_NO_MEMORY; the table is taken over even then. */
clv_status_t clv_choose_memory_follow(const clv_choose_config_t *config,
                                      const clv_choose_keys_t *keys,
                                      clv_choose_memory_t *memory) CLV_MUST_CHECK;

#endif
