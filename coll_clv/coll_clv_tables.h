/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What users can set and see, as tables: parameters, algorithms, counters. One row per item; the
 * struct fields, the registration, the range check, docs/guide/params.md and a test come out of the row.
 *
 * Not: code. PURE, so that the program that prints docs/guide/params.md needs no Open MPI.
 * Units are in the names. Levels are those of MPI_T: 1 to 3 for users, 4 to 6 for tuning, 7 to 9
 * for developers.
 */
#ifndef COLL_CLV_TABLES_H
#define COLL_CLV_TABLES_H

/* Values of coll_clv_reduce_algorithm. Order is the code; codes are what enumerators store. */
/*     code           spelling        meaning */
#define COLL_CLV_ALGORITHM_MAP(XX)                                                                 \
    XX(AUTO,         "auto",         "choose by prediction and cost")                              \
    XX(PREVIOUS,     "previous",     "the reduce that was installed before this component")        \
    XX(CLAIRVOYANT,  "clairvoyant",  "the clairvoyant plan for the predicted arrivals")            \
    XX(LATEST_FIRST, "latest_first", "the latest-arrival-first plan")                              \
    XX(CHAIN,        "chain",        "a pipelined chain, latest arrival nearest the root")         \
    XX(BINOMIAL,     "binomial",     "Open MPI's binomial tree")                                   \
    XX(RABENSEIFNER, "rabenseifner", "Open MPI's reduce-scatter and gather by halving")            \
    XX(RING,         "ring",         "reduce-scatter on a ring, then gather to the root")

/* Values of coll_clv_reproducible. */
#define COLL_CLV_REPRODUCIBLE_MAP(XX)                                                              \
    XX(OFF,    "off",    "the order of combination may differ from call to call")                  \
    XX(FLOAT,  "float",  "one fixed order for floating-point and user-defined reductions")         \
    XX(ALWAYS, "always", "one fixed order for every reduction")

/* Values of coll_clv_predictor: names of clv_pap_predictors[] in their order, since the code is the
 * index into it (tests/unit/test_coll_tables compares them). */
#define COLL_CLV_PREDICTOR_MAP(XX)                                                                 \
    XX(BEST,     "best",     "whichever of the others was least wrong in the last calls")          \
    XX(PERIODIC, "periodic", "average of the calls at the same phase, where there is a period")    \
    XX(SMA,      "sma",      "simple moving average of the window")                                \
    XX(EWMA,     "ewma",     "exponentially weighted average, newest weighs most")                 \
    XX(MEDIAN,   "median",   "median of the window, rank by rank")                                 \
    XX(COMPUTE,  "compute",  "exit of the last call plus the average computing time, rank by rank")

/* Values of coll_clv_print; several may be given, separated by commas. */
#define COLL_CLV_PRINT_MAP(XX)                                                                     \
    XX(NONE,  "none",  0, "nothing")                                                               \
    XX(BOARD, "board", 1, "the predicted arrivals of each new board")                              \
    XX(PLAN,  "plan",  2, "each new plan")

/* kind: INT a whole number; BOOL; ENUM one word of COLL_CLV_<values>_MAP; FLAGS words of it;
 * STRING (min and max are lengths). */
/*     kind    name              values        default  min  max         unit   level meaning */
#define COLL_CLV_PARAM_MAP(XX)                                                                     \
    XX(INT,    priority,         NONE,         0,       0,   100,        "",        1,             \
       "Priority of the component. 0 leaves it off, except that naming it (--mca coll clv) then "  \
       "counts as 45: above the components of Open MPI that compute, below those that wrap others") \
    XX(ENUM,   reduce_algorithm, ALGORITHM,    0,       0,   7,          "",        3,             \
       "Algorithm of MPI_Reduce; any value but auto forces it wherever it is correct")             \
    XX(INT,    min_bytes,        NONE,         32768,   1,   2147483647, "bytes",   4,             \
       "Smallest vector that is predicted and planned; smaller ones take the previous reduce")     \
    XX(INT,    min_ranks,        NONE,         3,       2,   1048576,    "ranks",   4,             \
       "Smallest communicator that is predicted and planned")                                      \
    XX(INT,    segment_bytes,    NONE,         0,       0,   1073741824, "bytes",   5,             \
       "Size of a segment of a plan; 0: chosen for each vector")                                   \
    XX(INT,    round_time_ns,    NONE,         0,       0,   1000000000, "ns",      6,             \
       "Time that one segment takes from one rank to the next; 0: measured")                       \
    XX(INT,    sma_window,       NONE,         8,       1,   64,         "calls",   5,             \
       "Number of earlier calls that the predictor of arrival times looks at")                     \
    XX(ENUM,   predictor,        PREDICTOR,    0,       0,   5,          "",        5,             \
       "How arrival times are predicted from those of earlier calls")                              \
    XX(BOOL,   exchange,         NONE,         1,       0,   1,          "",        4,             \
       "Exchange arrival times in the background; without it nothing is predicted")                \
    XX(STRING, interface,        NONE,         "",      0,   255,        "",        5,             \
       "Network interface of the background exchange (name, address or address/bits); "            \
       "empty: chosen")                                                                            \
    XX(ENUM,   reproducible,     REPRODUCIBLE, 0,       0,   2,          "",        3,             \
       "Which reductions must combine in the same order in every call and every run")              \
    XX(INT,    verbose,          NONE,         0,       0,   100,        "",        2,             \
       "What to tell: 0 errors, 10 the algorithm and the reason when they change, 30 every call")  \
    XX(FLAGS,  print,            PRINT,        0,       0,   3,          "",        5,             \
       "What to print in full")

