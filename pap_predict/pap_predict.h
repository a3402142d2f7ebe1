/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The pap_predict module: predicted arrival times that are the same on every rank.
 *
 * One invariant: the same (group, stream, call number) gives the same forecast on every rank, or on
 * none. A forecast is a deterministic integer function of complete record sets; see
 * docs/design/protocol.md.
 *
 * What: streams, sampled calls, records, record sets, forecasts, predictors; the one background
 * thread, its listener and connections; the host's shared table; the group's global clock.
 * Not: MPI. The caller moves the endpoint records between the ranks (an allgather) and decides how
 * to use a forecast. The module never calls back into MPI and never aborts the process.
 *
 * Life: open (first eligible call of the process) -> per communicator: endpoint record,
 * group_create, group_activate -> call_begin / forecast / call_end per call -> group_free -> close.
 *
 * Units: int64 ns, local or global as the name says; lengths in bytes; calls and ranks counted
 *   from 0.
 * Errors: CLV_NONE and CLV_AGAIN are answers; a failure costs forecasts, never a call, and always
 *   on all ranks.
 * Memory: groups are freed by their owner; a forecast points into the caller's array or the host's
 *   table, as its function says; the table is bounded at activation.
 * Threads: one group is used by one thread at a time (as MPI requires for a communicator);
 *   different groups by different threads at once. open, close, group_create and group_free may be
 *   called by any thread.
 */
#ifndef CLV_PAP_PREDICT_H
#define CLV_PAP_PREDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clocksync/clocksync.h"
#include "util/util_status.h"

#define CLV_PAP_ENDPOINT_BYTES  256 /* record that each rank sends the others once per group */
#define CLV_PAP_MAX_STREAMS     16  /* per group; the least recently used is replaced */
#define CLV_PAP_MAX_WINDOW      64  /* sampled calls remembered per stream */
#define CLV_PAP_MAX_COLLECTIVE  127
#define CLV_PAP_MAX_SEGMENTS    8191
#define CLV_PAP_MAX_TOTAL_BYTES ((INT64_C(1) << 43) - 1)
#define CLV_PAP_KEY_TABLE_BYTES 256 /* of a key_table, at most */

/* The predictors, one row each: stem, whether it needs more than arrivals, meaning. The stem is its
 * name, the word of coll_clv_predictor and the file that holds it (predict/pap_STEM.c: nothing but
 * that file, its row here and its line in module.mk make a predictor). The first is the default
 * (docs/decisions/0002); `best` needs what the others need, and breaks ties by their order here. */
/* clang-format off */
#define CLV_PAP_CHOOSER_MAP(XX)                                                                    \
    XX(best,     true,  "the predictor below with the least error in recent calls")
#define CLV_PAP_PURE_PREDICTOR_MAP(XX)                                                             \
    XX(periodic, false, "average of the calls at the same phase; of all when there is no period")  \
    XX(sma,      false, "simple moving average of the window")                                     \
    XX(ewma,     false, "exponentially weighted average, newest weighs most")                      \
    XX(median,   false, "median of the window, rank by rank")                                      \
    XX(compute,  true,  "exit of the last call plus the average computing time, rank by rank")     \
    XX(last,     false, "the arrivals of the newest call")
/* clang-format on */
#define CLV_PAP_PREDICTOR_MAP(XX) CLV_PAP_CHOOSER_MAP(XX) CLV_PAP_PURE_PREDICTOR_MAP(XX)

typedef enum clv_pap_predictor {
#define CLV_PAP_PREDICTOR_ENUM(stem, all_columns, meaning) clv_pap_predictor_##stem,
    CLV_PAP_PREDICTOR_MAP(CLV_PAP_PREDICTOR_ENUM)
#undef CLV_PAP_PREDICTOR_ENUM
        CLV_PAP_N_PREDICTORS
} clv_pap_predictor_t;

typedef struct clv_pap clv_pap_t;             /* one per process */
typedef struct clv_pap_group clv_pap_group_t; /* one per communicator */

