/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where log lines go. A module logs a decision where it makes it, once, in lower case, value then
 * unit, without a newline. The default sink drops everything; the component sends lines to
 * opal_output, tools to stderr.
 *
 * Units: as each line says.
 * Errors: none: a line that is too long is cut.
 * Memory: none; a line is valid during the call of the sink.
 * Threads: the sink is set while no other thread runs; clv_log is then safe if the sink is.
 */
#ifndef CLV_UTIL_LOG_H
#define CLV_UTIL_LOG_H

#include <stdbool.h>

typedef enum clv_log_level {
    CLV_LOG_HOST = 0,   /* the user must know, and all processes of a host would say the same */
    CLV_LOG_ERROR = 1,  /* the user must know */
    CLV_LOG_INFO = 10,  /* decisions: which algorithm, why none */
    CLV_LOG_DEBUG = 30, /* every call */
} clv_log_level_t;

typedef void (*clv_log_sink_t)(void *context, clv_log_level_t level, const char *line);

void clv_log_set_sink(clv_log_sink_t sink, void *context, clv_log_level_t max_level);
bool clv_log_wants(clv_log_level_t level);

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void clv_log(clv_log_level_t level, const char *format, ...);

#endif
