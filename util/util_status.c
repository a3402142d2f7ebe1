/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Texts of the status table.
 */
#include "util/util_status.h"

const char *clv_status_text(clv_status_t status)
{
    switch (status) {
#define CLV_STATUS_TEXT(name, value, text)                                                         \
    case CLV_##name:                                                                               \
        return text;
        CLV_STATUS_MAP(CLV_STATUS_TEXT)
#undef CLV_STATUS_TEXT
    }
    return "unknown";
}
