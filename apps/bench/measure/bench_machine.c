/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads /proc and /sys; see bench_machine.h.
 */
#include "apps/bench/measure/bench_machine.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/util_alloc.h"

#define GUESSED_BYTES ((size_t) 32 << 20)
#define MAX_TEXT      256
#define CPU_FREQ      "/sys/devices/system/cpu/cpu0/cpufreq/"
#ifndef CLV_BUILD_FLAGS
#define CLV_BUILD_FLAGS ""
#endif

/* The first line of a file, "" if it cannot be read. */
static void read_line(const char *root, const char *path, char text[MAX_TEXT])
{
    char name[2 * MAX_TEXT];

    text[0] = '\0';
    snprintf(name, sizeof name, "%s%s", root, path);
    FILE *file = fopen(name, "r");
    if (file != NULL) {
        if (fgets(text, MAX_TEXT, file) == NULL) {
            text[0] = '\0'; /* the network is down */
        }
        fclose(file);
    }
    text[strcspn(text, "\n")] = '\0';
}

static double read_number(const char *root, const char *path)
{
    char text[MAX_TEXT];

    read_line(root, path, text);
    return strtod(text, NULL);
}

/* The text after the colon of the first such line of /proc/cpuinfo. */
static void read_cpuinfo(const char *root, const char *key, char text[MAX_TEXT])
{
    char line[4096];
    char name[2 * MAX_TEXT];

    text[0] = '\0';
    snprintf(name, sizeof name, "%s/proc/cpuinfo", root);
    FILE *file = fopen(name, "r");
    while (file != NULL && text[0] == '\0' && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (colon != NULL && strncmp(line, key, strlen(key)) == 0) {
            snprintf(text, MAX_TEXT, "%s", colon + 1 + strspn(colon + 1, " "));
            text[strcspn(text, "\n")] = '\0';
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

static void put_frequency(clv_json_t *json, const char *root)
{
    char governor[MAX_TEXT];
    char mhz[MAX_TEXT];
    char no_turbo[MAX_TEXT];
    char boost[MAX_TEXT];
    const double current_khz = read_number(root, CPU_FREQ "scaling_cur_freq");

    read_cpuinfo(root, "cpu MHz", mhz);
    read_line(root, CPU_FREQ "scaling_governor", governor);
    read_line(root, "/sys/devices/system/cpu/intel_pstate/no_turbo", no_turbo);
    read_line(root, "/sys/devices/system/cpu/cpufreq/boost", boost);
    clv_json_number(json, "cpu_hz",
                    current_khz > 0.0 ? current_khz * 1e3 : strtod(mhz, NULL) * 1e6);
    clv_json_number(json, "cpu_least_hz", read_number(root, CPU_FREQ "scaling_min_freq") * 1e3);
    clv_json_number(json, "cpu_most_hz", read_number(root, CPU_FREQ "scaling_max_freq") * 1e3);
    clv_json_text(json, "governor", governor);
    clv_json_text(json, "turbo",
                  no_turbo[0] != '\0' ? (no_turbo[0] == '1' ? "off" : "on")
                  : boost[0] != '\0'  ? (boost[0] == '1' ? "on" : "off")
                                      : "");
}

/* "eth0 10000 Mb/s, ib0": interfaces that are up, with their speed if known. */
static void gather_networks(const char *root, char *text, size_t n_bytes)
{
    char path[2 * MAX_TEXT];
    char state[MAX_TEXT];
    char speed[MAX_TEXT];
    size_t n = 0;

    text[0] = '\0';
    snprintf(path, sizeof path, "%s/sys/class/net", root);
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        const char *name = entry->d_name;
        if (*name == '.' || strlen(name) > 64) {
            continue;
        }
        snprintf(path, sizeof path, "/sys/class/net/%s/operstate", name);
        read_line(root, path, state);
        snprintf(path, sizeof path, "/sys/class/net/%s/speed", name);
        read_line(root, path, speed);
        if (strcmp(state, "up") == 0 && n + strlen(name) + strlen(speed) + 10 < n_bytes) {
            const bool is_known = strtod(speed, NULL) > 0.0;
            n += (size_t) snprintf(text + n, n_bytes - n, "%s%s%s%s%s", n > 0 ? ", " : "", name,
                                   is_known ? " " : "", is_known ? speed : "",
                                   is_known ? " Mb/s" : "");
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
}

void clv_bench_machine_json(clv_json_t *json, const char *root)
{
    char model[MAX_TEXT];
    char networks[1024];

    read_cpuinfo(root, "model name", model);
    gather_networks(root, networks, sizeof networks);
    clv_json_text(json, "cpu", model);
    put_frequency(json, root);
    clv_json_whole(json, "last_cache_bytes", (int64_t) clv_bench_cache_bytes());
    clv_json_text(json, "networks", networks);
    clv_json_text(json, "compiler_flags", CLV_BUILD_FLAGS);
}

/* ---- caches --------------------------------------------------------------------------------- */

size_t clv_bench_cache_bytes(void)
{
    static const int levels[] = {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE,
                                 _SC_LEVEL2_CACHE_SIZE};

    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        const long n_bytes = sysconf(levels[i]);
        if (n_bytes > 0) {
            return (size_t) n_bytes;
        }
    }
    return GUESSED_BYTES;
}

clv_status_t clv_bench_cache_open(clv_bench_cache_t *cache)
{
    cache->n_bytes = clv_bench_cache_bytes();
    cache->buffer = clv_alloc(cache->n_bytes, 1);
    return cache->buffer ? CLV_OK : CLV_NO_MEMORY;
}

void clv_bench_cache_close(clv_bench_cache_t *cache)
{
    clv_free(cache->buffer);
    cache->buffer = NULL;
}

void clv_bench_cache_cool(clv_bench_cache_t *cache)
{
    if (cache->buffer) {
        memset(cache->buffer, ++cache->turn, cache->n_bytes);
        __asm__ volatile("" : : "r"(cache->buffer) : "memory"); /* keeps the writes */
    }
}
