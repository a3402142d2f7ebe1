/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct: OTF2 input and output. The functions for every kind of record are generated from the
 * library's headers (otf2_records.awk); this file has the passes over the archive that use them.
 *
 * Threads: each has a reader of its own; they share the written archive, which locks itself.
 */
#include "apps/tools/correct/correct_crew.h"
#include "apps/tools/correct/correct_notes.h"

#include <errno.h>
#include <ftw.h>
#include <otf2/OTF2_Pthread_Locks.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/clc/clc_parallel.h"
#include "apps/tools/otf2/otf2_create.h"
#include "util/util_alloc.h"

/* A location being written: its times come from its track. */
typedef struct copying {
    const correct_t *correct;
    OTF2_EvtWriter *writer;
    uint32_t location;
    int64_t at;
} copying_t;

/* Local definitions, either read for their clock offsets, or written to writer. */
typedef struct local_defining {
    const correct_archive_t *archive;
    correct_location_t *location;
    OTF2_DefWriter *writer;
} local_defining_t;

/* ---- called by the generated functions ---- */

static OTF2_CallbackCode correct_copied(const void *user, OTF2_ErrorCode code)
{
    (void) user;
    if (code == OTF2_SUCCESS) {
        return OTF2_CALLBACK_SUCCESS;
    }
    correct_fail(CORRECT_EXIT_MACHINE, "cannot write: %s", correct_otf2_words());
    return OTF2_CALLBACK_INTERRUPT;
}

static OTF2_EvtWriter *correct_writer(void *user)
{
    return ((copying_t *) user)->writer;
}

static OTF2_TimeStamp correct_next_time(void *user)
{
    copying_t *copying = user;
    const clv_clc_track_t *track = &copying->correct->trace.tracks[copying->location];
    const int64_t j = copying->at < track->n_events ? copying->at : track->n_events - 1;
    copying->at++;
    return (OTF2_TimeStamp) (track->events[j].corrected + copying->correct->base);
}

static OTF2_TimeStamp correct_time_at(void *user, OTF2_TimeStamp time)
{
    const copying_t *copying = user;
    return (OTF2_TimeStamp) correct_corrected_at(copying->correct, copying->location, time);
}

static OTF2_GlobalDefWriter *correct_definition_writer(void *user)
{
    return ((correct_defining_t *) user)->writer;
}

static OTF2_DefWriter *correct_local_writer(void *user)
{
    return ((local_defining_t *) user)->writer;
}

/* OTF2 adds its offset to the local time; ours is how far the local clock is ahead. */
static int64_t ahead_of(const correct_archive_t *archive, int64_t offset)
{
    return offset < 0 ? correct_ticks(archive, UINT64_C(0) - (uint64_t) offset)
                      : -correct_ticks(archive, (uint64_t) offset);
}

static void note_local_ClockOffset(void *user, OTF2_TimeStamp time, int64_t offset,
                                   double deviation)
{
    local_defining_t *defining = user;
    correct_location_t *location = defining->location;
    if (defining->writer) {
        return;
    }
    if (location->n_offsets == location->n_offset_slots) {
        const int64_t n = 2 * location->n_offset_slots + 4;
        clv_clc_point_t *larger = clv_alloc((size_t) n, sizeof *larger);
        if (!larger) {
            correct_fail(CORRECT_EXIT_MACHINE, "out of memory for clock offsets");
            return;
        }
        if (location->n_offsets > 0) {
            memcpy(larger, location->offsets, (size_t) location->n_offsets * sizeof *larger);
        }
        clv_free(location->offsets);
        location->offsets = larger;
        location->n_offset_slots = n;
    }
    const double scale = (double) defining->archive->scale;
    const double bound = deviation > 0 && deviation < 1e15 / scale ? 3 * scale * deviation : 0;
    location->offsets[location->n_offsets++] =
        (clv_clc_point_t){correct_ticks(defining->archive, time),
                          ahead_of(defining->archive, offset), (int64_t) bound};
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* deprecated records are copied, too */
#include "apps/tools/correct/otf2_records.inc"
#pragma GCC diagnostic pop

static OTF2_CallbackCode unknown_event(OTF2_LocationRef location, OTF2_TimeStamp time,
                                       uint64_t position, void *user,
                                       OTF2_AttributeList *attributes)
{
    (void) time;
    (void) user;
    (void) attributes;
    correct_fail(CORRECT_EXIT_INPUT,
                 "location %llu, event %llu: a kind of record this OTF2 does not know",
                 (unsigned long long) location, (unsigned long long) position);
    return OTF2_CALLBACK_INTERRUPT;
}

static OTF2_CallbackCode unknown_definition(void *user)
{
    (void) user;
    correct_fail(CORRECT_EXIT_INPUT, "a kind of definition this OTF2 does not know");
    return OTF2_CALLBACK_INTERRUPT;
}

/* ---- opening ---- */

static bool refuse(const char *what)
{
    return correct_fail(CORRECT_EXIT_INPUT, "%s: %s", what, correct_otf2_words());
}

static OTF2_Reader *open_reader(const correct_t *correct)
{
    OTF2_Reader *reader = OTF2_Reader_Open(correct->options.input);
    if (!reader) {
        refuse("not an OTF2 archive");
        return NULL;
    }
    OTF2_Reader_SetSerialCollectiveCallbacks(reader);
    return reader;
}

/* OTF2 would wait for a writer of a FIFO. */
static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, R_OK) == 0;
}

