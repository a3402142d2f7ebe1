/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hostile bytes against the decoder and against a host's agreement: nothing may crash, leak, hang
 * or break an invariant.
 *
 * With libFuzzer (CLV_FUZZ_ENGINE, clang -fsanitize=fuzzer,address,undefined) it runs for as long
 * as it is told; without, it is a program that tries the same function on CLV_FUZZ_RUNS mutations
 * of valid conversations (default 200000, seed CLV_SEED) and prints TAP.
 *
 * Input: a sequence of (from u8, action u8, length u8, bytes...); see one_step.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pap_predict/agree/pap_agree.h"
#include "pap_predict/agree/pap_wire.h"
#include "tests/fuzz/fuzz_alloc.h"

#define N_RANKS 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

typedef struct watch {
    int64_t next[CLV_PAP_MAX_STREAMS];
    int lost;
} watch_t;

static void check(int condition, const char *text)
{
    if (!condition) {
        fprintf(stderr, "broken: %s\n", text);
        abort();
    }
}

/* What the host says must itself be well-formed. */
static void on_send(void *context, int32_t host, const void *bytes, size_t n_bytes)
{
    clv_pap_message_t message;
    (void) context;
    check(host == 0 || host == 3, "sent to one outside the tree");
    check(clv_pap_wire_decode(bytes, n_bytes, N_RANKS, &message) == CLV_OK, "sent nonsense");
}

static void on_publish(void *context, const clv_pap_record_set_t *set)
{
    watch_t *watch = context;
    check(!watch->lost, "published after the end");
    check(set->sequence == watch->next[set->slot]++, "published with a gap");
}

static void on_void(void *context, int32_t slot, int64_t first, int64_t end)
{
    watch_t *watch = context;
    check(!watch->lost, "void after the end");
    check(first == watch->next[slot] && end > first, "void with a gap");
    watch->next[slot] = end;
}

static void on_lost(void *context, clv_pap_lost_reason_t reason, const int64_t *n_versions)
{
    watch_t *watch = context;
    check(!watch->lost || (reason == CLV_PAP_LOST_BROKEN && watch->lost != CLV_PAP_LOST_BROKEN),
          "ended twice");
    check(memcmp(n_versions, watch->next, sizeof watch->next) == 0, "ended at another place");
    watch->lost = (int) reason;
}

static const clv_pap_agree_ops_t ops = {on_send, on_publish, on_void, on_lost, NULL};

static void give_record(clv_pap_agree_t *agree, int64_t now_ns, uint8_t byte)
{
    int32_t slot = byte % CLV_PAP_MAX_STREAMS;
    clv_pap_record_t record = {.arrival_ns = now_ns, .flags = byte >> 5 & CLV_PAP_RECORD_FLAGS};
    int64_t sequence = clv_pap_agree_n_versions(agree, slot) + (byte >> 4 & 1);
    clv_status_t status =
        clv_pap_agree_local_record(agree, now_ns, 2, slot, byte >> 6, sequence, &record);
    check(status == CLV_OK || status == CLV_INVALID, "a local record had another answer");
}

/* One action; a message is first completed with the length and counts that fit it, so that the
 * fuzzer does not spend its life on the header. */
static void one_step(clv_pap_agree_t *agree, int64_t now_ns, int32_t from, uint8_t action,
                     const uint8_t *bytes, size_t n_bytes)
{
    unsigned char message[256] = {0};
    memcpy(message, bytes, n_bytes);
    switch (action % 6) {
    case 0:
        clv_pap_agree_link_up(agree, now_ns, from);
        break;
    case 1:
        clv_pap_agree_link_lost(agree, now_ns, from);
        break;
    case 2:
        give_record(agree, now_ns, action);
        break;
    case 3:
        clv_pap_agree_tick(agree, now_ns);
        break;
    case 4:
        message[0] = (unsigned char) n_bytes;
        message[1] = message[2] = message[3] = 0;
        /* fall through */
    default:
        if (clv_pap_agree_message(agree, now_ns, from, message, n_bytes) != CLV_OK) {
            clv_pap_agree_link_lost(agree, now_ns, from);
        }
    }
}

