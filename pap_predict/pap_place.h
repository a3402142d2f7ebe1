/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the background thread may run: on processors that none of the node's ranks is bound to, if
 * there are any. Asks the kernel, which knows what the launcher bound and what the job may use; no
 * topology is needed, because launchers bind to whole cores.
 *
 * Linux only in the sense that everything here is. Any thread.
 */
#ifndef CLV_PAP_PLACE_H
#define CLV_PAP_PLACE_H

#include <stdint.h>
#include <sys/types.h>

/* The calling thread moves to those processors of the launcher that none of pids is bound to.
 * Returns how many those are; 0: there is none, and it stays where it is. */
int clv_pap_place_beside(const pid_t *pids, int32_t n_pids);

#endif
