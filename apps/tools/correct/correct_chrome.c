/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct: the corrected regions as Chrome's trace events, for timeline viewers that read
 * those. One slice per region, one row per location; for message arrows use an OTF2 viewer.
 */
#include <errno.h>
#include <otf2/otf2.h>
#include <string.h>

#include "apps/cli/cli_json.h"
#include "apps/tools/correct/correct_crew.h"

typedef struct drawing {
    const correct_t *correct;
    FILE *out;
    uint32_t location;
} drawing_t;

/* position: of the event in its location, from 1 as in OTF2. */
static OTF2_CallbackCode draw(const drawing_t *drawing, uint64_t position, char phase,
                              OTF2_RegionRef region)
{
    const correct_t *correct = drawing->correct;
    const correct_archive_t *archive = &correct->archive;
    const correct_location_t *location = &archive->locations[drawing->location];
    const int64_t time = correct->trace.tracks[drawing->location].events[position - 1].corrected +
                         correct->base - (int64_t) archive->global_offset;
    fprintf(drawing->out, ",\n{\"ph\":\"%c\",\"pid\":%u,\"tid\":%llu,\"ts\":%.3f,\"name\":", phase,
            archive->processes[location->process].ref, (unsigned long long) location->ref,
            (double) time / archive->ticks_per_ns / 1e3);
    clv_json_put_text(drawing->out, region < archive->n_regions && archive->regions[region]
                                        ? archive->regions[region]
                                        : "region");
    fputc('}', drawing->out);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode draw_enter(OTF2_LocationRef location, OTF2_TimeStamp time,
                                    uint64_t position, void *user, OTF2_AttributeList *attributes,
                                    OTF2_RegionRef region)
{
    (void) location;
    (void) time;
    (void) attributes;
    return draw(user, position, 'B', region);
}

static OTF2_CallbackCode draw_leave(OTF2_LocationRef location, OTF2_TimeStamp time,
                                    uint64_t position, void *user, OTF2_AttributeList *attributes,
                                    OTF2_RegionRef region)
{
    (void) location;
    (void) time;
    (void) attributes;
    return draw(user, position, 'E', region);
}

static void draw_location(OTF2_Reader *reader, OTF2_EvtReaderCallbacks *callbacks,
                          drawing_t *drawing)
{
    const correct_archive_t *archive = &drawing->correct->archive;
    const correct_location_t *location = &archive->locations[drawing->location];
    uint64_t n_read = 0;
    OTF2_DefReader *local = OTF2_Reader_GetDefReader(reader, location->ref);
    if (local) {
        OTF2_Reader_ReadAllLocalDefinitions(reader, local, &n_read);
        OTF2_Reader_CloseDefReader(reader, local);
    }
    fprintf(drawing->out,
            ",\n{\"ph\":\"M\",\"pid\":%u,\"name\":\"process_name\",\"args\":{\"name\":",
            archive->processes[location->process].ref);
    clv_json_put_text(drawing->out,
                      correct_string(archive, archive->processes[location->process].name));
    fputs("}}", drawing->out);
    OTF2_EvtReader *events =
        location->n_defined > 0 ? OTF2_Reader_GetEvtReader(reader, location->ref) : NULL;
    if (events) {
        OTF2_EvtReader_ApplyClockOffsets(events, false);
        OTF2_Reader_RegisterEvtCallbacks(reader, events, callbacks, drawing);
        OTF2_Reader_ReadAllLocalEvents(reader, events, &n_read);
        OTF2_Reader_CloseEvtReader(reader, events);
    }
}

/* Appends one location after the other, each by the process that has it. */
static bool draw_turn(const correct_t *correct, OTF2_Reader *reader,
                      OTF2_EvtReaderCallbacks *callbacks, uint32_t i)
{
    const char *path = correct->options.chrome;
    FILE *out = fopen(path, "a");
    if (!out) {
        return correct_fail(CORRECT_EXIT_MACHINE, "%s: %s", path, strerror(errno));
    }
    drawing_t drawing = {correct, out, i};
    draw_location(reader, callbacks, &drawing);
    return correct_close(out, path);
}

static void select_here(const correct_archive_t *archive, OTF2_Reader *reader)
{
    OTF2_Reader_SetSerialCollectiveCallbacks(reader);
    for (uint32_t i = 0; i < archive->n_locations; i++) {
        if (!archive->locations[i].is_away) {
            OTF2_Reader_SelectLocation(reader, archive->locations[i].ref);
        }
    }
    OTF2_Reader_OpenDefFiles(reader);
    OTF2_Reader_OpenEvtFiles(reader);
}

static bool draw_all(const correct_t *correct)
{
    const correct_archive_t *archive = &correct->archive;
    OTF2_Reader *reader = OTF2_Reader_Open(correct->options.input);
    OTF2_EvtReaderCallbacks *callbacks = OTF2_EvtReaderCallbacks_New();
    bool is_good = correct_crew_agree(
        reader && callbacks ? true
                            : correct_fail(CORRECT_EXIT_INPUT, "cannot read the archive again"));
    if (is_good) {
        OTF2_EvtReaderCallbacks_SetEnterCallback(callbacks, draw_enter);
        OTF2_EvtReaderCallbacks_SetLeaveCallback(callbacks, draw_leave);
        select_here(archive, reader);
    }
    for (uint32_t i = 0; i < archive->n_locations && is_good; i++) {
        is_good = correct_crew_agree(archive->locations[i].is_away ||
                                     draw_turn(correct, reader, callbacks, i));
    }
    OTF2_EvtReaderCallbacks_Delete(callbacks);
    if (reader) {
        OTF2_Reader_Close(reader);
    }
    return is_good;
}

static bool put_text(const char *path, const char *mode, const char *text)
{
    FILE *out = fopen(path, mode);
    if (!out) {
        return correct_fail(CORRECT_EXIT_MACHINE, "%s: %s", path, strerror(errno));
    }
    fputs(text, out);
    return correct_close(out, path);
}

/* The first process writes the begin or the end of the file. */
static bool draw_frame(const char *path, const char *mode, const char *text)
{
    return correct_crew_agree(!correct_crew_is_first() || put_text(path, mode, text));
}

bool correct_chrome(correct_t *correct)
{
    const char *path = correct->options.chrome;
    if (correct->options.is_check) {
        return correct_fail(CORRECT_EXIT_INPUT, "--chrome draws corrected times: it needs -o");
    }
    return draw_frame(path, "w",
                      "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
                      "{\"ph\":\"M\",\"name\":\"clv\"}") &&
           draw_all(correct) && draw_frame(path, "a", "\n]}\n");
}
