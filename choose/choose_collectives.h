/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The collectives that the component takes over, as a table: one row each.
 *
 * The row generates the number in stream keys, the parameters coll_clv_<name>_algorithm and of the
 * least size, a counter of calls, the communicator's functions that are saved and restored, and the
 * words in messages. Beside its row a collective has one file, coll_clv/coll_clv_<name>.c, with
 * MPI's function and the previous one (CONTRIBUTING.md).
 *
 * PURE: no code, no Open MPI. Not in coll_clv, because the chooser, the simulation and the
 * generator of the parameters page read it, too.
 */
#ifndef CLV_CHOOSE_COLLECTIVES_H
#define CLV_CHOOSE_COLLECTIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schedule/schedule.h"

/* `to` is passed on to each row, for tables made from this one; any token. goal: of its plans, a
 * clv_goal_t. root, op: whether the call has one. counts: whether MPI makes count and type equal on
 * all ranks, not only the packed bytes (a broadcast's may differ). result: where it is afterwards,
 * at the ROOT or at ALL ranks. bytes: the parameter of the smallest planned size, least its
 * default. All are blocking. */
/* clang-format off */
/*         code       name       MPI's name       goal      root   op     counts result bytes least */
#define CLV_COLLECTIVE_MAP(XX, to)                                                                 \
    XX(to, REDUCE,    reduce,    "MPI_Reduce",    REDUCE,    true,  true,  true,  ROOT,            \
       reduce_min_bytes, 65536)                                                                    \
    XX(to, ALLREDUCE, allreduce, "MPI_Allreduce", ALLREDUCE, false, true,  true,  ALL,             \
       allreduce_min_bytes, 65536)                                                                 \
    XX(to, BCAST,     bcast,     "MPI_Bcast",     BCAST,     true,  false, false, ALL,             \
       bcast_min_bytes, 65536)
/* clang-format on */

/* Ranks exchange the numbers: append only. */
typedef enum clv_collective {
#define CLV_COLLECTIVE_ENUM(to, code, name, mpi, goal, root, op, counts, result, bytes, least)     \
    CLV_COLLECTIVE_##code,
    CLV_COLLECTIVE_MAP(CLV_COLLECTIVE_ENUM, )
#undef CLV_COLLECTIVE_ENUM
        CLV_N_COLLECTIVES
} clv_collective_t;

typedef enum clv_result { CLV_RESULT_AT_ROOT, CLV_RESULT_AT_ALL } clv_result_t;

typedef struct clv_collective_row {
    const char *name; /* the word in lines and parameters */
    clv_goal_t goal;
    bool has_root;
    bool has_op;
    bool equal_counts;
    clv_result_t result;
} clv_collective_row_t;

/* By clv_collective_t. */
extern const clv_collective_row_t clv_collectives[CLV_N_COLLECTIVES];

/* The largest number of segments without an empty one on any rank: one per element if counts are
 * equal, else one per packed byte. It uses only values equal on all ranks, so it ignores count if
 * counts may differ. 0 .. CLV_SCHED_MAX_SEGMENTS. */
int32_t clv_collective_max_segments(const clv_collective_row_t *row, size_t count,
                                    int64_t total_bytes);

/* "unknown" for an invalid number. */
const char *clv_collective_name(int collective);

/* Reads a comma-separated list of names into bits 1 << code; a leading ^ inverts it. An empty list
 * is none. CLV_INVALID, with nothing set, if a name is unknown. */
clv_status_t clv_collectives_read(const char *list, uint32_t *bits_p) CLV_MUST_CHECK;
void clv_collectives_print(char *text, size_t size, uint32_t bits);

#endif
