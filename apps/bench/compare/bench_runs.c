/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See compare.h.
 */
#include "apps/bench/compare/compare.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "apps/trace/trace_patterns.h"
#include "util/util_alloc.h"

#define MAX_LINE 8192

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."

/* ---- commands ---- */

/* Whether this is a label of the former form: "clv=mpirun --mca ...". A shell would run "--mca". */
static bool is_old_label(const char *text)
{
    const size_t word = strspn(text, LETTERS);
    const size_t value = strcspn(text, " ");

    return word > 0 && text[word] == '=' && text[value] == ' ' && text[value + 1] == '-';
}

static bool has_label(const clv_runs_t *runs, const char *label)
{
    for (int i = 0; i < runs->n_commands; i++) {
        if (!strcmp(runs->commands[i].label, label)) {
            return true;
        }
    }
    return false;
}

const char *clv_runs_add(clv_runs_t *runs, char *text)
{
    const size_t word = strspn(text, LETTERS);
    clv_command_t command = {.label = "", .text = text};

    if (runs->n_commands == CLV_RUNS_COMMANDS) {
        return "one of at most 32";
    }
    if (word > 0 && text[word] == ':' && text[word + 1] == ' ') {
        text[word] = '\0';
        command = (clv_command_t){.label = text, .text = text + word + 2};
    } else if (is_old_label(text)) {
        return "'LABEL: COMMAND' where it has a label (WORD=VALUE is a variable for the shell)";
    }
    if (has_label(runs, command.label)) {
        return "'LABEL: COMMAND' with a label of its own where there are several";
    }
    runs->commands[runs->n_commands++] = command;
    return NULL;
}

static bool path_of(const clv_runs_t *runs, int command, const char *name, char path[CLV_RUNS_PATH])
{
    const char *label = runs->commands[command].label;

    return snprintf(path, CLV_RUNS_PATH, "%s/%s%s%s", runs->folder, label, *label ? "-" : "",
                    name) < CLV_RUNS_PATH;
}

bool clv_runs_path(const clv_runs_t *runs, int command, int run, char path[CLV_RUNS_PATH])
{
    char name[32];

    snprintf(name, sizeof name, "run-%d.json", run + 1);
    return path_of(runs, command, name, path);
}

/* ---- before the first run ---- */

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static clv_status_t complain(char *reason, size_t reason_bytes, const char *format,
                             const char *text)
{
    snprintf(reason, reason_bytes, format, text);
    return CLV_INVALID;
}

/* Writes the command into the folder, or compares it with the one there. */
static bool is_noted(const clv_runs_t *runs, int command)
{
    const char *text = runs->commands[command].text;
    char path[CLV_RUNS_PATH];
    char noted[MAX_LINE] = "";

    if (!path_of(runs, command, "command", path)) {
        return false;
    }
    FILE *file = fopen(path, is_there(path) ? "r" : "w+");
    if (!file) {
        return false;
    }
    if (!fgets(noted, sizeof noted, file)) {
        snprintf(noted, sizeof noted, "%s", text);
        rewind(file);
        fprintf(file, "%s\n", text);
    }
    noted[strcspn(noted, "\n")] = '\0';
    return fclose(file) == 0 && !strcmp(noted, text);
}

static clv_status_t check_folder(const clv_runs_t *runs, char *reason, size_t reason_bytes)
{
    char path[CLV_RUNS_PATH];

    if (mkdir(runs->folder, 0777) && errno != EEXIST) {
        return complain(reason, reason_bytes, "cannot make the folder %s", runs->folder);
    }
    for (int i = 0; i < runs->n_commands * runs->n_runs; i++) {
        if (!clv_runs_path(runs, i % runs->n_commands, i / runs->n_commands, path) ||
            strchr(path, '\'')) {
            return complain(reason, reason_bytes, "too long or quoted: '%s'", runs->folder);
        }
        if (!runs->resumes && is_there(path)) {
            return complain(reason, reason_bytes,
                            "%s is there already: --resume goes on, --folder names another", path);
        }
    }
    for (int c = 0; c < runs->n_commands; c++) {
        if (!is_noted(runs, c)) {
            return complain(reason, reason_bytes,
                            "the folder has results of another command than '%s'",
                            runs->commands[c].text);
        }
    }
    return CLV_OK;
}

/* ---- one run ---- */

static volatile sig_atomic_t interrupted;

static void note_interrupt(int signal_number)
{
    (void) signal_number;
    interrupted = 1;
}

/* Returns 0 or the status of waitpid. Like system(), but after the command ended, an interrupt ends
 * this program too. */
