/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Several mpiruns of several commands in one random order, each with a file of results of its own.
 *
 * What: DIR/[LABEL-]run-N.json is what an mpirun wrote; it gets that name when the command has
 * ended well. What a failed one left becomes run-N.json.failed-1, -2, ...; nothing is ever removed
 * or overwritten. DIR/[LABEL-]command is the command, so that no other goes on with its files.
 * Not: reading results.
 * Units: mpiruns count from 0, in names from 1. Threads: one; SIGINT is caught meanwhile.
 */
#ifndef CLV_BENCH_RUNS_H
#define CLV_BENCH_RUNS_H

#include <stddef.h>
#include <stdint.h>

#include "util/util_status.h"

#define CLV_RUNS_COMMANDS 32
#define CLV_RUNS_PATH     512

typedef struct clv_command {
    const char *label; /* "" where there is one only */
    const char *text;  /* the user's own shell line */
} clv_command_t;

typedef struct clv_runs {
    clv_command_t commands[CLV_RUNS_COMMANDS];
    int n_commands;
    int n_runs; /* of each command */
    const char *folder;
    uint64_t seed;
    int resumes; /* files that are there are not measured again */
    int n_done;  /* filled in, as the next */
    int n_failed;
} clv_runs_t;

/* Takes "LABEL: COMMAND" or "COMMAND", which may begin with VARIABLE=VALUE as in a shell; cuts the
 * text. NULL, or what it must be. */
const char *clv_runs_add(clv_runs_t *runs, char *text);

/* The file of an mpirun. 0: the path is too long. */
int clv_runs_path(const clv_runs_t *runs, int command, int run, char path[CLV_RUNS_PATH]);

/* Runs what is not there. CLV_OK also when some failed (n_failed); CLV_INVALID: nothing was run,
 * since files are there, or cannot be; CLV_SYSTEM: stopped by SIGINT; with one line in reason. */
clv_status_t clv_runs_all(clv_runs_t *runs, char *reason, size_t reason_bytes) CLV_MUST_CHECK;

#endif