static bool split_path(correct_t *correct)
{
    const char *input = correct->options.input, *slash = strrchr(input, '/');
    const char *base = slash ? slash + 1 : input;
    const size_t n = strlen(base);
    struct stat status;
    if (stat(input, &status)) {
        return correct_fail(CORRECT_EXIT_INPUT, "%s: %s", input, strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        return correct_fail(CORRECT_EXIT_INPUT, "%s is no file, but %s", input,
                            S_ISDIR(status.st_mode) ? "a folder: name the archive's NAME.otf2 in it"
                                                    : "a FIFO or a device");
    }
    if (n < 6 || strcmp(base + n - 5, ".otf2")) {
        return correct_fail(CORRECT_EXIT_INPUT, "%s: not the anchor file (NAME.otf2) of an archive",
                            input);
    }
    correct->archive.folder = clv_alloc((size_t) (base - input) + 2, 1);
    correct->archive.name = clv_alloc(n, 1);
    if (!correct->archive.folder || !correct->archive.name) {
        return correct_fail(CORRECT_EXIT_MACHINE, "out of memory");
    }
    memcpy(correct->archive.folder, slash ? input : ".", slash ? (size_t) (slash - input) : 1);
    memcpy(correct->archive.name, base, n - 5);
    return true;
}

static void each_property(OTF2_Reader *reader,
                          void (*take)(void *user, const char *name, const char *value), void *user)
{
    uint32_t n = 0;
    char **names = NULL, *value = NULL;
    if (OTF2_Reader_GetPropertyNames(reader, &n, &names) != OTF2_SUCCESS) {
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (OTF2_Reader_GetProperty(reader, names[i], &value) == OTF2_SUCCESS) {
            take(user, names[i], value);
            free(value);
        }
    }
    free(names);
}

/* Snapshots contain times of other events; create them again from the corrected trace. */
static bool refuse_parts(OTF2_Reader *reader)
{
    uint32_t n_snapshots = 0, n_thumbnails = 0;
    OTF2_Reader_GetNumberOfSnapshots(reader, &n_snapshots);
    OTF2_Reader_GetNumberOfThumbnails(reader, &n_thumbnails);
    if (n_snapshots > 0) {
        return correct_fail(CORRECT_EXIT_INPUT,
                            "the archive has snapshots, whose times would be wrong: remove them, "
                            "and make new ones with otf2-snapshots afterwards");
    }
    return n_thumbnails == 0 ? true
                             : correct_fail(CORRECT_EXIT_INPUT,
                                            "the archive has thumbnails, whose times would be "
                                            "wrong: remove them first");
}

static bool read_global(OTF2_Reader *reader, OTF2_GlobalDefReaderCallbacks *callbacks, void *user)
{
    uint64_t n_read = 0;
    OTF2_GlobalDefReader *definitions = OTF2_Reader_GetGlobalDefReader(reader);
    if (!definitions) {
        return refuse("no global definitions");
    }
    OTF2_GlobalDefReaderCallbacks_SetUnknownCallback(callbacks, unknown_definition);
    OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks, user);
    const OTF2_ErrorCode code = OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &n_read);
    return (code == OTF2_SUCCESS && !correct_failed()) || refuse("cannot read the definitions");
}

