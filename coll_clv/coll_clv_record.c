/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The recorder of this process: its start and end, and the record of a call in its ring (see
 * coll_clv_record.h).
 *
 * Threads: start and stop in MPI_Init and MPI_Finalize; streams under one lock, which a call takes
 *   only if its shape differs from the previous call of its kind.
 */
#include "coll_clv/coll_clv_record.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/group/group.h"
#include "ompi/proc/proc.h"
#include "opal/runtime/opal_progress.h"

#include "coll_clv/coll_clv_gather.h"
#include "coll_clv/coll_clv_peers.h"
#include "coll_clv/coll_clv_setup.h"
#include "record/record_early.h"
#include "util/util_alloc.h"
#include "util/util_hash.h"
#include "util/util_hot.h"
#include "util/util_limit.h"
#include "util/util_log.h"
#include "util/util_place.h"
#include "util/util_version.h"

#define WORDS(a, b, c)   #a "." #b "." #c
#define VERSION(a, b, c) WORDS(a, b, c)
#define OPEN_MPI_VERSION                                                                           \
    "Open MPI " VERSION(OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION)

#define TABLE_SLOTS (2 * CLV_CLVA_MAX_STREAMS) /* a power of two */

bool coll_clv_record_is_on;

/* A stream that is in the file or on its way there. */
typedef struct known_stream {
    clv_clva_stream_t stream;
    uint32_t next_number; /* of its next call with a request */
    bool is_used;
} known_stream_t;

/* The members of communicators so far: another communicator of the same members gets its own id. */
typedef struct known_members {
    uint64_t hash;
    uint64_t count;
} known_members_t;

typedef struct recorder {
    clv_pap_group_t *group;
    clv_drain_t *drain;
    clv_ring_t *ring;
    int32_t every;
    int64_t min_bytes;
    pthread_mutex_t lock; /* protects what follows */
    int32_t n_streams;
    known_stream_t streams[TABLE_SLOTS];
    size_t n_members, n_members_slots;
    known_members_t *members;
} recorder_t;

static recorder_t *recorder;

static void push(const void *slots, uint64_t n_slots)
{
    if (CLV_RING_HALF_FULL == clv_ring_push(recorder->ring, slots, n_slots)) {
        clv_pap_group_wake(recorder->group);
    }
}

/* Nothing while coll_clv_wait is spin. */
static CLV_COLD void tell_waits(void)
{
    const coll_clv_counters_t *counters = &mca_coll_clv_component.counters;
    const clv_clva_waits_t waits = {.kind = CLV_CLVA_WAITS,
                                    .waited_ns = (int64_t) counters->waited_ns,
                                    .asleep_ns = (int64_t) counters->asleep_ns,
                                    .n_late = (int64_t) counters->late_wakes};

    if (NULL != recorder->ring && 0 < waits.waited_ns) {
        push(&waits, 1);
    }
}

/* ---- start and stop -------------------------------------------------------------------------- */

/* What each rank sends to the others at the start. */
typedef struct record_endpoint {
    int32_t ok;
    int32_t reserved;
    int64_t started_s;
    unsigned char pap[CLV_PAP_ENDPOINT_BYTES];
} record_endpoint_t;

typedef struct start {
    struct ompi_communicator_t *comm;
    record_endpoint_t mine;
    record_endpoint_t *endpoints;
    unsigned char *more; /* what does not fit into the endpoint records; NULL: nothing */
} start_t;

static bool reserve(start_t *start)
{
    const size_t n_ranks = (size_t) ompi_comm_size(start->comm);

    start->endpoints = clv_alloc(n_ranks, sizeof *start->endpoints);
    recorder = clv_alloc(1, sizeof *recorder);
    return NULL != start->endpoints && NULL != recorder &&
           0 == pthread_mutex_init(&recorder->lock, NULL) && coll_clv_requests_open();
}

/* Wipes the group's key, which is in the endpoint records of rank 0. */
static void forget_keys(start_t *start)
{
    explicit_bzero(&start->mine, sizeof start->mine);
    if (NULL != start->endpoints) {
        explicit_bzero(start->endpoints, sizeof *start->endpoints);
    }
}

static void unreserve(start_t *start)
{
    forget_keys(start);
    clv_free(start->more);
    clv_free(start->endpoints);
}

