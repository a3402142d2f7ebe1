/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A job without MPI: P processes that exchange endpoint records through shared memory and make
 * calls, and record what each of them saw. Also two ranks in one process, for tests that need no
 * process per rank. For tests of the pap_predict shell.
 */
#ifndef CLV_TESTS_PAP_JOB_H
#define CLV_TESTS_PAP_JOB_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "pap_predict/pap_predict.h"

#define JOB_MAX_RANKS 32
#define JOB_MAX_CALLS 2000

/* What a rank saw at a call: 0: nothing yet; one of these; or a hash of forecast and node plans. */
#define JOB_SAW_NONE    1
#define JOB_SAW_TIMEOUT 2

typedef struct pap_job pap_job_t;

typedef struct pap_job_options {
    int32_t n_ranks;
    int32_t n_hosts; /* ranks are assigned round robin or in blocks */
    int32_t blocks;
    int32_t n_calls;
    int32_t n_streams; /* calls cycle through them */
    int64_t work_ns;   /* computing time between calls ... */
    int64_t late_ns;   /* ... plus i * late_ns for rank i */
    int64_t connect_timeout_ns;
    int64_t wait_ns;     /* limit of the wait for a forecast */
    int32_t synchronous; /* all ranks leave a call together */
    int32_t uses_hints;
    int32_t is_bound; /* all ranks on processor 0, as some launchers do */
    int32_t spins;    /* works by computing, not by sleeping */
    int32_t in_pairs; /* every second call follows at once: it waits for the first's forecast */
    /* Called in the rank's process before each call; may be NULL. */
    void (*before_call)(pap_job_t *job, int32_t rank, int32_t call);
    /* Called in the parent while the ranks run; may be NULL. */
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
    int64_t call_ns[JOB_MAX_RANKS][JOB_MAX_CALLS]; /* time in begin and the first forecast */
    int64_t wait_ns[JOB_MAX_RANKS][JOB_MAX_CALLS]; /* from begin until a forecast or a timeout */
    int64_t global_error_ns[JOB_MAX_RANKS];        /* last known bound; -1: never ready */
    int64_t global_minus_local_ns[JOB_MAX_RANKS];
    clv_pap_counters_t counters[JOB_MAX_RANKS];
    int32_t n_fds_before[JOB_MAX_RANKS], n_fds_after[JOB_MAX_RANKS];
    _Atomic int32_t arrived[4];
    _Atomic int32_t at_call[JOB_MAX_RANKS];
    _Atomic int32_t failed;
};

/* Allocates shared, zeroed memory. */
pap_job_t *job_new(const pap_job_options_t *options);
void job_free(pap_job_t *job);

/* Forks the ranks, waits for all (kills them after `seconds`), and fills exits. */
void job_run(pap_job_t *job, int seconds);

int32_t job_host(const pap_job_t *job, int32_t rank);
/* Describes wrong numbers on standard output; returns how many calls differ between ranks that saw
 * them. */
int job_count_disagreements(const pap_job_t *job);
int job_count_forecasts(const pap_job_t *job, int32_t rank);
int job_count_seen(const pap_job_t *job, uint64_t what); /* over all ranks and calls */
int32_t job_count_fds(void);
int job_has_thread(void);   /* the background thread runs in this process */
int job_keeps_thread(void); /* the same after its end: waits up to 20 s for it to go */
void job_sleep_ns(int64_t ns);

/* ---- two ranks in one process, on one or two simulated hosts, so that creating and freeing a
 * group takes a few hundred microseconds. One thread.
 *
 * Each step returns the first failure of either rank and stops there, as a job would after its
 * allreduce; pair_free and pair_close free whatever exists. */

typedef struct pair {
    clv_pap_t *pap[2];
    clv_pap_group_t *group[2];
    clv_pap_hooks_t hooks; /* 100 bytes of node plans; may be changed before pair_create */
    unsigned char endpoints[2 * CLV_PAP_ENDPOINT_BYTES];
} pair_t;

/* A link not established after connect_timeout_ns counts as lost, and a rank that has lost its
 * neighbour lingers for a minute: a busy machine may take seconds. */
clv_status_t pair_open(pair_t *pair, int one_host, int64_t connect_timeout_ns);
void pair_set_patience(pair_t *pair, int64_t patience_ns); /* before pair_create */
clv_status_t pair_create(pair_t *pair);
clv_status_t pair_attach(pair_t *pair);
clv_status_t pair_activate(pair_t *pair);
/* Both ranks, in calls that have begun, ask until both have a forecast, or 2 minutes have passed
 * (CLV_AGAIN). */
void pair_ask(pair_t *pair, clv_pap_call_t calls[2], clv_status_t status[2],
              const clv_pap_forecast_t *forecasts[2]);
void pair_free(pair_t *pair);
void pair_close(pair_t *pair);

#endif
