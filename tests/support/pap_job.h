/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A job without MPI: P processes that exchange endpoint records through shared memory and make
 * calls, and what each of them saw at each call. And, where a process of its own for each rank is
 * too much, two ranks in one process. For tests of the pap_predict shell.
 */
#ifndef CLV_TESTS_PAP_JOB_H
#define CLV_TESTS_PAP_JOB_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "pap_predict/pap_predict.h"

#define JOB_MAX_RANKS 32
#define JOB_MAX_CALLS 2000

/* What a rank saw at a call: 0 nothing yet, or one of these, or a hash of forecast and node plans.
 */
#define JOB_SAW_NONE    1
#define JOB_SAW_TIMEOUT 2

typedef struct pap_job pap_job_t;

typedef struct pap_job_options {
    int32_t n_ranks;
    int32_t n_hosts; /* ranks are dealt round robin or in blocks */
    int32_t blocks;
    int32_t n_calls;
    int32_t n_streams; /* calls go through them in turn */
    int64_t work_ns;   /* computing time between calls ... */
    int64_t late_ns;   /* ... and how much more for rank i: i * late_ns */
    int64_t connect_timeout_ns;
    int64_t wait_ns;     /* for one forecast; then it is a timeout */
    int32_t synchronous; /* all ranks leave a call together */
    int32_t uses_hints;
    int32_t is_bound; /* all ranks to processor 0, as a launcher does it */
    int32_t spins;    /* works by computing, not by sleeping */
    int32_t in_pairs; /* each second call follows at once: it waits for the first's forecast */
    /* On the rank's process before call number call; may be NULL. */
    void (*before_call)(pap_job_t *job, int32_t rank, int32_t call);
    /* In the parent while the ranks run; may be NULL. */
    void (*meanwhile)(pap_job_t *job);
} pap_job_options_t;

struct pap_job {
    pap_job_options_t options;
    unsigned char endpoints[JOB_MAX_RANKS * CLV_PAP_ENDPOINT_BYTES];
    pid_t pids[JOB_MAX_RANKS];
    int exits[JOB_MAX_RANKS]; /* wait status */
    uint64_t saw[JOB_MAX_RANKS][JOB_MAX_CALLS];
    int32_t n_record_sets[JOB_MAX_RANKS][JOB_MAX_CALLS];
    int64_t predicted_spread_ns[JOB_MAX_RANKS][JOB_MAX_CALLS];
    int64_t call_ns[JOB_MAX_RANKS][JOB_MAX_CALLS]; /* spent in begin and the first forecast */
    int64_t wait_ns[JOB_MAX_RANKS][JOB_MAX_CALLS]; /* from begin to the forecast's answer */
    int64_t global_error_ns[JOB_MAX_RANKS];        /* last known bound, -1: never ready */
    int64_t global_minus_local_ns[JOB_MAX_RANKS];
    clv_pap_counters_t counters[JOB_MAX_RANKS];
    int32_t n_fds_before[JOB_MAX_RANKS], n_fds_after[JOB_MAX_RANKS];
    _Atomic int32_t arrived[4];
    _Atomic int32_t at_call[JOB_MAX_RANKS];
    _Atomic int32_t failed;
};

/* Shared memory, zeroed. */
pap_job_t *job_new(const pap_job_options_t *options);
void job_free(pap_job_t *job);

/* Forks the ranks, waits for all (kills them after seconds), fills exits. */
void job_run(pap_job_t *job, int seconds);

int32_t job_host(const pap_job_t *job, int32_t rank);
/* A number that is not right is described on standard output; returns how many calls differ
 * between ranks that saw them. */
int job_count_disagreements(const pap_job_t *job);
int job_count_forecasts(const pap_job_t *job, int32_t rank);
int job_count_seen(const pap_job_t *job, uint64_t what); /* over all ranks and calls */
int32_t job_count_fds(void);
int job_has_thread(void);   /* the background thread runs in this process */
int job_keeps_thread(void); /* the same, when it should be gone: waits for that, 20 s at most */
void job_sleep_ns(int64_t ns);

/* ---- two ranks in one process, on one or on two pretended hosts, so that making and freeing a
 * group is a few hundred microseconds. One thread.
 *
 * Each step answers the first failure of either rank and goes no further, as a job would by its
 * allreduce; pair_free and pair_close take whatever there is.
 */

typedef struct pair {
    clv_pap_t *pap[2];
    clv_pap_group_t *group[2];
    clv_pap_hooks_t hooks; /* 100 bytes of node plans; may be changed before pair_create */
    unsigned char endpoints[2 * CLV_PAP_ENDPOINT_BYTES];
} pair_t;

/* A link that is not there for connect_timeout_ns is lost, and who has lost its neighbour lingers a
 * minute: a busy machine may take seconds. */
clv_status_t pair_open(pair_t *pair, int one_host, int64_t connect_timeout_ns);
void pair_set_patience(pair_t *pair, int64_t patience_ns); /* before pair_create */
clv_status_t pair_create(pair_t *pair);
clv_status_t pair_attach(pair_t *pair);
clv_status_t pair_activate(pair_t *pair);
/* Both ranks, which have begun their calls, ask until both know, or 2 minutes are over
 * (CLV_AGAIN). */
void pair_ask(pair_t *pair, clv_pap_call_t calls[2], clv_status_t status[2],
              const clv_pap_forecast_t *forecasts[2]);
void pair_free(pair_t *pair);
void pair_close(pair_t *pair);

#endif
