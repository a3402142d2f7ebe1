/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The Open MPI component: its one component object, and the module of a communicator.
 *
 * What: declarations that the files of this module share. Not: anything for other modules.
 * Every file of this module may call Open MPI; no other module may.
 *
 * coll_clv_call.c shows the path of a call.
 */
#ifndef COLL_CLV_H
#define COLL_CLV_H

#include "coll_clv/coll_clv_compat.h"

#include <pthread.h>

#include "ompi/runtime/mpiruntime.h"

#include "choose/choose.h"
#include "coll_clv/coll_clv_compare.h"
#include "coll_clv/coll_clv_execute.h"
#include "coll_clv/coll_clv_process.h"
#include "coll_clv/coll_clv_tables.h"

BEGIN_C_DECLS

/* ---- component ---- */

/* Above han (35) and inter (40), which have algorithms of their own; below sync (50) and the
 * accelerator component (78), which wrap the components below them. */
#define COLL_CLV_PRIORITY_NAMED 45

/* One field per parameter row. */
typedef struct coll_clv_params {
#define COLL_CLV_C_TYPE_INT    int
#define COLL_CLV_C_TYPE_ENUM   int
#define COLL_CLV_C_TYPE_CHOICE int
#define COLL_CLV_C_TYPE_FLAGS  int
#define COLL_CLV_C_TYPE_BOOL   bool
#define COLL_CLV_C_TYPE_STRING char *
#define COLL_CLV_C_TYPE_LIST   char *
#define COLL_CLV_PARAM_FIELD(kind, name, values, preset, min, max, unit, level, ranks, meaning)    \
    COLL_CLV_C_TYPE_##kind name;
    CLV_PARAMETER_MAP(COLL_CLV_PARAM_FIELD)
#undef COLL_CLV_PARAM_FIELD
} coll_clv_params_t;

/* Not here: what is counted per collective, algorithm and reason. Most are performance variables
 * (coll_clv_tables.h). A tool that reads one while a thread runs a collective sees a recent
 * value. */
typedef struct coll_clv_counters {
    unsigned long long plans_ahead, plans_late, lookup_ns, calibrations, yielding, regret_ns;
    unsigned long long nonblocking, persistent; /* begun, created; while recording, or summing up */
    unsigned long long waited_ns, asleep_ns, late_wakes, late_wakes_ns;
} coll_clv_counters_t;

/* Times of a collective's calls that a group saw, from begin to end on this rank, without
 * set-up. */
typedef struct coll_clv_times {
    unsigned long long planned_calls, planned_ns;
    unsigned long long previous_calls, previous_ns;
    unsigned long long first_pace_ns, newest_pace_ns;
} coll_clv_times_t;

/* Arrivals kept per collective, for its iteration time. */
#define COLL_CLV_ITERATION_CALLS 20
typedef struct coll_clv_iterations {
    int64_t n_calls;
    int64_t
        arrival_ns[COLL_CLV_ITERATION_CALLS + 1]; /* of the newest calls, by number modulo length */
} coll_clv_iterations_t;

typedef struct coll_clv_component {
    mca_coll_base_component_t super;
    coll_clv_params_t params;
    clv_choose_config_t config; /* read at open, since at close strings are gone */
    coll_clv_counters_t counters;
    unsigned long long calls[CLV_N_COLLECTIVES];
    pthread_mutex_t account; /* protects times, iterations and late */
    coll_clv_times_t times[CLV_N_COLLECTIVES];
    coll_clv_iterations_t iterations[CLV_N_COLLECTIVES];
    int64_t first_ns, last_ns; /* arrival at the first call that a group saw; end of the last one */
    coll_clv_late_t late;      /* most frequent last rank of a freed communicator ... */
    char late_comm[64];        /* ... of this name */
    unsigned long long ran[CLV_N_ALGORITHMS];
    unsigned long long fell_back[CLV_N_REASONS]; /* calls that took the previous function */
    clv_cost_t link;                             /* of the newest communicator */
    int priority;                                /* what comm_query answers; 0 is off */
    bool only_records;                           /* only coll_clv_record was asked for */
    int output;                                  /* stream of coll_clv_verbose, -1 before open */
    /* Together, as a small call needs nothing else from here. */
    bool is_threaded;                            /* the program was given MPI_THREAD_MULTIPLE */
    bool is_inside;                              /* without threads: see coll_clv_inside */
    unsigned long long alone[CLV_N_COLLECTIVES]; /* calls left alone because they are small */
    /* Calls of watched collectives that would be planned if coll_clv_collectives named them. */
    unsigned long long not_taken[CLV_N_COLLECTIVES];
} coll_clv_component_t;

