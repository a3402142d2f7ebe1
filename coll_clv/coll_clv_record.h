/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The recorder of arrivals: every collective of every intra-communicator, whatever runs it.
 *
 *      clock, the function that was there, clock, 32 bytes into this rank's ring
 *
 * For nonblocking and persistent ones, the request's completion callback reads the second time,
 * when this rank's MPI finds the request complete (coll_clv_record_requests.c).
 *
 * What: the wrappers that a module offers where coll_clv_record is set, one table row each, and the
 * ring and file behind them. If only coll_clv_print has summary, those of nonblocking and
 * persistent calls count them. No message, no agreement, and no change to the calls; the one
 * exchange is that of MPI_COMM_WORLD's set-up inside MPI_Init (endpoint records, and which ranks
 * could attach): all ranks record or none does.
 * Not: the file's writer, the background thread of the node's leader (record/record_drain.h).
 *
 * Left out: calls that a collective makes itself, on whatever communicator; communicators of one
 * process; jobs without MPI_COMM_WORLD (sessions).
 * Cost: two looks at the clock and a slot per call; off, nothing is installed at all.
 * Threads: as MPI demands of a communicator, one call at a time; several communicators at once, and
 *   requests complete in any thread.
 */
#ifndef COLL_CLV_RECORD_H
#define COLL_CLV_RECORD_H

#include "coll_clv/coll_clv.h"

#include "record/record_drain.h"

BEGIN_C_DECLS

/* ---- a module's part ---- */

/* What a wrapper calls: another module's function, with that module retained, or our own. */
typedef struct coll_clv_recorded {
#define COLL_CLV_RECORDED_FIELD(code, name, root, equal)                                           \
    mca_coll_base_module_##name##_fn_t name;                                                       \
    mca_coll_base_module_t *name##_module;                                                         \
    mca_coll_base_module_i##name##_fn_t i##name;                                                   \
    mca_coll_base_module_t *i##name##_module;                                                      \
    mca_coll_base_module_##name##_init_fn_t name##_init;                                           \
    mca_coll_base_module_t *name##_init_module;
    CLV_CLVA_OP_MAP(COLL_CLV_RECORDED_FIELD)
#undef COLL_CLV_RECORDED_FIELD
} coll_clv_recorded_t;

/* The stream of the newest call of an operation, so that the next call finds it at once. */
typedef struct coll_clv_last_stream {
    const struct ompi_datatype_t *dtype;
    int64_t bytes;
    int32_t root;
    uint16_t stream;
    bool is_known;
} coll_clv_last_stream_t;

/* State of a communicator's recording, from its first recorded call on. */
typedef struct coll_clv_recording {
    uint32_t next_number;
    uint32_t n_requests; /* persistent requests made so far, on all ranks in the same order */
    bool has_id;
    uint64_t id; /* the same on all ranks */
    coll_clv_last_stream_t last[CLV_CLVA_N_OPS];
} coll_clv_recording_t;

struct coll_clv_record_of_module {
    coll_clv_recorded_t recorded;
    coll_clv_recording_t recording;
};

/* Query: offers the wrappers in place of what the module offers; none without memory. */
void coll_clv_record_offer(coll_clv_module_t *module);
/* Enable, as the last step: keeps the installed functions. On MPI_COMM_WORLD, starts the
 * recorder. */
void coll_clv_record_enable(coll_clv_module_t *module, struct ompi_communicator_t *comm);
/* Disable, before the module restores the previous functions. */
void coll_clv_record_disable(coll_clv_module_t *module, struct ompi_communicator_t *comm);
void coll_clv_record_free(coll_clv_module_t *module);

/* ---- the process's part: coll_clv_record.c ---- */

/* Set by coll_clv_record_start, cleared by coll_clv_record_stop. */
extern bool coll_clv_record_is_on;

/* Collective over MPI_COMM_WORLD, inside MPI_Init: from here on all ranks record, or none does.
 * has_memory: this rank had memory so far; it may be false. */
void coll_clv_record_start(struct ompi_communicator_t *comm, const clv_choose_config_t *config,
                           bool has_memory);
/* Ends the file. */
void coll_clv_record_stop(void);

/* The cost of a message, as measured on a communicator; one of its ranks calls this. */
void coll_clv_record_cost(const clv_cost_t *cost);

/* A call that has ended or, without exit_ns, has begun; in the words of its row. */
typedef struct coll_clv_ended {
    clv_clva_op_t op;
    clv_clva_how_t how;
    int64_t arrival_ns, exit_ns;
    int32_t root; /* -1: none */
    size_t count;
    const struct ompi_datatype_t *dtype; /* NULL: no vector, or one that differs between ranks */
} coll_clv_ended_t;
void coll_clv_record_call(coll_clv_module_t *module, struct ompi_communicator_t *comm,
                          const coll_clv_ended_t *ended);

/* The stream of a call with a request, and the counter of its calls. */
typedef struct coll_clv_stream_place {
    uint16_t stream;
    uint32_t *next_number; /* for coll_clv_record_number */
} coll_clv_stream_place_t;
/* request: the number of a persistent request on the communicator. False: it has no stream. */
bool coll_clv_record_stream(coll_clv_module_t *module, struct ompi_communicator_t *comm,
                            const coll_clv_ended_t *begun, uint32_t request,
                            coll_clv_stream_place_t *place);
/* Takes the next number. False: the call with that number is not recorded. */
bool coll_clv_record_number(const coll_clv_stream_place_t *place, uint32_t *number_p);
/* Pushes one slot as it is. */
void coll_clv_record_push(const clv_clva_call_t *call);
void coll_clv_record_drop(void);

/* ---- requests: coll_clv_record_requests.c ---- */

/* Before recording starts, and after it has ended. */
bool coll_clv_requests_open(void);
void coll_clv_requests_close(void);
/* A nonblocking call has returned this request. */
void coll_clv_requests_begun(coll_clv_module_t *module, struct ompi_communicator_t *comm,
                             struct ompi_request_t *request, const coll_clv_ended_t *begun);
/* A persistent request was made: its starts are recorded from here on. */
void coll_clv_requests_made(coll_clv_module_t *module, struct ompi_communicator_t *comm,
                            struct ompi_request_t *request, const coll_clv_ended_t *made);

END_C_DECLS

#endif
