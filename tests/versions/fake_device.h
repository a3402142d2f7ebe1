/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The memory of a device that is none: a range of addresses that programs map, locked (who touches
 * it dies) or open, and the same pages once more where the processor may. The fake accelerator
 * knows both by their addresses.
 */
#ifndef CLV_FAKE_DEVICE_H
#define CLV_FAKE_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#define FAKE_DEVICE_BASE  UINT64_C(0x100000000000)
#define FAKE_DEVICE_BYTES UINT64_C(0x4000000)
#define FAKE_DEVICE_AWAY  UINT64_C(0x010000000000) /* to where the processor may */

static inline int fake_device_has(const void *address)
{
    return (uint64_t) (uintptr_t) address - FAKE_DEVICE_BASE < FAKE_DEVICE_BYTES;
}

/* The address itself where it is no device's. */
static inline void *fake_device_open(const void *address)
{
    return (void *) ((uintptr_t) address + (fake_device_has(address) ? FAKE_DEVICE_AWAY : 0));
}

#endif
