/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Affinities and quotas (see util_processors.h).
 */
#include "util/util_processors.h"

#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "util/util_hash.h"

#define PATH_BYTES 4096
#define LINE_BYTES (2 * PATH_BYTES)

/* ---- affinity -------------------------------------------------------------------------------- */

static void read_affinity(clv_processors_t *processors)
{
    cpu_set_t allowed;

    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return;
    }
    for (size_t cpu = 0; cpu < CLV_PROCESSORS_MOST && cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed)) {
            processors->may_use[cpu / 64] |= UINT64_C(1) << cpu % 64;
        }
    }
}

/* ---- quotas ---------------------------------------------------------------------------------- */

static int64_t quota_of(int64_t quota_us, int64_t period_us)
{
    return quota_us <= 0 || period_us <= 0 || quota_us > INT64_MAX / 1000
               ? 0
               : quota_us * 1000 / period_us;
}

int64_t clv_processors_quota(const char *max)
{
    int64_t quota_us = 0, period_us = 0;

    return sscanf(max, "%" SCNd64 " %" SCNd64, &quota_us, &period_us) == 2
               ? quota_of(quota_us, period_us)
               : 0;
}

int64_t clv_processors_old_quota(const char *quota, const char *period)
{
    int64_t quota_us = 0, period_us = 0;

    return sscanf(quota, "%" SCNd64, &quota_us) == 1 && sscanf(period, "%" SCNd64, &period_us) == 1
               ? quota_of(quota_us, period_us)
               : 0;
}

/* text is "" if there is no such file. */
static void read_file(const char *folder, const char *name, char *text, int n_bytes)
{
    char path[PATH_BYTES];
    FILE *file = NULL;

    text[0] = '\0';
    if (snprintf(path, sizeof path, "%s/%s", folder, name) < (int) sizeof path) {
        file = fopen(path, "re");
    }
    if (file != NULL) {
        if (fgets(text, n_bytes, file) == NULL) {
            text[0] = '\0';
        }
        (void) fclose(file);
    }
}

static int64_t quota_in(const char *folder, bool is_old)
{
    char text[64], period[64];

    if (!is_old) {
        read_file(folder, "cpu.max", text, sizeof text);
        return clv_processors_quota(text);
    }
    read_file(folder, "cpu.cfs_quota_us", text, sizeof text);
    read_file(folder, "cpu.cfs_period_us", period, sizeof period);
    return clv_processors_old_quota(text, period);
}

/* The number of a group: the same in all containers that see it, whatever they call it. */
static uint64_t number_of(const char *folder)
{
    struct stat status = {.st_ino = 0};
    uint64_t numbers[2] = {0}, number;

    if (stat(folder, &status) == 0) {
        numbers[0] = (uint64_t) status.st_dev;
        numbers[1] = (uint64_t) status.st_ino;
    }
    number = clv_fnv1a64(CLV_FNV1A64_BASIS, numbers, sizeof numbers);
    return number == 0 ? 1 : number;
}

/* Finds the smallest quota among a group and the groups that contain it, up to the folder's first
 * n_top characters. Of equal quotas the outermost counts. */
static void look_upwards(char *folder, size_t n_top, bool is_old, clv_processors_t *processors)
{
    for (;;) {
        const int64_t permille = quota_in(folder, is_old);
        char *slash;

        if (permille > 0 &&
            (processors->quota_group == 0 || permille <= processors->quota_permille)) {
            processors->quota_permille = permille;
            processors->quota_group = number_of(folder);
        }
        slash = strrchr(folder, '/');
        if (slash == NULL || (size_t) (slash - folder) < n_top) {
            return;
        }
        *slash = '\0';
    }
}

/* Whether word is in list, whose words are separated by commas. */
static bool has_word(const char *list, const char *word)
{
    const size_t n = strlen(word);

    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, n) == 0 && (at[n] == ',' || at[n] == '\0')) {
            return true;
        }
    }
    return false;
}

/* Reads this process's group from /proc/self/cgroup; for version 1, that of the controller
 * "cpu". */
static bool find_group(const char *root, bool is_old, char *group)
{
    char path[PATH_BYTES], line[LINE_BYTES];
    FILE *file;
    bool is_found = false;

    (void) snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    file = fopen(path, "re");
    while (file != NULL && !is_found && fgets(line, sizeof line, file) != NULL) {
        char *controllers = strchr(line, ':'), *at;

        line[strcspn(line, "\n")] = '\0';
        at = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (at != NULL) {
            *at++ = '\0';
            is_found = is_old ? has_word(controllers + 1, "cpu") : controllers[1] == '\0';
            (void) snprintf(group, PATH_BYTES, "%.*s", PATH_BYTES - 1, at);
        }
    }
    if (file != NULL) {
        (void) fclose(file);
    }
    return is_found;
}

