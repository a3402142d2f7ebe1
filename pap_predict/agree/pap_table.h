/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The host's table: memory shared by the ranks of one host and their leader's thread.
 *
 *      ranks write                                     the leader's thread writes
 *      records[half][local rank]   --- last one --->  reads them, computes a forecast
 *      given[half] (how many)          rings          forecasts[half], node_plans[half]
 *      key_tables[half], the first rank
 *      pending, bell                                   clock model (seqlock), ends, decided
 *      asked: waited for too long
 *      broken: a call has failed                       broken: a call elsewhere has failed
 *                                                      expected: it looks without a bell
 *
 * A half is one of the two of a slot: version v (the record of sequence v - 1, and the forecast
 * that follows that record set) is in half 2 * slot + (v & 1), tagged with v. Two are enough: a
 * rank gives record v + 2 only after it has forecast v, which needed every record v. Forecast v + 2
 * needs every record v + 2, so by then no rank reads forecast v (docs/design/protocol.md).
 *
 * The memory is a memfd of the leader, opened by the others through /proc: it has no name, so
 * nothing can be left behind. It is sparse: unused parts cost address space only (but see
 * clv_pap_table_reserve).
 *
 * Not: streams, or the meaning of a record (opaque words here). No lock and no system call except
 * in create, open and close.
 */
#ifndef CLV_PAP_TABLE_H
#define CLV_PAP_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clocksync/clocksync.h"
#include "pap_predict/pap_predict.h"

#define CLV_PAP_HALVES       (2 * CLV_PAP_MAX_STREAMS)
#define CLV_PAP_RECORD_WORDS 7 /* and the tag: one cache line per record */

typedef struct clv_pap_table clv_pap_table_t;

/* The sizes of the memory, equal in every process of the host. In bytes, rounded up to cache lines:
 * 32 halves of (64 + 8) n_ranks + node_plans_bytes + key_table_bytes, and n_ranks shares. */
typedef struct clv_pap_table_shape {
    int32_t n_ranks;         /* of this host, at most */
    size_t node_plans_bytes; /* of one forecast */
    size_t key_table_bytes;  /* at most CLV_PAP_KEY_TABLE_BYTES */
    size_t share_bytes;      /* of a rank's share */
} clv_pap_table_shape_t;

/* Creates the memory for a group. The caller closes *fd_p (close-on-exec) when every other rank has
 * opened it. CLV_LIMIT: the sizes do not fit. CLV_NO_MEMORY: refused, for instance by a limit of
 * this process; the log says why, once. */
clv_status_t clv_pap_table_create(const clv_pap_table_shape_t *shape, uint64_t token,
                                  clv_pap_table_t **table_p, int *fd_p) CLV_MUST_CHECK;

/* Allocates all pages now if the kernel does not overcommit, where a missing page would be a SIGBUS
 * at its first touch. Otherwise pages are allocated as they are touched, and most never are.
 * always: allocates in any case. CLV_NO_MEMORY. */
clv_status_t clv_pap_table_reserve(const clv_pap_table_t *table, int fd, int always) CLV_MUST_CHECK;

/* Opens the memory that process pid created under descriptor fd. CLV_PROTOCOL: it is not a table of
 * that shape and token. CLV_NO_MEMORY: no address space. CLV_SYSTEM: not allowed, or gone. */
clv_status_t clv_pap_table_open(const clv_pap_table_shape_t *shape, uint64_t token, uint32_t pid,
                                uint32_t fd, clv_pap_table_t **table_p) CLV_MUST_CHECK;
void clv_pap_table_close(clv_pap_table_t *table);               /* NULL is fine */
size_t clv_pap_table_bytes(const clv_pap_table_shape_t *shape); /* 0: does not fit */

static inline int32_t clv_pap_half(int32_t slot, int64_t version)
{
    return 2 * slot + (int32_t) (version & 1);
}

/* ---- ranks -> leader ---------------------------------------------------------------------- */

/* Gives the local rank's record for version (>= 1) of slot. The last of n_local ranks marks the
 * half as pending. Non-zero: that was this one, and the leader's thread does not look there by
 * itself. */
bool clv_pap_table_give(clv_pap_table_t *table, int32_t local_rank, int32_t n_local, int32_t slot,
                        int64_t version, const uint64_t record[CLV_PAP_RECORD_WORDS]);

