/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct: what several processes do together that share a trace. A program is linked with one
 * of two: correct_alone.c, where one process has all and most of this is nothing, or
 * apps/tools/replay/, where mpirun has started several.
 *
 * All processes call the same of these functions in the same order, whatever went wrong in one of
 * them: a failure is told by correct_crew_agree, and then all stop.
 *
 * Units: ticks, bytes. Errors: as in correct.h. Threads: one.
 */
#ifndef CLV_CORRECT_CREW_H
#define CLV_CORRECT_CREW_H

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stddef.h>

#include "apps/tools/correct/correct.h"

/* Begins; of several processes only the first one's words are heard from here on. */
void correct_crew_begin(int *argc, char ***argv);
/* The exit status of all: the largest; and that of this process, when it has ended. */
int correct_crew_status(int status);
int correct_crew_exit(int status);
void correct_crew_end(correct_t *correct);
bool correct_crew_is_first(void);

/* Whether all are good; if not, the failure of the first that failed becomes that of all. */
bool correct_crew_agree(bool is_good);

/* The same of memory for something. */
static inline bool correct_crew_has(bool is_there, const char *what)
{
    return correct_crew_agree(is_there ||
                              correct_fail(CORRECT_EXIT_MACHINE, "out of memory for %s", what)) &&
           is_there;
}

/* ---- values of all, the same for all afterwards ---- */
typedef enum correct_reduce {
    CORRECT_SUM, /* int64_t */
    CORRECT_LEAST,
    CORRECT_GREATEST,
    CORRECT_SUM_REAL, /* double; whole numbers below 2^53, so that no order of adding matters */
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

/* The first one's. */
void correct_crew_tell(void *bytes, size_t n_bytes);
/* Items of all, in the order of processes, at the first; none elsewhere. *items is of util_alloc.h
 * and replaced. 0 after correct_fail. */
bool correct_crew_collect(void **items, size_t *n_items, size_t item_bytes);

/* ---- the steps of clv-correct ---- */

/* After the definitions: who has which location (is_away), and correct->share. */
bool correct_crew_share(correct_t *correct);
/* Between reading and clv_clc_match_join: channels with one end elsewhere. */
bool correct_crew_join(correct_t *correct);
/* After binding: correct->whole, and which collectives hold together. */
bool correct_crew_settle(correct_t *correct);
/* Stamps that messages and members hold go to where they are whole. */
void correct_crew_gather(const correct_t *correct);
/* Between the passes: receives and exits go to those who wait for them. */
void correct_crew_limit(const correct_t *correct, const clv_clc_config_t *config);
bool correct_crew_share_offsets(correct_t *correct);
/* A number for a message or collective (at: after all messages) of whole that orders those of all
 * processes as one process would have them. */
uint64_t correct_crew_key(const correct_t *correct, uint64_t at);
/* An OTF2_Archive that is written by all; each has one. */
OTF2_ErrorCode correct_crew_write(OTF2_Archive *archive);

#endif
