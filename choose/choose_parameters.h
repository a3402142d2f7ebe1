/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parameters that users can set, as a table: one row each. The row generates the registration,
 * the range check, the comparison between ranks, the chooser's config and docs/guide/params.md.
 *
 * PURE: no code. A new rank-equal parameter of the chooser needs a row here and the code that reads
 * it.
 * Units are in the names. Levels are those of MPI_T: 1 to 3 for users, 4 to 6 for tuning, 7 to 9
 * for developers.
 */
#ifndef CLV_CHOOSE_PARAMETERS_H
#define CLV_CHOOSE_PARAMETERS_H

#include "choose/choose_algorithms.h"
#include "choose/choose_collectives.h"
#include "pap_predict/pap_predict.h"
#include "record/record_clva.h"

/* Values of coll_clv_reproducible. Order is the code; codes are what enumerators store. */
/* clang-format off */
#define CLV_REPRODUCIBLE_MAP(XX)                                                                   \
    XX(OFF,    "off",    "the order may change from call to call, and so may the last bits of "    \
       "floating-point results")                                                                   \
    XX(FLOAT,  "float",  "one fixed order for floating-point and user-defined reductions")         \
    XX(ALWAYS, "always", "one fixed order for every reduction")
/* clang-format on */

/* Values of coll_clv_objective. */
/* clang-format off */
#define CLV_OBJECTIVE_MAP(XX)                                                                      \
    XX(PACE,     "pace",     "shortest iterations of the program")                              \
    XX(AFTER,    "after",    "earliest last exit after the last arrival")                         \
    XX(MPI_TIME, "mpi_time", "least mean time of ranks inside calls")
/* clang-format on */

/* Values of coll_clv_shared_processors; 0 and 1 are accepted, too. */
/* clang-format off */
#define CLV_SHARED_MAP(XX)                                                                         \
    XX(NO,     "no",     "each rank has a processor of its own")                                   \
    XX(YES,    "yes",    "ranks share processors on every host")                                   \
    XX(DETECT, "detect", "ranks share processors where a host has fewer processors than ranks; "   \
       "affinities and quotas of control groups count")
/* clang-format on */

/* Values of coll_clv_wait. */
/* clang-format off */
#define CLV_WAIT_MAP(XX)                                                                           \
    XX(SPIN,  "spin",  "poll, as Open MPI does")                                                   \
    XX(YIELD, "yield", "poll, and offer the processor to other processes between polls, as "       \
       "mpi_yield_when_idle does")                                                                 \
    XX(SLEEP, "sleep", "sleep until shortly before the message can come, estimated from earlier "  \
       "waits and from forecasts; then poll")
/* clang-format on */

/* Values of coll_clv_fallback; each but auto is an algorithm of MPI_Reduce. */
/* clang-format off */
#define CLV_FALLBACK_MAP(XX)                                                                       \
    XX(AUTO,         "auto",         "the choice estimated to end first if all ranks arrive at "   \
       "once: a plan that needs no forecast, an algorithm below, or the previous function; where " \
       "no exchange is possible always the previous function")                                     \
    XX(PREVIOUS,     "previous",     "the function installed before this component")               \
    XX(BINOMIAL,     "binomial",     "binomial tree")                                              \
    XX(RABENSEIFNER, "rabenseifner", "reduce-scatter and gather by halving")                       \
    XX(RING,         "ring",         "reduce-scatter on a ring, then gather to the root")
/* clang-format on */

/* Values of coll_clv_predictor: CLV_PAP_PREDICTOR_MAP of pap_predict.h. */

/* Values of coll_clv_print; several may be given, separated by commas. */
/* clang-format off */
#define CLV_PRINT_MAP(XX)                                                                          \
    XX(NONE,  "none",  0, "nothing")                                                               \
    XX(FORECAST, "forecast", 1, "the predicted arrivals of each new forecast")                     \
    XX(PLAN,  "plan",  2, "each new plan; ranks are printed as rank@host where hosts have "        \
       "several")                                                                                  \
    XX(LINKS, "links", 8, "the measured costs of links, and the largest message that leaves "      \
       "without its receiver; forecast and plan print them, too")                                  \
    XX(SUMMARY, "summary", 4, "at the end, by rank 0: which algorithms ran and why, times of "     \
       "calls, errors of predictions, the cost of clv, these numbers as a line of JSON, and "      \
       "whether clv helped")
