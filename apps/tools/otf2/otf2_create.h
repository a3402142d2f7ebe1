/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opens an OTF2 archive for writing, for all programs here. Full chunks are flushed to the file
 * without a flush record, whose time would be later than the event that caused it.
 *
 * Header only: one of its users is a preloaded library.
 *
 * Units: bytes.
 * Errors: NULL; the library has printed the reason.
 * Memory: the archive is closed by OTF2_Archive_Close.
 * Threads: as in OTF2.
 */
#ifndef CLV_OTF2_CREATE_H
#define CLV_OTF2_CREATE_H

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdlib.h>

/* Defaults, unless a copied archive has other sizes. */
#define CLV_OTF2_EVENT_CHUNK      (UINT64_C(1) << 20)
#define CLV_OTF2_DEFINITION_CHUNK (UINT64_C(1) << 22)

static inline OTF2_FlushType clv_otf2_flush(void *user, OTF2_FileType type,
                                            OTF2_LocationRef location, void *caller, bool is_final)
{
    (void) user;
    (void) type;
    (void) location;
    (void) caller;
    (void) is_final;
    return OTF2_FLUSH;
}

static inline OTF2_Archive *clv_otf2_create(const char *folder, const char *name,
                                            uint64_t event_chunk, uint64_t definition_chunk,
                                            OTF2_Compression compression)
{
    static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = clv_otf2_flush};
    OTF2_Archive *archive = OTF2_Archive_Open(folder, name, OTF2_FILEMODE_WRITE, event_chunk,
                                              definition_chunk, OTF2_SUBSTRATE_POSIX, compression);
    if (archive) {
        OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL);
    }
    return archive;
}

/* ---- little memory: one chunk per writer instead of the library's 128 MiB ---- */

typedef struct clv_otf2_chunk {
    bool is_given; /* a second chunk is refused, so that the library flushes */
    int unused[3];
    char memory[];
} clv_otf2_chunk_t;

static inline void *clv_otf2_give(void *user, OTF2_FileType type, OTF2_LocationRef location,
                                  void **own, uint64_t n_bytes)
{
    clv_otf2_chunk_t *chunk = *own;
    (void) user;
    (void) type;
    (void) location;
    if (!chunk) {
        *own = chunk = malloc(sizeof *chunk + n_bytes);
        if (chunk) {
            chunk->is_given = false;
        }
    }
    if (!chunk || chunk->is_given) {
        return NULL;
    }
    chunk->is_given = true;
    return chunk->memory;
}

static inline void clv_otf2_take_back(void *user, OTF2_FileType type, OTF2_LocationRef location,
                                      void **own, bool is_final)
{
    clv_otf2_chunk_t *chunk = *own;
    (void) user;
    (void) type;
    (void) location;
    if (chunk) {
        chunk->is_given = false;
    }
    if (is_final) {
        free(chunk);
        *own = NULL;
    }
}

static inline OTF2_ErrorCode clv_otf2_spare(OTF2_Archive *archive)
{
    static const OTF2_MemoryCallbacks memory = {clv_otf2_give, clv_otf2_take_back};
    return OTF2_Archive_SetMemoryCallbacks(archive, &memory, NULL);
}

#endif