/* Host 2 of 4: parent 0, child 3. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    static const int32_t host_of[N_RANKS] = {0, 1, 2, 3};
    watch_t watch = {.lost = 0};
    clv_pap_layout_t layout;
    clv_pap_agree_t *agree;
    clv_pap_agree_options_t options = {
        .layout = &layout, .host = 2, .lost_ns = 1000, .retry_ns = 100, .abandon_ns = 4000};
    check(clv_pap_layout_init(host_of, N_RANKS, N_RANKS, &layout) == CLV_OK, "a tree");
    check(clv_pap_agree_create(&options, &ops, &watch, 0, &agree) == CLV_OK, "a node");
    for (int64_t now_ns = 0; n_bytes >= 3; now_ns += 300) {
        size_t length = data[2] <= n_bytes - 3 ? data[2] : n_bytes - 3;
        one_step(agree, now_ns, data[0] % 2 ? 3 : 0, data[1], data + 3, length);
        data += 3 + length;
        n_bytes -= 3 + length;
    }
    clv_pap_agree_free(agree);
    clv_pap_layout_clear(&layout);
    clv_fuzz_alloc_end();
    return 0;
}

#ifndef CLV_FUZZ_ENGINE
#include "tests/sim/cs_random.h"

#define MAX_INPUT 4096

typedef struct input {
    uint8_t bytes[MAX_INPUT];
    size_t n_bytes;
} input_t;

static void add_step(input_t *input, uint8_t from, uint8_t action, const void *bytes, size_t n)
{
    if (input->n_bytes + 3 + n <= MAX_INPUT) {
        uint8_t *at = input->bytes + input->n_bytes;
        at[0] = from;
        at[1] = action;
        at[2] = (uint8_t) n;
        if (n > 0) {
            memcpy(at + 3, bytes, n);
        }
        input->n_bytes += 3 + n;
    }
}

static void add_message(input_t *input, cs_random_t *random)
{
    unsigned char bytes[256];
    clv_pap_record_t records[N_RANKS];
    int64_t counts[CLV_PAP_MAX_STREAMS];
    int32_t slot = (int32_t) cs_random_range(random, 0, 1);
    int64_t sequence = cs_random_range(random, 0, 3);
    uint32_t generation = (uint32_t) cs_random_range(random, 0, 1);
    size_t n = 0;
    memset(records, 0, sizeof records);
    for (int i = 0; i < CLV_PAP_MAX_STREAMS; i++) {
        counts[i] = cs_random_range(random, 0, 3) / 2 * (i < 2);
    }
    switch (cs_random_range(random, 0, 5)) {
    case 0:
        n = clv_pap_wire_put_counts(bytes, CLV_PAP_WIRE_HELLO, 0, counts);
        break;
    case 1:
        n = clv_pap_wire_put_counts(bytes, CLV_PAP_WIRE_LOST, 1, counts);
        break;
    case 2:
        n = clv_pap_wire_put_bare(bytes, CLV_PAP_WIRE_GIVE_UP, 1);
        break;
    case 3:
        n = clv_pap_wire_put_bare(bytes, CLV_PAP_WIRE_BYE, 0);
        break;
    case 4:
        n = clv_pap_wire_put_records(bytes, CLV_PAP_WIRE_UP, slot, generation, sequence, records,
                                     1);
        break;
    default:
        n = clv_pap_wire_put_records(bytes, CLV_PAP_WIRE_DOWN, slot, generation, sequence, records,
                                     N_RANKS);
    }
    int is_up = bytes[4] != CLV_PAP_WIRE_LOST && bytes[4] != CLV_PAP_WIRE_DOWN;
    add_step(input, (uint8_t) is_up, 5, bytes, n);
}

static void make_input(input_t *input, cs_random_t *random)
{
    input->n_bytes = 0;
    add_step(input, 0, 0, NULL, 0);
    add_step(input, 1, 0, NULL, 0);
    for (int64_t i = cs_random_range(random, 1, 25); i > 0; i--) {
        if (cs_random_range(random, 0, 2) > 0) {
            add_message(input, random);
        } else {
            add_step(input, (uint8_t) cs_random_range(random, 0, 1),
                     (uint8_t) cs_random_range(random, 0, 255), NULL, 0);
        }
    }
    for (int64_t i = cs_random_range(random, 0, 6); i > 0; i--) {
        size_t at = (size_t) cs_random_range(random, 0, (int64_t) input->n_bytes - 1);
        input->bytes[at] = (uint8_t) cs_random_u64(random);
    }
}

int main(void)
{
    const char *text = getenv("CLV_FUZZ_RUNS");
    int64_t n_runs = text != NULL ? strtoll(text, NULL, 0) : 200000;
    cs_random_t random;
    input_t input;
    printf("1..1\n");
    cs_random_seed_from_environment(&random);
    for (int64_t i = 0; i < n_runs; i++) {
        make_input(&input, &random);
        LLVMFuzzerTestOneInput(input.bytes, input.n_bytes);
    }
    printf("ok 1 - %lld mutated conversations break nothing\n", (long long) n_runs);
    return 0;
}
#endif
