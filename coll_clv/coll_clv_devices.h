/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Device memory: in which of clv's collectives a process may receive it.
 *
 * A plan combines and copies on the processor, which must not touch a GPU's memory. Open MPI has
 * components that copy such vectors to the host and call the component below them (coll/cuda, later
 * coll/accelerator); below those clv sees only host memory. Otherwise it may receive any memory.
 *
 * Not: looking at a buffer. One rank's may be in a device and another's not, and a rank would have
 * to wait for the others to learn that, which costs as much as a plan gains.
 */
#ifndef COLL_CLV_DEVICES_H
#define COLL_CLV_DEVICES_H

#include <stdint.h>

/* Collectives that may be given device memory, bits 1 << clv_collective_t; none if this process
 * uses no accelerator. priority: ours. Call once the parameters of all coll components are
 * registered. Any thread. */
uint32_t coll_clv_devices_collectives(int priority);

#endif
