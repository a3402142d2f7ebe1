/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The reasons for running an algorithm in a call, as a table: the words of coll_clv_verbose and
 * coll_clv_print, and each an element of the MPI_T performance variable coll_clv_fell_back, which
 * counts the calls that took the previous function for that reason.
 *
 * PURE. The chooser gives some of the reasons, the component the others.
 */
#ifndef CLV_CHOOSE_REASONS_H
#define CLV_CHOOSE_REASONS_H

/*     code              name              text */
/* clang-format off */
#define CLV_REASON_MAP(XX)                                                                         \
    XX(NOT_COMMUTATIVE,  not_commutative,  "the operation does not commute")                       \
    XX(EMPTY,            empty,            "the vector is empty")                                  \
    XX(FEW_ELEMENTS,     few_elements,     "the vector has fewer elements than the algorithm "     \
       "needs")                                                                                    \
    XX(REPRODUCIBLE,     reproducible,     "coll_clv_reproducible asks for a fixed order")         \
    XX(MANY_RANKS,       many_ranks,                                                               \
       "the communicator has more ranks than a plan, or than coll_clv_two_level_ranks")            \
    XX(TOO_SMALL,        too_small,                                                                \
       "the vector is below its min_bytes, or the communicator below coll_clv_min_ranks")          \
    XX(EXCHANGE_OFF,     exchange_off,     "coll_clv_exchange is off")                             \
    XX(UNEQUAL,          unequal,          "not all ranks have clv with the same parameters")      \
    XX(NO_CHANNEL,       no_channel,       "a rank has no background channel")                     \
    XX(NO_TABLE,         no_table,         "a rank could not open its host's shared table")        \
    XX(NO_MEMORY,        no_memory,        "a host refused a rank shared memory, a thread or a "   \
       "descriptor")                                                                               \
    XX(NO_ADDRESS,       no_address,       "a host has no network address that another could reach") \
    XX(NOT_YET,          not_yet,          "the communicator has carried too few bytes yet "       \
       "(coll_clv_setup_bytes)")                                                                   \
    XX(NO_FORECAST,         no_forecast,         "there is no prediction yet")                           \
    XX(LOST,             lost,             "a connection between hosts was lost for good")         \
    XX(TRYING,           trying,           "it is on trial")                                       \
    XX(PREDICTED,        predicted,        "predicted to end first")                               \
    XX(KEPT,             kept,             "no other choice is clearly better than the current "   \
       "one")                                                                                      \
    XX(NO_GAIN,          no_gain,          "no plan is clearly better than the previous function") \
    XX(NO_PLAN,          no_plan,          "no plan could be made")                                \
    XX(FORCED,           forced,           "an algorithm parameter forces it")                     \
    XX(DEVICES,          devices,          "the buffers may be in device memory")                  \
    XX(SHARED,           shared_processors,                                                        \
       "ranks share processors (coll_clv_shared_processors)")
/* clang-format on */

typedef enum clv_reason {
#define CLV_REASON_ENUM(code, name, text) CLV_REASON_##code,
    CLV_REASON_MAP(CLV_REASON_ENUM)
#undef CLV_REASON_ENUM
        CLV_N_REASONS
} clv_reason_t;

/* No reason against it. */
#define CLV_FIT (-1)

/* "unknown" for an invalid number. */
const char *clv_reason_text(int reason);

#endif
