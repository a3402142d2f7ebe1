/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory for keys: small cells in pages that the kernel leaves out of core files (MADV_DONTDUMP),
 * where it can.
 *
 * Not: locked in memory (a key may be swapped out), nor the copies that others make, such as MPI of
 * its messages.
 *
 * Units: bytes.
 * Errors: NULL, no memory.
 * Memory: 4 KiB for each 32 cells; pages stay until the process ends, and are used again.
 * Threads: any; one lock, held while the pages are searched.
 */
#ifndef CLV_UTIL_SECRET_H
#define CLV_UTIL_SECRET_H

#define CLV_SECRET_BYTES 128 /* of a cell */

/* A cell of zeros. */
void *clv_secret_new(void);
/* Zeroes it and gives it back; NULL is fine. */
void clv_secret_free(void *secret);

#endif
