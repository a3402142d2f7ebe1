/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The version of clv, and the one answer of every program to --version. configure.ac and the
 * scripts that say it, too, are compared with this by tests/layout.
 *
 * Units: none.
 * Errors: none.
 * Memory: none.
 * Threads: safe.
 */
#ifndef CLV_UTIL_VERSION_H
#define CLV_UTIL_VERSION_H

#include <stdio.h>
#include <string.h>

#define CLV_VERSION_MAJOR   0
#define CLV_VERSION_MINOR   2
#define CLV_VERSION_RELEASE 0
#define CLV_VERSION         "0.2.0"

/* Whether --version is among the arguments before "--"; then "program (clv) version" is printed. */
static inline int clv_tells_version(const char *program, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--version") == 0) {
            printf("%s (clv) %s\n", program, CLV_VERSION);
            return 1;
        }
    }
    return 0;
}

#endif
