/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The state that a process has once for all its communicators: the background channel, and the
 * clock of the newest communicator that joined it.
 *
 * Threads: any function by any thread at any time; one lock, held for the length of a look.
 * Cost: no system call, but for opening and closing.
 */
#ifndef COLL_CLV_PROCESS_H
#define COLL_CLV_PROCESS_H

#include <stdbool.h>

#include "coll_clv/coll_clv_tables.h"
#include "choose/choose_node_plan.h"
#include "pap_predict/pap_predict.h"

/* Who was last most often, in a communicator with so many sampled calls. */
typedef struct coll_clv_late {
    int64_t n_sets; /* sampled calls; 0: nobody counted */
    int64_t n_last;
    int32_t rank;
} coll_clv_late_t;
/* True: more was seen there than in what late has been so far. The thread counts meanwhile. */
bool coll_clv_process_add_late(coll_clv_late_t *late, const clv_chooser_t *chooser);

/* A communicator's clock, in the list of those there are; all zero but pap and chooser at first. */
typedef struct coll_clv_clock {
    clv_pap_group_t *pap;
    const clv_chooser_t *chooser;
    struct coll_clv_clock *older;
    struct coll_clv_clock *newer;
} coll_clv_clock_t;

/* The channel, opened by whoever asks first. The status is clv_pap_open's. */
clv_status_t coll_clv_process_open(const clv_pap_options_t *options, clv_pap_t **pap_p);
/* Ends the channel (component close); all groups are gone. */
void coll_clv_process_close(void);

/* From here on others may look at the clock ... */
void coll_clv_process_show_clock(coll_clv_clock_t *clock);
/* ... and when this returns nobody looks any more. Fine for one that was never shown. */
void coll_clv_process_hide_clock(coll_clv_clock_t *clock);

/* How many groups have to do with the relay (coll_clv_relay.h). One load or two. */
int32_t coll_clv_process_relays(void);

/* The channel's counters. */
void coll_clv_process_counters(clv_pap_counters_t *counters);
/* The newest group's clock, how good predictions were, and who was late: late, of groups that are
 * gone, and those there are. */
void coll_clv_process_gauges(coll_clv_gauges_t *gauges, coll_clv_late_t late);

#endif
