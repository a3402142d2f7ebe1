/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names and texts of the status table.
 */
#include "util/util_status.h"

const char *clv_status_name(clv_status_t status)
{
    switch (status) {
#define CLV_STATUS_NAME(name, value, text)                                                         \
    case CLV_##name:                                                                               \
        return #name;
        CLV_STATUS_MAP(CLV_STATUS_NAME)
#undef CLV_STATUS_NAME
    }
    return "unknown";
}

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
