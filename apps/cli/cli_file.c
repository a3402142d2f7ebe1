/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opened without waiting, looked at, read as far as it is; see cli_file.h.
 */
#include "apps/cli/cli_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/util_alloc.h"

/* -1 with a reason. */
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

/* As much as it had when it was opened. */
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
