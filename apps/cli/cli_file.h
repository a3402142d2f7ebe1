/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files of a user. What a program reads is opened, or read whole into memory; what is no regular
 * file is refused, and never waited for: opening a FIFO would stop until somebody writes to it.
 * What it writes, to standard output or to a file: whether all of it arrived. A disk that is full
 * shows only when a stream is flushed.
 *
 * Not: what is written (cli_json.h).
 * Units: bytes.
 * Errors: reading: NULL with a reason in words; writing: one line that names the file and the
 * system's reason.
 * Memory: the bytes are the caller's, for clv_free.
 * Threads: one at a time (strerror).
 */
#ifndef CLV_CLI_FILE_H
#define CLV_CLI_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "apps/cli/cli_options.h"
#include "util/util_status.h"

char *clv_file_read(const char *path, size_t *n_bytes_p, const char **reason_p);

/* The same for a caller that reads line by line; the stream is the caller's. */
FILE *clv_file_open(const char *path, const char **reason_p);

/* The value of --json: "-" is standard output, else a file that is appended to. NULL with errno. */
FILE *clv_output_open(const char *path);

/* Flushes. CLV_SYSTEM when something did not arrive, now or before, with one line in reason. */
clv_status_t clv_output_check(FILE *out, const char *path, char *reason,
                              size_t reason_bytes) CLV_MUST_CHECK;

/* The same, and closes what is not standard output. */
clv_status_t clv_output_close(FILE *out, const char *path, char *reason,
                              size_t reason_bytes) CLV_MUST_CHECK;

/* For the end of a main: the status, or 1 after one line on standard error where standard output
 * did not take everything and nothing worse has happened. */
int clv_output_end(const clv_program_t *program, int status);

#endif
