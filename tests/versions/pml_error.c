/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A connection of MPI's own breaks in the middle of reduces under MPI_ERRORS_RETURN: rank 2 shuts
 * its connections of btl/tcp (ports 40000 to 40999, as the script asks for) before call 60. Each
 * rank that gets an error says which and when, and ends without MPI_Finalize:
 *
 *   rank 1: call 60, error class 16 after 0.012 s
 */
#include <mpi.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { N_NUMBERS = 65536, BREAKS = 60, N_CALLS = 200, FIRST_PORT = 40000, N_PORTS = 1000 };

static int is_ours(const struct sockaddr_in *address)
{
    const int port = ntohs(address->sin_port);
    return port >= FIRST_PORT && port < FIRST_PORT + N_PORTS;
}

static void break_connections(void)
{
    for (int fd = 3; fd < 1024; fd++) {
        struct sockaddr_in own = {0}, peer = {0};
        socklen_t n_own = sizeof own, n_peer = sizeof peer;
        if (getsockname(fd, (struct sockaddr *) &own, &n_own) == 0 &&
            getpeername(fd, (struct sockaddr *) &peer, &n_peer) == 0 &&
            (is_ours(&own) || is_ours(&peer))) {
            (void) shutdown(fd, SHUT_RDWR);
        }
    }
}

int main(int argc, char **argv)
{
    static double own[N_NUMBERS], sum[N_NUMBERS];
    int rank, class = MPI_SUCCESS;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int call = 0; call < N_CALLS; call++) {
        if (rank == 2 && call == BREAKS) {
            break_connections();
        }
        const double begin_s = MPI_Wtime();
        const int error = MPI_Reduce(own, sum, N_NUMBERS, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (error != MPI_SUCCESS) {
            MPI_Error_class(error, &class);
            printf("rank %d: call %d, error class %d after %.3f s\n", rank, call, class,
                   MPI_Wtime() - begin_s);
            fflush(stdout);
            sleep(40); /* longer than the script waits: the launcher must not end the others */
            _exit(0);
        }
        usleep(2000);
    }
    printf("rank %d: no error in %d calls\n", rank, N_CALLS);
    fflush(stdout);
    sleep(40);
    _exit(0);
}
