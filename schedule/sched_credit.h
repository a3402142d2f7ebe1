/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How far a rank may run ahead of the ranks it sends to: credit in bytes, given by the receiver.
 *
 *   sender                                   receiver
 *   may it send?  data ------------------->  posts receives in the order of the plan
 *   takes      <------------------- message  when a call begins, if a quarter of the guarantee was
 *                                            posted since the last, or in it, when most of one was
 *
 * What: the credit of both ends of a pair of ranks in one communicator, and of the process, which
 * all its pairs share. A byte is *ahead* from the moment it is sent until its receive is posted;
 * only bytes ahead can be unexpected at a receiver. A pair may have ahead
 *   guaranteed   promised for the communicator's whole life when its credit is opened, the same for
 *                every possible sender, so that a plan with a new order finds some; and
 *   granted      more, given to actual senders, valid for a number of calls only; so the receiver
 *                drops a sender that the plans no longer use without a message.
 * Not: messages, MPI, waiting. The caller carries credit messages and asks again.
 *
 * The bound: guarantees and grants of all communicators together never exceed the bytes of the
 * pool, and no more bytes are ever ahead towards its process. No hang: a rank that waits for credit
 * waits for a receive that its peer will post. No message is left over: the number of credit
 * messages is a function of the data and of where calls begin, so the sender knows how many are
 * still to come. Proofs: docs/design/credit.md; all interleavings of small cases:
 * tests/schedule/test_sched_credit.
 *
 * Cost: O(1).
 *
 * Units: bytes are charged bytes (clv_credit_charge). Calls are numbered per communicator, the
 *   same on all ranks.
 * Errors: none: no credit is an answer.
 * Memory: the structs are the caller's; nothing is allocated.
 * Threads: one at a time per pair; the pool is locked by its caller.
 */
#ifndef CLV_SCHED_CREDIT_H
#define CLV_SCHED_CREDIT_H

#include <stdbool.h>
#include <stdint.h>

/* What a message costs a receiver that does not expect it, beside its bytes: its descriptor. */
#define CLV_CREDIT_MESSAGE_BYTES 512

/* What this process may be made to hold, shared by its communicators. */
typedef struct clv_credit_pool {
    int64_t bytes;
    int64_t grant_calls; /* a grant that is not renewed ends after so many calls */
    int64_t guaranteed;  /* promised as guarantees, until the communicator is freed */
    int64_t granted;     /* held by grants */
    int64_t n_grants;    /* pairs with a grant */
} clv_credit_pool_t;

/* What a receiver tells a sender. The newest credit message replaces the older ones. */
typedef struct clv_credit_message {
    int64_t posted;  /* bytes of this pair posted so far, since the communicator's first call */
    int64_t limit;   /* as many may have been sent ... */
    int64_t through; /* ... in calls up to this one */
} clv_credit_message_t;

/* The sender's end of a pair. */
typedef struct clv_credit_to {
    int64_t guaranteed;
    int64_t sent;
    int64_t unreported; /* of these, since the last credit message that is owed */
    int64_t n_owed; /* credit messages that the receiver tells for what was sent, sooner or later */
    int64_t n_taken; /* credit messages taken */
    clv_credit_message_t message;
} clv_credit_to_t;

/* The receiver's end of a pair. */
typedef struct clv_credit_from {
    int64_t guaranteed;
    int64_t posted;
    int64_t unreported; /* of these, since the last credit message */
    int64_t limit;      /* told last */
    int64_t held;       /* grant taken from the pool */
    int64_t through;    /* last call of the grant */
} clv_credit_from_t;

/* Bytes a message of n_bytes is charged. */
int64_t clv_credit_charge(int64_t n_bytes);

/* A pool of n_bytes >= 0, all free; grants of grant_calls >= 1. */
void clv_credit_pool_open(clv_credit_pool_t *pool, int64_t n_bytes, int64_t grant_calls);

/* The guarantee for each of n_sources possible senders of a communicator, taken from the pool: half
 * of what is free, in equal parts. Too small for a message, it is 1 and nothing is taken: such a
 * pair has nothing ahead but by grant. To be given back by clv_credit_guarantee_close with the same
 * values.
 */
int64_t clv_credit_guarantee_open(clv_credit_pool_t *pool, int32_t n_sources);
void clv_credit_guarantee_close(clv_credit_pool_t *pool, int64_t guaranteed, int32_t n_sources);

/* ---- the sender's end; all zero but for the guarantee at first ---- */

/* Whether a message of `charge` may be sent in this call. Without credit a credit message will come
 * that allows it, as soon as the peer posts its receive. */
bool clv_credit_may_send(const clv_credit_to_t *to, int64_t call, int64_t charge);
void clv_credit_sent(clv_credit_to_t *to, int64_t charge);
void clv_credit_take(clv_credit_to_t *to, const clv_credit_message_t *message);

/* The next call begins; to be said by both ends of a pair that had a message in the one before. */
void clv_credit_begin_to(clv_credit_to_t *to);

/* Bytes sent that the receiver has not said to have posted. */
int64_t clv_credit_ahead(const clv_credit_to_t *to);

/* ---- the receiver's end; all zero but for the guarantee at first ---- */

/* This rank is in the call now: a grant that has ended goes back to the pool. Need not be said in
 * every call; until it is, an ended grant is held for nothing. */
void clv_credit_enter(clv_credit_from_t *from, clv_credit_pool_t *pool, int64_t call);

/* A receive of `charge` is posted. 1: *message_p must be told to the sender now; 0: nothing to
 * tell.
 */
bool clv_credit_posted(clv_credit_from_t *from, clv_credit_pool_t *pool, int64_t call,
                       int64_t charge, clv_credit_message_t *message_p);

/* The next call begins, see clv_credit_begin_to. Answers as clv_credit_posted. */
bool clv_credit_begin_from(clv_credit_from_t *from, clv_credit_pool_t *pool, int64_t call,
                           clv_credit_message_t *message_p);

/* The grant goes back to the pool; nothing will be sent on it any more. */
void clv_credit_close(clv_credit_from_t *from, clv_credit_pool_t *pool);

#endif
