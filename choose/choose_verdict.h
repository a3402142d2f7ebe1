/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The verdict on whether clv helped, in one sentence with its figure: faster by, slower by, or why
 * that is unknown.
 *
 * It compares measurements (choose_gain.h) and gives their number. A difference no larger than that
 * between the program's own blocks of calls counts as unknown.
 *
 * PURE.
 *
 * Units: ns; seconds and milliseconds in the sentence.
 * Errors: none; a sentence that is too long is cut.
 * Memory: none.
 * Threads: safe.
 */
#ifndef CLV_CHOOSE_VERDICT_H
#define CLV_CHOOSE_VERDICT_H

#include "choose/choose.h"

typedef struct clv_verdict_facts {
    const clv_choose_config_t *config;
    clv_choose_gains_t gains; /* of the streams that are decided here */
    int64_t run_ns;           /* from the first call to the end of the last */
    int64_t n_calls;          /* all that reached clv ... */
    int64_t n_previous;       /* ... and those in which the function before it ran ... */
    int32_t reason;           /* ... most of them for this one, a clv_reason_t */
    int64_t n_timed;          /* calls in groups: their exchange, if any, saw them */
} clv_verdict_facts_t;

typedef enum clv_verdict {
    CLV_VERDICT_UNKNOWN, /* cannot be told */
    CLV_VERDICT_SAME,    /* nothing of clv's ran */
    CLV_VERDICT_FASTER,
    CLV_VERDICT_SLOWER
} clv_verdict_t;

clv_verdict_t clv_choose_verdict(const clv_verdict_facts_t *facts);
/* The same as a sentence. */
void clv_choose_print_verdict(char *text, size_t size, const clv_verdict_facts_t *facts);

#endif
