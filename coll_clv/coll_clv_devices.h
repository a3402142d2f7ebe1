/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Device memory: which of our collectives a process may be given it in.
 *
 * A plan combines and copies as the processor does, and what is in a GPU is not its to touch. Open
 * MPI has components that copy such vectors to the host and call whoever is below them (coll/cuda,
 * later coll/accelerator); below those we see host memory alone. Else we may be given anything.
 *
 * Not: looking at a buffer. One rank's may be in a device and another's not, and nobody could know
 * of the others' in time without waiting for them, which costs what a plan gains.
 */
#ifndef COLL_CLV_DEVICES_H
#define COLL_CLV_DEVICES_H

#include <stdint.h>

/* Bits 1 << clv_collective_t; none where this process uses no accelerator. priority: ours. Once the
 * parameters of all coll components are registered; any thread. */
uint32_t coll_clv_devices_collectives(int priority);

#endif