static void fill_endpoint(start_t *start, const clv_choose_config_t *config)
{
    const clv_pap_hooks_t hooks = {
        .share_bytes = sizeof(clv_ring_t), .tend = clv_drain_tend, .after_tend = clv_drain_write};
    clv_pap_hooks_t mine = hooks;
    clv_pap_t *pap = NULL;

    start->mine.started_s = (int64_t) time(NULL);
    if (CLV_OK != coll_clv_setup_channel(config, &mca_coll_clv_component.params, true, &pap) ||
        CLV_OK != clv_drain_create(&recorder->drain)) {
        return;
    }
    mine.tend_context = recorder->drain;
    start->mine.ok = CLV_OK == clv_pap_group_create(pap, ompi_comm_size(start->comm),
                                                    ompi_comm_rank(start->comm), &mine,
                                                    start->mine.pap, &recorder->group);
}

static bool exchange_endpoints(start_t *start)
{
    void *all = start->endpoints;
    const int rc = coll_clv_gather(start->comm, &start->mine, &all, sizeof start->mine);

    start->endpoints = all;
    return OMPI_SUCCESS == rc;
}

static bool read_endpoints(const start_t *start)
{
    bool ok = true;

    for (int p = 0; p < ompi_comm_size(start->comm); p++) {
        ok = ok && start->endpoints[p].ok;
    }
    return ok;
}

/* The program's path as the kernel has it; the end of a path that is too long. */
static void read_program(char *name, size_t size)
{
    char path[4096]; /* PATH_MAX */
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    const size_t n_bytes = 0 < length ? (size_t) length : 0;
    const size_t first = n_bytes < size ? 0 : n_bytes - (size - 1);

    memcpy(name, path + first, n_bytes - first);
    name[n_bytes - first] = '\0';
}

/* The rank-equal parameters that the user has set; ends with " ..." if they do not fit. */
static void print_parameters(char *text, size_t size, const clv_choose_config_t *config)
{
    int32_t numbers[CLV_N_EQUAL];
    char value[256];
    size_t used = 0;

    clv_choose_config_numbers(config, numbers);
    text[0] = '\0';
    for (int i = 0; i < CLV_N_EQUAL; i++) {
        const char *name = clv_equal_name((clv_equal_t) i) + strlen("coll_clv_");
        if (CLV_EQUAL_record == i || !coll_clv_params_is_set(name)) {
            continue;
        }
        clv_equal_print(value, sizeof value, (clv_equal_t) i, numbers[i]);
        if (used + strlen(name) + strlen(value) + sizeof " = ..." > size) {
            (void) snprintf(text + used, size - used, " ...");
            return;
        }
        used += (size_t) snprintf(text + used, size - used, "%s%s=%s", 0 < used ? " " : "", name,
                                  value);
    }
}

#define CHOICE_WORD(code, word, collectives, how, order, traits, unfit, meaning) #word ","
#define REASON_WORD(code, name, text)                                            #name ","

static void fill_head(clv_clva_head_t *head, const start_t *start,
                      const clv_choose_config_t *config)
{
    const coll_clv_params_t *params = &mca_coll_clv_component.params;

    *head = (clv_clva_head_t){.clva = CLV_CLVA_VERSION,
                              .n_ranks = ompi_comm_size(start->comm),
                              .started_unix_s = start->endpoints[0].started_s,
                              .clv = CLV_VERSION,
                              .mpi = OPEN_MPI_VERSION,
                              .clock = "monotonic",
                              .min_bytes = params->record_min_bytes,
                              .every = params->record_every,
                              .max_mib = params->record_max_mib,
                              .choices = CLV_ALGORITHM_MAP(CHOICE_WORD) "",
                              .reasons = CLV_REASON_MAP(REASON_WORD) ""};
    (void) snprintf(head->job, sizeof head->job, "%08lx-%lld",
                    (unsigned long) OMPI_PROC_MY_NAME->jobid,
                    (long long) start->endpoints[0].started_s);
    (void) gethostname(head->host, sizeof head->host - 1);
    clv_place_boot_id(head->boot_id, sizeof head->boot_id);
    clv_place_time_namespace(head->time_namespace, sizeof head->time_namespace);
    read_program(head->program, sizeof head->program);
    clv_clva_print_ops(head->ops, sizeof head->ops,
                       0 == config->record_ops ? UINT32_MAX : (uint32_t) config->record_ops);
    print_parameters(head->parameters, sizeof head->parameters, config);
}

