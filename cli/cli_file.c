/* SPDX-License-Identifier: BSD-3-Clause
 * See cli_file.h.
 */
#include "cli/cli_file.h"

#include <errno.h>

#include "util/util_limit.h"

/* An error in the middle has lost its errno, but one more byte meets what was in the way again. */
static int find_error(FILE *file)
{
    if (ferror(file)) {
        clearerr(file);
        errno = EIO;
        (void) (fputc('\n', file) == EOF || fflush(file));
        return errno;
    }
    return fflush(file) == 0 ? 0 : errno;
}

int clv_file_is_written(FILE *file, const char *program, const char *path)
{
    char text[200];
    const int error = find_error(file);

    if (error != 0) {
        clv_limit_text(error, text, sizeof text);
        fprintf(stderr, "%s: %s: %s\n", program, path, text);
    }
    return error == 0;
}
