/* SPDX-License-Identifier: BSD-3-Clause
 * See util_place.h. Reads /proc.
 */
#include "util/util_place.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/util_hash.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

/* Returns the number of bytes read, 0 if the file cannot be read. */
static size_t read_small_file(const char *path, char *text, size_t n_bytes)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    text[0] = '\0';
    if (file < 0) {
        return 0;
    }
    const ssize_t n = read(file, text, n_bytes - 1);
    (void) close(file);
    text[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t) n : 0;
}

void clv_place_boot_id(char *text, size_t n_bytes)
{
    (void) read_small_file(BOOT_ID, text, n_bytes);
    text[strcspn(text, "\n")] = '\0';
}

void clv_place_time_namespace(char *text, size_t n_bytes)
{
    const ssize_t n = readlink("/proc/self/ns/time", text, n_bytes - 1);
    text[n > 0 ? n : 0] = '\0';
}

clv_status_t clv_place_kernel(uint64_t *kernel_p)
{
    char boot_id[64];
    const size_t n = read_small_file(BOOT_ID, boot_id, sizeof boot_id);
    if (n == 0) {
        return CLV_UNSUPPORTED;
    }
    *kernel_p = clv_fnv1a64(CLV_FNV1A64_BASIS, boot_id, n);
    return CLV_OK;
}

uint64_t clv_place_namespace(const char *kind)
{
    char path[64];
    struct stat status;
    (void) snprintf(path, sizeof path, "/proc/self/ns/%s", kind);
    return stat(path, &status) == 0 ? (uint64_t) status.st_ino : 0;
}

clv_status_t clv_place_link(uint64_t *link_p)
{
    uint64_t numbers[] = {0, clv_place_namespace("net")};
    const clv_status_t status = clv_place_kernel(&numbers[0]);

    if (status == CLV_OK) {
        const uint64_t link = clv_fnv1a64(CLV_FNV1A64_BASIS, numbers, sizeof numbers);
        *link_p = link == 0 ? 1 : link;
    }
    return status;
}

int32_t clv_place_number_links(const uint64_t *link, int32_t n, int32_t *place)
{
    int32_t n_places = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t k = i - 1;
        while (k >= 0 && link[k] != link[i]) {
            k--;
        }
        place[i] = k >= 0 ? place[k] : n_places++;
    }
    return n_places;
}