/* The host's leader opens its file. If that fails, the rings of this host fill up and are not
 * drained; the files of the other hosts are complete. */
static void open_file(const start_t *start, const clv_choose_config_t *config)
{
    const char *folder = mca_coll_clv_component.params.record;
    int32_t n_nodes = 0, n_local = 0;
    const int32_t node = clv_pap_group_leads(recorder->group, &n_nodes);
    const int32_t *ranks = clv_pap_group_host_ranks(recorder->group, &n_local);
    clv_clva_head_t head;
    char path[1200];
    char cause[100];
    char sentence[1400];
    clv_status_t status;

    if (0 > node) {
        return;
    }
    fill_head(&head, start, config);
    head.node = node;
    head.n_nodes = n_nodes;
    head.n_local = n_local;
    (void) mkdir(folder, 0777); /* fails if it exists or its parent does not */
    (void) snprintf(path, sizeof path, "%s/%s.%d.clva", folder, head.job, (int) node);
    status = clv_drain_open(recorder->drain, path, &head, ranks, n_local);
    if (CLV_OK != status) {
        clv_limit_text(errno, cause, sizeof cause);
        (void) snprintf(sentence, sizeof sentence, "%s: %s", path,
                        CLV_SYSTEM == status ? cause : clv_status_text(status));
        coll_clv_help("no-record", sentence);
    }
}

/* Four rounds, which all ranks join whatever fails on one of them; the first needs no memory.
 * Returns the same on all ranks. */
static bool join(start_t *start, const clv_choose_config_t *config, bool has_memory)
{
    bool has_more = false;

    if (!coll_clv_agree(start->comm, has_memory)) {
        return false;
    }
    fill_endpoint(start, config);
    if (!exchange_endpoints(start) || !read_endpoints(start) ||
        OMPI_SUCCESS != coll_clv_setup_gather_more(start->comm, recorder->group,
                                                   start->endpoints->pap, sizeof *start->endpoints,
                                                   &start->more, &has_more) ||
        !has_more) {
        return false;
    }
    if (!coll_clv_agree(start->comm,
                        CLV_OK == clv_pap_group_attach(recorder->group, start->endpoints->pap,
                                                       sizeof *start->endpoints, start->more))) {
        return false;
    }
    open_file(start, config);
    return coll_clv_agree(start->comm, CLV_OK == clv_pap_group_activate(recorder->group));
}

static void start_recording(struct ompi_communicator_t *comm, const clv_choose_config_t *config,
                            bool has_memory)
{
    start_t start = {.comm = comm};
    uint32_t devices;

    if (!coll_clv_peers_are_equal(comm, &devices)) {
        return; /* all ranks see this, and the user is told */
    }
    if (!join(&start, config, reserve(&start) && has_memory)) {
        clv_log(CLV_LOG_HOST, "arrivals are not recorded: a rank could not take part");
        coll_clv_record_stop();
    } else {
        recorder->ring = (clv_ring_t *) (void *) clv_pap_group_share(recorder->group);
        recorder->every = config->record_every;
        recorder->min_bytes = config->record_min_bytes;
        coll_clv_record_is_on = true;
    }
    unreserve(&start);
}

/* Inside MPI_Init, Open MPI's waits do not yield yet, whatever mpi_yield_when_idle says. */
void coll_clv_record_start(struct ompi_communicator_t *comm, const clv_choose_config_t *config,
                           bool has_memory)
{
    const bool yields = opal_progress_set_yield_when_idle(true);

    start_recording(comm, config, has_memory);
    (void) opal_progress_set_yield_when_idle(yields);
}

void coll_clv_record_stop(void)
{
    coll_clv_record_is_on = false;
    coll_clv_requests_close();
    if (NULL != recorder) {
        tell_waits();
        clv_pap_group_free(recorder->group);
        clv_drain_free(recorder->drain);
        (void) pthread_mutex_destroy(&recorder->lock);
        clv_free(recorder->members);
        clv_free(recorder);
        recorder = NULL;
    }
}

/* ---- what a call is -------------------------------------------------------------------------- */

