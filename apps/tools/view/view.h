/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The internals of clv-view: the records by communicator, call and rank, on one clock; and their
 * evaluation. For the files of this folder and apps/tools/clv-view.c.
 *
 *      files -> view_load.c -> view_t -> view_count.c -> view_counts_t -> summary, JSON, page
 *                                     |  (view_blame.c)
 *                                     |\-> view_what_if.c -> view_what_if_t -> the same
 *                                     \-> view_export.c, view_page.c
 *
 * Units: ns; global if every node has a clock line, else each node's own.
 * Memory: a folder read is one view_t, freed by view_free; 40 bytes per call and rank.
 */
#ifndef VIEW_H
#define VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "record/record_clva.h"
#include "apps/trace/trace_allprof.h"
#include "apps/trace/trace_numbers.h"
#include "apps/what_if/what_if.h"

#define VIEW_NAME_BYTES 96

/* ---- the records ---- */

typedef struct view_node {
    clv_clva_head_t head;
    bool is_there;
    char path[1024];
    unsigned char *bytes;
    size_t n_bytes, first; /* the offset of the first record */
    bool is_cut;           /* the last record is incomplete */
    bool has_ended;
    int64_t every, thread_ns;
    int32_t n_clocks;
    clv_clva_clock_t *clocks;
} view_node_t;

/* The common properties of calls: communicator, operation, root, bytes, type. */
typedef struct view_stream {
    int32_t comm;
    clv_clva_stream_t key;
} view_stream_t;

/* A rank's previous blocking call. */
typedef struct view_before {
    int32_t comm, call; /* comm -1: none, or not shown */
} view_before_t;

/* A communicator's blocking calls; or, if how is set, those of one stream of calls with a request.
 * The latter have their own numbers and overlap the others. */
typedef struct view_comm {
    uint64_t id; /* 0 if how is set */
    uint8_t how; /* a clv_clva_how_t */
    char name[CLV_CLVA_NAME_BYTES];
    int32_t n_ranks;
    int32_t *members; /* ranks of the job; if how is set, these two are the communicator's */
    int32_t *rank_of; /* by rank of the job; -1: not a member */
    int32_t n_calls;  /* with ascending numbers */
    uint32_t *number; /* by call */
    int32_t *stream;  /* by call, index in the view */
    uint8_t *choice;  /* by call, from the first rank */
    uint8_t *reason;
    int64_t *arrival_ns; /* [call][rank of the communicator]; CLV_NUMBERS_NO_TIME: not recorded */
    int64_t *exit_ns;
    int64_t *before_ns;    /* exit of the rank's previous recorded call */
    view_before_t *before; /* that previous call */
    int32_t *bound_ns;
    uint32_t *predicted_ns;
} view_comm_t;

typedef struct view {
    int32_t n_nodes, n_nodes_there;
    view_node_t *nodes;
    int32_t n_ranks;
    int32_t *node_of;   /* by rank; -1: its node is missing */
    int64_t *n_dropped; /* by rank */
    int32_t n_comms;
    view_comm_t *comms; /* those of blocking calls first */
    int32_t n_streams;
    view_stream_t *streams;
    int64_t n_cells; /* calls times ranks */
    bool has_time;   /* all have one clock */
    bool is_partial; /* a node, the end of a record, or a clock is missing: shown, exit status 2 */
    int64_t worst_bound_ns;
    clv_allprof_rank_t *clocks; /* of a trace by liballprof, by rank; without calls */
    int64_t n_by_offsets;       /* collectives of a trace by liballprof ... */
    int64_t n_reversed;         /* ... still reversed by its clock offsets, and without them: */
    char reversed[192];         /* "20 of 32 allreduce, 2 of 3 barrier"; "": none */
    clv_clva_cost_t cost;       /* as measured by clv, of the first communicator; 0: not measured */
    clv_clva_early_t *early;    /* by rank: the most its connection ever held; 0: unknown */
    clv_clva_waits_t *waits;    /* by rank, the newest; 0: coll_clv_wait was spin, or not told */
} view_t;

/* The selection of the user. */
typedef struct view_choice {
    int32_t stream;                 /* -1: all */
    uint32_t first_call, last_call; /* numbers */
    const char *ranks;              /* a list "0,4-7", or NULL: all; other ranks get no times */
    bool is_quiet;                  /* no warnings, as the job is running */
} view_choice_t;

/* Reads a folder. False, with what is wrong as one line in reason. Prints warnings on stderr, one
 * line each. */
bool view_load(const char *folder, const view_choice_t *choice, view_t *view, char *reason,
               size_t size);
void view_free(view_t *view);
/* The collectives of one node of a trace by liballprof, as a .clva file; NULL: no memory. */
unsigned char *view_allprof_node(const clv_allprof_t *trace, const char *folder, int32_t node,
                                 size_t *n_bytes_p);

/* Converts a node's local time to global time. */
int64_t view_global(const view_node_t *node, int64_t local_ns, int64_t *bound_ns_p);
/* "allreduce 4194304 B of MPI_COMM_WORLD, root 3" */
void view_stream_name(const view_t *view, int32_t stream, char *name, size_t size);
/* Whether every rank's arrival at the call is known. */
bool view_is_whole(const view_comm_t *comm, int32_t call);
/* Evaluates a call; ranks: room for the communicator's. If the call has a request, no rank is known
 * to wait, and no time counts as spent in MPI. */