/* Rank-equal settings. */
typedef struct clv_pap_options {
    int32_t sma_window;         /* sampled calls averaged, 1 .. CLV_PAP_MAX_WINDOW */
    int32_t predictor;          /* a clv_pap_predictor_t */
    const char *interface;      /* name, address or address/bits, below 64 characters; NULL: choose.
                                 * May differ between ranks, as the ports may */
    int32_t port_min;           /* the first port to listen on; 0: any */
    int32_t port_range;         /* and how many from there, 1 at least where port_min is given */
    int64_t connect_timeout_ns; /* a connection absent for this long is lost; a broken path is
                                 * detected in two thirds of it */
    int64_t patience_ns; /* after this wait a rank asks all to go on without the forecast; 0: never.
                          * May differ between ranks */
    bool has_relay;      /* the caller serves clv_pap_group_relay */
    bool records;        /* opened for recording: messages name that, not predictions */
} clv_pap_options_t;

/* The key of a stream; equal on all ranks by the MPI standard. */
typedef struct clv_pap_stream_key {
    int16_t collective;   /* the caller's number, 0 .. CLV_PAP_MAX_COLLECTIVE */
    int16_t max_segments; /* the caller's, too, 0 .. CLV_PAP_MAX_SEGMENTS */
    int32_t root;
    int64_t total_bytes; /* 0 .. CLV_PAP_MAX_TOTAL_BYTES */
} clv_pap_stream_key_t;

/* What all ranks know at a call. Arrays have n_ranks items. All times relative: integer ns. */
typedef struct clv_pap_forecast {
    int32_t n_ranks;
    int32_t n_record_sets;     /* valid record sets behind the prediction, 0 .. sma_window */
    int64_t version;           /* counts the slot's record sets; equal forecasts, equal versions */
    uint32_t generation;       /* of the stream in its slot */
    uint32_t hash;             /* of everything else and predicted_ns; never 0 */
    int64_t sigma_ns;          /* rms of (actual - predicted), relative to each call's mean */
    int64_t worst_error_ns;    /* largest |actual - predicted| in the newest set */
    int64_t mean_error_ns;     /* mean of the same over the ranks; -1: it judged no prediction */
    int64_t clock_error_ns;    /* largest clock error bound in the newest set */
    int64_t interval_ns;       /* mean time between sampled calls */
    int32_t sample_every;      /* K: the distance to the next sampled call */
    int32_t previous_choice;   /* what the call before the newest sampled one ran (caller's code) */
    int64_t previous_after_ns; /* its last exit - last arrival; -1 unknown */
    int64_t previous_in_mpi_ns; /* its mean of exit - arrival; -1 unknown */
    int32_t announced;          /* predicted_ns comes from hints of all ranks */
    int32_t hints_ignored;      /* hints come too late to wait for; clv only notes the next ones */
    int32_t predictor;          /* the predictor used, index into clv_pap_predictors[]; for `best`
                                 * the one it follows; -1: none, or announced */
    int32_t disagree; /* ranks reported different forecasts or choices: a bug; no forecast */
    const int64_t *predicted_ns; /* relative arrival, smallest is 0 */
} clv_pap_forecast_t;

/* The program's progress, by the newest record set: for judging the choices of calls, not for the
 * calls themselves. Agreed like its forecast. */
typedef struct clv_pap_progress {
    int64_t call;            /* number of the newest sampled call in its stream */
    int64_t last_arrival_ns; /* when its last rank arrived, global; 0: unknown */
    int64_t computing_ns; /* the longest time of a rank from its last exit to there; 0: unknown */
    int32_t is_decoupled; /* a rank arrived there before all ranks had left the previous call */
    int32_t last_rank;    /* the rank that arrived there last; -1: unknown, or clocks too inexact */
} clv_pap_progress_t;

/* The background thread of each host's leader calls it when a forecast is complete, before any rank
 * sees the forecast. Fills `node_plans` (zeroed, at least node_plans_bytes long, shared by the
 * host) with the node plans (opaque here) that the caller will find beside the forecast; returns
 * the bytes used (0: nothing). `key_table` is the key table that the ranks gave at the end of the
 * call before the newest sampled one. It should contain its own length, because old bytes may
 * follow it, up to key_table_bytes. It is zero if the stream had no earlier call, or if a rank
 * began the sampled call before the earlier one had ended; NULL if key_table_bytes is 0. `memory`
 * is state the caller keeps per stream (also zeroed at first, memory_bytes long): a deterministic
 * function of the forecasts, their progress and key tables so far. Must be a pure function of its
 * arguments. */
typedef size_t (*clv_pap_make_node_plans_t)(void *context, const clv_pap_stream_key_t *key,
                                            const clv_pap_forecast_t *forecast,
                                            const clv_pap_progress_t *progress,
                                            const void *key_table, void *memory, void *node_plans,
                                            size_t node_plans_bytes);