CLV_COLD void coll_clv_record_cost(const clv_cost_t *cost)
{
    const clv_clva_cost_t reported = {.kind = CLV_CLVA_COST,
#define COST_FIELD(number) .number = cost->number,
                                      CLV_COST_MAP(COST_FIELD)
#undef COST_FIELD
#define LIMIT_FIELD(number) .number = (uint32_t) cost->number,
                                          CLV_COST_EARLY_MAP(LIMIT_FIELD)
#undef LIMIT_FIELD
    };

    if (coll_clv_record_is_on) {
        push(&reported, 2);
    }
}

/* members[r]: the rank in MPI_COMM_WORLD of the communicator's rank r. */
static bool list_members(struct ompi_communicator_t *comm, int *members)
{
    const int n_ranks = ompi_comm_size(comm);
    int *ranks = clv_alloc((size_t) n_ranks, sizeof *ranks);
    int rc = OMPI_ERR_OUT_OF_RESOURCE;

    for (int i = 0; NULL != ranks && i < n_ranks; i++) {
        ranks[i] = i;
    }
    if (NULL != ranks) {
        rc = ompi_group_translate_ranks(comm->c_local_group, n_ranks, ranks,
                                        MPI_COMM_WORLD->c_local_group, members);
    }
    for (int i = 0; OMPI_SUCCESS == rc && i < n_ranks; i++) {
        rc = 0 > members[i] ? OMPI_ERR_NOT_FOUND : rc; /* a process of another job */
    }
    clv_free(ranks);
    return OMPI_SUCCESS == rc;
}

/* Per host, the first of the communicator's ranks there puts it into the host's file. */
static bool tells(const int *members, int n_ranks, int own)
{
    int32_t n_local = 0;
    const int32_t *local = clv_pap_group_host_ranks(recorder->group, &n_local);

    for (int i = 0; i < n_ranks; i++) {
        for (int32_t k = 0; k < n_local; k++) {
            if (members[i] == local[k]) {
                return i == own;
            }
        }
    }
    return false;
}

static void push_comm(struct ompi_communicator_t *comm, uint64_t id, const int *members,
                      bool is_whole)
{
    const int n_ranks = ompi_comm_size(comm);
    const uint64_t n_slots = clv_drain_comm_slots(is_whole ? 0 : n_ranks);
    unsigned char *slots = clv_alloc(n_slots, CLV_CLVA_SLOT_BYTES);
    const clv_drain_comm_t head = {
        .kind = CLV_CLVA_COMM, .id = id, .n_ranks = n_ranks, .n_listed = is_whole ? 0 : n_ranks};
    char *name;

    if (NULL != slots) {
        memcpy(slots, &head, sizeof head);
        name = (char *) slots + sizeof head;
        (void) snprintf(name, CLV_CLVA_NAME_BYTES, "%s", comm->c_name);
        if (!is_whole) {
            memcpy(slots + sizeof head + CLV_CLVA_NAME_BYTES, members,
                   (size_t) n_ranks * sizeof *members);
        }
        push(slots, n_slots);
        clv_free(slots);
    }
}

static bool more_members(void)
{
    const size_t n_slots = 2 * recorder->n_members_slots + 64;
    known_members_t *members = clv_alloc(n_slots, sizeof *members);

    if (NULL == members) {
        return false;
    }
    if (0 < recorder->n_members) {
        memcpy(members, recorder->members, recorder->n_members * sizeof *members);
    }
    clv_free(recorder->members);
    recorder->members = members;
    recorder->n_members_slots = n_slots;
    return true;
}

/* Returns how many communicators of these members came before, and counts this one. False: no
 * memory. */
static bool count_members(uint64_t hash, uint64_t *count_p)
{
    size_t i = 0;

    while (i < recorder->n_members && recorder->members[i].hash != hash) {
        i++;
    }
    if (i == recorder->n_members_slots && !more_members()) {
        return false;
    }
    if (i == recorder->n_members) {
        recorder->members[recorder->n_members++].hash = hash;
    }
    *count_p = recorder->members[i].count++;
    return true;
}

/* Sets the communicator's id: a hash of its members and of how many of the same came before. False:
 * it has no id, and never gets one. */
