/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Any bytes through the reader of traces: nothing may crash, leak, or take more memory than the
 * bytes are worth; what is accepted must come back the same from the writer and the reader.
 *
 * With libFuzzer (CLV_FUZZ_ENGINE, clang -fsanitize=fuzzer,address,undefined) it runs for as long
 * as it is told; without, it is a program that tries the same function on CLV_FUZZ_RUNS mutations
 * of a valid trace (default 50000, seed CLV_SEED) and prints TAP.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz_alloc.h"
#include "apps/trace/trace.h"
#include "util/util_alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void check(int condition, const char *text)
{
    if (!condition) {
        fprintf(stderr, "broken: %s\n", text);
        abort();
    }
}

/* A row of 65536 ranks is reserved before it is read; beyond that, a time of 8 bytes takes at
 * least two of the file, and room is doubled. */
static int count_memory(void *context, size_t n_bytes)
{
    const size_t *n_read = context;

    check(n_bytes <= (1 << 20) + 16 * *n_read, "memory without bytes");
    return 0;
}

/* One stream for all inputs: to open and close one takes longer than to read a trace. */
static const char *unread, *end_of_bytes;

static ssize_t read_some(void *context, char *buffer, size_t size)
{
    const size_t n_left = (size_t) (end_of_bytes - unread);
    const size_t n = size < n_left ? size : n_left;

    (void) context;
    memcpy(buffer, unread, n);
    unread += n;
    return (ssize_t) n;
}

static FILE *as_file(const void *bytes, size_t n_bytes)
{
    static FILE *file;
    static char buffer[4096];

    if (file == NULL) {
        file = fopencookie(NULL, "r", (cookie_io_functions_t){.read = read_some});
        check(file != NULL && setvbuf(file, buffer, _IOFBF, sizeof buffer) == 0, "no file");
    }
    __fpurge(file);
    clearerr(file);
    unread = bytes;
    end_of_bytes = unread + n_bytes;
    return file;
}

static clv_status_t read_bytes(const void *bytes, size_t n_bytes, clv_trace_t *trace)
{
    int line = 0;
    const char *reason = NULL;
    FILE *file = as_file(bytes, n_bytes);

    clv_alloc_set_hook(count_memory, &n_bytes);
    const clv_status_t status = clv_trace_read(file, trace, &line, &reason);
    clv_alloc_set_hook(NULL, NULL);
    check((status == CLV_PROTOCOL) == (reason != NULL), "a refusal has a reason");
    return status;
}

static void must_come_back(const clv_trace_t *trace)
{
    const size_t n_cells = (size_t) trace->n_calls * (size_t) trace->n_ranks;
    clv_trace_t again;
    char *text = NULL;
    size_t n_bytes = 0;
    FILE *file = open_memstream(&text, &n_bytes);

    check(file != NULL && clv_trace_write(file, trace) == CLV_OK, "written");
    fclose(file);
    check(read_bytes(text, n_bytes, &again) == CLV_OK, "read again");
    check(again.n_ranks == trace->n_ranks && again.n_calls == trace->n_calls, "the same size");
    check(!memcmp(again.number, trace->number, (size_t) trace->n_calls * sizeof *again.number) &&
              !memcmp(again.arrival_ns, trace->arrival_ns, n_cells * sizeof *again.arrival_ns) &&
              !memcmp(again.exit_ns, trace->exit_ns, n_cells * sizeof *again.exit_ns),
          "the same times");
    clv_trace_clear(&again);
    free(text); /* the stream's own */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    clv_trace_t trace;

    if (n_bytes > 0 && read_bytes(data, n_bytes, &trace) == CLV_OK) {
        must_come_back(&trace);
        clv_trace_clear(&trace);
    }
    clv_fuzz_alloc_end();
    return 0;
}

#ifndef CLV_FUZZ_ENGINE
#include "tests/sim/cs_random.h"

#define MAX_BYTES 1024

static const char valid[] = "clv-trace 1\n# by hand\nranks 3\nabout collective reduce\n"
                            "call 0 | 0 120 4000 | 4400 4210 4700\n"
                            "call 7 | 9000 -9130 13010 | 13400 13200 13700\n";

/* What a trace is made of, put where it does not belong. */
static const char *const pieces[] = {"call ",  "|",    "ranks ", "clv-trace 2",          "\n", "-",
                                     "65536 ", "\r\n", "about ", "9999999999999999999 ", " ",  "#"};

static size_t mutate(char *text, size_t length, cs_random_t *random)
{
    const size_t n_pieces = sizeof pieces / sizeof pieces[0];
    const char *piece = pieces[cs_random_range(random, 0, (int64_t) n_pieces - 1)];
    const size_t at = (size_t) cs_random_range(random, 0, (int64_t) length - 1);
    const size_t n_new = strlen(piece);

    switch (cs_random_range(random, 0, 3)) {
    case 0: /* another byte */
        text[at] = (char) cs_random_range(random, 0, 255);
        return length;
    case 1: /* cut off */
        return at + 1;
    case 2: /* a piece on top */
        memcpy(text + at, piece, n_new < length - at ? n_new : length - at);
        return length;
    default: /* a piece between */
        memmove(text + at + n_new, text + at, length - at);
        memcpy(text + at, piece, n_new);
        return length + n_new;
    }
}

int main(void)
{
    const char *asked = getenv("CLV_FUZZ_RUNS");
    const int64_t n_runs = asked != NULL ? strtoll(asked, NULL, 0) : 50000;
    char text[MAX_BYTES];
    cs_random_t random;

    printf("1..1\n");
    cs_random_seed_from_environment(&random);
    for (int64_t i = 0; i < n_runs; i++) {
        size_t length = sizeof valid - 1;
        memcpy(text, valid, length);
        for (int64_t n = cs_random_range(&random, 0, 4); n > 0; n--) {
            length = mutate(text, length, &random);
        }
        LLVMFuzzerTestOneInput((const uint8_t *) text, length);
    }
    printf("ok 1 - %lld mutated traces break nothing\n", (long long) n_runs);
    return 0;
}
#endif
