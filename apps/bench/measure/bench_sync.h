/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One clock for all ranks, and the ways to start a measured call together.
 *
 * What: a global clock (the machine's CLOCK_REALTIME where all ranks share it, otherwise offsets
 * and drifts of a timer measured over MPI), waiting until a global time, and the start of a round
 * by Round-Time (Algorithm 5 of the HCA3 paper), windows, MPI_Barrier, the same with compensation
 * for the ranks' different exits, a dissemination barrier, or a datagram to all ranks after a
 * barrier.
 * Units: global ns. A rank that hears of a start too late, or never, reports that; the round is
 * void.
 * Threads: one per process. Cost of a round: one MPI_Bcast (round-time), nothing (window), a
 * barrier, two of them.
 */
#ifndef CLV_BENCH_SYNC_H
#define CLV_BENCH_SYNC_H

#include <mpi.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clocksync/methods/cs_methods.h"
#include "util/util_status.h"

/* ---- bench_multicast.c
 *
 * The start of a round by one datagram to all ranks: each starts when it receives it.
 *
 * What: a group of IP multicast that all ranks join on one network, found by trying rank 0's
 * networks. Rank 0 sends, and receives its own copy as the others do. There is one message instead
 * of a tree, so only the network and the kernels determine how far apart ranks start.
 * Not: repetition. A lost datagram is reported to the caller. IPv4; one hop.
 * Units: local ns. Errors: CLV_UNSUPPORTED if no network carries it to all ranks.
 * Memory: none but a socket. Threads: one per process. */

typedef struct clv_bench_multicast {
    int socket; /* 0: not open */
    bool is_sender;
    bool is_spinning;         /* waits by spinning */
    struct sockaddr_in group; /* address and port */
    uint64_t key;             /* of this job's datagrams */
    uint64_t number;          /* number of the last start */
    char network[IF_NAMESIZE];
} clv_bench_multicast_t;

/* Finds the first network of rank 0 on which every rank hears rank 0. is_spinning is set before.
 * Collective, with one result for all ranks: CLV_UNSUPPORTED with a reason. */
clv_status_t clv_bench_multicast_open(MPI_Comm comm, clv_bench_multicast_t *multicast, char *reason,
                                      size_t reason_bytes) CLV_MUST_CHECK;
/* Waits for the next start. The sender sends it after pause_ns, when the others are waiting.
 * Returns whether it was heard. Collective; ranks enter it together. */
bool clv_bench_multicast_start(clv_bench_multicast_t *multicast, int64_t pause_ns);
void clv_bench_multicast_close(clv_bench_multicast_t *multicast);

/* ---- bench_sync.c --------------------------------------------------------------------------- */

typedef struct clv_bench_clock {
    bool is_realtime;       /* CLOCK_REALTIME is the global clock */
    clv_cs_clock_t timer;   /* otherwise: this process's timer, */
    clv_cs_model_t model;   /* and the model that converts it to global time */
    int64_t spin_ns;        /* end of a wait that is spent spinning; 0 if cores are shared */
    int64_t bound_ns;       /* from here set by clv_bench_clock_check: largest bound of any rank, */
    int64_t found_ns;       /* largest measured offset of any rank from rank 0, */
    int64_t found_error_ns; /* error bound of that measurement, */
    bool is_checked;
    bool is_off; /* whether a rank was off by more than both, or could not be measured */
} clv_bench_clock_t;

/* "realtime", a method of clocksync ("hca3", "jk/1000/mean-rtt/20", ...), or "auto": realtime if
 * all ranks are on one machine, or emulated there, else hca3; timer: a clock of clocksync, NULL is
 * monotonic; with a timer, auto is hca3. Collective. CLV_INVALID: no such name, or a timer with
 * realtime; CLV_UNSUPPORTED: a rank got no clock. */
clv_status_t clv_bench_clock_init(const char *name, const char *timer, MPI_Comm comm,
                                  clv_bench_clock_t *clock_p) CLV_MUST_CHECK;
int64_t clv_bench_clock_now(const clv_bench_clock_t *clock);
/* The present quality of the clock: the ranks' own bounds, and the offsets that rank 0 finds when
 * it measures them once more (Check-Global-Clock, Algorithm 6 of the HCA3 paper). Collective; rank
 * 0 has the result. CLV_NO_MEMORY, on all ranks. */
clv_status_t clv_bench_clock_check(MPI_Comm comm, clv_bench_clock_t *clock) CLV_MUST_CHECK;
void clv_bench_clock_wait(const clv_bench_clock_t *clock, int64_t until_global_ns);

typedef struct clv_bench_sync {
    MPI_Comm comm;
    int rank;
    int n_ranks;
    clv_bench_clock_t clock;
    int64_t slack_ns;  /* round-time: from the broadcast to the start */
    int64_t window_ns; /* window */
    int64_t next_ns;   /* window: the next start */
    int64_t behind_ns; /* compensated: how long this rank waits after a barrier for the last one */
    int64_t pause_ns;  /* multicast: time between the barrier and the datagram */
    bool has_missed;   /* multicast: the last start was not heard */
    bool has_barrier;  /* a barrier precedes each start: not for round-time and window */
    clv_bench_multicast_t multicast;
    int64_t (*start)(struct clv_bench_sync *sync);
} clv_bench_sync_t;

typedef struct clv_bench_sync_kind {
    const char *name;
    const char *meaning;
    int64_t (*start)(clv_bench_sync_t *sync);
} clv_bench_sync_kind_t;

/* Ends with a NULL name. */
extern const clv_bench_sync_kind_t clv_bench_sync_kinds[];

/* Fills start and slack_ns (from the measured latency of MPI_Bcast); comm and clock are set before.
 * CLV_INVALID for an unknown name, CLV_UNSUPPORTED if no network carries a multicast; with a
 * reason. Collective. */
clv_status_t clv_bench_sync_init(const char *name, clv_bench_sync_t *sync, char *reason,
                                 size_t reason_bytes) CLV_MUST_CHECK;
void clv_bench_sync_close(clv_bench_sync_t *sync);

/* From here on, ranks start when they leave a barrier. To restore the old way, keep a copy. */
void clv_bench_sync_behind_barriers(clv_bench_sync_t *sync);

/* The start of the next round on the global clock: a common one, or the time at which this rank
 * leaves a barrier or hears the datagram. Collective. */
int64_t clv_bench_sync_start(clv_bench_sync_t *sync);

#endif
