/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct: the definitions. Locations belong to processes (location groups), processes to hosts
 * (of the system tree), and communicators have processes as members: messages of any thread belong
 * to its process.
 */
#include "apps/tools/correct/correct_notes.h"

#include <stdlib.h>
#include <string.h>

#include "util/util_alloc.h"

#define NS_PER_S UINT64_C(1000000000)

/* State kept while definitions are read. */
typedef struct tree_node {
    uint32_t ref, name, class_name, parent;
    uint32_t boot_id, time_namespace, clock;
    bool is_shared;
} tree_node_t;

typedef struct group {
    uint32_t ref, flags;
    int type;
    uint32_t n_members;
    uint64_t *members;
} group_t;

static struct {
    tree_node_t *nodes;
    group_t *groups;
    uint32_t n_nodes, n_groups;
    uint64_t *mpi_locations; /* of COMM_LOCATIONS */
    uint32_t n_mpi_locations;
    bool has_failed;
} reading;

/* Appends one zeroed element to an array; its capacity doubles. */
static void *one_more(void **array, uint32_t *n, size_t item_bytes)
{
    if ((*n & (*n - 1)) == 0) {
        const size_t wanted = *n == 0 ? 1 : 2 * (size_t) *n;
        void *larger = clv_alloc(wanted, item_bytes);
        if (!larger) {
            reading.has_failed = true;
            return NULL;
        }
        if (*n > 0) {
            memcpy(larger, *array, *n * item_bytes);
        }
        clv_free(*array);
        *array = larger;
    }
    return (char *) *array + item_bytes * (*n)++;
}

#define ONE_MORE(array, n) one_more((void **) &(array), &(n), sizeof *(array))

static correct_archive_t *archive_of(void *user)
{
    correct_defining_t *defining = user;
    return defining->writer ? NULL : &defining->correct->archive;
}

const char *correct_string(const correct_archive_t *archive, uint32_t ref)
{
    return ref < archive->n_strings && archive->strings[ref] ? archive->strings[ref] : "";
}

int64_t correct_ticks(const correct_archive_t *archive, uint64_t raw)
{
    return raw < (uint64_t) (CORRECT_LARGEST_STAMP / archive->scale)
               ? (int64_t) raw * archive->scale
               : CORRECT_LARGEST_STAMP;
}

/* ---- one definition each ---- */

void note_definition_ClockProperties(void *user, uint64_t timer, uint64_t offset, uint64_t length,
                                     uint64_t realtime)
{
    correct_defining_t *defining = user;
    correct_archive_t *archive = &defining->correct->archive;
    if (defining->writer) {
        OTF2_GlobalDefWriter_WriteClockProperties(
            defining->writer, timer * (uint64_t) archive->scale, archive->global_offset,
            archive->length, realtime);
        return;
    }
    archive->timer = timer;
    archive->scale = timer > 0 && timer < NS_PER_S ? (int64_t) ((NS_PER_S - 1) / timer + 1) : 1;
    archive->ticks_per_ns = (double) timer * (double) archive->scale / 1e9;
    archive->global_offset = (uint64_t) correct_ticks(archive, offset);
    archive->length = (uint64_t) correct_ticks(archive, length);
    archive->realtime = realtime;
}

/* References of strings and regions are dense in practice; larger ones are not kept. */
#define MOST_NAMES (UINT32_C(1) << 26)

static char *keep_text(const char *text)
{
    const size_t n = strlen(text) + 1;
    char *copy = clv_alloc(n, 1);
    if (copy) {
        memcpy(copy, text, n);
    }
    reading.has_failed |= !copy;
    return copy;
}

static void keep_name(char ***names, uint32_t *n_names, uint32_t ref, const char *name)
{
    while (*n_names <= ref && ref < MOST_NAMES && !reading.has_failed) {
        one_more((void **) names, n_names, sizeof **names);
    }
    if (ref < *n_names && !(*names)[ref]) {
        (*names)[ref] = keep_text(name);
    }
}