static void take_latency(void *user, const char *name, const char *value)
{
    correct_t *correct = user;
    long long inter, intra;
    if (!strcmp(name, CORRECT_LATENCY_PROPERTY) &&
        sscanf(value, "%lld,%lld", &inter, &intra) == 2 && inter >= 0 && intra >= 0 &&
        inter < CORRECT_LARGEST_STAMP && intra < CORRECT_LARGEST_STAMP) {
        correct->latency.known_inter = inter;
        correct->latency.known_intra = intra;
    }
}

static void write_latency(const correct_t *correct, OTF2_Archive *archive)
{
    char text[48];
    snprintf(text, sizeof text, "%lld,%lld", (long long) correct->latency.inter,
             (long long) correct->latency.intra);
    OTF2_Archive_SetProperty(archive, CORRECT_LATENCY_PROPERTY, text, true);
}

/* OTF2 reports missing ones. */
static bool has_definitions(const correct_archive_t *archive)
{
    char path[4608];
    snprintf(path, sizeof path, "%s/%s.def", archive->folder, archive->name);
    return access(path, F_OK) || is_file(path)
               ? true
               : correct_fail(CORRECT_EXIT_INPUT,
                              "%s: the definitions of the archive cannot be read", path);
}

bool correct_read_definitions(correct_t *correct)
{
    OTF2_Reader *reader =
        split_path(correct) && has_definitions(&correct->archive) ? open_reader(correct) : NULL;
    if (!reader) {
        return false;
    }
    OTF2_GlobalDefReaderCallbacks *callbacks = OTF2_GlobalDefReaderCallbacks_New();
    correct_defining_t defining = {correct, NULL, NULL};
    register_definitions(callbacks);
    correct->archive.truth_attribute = CORRECT_NOBODY;
    OTF2_Reader_GetNumberOfGlobalDefinitions(reader, &correct->archive.n_definitions);
    const bool is_good = refuse_parts(reader) && read_global(reader, callbacks, &defining) &&
                         correct_finish_definitions(correct);
    each_property(reader, take_latency, correct);
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    OTF2_Reader_Close(reader);
    return is_good;
}

/* ---- files of a location ---- */

static bool has_file(const correct_archive_t *archive, const correct_location_t *location,
                     const char *ending)
{
    char path[4608];
    snprintf(path, sizeof path, "%s/%s/%llu.%s", archive->folder, archive->name,
             (unsigned long long) location->ref, ending);
    return is_file(path);
}

/* All local definitions may be missing, but not some: their mappings and clock offsets would be
 * lost. */
static bool check_files(const correct_t *correct, OTF2_Reader *reader)
{
    const correct_archive_t *archive = &correct->archive;
    OTF2_FileSubstrate substrate = OTF2_SUBSTRATE_UNDEFINED;
    OTF2_Reader_GetFileSubstrate(reader, &substrate);
    for (uint32_t i = 0; substrate == OTF2_SUBSTRATE_POSIX && i < archive->n_locations; i++) {
        const correct_location_t *location = &archive->locations[i];
        if (location->is_away) {
            continue;
        }
        if (!has_file(archive, location, "def")) {
            return correct_fail(CORRECT_EXIT_INPUT, "location %llu: its .def file is missing",
                                (unsigned long long) location->ref);
        }
        if (location->n_defined > 0 && !has_file(archive, location, "evt")) {
            return correct_fail(CORRECT_EXIT_INPUT, "location %llu: its .evt file is missing",
                                (unsigned long long) location->ref);
        }
    }
    return true;
}

/* The handles that a thread opens to read events. */
typedef struct event_reader {
    OTF2_Reader *reader;
    OTF2_DefReaderCallbacks *local;
    OTF2_EvtReaderCallbacks *events;
} event_reader_t;

