/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers as little-endian bytes, the same on every machine: endpoint records, handshakes and frame
 * headers.
 *
 * Units: bytes.
 * Errors: none: the caller has checked the length.
 * Memory: none.
 * Threads: safe.
 */
#ifndef CLV_UTIL_BYTES_H
#define CLV_UTIL_BYTES_H

#include <stdint.h>

static inline uint64_t clv_get_u64(const unsigned char *bytes)
{
    uint64_t number = 0;
    for (int i = 0; i < 8; i++) {
        number |= (uint64_t) bytes[i] << (8 * i);
    }
    return number;
}

static inline void clv_put_u32(unsigned char *bytes, uint32_t number)
{
    for (int i = 0; i < 4; i++) {
        bytes[i] = (unsigned char) (number >> (8 * i));
    }
}

/* In halves, which gcc makes one store of each; of a loop over eight bytes it does not. */
static inline void clv_put_u64(unsigned char *bytes, uint64_t number)
{
    clv_put_u32(bytes, (uint32_t) number);
    clv_put_u32(bytes + 4, (uint32_t) (number >> 32));
}

static inline uint32_t clv_get_u32(const unsigned char *bytes)
{
    uint32_t number = 0;
    for (int i = 0; i < 4; i++) {
        number |= (uint32_t) bytes[i] << (8 * i);
    }
    return number;
}

#endif