void note_definition_String(void *user, OTF2_StringRef self, const char *string)
{
    correct_archive_t *archive = archive_of(user);
    if (archive) {
        keep_name(&archive->strings, &archive->n_strings, self, string);
    }
}

void note_definition_Attribute(void *user, OTF2_AttributeRef self, OTF2_StringRef name,
                               OTF2_StringRef description, OTF2_Type type)
{
    correct_defining_t *defining = user;
    correct_archive_t *archive = archive_of(user);
    const char *truth = defining->correct->options.truth;
    (void) description;
    if (archive && truth && type == OTF2_TYPE_INT64 &&
        !strcmp(truth, correct_string(archive, name))) {
        archive->truth_attribute = self;
    }
}

void note_definition_SystemTreeNode(void *user, OTF2_SystemTreeNodeRef self, OTF2_StringRef name,
                                    OTF2_StringRef class_name, OTF2_SystemTreeNodeRef parent)
{
    tree_node_t *node = archive_of(user) ? ONE_MORE(reading.nodes, reading.n_nodes) : NULL;
    if (node) {
        *node = (tree_node_t){self,           name,           class_name,     parent,
                              CORRECT_NOBODY, CORRECT_NOBODY, CORRECT_NOBODY, false};
    }
}

static tree_node_t *node_of(uint32_t ref)
{
    for (uint32_t i = 0; i < reading.n_nodes; i++) {
        if (reading.nodes[i].ref == ref) {
            return &reading.nodes[i];
        }
    }
    return NULL;
}

/* Properties by which clv's recorder identifies a boot. */
void note_definition_SystemTreeNodeProperty(void *user, OTF2_SystemTreeNodeRef node,
                                            OTF2_StringRef name, OTF2_Type type,
                                            OTF2_AttributeValue value)
{
    correct_archive_t *archive = archive_of(user);
    tree_node_t *found = archive ? node_of(node) : NULL;
    if (!found || type != OTF2_TYPE_STRING) {
        return;
    }
    const char *text = correct_string(archive, name);
    if (!strcmp(text, "CLV::BOOT_ID")) {
        found->boot_id = value.stringRef;
    } else if (!strcmp(text, "CLV::TIME_NAMESPACE")) {
        found->time_namespace = value.stringRef;
    } else if (!strcmp(text, "CLV::CLOCK")) {
        found->clock = value.stringRef;
    }
}

void note_definition_SystemTreeNodeDomain(void *user, OTF2_SystemTreeNodeRef node,
                                          OTF2_SystemTreeDomain domain)
{
    tree_node_t *found = archive_of(user) ? node_of(node) : NULL;
    if (found && domain == OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY) {
        found->is_shared = true;
    }
}

void note_definition_LocationGroup(void *user, OTF2_LocationGroupRef self, OTF2_StringRef name,
                                   OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef parent,
                                   OTF2_LocationGroupRef creator)
{
    correct_archive_t *archive = archive_of(user);
    correct_process_t *process =
        archive ? ONE_MORE(archive->processes, archive->n_processes) : NULL;
    (void) type;
    (void) creator;
    if (process) {
        *process = (correct_process_t){self, name, parent, -1, false};
    }
}

void note_definition_Location(void *user, OTF2_LocationRef self, OTF2_StringRef name,
                              OTF2_LocationType type, uint64_t n_events,
                              OTF2_LocationGroupRef group)
{
    correct_archive_t *archive = archive_of(user);
    correct_location_t *location =
        archive ? ONE_MORE(archive->locations, archive->n_locations) : NULL;
    if (location) {
        location->ref = self;
        location->name = name;
        location->is_metric = type == OTF2_LOCATION_TYPE_METRIC;
        location->n_defined = n_events;
        location->process = group; /* a reference until the end */
    }
}