static bool open_events(const correct_t *correct, event_reader_t *events,
                        void (*register_kinds)(OTF2_EvtReaderCallbacks *callbacks))
{
    *events = (event_reader_t){.reader = open_reader(correct)};
    if (!events->reader) {
        return false;
    }
    events->local = OTF2_DefReaderCallbacks_New();
    events->events = OTF2_EvtReaderCallbacks_New();
    OTF2_GlobalDefReaderCallbacks *none = OTF2_GlobalDefReaderCallbacks_New();
    const bool is_good = none && read_global(events->reader, none, NULL);
    OTF2_GlobalDefReaderCallbacks_Delete(none);
    register_locals(events->local);
    OTF2_DefReaderCallbacks_SetUnknownCallback(events->local, unknown_definition);
    register_kinds(events->events);
    OTF2_EvtReaderCallbacks_SetUnknownCallback(events->events, unknown_event);
    if (!is_good || !check_files(correct, events->reader)) {
        return false;
    }
    for (uint32_t i = 0; i < correct->archive.n_locations; i++) {
        if (!correct->archive.locations[i].is_away) {
            OTF2_Reader_SelectLocation(events->reader, correct->archive.locations[i].ref);
        }
    }
    if (OTF2_Reader_OpenDefFiles(events->reader) != OTF2_SUCCESS ||
        OTF2_Reader_OpenEvtFiles(events->reader) != OTF2_SUCCESS) {
        return refuse("cannot open the files of locations");
    }
    return true;
}

static void close_events(event_reader_t *events)
{
    if (events->reader) {
        OTF2_DefReaderCallbacks_Delete(events->local);
        OTF2_EvtReaderCallbacks_Delete(events->events);
        OTF2_Reader_Close(events->reader);
    }
}

static bool read_local(const correct_archive_t *archive, event_reader_t *events,
                       correct_location_t *location, OTF2_DefWriter *writer)
{
    local_defining_t defining = {archive, location, writer};
    uint64_t n_read = 0;
    OTF2_DefReader *reader = OTF2_Reader_GetDefReader(events->reader, location->ref);
    if (!reader) {
        return correct_fail(CORRECT_EXIT_INPUT, "location %llu: cannot read its .def file: %s",
                            (unsigned long long) location->ref, correct_otf2_words());
    }
    OTF2_Reader_RegisterDefCallbacks(events->reader, reader, events->local, &defining);
    const OTF2_ErrorCode code =
        OTF2_Reader_ReadAllLocalDefinitions(events->reader, reader, &n_read);
    OTF2_Reader_CloseDefReader(events->reader, reader);
    return code == OTF2_SUCCESS && !correct_failed()
               ? true
               : correct_fail(CORRECT_EXIT_INPUT, "location %llu: its .def file breaks off: %s",
                              (unsigned long long) location->ref, correct_otf2_words());
}

/* Passes all events of a location to the callbacks; their number must match the definition. */
static bool read_location(event_reader_t *events, const correct_location_t *location, void *user)
{
    const unsigned long long ref = location->ref;
    uint64_t n_read = 0;
    if (location->n_defined == 0) {
        return true;
    }
    OTF2_EvtReader *reader = OTF2_Reader_GetEvtReader(events->reader, location->ref);
    if (!reader) {
        return correct_fail(CORRECT_EXIT_INPUT, "location %llu: cannot read its .evt file: %s", ref,
                            correct_otf2_words());
    }
    OTF2_EvtReader_ApplyClockOffsets(reader, false);
    OTF2_Reader_RegisterEvtCallbacks(events->reader, reader, events->events, user);
    const OTF2_ErrorCode code = OTF2_Reader_ReadAllLocalEvents(events->reader, reader, &n_read);
    OTF2_Reader_CloseEvtReader(events->reader, reader);
    if (correct_failed()) {
        return false;
    }
    if (code != OTF2_SUCCESS) {
        return correct_fail(CORRECT_EXIT_INPUT,
                            "location %llu: its .evt file breaks off after %llu of %llu events: %s",
                            ref, (unsigned long long) n_read,
                            (unsigned long long) location->n_defined, correct_otf2_words());
    }
    return n_read >= location->n_defined
               ? true
               : correct_fail(CORRECT_EXIT_INPUT,
                              "location %llu: its .evt file ends after %llu of %llu events", ref,
                              (unsigned long long) n_read,
                              (unsigned long long) location->n_defined);
}

/* ---- reading ---- */

typedef struct job {
    correct_t *correct;
    OTF2_Archive *archive; /* when writing */
    uint32_t next;         /* next process */
} job_t;

static bool read_locations(correct_reading_t *reading, event_reader_t *events)
{
    correct_archive_t *archive = &reading->correct->archive;
    for (uint32_t i = 0; i < archive->n_locations; i++) {
        correct_location_t *location = &archive->locations[i];
        if (location->process == reading->process && !location->is_away) {
            reading->location = i;
            reading->begin = -1;
            reading->n_events = 0;
            if (!read_local(archive, events, location, NULL) ||
                !read_location(events, location, reading)) {
                return false;
            }
            reading->correct->trace.tracks[i].n_events = reading->n_events;
        }
    }
    return true;
}

