/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct: the joint operations of processes that share a trace. A program is linked with one
 * of two versions: correct_alone.c, for one process, where most of them do nothing, or
 * apps/tools/replay/, for several processes under mpirun.
 *
 * All processes call the same functions in the same order, even after a failure in one of them.
 * correct_crew_agree makes a failure known to all, and then all stop.
 *
 * Units: ticks, bytes. Errors: as in correct.h. Threads: one.
 */
#ifndef CLV_CORRECT_CREW_H
#define CLV_CORRECT_CREW_H

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stddef.h>

#include "apps/tools/correct/correct.h"

/* Begins. From here on, only the first process prints. */
void correct_crew_begin(int *argc, char ***argv);
/* The common exit status: the largest; and this process's exit status at its end. */
int correct_crew_status(int status);
int correct_crew_exit(int status);
void correct_crew_end(correct_t *correct);
bool correct_crew_is_first(void);

/* Whether all succeeded; otherwise the failure of the first process that failed becomes that of
 * all. */
bool correct_crew_agree(bool is_good);

/* The same for an allocation. */
static inline bool correct_crew_has(bool is_there, const char *what)
{
    return correct_crew_agree(is_there ||
                              correct_fail(CORRECT_EXIT_MACHINE, "out of memory for %s", what)) &&
           is_there;
}

/* ---- values of all processes, combined, equal on all afterwards ---- */
typedef enum correct_reduce {
    CORRECT_SUM, /* int64_t */
    CORRECT_LEAST,
    CORRECT_GREATEST,
    CORRECT_SUM_REAL, /* double; whole numbers below 2^53, so the order of adding does not matter */
    CORRECT_GREATEST_REAL,
    CORRECT_LEAST_DELAY /* clv_clc_delay_t */
} correct_reduce_t;
void correct_crew_reduce(void *values, size_t n, correct_reduce_t how);

static inline void correct_crew_sum(int64_t *values, size_t n)
{
    correct_crew_reduce(values, n, CORRECT_SUM);
}

static inline void correct_crew_least(int64_t *values, size_t n)
{
    correct_crew_reduce(values, n, CORRECT_LEAST);
}

static inline void correct_crew_greatest(int64_t *values, size_t n)
{
    correct_crew_reduce(values, n, CORRECT_GREATEST);
}

/* Broadcasts the first process's bytes. */
void correct_crew_tell(void *bytes, size_t n_bytes);
/* Collects the items of all processes, in process order, on the first; the others then have none.
 * *items is from util_alloc.h and is replaced. False after correct_fail. */
bool correct_crew_collect(void **items, size_t *n_items, size_t item_bytes);

/* ---- the steps of clv-correct ---- */

/* After the definitions: assigns locations to processes (is_away), and sets correct->share. */
bool correct_crew_share(correct_t *correct);
/* Between reading and clv_clc_match_join: exchanges the channels with one end elsewhere. */
bool correct_crew_join(correct_t *correct);
/* After binding: sets correct->whole, and decides which collectives are consistent. */
bool correct_crew_settle(correct_t *correct);
/* Sends the stamps that messages and members hold to the processes that have them in whole. */
void correct_crew_gather(const correct_t *correct);
/* Between the passes: sends receives and exits to the processes that need them as limits. */
void correct_crew_limit(const correct_t *correct, const clv_clc_config_t *config);
bool correct_crew_share_offsets(correct_t *correct);
/* A number that orders the messages and collectives (at: after all messages) of whole across all
 * processes, in the order of a single process. */
uint64_t correct_crew_key(const correct_t *correct, uint64_t at);
/* All processes write an OTF2_Archive; each has its own handle. */
OTF2_ErrorCode correct_crew_write(OTF2_Archive *archive);

#endif
