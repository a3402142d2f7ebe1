/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads that receive messages which came before their receive, without us: large ones, of which
 * an eager part is here and fragments follow, and small ones. A plain MPI program: each thread has
 * a communicator and buffers of its own, and checks contents and status of each message. To tell a
 * library that gives requests back twice from a component that does (threads_ob1.sh).
 *
 *   mpicc -pthread -o threads_ob1 tests/versions/threads_ob1.c
 *   mpirun --oversubscribe -n 2 --mca pml ob1 --mca btl tcp,self ./threads_ob1 SECONDS THREADS SEED
 *
 * An even number of ranks. The first message that is wrong ends the job, and so does a standstill,
 * 20 s after the time; else rank 0 prints "N rounds, 0 wrong".
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { N_MESSAGES = 13, LARGE_EACH = 4, LEAST_LARGE = 17000, MOST_ITEMS = 2 * LEAST_LARGE };
enum { MOST_SMALL = 100, MOST_THREADS = 32, TAG = 5, ROUNDS_AHEAD = 20, STANDSTILL_S = 20 };

typedef struct part {
    pthread_t thread;
    int id;
    MPI_Comm world;
    MPI_Comm comm;
    unsigned long long shared; /* draws that are the same on all ranks ... */
    unsigned long long own;    /* ... and the others */
    int n_items[N_MESSAGES];
    unsigned sent[N_MESSAGES][2 * MOST_ITEMS];
    unsigned got[MOST_ITEMS + 1];
} part_t;

static int rank, other;
static double end_s;
static long long n_rounds;
static MPI_Datatype with_holes; /* so that no transport takes a large one as it lies there */

static unsigned draw(unsigned long long *state, unsigned below)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned) (*state >> 33) % below;
}

static void pause_us(long most_us)
{
    const struct timespec pause = {.tv_nsec = 1000 * most_us};
    nanosleep(&pause, NULL);
}

static unsigned item(int of_rank, unsigned round, int message, int i)
{
    return ((unsigned) of_rank * 1000003U + round * 64U + (unsigned) message) * 2654435761U +
           (unsigned) i;
}

static int is_large(int message)
{
    return message % LARGE_EACH == 0;
}

static void post_sends(part_t *part, unsigned round, MPI_Request sends[N_MESSAGES])
{
    for (int m = 0; m < N_MESSAGES; m++) {
        const int step = is_large(m) ? 2 : 1;
        const int n = is_large(m) ? LEAST_LARGE + (int) draw(&part->shared, LEAST_LARGE)
                                  : (int) draw(&part->shared, MOST_SMALL);
        part->n_items[m] = n;
        for (int i = 0; i < n; i++) {
            part->sent[m][step * i] = item(rank, round, m, i);
        }
        MPI_Isend(part->sent[m], n, is_large(m) ? with_holes : MPI_UNSIGNED, other, TAG, part->comm,
                  &sends[m]);
    }
}

static void receive(part_t *part, MPI_Status *status)
{
    MPI_Request request;
    int is_here = 0;

    if (draw(&part->own, 2)) {
        MPI_Recv(part->got, MOST_ITEMS, MPI_UNSIGNED, other, TAG, part->comm, status);
        return;
    }
    MPI_Irecv(part->got, MOST_ITEMS, MPI_UNSIGNED, other, TAG, part->comm, &request);
    for (int tries = 1; !is_here; tries++) {
        MPI_Test(&request, &is_here, status);
        if (tries % 10 == 0) {
            pause_us(20); /* another thread's turn */
        }
    }
}

static void check(const part_t *part, unsigned round, int m, const MPI_Status *status)
{
    const int n = part->n_items[m];
    int count, i = 0;

    MPI_Get_count(status, MPI_UNSIGNED, &count);
    while (i < n && part->got[i] == item(other, round, m, i)) {
        i++;
    }
    if (i < n || count != n) {
        fprintf(stderr, "WRONG: rank %d, thread %d: of %d items %d came, %d are right\n", rank,
                part->id, n, count, i);
        _exit(1); /* mpirun ends the others */
    }
}

static void play_round(part_t *part, unsigned round)
{
    MPI_Request sends[N_MESSAGES];
    MPI_Status status;

    if (draw(&part->shared, 50) == 0) {
        MPI_Comm_free(&part->comm);
        MPI_Comm_dup(part->world, &part->comm);
    }
    post_sends(part, round, sends);
    if (draw(&part->own, 8) == 0) {
        pause_us(draw(&part->own, 1000)); /* let them come first */
    }
    for (int m = 0; m < N_MESSAGES; m++) {
        memset(part->got, 0xff, sizeof part->got);
        receive(part, &status);
        check(part, round, m, &status);
    }
    MPI_Waitall(N_MESSAGES, sends, MPI_STATUSES_IGNORE);
    __atomic_fetch_add(&n_rounds, 1, __ATOMIC_RELAXED);
}

static void *play(void *context)
{
    part_t *part = context;
    int goes_on = 1;

    MPI_Comm_dup(part->world, &part->comm);
    for (unsigned round = 0; goes_on; round++) {
        play_round(part, round);
        if (round % ROUNDS_AHEAD == 0) {
            goes_on = MPI_Wtime() < end_s;
            MPI_Bcast(&goes_on, 1, MPI_INT, 0, part->world);
        }
    }
    MPI_Comm_free(&part->comm);
    return NULL;
}

static void tell_standstill(int number)
{
    static const char text[] = "WRONG: it stands still\n";

    (void) number;
    _exit(write(STDERR_FILENO, text, sizeof text - 1) < 0 ? 3 : 2);
}

static void start(part_t *part, int id, unsigned long long seed)
{
    part->id = id;
    part->shared = seed * 1000003 + (unsigned) id;
    part->own = part->shared * 31 + (unsigned) rank;
    MPI_Comm_dup(MPI_COMM_WORLD, &part->world);
}

int main(int argc, char **argv)
{
    static part_t parts[MOST_THREADS];
    int level, n_ranks;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    const int n_threads = argc == 4 ? atoi(argv[2]) : 0;
    if (level < MPI_THREAD_MULTIPLE || n_threads < 1 || n_threads > MOST_THREADS || n_ranks % 2) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    other = n_ranks - 1 - rank;
    end_s = MPI_Wtime() + atof(argv[1]);
    MPI_Type_create_resized(MPI_UNSIGNED, 0, 2 * sizeof(unsigned), &with_holes);
    MPI_Type_commit(&with_holes);
    signal(SIGALRM, tell_standstill);
    alarm((unsigned) atoi(argv[1]) + STANDSTILL_S);
    for (int i = 0; i < n_threads; i++) {
        start(&parts[i], i, strtoull(argv[3], NULL, 10));
    }
    for (int i = 0; i < n_threads; i++) {
        pthread_create(&parts[i].thread, NULL, play, &parts[i]);
    }
    for (int i = 0; i < n_threads; i++) {
        pthread_join(parts[i].thread, NULL);
        MPI_Comm_free(&parts[i].world);
    }
    if (rank == 0) {
        printf("%lld rounds, 0 wrong\n", n_rounds);
    }
    MPI_Finalize();
    return 0;
}
