/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bytes of the exchange's messages. Private to the pap_predict module.
 *
 * Fixed little-endian layout, no pointers, no padding taken from memory. Nothing is trusted: this
 * file checks every received message against what any message may contain, and pap_agree checks
 * whether it fits the state of the exchange. decode never reads past n_bytes.
 *
 *      header, 24 bytes: u32 total bytes | u8 kind | u8 slot | u16 reason | u32 generation |
 *                        u32 items | i64 sequence
 *      UP, DOWN:         items records of 48 bytes      HELLO, LOST: items = 16 numbers of 8 bytes
 *      GIVE_UP, BYE, VOID, ASK: nothing                        (fields that do not apply are 0)
 */
#ifndef CLV_PAP_WIRE_H
#define CLV_PAP_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "pap_predict/agree/pap_record_set.h"
#include "util/util_status.h"

#define CLV_PAP_WIRE_HEADER_BYTES 24
#define CLV_PAP_WIRE_RECORD_BYTES 48

/*      name     value  direction and meaning */
#define CLV_PAP_WIRE_KIND_MAP(XX)                                                                  \
    XX(HELLO, 1, "either way: how many record sets of each slot I have; the child asks")           \
    XX(UP, 2, "child to parent: the records of my whole subtree")                                  \
    XX(DOWN, 3, "parent to child: a complete record set, decided by host 0")                       \
    XX(LOST, 4, "parent to child: no more record sets, and how many of each slot there were")      \
    XX(GIVE_UP, 5, "child to parent: ask host 0 to decide LOST")                                   \
    XX(BYE, 6, "child to parent: my whole subtree has freed the group; not a loss")                \
    XX(VOID, 7, "parent to child: of a slot all before sequence that you lack never come")         \
    XX(ASK, 8, "child to parent: a rank waits too long for record set sequence of a slot")

typedef enum clv_pap_wire_kind {
#define CLV_PAP_WIRE_ENUM(name, value, meaning) CLV_PAP_WIRE_##name = value,
    CLV_PAP_WIRE_KIND_MAP(CLV_PAP_WIRE_ENUM)
#undef CLV_PAP_WIRE_ENUM
} clv_pap_wire_kind_t;

typedef struct clv_pap_message {
    clv_pap_wire_kind_t kind;
    int32_t slot;
    int32_t reason; /* LOST, GIVE_UP: clv_pap_lost_reason_t */
    int32_t n_items;
    uint32_t generation;
    int64_t sequence;
    const unsigned char *items; /* points into the decoded bytes */
} clv_pap_message_t;

/* The longest message of a group; a receiver needs no larger buffer and refuses longer messages. */
size_t clv_pap_wire_max_bytes(int32_t n_ranks);

/* Decodes one whole message. CLV_PROTOCOL if anything is malformed. */
clv_status_t clv_pap_wire_decode(const void *bytes, size_t n_bytes, int32_t n_ranks,
                                 clv_pap_message_t *message) CLV_MUST_CHECK;
void clv_pap_wire_get_record(const clv_pap_message_t *message, int32_t index,
                             clv_pap_record_t *record);
int64_t clv_pap_wire_get_count(const clv_pap_message_t *message, int32_t slot);

/* Encoders return the bytes written; out must have room for clv_pap_wire_max_bytes. */
size_t clv_pap_wire_put_records(void *out, clv_pap_wire_kind_t kind, int32_t slot,
                                uint32_t generation, int64_t sequence,
                                const clv_pap_record_t *records, int32_t n_records);
size_t clv_pap_wire_put_counts(void *out, clv_pap_wire_kind_t kind, int32_t reason,
                               const int64_t *counts);
size_t clv_pap_wire_put_bare(void *out, clv_pap_wire_kind_t kind, int32_t reason);
size_t clv_pap_wire_put_slot(void *out, clv_pap_wire_kind_t kind, int32_t slot, int64_t sequence);

#endif
