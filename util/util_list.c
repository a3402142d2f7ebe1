/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists of names (see util_list.h).
 */
#include "util/util_list.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The code of the name; n_names if there is none. */
static int find(const char *name, size_t length, clv_list_name_t name_of, int n_names)
{
    int code = 0;

    while (code < n_names &&
           (strlen(name_of(code)) != length || strncmp(name_of(code), name, length) != 0)) {
        code++;
    }
    return code;
}

clv_status_t clv_list_read(const char *list, clv_list_name_t name_of, int n_names, uint32_t *bits_p)
{
    const uint32_t all = (uint32_t) ((UINT64_C(1) << n_names) - 1);
    const bool excludes = list[0] == '^';
    const char *at = list + excludes;
    uint32_t bits = 0;

    while (*at != '\0') {
        const size_t length = strcspn(at, ",");
        const int code = find(at, length, name_of, n_names);
        if (code == n_names) {
            return CLV_INVALID;
        }
        bits |= UINT32_C(1) << code;
        at += length + (at[length] == ',');
    }
    *bits_p = excludes ? all & ~bits : bits;
    return CLV_OK;
}

void clv_list_print(char *text, size_t size, clv_list_name_t name_of, int n_names, uint32_t bits)
{
    size_t used = 0;

    (void) snprintf(text, size, "none");
    for (int code = 0; code < n_names && used < size; code++) {
        if ((bits >> code & 1) != 0) {
            used += (size_t) snprintf(text + used, size - used, "%s%s", used > 0 ? "," : "",
                                      name_of(code));
        }
    }
}
