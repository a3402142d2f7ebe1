/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Limits of the process (setrlimit, ulimit) as errors of the call that meets them.
 *
 * For some limits the kernel sends a signal that ends the program: if a file, shared memory
 * included, would exceed RLIMIT_FSIZE, the calling thread gets SIGXFSZ in addition to the error
 * EFBIG. Between begin and end only the error remains. Handlers stay as they are. After end, the
 * thread's mask is as before, and a SIGXFSZ that was pending before begin is still pending.
 *
 * Units: bytes.
 * Errors: none; errno is kept.
 * Memory: none; texts are static.
 * Threads: safe; begin and end in the same thread, not nested. Five system calls.
 */
#ifndef CLV_UTIL_LIMIT_H
#define CLV_UTIL_LIMIT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct clv_limit_guard {
    sigset_t mask;   /* of the thread, before */
    bool is_waiting; /* a SIGXFSZ that is not ours */
} clv_limit_guard_t;

void clv_limit_begin(clv_limit_guard_t *guard);
void clv_limit_end(const clv_limit_guard_t *guard);

/* For a whole program of clv, before it has threads: from now on every such call only returns the
 * error. Programs that it starts get the signal as usual. */
void clv_limit_as_errors(void);

/* How large a file of this process may become, bytes; INT64_MAX: no limit. */
int64_t clv_limit_file_bytes(void);

/* The limit to raise if a call fails with this errno: "raise ulimit -f"; else "". */
const char *clv_limit_hint(int error);
/* The same behind what strerror says: "File too large (raise ulimit -f)". */
void clv_limit_text(int error, char *text, size_t n_bytes);

/* Logs for the user that the host refuses this process what ("thread"), which recording (records)
 * or predictions need, and what does without. */
void clv_limit_tell(const char *what, bool records, int error);

#endif