/* Notes belong to one process; the next one reuses their memory. */
static bool read_process(correct_reading_t *reading, event_reader_t *events, uint32_t process)
{
    reading->process = process;
    reading->n_notes = 0;
    const bool is_good = read_locations(reading, events);
    clv_free(reading->requests);
    reading->requests = NULL;
    reading->n_requests = reading->n_request_slots = 0;
    if (is_good &&
        clv_clc_match_add(reading->correct->match, process, reading->correct->trace.tracks,
                          reading->notes, reading->n_notes) != CLV_OK) {
        return correct_fail(CORRECT_EXIT_MACHINE, "no memory for the channels of a process");
    }
    return is_good;
}

static void read_worker(void *context, uint32_t i)
{
    job_t *job = context;
    correct_reading_t reading = {.correct = job->correct};
    event_reader_t events;
    (void) i;
    bool is_good = open_events(job->correct, &events, register_readers);
    while (is_good) {
        const uint32_t process = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED);
        is_good =
            process < job->correct->archive.n_processes && read_process(&reading, &events, process);
    }
    correct_store_give_back(reading.notes);
    close_events(&events);
}

static bool get_tracks(correct_t *correct)
{
    correct_archive_t *archive = &correct->archive;
    correct->trace.n_tracks = archive->n_locations;
    correct->trace.tracks = clv_alloc(archive->n_locations, sizeof *correct->trace.tracks);
    if (!correct->trace.tracks) {
        return correct_fail(CORRECT_EXIT_MACHINE, "out of memory");
    }
    for (uint32_t i = 0; i < archive->n_locations; i++) {
        correct_location_t *location = &archive->locations[i];
        const size_t n = (size_t) location->n_defined;
        if (location->is_away) {
            continue;
        }
        correct->trace.tracks[i].events = correct_store_get(n, sizeof(clv_clc_event_t));
        location->n_slots = (int64_t) location->n_defined;
        if (archive->truth_attribute != CORRECT_NOBODY) {
            location->truth = correct_store_get(n, sizeof *location->truth);
        }
        if (!correct->trace.tracks[i].events) {
            return false;
        }
    }
    return true;
}

bool correct_read_events(correct_t *correct)
{
    job_t job = {.correct = correct};
    if (!get_tracks(correct)) {
        return false;
    }
    clv_clc_parallel(correct->options.n_threads, (uint32_t) correct->options.n_threads, read_worker,
                     &job);
    for (uint32_t i = 0; i < correct->trace.n_tracks; i++) {
        correct->n_events += (uint64_t) correct->trace.tracks[i].n_events;
    }
    return !correct_failed();
}

/* ---- writing ---- */

static bool written(OTF2_ErrorCode code)
{
    return code == OTF2_SUCCESS
               ? true
               : correct_fail(CORRECT_EXIT_MACHINE, "cannot write: %s", correct_otf2_words());
}

static void copy_property(void *archive, const char *name, const char *value)
{
    OTF2_Archive_SetProperty(archive, name, value, true);
}

typedef OTF2_ErrorCode (*get_text_t)(OTF2_Reader *reader, char **text);
typedef OTF2_ErrorCode (*set_text_t)(OTF2_Archive *archive, const char *text);

static void copy_text(OTF2_Reader *reader, OTF2_Archive *archive, get_text_t get, set_text_t set)
{
    char *text = NULL;
    if (get(reader, &text) == OTF2_SUCCESS && text) {
        if (text[0]) {
            set(archive, text);
        }
        free(text);
    }
}

static OTF2_Archive *open_archive(const correct_t *correct, OTF2_Reader *reader, const char *folder)
{
    uint64_t event_chunk = 0, definition_chunk = 0;
    OTF2_Compression compression = OTF2_COMPRESSION_NONE;
    OTF2_Reader_GetChunkSize(reader, &event_chunk, &definition_chunk);
    OTF2_Reader_GetCompression(reader, &compression);
    OTF2_Archive *archive =
        clv_otf2_create(folder, correct->archive.name, event_chunk, definition_chunk, compression);
    if (!archive) {
        correct_fail(CORRECT_EXIT_MACHINE, "cannot write: %s", correct_otf2_words());
        return NULL;
    }
    clv_otf2_spare(archive);
    OTF2_Pthread_Archive_SetLockingCallbacks(archive, NULL);
    return archive;
}

