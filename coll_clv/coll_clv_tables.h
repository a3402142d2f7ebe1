/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What users can see, as tables: counters and gauges. One row per item; the struct fields, the
 * registration and docs/guide/params.md come out of the row. What they can set is in
 * choose/choose_parameters.h, what can run in choose/choose_algorithms.h.
 *
 * Not: code. PURE, so that the program that prints docs/guide/params.md needs no Open MPI.
 */
#ifndef COLL_CLV_TABLES_H
#define COLL_CLV_TABLES_H

/* MPI_T performance variables coll_clv_<name>: counted in this process since MPI_Init. Beside them
 * coll_clv_ran_<word> per algorithm and coll_clv_<name>_calls per collective. */
/* clang-format off */
/*     name                meaning */
#define COLL_CLV_COUNTER_MAP(XX)                                                                   \
    XX(calls,             "calls that reached the component")                                      \
    XX(plans_ahead,       "calls that found their plan made by the background thread")             \
    XX(plans_late,        "calls that made their plan themselves")                                 \
    XX(lookup_ns,         "time calls took to give their arrival and find their plan, waits for "  \
                          "forecasts included, ns")                                                \
    XX(nonblocking,       "nonblocking collectives begun; counted where calls are recorded or "    \
                          "coll_clv_print has summary. clv plans none of them")                    \
    XX(persistent,        "persistent collectives made; counted and planned as those")             \
    XX(calibrations,      "communicators that measured what their links cost; others are over the " \
                          "same processes as one before")                                          \
    XX(yielding,          "calls that gave their processor away while they waited, as ranks of "  \
                          "this host share processors (coll_clv_shared_processors)")               \
    XX(waited_ns,         "time calls waited in Open MPI's progress, where coll_clv_wait is "  \
                          "not spin, ns; what was too short to look at a clock is not in it")                \
    XX(asleep_ns,         "of that, asleep, ns")                                                   \
    XX(late_wakes,        "calls that ended right after a sleep of more than 0.1 ms which no "     \
                          "message could end: what they waited for may have come during it")       \
    XX(late_wakes_ns,     "the length of those sleeps, ns: so late at most")                       \
    XX(regret_ns,         "time lost to trying other choices, in the streams that this "   \
                          "process decides for, ns")
/* clang-format on */

/* MPI_T performance variables coll_clv_<collective>_<field>: of the calls that the exchange saw;
 * fields of coll_clv_times_t. name, code, mpi: of the collective's row. */
/* clang-format off */
#define COLL_CLV_TIME_MAP(XX, name, code, mpi)                                                     \
    XX(planned_calls,  name, code, "calls of " mpi " that ran a plan, timed")                      \
    XX(planned_ns,     name, code, "time this process spent in them, ns")                          \
    XX(previous_calls, name, code, "calls of " mpi " that ran the previous function, timed")       \
    XX(previous_ns,    name, code, "time this process spent in them, ns")                          \
    XX(first_pace_ns,  name, code, "from one call of " mpi " to the next on this process, mean of " \
                       "the first 20, ns")                                                         \
    XX(newest_pace_ns, name, code, "the same of the newest 20, ns")
/* clang-format on */

/* MPI_T performance variables coll_clv_plan_cache_<name>: of the plan caches in this process, which
 * only the process that plans for its node uses; counted since MPI_Init. Fields n_<name> of
 * clv_plan_cache_counters_t. */
/* clang-format off */
/*     name        meaning */
#define COLL_CLV_CACHE_MAP(XX)                                                                     \
    XX(hits,      "plans of candidates that the background thread found in its cache")             \
    XX(misses,    "plans of candidates that the background thread had to make")                    \
    XX(evictions, "plans dropped from the cache to make room for newer ones")
/* clang-format on */

/* MPI_T performance variables coll_clv_exchange_<name>: how good it is now. Whole numbers with a
 * sign, not counted. The clock is that of the communicator that joined the exchange last. */
/* clang-format off */
/*     name            meaning */
#define COLL_CLV_GAUGE_MAP(XX)                                                                     \
    XX(clock_offset_ns, "global clock of the newest communicator minus this process's "            \
                        "CLOCK_MONOTONIC, now, ns; 0 while there is none")                         \
    XX(clock_error_ns,  "bound of the error of that offset, now, ns; -1 while there is no global " \
                        "clock")                                                                   \
    XX(mean_error_ns,   "mean absolute error of the predictions judged so far, over their calls "  \
                        "and all ranks, ns; -1 before the first")                                  \
    XX(forecast_wait_max_ns, "longest wait of a call of this process for its forecast, ns")        \
    XX(late_rank,       "rank that was last most often at sampled calls, in the communicator with "\
                        "the most of them; in the process that plans for its node, where "         \
                        "coll_clv_print has summary; -1: none")                                    \
    XX(late_calls,      "at so many of them it was last")                                          \
    XX(late_of_calls,   "so many there were")