/* The background thread of each host's leader calls it at the local time that it returned last, and
 * whenever a rank wakes it; the leader's rank calls it once more, is_last, when it frees the group.
 * memory: the shares of the host's ranks (clv_pap_group_share), share_bytes apart. clock: of the
 * host, NULL while there is none. Returns the time of the next call, local ns. */
typedef int64_t (*clv_pap_tend_t)(void *context, unsigned char *memory, size_t share_bytes,
                                  const clv_cs_model_t *clock, int64_t now_ns, int is_last);

typedef struct clv_pap_hooks {
    clv_pap_make_node_plans_t make;
    void *context;
    size_t memory_bytes;
    size_t node_plans_bytes; /* upper bound per forecast; the table holds two per stream */
    size_t
        key_table_bytes; /* 0 .. CLV_PAP_KEY_TABLE_BYTES; the table holds two per stream, 8 KiB at
                              * most, and every rank one per stream */
    size_t share_bytes;  /* memory of each rank for the caller's own use, zeroed at first */
    clv_pap_tend_t tend; /* NULL: not used */
    void *tend_context;
    void (*after_tend)(void *tend_context); /* may block: called on the thread without its lock
                                             * after each tend but the last; or NULL */
} clv_pap_hooks_t;

/* ---- process ---------------------------------------------------------------------------- */

/* Prepares the process: listener, background thread (SCHED_BATCH, all signals blocked,
 * close-on-exec sockets). CLV_UNSUPPORTED: no usable interface; CLV_SYSTEM. */
clv_status_t clv_pap_open(const clv_pap_options_t *options, clv_pap_t **pap_p) CLV_MUST_CHECK;
/* Joins the thread and closes everything; groups must be freed before. NULL is fine. In a forked
 * child it only forgets. */
void clv_pap_close(clv_pap_t *pap);

/* ---- group: three steps, each after an exchange that the caller makes over MPI ----------- */

/* Step 1: this rank's endpoint record (CLV_PAP_ENDPOINT_BYTES bytes, zero padded). Rank 0's
 * endpoint record carries the key. n_ranks bounds the shared table. Keeps the reserved resources in
 * *group_p. */
clv_status_t clv_pap_group_create(clv_pap_t *pap, int32_t n_ranks, int32_t rank,
                                  const clv_pap_hooks_t *hooks, unsigned char *endpoint,
                                  clv_pap_group_t **group_p) CLV_MUST_CHECK;

/* Between the two steps, if a host has more network addresses than fit into an endpoint record: the
 * number of further bytes that each rank sends the others, equal on all ranks as the endpoint
 * records are; usually 0. The second function gives this rank's bytes. endpoints, stride: as
 * below. */
size_t clv_pap_more_bytes(const unsigned char *endpoints, size_t stride, int32_t n_ranks);
void clv_pap_group_more(const clv_pap_group_t *group, unsigned char *more, size_t n_bytes);

/* Step 2: the endpoint records of all ranks, stride bytes from one to the next, and the key of rank
 * 0, and the further bytes of all ranks; NULL: none. Finds the host's leader and attaches to its
 * table. The caller then agrees (allreduce MIN of success). CLV_UNSUPPORTED: two hosts have no
 * address at which they reach each other; CLV_NO_MEMORY. */
clv_status_t clv_pap_group_attach(clv_pap_group_t *group, const unsigned char *endpoints,
                                  size_t stride, const unsigned char *more) CLV_MUST_CHECK;

/* Step 3: only if every rank succeeded. From here on connections and the clock come up in the
 * background. Otherwise all ranks free the group and go on without predictions. */
clv_status_t clv_pap_group_activate(clv_pap_group_t *group) CLV_MUST_CHECK;

/* The ranks of this rank's host, increasing, *n_p of them, this rank among them. Valid after
 * attach, until group_free. */
const int32_t *clv_pap_group_host_ranks(const clv_pap_group_t *group, int32_t *n_p);

/* This rank's share, valid until group_free; NULL if share_bytes is 0. clv_pap_group_wake tells the
 * leader's thread to tend now; a system call. */
unsigned char *clv_pap_group_share(const clv_pap_group_t *group);
void clv_pap_group_wake(const clv_pap_group_t *group);
/* The number of this rank's host, where this rank is its leader, else -1; *n_hosts_p is set there.
 * Valid after attach, until group_free. */
int32_t clv_pap_group_leads(const clv_pap_group_t *group, int32_t *n_hosts_p);