static int run_line(const char *line)
{
    int status = -1;
    const pid_t child = fork();

    if (child == 0) {
        signal(SIGINT, SIG_DFL);
        execl("/bin/sh", "sh", "-c", line, (char *) NULL);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

/* Renames the output of a failed run to an unused name. */
static void set_aside(const char *part, const char *path)
{
    char aside[CLV_RUNS_PATH + 32];

    for (int n = 1; is_there(part); n++) {
        snprintf(aside, sizeof aside, "%s.failed-%d", path, n);
        if (!is_there(aside) && rename(part, aside)) {
            return;
        }
    }
}

static bool is_empty(const char *path)
{
    struct stat status;

    return stat(path, &status) != 0 || status.st_size == 0;
}

/* Whether the run succeeded and wrote results. The user gave the command; we add the option. */
static bool run_once(const clv_runs_t *runs, int command, int run)
{
    char path[CLV_RUNS_PATH];
    char part[CLV_RUNS_PATH + 8];
    char line[MAX_LINE];

    if (!clv_runs_path(runs, command, run, path)) {
        return false;
    }
    snprintf(part, sizeof part, "%s.part", path);
    if (snprintf(line, sizeof line, "%s --json '%s' >/dev/null", runs->commands[command].text,
                 part) >= (int) sizeof line) {
        return false;
    }
    set_aside(part, path);
    const int status = run_line(line);
    if (status != 0 || is_empty(part)) {
        fprintf(stderr, "clv-bench-compare: failed (%s %d): %.900s\n",
                WIFSIGNALED(status) ? "signal" : "exit",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), line);
        set_aside(part, path);
        return false;
    }
    return rename(part, path) == 0;
}

/* ---- all ---- */

static void tell_progress(const clv_runs_t *runs, int done, int all, time_t started, int command,
                          int run)
{
    const char *label = runs->commands[command].label;
    const double gone_s = difftime(time(NULL), started);
    char left[48] = "";

    if (done > 0) {
        snprintf(left, sizeof left, ", about %.0f min left", gone_s / done * (all - done) / 60.0);
    }
    fprintf(stderr, "clv-bench-compare: %d of %d mpiruns done%s; now %s%srun %d\n", done, all, left,
            label, *label ? ", " : "", run + 1);
}

static int *shuffled(const clv_runs_t *runs, int n)
{
    int *order = clv_alloc((size_t) n, sizeof *order);

    for (int i = 0; order && i < n; i++) {
        const int other = (int) (clv_pattern_random(runs->seed, 0, (uint64_t) i) * (i + 1));
        order[i] = order[other];
        order[other] = i;
    }
    return order;
}

/* Keeps the runs without a file, in the same order; returns their number. */
static int keep_missing(const clv_runs_t *runs, int *order, int n)
{
    char path[CLV_RUNS_PATH];
    int n_missing = 0;

    for (int i = 0; i < n; i++) {
        if (clv_runs_path(runs, order[i] % runs->n_commands, order[i] / runs->n_commands, path) &&
            !is_there(path)) {
            order[n_missing++] = order[i];
        }
    }
    return n_missing;
}

/* In random order, so that drift favours no command. */
static void run_in_order(clv_runs_t *runs, const int *order, int n)
{
    const time_t started = time(NULL);
    struct sigaction before;
    const struct sigaction noting = {.sa_handler = note_interrupt};

    sigaction(SIGINT, &noting, &before);
    for (int i = 0; i < n && !interrupted; i++) {
        const int command = order[i] % runs->n_commands;
        const int run = order[i] / runs->n_commands;
        tell_progress(runs, i, n, started, command, run);
        if (run_once(runs, command, run)) {
            runs->n_done++;
        } else {
            runs->n_failed++;
        }
    }
    sigaction(SIGINT, &before, NULL);
}

clv_status_t clv_runs_all(clv_runs_t *runs, char *reason, size_t reason_bytes)
{
    const int n = runs->n_commands * runs->n_runs;
    const clv_status_t status = check_folder(runs, reason, reason_bytes);

    if (status != CLV_OK) {
        return status;
    }
    int *order = shuffled(runs, n);
    if (!order) {
        return CLV_NO_MEMORY;
    }
    const int n_missing = keep_missing(runs, order, n);
    runs->n_done = n - n_missing;
    run_in_order(runs, order, n_missing);
    clv_free(order);
    if (interrupted) {
        snprintf(reason, reason_bytes, "interrupted with %d of %d mpiruns done; --resume goes on",
                 runs->n_done, n);
        return CLV_SYSTEM;
    }
    return CLV_OK;
}
