/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measures the cost of the prediction: `pap-cost calls|latency|idle [ranks hosts]`. The figures of
 * docs/design/channel.md come from here. Ranks are processes of this machine and hosts are
 * simulated, so connections use its own addresses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pap_predict/pap_process.h"
#include "tests/support/pap_job.h"
#include "util/util_time.h"

#define WARM_UP 50

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;
    return (x > y) - (x < y);
}

static void print_quantiles(const char *what, int64_t *values, int n)
{
    qsort(values, (size_t) n, sizeof *values, ascending);
    printf("%-34s n %6d  median %8.2f us  90 %% %8.2f us  99 %% %8.2f us\n", what, n,
           (double) values[n / 2] / 1e3, (double) values[n * 9 / 10] / 1e3,
           (double) values[n * 99 / 100] / 1e3);
}

static pap_job_t *run(pap_job_options_t options)
{
    options.connect_timeout_ns = 10 * CLV_NS_PER_S;
    options.wait_ns = 20 * CLV_NS_PER_S;
    options.n_streams = 1;
    pap_job_t *job = job_new(&options);
    job_run(job, 120);
    if (job_count_disagreements(job) != 0 || job_count_seen(job, JOB_SAW_TIMEOUT) != 0) {
        printf("the run failed\n");
        exit(1);
    }
    return job;
}

static void print_calls(const char *what, const pap_job_t *job)
{
    static int64_t values[JOB_MAX_RANKS * JOB_MAX_CALLS];
    int n = 0;
    for (int32_t rank = 0; rank < job->options.n_ranks; rank++) {
        for (int32_t call = WARM_UP; call < job->options.n_calls; call++) {
            values[n++] = job->call_ns[rank][call];
        }
    }
    print_quantiles(what, values, n);
}

/* Time in call_begin and the first call_forecast, including one clock reading. */
static void measure_calls(int32_t n_ranks, int32_t n_hosts)
{
    pap_job_options_t options = {.n_ranks = n_ranks, .n_hosts = n_hosts, .n_calls = 1000};
    options.work_ns = 2 * CLV_NS_PER_MS;
    options.late_ns = 100 * CLV_NS_PER_US;
    options.spins =
        n_ranks <= sysconf(_SC_NPROCESSORS_ONLN); /* like real work, if there are enough cores */
    pap_job_t *job = run(options);
    int64_t n_sampled = job->counters[0].sampled;
    print_calls("begin + forecast, 2 ms of work", job);
    printf("sampled %lld of %d calls\n", (long long) n_sampled, options.n_calls);
    job_free(job);
    options.work_ns = options.late_ns = 0;
    options.n_calls = JOB_MAX_CALLS;
    job = run(options);
    n_sampled = job->counters[0].sampled;
    print_calls("begin + forecast, tight loop", job);
    printf("sampled %lld of %d calls\n", (long long) n_sampled, options.n_calls);
    job_free(job);
}

/* From the last rank's record to its forecast: the wait of the last rank at an immediate second
 * call. */
static void measure_latency(int32_t n_ranks, int32_t n_hosts)
{
    static int64_t values[JOB_MAX_CALLS];
    int n = 0;
    pap_job_t *job = run((pap_job_options_t){.n_ranks = n_ranks,
                                             .n_hosts = n_hosts,
                                             .n_calls = 600,
                                             .work_ns = 10 * CLV_NS_PER_MS,
                                             .late_ns = 500 * CLV_NS_PER_US,
                                             .in_pairs = 1,
                                             .synchronous = 1});
    for (int32_t call = WARM_UP + 1; call < job->options.n_calls; call += 2) {
        values[n++] = job->wait_ns[n_ranks - 1][call];
    }
    print_quantiles("record of the last to its forecast", values, n);
    printf("clock error bounds, us:");
    for (int32_t rank = 0; rank < n_ranks; rank++) {
        printf(" %.1f", (double) job->global_error_ns[rank] / 1e3);
    }
    printf("\n");
    job_free(job);
}

static int64_t cpu_at[2][JOB_MAX_RANKS];

/* All connected, clocks synchronised, and no calls. */
static void measure_idle(int seconds)
{
    clv_pap_t *pap[2];
    clv_pap_group_t *group[2];
    unsigned char endpoints[2 * CLV_PAP_ENDPOINT_BYTES];
    const clv_pap_options_t options = {.sma_window = 8, .connect_timeout_ns = CLV_NS_PER_S};
    for (int i = 0; i < 2; i++) {
        if (clv_pap_open(&options, &pap[i]) != CLV_OK) {
            exit(1);
        }
        clv_pap_pretend_host(pap[i], (uint32_t) i);
        if (clv_pap_group_create(pap[i], 2, i, NULL, endpoints + i * CLV_PAP_ENDPOINT_BYTES,
                                 &group[i]) != CLV_OK) {
            exit(1);
        }
    }
    for (int i = 0; i < 2; i++) {
        if (clv_pap_group_attach(group[i], endpoints, CLV_PAP_ENDPOINT_BYTES, NULL) != CLV_OK ||
            clv_pap_group_activate(group[i]) != CLV_OK) {
            exit(1);
        }
    }
    job_sleep_ns(10 * CLV_NS_PER_S);
    for (int at = 0; at < 2; at++) {
        for (int i = 0; i < 2; i++) {
            clv_pap_counters_t counters;
            clv_pap_read_counters(pap[i], &counters);
            cpu_at[at][i] = counters.thread_cpu_ns;
        }
        if (at == 0) {
            job_sleep_ns(seconds * CLV_NS_PER_S);
        }
    }
    for (int i = 0; i < 2; i++) {
        printf("idle thread of the %s: %.4f %% of a core over %d s\n", i == 0 ? "parent" : "child",
               100. * (double) (cpu_at[1][i] - cpu_at[0][i]) / ((double) seconds * 1e9), seconds);
        clv_pap_group_free(group[i]);
    }
    clv_pap_close(pap[0]);
    clv_pap_close(pap[1]);
}

int main(int argc, char **argv)
{
    const int32_t n_ranks = argc > 3 ? atoi(argv[2]) : 4;
    const int32_t n_hosts = argc > 3 ? atoi(argv[3]) : 2;
    if (argc > 1 && strcmp(argv[1], "idle") == 0) {
        measure_idle(argc > 2 ? atoi(argv[2]) : 30);
        return 0;
    }
    if (argc < 2 || n_ranks < 1 || n_ranks > JOB_MAX_RANKS || n_hosts < 1 || n_hosts > n_ranks) {
        fprintf(stderr, "usage: pap-cost calls|latency [ranks nodes] | idle [seconds]\n");
        return 2;
    }
    if (strcmp(argv[1], "latency") == 0) {
        measure_latency(n_ranks, n_hosts);
    } else {
        measure_calls(n_ranks, n_hosts);
    }
    return 0;
}
