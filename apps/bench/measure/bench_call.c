/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A call, its announcement, and the order of algorithms; see bench_measure.h.
 */
#include "clv.h" /* first: it needs _GNU_SOURCE */

#include "apps/bench/measure/bench_measure.h"

#include <stdio.h>

#include "util/util_time.h"

#define N_MESSAGES  4 /* the first one connects the ranks */
#define TAG_MESSAGE 205
#define PROGRESS_NS (2 * CLV_NS_PER_S)
#define ORDER_SALT  UINT64_C(0x6f72646572) /* "order": its own stream of random numbers */

int64_t clv_bench_message_ns(MPI_Comm comm, void *buffer, int n_bytes)
{
    int64_t least_ns = 0;
    int rank, n_ranks;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    for (int i = 0; i < N_MESSAGES && n_ranks > 1; i++) {
        const int64_t begun_ns = clv_local_now_ns();
        if (rank == 0) {
            MPI_Send(buffer, n_bytes, MPI_BYTE, n_ranks - 1, TAG_MESSAGE, comm);
            MPI_Recv(buffer, n_bytes, MPI_BYTE, n_ranks - 1, TAG_MESSAGE, comm, MPI_STATUS_IGNORE);
        } else if (rank == n_ranks - 1) {
            MPI_Recv(buffer, n_bytes, MPI_BYTE, 0, TAG_MESSAGE, comm, MPI_STATUS_IGNORE);
            MPI_Send(buffer, n_bytes, MPI_BYTE, 0, TAG_MESSAGE, comm);
        }
        const int64_t took_ns = (clv_local_now_ns() - begun_ns) / 2;
        least_ns = i == 0 || took_ns < least_ns ? took_ns : least_ns;
    }
    MPI_Bcast(&least_ns, 1, MPI_INT64_T, 0, comm);
    return least_ns;
}

bool clv_bench_announce(const clv_bench_setup_t *setup, int algorithm, int64_t arrival_ns)
{
    const int64_t ns_from_now = arrival_ns - clv_bench_clock_now(&setup->sync->clock);

    return setup->algorithms[algorithm].is_hinted &&
           clv_hint_arrival(setup->comms[algorithm], ns_from_now > 0 ? ns_from_now : 0);
}

int clv_bench_perform(const clv_bench_setup_t *setup, int algorithm, const clv_bench_call_t *call)
{
    MPI_Request request;

    if (setup->algorithms[algorithm].own) {
        return setup->algorithms[algorithm].own(call);
    }
    if (!setup->nonblocking) {
        return setup->collective->run(call);
    }
    const int status = setup->collective->start(call, &request);
    return status == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : status;
}

void clv_bench_shuffle(const clv_bench_setup_t *setup, int64_t turn, int *order)
{
    for (int a = 0; a < setup->n_algorithms; a++) {
        order[a] = a;
    }
    for (int a = setup->n_algorithms - 1; a > 0 && !setup->keep_order; a--) {
        const double random =
            clv_pattern_random(setup->seed ^ ORDER_SALT, (uint64_t) turn, (uint64_t) a);
        const int other = (int) (random * (a + 1));
        const int kept = order[a];
        order[a] = order[other];
        order[other] = kept;
    }
}

void clv_bench_show_progress(const clv_bench_setup_t *setup, int64_t done, int64_t total,
                             const char *what, int64_t *shown_ns)
{
    const int64_t now_ns = clv_local_now_ns();

    if (setup->call.rank == 0 && now_ns - *shown_ns >= PROGRESS_NS) {
        fprintf(stderr, "clv-bench: %s, %lld of %lld %s\n", setup->label, (long long) done,
                (long long) total, what);
        *shown_ns = now_ns;
    }
}

int clv_bench_is_time_up(const clv_bench_setup_t *setup, int64_t begun_ns)
{
    int is_up = setup->seconds && clv_local_now_ns() - begun_ns > setup->seconds * CLV_NS_PER_S;

    if (setup->seconds) {
        MPI_Bcast(&is_up, 1, MPI_INT, 0, setup->sync->comm);
    }
    return is_up;
}