/* Parameters that decide what runs: a communicator whose ranks do not agree on them is left to the
 * previous reduce (coll_clv_peers.c). All but those that only this process sees. */
#define COLL_CLV_SHARED_MAP(XX)                                                                    \
    XX(priority)                                                                                   \
    XX(reduce_algorithm)                                                                           \
    XX(min_bytes)                                                                                  \
    XX(min_ranks)                                                                                  \
    XX(segment_bytes)                                                                              \
    XX(round_time_ns)                                                                              \
    XX(sma_window)                                                                                 \
    XX(predictor)                                                                                  \
    XX(exchange)                                                                                   \
    XX(reproducible)

typedef enum coll_clv_shared {
#define COLL_CLV_SHARED_ENUM(name) COLL_CLV_SHARED_##name,
    COLL_CLV_SHARED_MAP(COLL_CLV_SHARED_ENUM)
#undef COLL_CLV_SHARED_ENUM
    COLL_CLV_N_SHARED
} coll_clv_shared_t;

/* MPI_T performance variables coll_clv_<name>: counted in this process since MPI_Init. */
/*     name                meaning */
#define COLL_CLV_COUNTER_MAP(XX)                                                                   \
    XX(calls,             "calls of MPI_Reduce that reached the component")                        \
    XX(ran_previous,      "calls that took the previous reduce")                                   \
    XX(ran_clairvoyant,   "calls that ran a clairvoyant plan")                                     \
    XX(ran_latest_first,  "calls that ran a latest-arrival-first plan")                            \
    XX(ran_chain,         "calls that ran a sorted chain")                                         \
    XX(ran_binomial,      "calls that ran the binomial tree")                                      \
    XX(ran_rabenseifner,  "calls that ran Rabenseifner's algorithm")                               \
    XX(ran_ring,          "calls that ran the ring")                                               \
    XX(plans_ahead,       "calls that found their plan made by the background thread")              \
    XX(plans_late,        "calls that made their plan themselves")                                 \
    XX(lookup_ns,         "time calls took to give their arrival and find their plan, waits for "  \
                          "boards included, ns")

/* Why a call ran what it ran: the words of coll_clv_verbose and coll_clv_print; and for each, MPI_T
 * performance variable coll_clv_fell_back_<name>: calls that took the previous reduce for it. */
/*     code             name             text */
#define COLL_CLV_REASON_MAP(XX)                                                                    \
    XX(NOT_COMMUTATIVE, not_commutative, "the operation does not commute")                         \
    XX(EMPTY,           empty,           "there are no elements")                                  \
    XX(FEW_ELEMENTS,    few_elements,    "there are fewer elements than pieces to make of them")   \
    XX(REPRODUCIBLE,    reproducible,    "coll_clv_reproducible asks for one order")               \
    XX(MANY_RANKS,      many_ranks,      "the communicator is larger than any plan")               \
    XX(TOO_SMALL,       too_small,                                                                 \
       "it is smaller than coll_clv_min_bytes or coll_clv_min_ranks")                              \
    XX(EXCHANGE_OFF,    exchange_off,    "coll_clv_exchange is off")                               \
    XX(UNEQUAL,         unequal,         "not all ranks have clv with the same parameters")     \
    XX(NO_CHANNEL,      no_channel,      "a rank has no background channel")                       \
    XX(NO_TABLE,        no_table,        "a rank could not reach its node's table")                \
    XX(NO_BOARD,        no_board,        "there is no prediction yet")                             \
    XX(LOST,            lost,            "a connection between nodes was lost for good")           \
    XX(LEARNING,        learning,        "measuring the previous reduce first")                    \
    XX(PREDICTED,       predicted,       "predicted to end first")                                 \
    XX(KEPT,            kept,            "no other choice is clearly better than the running one") \
    XX(NO_GAIN,         no_gain,         "no plan is clearly better than the previous reduce")     \
    XX(NO_PLAN,         no_plan,         "no plan could be made")                                  \
    XX(FORCED,          forced,          "coll_clv_reduce_algorithm says so")