void note_definition_Region(void *user, OTF2_RegionRef self, OTF2_StringRef name,
                            OTF2_StringRef canonical, OTF2_StringRef description,
                            OTF2_RegionRole role, OTF2_Paradigm paradigm, OTF2_RegionFlag flags,
                            OTF2_StringRef file, uint32_t first, uint32_t last)
{
    correct_archive_t *archive = archive_of(user);
    (void) canonical;
    (void) description;
    (void) role;
    (void) paradigm;
    (void) flags;
    (void) file;
    (void) first;
    (void) last;
    if (archive) {
        keep_name(&archive->regions, &archive->n_regions, self, correct_string(archive, name));
    }
}

void note_definition_Group(void *user, OTF2_GroupRef self, OTF2_StringRef name, OTF2_GroupType type,
                           OTF2_Paradigm paradigm, OTF2_GroupFlag flags, uint32_t n_members,
                           const uint64_t *members)
{
    group_t *group = archive_of(user) ? ONE_MORE(reading.groups, reading.n_groups) : NULL;
    (void) name;
    if (!group) {
        return;
    }
    *group = (group_t){self, flags, type, n_members, clv_alloc(n_members + (size_t) 1, 8)};
    if (!group->members) {
        reading.has_failed = true;
        return;
    }
    if (n_members > 0) {
        memcpy(group->members, members, n_members * sizeof *members);
    }
    if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS && paradigm == OTF2_PARADIGM_MPI) {
        reading.mpi_locations = group->members;
        reading.n_mpi_locations = n_members;
    }
}

static void add_comm(correct_archive_t *archive, uint32_t ref, uint32_t name, uint32_t group,
                     uint32_t other)
{
    correct_comm_t *comm = archive ? ONE_MORE(archive->comms, archive->n_comms) : NULL;
    if (comm) {
        comm->ref = ref;
        comm->name = name;
        comm->group = group;
        comm->other = other;
    }
}

void note_definition_Comm(void *user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
                          OTF2_CommRef parent, OTF2_CommFlag flags)
{
    (void) parent;
    (void) flags;
    add_comm(archive_of(user), self, name, group, CORRECT_NOBODY);
}

void note_definition_InterComm(void *user, OTF2_CommRef self, OTF2_StringRef name,
                               OTF2_GroupRef group, OTF2_GroupRef other, OTF2_CommRef common,
                               OTF2_CommFlag flags)
{
    (void) common;
    (void) flags;
    add_comm(archive_of(user), self, name, group, other);
}

/* ---- references become indices ---- */

static int by_location(const void *left, const void *right)
{
    const correct_location_t *a = left, *b = right;
    return (a->ref > b->ref) - (a->ref < b->ref);
}

static int by_comm(const void *left, const void *right)
{
    const correct_comm_t *a = left, *b = right;
    return (a->ref > b->ref) - (a->ref < b->ref);
}

static int by_process(const void *left, const void *right)
{
    const correct_process_t *a = left, *b = right;
    return (a->ref > b->ref) - (a->ref < b->ref);
}

uint32_t correct_find_comm(const correct_archive_t *archive, uint32_t ref)
{
    const correct_comm_t key = {.ref = ref};
    const correct_comm_t *found =
        archive->n_comms > 0 ? bsearch(&key, archive->comms, archive->n_comms, sizeof key, by_comm)
                             : NULL;
    return found ? (uint32_t) (found - archive->comms) : CORRECT_NOBODY;
}

uint32_t correct_find_location(const correct_archive_t *archive, uint64_t ref)
{
    const correct_location_t key = {.ref = ref};
    const correct_location_t *found =
        archive->n_locations > 0
            ? bsearch(&key, archive->locations, archive->n_locations, sizeof key, by_location)
            : NULL;
    return found ? (uint32_t) (found - archive->locations) : CORRECT_NOBODY;
}

static int by_member(const void *left, const void *right)
{
    const correct_member_t *a = left, *b = right;
    return (a->process > b->process) - (a->process < b->process);
}

