/* SPDX-License-Identifier: BSD-3-Clause
 *
 * libFuzzer target: what a neighbour that knows the key, but has gone mad, can send. The input is a
 * row of messages (length byte, from which neighbour, bytes) to a host in the middle of the tree.
 * Nothing may crash, and what is refused must not stop the machine from being freed.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pap_predict/agree/pap_agree.h"
#include "pap_predict/agree/pap_wire.h"
#include "tests/fuzz/fuzz_alloc.h"

#define N_HOSTS 4
#define HOST    2 /* its parent is 0, its child 3 */

static void ignore_send(void *context, int32_t host, const void *message, size_t n_bytes)
{
    clv_pap_message_t decoded;
    (void) context;
    (void) host;
    /* Whatever comes in, what goes out is well formed. */
    if (clv_pap_wire_decode(message, n_bytes, N_HOSTS, &decoded) != CLV_OK) {
        abort();
    }
}

static void check_publish(void *context, const clv_pap_record_set_t *set)
{
    (void) context;
    for (int32_t rank = 0; rank < set->n_ranks; rank++) {
        if (clv_pap_record_problem(&set->records[rank]) != NULL) {
            abort();
        }
    }
}

static void check_void(void *context, int32_t slot, int64_t first, int64_t end)
{
    (void) context;
    (void) slot;
    if (first >= end) {
        abort();
    }
}

static void ignore_lost(void *context, clv_pap_lost_reason_t reason, const int64_t *n_versions)
{
    (void) context;
    (void) n_versions;
    if (clv_pap_lost_text((int) reason) == NULL) {
        abort();
    }
}

static const clv_pap_agree_ops_t ops = {ignore_send, check_publish, check_void, ignore_lost, NULL};

static void feed(clv_pap_agree_t *agree, const uint8_t *data, size_t n_bytes)
{
    int64_t now_ns = 1;
    for (size_t at = 0; at + 2 < n_bytes; now_ns += 1000) {
        size_t length = data[at];
        const int32_t from = data[at + 1] % 2 ? 0 : 3;
        at += 2;
        length = length < n_bytes - at ? length : n_bytes - at;
        if (clv_pap_agree_message(agree, now_ns, from, data + at, length) != CLV_OK) {
            clv_pap_agree_link_lost(agree, now_ns, from);
            clv_pap_agree_link_up(agree, now_ns, from);
        }
        clv_pap_agree_tick(agree, now_ns);
        at += length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    static const int32_t host_of_rank[N_HOSTS] = {0, 1, 2, 3};
    clv_pap_layout_t layout;
    clv_pap_agree_t *agree = NULL;
    if (clv_pap_layout_init(host_of_rank, N_HOSTS, N_HOSTS, &layout) != CLV_OK) {
        abort();
    }
    const clv_pap_agree_options_t options = {.layout = &layout,
                                             .host = HOST,
                                             .lost_ns = 1000000,
                                             .retry_ns = 50000,
                                             .abandon_ns = 4000000};
    if (clv_pap_agree_create(&options, &ops, NULL, 0, &agree) != CLV_OK) {
        abort();
    }
    clv_pap_agree_link_up(agree, 0, 0);
    clv_pap_agree_link_up(agree, 0, 3);
    const clv_pap_record_t record = {.arrival_ns = 5};
    (void) !clv_pap_agree_local_record(agree, 0, HOST, 0, 0, 0, &record);
    feed(agree, data, n_bytes);
    clv_pap_agree_bye(agree, INT64_MAX / 2);
    clv_pap_agree_free(agree);
    clv_pap_layout_clear(&layout);
    clv_fuzz_alloc_end();
    return 0;
}
