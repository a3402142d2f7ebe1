/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The performance variables of MPI_T that users and tools read, as one table: a row registers
 * coll_clv_<name> and is a line of docs/guide/params.md. Parameters are in
 * choose/choose_parameters.h, algorithms in choose/choose_algorithms.h.
 *
 * Not: code. PURE, so that the program that prints docs/guide/params.md needs no Open MPI.
 */
#ifndef COLL_CLV_TABLES_H
#define COLL_CLV_TABLES_H

/* Elements of arrays, in this order; <variable>_<word> in the tests. Those of calls, ran and
 * fell_back are the rows of CLV_COLLECTIVE_MAP, CLV_ALGORITHM_MAP and CLV_REASON_MAP. */
/* clang-format off */
/*     word            meaning */
#define COLL_CLV_CLASS_MAP(XX)                                                                     \
    XX(far,            "between hosts, if any host has several ranks, else of all links")          \
    XX(near,           "inside a host; 0: no ranks, or all of them, share a host")

/* Where the waiting call is: with several threads, the call that looked last. */
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

#define COLL_CLV_AHEAD_MAP(XX)                                                                     \
    XX(bytes,          "upper bound on bytes sent ahead, now: sent, and no credit message "        \
                       "confirms that their receives were posted")                                 \
    XX(bytes_max,      "the largest value of that so far")                                         \
    XX(promised_bytes, "bytes of the parameter coll_clv_ahead_bytes that this process has "        \
                       "promised to other ranks, now")                                             \
    XX(waits,          "segments that had to wait for credit")                                     \
    XX(looks,          "times that this process looked for credit messages")

/* Per process, since MPI_Init. A COUNTER counts from when its handle is made; a LEVEL has a sign.
 * first, second: fields of the source, an object of coll_clv_pvars.c; second gives the distance
 * between elements and is first where there is one. The source COMMUNICATOR is bound to one. */
/*  name                       kind     source     first, second
 *      elements   read by, meaning */