/* clang-format on */

/* One per collective. */
/* clang-format off */
#define CLV_PARAMETER_OF_COLLECTIVE(XX, code, name, mpi, goal, root, op, counts, result, bytes, least) \
    XX(CHOICE, name##_algorithm, code,         CLV_ALGORITHM_AUTO, CLV_ALGORITHM_AUTO,             \
       CLV_N_ALGORITHMS - 1,                                     "",        3,   EQUAL,            \
       "Algorithm of " mpi "; any value but auto forces it wherever it is correct")                \
    XX(INT,    bytes,            NONE,         least,   1,   2147483647, "bytes",   4,   EQUAL,    \
       "Smallest vector of " mpi " that clv predicts and plans; smaller ones run the previous "    \
       "function")
/* clang-format on */

/* kind: INT a whole number; BOOL; ENUM one word of CLV_<values>_MAP; FLAGS words of it; CHOICE
 * auto, or an algorithm that the collective <values> can run; STRING, and LIST, which is one of
 * names of CLV_<values>_MAP (min and max are lengths).
 * ranks: EQUAL parameters decide what runs or is recorded; a communicator whose ranks disagree on
 * them runs the previous functions. EQUAL STRINGs are compared only for being empty. OWN parameters
 * concern this process alone. */
/* clang-format off */
/*     kind    name              values        default  min  max         unit   level ranks meaning */
#define CLV_PARAMETER_MAP(XX)                                                                      \
    XX(INT,    priority,         NONE,         0,       0,   100,        "",        1,   EQUAL,    \
       "Priority of the component. 0: off unless named (--mca coll clv), which gives it 45: "      \
       "above Open MPI's components that run collectives, below those that wrap others")           \
    XX(LIST,   collectives,      COLLECTIVE,   "reduce", 0, 255,         "",        2,   EQUAL,    \
       "Collectives to take over, separated by commas; ^ before the list: all but these")          \
    CLV_COLLECTIVE_MAP(CLV_PARAMETER_OF_COLLECTIVE, XX)                                            \
    XX(INT,    min_ranks,        NONE,         3,       2,   1048576,    "ranks",   4,   EQUAL,    \
       "Smallest communicator that clv predicts and plans")                                        \
    XX(INT,    two_level_ranks,  NONE,         4096,    0,   1048576,    "ranks",   5,   EQUAL,    \
       "A communicator with more ranks than this, and several on a host, is run as two levels of " \
       "communicators: the ranks of each host, and one rank per host. Only their forecasts and "   \
       "plans are made, and only while they are no slower than the previous function. 0: never")   \
    XX(INT,    segment_bytes,    NONE,         0,       0,   1073741824, "bytes",   5,   EQUAL,    \
       "Segment size of plans; 0: chosen for each vector")                                         \
    XX(INT,    early_bytes,      NONE,         0,       0,   1073741824, "bytes",   6,   EQUAL,    \
       "The transport's eager limit: the largest message whose nonblocking send completes "        \
       "before its receiver comes. It bounds the segments of plans. 0: measured")                  \
    XX(INT,    round_time_ns,    NONE,         0,       0,   1000000000, "ns",      6,   EQUAL,    \
       "Time for one segment from one rank to the next; 0: measured")                              \
    XX(INT,    guard_permille,   NONE,         200,     0,   1000000,    "permille", 5,  EQUAL,    \
       "Bound on the damage of wrong predictions: if all are wrong, a plan chosen by auto takes "  \
       "at most this much longer than the best plan without predictions")                          \
    XX(ENUM,   objective,        OBJECTIVE,    0,       0,   2,          "",        4,   EQUAL,    \
       "What the choice of algorithm minimises")                                                   \
    XX(INT,    sma_window,       NONE,         8,       1,   64,         "calls",   5,   EQUAL,    \
       "Number of earlier calls that predictors use")                                     \
    XX(ENUM,   predictor,        PREDICTOR,    0,       0,   CLV_PAP_N_PREDICTORS - 1, "", 5, EQUAL, \
       "How arrival times are predicted from earlier calls")                                       \
    XX(BOOL,   exchange,         NONE,         1,       0,   1,          "",        4,   EQUAL,    \
       "Exchange arrival times in the background. Without the exchange nothing is predicted")      \
    XX(INT,    setup_bytes,      NONE,         3604480, 0,   2147483647, "bytes",   5,   EQUAL,    \
       "Start predicting after this many bytes of collectives on a communicator, or at one "       \
       "call of half as many. The total scales with ranks above 10. 0: from the first call")       \
    XX(INT,    ahead_bytes,      NONE,         67108864, 0,  2147483647, "bytes",   4,   EQUAL,    \
       "Bytes that other ranks may send to this process before it enters the call that receives "  \
       "them, over all collectives of clv; 0: at most one call ahead")                             \
    XX(BOOL,   devices,          NONE,         1,       0,   1,          "",        4,   EQUAL,    \
       "If an accelerator is in use, hand collectives whose buffers may be in its memory to "      \
       "the previous function. false: the program promises that buffers are never there")          \
    XX(ENUM,   shared_processors, SHARED,      2,       0,   2,          "",        4,   EQUAL,    \
       "Whether ranks of a host share processors. If they do, waiting ranks yield, and "           \
       "communicators entirely on such a host use the previous function unless an algorithm "      \
       "is forced")                                                                                \
    XX(ENUM,   fallback,         FALLBACK,     0,       0,   4,          "",        4,   EQUAL,    \
       "Algorithm of calls without a forecast or a plan; binomial, rabenseifner and ring apply "   \
       "to MPI_Reduce. Calls below min_bytes always run the previous function")                    \
    XX(ENUM,   wait,             WAIT,         0,       0,   2,          "",        3,   EQUAL,    \
       "How ranks wait in MPI_Reduce, MPI_Allreduce, MPI_Bcast and MPI_Barrier, "                  \
       "whichever component runs them")                                                            \
    XX(STRING, interface,        NONE,         "",      0,   63,         "",        5,   OWN,      \
       "Network interface of the background exchange (name, address or address/bits); "            \
       "empty: chosen")                                                                            \
    XX(INT,    port_min,         NONE,         0,       0,   65535,      "",        5,   OWN,      \
       "First TCP port that the background exchange may listen on; 0: any free port")              \
    XX(INT,    port_range,       NONE,         1024,    1,   65535,      "ports",   5,   OWN,      \
       "Number of ports, from coll_clv_port_min, that the exchange may listen on; one per "        \
       "process of a host is enough")                                                              \
    XX(ENUM,   reproducible,     REPRODUCIBLE, 0,       0,   2,          "",        3,   EQUAL,    \
       "Which reductions combine in the same order in every call and every run. Such "             \
       "allreduces run a ring that depends only on the communicator and the arguments; such "      \
       "reduces run the previous function")                                                        \
    XX(INT,    verbose,          NONE,         0,       0,   100,        "",        2,   OWN,      \
       "What to report: 0 errors; 10 the algorithm and the reason, whenever they change; 30 "      \
       "every call")                                                                               \
    XX(INT,    channel_timeout_ms, NONE,       2000,    100, 3600000, "ms",      5,   OWN,      \
       "Longest wait of a call for a failed background channel while MPI works, counted from "     \
       "when all ranks have entered the call; then the communicator goes on without predictions")  \
    XX(INT,    stall_seconds,    NONE,         60,      0,   86400,      "s",       4,   OWN,      \
       "A rank that waits longer than this inside a call reports once what it waits for; 0: "      \
       "never")                                                                                    \
    XX(FLAGS,  print,            PRINT,        0,       0,   15,         "",        5,   OWN,      \
       "What to print in full")                                                                     \
    XX(STRING, record,           NONE,         "",      0,   1023,       "",        2,   EQUAL,    \
       "Folder for a record of every rank's arrivals at collectives, one file per host, for "      \
       "clv-view; empty: none. Set alone, clv only records, and collectives run as without it")    \
    XX(LIST,   record_ops,       OP,           "",      0,   255,        "",        4,   EQUAL,    \
       "Operations to record, separated by commas; ^ before the list: all but these; empty: all")  \
    XX(INT,    record_min_bytes, NONE,         0,       0,   2147483647, "bytes",   4,   EQUAL,    \
       "Smallest vector to record. Operations without a vector, or with vectors that may differ "  \
       "between ranks, are always recorded")                                                       \
    XX(INT,    record_every,     NONE,         1,       1,   1048576,    "calls",   4,   EQUAL,    \
       "N: record only every Nth call of a communicator")                                          \
    XX(INT,    record_max_mib,   NONE,         64,      1,   1048576,    "MiB",     4,   OWN,      \
       "Size limit of a host's file. As the file fills, clv records every second call, then "      \
       "every fourth, and so on")