/* The framework looks this name up; no other symbol of ours is visible, except those marked so. */
OMPI_DECLSPEC extern coll_clv_component_t mca_coll_clv_component;

/* Atomic if the program has MPI_THREAD_MULTIPLE: threads may then call on several communicators at
 * once. Not ompi_mpi_thread_multiple, which holds what the newest MPI_T_init_thread asked for. */
static inline void coll_clv_count(unsigned long long *counter, unsigned long long more)
{
    if (mca_coll_clv_component.is_threaded) {
        (void) __atomic_fetch_add(counter, more, __ATOMIC_RELAXED);
    } else {
        *counter += more;
    }
}

/* The value of a counter. Calls left alone are counted in one place only, since counting is most of
 * what they cost; they are added here to the counters that include them. */
unsigned long long coll_clv_counted(const unsigned long long *counter);
/* Calls of all collectives that reached the component. */
unsigned long long coll_clv_calls(void);

/* The present values of the rank-equal parameters, and nothing else. */
clv_choose_config_t coll_clv_params_config(const coll_clv_component_t *component);

/* Bits of the collectives that config leaves out but that are counted for a summary or for
 * coll_clv_verbose. On all ranks, though only the first prints them: coll/han runs otherwise under
 * another component, and ranks of which one has us above it wait for each other. */
uint32_t coll_clv_watched(const clv_choose_config_t *config);

/* coll_clv_params.c: registers all parameters and counters, checks ranges, and tells the user what
 * is wrong. OMPI_SUCCESS or OMPI_ERR_BAD_PARAM. */
int coll_clv_params_register(coll_clv_component_t *component);
/* coll_clv_pvars.c: what coll_clv_params_register registers after the parameters. */
void coll_clv_pvars_register(void);
/* Whether the user gave the parameter a value. */
bool coll_clv_params_is_set(const char *name);

/* coll_clv_unknown.c: finds parameters coll_clv_... that the user set and that do not exist.
 * Returns a hash of their names for coll_clv_peers_publish; 0: there are none. */
uint64_t coll_clv_unknown_find(void);
/* Tells the user of each, with the nearest existing name. The job's first process tells if it was
 * given the same ones; else each host tells once. After the exchange of MPI_Init. */
void coll_clv_unknown_tell(void);

/* coll_clv_select.c: reads how the user asked for us. Called first, before we change the
 * selection. */
void coll_clv_select_look(void);
bool coll_clv_select_is_named(void);
/* Whether the user named clv or gave it a priority or a recording folder; otherwise it stays
 * silent. Known once the parameter priority, the first one, is registered. */
bool coll_clv_select_is_wanted(void);
/* If the selection is exactly "clv", brings in the components that fill the other collectives. */
int coll_clv_select_companions(void);

/* ---- module ---- */

/* What coll_clv_tell.c last said about calls of one shape. */
typedef struct coll_clv_reported {
    uint64_t shape; /* hash; 0: free */
    int reason;
    int algorithm;
} coll_clv_reported_t;

#define COLL_CLV_N_REPORTED 32

/* The function that a communicator had before us, and its module, retained. One pair per
 * collective. */
typedef struct coll_clv_previous {
#define COLL_CLV_PREVIOUS_FIELD(to, code, name, mpi, goal, root, op, counts, result, bytes, least) \
    mca_coll_base_module_##name##_fn_t name;                                                       \
    mca_coll_base_module_t *name##_module;
    CLV_COLLECTIVE_MAP(COLL_CLV_PREVIOUS_FIELD, )
#undef COLL_CLV_PREVIOUS_FIELD
} coll_clv_previous_t;

/* What the newest call ran, for the recorder. A call left alone for its size does not set it. */
typedef struct coll_clv_ran {
    uint8_t choice; /* a clv_algorithm_t, or CLV_CLVA_NOT_OURS */
    uint8_t reason; /* a clv_reason_t */
    uint32_t predicted_ns;
} coll_clv_ran_t;

