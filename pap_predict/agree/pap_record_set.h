/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Records and record sets, the data of the exchange. Private to the pap_predict module.
 *
 * A record describes one rank's part in one of its sampled calls. A record set is the records of
 * all ranks for one sequence number of a slot; it is complete or it does not exist.
 *
 * A slot holds one of at most CLV_PAP_MAX_STREAMS streams. When a stream is evicted, the slot
 * continues with the next sequence number under the next generation, so that everything proved
 * about two neighbouring record sets of a slot also holds across that change.
 *
 * All times are global integer ns. No threads, no heap, no time calls.
 */
#ifndef CLV_PAP_RECORD_SET_H
#define CLV_PAP_RECORD_SET_H

#include <stdint.h>

#include "pap_predict/pap_predict.h"

#define CLV_PAP_MAX_RANKS    (1 << 20)
#define CLV_PAP_MAX_TIME_NS  (INT64_C(1) << 60) /* 36 years before and after the clock's origin */
#define CLV_PAP_MAX_SEQUENCE (INT64_C(1) << 48)

#define CLV_PAP_RECORD_INVALID   1u  /* do not predict from this call: the clock is not ready */
#define CLV_PAP_RECORD_ANNOUNCED 2u  /* arrival_ns was announced by a hint before the call */
#define CLV_PAP_RECORD_PREVIOUS  4u  /* the previous_... fields are known */
#define CLV_PAP_RECORD_OPEN      8u  /* they are not: on this rank the call had not ended */
#define CLV_PAP_RECORD_FLAGS     15u /* all of them */

typedef struct clv_pap_record {
    int64_t arrival_ns;          /* of the sampled call */
    int64_t previous_arrival_ns; /* of this rank's call before it on the same stream ... */
    int64_t previous_exit_ns;    /* ... and when it left that call */
    uint32_t clock_error_ns;     /* bound; saturates */
    uint32_t latency_ns;         /* this host's exchange latency, last arrival to set known */
    int32_t previous_choice;     /* what that call ran; rank-equal */
    uint32_t previous_hash;      /* of all forecasts and choices of the stream so far; rank-equal */
    uint32_t flags;
    uint32_t lead_ns; /* from the announcement to the arrival; saturates; 0: not announced */
} clv_pap_record_t;

/* K, see docs/design/protocol.md. */
#define CLV_PAP_MAX_SAMPLE_EVERY 1024

/* The distance to the next sample after a void record set: doubled, because a rank that waited was
 * that far ahead. */
static inline int32_t clv_pap_sample_every_void(int32_t now_every)
{
    return now_every < CLV_PAP_MAX_SAMPLE_EVERY / 2 ? 2 * now_every : CLV_PAP_MAX_SAMPLE_EVERY;
}

typedef struct clv_pap_record_set {
    int32_t slot;
    int32_t n_ranks;
    uint32_t generation;
    int64_t sequence;                /* of the slot, from 0; version = sequence + 1 follows it */
    const clv_pap_record_t *records; /* by rank */
} clv_pap_record_set_t;

/* A text that says what is wrong with a record; NULL: it is in range. */
const char *clv_pap_record_problem(const clv_pap_record_t *record);

/* The flags that some record has, and those that all records have. */
uint32_t clv_pap_record_set_any_flags(const clv_pap_record_set_t *set);
uint32_t clv_pap_record_set_common_flags(const clv_pap_record_set_t *set);

/* The largest exchange latency in a record. */
uint32_t clv_pap_record_set_latency(const clv_pap_record_set_t *set);

/* The time of the last announcement; for a rank without one, its arrival. */
int64_t clv_pap_record_set_last_reported(const clv_pap_record_set_t *set);

/* When the last record was given; the exchange's latency is measured from here. */
int64_t clv_pap_record_set_last_given(const clv_pap_record_set_t *set);

/* The latency for the next records: the newest one, or half the old one if that is larger. So one
 * fast exchange shortens the sampling distance little, and a slow one is soon forgotten.
 * Saturates. */
uint32_t clv_pap_latency_update(uint32_t old_ns, int64_t newest_ns);

#endif