uint32_t correct_member(const correct_comm_t *comm, uint32_t process)
{
    const correct_member_t key = {.process = process};
    const correct_member_t *found =
        comm->n_members > 0
            ? bsearch(&key, comm->by_process, comm->n_members, sizeof key, by_member)
            : NULL;
    return found ? found->member : CORRECT_NOBODY;
}

uint32_t correct_peer(const correct_comm_t *comm, uint32_t process, uint32_t rank)
{
    if (comm->is_self) {
        return process;
    }
    const bool is_ours =
        comm->other == CORRECT_NOBODY || correct_member(comm, process) == CORRECT_NOBODY;
    const uint32_t n = is_ours ? comm->n_members : comm->n_others;
    return rank < n ? (is_ours ? comm->processes : comm->others)[rank] : CORRECT_NOBODY;
}

/* The host of a process: the outermost node that is marked as one machine; else the direct
 * parent. */
static tree_node_t *host_node(uint32_t ref, const correct_archive_t *archive)
{
    tree_node_t *first = node_of(ref), *found = first;
    for (tree_node_t *node = first; node; node = node_of(node->parent)) {
        if (node->is_shared || !strcmp(correct_string(archive, node->class_name), "node")) {
            found = node;
        }
        if (node->parent == node->ref) {
            break;
        }
    }
    return found;
}

static int32_t host_of(correct_archive_t *archive, const correct_process_t *process)
{
    const tree_node_t *node = host_node(process->tree_node, archive);
    const uint32_t ref = node ? node->ref : CORRECT_NOBODY;
    for (uint32_t h = 0; h < archive->n_hosts; h++) {
        if (archive->hosts[h].ref == ref) {
            return (int32_t) h;
        }
    }
    correct_host_t *host = ONE_MORE(archive->hosts, archive->n_hosts);
    if (!host) {
        return -1;
    }
    *host = (correct_host_t){ref, CORRECT_NOBODY, CORRECT_NOBODY, CORRECT_NOBODY, CORRECT_NOBODY};
    if (node) {
        *host = (correct_host_t){ref, node->name, node->boot_id, node->time_namespace, node->clock};
    }
    return (int32_t) archive->n_hosts - 1;
}

static bool resolve_locations(correct_archive_t *archive)
{
    qsort(archive->locations, archive->n_locations, sizeof *archive->locations, by_location);
    if (archive->n_processes > 0) {
        qsort(archive->processes, archive->n_processes, sizeof *archive->processes, by_process);
    }
    for (uint32_t p = 0; p < archive->n_processes; p++) {
        archive->processes[p].host = host_of(archive, &archive->processes[p]);
    }
    for (uint32_t i = 0; i < archive->n_locations; i++) {
        correct_location_t *location = &archive->locations[i];
        const correct_process_t key = {.ref = location->process};
        correct_process_t *found =
            archive->n_processes > 0
                ? bsearch(&key, archive->processes, archive->n_processes, sizeof key, by_process)
                : NULL;
        if (!found) {
            return correct_fail(CORRECT_EXIT_INPUT,
                                "location %llu belongs to location group %u, which is not defined",
                                (unsigned long long) location->ref, location->process);
        }
        location->process = (uint32_t) (found - archive->processes);
        location->host = found->host;
        found->has_threads |= !location->is_metric;
    }
    return true;
}

static const group_t *group_of(uint32_t ref)
{
    for (uint32_t i = 0; i < reading.n_groups; i++) {
        if (reading.groups[i].ref == ref) {
            return &reading.groups[i];
        }
    }
    return NULL;
}

/* The processes of a group, by rank. */
static uint32_t *processes_of(const correct_archive_t *archive, const group_t *group, uint32_t *n)
{
    const bool is_global = (group->flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) != 0;
    const uint64_t *members = is_global ? reading.mpi_locations : group->members;
    const bool is_index = group->type == OTF2_GROUP_TYPE_COMM_GROUP && !is_global;
    *n = is_global ? reading.n_mpi_locations : group->n_members;
    uint32_t *processes = clv_alloc(*n + (size_t) 1, sizeof *processes);
    reading.has_failed |= !processes;
    for (uint32_t i = 0; processes && i < *n; i++) {
        uint64_t ref = members[i];
        if (is_index) {
            ref = ref < reading.n_mpi_locations ? reading.mpi_locations[ref] : UINT64_MAX;
        }
        const uint32_t location = correct_find_location(archive, ref);
        processes[i] =
            location == CORRECT_NOBODY ? CORRECT_NOBODY : archive->locations[location].process;
    }
    return processes;
}

