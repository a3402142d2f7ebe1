/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Several algorithms in one mpirun: one communicator for each, created under different settings.
 *
 * What: Open MPI decides at the creation of a communicator which components and which forced
 * algorithms serve it. So each algorithm is an info key that names or excludes components, control
 * variables (MPI_T) set before the communicator is created and restored after, or a function of our
 * own.
 * Not: a guarantee that the library obeyed; see the figures and the library's verbose output. With
 * another MPI library, "default" and our own functions work; the rest is a clear error.
 * Cost: communicator creation; nothing per call.
 */
#ifndef CLV_BENCH_ALGORITHMS_H
#define CLV_BENCH_ALGORITHMS_H

#include <mpi.h>
#include <stdbool.h>

#include "apps/bench/measure/bench_collectives.h"
#include "util/util_status.h"

#define CLV_ALGORITHM_MAX_SETTINGS 6
#define CLV_ALGORITHM_TEXT         64

typedef struct clv_algorithm_setting {
    char name[CLV_ALGORITHM_TEXT];
    char value[CLV_ALGORITHM_TEXT];
} clv_algorithm_setting_t;

typedef struct clv_algorithm {
    char name[CLV_ALGORITHM_TEXT];
    char components[CLV_ALGORITHM_TEXT]; /* "" or as in --mca coll: "adapt", "^clv" */
    int n_settings;
    clv_algorithm_setting_t settings[CLV_ALGORITHM_MAX_SETTINGS];
    int (*own)(const clv_bench_call_t *call); /* NULL: the library's function */
    bool is_bound;  /* a bound: it does not compute the collective's result */
    bool is_hinted; /* each rank announces its arrival (clv.h) */
} clv_algorithm_t;

/* Parses a name of the table ("default", "pipeline", "clv", "ring", "bound", ...), with a segment
 * size in bytes ("pipeline:65536"); "tuned:<n>[:<segment>]" forces number n of the library;
 * "clv:<name>" forces an algorithm of the component, "clv:<name>:<predictor>" its predictor too;
 * with "+hint" at the end of these or of "clv" every rank announces its arrival; "<any
 * name>=<components>/<variable>=<value>/..." sets any components and variables. On failure
 * CLV_INVALID and one line in reason. */
clv_status_t clv_algorithm_parse(const char *text, const char *collective,
                                 clv_algorithm_t *algorithm, char *reason,
                                 size_t reason_bytes) CLV_MUST_CHECK;

/* Called before MPI_Init: sets what Open MPI reads only then, unless the user has set it. */
void clv_algorithm_prepare_environment(const clv_algorithm_t *algorithms, int n_algorithms);

/* Creates a communicator like parent for the algorithm. Collective. The caller frees it. */
clv_status_t clv_algorithm_communicator(const clv_algorithm_t *algorithm, MPI_Comm parent,
                                        MPI_Comm *comm_p, char *reason,
                                        size_t reason_bytes) CLV_MUST_CHECK;

/* Creates one for each of n algorithms. On failure the caller frees those created. Free sets them
 * to MPI_COMM_NULL, and accepts that value. Collective. */
clv_status_t clv_algorithm_communicators(const clv_algorithm_t *algorithms, int n_algorithms,
                                         MPI_Comm parent, MPI_Comm *comms, char *reason,
                                         size_t reason_bytes) CLV_MUST_CHECK;
void clv_algorithm_free_communicators(MPI_Comm *comms, int n_comms);

/* Prints the table's names and meanings. */
void clv_algorithm_list(void);

#endif