/* Called by the first process. */
static void describe_archive(const correct_t *correct, OTF2_Reader *reader, OTF2_Archive *archive)
{
    copy_text(reader, archive, OTF2_Reader_GetCreator, OTF2_Archive_SetCreator);
    copy_text(reader, archive, OTF2_Reader_GetMachineName, OTF2_Archive_SetMachineName);
    copy_text(reader, archive, OTF2_Reader_GetDescription, OTF2_Archive_SetDescription);
    each_property(reader, copy_property, archive);
    write_latency(correct, archive);
}

static bool write_location(const job_t *job, event_reader_t *events, uint32_t i)
{
    const correct_location_t *location = &job->correct->archive.locations[i];
    copying_t copying = {job->correct, OTF2_Archive_GetEvtWriter(job->archive, location->ref), i,
                         0};
    if (!copying.writer) {
        return correct_fail(CORRECT_EXIT_MACHINE, "cannot write: %s", correct_otf2_words());
    }
    return read_location(events, location, &copying) &&
           written(OTF2_Archive_CloseEvtWriter(job->archive, copying.writer));
}

/* Local definitions are read again, because events refer to their mappings. */
static void write_worker(void *context, uint32_t i)
{
    job_t *job = context;
    event_reader_t events;
    (void) i;
    bool is_good = open_events(job->correct, &events, register_copiers);
    while (is_good) {
        const uint32_t location = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED);
        if (location >= job->correct->archive.n_locations) {
            break;
        }
        if (job->correct->archive.locations[location].is_away) {
            continue;
        }
        correct_location_t unused = job->correct->archive.locations[location];
        unused.offsets = NULL;
        unused.n_offsets = unused.n_offset_slots = 0;
        is_good = read_local(&job->correct->archive, &events, &unused, NULL) &&
                  write_location(job, &events, location);
        clv_free(unused.offsets);
    }
    close_events(&events);
}

static bool write_locals(const job_t *job)
{
    event_reader_t events;
    bool is_good = open_events(job->correct, &events, register_copiers);
    is_good &= written(OTF2_Archive_OpenDefFiles(job->archive));
    for (uint32_t i = 0; i < job->correct->archive.n_locations && is_good; i++) {
        correct_location_t *location = &job->correct->archive.locations[i];
        if (location->is_away) {
            continue;
        }
        OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(job->archive, location->ref);
        is_good = writer && read_local(&job->correct->archive, &events, location, writer) &&
                  written(OTF2_Archive_CloseDefWriter(job->archive, writer));
    }
    close_events(&events);
    return written(OTF2_Archive_CloseDefFiles(job->archive)) && is_good;
}

static bool write_definitions(const job_t *job, OTF2_Reader *reader)
{
    correct_defining_t defining = {job->correct, OTF2_Archive_GetGlobalDefWriter(job->archive),
                                   NULL};
    OTF2_GlobalDefReaderCallbacks *callbacks = OTF2_GlobalDefReaderCallbacks_New();
    register_definitions(callbacks);
    const bool is_good = defining.writer && read_global(reader, callbacks, &defining) &&
                         written(OTF2_Archive_CloseGlobalDefWriter(job->archive, defining.writer));
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    return is_good;
}

/* ---- markers ---- */

/* Times of markers, each computed by the process that has its location. */
typedef struct marking {
    const correct_t *correct;
    OTF2_MarkerWriter *writer; /* NULL: computing times */
    int64_t *times;            /* begin and end of each marker */
    size_t n;
} marking_t;

static OTF2_CallbackCode copy_marker_kind(void *user, OTF2_MarkerRef self, const char *group,
                                          const char *category, OTF2_MarkerSeverity severity)
{
    marking_t *marking = user;
    if (!marking->writer) {
        return OTF2_CALLBACK_SUCCESS;
    }
    return correct_copied(
        user, OTF2_MarkerWriter_WriteDefMarker(marking->writer, self, group, category, severity));
}

/* The location by which a marker's times are moved: its own, or the first one. */
static uint32_t marked_location(const correct_t *correct, OTF2_MarkerScope scope, uint64_t ref)
{
    const correct_archive_t *archive = &correct->archive;
    uint32_t found = CORRECT_NOBODY;
    if (scope == OTF2_MARKER_SCOPE_LOCATION) {
        found = correct_find_location(archive, ref);
    }
    for (uint32_t i = 0; scope == OTF2_MARKER_SCOPE_LOCATION_GROUP && i < archive->n_locations;
         i++) {
        if (found == CORRECT_NOBODY &&
            archive->processes[archive->locations[i].process].ref == ref) {
            found = i;
        }
    }
    return found == CORRECT_NOBODY ? 0 : found;
}

