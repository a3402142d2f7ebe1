/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One rank's view of its streams: numbers calls, selects the sampled ones, fills the records, and
 * finds the forecast of a call. Private to the pap_predict module.
 *
 * All inputs of a decision are equal on all ranks: the order of calls on the communicator and the
 * forecasts. So overlapping calls are processed one after the other: a call's turn comes when every
 * call begun before it has its answer, whenever that is on this rank. Until its turn, a call
 * changes only its own state.
 *
 *      begin        its turn: slot, number, sampled? record       answered          end
 *        |--- earlier calls wait for forecasts ---|--- waits for its forecast ---|--- runs ---|
 *        (a call that does not overlap: at begin)            the next one's turn
 *
 * No lock, no heap, no system call, no time call. Cost: one scan of at most 16 keys per call,
 * usually hit at the first.
 */
#ifndef CLV_PAP_STREAM_H
#define CLV_PAP_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "clocksync/clocksync.h"
#include "pap_predict/pap_predict.h"
#include "pap_predict/agree/pap_record_set.h"
#include "util/util_time.h"

#define CLV_PAP_FURTHEST_NS (CLV_NS_PER_S * 3600) /* hints further ahead are ignored */

/* A record before its times are global. The fields before slot are the words in the host's table.
 * Not clv_pap_record_t, which is sent and used for predictions: that has the clock's error and the
 * exchange latency, which only the leader's thread knows. This one names its stream, whose key only
 * the leader needs, to decide. Both together do not fit into a cache line. */
typedef struct clv_pap_local_record {
    int64_t arrival_ns; /* local, as are the next two */
    int64_t previous_arrival_ns;
    int64_t previous_exit_ns;
    int64_t packed_key; /* only in the table, as is root: the stream's key, see pap_record.c */
    int32_t root;
    uint32_t generation;
    int32_t previous_choice;
    uint32_t previous_hash;
    uint32_t flags;
    uint32_t lead_ns; /* from the announcement to the arrival; saturates; 0: not announced */
    int32_t slot;     /* from here on: its place in the table */
    int64_t sequence;
} clv_pap_local_record_t;

/* What each call reads comes first. */
typedef struct clv_pap_stream {
    clv_pap_stream_key_t key;
    int64_t calls;       /* number of the next call */
    int64_t next_sample; /* call number; INT64_MAX: never again */
    int64_t version;     /* forecast used by calls before the next sample; 0: none */
    int64_t last_use;    /* call number on the communicator */
    int64_t sequence;    /* the next record's */
    int32_t n_open;      /* calls that have not ended */
    uint8_t in_use;
    uint8_t fresh;         /* no forecast of this stream's own yet */
    uint8_t given;         /* the record of `sequence` was given by a hint already */
    uint8_t hints_ignored; /* the newest forecast does not heed hints */
    uint32_t generation;   /* counts the streams that had this slot before */
    int32_t previous_choice;
    int32_t n_holders[2];  /* open calls that use the slot's forecast of even, odd version */
    int64_t reported_call; /* the call that a hint was noted for, and when */
    int64_t reported_ns;
    int64_t previous_number; /* of the newest call that has ended; -1: none */
    uint32_t previous_hash;  /* of all its forecasts and choices so far: one difference shows */
    int32_t every;           /* K, to the next sample */
    int64_t previous_arrival_ns;
    int64_t previous_exit_ns;
} clv_pap_stream_t;

typedef struct clv_pap_streams {
    int64_t calls;     /* begun on the communicator */
    int64_t turn;      /* the call that has its turn; all before it are answered */
    int32_t last_slot; /* of the newest call whose turn came; -1 none */
    clv_pap_stream_t slot[CLV_PAP_MAX_STREAMS];
} clv_pap_streams_t;

void clv_pap_streams_init(clv_pap_streams_t *streams);

/* Numbers a call, and enters it if it has its turn. Returns 1 if *given is a record to give to the
 * host's leader now, before asking for the forecast. */
bool clv_pap_streams_begin(clv_pap_streams_t *streams, const clv_pap_stream_key_t *key,
                           int64_t local_ns, clv_pap_call_t *call, clv_pap_local_record_t *given);

/* For a call with stream -1, before asking for its forecast: enters it if it has its turn by
 * now. */
bool clv_pap_streams_enter(clv_pap_streams_t *streams, clv_pap_call_t *call,
                           clv_pap_local_record_t *given);

/* A hint: the next call, assumed to be of the stream used last, arrives at local_ns + ns_from_now.
 * GIVEN: *given is a record to give now; the call itself then gives none. NOTED: hints of this
 * stream come too late to be waited for; the call's own record will say how early the hint was. */
typedef enum clv_pap_heard {
    CLV_PAP_HEARD_NOT,
    CLV_PAP_HEARD_GIVEN,
    CLV_PAP_HEARD_NOTED
} clv_pap_heard_t;

clv_pap_heard_t clv_pap_streams_hint(clv_pap_streams_t *streams, int64_t local_ns,
                                     int64_t ns_from_now, clv_pap_local_record_t *given);

/* Whether a hint would be taken now. Then *begun_ns is the end of the call before, or -1. */
bool clv_pap_streams_can_hear(const clv_pap_streams_t *streams, int64_t *begun_ns);

/* Where forecasts are stored: two per slot, version v in half v & 1. */
typedef struct clv_pap_store_ops {
    /* The forecast, or NULL if it is not there yet. Called only for versions that the protocol
     * keeps in place until this rank's next record. */
    const clv_pap_forecast_t *(*find)(void *context, int32_t slot, int64_t version);
    /* The number of versions that the slot will ever have; INT64_MAX before the end of
     * predictions. */
    int64_t (*n_versions)(void *context, int32_t slot);
    /* Whether the version never comes because its record set is void. NULL: none is void. */
    bool (*is_void)(void *context, int32_t slot, int64_t version);
    /* Whether the end is a guess (ABANDONED): a call that needs more gets CLV_LOST. NULL: it never
     * is. */
    bool (*is_unsure)(void *context);
} clv_pap_store_ops_t;

/* The forecast of a call: CLV_OK with *forecast_p, CLV_AGAIN or CLV_NONE, as clv_pap_call_forecast.
 * May be called again after any answer. */
clv_status_t clv_pap_streams_forecast(clv_pap_streams_t *streams, clv_pap_call_t *call,
                                      const clv_pap_store_ops_t *store, void *context,
                                      const clv_pap_forecast_t **forecast_p) CLV_MUST_CHECK;

/* Calls end in any order. */
void clv_pap_streams_end(clv_pap_streams_t *streams, clv_pap_call_t *call, int32_t choice,
                         int64_t local_ns);

/* Converts local times to global ones. model NULL: the clock is not ready, and the record is marked
 * invalid. */
void clv_pap_local_to_record(const clv_pap_local_record_t *given, const clv_cs_model_t *model,
                             uint32_t latency_ns, clv_pap_record_t *record);

#endif
