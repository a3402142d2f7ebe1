/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether what a program has printed arrived: a full disk, ulimit -f, a reader that is gone.
 *
 * Units: none.
 * Errors: one line on standard error.
 * Memory: none.
 * Threads: safe for different files.
 */
#ifndef CLV_CLI_FILE_H
#define CLV_CLI_FILE_H

#include <stdio.h>

/* All of it so far; else 0, after "program: path: why". */
int clv_file_is_written(FILE *file, const char *program, const char *path);

#endif