static CLV_COLD bool find_id(coll_clv_recording_t *recording, struct ompi_communicator_t *comm)
{
    const int n_ranks = ompi_comm_size(comm);
    int *members = clv_alloc((size_t) n_ranks, sizeof *members);
    bool is_whole = true;
    uint64_t hash, count;

    recording->has_id = true;
    if (NULL == members || !list_members(comm, members)) {
        clv_free(members);
        return false;
    }
    for (int i = 0; i < n_ranks; i++) {
        is_whole = is_whole && members[i] == i;
    }
    hash = clv_fnv1a64(CLV_FNV1A64_BASIS, members, (size_t) n_ranks * sizeof *members);
    if (!count_members(hash, &count)) {
        clv_free(members);
        return false;
    }
    recording->id = clv_fnv1a64(hash, &count, sizeof count) | 1; /* 0: none */
    if (tells(members, n_ranks, ompi_comm_rank(comm))) {
        push_comm(comm, recording->id, members, is_whole);
    }
    clv_free(members);
    return true;
}

static clv_clva_type_t type_of(const struct ompi_datatype_t *dtype)
{
    if (NULL == dtype) {
        return CLV_CLVA_TYPE_NONE;
    }
    if (!ompi_datatype_is_predefined((struct ompi_datatype_t *) dtype)) {
        return CLV_CLVA_TYPE_OTHER;
    }
    switch (dtype->super.flags & OMPI_DATATYPE_FLAG_DATA_TYPE) {
    case OMPI_DATATYPE_FLAG_DATA_INT:
        return CLV_CLVA_TYPE_INTEGER;
    case OMPI_DATATYPE_FLAG_DATA_FLOAT:
        return CLV_CLVA_TYPE_FLOAT;
    case OMPI_DATATYPE_FLAG_DATA_COMPLEX:
        return CLV_CLVA_TYPE_COMPLEX;
    default:
        return CLV_CLVA_TYPE_OTHER;
    }
}

static size_t element_bytes(const struct ompi_datatype_t *dtype)
{
    size_t n_bytes = 0;

    if (NULL != dtype) {
        (void) ompi_datatype_type_size((struct ompi_datatype_t *) dtype, &n_bytes);
    }
    return n_bytes;
}

static bool is_same(const known_stream_t *known, const clv_clva_stream_t *stream)
{
    return known->stream.op == stream->op && known->stream.how == stream->how &&
           known->stream.request == stream->request && known->stream.comm == stream->comm &&
           known->stream.bytes == stream->bytes && known->stream.root == stream->root &&
           known->stream.type == stream->type &&
           known->stream.element_bytes == stream->element_bytes;
}

/* Finds the stream or adds it; NULL: the table is full. Under the lock. */
static known_stream_t *find_known(clv_clva_stream_t *stream)
{
    const uint64_t words[4] = {stream->comm, (uint64_t) stream->bytes,
                               (uint64_t) (uint32_t) stream->root << 32 |
                                   (uint64_t) stream->element_bytes << 16 |
                                   (uint64_t) stream->type << 8 | stream->op,
                               (uint64_t) stream->request << 8 | stream->how};
    uint64_t at = clv_fnv1a64(CLV_FNV1A64_BASIS, words, sizeof words);
    known_stream_t *known = &recorder->streams[at % TABLE_SLOTS];

    while (known->is_used && !is_same(known, stream)) {
        known = &recorder->streams[++at % TABLE_SLOTS];
    }
    if (!known->is_used && recorder->n_streams < CLV_CLVA_MAX_STREAMS - 1) {
        stream->stream = (uint16_t) recorder->n_streams++;
        known->stream = *stream;
        known->is_used = true;
        push(stream, 1);
    }
    return known->is_used ? known : NULL;
}

static clv_clva_stream_t stream_of(const coll_clv_recording_t *recording,
                                   const coll_clv_ended_t *call, int64_t bytes, uint32_t request)
{
    const size_t each = element_bytes(call->dtype);

    return (clv_clva_stream_t){.kind = CLV_CLVA_STREAM,
                               .op = (uint8_t) call->op,
                               .type = (uint8_t) type_of(call->dtype),
                               .how = (uint8_t) call->how,
                               .element_bytes = (uint16_t) (each < 65535 ? each : 65535),
                               .comm = recording->id,
                               .bytes = bytes,
                               .root = call->root,
                               .request = request};
}

