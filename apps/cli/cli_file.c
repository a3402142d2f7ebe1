/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opens without blocking, checks the kind of file, reads it whole; checks and closes output; see
 * cli_file.h.
 */
#include "apps/cli/cli_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/util_alloc.h"
#include "util/util_limit.h"

/* ---- reading -------------------------------------------------------------------------------- */

/* Returns -1 with a reason on failure. */
static int open_file(const char *path, struct stat *status, const char **reason_p)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0 || fstat(fd, status) != 0) {
        *reason_p = strerror(errno);
    } else if (!S_ISREG(status->st_mode)) {
        *reason_p =
            S_ISDIR(status->st_mode) ? "a folder, not a file" : "a FIFO or a device, not a file";
    } else {
        return fd;
    }
    if (fd >= 0) {
        (void) close(fd);
    }
    return -1;
}

FILE *clv_file_open(const char *path, const char **reason_p)
{
    struct stat status;
    const int fd = open_file(path, &status, reason_p);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

    if (fd >= 0 && file == NULL) {
        *reason_p = strerror(errno);
        (void) close(fd);
    }
    return file;
}

/* Reads as many bytes as the file had when it was opened. */
static const char *read_open(int fd, size_t size, char **bytes_p, size_t *n_bytes_p)
{
    ssize_t n = 1;

    *bytes_p = clv_alloc_unset(size + 1, 1);
    if (*bytes_p == NULL) {
        return "out of memory";
    }
    for (*n_bytes_p = 0; n > 0 && *n_bytes_p < size; *n_bytes_p += (size_t) n) {
        n = read(fd, *bytes_p + *n_bytes_p, size - *n_bytes_p);
        if (n < 0) {
            return strerror(errno);
        }
    }
    return NULL;
}

char *clv_file_read(const char *path, size_t *n_bytes_p, const char **reason_p)
{
    struct stat status;
    const int fd = open_file(path, &status, reason_p);
    char *bytes = NULL;

    if (fd < 0) {
        return NULL;
    }
    *reason_p = read_open(fd, (size_t) status.st_size, &bytes, n_bytes_p);
    (void) close(fd);
    if (*reason_p != NULL) {
        clv_free(bytes);
        bytes = NULL;
    }
    return bytes;
}

/* ---- writing -------------------------------------------------------------------------------- */

enum { EXIT_NOT_WRITTEN = 1 };

static bool stdout_is_reported; /* reported that stdout lost output: once is enough */

FILE *clv_output_open(const char *path)
{
    return strcmp(path, "-") == 0 ? stdout : fopen(path, "a");
}

static clv_status_t conclude(bool failed, const char *path, char *reason, size_t reason_bytes)
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

/* A stream that failed earlier has dropped its buffer, and errno with it. Writing the end of the
 * torn line fails again and sets errno. */
static void ask_again(FILE *out)
{
    if (errno == 0 && write(fileno(out), "\n", 1) == 1) {
        errno = 0;
    }
}

clv_status_t clv_output_check(FILE *out, const char *path, char *reason, size_t reason_bytes)
{
    errno = 0;
    const bool failed = fflush(out) != 0 || ferror(out);
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
    const bool failed = fclose(out) != 0;
    return status == CLV_OK ? conclude(failed, path, reason, reason_bytes) : status;
}

void clv_become_beside(const char *const *places, size_t n_places, char *const *argv)
{
    char own[4000], path[sizeof own + 256];
    const ssize_t n = readlink("/proc/self/exe", own, sizeof own);
    int length = n > 0 ? (int) n : 0;

    while (length > 0 && own[length - 1] != '/') {
        length--;
    }
    for (size_t i = 0; length > 0 && i < n_places; i++) {
        (void) snprintf(path, sizeof path, "%.*s%s", length, own, places[i]);
        (void) execv(path, argv);
    }
}

int clv_output_end(const clv_program_t *program, int status)
{
    const bool was_reported = stdout_is_reported;
    char reason[256];

    if (clv_output_check(stdout, "-", reason, sizeof reason) == CLV_OK) {
        return status;
    }
    if (!was_reported) {
        fprintf(stderr, "%s: %s\n", program->name, reason);
    }
    return status != 0 ? status : EXIT_NOT_WRITTEN;
}
