/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Any bytes through the decoder of .clva files: nothing may be read beyond them, and what is
 * accepted must come back the same from the encoder.
 *
 * With libFuzzer (CLV_FUZZ_ENGINE, clang -fsanitize=fuzzer,address,undefined) it runs for as long
 * as it is told; without, it is a program that tries the same function on CLV_FUZZ_RUNS mutations
 * of a valid file (default 50000, seed CLV_SEED) and prints TAP.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/record_clva.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void check(int condition, const char *text)
{
    if (!condition) {
        fprintf(stderr, "broken: %s\n", text);
        abort();
    }
}

static void check_calls(const clv_clva_record_t *record, const unsigned char *bytes, size_t n_bytes)
{
    unsigned char again[4096];
    clv_clva_call_t calls[100];

    for (int32_t i = 0; i < record->n; i++) {
        if (clv_clva_get_call(record, i, &calls[i % 100]) != CLV_OK) {
            return;
        }
    }
    if (record->n <= 100) {
        check(clv_clva_put_calls(again, sizeof again, record->rank, calls, record->n) == n_bytes,
              "calls of the same length");
        for (size_t at = 24; at + 24 < n_bytes; at += CLV_CLVA_SLOT_BYTES) {
            check(memcmp(again + at, bytes + at, 16) == 0, "the same times");
        }
    }
}

static void check_record(const clv_clva_record_t *record, int64_t n_ranks,
                         const unsigned char *bytes, size_t n_bytes)
{
    int64_t error_ns;

    switch (record->kind) {
    case CLV_CLVA_CALLS:
        check_calls(record, bytes, n_bytes);
        break;
    case CLV_CLVA_COMM:
        for (int32_t i = 0; i < record->comm.n_ranks; i++) {
            check(clv_clva_get_member(&record->comm, i) < n_ranks, "members of the job");
        }
        check(memchr(record->comm.name, 0, CLV_CLVA_NAME_BYTES) != NULL, "a name ends");
        break;
    case CLV_CLVA_LOCAL:
        for (int32_t i = 0; i < record->n; i++) {
            check(clv_clva_get_local(record, i) < n_ranks, "local ranks of the job");
        }
        break;
    case CLV_CLVA_CLOCK: /* no sum overflows */
        (void) clv_clva_global(&record->clock, CLV_CLVA_MAX_NS, &error_ns);
        (void) clv_clva_global(&record->clock, -CLV_CLVA_MAX_NS, &error_ns);
        check(error_ns >= 0, "a bound");
        break;
    case CLV_CLVA_COST:
        check(record->cost.byte_ps >= 0 && record->cost.near_latency_ns >= 0, "a cost");
        break;
    case CLV_CLVA_EARLY: /* their sum fits */
        check(record->early.window_bytes + record->early.buffer_bytes >= 0, "a connection");
        break;
    case CLV_CLVA_WAITS:
        check(record->waits.waited_ns >= 0 && record->waits.asleep_ns >= 0, "waits");
        break;
    default:
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    clv_clva_head_t head;
    clv_clva_record_t record;
    char text[CLV_CLVA_HEAD_BYTES];
    size_t at = 0, used = 0;

    if (clv_clva_get_head(data, n_bytes, &head, &at) != CLV_OK) {
        return 0;
    }
    check(at <= n_bytes && clv_clva_put_head(text, sizeof text, &head) > 0, "a head");
    while (clv_clva_get_record(data + at, n_bytes - at, head.n_ranks, &record, &used) == CLV_OK) {
        check(used >= 8 && used <= n_bytes - at, "a record within its bytes");
        check_record(&record, head.n_ranks, data + at, used);
        at += used;
    }
    return 0;
}

#ifndef CLV_FUZZ_ENGINE
#include "tests/sim/cs_random.h"

#define MAX_BYTES 4096

static size_t make_valid(unsigned char *bytes)
{
    static const unsigned char members[8] = {1};
    const clv_clva_head_t head = {.clva = 1, .n_nodes = 1, .n_ranks = 4, .n_local = 2};
    const clv_clva_call_t calls[3] = {{.exit_ns = 1}, {.arrival_ns = 5, .exit_ns = 9}};
    const clv_clva_comm_t comm = {.id = 1, .n_ranks = 2, .n_listed = 2, .members = members};
    size_t n = clv_clva_put_head((char *) bytes, MAX_BYTES, &head);

    n += clv_clva_put_local(bytes + n, MAX_BYTES - n, (const int32_t[]){0, 1}, 2);
    n += clv_clva_put_comm(bytes + n, MAX_BYTES - n, &comm);
    n += clv_clva_put_stream(bytes + n, MAX_BYTES - n, 1, &(clv_clva_stream_t){.bytes = 8});
    n += clv_clva_put_clock(bytes + n, MAX_BYTES - n, &(clv_clva_clock_t){.slope = 1e-5});
    n += clv_clva_put_calls(bytes + n, MAX_BYTES - n, 1, calls, 3);
    n += clv_clva_put_dropped(bytes + n, MAX_BYTES - n, 1, 2);
    n += clv_clva_put_every(bytes + n, MAX_BYTES - n, 2);
    return n + clv_clva_put_end(bytes + n, MAX_BYTES - n, 3, 4);
}

/* Another byte, a number of 32 bits, or an end. */
static size_t mutate(unsigned char *bytes, size_t n_bytes, cs_random_t *random)
{
    const size_t at = (size_t) cs_random_range(random, 0, (int64_t) n_bytes - 1);

    switch (cs_random_range(random, 0, 2)) {
    case 0:
        bytes[at] = (unsigned char) cs_random_range(random, 0, 255);
        return n_bytes;
    case 1:
        memset(bytes + at / 4 * 4, (int) cs_random_range(random, -1, 1),
               n_bytes - at / 4 * 4 < 4 ? n_bytes - at / 4 * 4 : 4);
        return n_bytes;
    default:
        return at + 1;
    }
}

int main(void)
{
    const char *asked = getenv("CLV_FUZZ_RUNS");
    const int64_t n_runs = asked != NULL ? strtoll(asked, NULL, 0) : 50000;
    unsigned char bytes[MAX_BYTES];
    cs_random_t random;

    printf("1..1\n");
    cs_random_seed_from_environment(&random);
    for (int64_t i = 0; i < n_runs; i++) {
        size_t n_bytes = make_valid(bytes);
        for (int64_t n = cs_random_range(&random, 0, 4); n > 0; n--) {
            n_bytes = mutate(bytes, n_bytes, &random);
        }
        LLVMFuzzerTestOneInput(bytes, n_bytes);
    }
    printf("ok 1 - %lld mutated files break nothing\n", (long long) n_runs);
    return 0;
}
#endif
