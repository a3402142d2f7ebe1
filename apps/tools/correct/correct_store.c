/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct: memory for events and messages. Up to a quarter of the limit it is ordinary memory.
 * Beyond that it is a private (unlinked) file, of which only a part stays resident: a separate
 * thread checks every millisecond, and drops the mapping's pages when they reach a sixteenth of the
 * limit; the kernel writes them when it needs to. On a busy machine that thread runs late, and up
 * to some 100 MiB of the file are resident for a moment; it gets a higher priority if the process
 * may request that. Space in the file is reserved at once, so that a full disk is an error here and
 * not a signal later.
 */
#include "apps/tools/correct/correct.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef struct piece {
    void *memory;
    size_t n_bytes;
    bool is_file;
    off_t at; /* offset in the file */
} piece_t;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static piece_t *pieces;
static size_t n_pieces, n_slots;
static int64_t limit, n_own_bytes, n_file_bytes;
static char file_folder[4096];
static int file = -1;
static pthread_t trimmer;
static bool has_trimmer;
static bool is_trimming; /* atomic; false ends the trimmer */

#define LOOK_NS     1000000
#define FILE_SHARE  16 /* of the limit, for resident pages of the file */
#define LARGE_BYTES (1 << 20)

bool correct_store_open(int64_t memory_bytes, const char *folder)
{
    limit = memory_bytes;
    if (limit > 0) { /* return freed memory to the system instead of keeping it */
        (void) mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
        (void) mallopt(M_TRIM_THRESHOLD, LARGE_BYTES);
    }
    snprintf(file_folder, sizeof file_folder, "%s", folder);
    return true;
}

static void let_go(void)
{
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < n_pieces; i++) {
        if (pieces[i].is_file) {
            madvise(pieces[i].memory, pieces[i].n_bytes, MADV_DONTNEED);
        }
    }
    pthread_mutex_unlock(&mutex);
}

/* Of file pages, only the scratch file's count. */
static int64_t resident_file_bytes(void)
{
    long long total = 0, resident = 0, shared = 0;
    FILE *status = fopen("/proc/self/statm", "r");
    if (status) {
        if (fscanf(status, "%lld %lld %lld", &total, &resident, &shared) != 3) {
            shared = 0;
        }
        fclose(status);
    }
    return shared * sysconf(_SC_PAGESIZE);
}

static void *trim(void *unused)
{
    const struct timespec pause = {0, LOOK_NS};
    while (__atomic_load_n(&is_trimming, __ATOMIC_ACQUIRE)) {
        if (resident_file_bytes() > limit / FILE_SHARE) {
            let_go();
        }
        nanosleep(&pause, NULL);
    }
    return unused;
}

static bool open_file(void)
{
    if (file < 0) {
        char name[sizeof file_folder + 32];
        snprintf(name, sizeof name, "%s/.clv-correct-XXXXXX", file_folder);
        file = mkstemp(name);
        if (file < 0) {
            return correct_fail(CORRECT_EXIT_MACHINE, "cannot make a scratch file in %s: %s",
                                file_folder, strerror(errno));
        }
        unlink(name);
        __atomic_store_n(&is_trimming, true, __ATOMIC_RELEASE);
        has_trimmer = !pthread_create(&trimmer, NULL, trim, NULL);
        if (has_trimmer) {
            const struct sched_param first = {sched_get_priority_max(SCHED_RR)};
            (void) pthread_setschedparam(trimmer, SCHED_RR, &first);
        }
    }
    return true;
}

static void *map_file(size_t n_bytes)
{
    if (!open_file()) {
        return NULL;
    }
    const int status = posix_fallocate(file, n_file_bytes, (off_t) n_bytes);
    if (status != 0) {
        correct_fail(CORRECT_EXIT_MACHINE, "no room for %lld MiB of scratch in %s: %s",
                     (long long) ((n_file_bytes + (int64_t) n_bytes) >> 20), file_folder,
                     strerror(status));
        return NULL;
    }
    void *memory = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, n_file_bytes);
    n_file_bytes += (int64_t) n_bytes;
    return memory;
}

static void *get(size_t n_bytes)
{
    const bool is_file = limit > 0 && n_own_bytes + (int64_t) n_bytes > limit / 4;
    const off_t at = n_file_bytes;
    void *memory =
        is_file ? map_file(n_bytes)
                : mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || !memory) {
        return NULL;
    }
    if (!is_file) {
        (void) madvise(memory, n_bytes, MADV_HUGEPAGE); /* fewer faults; not everywhere */
    }
    if (n_pieces == n_slots) {
        const size_t wanted = 2 * n_slots + 64;
        piece_t *larger = realloc(pieces, wanted * sizeof *pieces);
        if (!larger) {
            munmap(memory, n_bytes);
            return NULL;
        }
        pieces = larger;
        n_slots = wanted;
    }
    n_own_bytes += is_file ? 0 : (int64_t) n_bytes;
    pieces[n_pieces++] = (piece_t){memory, n_bytes, is_file, at};
    return memory;
}

void *correct_store_get(size_t n_items, size_t item_bytes)
{
    const size_t page = (size_t) sysconf(_SC_PAGESIZE);
    size_t n_bytes;
    if (__builtin_mul_overflow(n_items > 0 ? n_items : 1, item_bytes, &n_bytes) ||
        n_bytes > SIZE_MAX - page) {
        correct_fail(CORRECT_EXIT_INPUT, "the trace says it has more events than any memory");
        return NULL;
    }
    n_bytes = (n_bytes + page - 1) / page * page;
    pthread_mutex_lock(&mutex);
    void *memory = get(n_bytes);
    pthread_mutex_unlock(&mutex);
    if (!memory) {
        correct_fail(CORRECT_EXIT_MACHINE, "out of memory (%zu MiB)", n_bytes >> 20);
    }
    return memory;
}

/* Frees the space in the file as well, if the file system supports that. */
static void drop_piece(const piece_t *piece)
{
    munmap(piece->memory, piece->n_bytes);
    if (piece->is_file) {
        (void) fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, piece->at,
                         (off_t) piece->n_bytes);
    } else {
        n_own_bytes -= (int64_t) piece->n_bytes;
    }
}

void correct_store_give_back(void *memory)
{
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < n_pieces; i++) {
        if (pieces[i].memory == memory) {
            drop_piece(&pieces[i]);
            pieces[i] = pieces[--n_pieces];
            break;
        }
    }
    pthread_mutex_unlock(&mutex);
}

void correct_store_close(void)
{
    if (has_trimmer) {
        __atomic_store_n(&is_trimming, false, __ATOMIC_RELEASE);
        pthread_join(trimmer, NULL);
    }
    for (size_t i = 0; i < n_pieces; i++) {
        munmap(pieces[i].memory, pieces[i].n_bytes);
    }
    free(pieces);
    pieces = NULL;
    n_pieces = n_slots = 0;
    if (file >= 0) {
        close(file);
        file = -1;
    }
}

int64_t correct_store_file_bytes(void)
{
    return n_file_bytes;
}
