/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Synthetic traces with known truth: ranks on hosts, one clock per host with offset, drift and
 * wander; messages and collectives of every flavour between two pauses, as in the paper's
 * benchmark. The stamps are clock readings, presynchronised as by a tool; the true times are kept.
 *
 * Units: ns. One thread per trace. clc_synth_free frees everything.
 */
#ifndef CLC_SYNTH_H
#define CLC_SYNTH_H

#include "apps/clc/clc.h"
#include "tests/sim/cs_random.h"

typedef enum clc_synth_presync {
    CLC_SYNTH_NONE,     /* raw stamps, up to an hour apart */
    CLC_SYNTH_ENDS,     /* offsets measured at begin and end, a line between them */
    CLC_SYNTH_PIECEWISE /* one point per 30 s */
} clc_synth_presync_t;

typedef struct clc_synth_config {
    int n_ranks, per_host, n_ops;
    clc_synth_presync_t presync;
    double pause_ns, wander_ns, offset_error_ns;
    double intra_ns, inter_ns; /* minimum delays; a real one is longer by an exponential share */
    double jitter;             /* mean of that share */
    int64_t tick_ns;           /* stamps are rounded down to it; 0: 1 ns */
    double collective_share;   /* of all operations */
    int is_line_per_host;
} clc_synth_config_t;

typedef struct clc_synth {
    clv_clc_trace_t trace;
    double **truth; /* [track][event] */
    uint32_t *track_of_line;
    clc_synth_config_t config;
    int64_t n_events;
    struct {
        uint64_t messages, collectives, members;
        uint32_t teams;
        int64_t *events;
    } slots;
} clc_synth_t;

/* Aborts when out of memory. */
void clc_synth_make(clc_synth_t *synth, const clc_synth_config_t *config, cs_random_t *random);
void clc_synth_free(clc_synth_t *synth);

/* The error of corrected stamps (or stamps) at collectives: mean error of the lateness relative to
 * the true last rank, in us, and in how many collectives another rank seems to be last. */
typedef struct clc_synth_error {
    double mean_us;
    int64_t n_collectives, n_wrong_last;
} clc_synth_error_t;
clc_synth_error_t clc_synth_judge(const clc_synth_t *synth, clv_clc_which_t which);

#endif
