/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The processors that a process may use, and whether the processes of a host must share them, by
 * affinities and by the quotas of control groups (versions 1 and 2).
 *
 * Not: the consequences, nor load by other programs. A processor is what the kernel counts as one:
 * two hardware threads of a core are two.
 *
 * Units: quotas in thousandths of a processor.
 * Errors: none; a limit that cannot be read counts as none.
 * Memory: none kept.
 * Threads: safe.
 */
#ifndef CLV_UTIL_PROCESSORS_H
#define CLV_UTIL_PROCESSORS_H

#include <stdbool.h>
#include <stdint.h>

#define CLV_PROCESSORS_MOST  1024
#define CLV_PROCESSORS_WORDS (CLV_PROCESSORS_MOST / 64)

/* No padding: processes tell each other its bytes. */
typedef struct clv_processors {
    uint64_t may_use[CLV_PROCESSORS_WORDS]; /* a bit each; all zero: not known */
    uint64_t quota_group; /* a number of the control group whose quota is the least; 0: none */
    int64_t quota_permille;
} clv_processors_t;

/* This process's own. root: "", or a folder in which the files of /proc and /sys are looked for, by
 * their paths. */
void clv_processors_read(const char *root, clv_processors_t *processors_p);

/* Whether the n_ranks processes of a host must share processors because there are too few: in all,
 * for processes with the same affinity, or under a quota. of: the processors of n_known processes;
 * nothing is known of the others. O(n_known^2). */
bool clv_processors_are_shared(const clv_processors_t *of, int32_t n_known, int32_t n_ranks);

/* The quota in the text of cpu.max, or in those of cpu.cfs_quota_us and cpu.cfs_period_us; 0: no
 * limit. */
int64_t clv_processors_quota(const char *max);
int64_t clv_processors_old_quota(const char *quota, const char *period);

#endif
