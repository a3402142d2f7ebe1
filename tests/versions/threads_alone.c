/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the first reduces of several threads ask of Open MPI, without us: each thread, on a
 * communicator of its own, gathers, exchanges messages and reduces. A plain MPI program, to tell a
 * library that stands still from a component that does. No test runs it. On a machine that has
 * more to do than cores:
 *
 *   mpicc -o threads_alone tests/versions/threads_alone.c
 *   for i in $(seq 20); do timeout 25 mpirun --oversubscribe -n 5 --mca coll ^clv ./threads_alone;
 * done
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { N_THREADS = 4, N_ROUNDS = 4, N_PINGS = 5, N_MESSAGES = 8, MESSAGE_BYTES = 32768 };
enum { N_DOUBLES = 2000, ENDPOINT_BYTES = 24 };

typedef struct part {
    pthread_t thread;
    MPI_Comm comm;
    int rank;
    int size;
    char *endpoints;
    char out[MESSAGE_BYTES];
    char in[N_MESSAGES][MESSAGE_BYTES];
    double own[N_DOUBLES];
    double sum[N_DOUBLES];
} part_t;

static void exchange(part_t *part, int distance, int n_messages, int n_bytes)
{
    int to = (part->rank + distance) % part->size;
    int from = (part->rank + part->size - distance) % part->size;
    MPI_Request requests[2 * N_MESSAGES];

    for (int i = 0; i < n_messages; i++) {
        MPI_Irecv(part->in[i], n_bytes, MPI_BYTE, from, 1, part->comm, &requests[i]);
    }
    for (int i = 0; i < n_messages; i++) {
        MPI_Isend(part->out, n_bytes, MPI_BYTE, to, 1, part->comm, &requests[n_messages + i]);
    }
    MPI_Waitall(2 * n_messages, requests, MPI_STATUSES_IGNORE);
}

static void *run_part(void *argument)
{
    part_t *part = argument;

    for (int round = 0; round < N_ROUNDS; round++) {
        char endpoint[ENDPOINT_BYTES] = {0};
        MPI_Allgather(endpoint, ENDPOINT_BYTES, MPI_BYTE, part->endpoints, ENDPOINT_BYTES, MPI_BYTE,
                      part->comm);
        for (int distance = part->size / 2; distance > 0; distance /= 2) {
            for (int i = 0; i < N_PINGS; i++) {
                exchange(part, distance, 1, 1);
            }
            exchange(part, distance, N_MESSAGES, MESSAGE_BYTES);
        }
        MPI_Reduce(part->own, part->sum, N_DOUBLES, MPI_DOUBLE, MPI_SUM, round % part->size,
                   part->comm);
    }
    return NULL;
}

static void make_part(part_t *part)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &part->comm);
    MPI_Comm_rank(part->comm, &part->rank);
    MPI_Comm_size(part->comm, &part->size);
    part->endpoints = malloc((size_t) part->size * ENDPOINT_BYTES);
}

int main(int argc, char **argv)
{
    static part_t parts[N_THREADS];
    int level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    for (int i = 0; i < N_THREADS; i++) {
        make_part(&parts[i]);
    }
    for (int i = 0; i < N_THREADS; i++) {
        pthread_create(&parts[i].thread, NULL, run_part, &parts[i]);
    }
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(parts[i].thread, NULL);
        MPI_Comm_free(&parts[i].comm);
        free(parts[i].endpoints);
    }
    if (parts[0].rank == 0) {
        puts("done");
    }
    MPI_Finalize();
    return 0;
}
