/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Credit for running ahead: guarantees, grants and the credit messages that carry them.
 */
#include "schedule/sched_credit.h"

#include "util/util_min_max.h"

/* Parts of a guarantee that may be used without a credit message, during a call and when the next
 * call begins. Rare messages cost nothing, and a message at the beginning of a call costs less: if
 * a receiver answers while data come in, its kernel takes it for one end of a dialogue and
 * acknowledges late. */
#define PARTS   8
#define IN_CALL 7
#define BETWEEN 2

/* Never more than the guarantee: a sender that waits for a posted receive must get a credit message
 * that allows the send. Both ends see the same messages of a pair in the same calls and order, so
 * they agree on the credit messages. */
static bool is_due(int64_t guaranteed, int64_t *unreported_p, int64_t n_parts)
{
    if (*unreported_p < clv_larger(1, guaranteed / PARTS * n_parts)) {
        return false;
    }
    *unreported_p = 0;
    return true;
}

int64_t clv_credit_charge(int64_t n_bytes)
{
    return n_bytes + CLV_CREDIT_MESSAGE_BYTES;
}

/* ---- the pool ---- */

void clv_credit_pool_open(clv_credit_pool_t *pool, int64_t n_bytes, int64_t grant_calls)
{
    *pool = (clv_credit_pool_t){.bytes = n_bytes, .grant_calls = grant_calls};
}

static int64_t pool_free(const clv_credit_pool_t *pool)
{
    return pool->bytes - pool->guaranteed - pool->granted;
}

/* A guarantee of 1 has no room for a message and is not accounted for. */
static int64_t guarantees_cost(int64_t guaranteed, int32_t n_sources)
{
    return guaranteed > 1 ? guaranteed * n_sources : 0;
}

int64_t clv_credit_guarantee_open(clv_credit_pool_t *pool, int32_t n_sources)
{
    int64_t guaranteed = n_sources > 0 ? pool_free(pool) / 2 / n_sources : 0;

    guaranteed = guaranteed < CLV_CREDIT_MESSAGE_BYTES ? 1 : guaranteed;
    pool->guaranteed += guarantees_cost(guaranteed, n_sources);
    return guaranteed;
}

void clv_credit_guarantee_close(clv_credit_pool_t *pool, int64_t guaranteed, int32_t n_sources)
{
    pool->guaranteed -= guarantees_cost(guaranteed, n_sources);
}

/* ---- the sender's end ---- */

bool clv_credit_may_send(const clv_credit_to_t *to, int64_t call, int64_t charge)
{
    int64_t limit = to->message.posted + to->guaranteed;

    if (call <= to->message.through) {
        limit = clv_larger(limit, to->message.limit);
    }
    return to->sent + charge <= limit;
}

void clv_credit_sent(clv_credit_to_t *to, int64_t charge)
{
    to->sent += charge;
    to->unreported += charge;
    to->n_owed += is_due(to->guaranteed, &to->unreported, IN_CALL);
}

void clv_credit_begin_to(clv_credit_to_t *to)
{
    to->n_owed += is_due(to->guaranteed, &to->unreported, BETWEEN);
}

void clv_credit_take(clv_credit_to_t *to, const clv_credit_message_t *message)
{
    to->message = *message;
    to->n_taken++;
}

int64_t clv_credit_ahead(const clv_credit_to_t *to)
{
    return clv_larger(0, to->sent - to->message.posted);
}

/* ---- the receiver's end ---- */

/* Returns to the pool what the pair held, and takes what is wanted as far as the pool has it. */
static void grant_hold(clv_credit_from_t *from, clv_credit_pool_t *pool, int64_t wanted)
{
    int64_t held = clv_smaller(wanted, pool_free(pool) + from->held);

    pool->n_grants += (held > 0) - (from->held > 0);
    pool->granted += held - from->held;
    from->held = held;
}

/* The share if one more pair had a grant, so that the next pair finds some. */
static int64_t fair_grant(const clv_credit_from_t *from, const clv_credit_pool_t *pool)
{
    int64_t n_grants = pool->n_grants + (from->held == 0);
    return (pool->bytes - pool->guaranteed) / (n_grants + 1);
}

void clv_credit_close(clv_credit_from_t *from, clv_credit_pool_t *pool)
{
    grant_hold(from, pool, 0);
}

/* All that was sent on the grant was sent in calls that this rank has left, so it was received. */
void clv_credit_enter(clv_credit_from_t *from, clv_credit_pool_t *pool, int64_t call)
{
    if (from->held > 0 && call > from->through) {
        clv_credit_close(from, pool);
    }
}

/* The old limit remains a promise until messages have passed it: what it still allows stays
 * held. */
static void grant_renew(clv_credit_from_t *from, clv_credit_pool_t *pool, int64_t call)
{
    int64_t promised = from->held > 0 ? from->limit - from->posted - from->guaranteed : 0;

    grant_hold(from, pool, clv_larger(promised, fair_grant(from, pool)));
    from->limit = from->posted + from->guaranteed + from->held;
    from->through = call + pool->grant_calls;
}

/* Whether a credit message is due, where n_parts may be used without one. If so, renews the
 * grant. */
static bool tell_if_due(clv_credit_from_t *from, clv_credit_pool_t *pool, int64_t call,
                        int64_t n_parts, clv_credit_message_t *message_p)
{
    if (!is_due(from->guaranteed, &from->unreported, n_parts)) {
        return false;
    }
    grant_renew(from, pool, call);
    *message_p = (clv_credit_message_t){
        .posted = from->posted, .limit = from->limit, .through = from->through};
    return true;
}

bool clv_credit_posted(clv_credit_from_t *from, clv_credit_pool_t *pool, int64_t call,
                       int64_t charge, clv_credit_message_t *message_p)
{
    from->posted += charge;
    from->unreported += charge;
    return tell_if_due(from, pool, call, IN_CALL, message_p);
}

bool clv_credit_begin_from(clv_credit_from_t *from, clv_credit_pool_t *pool, int64_t call,
                           clv_credit_message_t *message_p)
{
    return tell_if_due(from, pool, call, BETWEEN, message_p);
}
