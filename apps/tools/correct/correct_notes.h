/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct: the functions that the generated code (otf2_records.awk) calls for each record.
 */
#ifndef CLV_CORRECT_NOTES_H
#define CLV_CORRECT_NOTES_H

#include <otf2/otf2.h>
#include <stdbool.h>

#include "apps/tools/correct/correct.h"

/* Global definitions, read into the archive, or written to writer. */
typedef struct correct_defining {
    correct_t *correct;
    OTF2_GlobalDefWriter *writer; /* NULL: reading */
    int *groups;                  /* internal */
} correct_defining_t;

void note_definition_ClockProperties(void *user, uint64_t timer, uint64_t offset, uint64_t length,
                                     uint64_t realtime);
void note_definition_String(void *user, OTF2_StringRef self, const char *string);
void note_definition_Attribute(void *user, OTF2_AttributeRef self, OTF2_StringRef name,
                               OTF2_StringRef description, OTF2_Type type);
void note_definition_SystemTreeNode(void *user, OTF2_SystemTreeNodeRef self, OTF2_StringRef name,
                                    OTF2_StringRef class_name, OTF2_SystemTreeNodeRef parent);
void note_definition_SystemTreeNodeProperty(void *user, OTF2_SystemTreeNodeRef node,
                                            OTF2_StringRef name, OTF2_Type type,
                                            OTF2_AttributeValue value);
void note_definition_SystemTreeNodeDomain(void *user, OTF2_SystemTreeNodeRef node,
                                          OTF2_SystemTreeDomain domain);
void note_definition_LocationGroup(void *user, OTF2_LocationGroupRef self, OTF2_StringRef name,
                                   OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef parent,
                                   OTF2_LocationGroupRef creator);
void note_definition_Location(void *user, OTF2_LocationRef self, OTF2_StringRef name,
                              OTF2_LocationType type, uint64_t n_events,
                              OTF2_LocationGroupRef group);
void note_definition_Region(void *user, OTF2_RegionRef self, OTF2_StringRef name,
                            OTF2_StringRef canonical, OTF2_StringRef description,
                            OTF2_RegionRole role, OTF2_Paradigm paradigm, OTF2_RegionFlag flags,
                            OTF2_StringRef file, uint32_t first, uint32_t last);
void note_definition_Group(void *user, OTF2_GroupRef self, OTF2_StringRef name, OTF2_GroupType type,
                           OTF2_Paradigm paradigm, OTF2_GroupFlag flags, uint32_t n_members,
                           const uint64_t *members);
void note_definition_Comm(void *user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
                          OTF2_CommRef parent, OTF2_CommFlag flags);
void note_definition_InterComm(void *user, OTF2_CommRef self, OTF2_StringRef name,
                               OTF2_GroupRef group, OTF2_GroupRef other, OTF2_CommRef common,
                               OTF2_CommFlag flags);
/* After the last definition: replaces references by indices. */
bool correct_finish_definitions(correct_t *correct);

/* A posted receive or started collective, by request number. */
typedef struct correct_request {
    uint64_t id;
    int64_t event, order_ns;
    uint32_t track;
    bool is_used;
} correct_request_t;

/* Reads all locations of one process, one after the other. */
typedef struct correct_reading {
    correct_t *correct;
    uint32_t process, location; /* location: index and track */
    int64_t n_events; /* of the location; set in its track at the end: threads share its line */
    clv_clc_note_t *notes;
    int64_t n_notes, n_note_slots;
    correct_request_t *requests;
    uint32_t n_requests, n_request_slots; /* a power of two */
    int64_t begin;                        /* begin of the collective in progress here; -1: none */
} correct_reading_t;

/* Adds the next event of the location; false on failure. */
bool correct_take_event(void *user, OTF2_TimeStamp time, OTF2_AttributeList *attributes);

void note_Enter(void *user, OTF2_RegionRef region);
void note_Leave(void *user, OTF2_RegionRef region);
void note_MpiSend(void *user, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes);
void note_MpiIsend(void *user, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
                   uint64_t request);
void note_MpiIrecvRequest(void *user, uint64_t request);
void note_MpiRecv(void *user, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes);
void note_MpiIrecv(void *user, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
                   uint64_t request);
void note_MpiCollectiveBegin(void *user);
void note_MpiCollectiveEnd(void *user, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
                           uint64_t sent, uint64_t received);
void note_NonBlockingCollectiveRequest(void *user, uint64_t request);
void note_NonBlockingCollectiveComplete(void *user, OTF2_CollectiveOp op, OTF2_CommRef comm,
                                        uint32_t root, uint64_t sent, uint64_t received,
                                        uint64_t request);

#endif