/* clang-format on */

typedef struct coll_clv_gauges {
#define COLL_CLV_GAUGE_FIELD(name, meaning) long long name;
    COLL_CLV_GAUGE_MAP(COLL_CLV_GAUGE_FIELD)
#undef COLL_CLV_GAUGE_FIELD
} coll_clv_gauges_t;

/* MPI_T performance variables coll_clv_link_<name>: as measured and agreed by the communicator that
 * joined the exchange last; 0 while there is none. Fields of clv_cost_t, one row each. */
/* clang-format off */
/*     name             meaning */
#define COLL_CLV_LINK_MAP(XX)                                                                      \
    XX(latency_ns,      "time of a message without its bytes, between nodes where several ranks "  \
                        "share a node, ns")                                                        \
    XX(byte_ps,         "time of a byte there, picoseconds")                                       \
    XX(near_latency_ns, "time of a message without its bytes between ranks of a node, ns; 0 where "\
                        "none or all are on one node")                                             \
    XX(near_byte_ps,    "time of a byte there, picoseconds")                                       \
    XX(combine_ps,      "time to combine a byte of doubles, picoseconds; 0 as above")              \
    XX(gap_ns,          "from one message of a rank to its next, however short they are, ns")      \
    XX(early_bytes,     "largest message that a nonblocking send completes without its receiver, " \
                        "between nodes where several ranks share a node, bytes; 0: none does")     \
    XX(near_early_bytes, "the same between ranks of a node, bytes; 0: none, or not measured")
/* clang-format on */

/* MPI_T performance variables coll_clv_ahead_<name>, of this process. */
/* clang-format off */
/*     name            meaning */
#define COLL_CLV_AHEAD_MAP(XX)                                                                     \
    XX(bytes,          "bytes sent ahead at most: no word that they were posted for has been " \
                       "taken, now")                                                               \
    XX(bytes_max,      "the most of them at any time")                                             \
    XX(promised_bytes, "bytes of coll_clv_ahead_bytes that others may send ahead to this process, " \
                       "now")                                                                      \
    XX(waits,          "segments that had to wait for credit")                                     \
    XX(looks,          "times that words of receivers were looked for")
/* clang-format on */

typedef struct coll_clv_ahead_gauges {
#define COLL_CLV_AHEAD_FIELD(name, meaning) long long name;
    COLL_CLV_AHEAD_MAP(COLL_CLV_AHEAD_FIELD)
#undef COLL_CLV_AHEAD_FIELD
} coll_clv_ahead_gauges_t;
/* MPI_T performance variables coll_clv_<name>: what this is. */
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
    XX(expected_wait_ns,  "of a communicator: how long this rank will wait yet in the call that it is in " \
                          "or, outside, in its next one, ns; -1: not known. As "                   \
                          "clv_expected_wait_ns of clv.h says")
/* clang-format on */

/* MPI_T performance variables coll_clv_wait_<name>: where the call is that waits, now (of several
 * threads' calls the one that looked last). Set after COLL_CLV_WAIT_TURNS idle turns. */
/* clang-format off */
/*     name            meaning */
#define COLL_CLV_WAIT_MAP(XX)                                                                      \
    XX(for_what,       "what a call of this process waits for now: 0 nothing (or none of ours "    \
                       "waits), 1 a forecast, 2 messages of a plan")                               \
    XX(ns,             "how long nothing of it has moved, ns")                                     \
    XX(forecast,       "the forecast it waits for, counted from 1 in its stream; 0: none")         \
    XX(receives,       "segments it waits for")                                                    \
    XX(sends,          "segments it has sent that nobody has taken")                               \
    XX(receive_rank,   "whom the first of the former comes from, a rank of the communicator")      \
    XX(receive_segment, "which one that is")                                                       \
    XX(send_rank,      "whom the first of the latter goes to")                                     \
    XX(send_segment,   "which one that is")                                                        \
    XX(steps,          "steps of its plan that are begun")
/* clang-format on */

typedef struct coll_clv_where {
#define COLL_CLV_WAIT_FIELD(name, meaning) long long name;
    COLL_CLV_WAIT_MAP(COLL_CLV_WAIT_FIELD)
#undef COLL_CLV_WAIT_FIELD
} coll_clv_where_t;

#endif
