/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The version of clv. tests/layout compares configure.ac and the scripts with it.
 *
 * Units: none.
 * Errors: none.
 * Memory: none.
 * Threads: safe.
 */
#ifndef CLV_UTIL_VERSION_H
#define CLV_UTIL_VERSION_H

#define CLV_VERSION_MAJOR   0
#define CLV_VERSION_MINOR   2
#define CLV_VERSION_RELEASE 0
#define CLV_VERSION         "0.2.0"

#endif