#define COLL_CLV_PVAR_MAP(XX)                                                                      \
    XX(calls,                  COUNTER, COMPONENT, calls[0], calls[1],                             \
       COLLECTIVE, "clv-bench", "calls that reached the component")                                \
    XX(planned_calls,          COUNTER, COMPONENT, times[0].planned_calls, times[1].planned_calls, \
       COLLECTIVE, "users: what did clv take", "calls that ran a plan, timed")                     \
    XX(planned_ns,             COUNTER, COMPONENT, times[0].planned_ns, times[1].planned_ns,       \
       COLLECTIVE, "users", "time of this process in those calls, ns")                             \
    XX(previous_calls,         COUNTER, COMPONENT, times[0].previous_calls,                        \
       times[1].previous_calls, COLLECTIVE, "users", "calls that ran the previous function, timed")                         \
    XX(previous_ns,            COUNTER, COMPONENT, times[0].previous_ns, times[1].previous_ns,     \
       COLLECTIVE, "users", "time of this process in those calls, ns")                             \
    XX(ran,                    COUNTER, COMPONENT, ran[0], ran[1],                                 \
       ALGORITHM, "users: what runs", "calls that ran the algorithm")                              \
    XX(fell_back,              COUNTER, COMPONENT, fell_back[0], fell_back[1],                     \
       REASON, "users: why not clv", "calls that took the previous function, by reason")           \
    XX(plans_ahead,            COUNTER, COMPONENT, counters.plans_ahead, counters.plans_ahead,     \
       ONE, "users", "calls that found their plan made by the background thread")                  \
    XX(plans_late,             COUNTER, COMPONENT, counters.plans_late, counters.plans_late,       \
       ONE, "users", "calls that made their plan themselves")                                      \
    XX(lookup_ns,              COUNTER, COMPONENT, counters.lookup_ns, counters.lookup_ns,         \
       ONE, "tests/quality/costs.sh", "time in which calls report their arrival and look up "      \
       "their plan, waits for forecasts included, ns")                                             \
    XX(calibrations,           COUNTER, COMPONENT, counters.calibrations, counters.calibrations,   \
       ONE, "tests/mpi/test_setup.sh", "communicators that measured the costs of their links; "    \
       "others reuse those of the same processes")                                                 \
    XX(yielding,               COUNTER, COMPONENT, counters.yielding, counters.yielding,           \
       ONE, "administrators", "calls that yielded their processor while waiting, because ranks "   \
       "of this host share processors (coll_clv_shared_processors)")                               \
    XX(regret_ns,              COUNTER, COMPONENT, counters.regret_ns, counters.regret_ns,         \
       ONE, "users: docs/guide/faq.md", "time lost to trials of other choices, in the streams "    \
       "that this process decides, ns")                                                            \
    XX(waited_ns,              COUNTER, COMPONENT, counters.waited_ns, counters.waited_ns,         \
       ONE, "users of coll_clv_wait", "time calls waited in Open MPI's progress, ns; only if "     \
       "coll_clv_wait is not spin, and without waits too short to be timed")                       \
    XX(asleep_ns,              COUNTER, COMPONENT, counters.asleep_ns, counters.asleep_ns,         \
       ONE, "users of coll_clv_wait", "time asleep in those waits, ns")                            \
    XX(late_wakes,             COUNTER, COMPONENT, counters.late_wakes, counters.late_wakes,       \
       ONE, "users of coll_clv_wait", "calls that may have woken late: they ended right after a "  \
       "sleep of more than 0.1 ms that no message could interrupt")                                \
    XX(late_wakes_ns,          COUNTER, COMPONENT, counters.late_wakes_ns, counters.late_wakes_ns, \
       ONE, "users of coll_clv_wait", "total length of those sleeps, ns: an upper bound on the "   \
       "lateness")                                                                                 \
    XX(link_latency_ns,        LEVEL,   COMPONENT, link.latency_ns, link.near_latency_ns,          \
       CLASS, "administrators", "time of an empty message, ns; 0 before a communicator has "       \
       "measured it, as all link variables")                                                       \
    XX(link_byte_ps,           LEVEL,   COMPONENT, link.byte_ps, link.near_byte_ps,                \
       CLASS, "administrators", "time of a byte, picoseconds")                                     \
    XX(link_early_bytes,       LEVEL,   COMPONENT, link.early_bytes, link.near_early_bytes,        \
       CLASS, "administrators", "largest message that a nonblocking send completes without its "   \
       "receiver, bytes; 0: none, or not measured")                                                \
    XX(link_combine_ps,        LEVEL,   COMPONENT, link.combine_ps, link.combine_ps,               \
       ONE, "administrators", "time to combine a byte of doubles, picoseconds; 0 if no ranks, or " \
       "all of them, share a host")                                                                \
    XX(link_gap_ns,            LEVEL,   COMPONENT, link.gap_ns, link.gap_ns,                       \
       ONE, "administrators", "least time from one message of a rank to its next, ns")             \
    XX(exchange_calls,         COUNTER, EXCHANGE,  calls, calls,                                   \
       ONE, "users: is there an exchange", "calls large enough for a plan, with an exchange")      \
    XX(exchange_sampled,       COUNTER, EXCHANGE,  sampled, sampled,                               \
       ONE, "tests/quality/costs.sh", "calls that gave a record")                                  \
    XX(exchange_forecasts,     COUNTER, EXCHANGE,  forecasts, forecasts,                           \
       ONE, "users: does it predict", "calls that had a forecast")                                 \
    XX(exchange_forecast_wait_ns, COUNTER, EXCHANGE, forecast_wait_ns, forecast_wait_ns,           \
       ONE, "tests/quality/under_load.sh", "time spent in those waits, ns")                        \
    XX(exchange_void_record_sets, COUNTER, EXCHANGE, void_record_sets, void_record_sets,           \
       ONE, "tests/mpi/soak.sh", "record sets given up because a rank had waited too long for "    \
       "them")                                                                                     \
    XX(exchange_lost_groups,   COUNTER, EXCHANGE,  lost_groups, lost_groups,                       \
       ONE, "administrators", "communicators that lost their predictions with a connection")       \
    XX(exchange_rejected,      COUNTER, EXCHANGE,  rejected, rejected,                             \
       ONE, "administrators", "connections closed because of a wrong key or malformed data")       \
    XX(exchange_sent_bytes,    COUNTER, EXCHANGE,  sent_bytes, sent_bytes,                         \
       ONE, "administrators", "bytes sent over the background channel")                            \
    XX(exchange_received_bytes, COUNTER, EXCHANGE, received_bytes, received_bytes,                 \
       ONE, "administrators", "bytes received over the background channel")                        \
    XX(exchange_thread_cpu_ns, COUNTER, EXCHANGE,  thread_cpu_ns, thread_cpu_ns,                   \
       ONE, "tests/quality/costs.sh", "CPU time of the background thread, ns")                     \
    XX(exchange_clock_offset_ns, LEVEL, QUALITY,   clock_offset_ns, clock_offset_ns,               \
       ONE, "trace recorders", "global clock of the newest communicator minus this process's "     \
       "CLOCK_MONOTONIC, now, ns; 0 without a global clock")                                       \
    XX(exchange_clock_error_ns, LEVEL,  QUALITY,   clock_error_ns, clock_error_ns,                 \
       ONE, "trace recorders", "error bound of that offset, now, ns; -1 without a global clock")   \
    XX(exchange_mean_error_ns, LEVEL,   QUALITY,   mean_error_ns, mean_error_ns,                   \
       ONE, "users: does it predict", "mean absolute error of all predictions checked so far, "    \
       "over calls and ranks, ns; -1 before the first")                                            \
    XX(exchange_forecast_wait_max_ns, LEVEL, QUALITY, forecast_wait_max_ns, forecast_wait_max_ns,  \
       ONE, "tests/quality/under_load.sh", "longest wait of a call of this process for its "       \
       "forecast, ns")                                                                             \
    XX(exchange_late_rank,     LEVEL,   QUALITY,   late_rank, late_rank,                           \
       ONE, "users: who is late", "rank that was last most often, in the communicator with the "   \
       "most sampled calls; -1: none. Only in the process that plans for its host, and with "      \
       "coll_clv_print summary")                                                                   \
    XX(ahead,                  LEVEL,   AHEAD,     bytes, bytes_max,                               \
       AHEAD, "users of coll_clv_ahead_bytes", "how far this process runs ahead of receivers")     \
    XX(wait,                   LEVEL,   WAIT,      for_what, ns,                                   \
       WAIT, "debuggers: where does it hang", "where the waiting call is")                         \
    XX(expected_wait_ns,       LEVEL,   COMMUNICATOR, , ,                                          \
       ONE, "programs: clv.h", "of a communicator: how long this rank will still wait in its "     \
       "current call or, outside a call, in its next one, ns; -1: unknown")
/* clang-format on */

#define COLL_CLV_FIELD(name, meaning) long long name;

typedef struct coll_clv_ahead_gauges {
    COLL_CLV_AHEAD_MAP(COLL_CLV_FIELD)
} coll_clv_ahead_gauges_t;

typedef struct coll_clv_where {
    COLL_CLV_WAIT_MAP(COLL_CLV_FIELD)
} coll_clv_where_t;

#undef COLL_CLV_FIELD

/* The present quality of the exchange; the clock is that of the newest communicator with one. */
typedef struct coll_clv_gauges {
    long long clock_offset_ns, clock_error_ns, mean_error_ns, forecast_wait_max_ns, late_rank;
} coll_clv_gauges_t;

#endif
