/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists of names as users write them: separated by commas; a leading ^ means all names but these.
 *
 * Units: bit 1 << code for each name.
 * Errors: CLV_INVALID: an unknown name.
 * Memory: none.
 * Threads: safe.
 */
#ifndef CLV_UTIL_LIST_H
#define CLV_UTIL_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "util/util_status.h"

/* The name of a code, 0 .. n_names - 1, n_names at most 32. */
typedef const char *(*clv_list_name_t)(int code);

/* An empty list is none. On failure nothing is set. */
clv_status_t clv_list_read(const char *list, clv_list_name_t name_of, int n_names,
                           uint32_t *bits_p) CLV_MUST_CHECK;
/* "none" for no bits; cut to size. */
void clv_list_print(char *text, size_t size, clv_list_name_t name_of, int n_names, uint32_t bits);

#endif
