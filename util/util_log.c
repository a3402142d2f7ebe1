/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Formats a log line and hands it to the sink.
 */
#include "util/util_log.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

static clv_log_sink_t log_sink;
static void *log_context;
static clv_log_level_t log_max_level;

void clv_log_set_sink(clv_log_sink_t sink, void *context, clv_log_level_t max_level)
{
    log_sink = sink;
    log_context = context;
    log_max_level = max_level;
}

bool clv_log_wants(clv_log_level_t level)
{
    return log_sink != NULL && level <= log_max_level;
}

void clv_log(clv_log_level_t level, const char *format, ...)
{
    char line[512];
    va_list arguments;

    if (!clv_log_wants(level)) {
        return;
    }
    va_start(arguments, format);
    (void) vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    log_sink(log_context, level, line);
}
