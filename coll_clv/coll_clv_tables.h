/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The counters and gauges that users can read, as tables: one row per item. The row generates the
 * struct field, the registration and docs/guide/params.md. Parameters are in
 * choose/choose_parameters.h, algorithms in choose/choose_algorithms.h.
 *
 * Not: code. PURE, so that the program that prints docs/guide/params.md needs no Open MPI.
 */
#ifndef COLL_CLV_TABLES_H
#define COLL_CLV_TABLES_H

/* MPI_T performance variables coll_clv_<name>, counted in this process since MPI_Init. In addition
 * there are coll_clv_ran_<word> per algorithm and coll_clv_<name>_calls per collective. */
/* clang-format off */
/*     name                meaning */
#define COLL_CLV_COUNTER_MAP(XX)                                                                   \
    XX(calls,             "calls that reached the component")                                      \
    XX(plans_ahead,       "calls that found their plan made by the background thread")             \
    XX(plans_late,        "calls that made their plan themselves")                                 \
    XX(lookup_ns,         "time in which calls report their arrival and look up their plan, "      \
                          "waits for forecasts included, ns")                                      \
    XX(nonblocking,       "nonblocking collectives begun, which clv never plans; counted only "    \
                          "while recording or with coll_clv_print summary")                        \
    XX(persistent,        "persistent collectives created, which clv never plans; counted as "     \
       "nonblocking ones")                                                                         \
    XX(calibrations,      "communicators that measured the costs of their links; others reuse "    \
                          "those of the same processes")                                           \
    XX(yielding,          "calls that yielded their processor while waiting, because ranks of "    \
                          "this host share processors (coll_clv_shared_processors)")               \
    XX(waited_ns,         "time calls waited in Open MPI's progress, ns; only if coll_clv_wait "   \
                          "is not spin, and without waits too short to be timed")                  \
    XX(asleep_ns,         "time asleep in those waits, ns")                                        \
    XX(late_wakes,        "calls that may have woken late: they ended right after a sleep of "     \
                          "more than 0.1 ms that no message could interrupt")                      \
    XX(late_wakes_ns,     "total length of those sleeps, ns: an upper bound on the lateness")      \
    XX(regret_ns,         "time lost to trials of other choices, in the streams that this "        \
                          "process decides, ns")
/* clang-format on */

/* MPI_T performance variables coll_clv_<collective>_<field>, over the calls that the exchange saw;
 * fields of coll_clv_times_t. name, code, mpi: of the collective's row. */
/* clang-format off */
#define COLL_CLV_TIME_MAP(XX, name, code, mpi)                                                     \
    XX(planned_calls,  name, code, "calls of " mpi " that ran a plan, timed")                      \
    XX(planned_ns,     name, code, "time of this process in those calls, ns")                      \
    XX(previous_calls, name, code, "calls of " mpi " that ran the previous function, timed")       \
    XX(previous_ns,    name, code, "time of this process in those calls, ns")                      \
    XX(first_pace_ns,  name, code, "mean time from one call of " mpi " to the next on this "       \
                       "process, over the first 20, ns")                                           \
    XX(newest_pace_ns, name, code, "the same over the newest 20, ns")
/* clang-format on */

/* MPI_T performance variables coll_clv_plan_cache_<name>, over this process's plan caches since
 * MPI_Init; only the process that plans for its host uses them. Fields n_<name> of
 * clv_plan_cache_counters_t. */
/* clang-format off */
/*     name        meaning */
#define COLL_CLV_CACHE_MAP(XX)                                                                     \
    XX(hits,      "plans of candidates that the background thread found in its cache")             \
    XX(misses,    "plans of candidates that the background thread had to make")                    \
    XX(evictions, "plans dropped from the cache to make room for newer ones")
/* clang-format on */

/* MPI_T performance variables coll_clv_exchange_<name>: the present quality of the exchange. Signed
 * levels, not counters. The clock is that of the newest communicator with an exchange. */
/* clang-format off */
/*     name            meaning */
#define COLL_CLV_GAUGE_MAP(XX)                                                                     \
    XX(clock_offset_ns, "global clock of the newest communicator minus this process's "            \
                        "CLOCK_MONOTONIC, now, ns; 0 without a global clock")                      \
    XX(clock_error_ns,  "error bound of that offset, now, ns; -1 without a global clock")          \
    XX(mean_error_ns,   "mean absolute error of all predictions checked so far, over calls and "   \
                        "ranks, ns; -1 before the first")                                          \
    XX(forecast_wait_max_ns, "longest wait of a call of this process for its forecast, ns")        \
    XX(late_rank,       "rank that was last most often, in the communicator with the most "        \
                        "sampled calls; -1: none. Only in the process that plans for its host, "   \
                        "and with coll_clv_print summary")                                         \
    XX(late_calls,      "number of sampled calls at which that rank was last")                     \
    XX(late_of_calls,   "number of sampled calls in that communicator")
