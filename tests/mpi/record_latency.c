/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From the last record to its forecast, on every host: how long the exchange takes between real
 * processes on their own hosts. MPI only carries the endpoint records and the results; the calls
 * are those of pap_predict. All hosts must show one CLOCK_REALTIME, as those of apps/bench/cluster
 * do.
 *
 * usage: record_latency N GAP_US [SPREAD_US]    N calls, a gap before each, and up to SPREAD_US
 * more,
 *                                              the same on every rank: 0 is a regular program
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "pap_predict/pap_predict.h"
#include "util/util_time.h"

#define MAX_CALLS 10000
#define WARM_UP   50

static int64_t given_ns[MAX_CALLS], made_ns[MAX_CALLS]; /* by version; 0: not, or no leader */
static int rank, n_ranks;

static int64_t real_now_ns(void)
{
    struct timespec now;
    (void) clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * CLV_NS_PER_S + now.tv_nsec;
}

/* On the thread of each host's leader, when the forecast is complete. */
static size_t note_forecast(void *context, const clv_pap_stream_key_t *key,
                            const clv_pap_forecast_t *forecast, const clv_pap_progress_t *progress,
                            const void *key_table, void *memory, void *node_plans,
                            size_t node_plans_bytes)
{
    (void) progress;
    (void) context, (void) key, (void) key_table, (void) memory, (void) node_plans;
    (void) node_plans_bytes;
    if (forecast->version < MAX_CALLS) {
        made_ns[forecast->version] = real_now_ns();
    }
    return 0;
}

static void check(clv_status_t status)
{
    if (status != CLV_OK) {
        fprintf(stderr, "rank %d: %s\n", rank, clv_status_text(status));
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

static clv_pap_group_t *new_group(clv_pap_t *pap)
{
    const clv_pap_hooks_t hooks = {.make = note_forecast, .node_plans_bytes = 8};
    unsigned char endpoint[CLV_PAP_ENDPOINT_BYTES];
    unsigned char *endpoints = malloc((size_t) n_ranks * CLV_PAP_ENDPOINT_BYTES);
    clv_pap_group_t *group;
    check(clv_pap_group_create(pap, n_ranks, rank, &hooks, endpoint, &group));
    MPI_Allgather(endpoint, CLV_PAP_ENDPOINT_BYTES, MPI_BYTE, endpoints, CLV_PAP_ENDPOINT_BYTES,
                  MPI_BYTE, MPI_COMM_WORLD);
    check(clv_pap_group_attach(group, endpoints, CLV_PAP_ENDPOINT_BYTES, NULL));
    MPI_Barrier(MPI_COMM_WORLD);
    check(clv_pap_group_activate(group));
    free(endpoints);
    return group;
}

static void make_call(clv_pap_group_t *group)
{
    const clv_pap_stream_key_t key = {.total_bytes = 65536};
    const struct timespec nap = {.tv_nsec = CLV_NS_PER_MS}; /* leaves the cores to the threads */
    const clv_pap_forecast_t *forecast;
    const void *node_plans;
    size_t n_bytes;
    clv_pap_call_t call;
    const int64_t now_ns = real_now_ns();
    clv_pap_call_begin(group, &key, clv_local_now_ns(), &call);
    if (call.sampled && call.forecast_version + 1 < MAX_CALLS) {
        given_ns[call.forecast_version + 1] = now_ns;
    }
    while (clv_pap_call_forecast(group, &call, &forecast, &node_plans, &n_bytes) == CLV_AGAIN) {
        (void) nanosleep(&nap, NULL);
    }
    clv_pap_call_end(group, &call, 1, NULL, 0, clv_local_now_ns());
}

static void make_calls(clv_pap_group_t *group, int n_calls, int gap_us, int spread_us)
{
    unsigned seed = 1; /* equal on all ranks */
    int64_t at_ns = real_now_ns() + 2 * CLV_NS_PER_S;
    MPI_Bcast(&at_ns, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    for (int call = 0; call < n_calls; call++) {
        at_ns += (gap_us + (spread_us > 0 ? rand_r(&seed) % spread_us : 0)) * CLV_NS_PER_US;
        const struct timespec until = {at_ns / CLV_NS_PER_S, at_ns % CLV_NS_PER_S};
        while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL) != 0) {
        }
        make_call(group);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;
    return (x > y) - (x < y);
}

static void print_quantiles(const char *which, int64_t *values, int n)
{
    const int half = n / 2, most = n * 9 / 10;

    qsort(values, (size_t) n, sizeof *values, ascending);
    printf("  %s: n %d, median %.0f us, 90 %% %.0f us\n", which, n,
           n > 0 ? (double) values[half] / 1e3 : 0, n > 0 ? (double) values[most] / 1e3 : 0);
}

/* The last of all ranks to give it, and the first and the last of all hosts to have the forecast.
 */
static void print_latencies(void)
{
    static int64_t last_given[MAX_CALLS], first_made[MAX_CALLS], last_made[MAX_CALLS];
    static int64_t near_ns[MAX_CALLS], far_ns[MAX_CALLS];
    int n = 0;
    MPI_Reduce(given_ns, last_given, MAX_CALLS, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(made_ns, last_made, MAX_CALLS, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    for (int version = 0; version < MAX_CALLS; version++) {
        made_ns[version] = made_ns[version] > 0 ? made_ns[version] : INT64_MAX;
    }
    MPI_Reduce(made_ns, first_made, MAX_CALLS, MPI_INT64_T, MPI_MIN, 0, MPI_COMM_WORLD);
    for (int version = WARM_UP; version < MAX_CALLS; version++) {
        if (last_given[version] > 0 && last_made[version] > 0) {
            near_ns[n] = first_made[version] - last_given[version];
            far_ns[n++] = last_made[version] - last_given[version];
        }
    }
    if (rank == 0) {
        print_quantiles("last record to forecast at the nearest node", near_ns, n);
        print_quantiles("last record to forecast at the farthest node", far_ns, n);
    }
}

int main(int argc, char **argv)
{
    const clv_pap_options_t options = {.sma_window = 8, .connect_timeout_ns = 10 * CLV_NS_PER_S};
    clv_pap_t *pap;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (argc < 3) {
        fprintf(stderr, "usage: record_latency N GAP_US [SPREAD_US]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    check(clv_pap_open(&options, &pap));
    clv_pap_group_t *group = new_group(pap);
    make_calls(group, atoi(argv[1]), atoi(argv[2]), argc > 3 ? atoi(argv[3]) : 0);
    if (rank == 0) {
        printf("%d ranks, calls %s us apart and up to %s more\n", n_ranks, argv[2],
               argc > 3 ? argv[3] : "0");
    }
    print_latencies();
    MPI_Barrier(MPI_COMM_WORLD);
    clv_pap_group_free(group);
    clv_pap_close(pap);
    MPI_Finalize();
    return 0;
}
