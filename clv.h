/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hints of a program to clv: when this rank will arrive at its next MPI_Reduce, MPI_Allreduce or
 * MPI_Bcast, or how far the work before it is (Improving Clairvoyant, Fig. 9). And an answer for
 * programs that can work meanwhile: how long this rank will wait for the others. Header only: it
 * needs no library and no link option, and does nothing without the component, so it may stay in
 * the program.
 *
 * Without hints clv predicts arrivals that repeat. A program that draws its delays afresh, or has
 * just seen the size of its next piece of work, knows better: if every rank gives a hint, clv plans
 * the next call of the communicator's latest kind (root and size) for the announced times. A wrong
 * hint costs time, never a wrong result. clv ignores a hint from only some ranks.
 *
 * Units: ns; ns_from_now 0 to one hour; done and total in any unit.
 * Errors: none: 0 if clv does not take the hint, -1 if it does not know.
 * Memory: none; a communicator asked for its wait keeps 200 bytes per kind of call.
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

/* A function of the component, looked up once by its name; NULL without the component. */
typedef struct clv_function {
    void *at;
    int looked;
} clv_function_t;

/* Stores a pointer to that function in *call_p. Any thread: all find the same. */
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
 * announced. ns_from_now: 0 to one hour. Returns 1 if clv took the hint, else 0: no component, no
 * eligible call on comm so far, a call that will not be sampled, or an earlier hint for it. Not
 * collective; same thread rules as a collective on comm. */
static inline int clv_hint_arrival(MPI_Comm comm, long long ns_from_now)
{
    static clv_function_t function;
    clv_hint_arrival_fn call;

    clv_find_function(&function, "coll_clv_hint_arrival", &call);
    return call ? call(comm, ns_from_now) : 0;
}

typedef int (*clv_hint_progress_fn)(MPI_Comm comm, double done, double total);

/* Call it any number of times between two calls on comm, with the work done so far and the total
 * work (0 <= done <= total, 0 < total). The first report beyond an eighth of the work announces
 * this rank's arrival, extrapolated in proportion; so report at least that often, and once before
 * the work starts (done = 0). clv ignores a report whose done has decreased, whose total differs
 * from the first report's, or whose numbers are out of range. An earlier announcement takes
 * precedence. Returns 1 when this report announced the arrival. Takes about 20 ns, less than 0.1
 * us. Not while a call is under way on comm; several threads may report at once. */
static inline int clv_hint_progress(MPI_Comm comm, double done, double total)
{
    static clv_function_t function;
    clv_hint_progress_fn call;

    clv_find_function(&function, "coll_clv_hint_progress", &call);
    return call ? call(comm, done, total) : 0;
}

typedef long long (*clv_expected_wait_fn)(MPI_Comm comm);

/* How long this rank is expected to wait for others, ns: in its current call on comm, from now on;
 * outside a call, in its next one, assumed to be the call that followed the last one the time
 * before. 0: no wait; -1: not known. Derived from this rank's own earlier waits, and from forecasts
 * if there are any. The first question turns this on, so its answer is -1. It covers the
 * collectives that clv takes over; with coll_clv_wait sleep or yield all MPI_Reduce, MPI_Allreduce,
 * MPI_Bcast and MPI_Barrier. Not collective; any thread, while comm lives. */
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
