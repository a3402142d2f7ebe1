/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether this process has a thread that the test did not start: the thread sanitizer's own, which
 * is bound to nothing, so that all processors count as used by this process.
 */
#ifndef CLV_TESTS_OTHER_THREADS_H
#define CLV_TESTS_OTHER_THREADS_H

#if defined(__SANITIZE_THREAD__)
#define HAS_OTHER_THREADS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_OTHER_THREADS 1
#endif
#endif

#if !defined(HAS_OTHER_THREADS)
#define HAS_OTHER_THREADS 0
#endif

#endif
