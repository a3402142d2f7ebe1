/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files that a user named, opened, or read whole into memory. What is no regular file is refused,
 * and never waited for: opening a FIFO would stop until somebody writes to it.
 *
 * Units: bytes.
 * Errors: NULL with a reason in words.
 * Memory: the bytes are the caller's, for clv_free.
 * Threads: one at a time (strerror).
 */
#ifndef CLV_CLI_FILE_H
#define CLV_CLI_FILE_H

#include <stddef.h>
#include <stdio.h>

char *clv_file_read(const char *path, size_t *n_bytes_p, const char **reason_p);

/* The same for a caller that reads line by line; the stream is the caller's. */
FILE *clv_file_open(const char *path, const char **reason_p);

#endif
