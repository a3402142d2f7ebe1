/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For programs that know when they will be back: tells clv when this rank will arrive at its next
 * MPI_Reduce, MPI_Allreduce or MPI_Bcast, or how far the work before it is (Improving Clairvoyant,
 * Fig. 9). And for those that have something to do meanwhile: how long this rank will wait for the
 * others. Header only; needs no library and no link option, and does nothing where the component
 * is absent, so it may stay in the program.
 *
 * clv predicts arrivals that repeat by itself. A program that draws its delays afresh (or has just
 * looked at the size of its next piece of work) knows better: with a hint from every rank, the next
 * call of the communicator's latest kind (root and size) is planned for the announced times. A
 * wrong hint costs time, never a wrong result. A hint from some ranks only is ignored.
 *
 * Units: ns; ns_from_now 0 to one hour; done and total in any unit.
 * Errors: none: 0 when nobody takes the hint, -1 when nobody knows.
 * Memory: none; a communicator that is asked keeps 200 bytes per kind of call.
 * Threads: clv_hint_arrival as a collective on the communicator; the others any.
 */
#ifndef CLV_H
#define CLV_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* RTLD_DEFAULT; include this header first, or define it yourself */
#endif
#include <dlfcn.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function of the component's by its name, looked for once; NULL where it is absent. */
typedef struct clv_function {
    void *at;
    int looked;
} clv_function_t;

/* Into *call_p, a pointer to that function. Any thread: all find the same. */
static inline void clv_find_function(clv_function_t *function, const char *name, void *call_p)
{
    void *at;

    if (!__atomic_load_n(&function->looked, __ATOMIC_ACQUIRE)) {
        __atomic_store_n(&function->at, dlsym(RTLD_DEFAULT, name), __ATOMIC_RELAXED);
        __atomic_store_n(&function->looked, 1, __ATOMIC_RELEASE);
    }
    at = __atomic_load_n(&function->at, __ATOMIC_RELAXED);
    __builtin_memcpy(call_p, &at, sizeof at);
}

typedef int (*clv_hint_arrival_fn)(MPI_Comm comm, long long ns_from_now);

/* Call it after the previous reduce, allreduce or broadcast on comm, before the work whose end is
 * announced. ns_from_now: 0 to one hour. Returns 1 when the hint was taken, 0 when there is nobody
 * to take it: no component, no eligible call on comm so far, a call that will not be sampled, or a
 * hint given already. Not collective; same thread rules as a collective on comm. */
static inline int clv_hint_arrival(MPI_Comm comm, long long ns_from_now)
{
    static clv_function_t function;
    clv_hint_arrival_fn call;

    clv_find_function(&function, "coll_clv_hint_arrival", &call);
    return call ? call(comm, ns_from_now) : 0;
}

typedef int (*clv_hint_progress_fn)(MPI_Comm comm, double done, double total);

/* Call it any number of times between two calls on comm, with the work done so far and all of it:
 * 0 <= done <= total, 0 < total. At the first report behind an eighth of the work, this rank's
 * arrival is announced as if the rest took as long in proportion; so report at least that often,
 * and once before the work starts (done = 0). A report is ignored where done is less than before,
 * total another than in the first, or a number out of range. An announcement that came before
 * counts instead. Returns 1 when this report announced the arrival. Takes about 20 ns, less than
 * 0.1 us. Not while a call is under way on comm; several threads may report at once. */
static inline int clv_hint_progress(MPI_Comm comm, double done, double total)
{
    static clv_function_t function;
    clv_hint_progress_fn call;

    clv_find_function(&function, "coll_clv_hint_progress", &call);
    return call ? call(comm, done, total) : 0;
}

typedef long long (*clv_expected_wait_fn)(MPI_Comm comm);

/* How long this rank is expected to wait for others: in the call on comm that it is in, from now
 * on; outside of one, in its next call, which is taken to be the one that followed the last call
 * the last time. ns; 0: not at all; -1: not known. By this rank's own earlier waits, and by
 * forecasts where there are some. The first question turns that on, so it has no answer. Calls
 * that count are those of the collectives that clv takes over; with coll_clv_wait sleep or yield
 * all MPI_Reduce, MPI_Allreduce, MPI_Bcast and MPI_Barrier. Not collective; any thread, while comm
 * lives. */
static inline long long clv_expected_wait_ns(MPI_Comm comm)
{
    static clv_function_t function;
    clv_expected_wait_fn call;

    clv_find_function(&function, "coll_clv_expected_wait_ns", &call);
    return call ? call(comm) : -1;
}

#ifdef __cplusplus
}
#endif

#endif