/* Stops the group: its connections close, its table is unmapped. The other ranks do the same at
 * their own time. NULL is fine. */
void clv_pap_group_free(clv_pap_group_t *group);

/* The same for a communicator that failed, where no rank will ever call again: frees its resources
 * at once, although other hosts may not have left or may be dead. */
void clv_pap_group_abandon(clv_pap_group_t *group);

/* ---- calls -------------------------------------------------------------------------------- */

/* One call on this rank; the caller owns it from begin to end. The fields that depend on its stream
 * are set once its turn has come: when every earlier call of this group has been answered. */
typedef struct clv_pap_call {
    clv_pap_stream_key_t key;
    int64_t turn;             /* number on the group, from 0 */
    int64_t number;           /* of this stream, from 0 */
    int64_t forecast_version; /* the forecast this call waits for; 0: none yet */
    int64_t awaited_version;  /* the one it waits for now; 0: it does not wait */
    int64_t held_version;     /* the forecast it uses; 0: none */
    int64_t arrival_ns;       /* local */
    int32_t stream;           /* slot; -1: its turn has not come */
    bool sampled;             /* this call gives a record */
    uint32_t generation;      /* of its stream in that slot */
    uint32_t forecast_hash;   /* of the forecast it uses; 0: none */
    bool is_answered;
    bool is_open; /* has come and not ended */
} clv_pap_call_t;

/* Optional, some time before clv_pap_call_begin: prefetches the memory that the call will touch.
 * Changes nothing. */
void clv_pap_call_fetch(const clv_pap_group_t *group);

/* Numbers the call and, if it is sampled, gives this rank's record. No lock, no allocation, no
 * system call but at most one wake of the host's leader. local_ns: arrival, CLOCK_MONOTONIC.
 *
 * Calls may overlap: any number may be begun before the first one has ended, in the same order on
 * all ranks, as MPI asks for nonblocking collectives. The answers do not depend on when a rank
 * asks. The call begun first is answered first, so ask for all open calls, oldest first. */
void clv_pap_call_begin(clv_pap_group_t *group, const clv_pap_stream_key_t *key, int64_t local_ns,
                        clv_pap_call_t *call);

/* The forecast of this call. CLV_OK: *forecast_p (and *node_plans_p, its bytes in
 * *node_plans_bytes_p, both valid until call_end). CLV_AGAIN: not complete yet; the caller makes
 * MPI progress and asks again, until a rank that has not entered an earlier call gives the missing
 * record, or all ranks go on without (patience_ns), or the group is lost. Of overlapping calls, a
 * sampled one also waits until those that use the forecast which its record may replace have ended.
 * CLV_NONE: none for this call, on every rank. CLV_LOST: this host lost its connections for good
 * while others may have the forecast; the call must fail. Every call must be asked for until it
 * answers other than CLV_AGAIN (one that is not sampled and does not overlap never answers that):
 * the answer also tells when to sample next, and whose turn it is. */
clv_status_t clv_pap_call_forecast(clv_pap_group_t *group, clv_pap_call_t *call,
                                   const clv_pap_forecast_t **forecast_p, const void **node_plans_p,
                                   size_t *node_plans_bytes_p) CLV_MUST_CHECK;

/* What the call ran (the caller's own code, rank-equal) and when this rank left; calls may end in
 * any order. key_table: information for clv_pap_make_node_plans_t at the stream's next forecast:
 * n_bytes of it (key_table_bytes at most), rank-equal, copied; NULL when key_table_bytes is 0. It
 * goes with this stream's next record, from the host's first rank to its leader, never over the
 * network. */
void clv_pap_call_end(clv_pap_group_t *group, clv_pap_call_t *call, int32_t choice,
                      const void *key_table, size_t n_bytes, int64_t local_ns);

/* This rank will arrive at its next call in ns_from_now (the optional hint of clv.h). 1: taken; 0:
 * no call to apply it to, out of range, not a sampled call, or a second hint. */
bool clv_pap_hint(clv_pap_group_t *group, int64_t local_now_ns, int64_t ns_from_now);

/* Of the work before the next call, done of total is done (clv_hint_progress in clv.h; Improving
 * Clairvoyant, Fig. 9). 1: this report announced the arrival, as a hint does. Between two calls,
 * from any number of threads; a thread that finds another one inside returns 0 at once. */
bool clv_pap_hint_progress(clv_pap_group_t *group, double done, double total);