void view_numbers(const view_comm_t *comm, int32_t call, clv_numbers_rank_t *ranks,
                  clv_numbers_call_t *numbers);

/* ---- evaluation ---- */

/* Sums over the calls of a stream, or of a rank. */
typedef struct view_stream_count {
    int32_t stream;
    int64_t n_calls;      /* with at least two ranks */
    int64_t n_incomplete; /* ranks are missing */
    int64_t n_named;      /* the last rank is certain */
    int64_t wait_ns, in_mpi_ns;
    double spread_ns, after_ns; /* means */
    int64_t bound_ns;           /* largest */
    int64_t n_predicted;
    double error_ns; /* mean over the predicted calls */
    int64_t run_ns;  /* first arrival to last exit */
} view_stream_count_t;

typedef struct view_rank_count {
    int64_t n_calls, n_last;
    double lateness_ns, own_ns, inherited_ns; /* means over n_calls, n_parts */
    int64_t n_parts;
    int64_t wait_ns, in_mpi_ns;
    double caused_ns; /* time that others waited for it */
    double kept_ns;   /* of that, because an earlier call held it after its own wait had ended */
} view_rank_count_t;

typedef struct view_counts {
    view_stream_count_t *streams; /* by waiting time, largest first */
    view_rank_count_t *ranks;     /* by rank of the job */
    /* Of blocking calls, except for the last two: */
    int64_t n_calls, n_incomplete, n_named;
    int64_t wait_ns, in_mpi_ns, run_ns, n_dropped;
    int64_t n_requests; /* calls with a request: nonblocking and persistent */
    int32_t n_request_streams;
    int32_t n_spreads;
    double spreads[60]; /* mean spread of successive calls, in equal parts of the run */
} view_counts_t;

bool view_count(const view_t *view, view_counts_t *counts); /* false: no memory */
/* Adds the waiting that each rank caused for others. False: no memory. */
bool view_find_blame(const view_t *view, view_counts_t *counts);
void view_counts_free(view_counts_t *counts);

/* ---- estimates for other algorithms ---- */

#define VIEW_PARTS 60 /* of a curve */

/* The network as given by the user, -1: not given. */
typedef struct view_network {
    double latency_us, gbit, early_kib;
    const char *ran; /* a word of clv_what_if_ways, or NULL: as the record says */
} view_network_t;

typedef struct view_what_if {
    char why_not[120];   /* why there is no estimate; "" if there is one */
    int64_t balanced_ns; /* the run if every rank were as fast as the mean; 0: unknown */
    clv_what_if_setting_t setting;
    const char *cost_from; /* "given", "measured by clv", "fitted to what ran" */
    const char *latency_from;
    const char *early_from; /* "given", "measured", "taken" */
    clv_what_if_way_t ran;
    int32_t n_planned[CLV_N_COLLECTIVES]; /* calls replayed with another algorithm than they ran */
    int32_t n_left_out;                   /* planned calls at the end, if there are too many */
    clv_what_if_result_t measured, model[CLV_WHAT_IF_N_WAYS];
    double fidelity_run, fidelity_in_mpi, fidelity_after, fidelity_iteration; /* model / measured */
    int32_t n_parts;
    double measured_iteration_ns[VIEW_PARTS]; /* in equal numbers of successive planned calls */
    double iteration_ns[CLV_WHAT_IF_N_WAYS][VIEW_PARTS];
} view_what_if_t;

/* false: no memory. */
bool view_find_what_if(const view_t *view, const view_network_t *network, view_what_if_t *what_if);
/* The estimate for a way: the model's result times measured / model of the algorithm that ran. */
clv_what_if_result_t view_scaled(const view_what_if_t *what_if, clv_what_if_way_t way);
/* The figures whose fidelity makes savings only indicative, separated by commas. */
void view_indicative(const view_what_if_t *what_if, char *names, size_t size);

/* A clv_collective_t; -1: clv cannot plan it. */
int view_collective_of(const clv_clva_stream_t *key);
/* "80 allreduces of 64 KiB or more not taken: coll_clv_collectives is reduce", by the job's
 * parameters or else the defaults; "": there are none. */
#define VIEW_LINE_BYTES 256 /* room for it */
void view_not_taken(const view_t *view, char *text, size_t size);

void view_print_summary(FILE *file, const view_t *view, const view_counts_t *counts,
                        const view_what_if_t *what_if);
void view_print_what_if(FILE *file, const view_what_if_t *what_if, bool with_curve);
void view_put_what_if(FILE *file, const view_what_if_t *what_if); /* as JSON */
void view_print_json(FILE *file, const view_t *view, const view_counts_t *counts,
                     const view_what_if_t *what_if);
bool view_print_page(FILE *file, const view_t *view, const view_counts_t *counts,
                     const view_what_if_t *what_if); /* false: no memory */
/* Prints a bar of one of eight heights for each number. */
void view_print_bars(FILE *file, const double *numbers, int32_t n, double most);
/* The head of any recorded node. */
const clv_clva_head_t *view_any_head(const view_t *view);
/* Prints the summary every second, from growing files, until q is pressed. Returns the exit
 * status. */
int view_live(const char *folder, const view_choice_t *choice, const view_network_t *network);
/* format: a word of view_exports; folder: for an OTF2 archive. 0, or 2 with a line on stderr. */
int view_export(FILE *file, const view_t *view, const char *format, int32_t stream,
                const char *folder);
int view_export_otf2(const view_t *view, const char *folder);
extern const char view_exports[];

#endif
