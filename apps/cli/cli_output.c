/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Streams and their ends; see cli_output.h.
 */
#include "apps/cli/cli_output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "util/util_limit.h"

enum { EXIT_NOT_WRITTEN = 1 };

static int stdout_is_reported; /* that it lost something: once is enough */

FILE *clv_output_open(const char *path)
{
    return strcmp(path, "-") == 0 ? stdout : fopen(path, "a");
}

static clv_status_t conclude(int failed, const char *path, char *reason, size_t reason_bytes)
{
    char text[200] = "not all of it could be written";

    if (failed) {
        if (errno != 0) {
            clv_limit_text(errno, text, sizeof text);
        }
        snprintf(reason, reason_bytes, "%s: %s", strcmp(path, "-") == 0 ? "standard output" : path,
                 text);
    }
    return failed ? CLV_SYSTEM : CLV_OK;
}

/* A stream that failed earlier has dropped what it held, and the reason is gone: the end of a line
 * that is torn anyway finds it again. */
static void ask_again(FILE *out)
{
    if (errno == 0 && write(fileno(out), "\n", 1) == 1) {
        errno = 0;
    }
}

clv_status_t clv_output_check(FILE *out, const char *path, char *reason, size_t reason_bytes)
{
    errno = 0;
    const int failed = fflush(out) != 0 || ferror(out);
    if (failed) {
        ask_again(out);
        stdout_is_reported |= out == stdout;
    }
    return conclude(failed, path, reason, reason_bytes);
}

clv_status_t clv_output_close(FILE *out, const char *path, char *reason, size_t reason_bytes)
{
    const clv_status_t status = clv_output_check(out, path, reason, reason_bytes);

    if (out == stdout) {
        return status;
    }
    errno = 0;
    const int failed = fclose(out) != 0;
    return status == CLV_OK ? conclude(failed, path, reason, reason_bytes) : status;
}

int clv_output_end(const clv_program_t *program, int status)
{
    const int was_reported = stdout_is_reported;
    char reason[256];

    if (clv_output_check(stdout, "-", reason, sizeof reason) == CLV_OK) {
        return status;
    }
    if (!was_reported) {
        fprintf(stderr, "%s: %s\n", program->name, reason);
    }
    return status != 0 ? status : EXIT_NOT_WRITTEN;
}