/* ---- the relay: where a connection stays away and MPI works --------------------------------- */

/* A host that loses its connection just after giving a record does not know the decision and must
 * learn it. With has_relay its messages then go over the caller's own transport, between the host's
 * leader and its neighbours'. The thread cannot use that transport, so the caller passes the
 * messages on whenever it makes progress and clv_pap_relays is not 0. Once a neighbour has used the
 * relay, its connection is not used again. */
typedef struct clv_pap_relay_ops {
    /* Messages of that rank may come from now on, of clv_pap_relay_bytes at most. Once a rank. */
    void (*listen)(void *context, int32_t rank);
    /* To be sent to that rank, in order, on a transport that loses nothing. The bytes are only
     * valid during the call. */
    void (*send)(void *context, int32_t rank, const void *bytes, size_t n_bytes);
} clv_pap_relay_ops_t;

/* Number of groups of this process that use the relay. One load. NULL is fine. */
int32_t clv_pap_relays(const clv_pap_t *pap);
/* Passes on what the group wants to receive and send since the last time; the callbacks must not
 * call back. */
void clv_pap_group_relay(clv_pap_group_t *group, const clv_pap_relay_ops_t *ops, void *context);
/* A message that came from that rank. */
void clv_pap_group_relay_take(clv_pap_group_t *group, int32_t rank, const void *bytes,
                              size_t n_bytes);
size_t clv_pap_relay_bytes(int32_t n_ranks);
/* To be asked before freeing the group. Non-zero: a neighbour still lacks messages of this host;
 * free the group later, while making progress, or, if that takes too long, never. */
bool clv_pap_group_is_owing(clv_pap_group_t *group);
/* Non-zero: a neighbour without a connection, now or earlier, may have sent a message over the
 * caller's transport that arrives after the group is freed; it must not be taken for another
 * group's. */
bool clv_pap_group_is_apart(clv_pap_group_t *group);

/* ---- a call that failed ---------------------------------------------------------------------- */

/* A call of this rank has failed in the middle, and other ranks may wait for its messages: tells
 * all ranks on connected hosts. It also ends predictions. */
void clv_pap_group_break(clv_pap_group_t *group);
/* Non-zero once a rank has reported such a failure. A load. */
bool clv_pap_group_is_broken(const clv_pap_group_t *group);

/* ---- looking ------------------------------------------------------------------------------ */

/* Non-zero once predictions of this group have ended for good. */
bool clv_pap_group_is_lost(const clv_pap_group_t *group);

/* The group's global time for a local one, with its error bound. CLV_AGAIN: clock not ready. */
clv_status_t clv_pap_global_time(clv_pap_group_t *group, int64_t local_ns, int64_t *global_ns_p,
                                 int64_t *error_ns_p) CLV_MUST_CHECK;

/* Counters, one row each. coll_clv_tables.h has the words of those that users read. */
/* clang-format off */
#define CLV_PAP_COUNTER_MAP(XX)                                                                    \
    XX(calls)                                                                                      \
    XX(sampled)                                                                                    \
    XX(forecasts)                                                                                  \
    XX(judged)              /* sampled calls whose arrivals checked a prediction */                \
    XX(judged_error_ns)     /* sum over these of the mean absolute error over all ranks */         \
    XX(forecast_waits)      /* calls that waited for their forecast */                             \
    XX(forecast_wait_ns)                                                                           \
    XX(displaced)           /* kinds of calls that displaced one of the 16 that a group keeps */    \
    XX(void_record_sets)                                                                           \
    XX(invalid_record_sets) /* skipped because a record was marked invalid */                      \
    XX(lost_groups)                                                                                \
    XX(rejected)                                                                                   \
    XX(sent_bytes)                                                                                 \
    XX(received_bytes)                                                                             \
    XX(thread_cpu_ns)
/* clang-format on */

typedef struct clv_pap_counters {
#define CLV_PAP_COUNTER_FIELD(name) int64_t name;
    CLV_PAP_COUNTER_MAP(CLV_PAP_COUNTER_FIELD)
#undef CLV_PAP_COUNTER_FIELD
} clv_pap_counters_t;

/* A snapshot of the process's counters; NULL pap gives zeros. */
void clv_pap_read_counters(const clv_pap_t *pap, clv_pap_counters_t *counters);

/* The longest wait of a call of this process for its forecast that has ended, ns; NULL pap: 0. */
int64_t clv_pap_longest_wait_ns(const clv_pap_t *pap);

#endif