static CLV_COLD void find_stream(coll_clv_recording_t *recording, const coll_clv_ended_t *ended,
                                 int64_t bytes, coll_clv_last_stream_t *last)
{
    clv_clva_stream_t stream = stream_of(recording, ended, bytes, 0);
    const known_stream_t *known;

    pthread_mutex_lock(&recorder->lock);
    known = find_known(&stream);
    *last = (coll_clv_last_stream_t){.dtype = ended->dtype,
                                     .bytes = bytes,
                                     .root = ended->root,
                                     .stream = NULL == known ? CLV_CLVA_MAX_STREAMS - 1
                                                             : known->stream.stream,
                                     .is_known = true};
    pthread_mutex_unlock(&recorder->lock);
}

static CLV_COLD bool make_id(coll_clv_recording_t *recording, struct ompi_communicator_t *comm)
{
    bool has;

    pthread_mutex_lock(&recorder->lock);
    has = recording->has_id ? 0 != recording->id : find_id(recording, comm);
    pthread_mutex_unlock(&recorder->lock);
    return has;
}

/* Whether the call is long enough to be recorded, and its communicator has an id. */
static bool is_recorded(coll_clv_recording_t *recording, struct ompi_communicator_t *comm,
                        const coll_clv_ended_t *call, int64_t bytes)
{
    return (NULL == call->dtype || bytes >= recorder->min_bytes) &&
           (0 != recording->id || (!recording->has_id && make_id(recording, comm)));
}

bool coll_clv_record_stream(coll_clv_module_t *module, struct ompi_communicator_t *comm,
                            const coll_clv_ended_t *begun, uint32_t request,
                            coll_clv_stream_place_t *place)
{
    coll_clv_recording_t *recording = &module->record->recording;
    const int64_t bytes = (int64_t) (begun->count * element_bytes(begun->dtype));
    clv_clva_stream_t stream;
    known_stream_t *known;

    if (!is_recorded(recording, comm, begun, bytes)) {
        return false;
    }
    stream = stream_of(recording, begun, bytes, request);
    pthread_mutex_lock(&recorder->lock);
    known = find_known(&stream);
    pthread_mutex_unlock(&recorder->lock);
    if (NULL == known) {
        coll_clv_record_drop();
        return false;
    }
    *place = (coll_clv_stream_place_t){known->stream.stream, &known->next_number};
    return true;
}

bool coll_clv_record_number(const coll_clv_stream_place_t *place, uint32_t *number_p)
{
    pthread_mutex_lock(&recorder->lock);
    *number_p = (*place->next_number)++;
    pthread_mutex_unlock(&recorder->lock);
    return 0 == *number_p % (uint32_t) recorder->every;
}

void coll_clv_record_push(const clv_clva_call_t *call)
{
    push(call, 1);
}

void coll_clv_record_drop(void)
{
    clv_ring_count_dropped(recorder->ring);
}

/* A connection's eager limit can change with use, so it is read at calls 16, 32, 64 ...; and waits
 * are told, which the end may not come to tell. */
#define FIRST_LOOK 16

static CLV_COLD void look(void)
{
    clv_clva_early_t early;

    if (clv_early_look(&early)) {
        push(&early, 1);
    }
    tell_waits();
}

CLV_HOT void coll_clv_record_call(coll_clv_module_t *module, struct ompi_communicator_t *comm,
                                  const coll_clv_ended_t *ended)
{
    coll_clv_recording_t *recording = &module->record->recording;
    coll_clv_last_stream_t *last = &recording->last[ended->op];
    const int64_t bytes = (int64_t) (ended->count * element_bytes(ended->dtype));

    if (0 != recording->next_number % (uint32_t) recorder->every ||
        !is_recorded(recording, comm, ended, bytes)) {
        return;
    }
    if (!last->is_known || last->bytes != bytes || last->root != ended->root ||
        last->dtype != ended->dtype) {
        find_stream(recording, ended, bytes, last);
    }
    if (CLV_CLVA_MAX_STREAMS - 1 == last->stream) {
        clv_ring_count_dropped(recorder->ring);
        return;
    }
    if (0 == (recording->next_number & (recording->next_number - 1)) &&
        FIRST_LOOK <= recording->next_number) {
        look();
    }
    const clv_clva_call_t call = {.kind = CLV_CLVA_CALLS,
                                  .choice = module->ran.choice,
                                  .reason = module->ran.reason,
                                  .stream = last->stream,
                                  .arrival_ns = ended->arrival_ns,
                                  .exit_ns = ended->exit_ns,
                                  .number = recording->next_number,
                                  .predicted_ns = module->ran.predicted_ns};
    push(&call, 1);
}
