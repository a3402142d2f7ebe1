/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What ranks tell each other over the PML (coll_clv_gather.h), without the component: on
 * communicators of 1 to all ranks, one that says no wherever it is, and a send that fails.
 * Last line as reduce_cases.
 */
#include "ompi_config.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/mca/pml/pml.h"

#include "coll_clv/coll_clv_gather.h"
#include "util/util_alloc.h"

#define MAX_BYTES 70000 /* of a rank: longer than any transport sends at once */
#define LATE_US   3000

static int n_wrong, rank, n_ranks;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("# WRONG: %s:%d, rank %d of %d: %s\n", __FILE__, __LINE__, rank, n_ranks,       \
                   #condition);                                                                    \
            n_wrong++;                                                                             \
        }                                                                                          \
    } while (0)

static unsigned char byte_of(int p, size_t i)
{
    return (unsigned char) (31 * p + 7 * (int) i + 1);
}

static void all_have_what_each_has(MPI_Comm comm, size_t n_bytes)
{
    static unsigned char mine[MAX_BYTES];
    void *all = clv_alloc((size_t) n_ranks, n_bytes);
    const unsigned char *bytes = all;
    int n_other = 0;

    for (size_t i = 0; i < n_bytes; i++) {
        mine[i] = byte_of(rank, i);
    }
    CHECK(coll_clv_gather(comm, mine, &all, n_bytes) == OMPI_SUCCESS && bytes == all);
    for (size_t i = 0; i < (size_t) n_ranks * n_bytes; i++) {
        n_other += bytes[i] != byte_of((int) (i / n_bytes), i % n_bytes);
    }
    CHECK(n_other == 0);
    clv_free(all);
}

static void one_no_is_enough(MPI_Comm comm)
{
    CHECK(coll_clv_agree(comm, true));
    for (int p = 0; p < n_ranks; p++) {
        CHECK(!coll_clv_agree(comm, rank != p));
    }
    CHECK(coll_clv_agree(comm, true));
}

static int64_t now_ns(void)
{
    struct timespec now;
    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void nobody_leaves_before_the_last_has_come(MPI_Comm comm)
{
    int64_t came_ns, left_ns;

    for (int p = 0; p < n_ranks; p++) {
        if (rank == p) {
            usleep(LATE_US);
        }
        came_ns = now_ns();
        CHECK(coll_clv_meet(comm) == OMPI_SUCCESS);
        left_ns = now_ns();
        MPI_Allreduce(MPI_IN_PLACE, &came_ns, 1, MPI_INT64_T, MPI_MAX, comm);
        MPI_Allreduce(MPI_IN_PLACE, &left_ns, 1, MPI_INT64_T, MPI_MIN, comm);
        CHECK(left_ns >= came_ns);
    }
}

static int refuse_to_send(const void *buffer, size_t count, struct ompi_datatype_t *type, int to,
                          int tag, mca_pml_base_send_mode_t mode, struct ompi_communicator_t *comm,
                          struct ompi_request_t **request)
{
    (void) buffer, (void) count, (void) type, (void) to, (void) tag, (void) mode, (void) comm;
    *request = NULL;
    return OMPI_ERR_UNREACH;
}

/* On all ranks: what was to be received is taken back, and nothing is left for the next one. */
static void a_send_that_fails_ends_it(MPI_Comm comm)
{
    const mca_pml_base_module_isend_fn_t isend = mca_pml.pml_isend;
    void *all = clv_alloc((size_t) n_ranks, sizeof rank);

    mca_pml.pml_isend = refuse_to_send;
    CHECK(coll_clv_gather(comm, &rank, &all, sizeof rank) == OMPI_ERR_UNREACH && all == NULL);
    CHECK(!coll_clv_agree(comm, true));
    CHECK(coll_clv_meet(comm) == OMPI_ERR_UNREACH);
    mca_pml.pml_isend = isend;
    MPI_Barrier(comm);
    all_have_what_each_has(comm, 100);
}

static void try_all(MPI_Comm comm)
{
    static const size_t sizes[] = {1, 24, 335, MAX_BYTES};

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    for (int i = 0; i < 4; i++) {
        all_have_what_each_has(comm, sizes[i]);
    }
    one_no_is_enough(comm);
    nobody_leaves_before_the_last_has_come(comm);
    if (n_ranks > 1) {
        a_send_that_fails_ends_it(comm);
    }
}

int main(int argc, char **argv)
{
    int me, n_all;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n_all);
    for (int n = 1; n <= n_all; n++) {
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, me < n ? 0 : MPI_UNDEFINED, n_all - me, &comm);
        if (comm != MPI_COMM_NULL) {
            try_all(comm);
            MPI_Comm_free(&comm);
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &n_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0 && n_wrong == 0) {
        printf("# reduce_cases: all right\n");
    }
    MPI_Finalize();
    return n_wrong != 0;
}