static bool more_times(marking_t *marking)
{
    if ((marking->n & (marking->n - 1)) == 0) {
        int64_t *larger = clv_alloc(4 * marking->n + 4, sizeof *larger);
        if (!larger) {
            return correct_fail(CORRECT_EXIT_MACHINE, "out of memory for markers");
        }
        if (marking->n > 0) {
            memcpy(larger, marking->times, 2 * marking->n * sizeof *larger);
        }
        clv_free(marking->times);
        marking->times = larger;
    }
    return true;
}

static OTF2_CallbackCode time_marker(void *user, OTF2_TimeStamp time, OTF2_TimeStamp duration,
                                     OTF2_MarkerRef marker, OTF2_MarkerScope scope, uint64_t ref,
                                     const char *text)
{
    marking_t *marking = user;
    const correct_t *correct = marking->correct;
    const uint32_t location = marked_location(correct, scope, ref);
    (void) marker;
    (void) text;
    if (!more_times(marking)) {
        return OTF2_CALLBACK_INTERRUPT;
    }
    int64_t *times = &marking->times[2 * marking->n++];
    times[0] = times[1] = 0;
    if (!correct->archive.locations[location].is_away) {
        times[0] = correct_corrected_at(correct, location, time);
        times[1] = correct_corrected_at(correct, location, time + duration);
    }
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode copy_marker(void *user, OTF2_TimeStamp time, OTF2_TimeStamp duration,
                                     OTF2_MarkerRef marker, OTF2_MarkerScope scope, uint64_t ref,
                                     const char *text)
{
    marking_t *marking = user;
    const int64_t *times = &marking->times[2 * marking->n++];
    (void) time;
    (void) duration;
    return correct_copied(user,
                          OTF2_MarkerWriter_WriteMarker(marking->writer, (OTF2_TimeStamp) times[0],
                                                        (OTF2_TimeStamp) (times[1] - times[0]),
                                                        marker, scope, ref, text));
}

static bool read_markers(OTF2_Reader *reader, OTF2_MarkerReaderCallback_DefMarker kind,
                         OTF2_MarkerReaderCallback_Marker marker, void *user)
{
    uint64_t n_read = 0;
    OTF2_MarkerReader *markers = OTF2_Reader_GetMarkerReader(reader);
    if (!markers) {
        return false;
    }
    OTF2_MarkerReaderCallbacks *callbacks = OTF2_MarkerReaderCallbacks_New();
    OTF2_MarkerReaderCallbacks_SetDefMarkerCallback(callbacks, kind);
    OTF2_MarkerReaderCallbacks_SetMarkerCallback(callbacks, marker);
    OTF2_Reader_RegisterMarkerCallbacks(reader, markers, callbacks, user);
    const OTF2_ErrorCode code = OTF2_Reader_ReadAllMarkers(reader, markers, &n_read);
    OTF2_MarkerReaderCallbacks_Delete(callbacks);
    OTF2_Reader_CloseMarkerReader(reader, markers);
    return code == OTF2_SUCCESS;
}

static bool pass_markers(OTF2_Reader *reader, OTF2_MarkerReaderCallback_Marker marker,
                         marking_t *marking)
{
    marking->n = 0;
    return reader && read_markers(reader, copy_marker_kind, marker, marking) && !correct_failed()
               ? true
               : correct_fail(CORRECT_EXIT_INPUT, "cannot copy the markers: %s",
                              correct_otf2_words());
}

static bool copy_markers(const job_t *job, marking_t *marking)
{
    OTF2_Reader *times = open_reader(job->correct), *copies = open_reader(job->correct);
    bool is_good = correct_crew_agree(pass_markers(times, time_marker, marking));
    if (is_good && marking->n > 0) {
        correct_crew_sum(marking->times, 2 * marking->n);
    }
    if (is_good && correct_crew_is_first()) {
        marking->writer = OTF2_Archive_GetMarkerWriter(job->archive);
        is_good = marking->writer && pass_markers(copies, copy_marker, marking) &&
                  written(OTF2_Archive_CloseMarkerWriter(job->archive, marking->writer));
    }
    if (times) {
        OTF2_Reader_Close(times);
    }
    if (copies) {
        OTF2_Reader_Close(copies);
    }
    return is_good;
}

/* The marker file exists only if there are markers. */
static bool write_markers(const job_t *job)
{
    char path[4608];
    const correct_archive_t *archive = &job->correct->archive;
    snprintf(path, sizeof path, "%s/%s.marker", archive->folder, archive->name);
    int64_t has_any = access(path, F_OK) == 0;
    correct_crew_greatest(&has_any, 1);
    if (!has_any) {
        return true;
    }
    marking_t marking = {.correct = job->correct};
    const bool can_read =
        is_file(path) || correct_fail(CORRECT_EXIT_INPUT, "%s cannot be read", path);
    const bool is_good = correct_crew_agree(can_read) && copy_markers(job, &marking);
    clv_free(marking.times);
    return is_good;
}

/* ---- the output as a whole ---- */

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void) status;
    (void) kind;
    (void) at;
    return remove(path);
}