typedef enum coll_clv_reason {
#define COLL_CLV_REASON_ENUM(code, name, text) COLL_CLV_REASON_##code,
    COLL_CLV_REASON_MAP(COLL_CLV_REASON_ENUM)
#undef COLL_CLV_REASON_ENUM
    COLL_CLV_N_REASONS
} coll_clv_reason_t;

/* Nothing is in the way. */
#define COLL_CLV_FIT (-1)

/* MPI_T performance variables coll_clv_plan_cache_<name>: of the plan caches in this process, which
 * only the process that plans for its node uses; counted since MPI_Init. */
/*     name        meaning */
#define COLL_CLV_CACHE_MAP(XX)                                                                     \
    XX(hits,      "plans of candidates that the background thread found in its cache")             \
    XX(misses,    "plans of candidates that the background thread had to make")                    \
    XX(evictions, "plans dropped from the cache to make room for newer ones")

typedef struct coll_clv_cache {
#define COLL_CLV_CACHE_FIELD(name, meaning) long long name;
    COLL_CLV_CACHE_MAP(COLL_CLV_CACHE_FIELD)
#undef COLL_CLV_CACHE_FIELD
} coll_clv_cache_t;

/* MPI_T performance variables coll_clv_exchange_<name>: how good it is now. Whole numbers with a
 * sign, not counted. The clock is that of the communicator that joined the exchange last. */
/*     name            meaning */
#define COLL_CLV_GAUGE_MAP(XX)                                                                     \
    XX(clock_offset_ns, "global clock of the newest communicator minus this process's "            \
                        "CLOCK_MONOTONIC, now, ns; 0 while there is none")                         \
    XX(clock_error_ns,  "bound of the error of that offset, now, ns; -1 while there is no global " \
                        "clock")                                                                   \
    XX(mean_error_ns,   "mean absolute error of the predictions judged so far, over their calls "  \
                        "and all ranks, ns; -1 before the first")

typedef struct coll_clv_gauges {
#define COLL_CLV_GAUGE_FIELD(name, meaning) long long name;
    COLL_CLV_GAUGE_MAP(COLL_CLV_GAUGE_FIELD)
#undef COLL_CLV_GAUGE_FIELD
} coll_clv_gauges_t;

typedef enum coll_clv_algorithm {
#define COLL_CLV_ALGORITHM_ENUM(code, spelling, meaning) COLL_CLV_ALGORITHM_##code,
    COLL_CLV_ALGORITHM_MAP(COLL_CLV_ALGORITHM_ENUM)
#undef COLL_CLV_ALGORITHM_ENUM
    COLL_CLV_N_ALGORITHMS
} coll_clv_algorithm_t;

typedef enum coll_clv_reproducible {
#define COLL_CLV_REPRODUCIBLE_ENUM(code, spelling, meaning) COLL_CLV_REPRODUCIBLE_##code,
    COLL_CLV_REPRODUCIBLE_MAP(COLL_CLV_REPRODUCIBLE_ENUM)
#undef COLL_CLV_REPRODUCIBLE_ENUM
} coll_clv_reproducible_t;

typedef enum coll_clv_predictor {
#define COLL_CLV_PREDICTOR_ENUM(code, spelling, meaning) COLL_CLV_PREDICTOR_##code,
    COLL_CLV_PREDICTOR_MAP(COLL_CLV_PREDICTOR_ENUM)
#undef COLL_CLV_PREDICTOR_ENUM
    COLL_CLV_N_PREDICTORS
} coll_clv_predictor_t;

typedef enum coll_clv_print {
#define COLL_CLV_PRINT_ENUM(code, spelling, bit, meaning) COLL_CLV_PRINT_##code = bit,
    COLL_CLV_PRINT_MAP(COLL_CLV_PRINT_ENUM)
#undef COLL_CLV_PRINT_ENUM
} coll_clv_print_t;

#endif