/* A mount shows the groups below its top. If this process is in none of them, the top is the
 * nearest group that is visible. */
static void look_at_mount(const char *root, const char *top, const char *point, bool is_old,
                          clv_processors_t *processors)
{
    const size_t n_top = strcmp(top, "/") == 0 ? 0 : strlen(top);
    char group[PATH_BYTES], folder[LINE_BYTES + PATH_BYTES];
    const char *below = "";
    int n;

    if (!find_group(root, is_old, group)) {
        return;
    }
    if (strncmp(group, top, n_top) == 0 && (group[n_top] == '/' || group[n_top] == '\0') &&
        strstr(group, "/..") == NULL && strcmp(group + n_top, "/") != 0) {
        below = group + n_top;
    }
    n = snprintf(folder, sizeof folder, "%s%s%s", root, point, below);
    if (n > 0 && n < (int) sizeof folder) {
        look_upwards(folder, strlen(root) + strlen(point), is_old, processors);
    }
}

/* A line is "36 35 98:0 /top /point options [fields] - type source options". */
static void look_at_line(const char *root, char *line, clv_processors_t *processors)
{
    char top[PATH_BYTES], point[PATH_BYTES], type[32], options[256];
    const char *rest = strstr(line, " - ");

    if (rest == NULL || sscanf(line, "%*s %*s %*s %4095s %4095s", top, point) != 2 ||
        sscanf(rest, " - %31s %*s %255s", type, options) != 2) {
        return;
    }
    if (strcmp(type, "cgroup2") == 0) {
        look_at_mount(root, top, point, false, processors);
    } else if (strcmp(type, "cgroup") == 0 && has_word(options, "cpu")) {
        look_at_mount(root, top, point, true, processors);
    }
}

static void read_quota(const char *root, clv_processors_t *processors)
{
    char path[PATH_BYTES], line[LINE_BYTES];
    FILE *file;

    (void) snprintf(path, sizeof path, "%s/proc/self/mountinfo", root);
    file = fopen(path, "re");
    if (file != NULL) {
        while (fgets(line, sizeof line, file) != NULL) {
            line[strcspn(line, "\n")] = '\0';
            look_at_line(root, line, processors);
        }
        (void) fclose(file);
    }
}

void clv_processors_read(const char *root, clv_processors_t *processors_p)
{
    *processors_p = (clv_processors_t){.quota_group = 0};
    read_affinity(processors_p);
    read_quota(root, processors_p);
}

/* ---- whether they are shared ----------------------------------------------------------------- */

static int32_t count(const uint64_t may_use[CLV_PROCESSORS_WORDS])
{
    int32_t n = 0;

    for (int i = 0; i < CLV_PROCESSORS_WORDS; i++) {
        n += __builtin_popcountll(may_use[i]);
    }
    return n;
}

static bool are_fewer_in_all(const clv_processors_t *of, int32_t n_known, int32_t n_ranks)
{
    uint64_t all[CLV_PROCESSORS_WORDS] = {0};
    int32_t n;

    for (int32_t i = 0; i < n_known; i++) {
        for (int w = 0; w < CLV_PROCESSORS_WORDS; w++) {
            all[w] |= of[i].may_use[w];
        }
    }
    n = count(all);
    return n > 0 && n < n_ranks;
}

/* Whether processors are fewer than ranks, of those with rank i's affinity or under its quota. */
static bool are_fewer_for(const clv_processors_t *of, int32_t n_known, int32_t i)
{
    const int32_t n = count(of[i].may_use);
    int32_t n_alike = 0, n_in_group = 0;

    for (int32_t k = 0; k < n_known; k++) {
        n_alike += memcmp(of[k].may_use, of[i].may_use, sizeof of[i].may_use) == 0;
        n_in_group += of[k].quota_group == of[i].quota_group;
    }
    return (n > 0 && n < n_alike) ||
           (of[i].quota_group != 0 && of[i].quota_permille / 1000 < n_in_group);
}

bool clv_processors_are_shared(const clv_processors_t *of, int32_t n_known, int32_t n_ranks)
{
    bool are_shared = n_ranks > 1 && are_fewer_in_all(of, n_known, n_ranks);

    for (int32_t i = 0; n_ranks > 1 && i < n_known && !are_shared; i++) {
        are_shared = are_fewer_for(of, n_known, i);
    }
    return are_shared;
}