/* clang-format on */

/* Old names of parameters; each still works unless the new one is given. */
#define CLV_SYNONYM_MAP(XX) XX(reduce_min_bytes, min_bytes)

/* For tables of the rank-equal parameters alone: ROW(kind, name, ...) as above with
 * CLV_IF_EQUAL(ranks, text of that row). */
#define CLV_IF_EQUAL_EQUAL(...) __VA_ARGS__
#define CLV_IF_EQUAL_OWN(...)
#define CLV_IF_EQUAL(ranks, ...) CLV_IF_EQUAL_##ranks(__VA_ARGS__)

typedef enum clv_equal {
#define CLV_EQUAL_ENUM(kind, name, values, preset, min, max, unit, level, ranks, meaning)          \
    CLV_IF_EQUAL(ranks, CLV_EQUAL_##name, )
    CLV_PARAMETER_MAP(CLV_EQUAL_ENUM)
#undef CLV_EQUAL_ENUM
        CLV_N_EQUAL
} clv_equal_t;

typedef enum clv_reproducible {
#define CLV_REPRODUCIBLE_ENUM(code, spelling, meaning) CLV_REPRODUCIBLE_##code,
    CLV_REPRODUCIBLE_MAP(CLV_REPRODUCIBLE_ENUM)
#undef CLV_REPRODUCIBLE_ENUM
} clv_reproducible_t;

typedef enum clv_shared {
#define CLV_SHARED_ENUM(code, spelling, meaning) CLV_SHARED_##code,
    CLV_SHARED_MAP(CLV_SHARED_ENUM)
#undef CLV_SHARED_ENUM
} clv_shared_t;

typedef enum clv_wait {
#define CLV_WAIT_ENUM(code, spelling, meaning) CLV_WAIT_##code,
    CLV_WAIT_MAP(CLV_WAIT_ENUM)
#undef CLV_WAIT_ENUM
} clv_wait_t;

typedef enum clv_fallback {
#define CLV_FALLBACK_ENUM(code, spelling, meaning) CLV_FALLBACK_##code,
    CLV_FALLBACK_MAP(CLV_FALLBACK_ENUM)
#undef CLV_FALLBACK_ENUM
} clv_fallback_t;

typedef enum clv_objective {
#define CLV_OBJECTIVE_ENUM(code, spelling, meaning) CLV_OBJECTIVE_##code,
    CLV_OBJECTIVE_MAP(CLV_OBJECTIVE_ENUM)
#undef CLV_OBJECTIVE_ENUM
} clv_objective_t;

typedef enum clv_print {
#define CLV_PRINT_ENUM(code, spelling, bit, meaning) CLV_PRINT_##code = bit,
    CLV_PRINT_MAP(CLV_PRINT_ENUM)
#undef CLV_PRINT_ENUM
} clv_print_t;

#endif