void correct_remove_folder(const char *folder)
{
    (void) nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static bool write_events(job_t *job)
{
    if (!correct_crew_agree(written(OTF2_Archive_OpenEvtFiles(job->archive)))) {
        return false;
    }
    clv_clc_parallel(job->correct->options.n_threads, (uint32_t) job->correct->options.n_threads,
                     write_worker, job);
    const bool is_closed = written(OTF2_Archive_CloseEvtFiles(job->archive));
    return correct_crew_agree(is_closed && !correct_failed());
}

/* Every process makes OTF2's collective calls, even after a failure. */
static bool write_all(correct_t *correct, OTF2_Reader *reader, const char *folder)
{
    job_t job = {.correct = correct, .archive = open_archive(correct, reader, folder)};
    if (!correct_crew_agree(job.archive != NULL)) {
        return false;
    }
    bool is_good = written(correct_crew_write(job.archive));
    if (is_good && correct_crew_is_first()) {
        describe_archive(correct, reader, job.archive);
    }
    is_good = correct_crew_agree(is_good) && write_events(&job) &&
              correct_crew_agree(write_locals(&job)) &&
              correct_crew_agree(!correct_crew_is_first() || write_definitions(&job, reader)) &&
              correct_crew_agree(write_markers(&job));
    /* Closing shows whether the rest fits on the disk. */
    return correct_crew_agree(written(OTF2_Archive_Close(job.archive)) && is_good &&
                              !correct_failed());
}

static void find_span(correct_t *correct)
{
    int64_t first, last;
    correct_span(correct, CLV_CLC_CORRECTED, &first, &last);
    correct->base = first < 0 ? -first : 0;
    if (correct->n_events > 0) {
        correct->archive.global_offset = (uint64_t) (first + correct->base);
        correct->archive.length = (uint64_t) (last - first) + 1;
    }
}

static bool make_folder(const char *output, char *folder, size_t n_bytes)
{
    const int n = snprintf(folder, n_bytes, "%s.new-XXXXXX", output);
    if (n < 0 || (size_t) n >= n_bytes || !mkdtemp(folder)) {
        return correct_fail(CORRECT_EXIT_MACHINE, "cannot write beside %s: %s", output,
                            strerror(errno));
    }
    const mode_t mask = umask(0);
    umask(mask);
    chmod(folder, 0777 & ~mask); /* permissions as by mkdir */
    return true;
}

/* Writes beside the final place, and moves the result there when it is complete. */
bool correct_write(correct_t *correct)
{
    char folder[4096];
    const char *output = correct->options.output;
    const bool is_first = correct_crew_is_first();
    if (!correct_crew_agree(!is_first || make_folder(output, folder, sizeof folder))) {
        return false;
    }
    correct_crew_tell(folder, sizeof folder);
    find_span(correct);
    OTF2_Reader *reader = open_reader(correct);
    bool is_good = correct_crew_agree(reader != NULL) && write_all(correct, reader, folder);
    if (reader) {
        OTF2_Reader_Close(reader);
    }
    if (is_good && is_first && rename(folder, output)) {
        is_good = correct_fail(CORRECT_EXIT_MACHINE, "cannot move the result to %s: %s", output,
                               strerror(errno));
    }
    is_good = correct_crew_agree(is_good);
    if (!is_good && is_first) {
        correct_remove_folder(folder);
    }
    return is_good;
}