static void resolve_comm(correct_archive_t *archive, correct_comm_t *comm)
{
    const group_t *group = group_of(comm->group);
    const group_t *other = comm->other == CORRECT_NOBODY ? NULL : group_of(comm->other);
    comm->is_self = group && group->type == OTF2_GROUP_TYPE_COMM_SELF;
    if (!group || comm->is_self) {
        return;
    }
    comm->processes = processes_of(archive, group, &comm->n_members);
    if (other) {
        comm->others = processes_of(archive, other, &comm->n_others);
    }
    comm->by_process = clv_alloc(comm->n_members + (size_t) 1, sizeof *comm->by_process);
    if (!comm->processes || !comm->by_process) {
        reading.has_failed = true;
        return;
    }
    for (uint32_t i = 0; i < comm->n_members; i++) {
        comm->by_process[i] = (correct_member_t){comm->processes[i], i};
    }
    qsort(comm->by_process, comm->n_members, sizeof *comm->by_process, by_member);
}

static void forget_reading(void)
{
    for (uint32_t i = 0; i < reading.n_groups; i++) {
        clv_free(reading.groups[i].members);
    }
    clv_free(reading.groups);
    clv_free(reading.nodes);
    memset(&reading, 0, sizeof reading);
}

static bool check_archive(const correct_archive_t *archive, const char *truth)
{
    if (archive->timer == 0) {
        return correct_fail(CORRECT_EXIT_INPUT, "the trace does not say how fast its timer is");
    }
    if (truth && archive->truth_attribute == CORRECT_NOBODY) {
        return correct_fail(CORRECT_EXIT_INPUT,
                            "--truth %s: the trace has no such attribute of 64-bit integers",
                            truth);
    }
    return archive->n_locations > 0
               ? true
               : correct_fail(CORRECT_EXIT_INPUT, "the trace has no locations");
}

bool correct_finish_definitions(correct_t *correct)
{
    correct_archive_t *archive = &correct->archive;
    bool is_good = check_archive(archive, correct->options.truth) && resolve_locations(archive);
    if (archive->n_comms > 1) {
        qsort(archive->comms, archive->n_comms, sizeof *archive->comms, by_comm);
    }
    for (uint32_t c = 0; c < archive->n_comms && is_good; c++) {
        resolve_comm(archive, &archive->comms[c]);
    }
    if (reading.has_failed) {
        is_good = correct_fail(CORRECT_EXIT_MACHINE, "out of memory for definitions");
    }
    forget_reading();
    return is_good;
}

void correct_free_archive(correct_archive_t *archive)
{
    for (uint32_t i = 0; i < archive->n_strings; i++) {
        clv_free(archive->strings[i]);
    }
    for (uint32_t i = 0; i < archive->n_regions; i++) {
        clv_free(archive->regions[i]);
    }
    for (uint32_t i = 0; i < archive->n_locations; i++) {
        clv_free(archive->locations[i].offsets);
    }
    for (uint32_t i = 0; i < archive->n_comms; i++) {
        clv_free(archive->comms[i].processes);
        clv_free(archive->comms[i].others);
        clv_free(archive->comms[i].by_process);
        clv_free(archive->comms[i].slots);
    }
    clv_free(archive->strings);
    clv_free(archive->regions);
    clv_free(archive->hosts);
    clv_free(archive->processes);
    clv_free(archive->locations);
    clv_free(archive->comms);
    clv_free(archive->folder);
    clv_free(archive->name);
    memset(archive, 0, sizeof *archive);
}
