/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The executor where things go wrong: arguments out of range, no memory at each allocation, a
 * message that does not fit, requests that end late. One rank, which talks to itself. Last line as
 * reduce_cases.
 */
#include "ompi_config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"

#include "coll_clv/coll_clv_execute.h"
#include "coll_clv/coll_clv_failure.h"
#include "util/util_alloc.h"

/* Eager: ob1 of Open MPI 4.1.4 writes a longer one that does not fit past the end of the buffer. */
#define N_NUMBERS 90

static int n_wrong;
static double own[N_NUMBERS], sum[N_NUMBERS], message[N_NUMBERS];

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("# WRONG: %s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            n_wrong++;                                                                             \
        }                                                                                          \
    } while (0)

static int execute(const clv_step_t *steps, int64_t n_steps, int32_t n_segments, int root,
                   coll_clv_scratch_t *scratch)
{
    const coll_clv_job_t job = {.steps = steps,
                                .n_steps = n_steps,
                                .n_segments = n_segments,
                                .root = root,
                                .tag = MCA_COLL_BASE_TAG_REDUCE,
                                .sbuf = own,
                                .rbuf = sum,
                                .count = N_NUMBERS,
                                .dtype = MPI_DOUBLE,
                                .op = MPI_SUM,
                                .comm = MPI_COMM_SELF};
    return coll_clv_execute_steps(&job, scratch);
}

/* A message to ourselves in the tag of the executor. */
static ompi_request_t *send_numbers(int count)
{
    ompi_request_t *request = NULL;

    CHECK(MCA_PML_CALL(isend(message, (size_t) count, MPI_DOUBLE, 0, MCA_COLL_BASE_TAG_REDUCE,
                             MCA_PML_BASE_SEND_STANDARD, MPI_COMM_SELF, &request)) == OMPI_SUCCESS);
    return request;
}

static void nonsense_is_refused(void)
{
    static const clv_step_t outside = {0, 1, 0, CLV_STEP_SEND};
    coll_clv_scratch_t scratch = {0};

    CHECK(execute(NULL, 0, 0, 0, &scratch) == OMPI_ERR_BAD_PARAM);
    CHECK(execute(NULL, 0, N_NUMBERS + 1, 0, &scratch) == OMPI_ERR_BAD_PARAM);
    CHECK(execute(&outside, 1, 1, 0, &scratch) == OMPI_ERR_BAD_PARAM);
    coll_clv_scratch_free(&scratch);
}

static void nobody_else_is_a_copy(void)
{
    coll_clv_scratch_t scratch = {0};

    memset(sum, 0, sizeof sum);
    CHECK(execute(NULL, 0, 7, 0, &scratch) == OMPI_SUCCESS);
    for (int i = 0; i < N_NUMBERS; i++) {
        CHECK(sum[i] == own[i]);
    }
    coll_clv_scratch_free(&scratch);
}

static int refuse_nth(void *context, size_t n_bytes)
{
    (void) n_bytes;
    return --*(int *) context == 0;
}

/* Root receives one message of itself: its sum is twice its own. */
static void without_memory_nothing_is_posted(void)
{
    static const clv_step_t receive = {0, 0, 0, CLV_STEP_RECV_REDUCE};

    for (int n = 1;; n++) {
        coll_clv_scratch_t scratch = {0};
        int countdown = n, rc;
        ompi_request_t *request = send_numbers(N_NUMBERS);

        memset(sum, 0, sizeof sum);
        clv_alloc_set_hook(refuse_nth, &countdown);
        rc = execute(&receive, 1, 1, 0, &scratch);
        clv_alloc_set_hook(NULL, NULL);
        if (rc != OMPI_SUCCESS) {
            CHECK(rc == OMPI_ERR_OUT_OF_RESOURCE);
            rc = execute(&receive, 1, 1, 0, &scratch); /* the message must still be there */
        } else {
            CHECK(n == 3); /* tables, then buffers */
        }
        CHECK(rc == OMPI_SUCCESS && sum[5] == own[5] + message[5]);
        CHECK(ompi_request_wait(&request, MPI_STATUS_IGNORE) == OMPI_SUCCESS);
        coll_clv_scratch_free(&scratch);
        if (countdown > 0) {
            return;
        }
    }
}

/* The first of three receives gets too much, the other two get nothing: they are taken back, and
 * what they would have gone to goes, too. */
static void a_message_that_does_not_fit_is_an_error(void)
{
    static const clv_step_t receives[] = {{0, 0, 0, CLV_STEP_RECV_REDUCE},
                                          {1, 0, 1, CLV_STEP_RECV_REDUCE},
                                          {2, 0, 2, CLV_STEP_RECV_REDUCE}};
    coll_clv_scratch_t scratch = {0};

    for (int i = 0; i < 50; i++) {
        ompi_request_t *request = send_numbers(N_NUMBERS);
        CHECK(execute(receives, 3, 3, 0, &scratch) == MPI_ERR_TRUNCATE);
        CHECK(scratch.buffers == NULL);
        CHECK(ompi_request_wait(&request, MPI_STATUS_IGNORE) == OMPI_SUCCESS);
    }
    without_memory_nothing_is_posted(); /* nothing is left in the queues */
    coll_clv_scratch_free(&scratch);
}

/* Beyond what any heap takes from its own: it is mapped, and unmapped when it is freed. */
#define LARGE_BYTES ((size_t) 64 << 20)

static size_t mapped_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    size_t n_pages = 0;

    CHECK(file != NULL && fscanf(file, "%zu", &n_pages) == 1);
    if (file != NULL) {
        fclose(file);
    }
    return n_pages * (size_t) sysconf(_SC_PAGESIZE);
}

/* A receive whose message comes after it was given up writes where it was told to. */
static void what_a_late_request_uses_stays_until_it_ends(void)
{
    double *late = clv_alloc(1, LARGE_BYTES);
    const size_t with = mapped_bytes();
    ompi_request_t *receive = NULL, *send;

    CHECK(late != NULL);
    if (late == NULL) {
        return;
    }
    CHECK(MCA_PML_CALL(irecv(late, N_NUMBERS, MPI_DOUBLE, 0, MCA_COLL_BASE_TAG_REDUCE,
                             MPI_COMM_SELF, &receive)) == OMPI_SUCCESS);
    coll_clv_give_up(&receive, 1, late, NULL);
    coll_clv_failure_collect();
    CHECK(mapped_bytes() > with - LARGE_BYTES / 2);
    send = send_numbers(N_NUMBERS);
    CHECK(late[5] == message[5]);
    CHECK(ompi_request_wait(&send, MPI_STATUS_IGNORE) == OMPI_SUCCESS);
    coll_clv_failure_collect();
    CHECK(mapped_bytes() < with - LARGE_BYTES / 2);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < N_NUMBERS; i++) {
        own[i] = i;
        message[i] = 1000 + 3 * i;
    }
    nonsense_is_refused();
    nobody_else_is_a_copy();
    without_memory_nothing_is_posted();
    a_message_that_does_not_fit_is_an_error();
    what_a_late_request_uses_stays_until_it_ends();
    if (n_wrong == 0) {
        printf("# reduce_cases: all right\n");
    }
    MPI_Finalize();
    return n_wrong != 0;
}