/* Sets the key table for a version, n_bytes of it (NULL: all zeros). The first local rank calls it
 * before it gives its record of that version; its leader reads the table after it has taken that
 * record. keys: NULL if the shape has no key table. */
void clv_pap_table_set_keys(clv_pap_table_t *table, int32_t slot, int64_t version,
                            const void *key_table, size_t n_bytes);
const void *clv_pap_table_keys(const clv_pap_table_t *table, int32_t slot, int64_t version);

/* Prefetches the lines that giving that record will write, and those of the forecast before it. */
void clv_pap_table_fetch(const clv_pap_table_t *table, int32_t local_rank, int32_t slot,
                         int64_t version);

/* pull: non-zero: the caller must wake the leader's thread; 0: another rank has done so since it
 * last looked. answer: the thread looks now; returns the pending halves as bits and clears them. */
bool clv_pap_table_pull_bell(clv_pap_table_t *table);
uint32_t clv_pap_table_answer(clv_pap_table_t *table);
bool clv_pap_table_is_pending(const clv_pap_table_t *table); /* whether any half is */

/* slots: bits of the slots at which the thread looks by itself. When a bit is cleared ranks ring
 * again, but the caller must look once more: a rank may have given before it could see that. */
void clv_pap_table_expect(clv_pap_table_t *table, uint32_t slots);

/* The newest version with records in half, and the number of its records. */
int64_t clv_pap_table_given(const clv_pap_table_t *table, int32_t half, int32_t *n_given_p);
/* CLV_NONE: the record is of another version. */
clv_status_t clv_pap_table_take(const clv_pap_table_t *table, int32_t local_rank, int32_t slot,
                                int64_t version,
                                uint64_t record[CLV_PAP_RECORD_WORDS]) CLV_MUST_CHECK;

/* ---- leader -> ranks ---------------------------------------------------------------------- */

/* The leader's thread gets the memory of a version's node plans (zeroed where used before), fills
 * it, and publishes it with the forecast. A rank that sees the version sees all of it. */
void *clv_pap_table_node_plans(clv_pap_table_t *table, int32_t slot, int64_t version);
void clv_pap_table_publish(clv_pap_table_t *table, int32_t slot, const clv_pap_forecast_t *forecast,
                           size_t node_plans_used);

/* All versions up to this one are published or void. */
void clv_pap_table_set_decided(clv_pap_table_t *table, int32_t slot, int64_t version);
/* Whether the version is void. */
bool clv_pap_table_is_void(const clv_pap_table_t *table, int32_t slot, int64_t version);

/* ask: a rank has waited too long for a version. asked: the newest such version; 0: none. */
void clv_pap_table_ask(clv_pap_table_t *table, int32_t slot, int64_t version);
int64_t clv_pap_table_asked(const clv_pap_table_t *table, int32_t slot);

/* CLV_AGAIN: the version is not there. How long the pointers stay valid: see the top. */
clv_status_t clv_pap_table_forecast(const clv_pap_table_t *table, int32_t slot, int64_t version,
                                    clv_pap_forecast_t *forecast_p, const void **node_plans_p,
                                    size_t *node_plans_bytes_p) CLV_MUST_CHECK;

/* No more forecasts: slot l has n_versions[l], all published before. Called once. is_unsure: other
 * hosts may have one more. */
void clv_pap_table_set_end(clv_pap_table_t *table, const int64_t n_versions[CLV_PAP_MAX_STREAMS],
                           bool is_unsure);
bool clv_pap_table_is_unsure(const clv_pap_table_t *table);
/* Set by a rank or the leader: a call has failed somewhere, for good. */
void clv_pap_table_set_broken(clv_pap_table_t *table);
bool clv_pap_table_is_broken(const clv_pap_table_t *table);
int64_t clv_pap_table_n_versions(const clv_pap_table_t *table,
                                 int32_t slot); /* INT64_MAX: no end */

/* The shares of the local ranks in a row, each share_bytes rounded up to cache lines; opaque
 * here. */
unsigned char *clv_pap_table_shares(const clv_pap_table_t *table, size_t *share_bytes_p);

/* The host's clock, for ranks that ask for global time. NULL, CLV_AGAIN: not ready. */
void clv_pap_table_set_clock(clv_pap_table_t *table, const clv_cs_model_t *model);
clv_status_t clv_pap_table_clock(const clv_pap_table_t *table,
                                 clv_cs_model_t *model_p) CLV_MUST_CHECK;

#endif
