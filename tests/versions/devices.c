/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reduces, allreduces and broadcasts whose vectors lie in the memory of a fake device on no, one,
 * some or all ranks: are they right, and what did clv run.
 *
 *   devices open|locked COLLECTIVE...
 *
 * locked: whoever touches the device's memory dies, as with that of a GPU. Rank 0 prints
 *   devices: calls=C wrong=W left_least=L left_most=M planned=P
 * left: of a rank's calls, those that clv left to others because of devices; planned: those that
 * ran a plan, on rank 0. Status 1 when something was wrong.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/mpi/pvar_look.h"
#include "tests/versions/fake_device.h"

enum { N_NUMBERS = 16384, N_CALLS = 12, ROOT = 1 };

static int rank, size;

/* Who has device memory; the last of them is a mix that no rank can see alone. */
static int is_on_device(int who)
{
    const int answers[] = {0, 1, rank == 0, rank == ROOT, rank != ROOT};
    return answers[who];
}
enum { N_WHO = 5 };

static int map_device(int is_locked)
{
    const int file = memfd_create("device", 0);
    char *const at = (char *) (uintptr_t) FAKE_DEVICE_BASE;
    const int fixed = MAP_SHARED | MAP_FIXED_NOREPLACE;

    return file >= 0 && ftruncate(file, (off_t) FAKE_DEVICE_BYTES) == 0 &&
           mmap(at, FAKE_DEVICE_BYTES, is_locked ? PROT_NONE : PROT_READ | PROT_WRITE, fixed, file,
                0) == at &&
           mmap(fake_device_open(at), FAKE_DEVICE_BYTES, PROT_READ | PROT_WRITE, fixed, file, 0) ==
               fake_device_open(at);
}

static void call(const char *collective, double *own, double *sum)
{
    if (strcmp(collective, "reduce") == 0) {
        MPI_Reduce(own, sum, N_NUMBERS, MPI_DOUBLE, MPI_SUM, ROOT, MPI_COMM_WORLD);
    } else if (strcmp(collective, "allreduce") == 0) {
        MPI_Allreduce(own, sum, N_NUMBERS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    } else {
        MPI_Bcast(sum, N_NUMBERS, MPI_DOUBLE, ROOT, MPI_COMM_WORLD);
    }
}

/* One checked call; 1 when it is wrong here. */
static int is_wrong(const char *collective, int who, int k)
{
    static double on_host[2 * N_NUMBERS];
    double *memory = is_on_device(who) ? (double *) (uintptr_t) FAKE_DEVICE_BASE : on_host;
    double *own = fake_device_open(memory), *sum = own + N_NUMBERS, expected = 0;
    const int is_bcast = strcmp(collective, "bcast") == 0;

    for (int p = 0; p < size; p++) {
        expected += p + k;
    }
    for (int i = 0; i < N_NUMBERS; i++) {
        own[i] = rank + k;
        sum[i] = is_bcast && rank == ROOT ? expected : -1;
    }
    call(collective, memory, memory + N_NUMBERS);
    for (int i = 0; i < N_NUMBERS; i++) {
        if (sum[i] != expected && (rank == ROOT || strcmp(collective, "reduce") != 0)) {
            return 1;
        }
    }
    return 0;
}

static void tell(int n_calls, int n_wrong, long long left, long long planned)
{
    long long all[] = {left, -left, n_wrong};

    MPI_Allreduce(MPI_IN_PLACE, all, 3, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("devices: calls=%d wrong=%lld left_least=%lld left_most=%lld planned=%lld\n",
               n_calls, all[2], -all[1], all[0], planned);
    }
}

int main(int argc, char **argv)
{
    pvar_look_t left, ahead, late;
    int n_wrong = 0, n_calls = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 2 || !map_device(strcmp(argv[1], "locked") == 0)) {
        fprintf(stderr, "devices: no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    pvar_look_open(&left, "coll_clv_fell_back_devices");
    pvar_look_open(&ahead, "coll_clv_plans_ahead");
    pvar_look_open(&late, "coll_clv_plans_late");
    for (int c = 2; c < argc; c++) {
        for (int k = 0; k < N_WHO * N_CALLS; k++, n_calls++) {
            n_wrong += is_wrong(argv[c], k % N_WHO, k);
        }
    }
    tell(n_calls, n_wrong, pvar_look_read(&left, 0),
         pvar_look_read(&ahead, 0) + pvar_look_read(&late, 0));
    pvar_look_close(&late);
    pvar_look_close(&ahead);
    pvar_look_close(&left);
    MPI_Finalize();
    return n_wrong > 0;
}
