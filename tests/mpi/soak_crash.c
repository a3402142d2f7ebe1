/* SPDX-License-Identifier: BSD-3-Clause
 * See soak.h.
 */
#include "ompi_config.h"

#include "tests/mpi/soak.h"

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "ompi/communicator/communicator.h"
#include "ompi/mca/coll/coll.h"

/* The number that its messages carry, or in later releases its place in the table. */
#if defined(MCA_COLL_BASE_VERSION_2_4_0) || defined(MCA_COLL_BASE_VERSION_3_0_0)
#define CONTEXT_OF(comm) ((unsigned) (comm)->c_index)
#else
#define CONTEXT_OF(comm) ((unsigned) (comm)->c_contextid)
#endif

#define N_NOTES  64 /* the newest are kept */
#define MAX_DEEP 64 /* frames of a stack */

/* How long the process waits for the script, which takes the stacks of all its threads. */
#define WAIT_SECONDS 60

typedef struct note {
    long long at_ms;
    int thread;
    soak_event_t event;
    MPI_Comm comm;
    unsigned context; /* ~0: not any more */
} note_t;

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
#define N_SIGNALS ((int) (sizeof signals / sizeof signals[0]))

static const soak_t *all_soaks;
static int n_soaks, own_rank, peek_pipe[2] = {-1, -1};
static struct timespec begun;
static struct sigaction before[N_SIGNALS];
static note_t notes[N_NOTES];
static unsigned n_notes;
static int is_reported;

static long long ms_now(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - begun.tv_sec) * 1000LL + (now.tv_nsec - begun.tv_nsec) / 1000000;
}

/* Copies what may be no memory any more: through a pipe, where the kernel looks. Whether it was
 * there. */
static int peek(const void *from, void *to, size_t n_bytes)
{
    return from != NULL && write(peek_pipe[1], from, n_bytes) == (ssize_t) n_bytes &&
           read(peek_pipe[0], to, n_bytes) == (ssize_t) n_bytes;
}

/* ---- notes ----------------------------------------------------------------------------------- */

void soak_crash_note(const soak_t *soak, soak_event_t event, MPI_Comm comm)
{
    const unsigned n = __atomic_fetch_add(&n_notes, 1, __ATOMIC_RELAXED);

    notes[n % N_NOTES] = (note_t){.at_ms = ms_now(),
                                  .thread = (int) (soak - all_soaks),
                                  .event = event,
                                  .comm = comm,
                                  .context = event == SOAK_FREED ? ~0U : CONTEXT_OF(comm)};
}

static void tell_notes(void)
{
    static const char *const words[] = {"makes one from", "made", "frees", "freed"};
    const unsigned end = n_notes;

    for (unsigned n = end < N_NOTES ? 0 : end - N_NOTES; n < end; n++) {
        const note_t *note = &notes[n % N_NOTES];
        fprintf(stderr, "soak: CRASH rank %d at %lld ms: thread %d %s %p, context %d\n", own_rank,
                note->at_ms, note->thread, words[note->event], (void *) note->comm,
                (int) note->context);
    }
}

/* ---- what is --------------------------------------------------------------------------------- */

static void tell_comm(int thread, const char *name, MPI_Comm comm)
{
    struct ompi_communicator_t copy;

    if (comm == MPI_COMM_NULL || !peek(comm, &copy, sizeof copy)) {
        fprintf(stderr, "soak: CRASH rank %d thread %d %s %p: %s\n", own_rank, thread, name,
                (void *) comm, comm == MPI_COMM_NULL ? "null" : "cannot be read");
        return;
    }
    fprintf(stderr,
            "soak: CRASH rank %d thread %d %s %p: references %d, context %u, flags %#x, rank %d, "
            "group %p, pml %p, coll %p\n",
            own_rank, thread, name, (void *) comm,
            (int) ((const opal_object_t *) &copy)->obj_reference_count, CONTEXT_OF(&copy),
            copy.c_flags, copy.c_my_rank, (void *) copy.c_local_group, (void *) copy.c_pml_comm,
            (void *) copy.c_coll);
}

static void tell_thread(int thread)
{
    const soak_t *soak = &all_soaks[thread];
    char name[16];

    fprintf(stderr,
            "soak: CRASH rank %d thread %d%s: step %lld, %s%s, %d items, %d ranks, root %d\n",
            own_rank, thread, pthread_equal(soak->self, pthread_self()) ? ", this one" : "",
            soak->step, soak->doing, soak->doing_open ? ", nonblocking" : "", soak->doing_count,
            soak->doing_ranks, soak->doing_root);
    tell_comm(thread, "world", soak->world);
    tell_comm(thread, "ring", soak->ring);
    for (int which = 0; which < SOAK_PARTS; which++) {
        (void) snprintf(name, sizeof name, "part %d", which);
        tell_comm(thread, name, soak->part[which]);
    }
}

static void tell_registers(const ucontext_t *context)
{
#if defined(__x86_64__)
    static const char *const names[] = {"r8",  "r9",  "r10", "r11", "r12", "r13",
                                        "r14", "r15", "rdi", "rsi", "rbp", "rbx",
                                        "rdx", "rax", "rcx", "rsp", "rip"};

    fprintf(stderr, "soak: CRASH rank %d registers:", own_rank);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        fprintf(stderr, " %s=%llx", names[i], (unsigned long long) context->uc_mcontext.gregs[i]);
    }
    fprintf(stderr, "\n");
#else
    (void) context;
#endif
}

/* ---- the signal ------------------------------------------------------------------------------ */

static void give_back(void)
{
    for (int i = 0; i < N_SIGNALS; i++) {
        (void) sigaction(signals[i], &before[i], NULL);
    }
}

/* stdio and the stack's names are not made for a signal's handler; but there is nothing to lose. */
static void tell(int number, siginfo_t *info, void *context)
{
    void *frames[MAX_DEEP];

    while (__atomic_exchange_n(&is_reported, 1, __ATOMIC_RELAXED)) { /* another thread's, not yet */
        (void) pause();
    }
    fprintf(stderr, "soak: CRASH rank %d: signal %d, code %d, address %p, at %lld ms\n", own_rank,
            number, info->si_code, info->si_addr, ms_now());
    tell_registers(context);
    for (int i = 0; i < n_soaks; i++) {
        tell_thread(i);
    }
    tell_notes();
    fprintf(stderr, "soak: CRASH stack of rank %d:\n", own_rank);
    backtrace_symbols_fd(frames, backtrace(frames, MAX_DEEP), STDERR_FILENO);
    fprintf(stderr, "soak: CRASH pid %d\n", (int) getpid());
    (void) sleep(WAIT_SECONDS);
    give_back();
    if (info->si_code <= 0) { /* sent by somebody: it does not come again by itself */
        (void) raise(number);
    }
}

/* backtrace loads a library the first time, which must not be then. */
void soak_crash_watch(const soak_t *soaks, int n_threads, int rank)
{
    struct sigaction action = {.sa_sigaction = tell, .sa_flags = SA_SIGINFO};
    void *frame;

    (void) clock_gettime(CLOCK_MONOTONIC, &begun);
    all_soaks = soaks;
    n_soaks = n_threads;
    own_rank = rank;
    (void) backtrace(&frame, 1);
    if (pipe(peek_pipe) != 0) {
        perror("soak: no pipe");
    }
    for (int i = 0; i < N_SIGNALS; i++) {
        (void) sigaction(signals[i], &action, &before[i]);
    }
}

void soak_crash_break(MPI_Comm comm)
{
    comm->c_pml_comm = NULL;
}
