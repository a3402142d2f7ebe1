/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Limits of the process (setrlimit, ulimit) as errors of the call that meets them.
 *
 * The kernel tells some by a signal that ends the program: a file that would become larger than
 * RLIMIT_FSIZE, shared memory included, is a SIGXFSZ for the thread that asked, beside the error
 * EFBIG. Between begin and end the error is all that happens. Handlers stay as they are, and after
 * end so does the thread's mask; a SIGXFSZ that had been waiting before still waits.
 *
 * Units: bytes.
 * Errors: none; errno is kept.
 * Memory: none; texts are static.
 * Threads: safe; begin and end in the same thread, not nested. Five system calls.
 */
#ifndef CLV_UTIL_LIMIT_H
#define CLV_UTIL_LIMIT_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

typedef struct clv_limit_guard {
    sigset_t mask;  /* of the thread, before */
    int is_waiting; /* a SIGXFSZ that is not ours */
} clv_limit_guard_t;

void clv_limit_begin(clv_limit_guard_t *guard);
void clv_limit_end(const clv_limit_guard_t *guard);

/* For a whole program of ours, before it has threads: every such call is an error from now on.
 * Programs that it starts have the signal as they would. */
void clv_limit_as_errors(void);

/* How large a file of this process may become, bytes; INT64_MAX: no limit. */
int64_t clv_limit_file_bytes(void);

/* Which limit to raise where a call fails with this errno: "raise ulimit -f"; else "". */
const char *clv_limit_hint(int error);
/* The same behind what strerror says: "File too large (raise ulimit -f)". */
void clv_limit_text(int error, char *text, size_t n_bytes);

/* To the log, for the user: the host refuses this process what predictions and the recorder need,
 * "thread". */
void clv_limit_tell(const char *what, int error);

#endif
