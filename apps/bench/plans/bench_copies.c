/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cost of copies inside a host: CPU time of the receiver to combine a neighbour's vector into
 * its own in three ways, in segments of 32 KiB.
 *
 *   fragments  copied out of shared memory, where the neighbour has put it, then combined: a
 *              shared-memory transport without its protocol
 *   one copy   read from the neighbour's memory (process_vm_readv, CMA), then combined
 *   in place   combined straight from the neighbour's memory, mapped here: what XPMEM allows
 *
 * Output: nanoseconds per KiB, median of the repetitions; before each, the neighbour, a process,
 * rewrites its vector. Not: protocol, waiting, or the neighbour's own copy.
 * Usage: bench_copies [vector KiB, 32 to 65536; 2048] [repetitions, 3 to 1000; 101]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "apps/bench/measure/bench_stats.h"
#include "apps/cli/cli_options.h"

enum { SEGMENT = 32768, MAX_RUNS = 1000 };

typedef struct bench {
    size_t n_bytes;
    float *theirs; /* shared: in the neighbour's memory, and mapped here */
    float *mine;
    float *buffer; /* one segment */
    pid_t neighbour;
    int ask, answer; /* pipes */
} bench_t;

static double now_ns(void)
{
    struct timespec now;
    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec * 1e9 + (double) now.tv_nsec;
}

static void combine(float *restrict into, const float *restrict from)
{
    for (size_t i = 0; i < SEGMENT / sizeof *into; i++) {
        into[i] += from[i];
    }
}

static const float *by_fragments(const bench_t *bench, size_t at)
{
    memcpy(bench->buffer, bench->theirs + at, SEGMENT);
    return bench->buffer;
}

static const float *by_one_copy(const bench_t *bench, size_t at)
{
    const struct iovec here = {bench->buffer, SEGMENT}, there = {bench->theirs + at, SEGMENT};
    if (process_vm_readv(bench->neighbour, &here, 1, &there, 1, 0) != SEGMENT) {
        perror("bench_copies: process_vm_readv");
        exit(1);
    }
    return bench->buffer;
}

static const float *in_place(const bench_t *bench, size_t at)
{
    return bench->theirs + at;
}

static void must(bool holds, const char *what)
{
    if (!holds) {
        perror(what);
        exit(1);
    }
}

/* The neighbour: writes its vector on request. */
static void serve(const bench_t *bench, int asked, int answers)
{
    char byte;
    while (read(asked, &byte, 1) == 1) {
        for (size_t i = 0; i < bench->n_bytes / sizeof *bench->theirs; i++) {
            bench->theirs[i] = (float) byte;
        }
        must(write(answers, &byte, 1) == 1, "bench_copies: pipe");
    }
    _exit(0);
}

static void start_neighbour(bench_t *bench)
{
    int down[2], up[2];
    must(pipe(down) == 0 && pipe(up) == 0, "bench_copies: pipe");
    bench->neighbour = fork();
    must(bench->neighbour >= 0, "bench_copies: fork");
    if (bench->neighbour == 0) {
        (void) close(down[1]);
        serve(bench, down[0], up[1]);
    }
    bench->ask = down[1];
    bench->answer = up[0];
}

static void measure(const bench_t *bench, const char *name,
                    const float *(*bring)(const bench_t *, size_t), int n_runs)
{
    static double took_ns[MAX_RUNS];
    for (int i = 0; i < n_runs; i++) {
        char byte = 1;
        must(write(bench->ask, &byte, 1) == 1 && read(bench->answer, &byte, 1) == 1,
             "bench_copies: pipe");
        const double start_ns = now_ns();
        for (size_t at = 0; at < bench->n_bytes / sizeof(float); at += SEGMENT / sizeof(float)) {
            combine(bench->mine + at, bring(bench, at));
        }
        took_ns[i] = now_ns() - start_ns;
    }
    printf("%-10s %7.1f ns/KiB\n", name,
           clv_stats_median(took_ns, (size_t) n_runs) / ((double) bench->n_bytes / 1024));
}

typedef struct asked {
    int32_t kib, n_runs;
} asked_t;

static const clv_option_t rows[] = {
    CLV_ROW_WHOLE32("kib", offsetof(asked_t, kib), 32, 65536, "2048", "size of the vector"),
    CLV_ROW_WHOLE32("runs", offsetof(asked_t, n_runs), 3, MAX_RUNS, "101", "repetitions"),
    CLV_ROWS_END,
};
static const clv_program_t program = {
    .name = "bench_copies", .usage = "bench_copies [--kib N] [--runs N]", .options = rows};

int main(int argc, char **argv)
{
    asked_t asked = {0};
    const int status = clv_options_main(&program, argc, argv, &asked, NULL);
    if (status >= 0) {
        return status;
    }
    const int n_runs = asked.n_runs;
    bench_t bench = {.n_bytes = (size_t) (asked.kib / 32) * SEGMENT};
    bench.theirs =
        mmap(NULL, bench.n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bench.mine = calloc(1, bench.n_bytes);
    bench.buffer = calloc(1, SEGMENT);
    must(bench.theirs != MAP_FAILED && bench.mine != NULL && bench.buffer != NULL,
         "bench_copies: memory");
    start_neighbour(&bench);
    measure(&bench, "fragments", by_fragments, n_runs);
    measure(&bench, "one copy", by_one_copy, n_runs);
    measure(&bench, "in place", in_place, n_runs);
    free(bench.mine);
    free(bench.buffer);
    return 0;
}
