/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The user's files. An input is opened, or read whole into memory. Anything but a regular file is
 * refused without waiting: opening a FIFO would block until somebody writes to it. Output goes to
 * standard output or to a file, with a check that all of it arrived. A full disk shows only when
 * the stream is flushed.
 *
 * Not: the text that is written (cli_json.h).
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

/* The same for a caller that reads line by line. The stream is the caller's to close. */
FILE *clv_file_open(const char *path, const char **reason_p);

/* Opens the value of --json: "-" is standard output; any other file is appended to. NULL with
 * errno. */
FILE *clv_output_open(const char *path);

/* Flushes. CLV_SYSTEM, with one line in reason, if any output was lost, now or before. */
clv_status_t clv_output_check(FILE *out, const char *path, char *reason,
                              size_t reason_bytes) CLV_MUST_CHECK;

/* The same, and closes the stream unless it is standard output. */
clv_status_t clv_output_close(FILE *out, const char *path, char *reason,
                              size_t reason_bytes) CLV_MUST_CHECK;

/* Executes the program that is installed beside this one: the first of n_places that there is, each
 * relative to this program's folder. Returns only on failure, with errno. */
void clv_become_beside(const char *const *places, size_t n_places, char *const *argv);

/* For the end of a main. Returns status. If that is 0 and standard output lost something, prints
 * one line on standard error and returns 1. */
int clv_output_end(const clv_program_t *program, int status);

#endif
