/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One clock for all ranks, and the ways to start a measured call together.
 *
 * What: a global clock (the machine's CLOCK_REALTIME where all ranks share it, otherwise offsets
 * and drifts of a timer measured over MPI), waiting until a global time, and the start of a round
 * by Round-Time (Algorithm 5 of the HCA3 paper), windows, MPI_Barrier, the same with what ranks
 * leave it apart made good, a dissemination barrier, or a datagram to all behind a barrier.
 * Units: global ns. A rank that hears of a start after it has passed, or never, says so; the round
 * is void.
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
 * The start of a round by one datagram to all: every rank starts when it hears it.
 *
 * What: a group of IP multicast that all ranks join on one network, found by trying those of the
 * first rank; it sends, and hears itself as the others do. One message instead of a tree of them:
 * how far apart ranks start is what the network and the kernels make of it.
 * Not: repeated. A datagram that is lost is told to the caller. IPv4; one hop.
 * Units: local ns. Errors: CLV_UNSUPPORTED where no network carries it to all ranks.
 * Memory: none but a socket. Threads: one per process.
 */

typedef struct clv_bench_multicast {
    int socket; /* 0: not open */
    bool is_sender;
    bool is_spinning;         /* waits with its processor */
    struct sockaddr_in group; /* address and port */
    uint64_t key;             /* of this job's datagrams */
    uint64_t number;          /* of the last start */
    char network[IF_NAMESIZE];
} clv_bench_multicast_t;

/* The first network of rank 0 from which every rank hears rank 0. is_spinning is set before.
 * Collective, and so is the answer: CLV_UNSUPPORTED with a reason. */
clv_status_t clv_bench_multicast_open(MPI_Comm comm, clv_bench_multicast_t *multicast, char *reason,
                                      size_t reason_bytes) CLV_MUST_CHECK;
/* Waits for the next start, which the sender gives after pause_ns: others are then waiting. Returns
 * whether it was heard. Collective; ranks come together to it. */
bool clv_bench_multicast_start(clv_bench_multicast_t *multicast, int64_t pause_ns);
void clv_bench_multicast_close(clv_bench_multicast_t *multicast);

/* ---- bench_sync.c --------------------------------------------------------------------------- */

typedef struct clv_bench_clock {
    bool is_realtime;     /* CLOCK_REALTIME is the global clock */
    clv_cs_clock_t timer; /* otherwise: of this process, */
    clv_cs_model_t model; /* from which this leads to the global time */
    int64_t spin_ns;      /* the end of a wait that is spent spinning; 0 where cores are shared */
    int64_t bound_ns;     /* these four by clv_bench_clock_check: the largest bound of any rank, */
    int64_t found_ns;     /* the largest offset of any rank from rank 0 as measured, */
    int64_t found_error_ns; /* what that measurement may be off, */
    bool is_checked;
    bool is_off; /* and whether some rank was off by more than both, or not to be measured */
} clv_bench_clock_t;

/* "realtime", a method of clocksync ("hca3", "jk/1000/mean-rtt/20", ...), or "auto": realtime if
 * all ranks are on one machine, or emulated there, else hca3; timer: a clock of clocksync, NULL is
 * monotonic; with a timer auto is hca3. Collective. CLV_INVALID: no such name, or a timer beside
 * realtime; CLV_UNSUPPORTED: some rank got no clock. */
clv_status_t clv_bench_clock_init(const char *name, const char *timer, MPI_Comm comm,
                                  clv_bench_clock_t *clock_p) CLV_MUST_CHECK;
int64_t clv_bench_clock_now(const clv_bench_clock_t *clock);
/* How good the clock is by now: what ranks admit, and what rank 0 finds when it measures them once
 * more (Check-Global-Clock, Algorithm 6 of the HCA3 paper). Collective; the answer is rank 0's.
 * CLV_NO_MEMORY, on all ranks. */
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
    int64_t behind_ns; /* compensated: how long this rank waits for the last one behind a barrier */
    int64_t pause_ns;  /* multicast: between the barrier and the datagram */
    bool has_missed;   /* multicast: the last start was not heard */
    bool has_barrier;  /* one comes before each start: none for round-time and window */
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
 * CLV_INVALID for an unknown name, CLV_UNSUPPORTED where no network carries a multicast, with a
 * reason. Collective. */
clv_status_t clv_bench_sync_init(const char *name, clv_bench_sync_t *sync, char *reason,
                                 size_t reason_bytes) CLV_MUST_CHECK;
void clv_bench_sync_close(clv_bench_sync_t *sync);

/* From here on ranks start when they leave a barrier; who wants the old way back keeps a copy. */
void clv_bench_sync_behind_barriers(clv_bench_sync_t *sync);

/* The start of the next round on the global clock: a common one, or when this rank leaves a barrier
 * or hears the datagram. Collective. */
int64_t clv_bench_sync_start(clv_bench_sync_t *sync);

#endif
