/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Texts from outside: names of communicators, hosts, programs and regions may contain any bytes.
 * clv writes UTF-8.
 *
 * Units: bytes.
 * Errors: none.
 * Memory: none; texts end with a zero byte.
 * Threads: safe.
 */
#ifndef CLV_UTIL_TEXT_H
#define CLV_UTIL_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the UTF-8 character that text begins with, 1 to 4. 0: the text ends here, or its first
 * byte begins none (RFC 3629: no surrogates, no longer forms, nothing above U+10FFFF). */
size_t clv_text_letter_bytes(const char *text);

/* For a terminal or a table, in place: ? for each byte that is no UTF-8, a blank for each control
 * character. */
void clv_text_make_plain(char *text);

/* In place, to the whole characters that its first n_bytes hold, up to what is no UTF-8. */
void clv_text_cut(char *text, size_t n_bytes);

/* Ends a counted noun: "%lld call%s", n, clv_text_s(n). */
static inline const char *clv_text_s(int64_t n)
{
    return n == 1 ? "" : "s";
}

#endif