/* clang-format on */

typedef struct coll_clv_gauges {
#define COLL_CLV_GAUGE_FIELD(name, meaning) long long name;
    COLL_CLV_GAUGE_MAP(COLL_CLV_GAUGE_FIELD)
#undef COLL_CLV_GAUGE_FIELD
} coll_clv_gauges_t;

/* MPI_T performance variables coll_clv_link_<name>, as measured and agreed by the newest
 * communicator with an exchange; 0 while there is none. Fields of clv_cost_t, one row each. */
/* clang-format off */
/*     name             meaning */
#define COLL_CLV_LINK_MAP(XX)                                                                      \
    XX(latency_ns,      "time of an empty message, ns; between hosts if any host has several "     \
                        "ranks")                                                                   \
    XX(byte_ps,         "time of a byte on the same links, picoseconds")                           \
    XX(near_latency_ns, "time of an empty message between ranks of a host, ns; 0 if no ranks, "    \
                        "or all of them, share a host")                                            \
    XX(near_byte_ps,    "time of a byte on the same links, picoseconds")                           \
    XX(combine_ps,      "time to combine a byte of doubles, picoseconds; 0 as above")              \
    XX(gap_ns,          "least time from one message of a rank to its next, ns")                   \
    XX(early_bytes,     "largest message that a nonblocking send completes without its "           \
                        "receiver, bytes; 0: none; between hosts if any host has several ranks")   \
    XX(near_early_bytes, "the same between ranks of a host, bytes; 0: none, or not measured")
/* clang-format on */

/* MPI_T performance variables coll_clv_ahead_<name>, of this process. */
/* clang-format off */
/*     name            meaning */
#define COLL_CLV_AHEAD_MAP(XX)                                                                     \
    XX(bytes,          "upper bound on bytes sent ahead, now: sent, and no credit message "        \
                       "confirms that their receives were posted")                                 \
    XX(bytes_max,      "the largest value of that so far")                                         \
    XX(promised_bytes, "bytes of coll_clv_ahead_bytes that this process has promised to other "    \
                       "ranks, now")                                                               \
    XX(waits,          "segments that had to wait for credit")                                     \
    XX(looks,          "times that this process looked for credit messages")
/* clang-format on */

typedef struct coll_clv_ahead_gauges {
#define COLL_CLV_AHEAD_FIELD(name, meaning) long long name;
    COLL_CLV_AHEAD_MAP(COLL_CLV_AHEAD_FIELD)
#undef COLL_CLV_AHEAD_FIELD
} coll_clv_ahead_gauges_t;
/* MPI_T performance variables coll_clv_<name>: identity of the component. */
/* clang-format off */
/*     name      value                                                             meaning */
#define COLL_CLV_ABOUT_MAP(XX)                                                                     \
    XX(version,  10000 * CLV_VERSION_MAJOR + 100 * CLV_VERSION_MINOR + CLV_VERSION_RELEASE,        \
       "version of the component: 10000 times the first of its three numbers, 100 times the "      \
       "second, and the third")
/* clang-format on */

/* MPI_T performance variables coll_clv_<name>, each bound to a communicator. */
/* clang-format off */
/*     name               meaning */
#define COLL_CLV_BOUND_MAP(XX)                                                                     \
    XX(expected_wait_ns,  "of a communicator: how long this rank will still wait in its current "  \
                          "call or, outside a call, in its next one, ns; -1: unknown. See "        \
                          "clv_expected_wait_ns in clv.h")
/* clang-format on */

/* MPI_T performance variables coll_clv_wait_<name>: where the waiting call is (with several
 * threads, the call that looked last). Set after COLL_CLV_WAIT_TURNS idle turns. */
/* clang-format off */
/*     name            meaning */
#define COLL_CLV_WAIT_MAP(XX)                                                                      \
    XX(for_what,       "what a call of this process waits for now: 0 nothing, or nothing of "      \
                       "clv; 1 a forecast; 2 messages of a plan")                                  \
    XX(ns,             "time since the wait last made progress, ns")                               \
    XX(forecast,       "number of the awaited forecast in its stream, from 1; 0: none")            \
    XX(receives,       "segments that the call still waits for")                                   \
    XX(sends,          "segments sent whose sends are not complete")                               \
    XX(receive_rank,   "rank from which the first awaited segment comes")                          \
    XX(receive_segment, "number of that segment")                                                  \
    XX(send_rank,      "rank to which the first incomplete send goes")                             \
    XX(send_segment,   "number of that segment")                                                   \
    XX(steps,          "steps of the plan that are begun")
/* clang-format on */

typedef struct coll_clv_where {
#define COLL_CLV_WAIT_FIELD(name, meaning) long long name;
    COLL_CLV_WAIT_MAP(COLL_CLV_WAIT_FIELD)
#undef COLL_CLV_WAIT_FIELD
} coll_clv_where_t;

#endif