typedef struct coll_clv_module {
    mca_coll_base_module_t super;
    /* Together, as a small call needs nothing else from here. */
    int64_t alone_below[CLV_N_COLLECTIVES]; /* bytes; see coll_clv_is_left_alone */
    struct coll_clv_waits *waits;           /* coll_clv_sleep.h; NULL: they spin */
    coll_clv_compare_t compare;
    coll_clv_previous_t previous;
    mca_coll_base_module_barrier_fn_t barrier; /* before us, unless waits spin; and its module */
    mca_coll_base_module_t *barrier_module;
    clv_choose_config_t config;   /* the parameters when this was made */
    uint32_t watched;             /* collectives that are only counted: coll_clv_watched */
    bool has_asked;               /* its peers have been compared ... */
    bool peers_are_equal;         /* ... with this answer of coll_clv_peers.c */
    uint32_t devices;             /* likewise: collectives that may be given device memory */
    bool shares_processors;       /* ranks of this host do (coll_clv_processors.h) ... */
    bool is_crowded;              /* ... and all ranks are on it */
    struct coll_clv_group *group; /* NULL until the first eligible call */
    int64_t carried_bytes;        /* by the calls before its set-up */
    int64_t shown_version;        /* forecast version that coll_clv_print showed last */
    int32_t shown_root;
    coll_clv_scratch_t scratch;
    coll_clv_reported_t reported[COLL_CLV_N_REPORTED];
    int64_t n_calls; /* of all its collectives, counted if coll_clv_verbose tells them */
    coll_clv_ran_t ran;
    struct coll_clv_record_of_module *record; /* NULL: nothing is recorded */
    struct coll_clv_levels *levels;           /* coll_clv_levels.h; NULL: none */
    bool has_asked_levels;                    /* they were to be made */
    bool is_level;  /* this is one of another communicator's levels, ... */
    bool is_silent; /* ... of which the whole communicator's rank 0 has another */
} coll_clv_module_t;
OBJ_CLASS_DECLARATION(coll_clv_module_t);

/* The functions that the module offers. */
#define COLL_CLV_FUNCTION(to, code, name, mpi, goal, root, op, counts, result, bytes, least)       \
    extern __typeof__(*(mca_coll_base_module_##name##_fn_t) NULL) mca_coll_clv_##name;
CLV_COLLECTIVE_MAP(COLL_CLV_FUNCTION, )
#undef COLL_CLV_FUNCTION

/* coll_clv_barrier.c: a barrier is not planned, but it waits. */
int mca_coll_clv_barrier(struct ompi_communicator_t *comm, mca_coll_base_module_t *module);
void coll_clv_barrier_offer(coll_clv_module_t *module);
void coll_clv_barrier_enable(coll_clv_module_t *module, struct ompi_communicator_t *comm);
void coll_clv_barrier_disable(coll_clv_module_t *module, struct ompi_communicator_t *comm);
void coll_clv_barrier_free(coll_clv_module_t *module);

/* Around a nested call, the previous functions are installed: where coll/han does not fit a
 * communicator, as with one rank on each host, it puts the functions before it in its place where
 * it finds itself installed, and calls what is installed, else us without end. cover takes what it
 * leaves, with its references, for the previous functions. No-op where han calls what was before
 * it. */
coll_clv_previous_t coll_clv_uncover(const coll_clv_module_t *module,
                                     struct ompi_communicator_t *comm);
void coll_clv_cover(coll_clv_module_t *module, struct ompi_communicator_t *comm,
                    const coll_clv_previous_t *installed);

/* coll_clv_hint.c: ours in a communicator; NULL: it has none, or another component wraps it. NULL
 * and MPI_COMM_NULL are fine. */
coll_clv_module_t *coll_clv_module_of(struct ompi_communicator_t *comm);

mca_coll_base_module_t *mca_coll_clv_comm_query(struct ompi_communicator_t *comm, int *priority);

/* ---- telling ---- */

/* Tells the user that clv cannot be used. topic: of help-coll-clv.txt, whose only argument is the
 * sentence that says what happened. Only the first process of a job on a host that has something to
 * say on a topic tells it. */
void coll_clv_help(const char *topic, const char *sentence);
/* Whether this process is the first of its job on this host to ask about the topic. */
bool coll_clv_help_is_first(const char *topic);

END_C_DECLS

#endif
