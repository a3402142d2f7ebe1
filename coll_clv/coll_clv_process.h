/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The state of a process, shared by all its communicators: the background channel, and the clock of
 * the newest communicator that joined it.
 *
 * Threads: any function by any thread at any time; one lock, held briefly.
 * Cost: no system call, except to open and close.
 */
#ifndef COLL_CLV_PROCESS_H
#define COLL_CLV_PROCESS_H

#include <stdbool.h>

#include "coll_clv/coll_clv_tables.h"
#include "choose/choose_node_plan.h"
#include "pap_predict/pap_predict.h"

/* The rank that was last most often, in a communicator with n_sets sampled calls. */
typedef struct coll_clv_late {
    int64_t n_sets; /* sampled calls; 0: not counted */
    int64_t n_last;
    int32_t rank;
} coll_clv_late_t;
/* Replaces late if the chooser has seen more record sets. True: it did. The thread may be
 * counting. */
bool coll_clv_process_add_late(coll_clv_late_t *late, const clv_chooser_t *chooser);

/* A communicator's clock, in a list of all. All zero at first, except pap and chooser. */
typedef struct coll_clv_clock {
    clv_pap_group_t *pap;
    const clv_chooser_t *chooser;
    struct coll_clv_clock *older;
    struct coll_clv_clock *newer;
} coll_clv_clock_t;

/* The channel; the first caller opens it. The status is that of clv_pap_open. */
clv_status_t coll_clv_process_open(const clv_pap_options_t *options, clv_pap_t **pap_p);
/* Ends the channel (component close), after all groups are freed. */
void coll_clv_process_close(void);

/* From here on other threads may read the clock ... */
void coll_clv_process_show_clock(coll_clv_clock_t *clock);
/* ... and when this returns, no thread reads it any more. Fine for a clock never shown. */
void coll_clv_process_hide_clock(coll_clv_clock_t *clock);

/* Groups that use the relay (coll_clv_relay.h). Costs one load or two. */
int32_t coll_clv_process_relays(void);

/* The channel's counters. */
void coll_clv_process_counters(clv_pap_counters_t *counters);
/* The clock of the newest group, the quality of predictions, and the rank that is late most often:
 * of freed groups (late) and of present ones. */
void coll_clv_process_gauges(coll_clv_gauges_t *gauges, coll_clv_late_t late);

#endif
