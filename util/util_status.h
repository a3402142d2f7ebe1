/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Status codes of every module, as one table.
 *
 * Functions that can fail return clv_status_t, write their outputs only on CLV_OK, and are marked
 * CLV_MUST_CHECK. Codes below CLV_OK are failures; the non-negative ones are ordinary answers.
 *
 * Units: none.
 * Errors: none.
 * Memory: none; the strings are static.
 * Threads: safe.
 */
#ifndef CLV_UTIL_STATUS_H
#define CLV_UTIL_STATUS_H

/*      name         value  meaning */
/* clang-format off */
#define CLV_STATUS_MAP(XX)                                                                         \
    XX(NONE,           2, "there is none, and there will be none for this call")                   \
    XX(AGAIN,          1, "not yet; ask again")                                                    \
    XX(OK,             0, "success")                                                               \
    XX(INVALID,       -1, "an argument or input is outside its documented range")                  \
    XX(NO_MEMORY,     -2, "out of memory")                                                         \
    XX(LIMIT,         -3, "a documented limit would be exceeded")                                  \
    XX(OVERFLOW,      -4, "a time or round number would not fit its type")                         \
    XX(LOST,          -5, "a connection or peer is lost")                                          \
    XX(TIMEOUT,       -6, "a bounded wait ended without an answer")                                \
    XX(PROTOCOL,      -7, "malformed or unexpected data from another process")                     \
    XX(UNSUPPORTED,   -8, "this machine or build cannot do it")                                    \
    XX(SYSTEM,        -9, "a system call failed; errno tells")
/* clang-format on */

typedef enum clv_status {
#define CLV_STATUS_ENUM(name, value, text) CLV_##name = value,
    CLV_STATUS_MAP(CLV_STATUS_ENUM)
#undef CLV_STATUS_ENUM
} clv_status_t;

#if defined(__GNUC__)
#define CLV_MUST_CHECK __attribute__((warn_unused_result))
#else
#define CLV_MUST_CHECK
#endif

/* The meaning of a code; never NULL, "unknown" for other numbers. Thread-safe; the strings are
 * static. */
const char *clv_status_text(clv_status_t status);

#endif
