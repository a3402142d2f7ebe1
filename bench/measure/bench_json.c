/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Keys and values of the JSON lines; see bench_json.h.
 */
#include "bench/measure/bench_json.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "util/util_version.h"

void clv_json_text(FILE *out, const char *key, const char *text)
{
    fprintf(out, "\"%s\":\"", key);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') {
            fprintf(out, "\\%c", *text);
        } else if ((unsigned char) *text >= ' ') {
            putc(*text, out);
        }
    }
    fprintf(out, "\",");
}

void clv_json_number(FILE *out, const char *key, double number)
{
    if (isnan(number)) {
        fprintf(out, "\"%s\":null,", key);
    } else {
        fprintf(out, "\"%s\":%.15g,", key, number);
    }
}

void clv_json_machine(FILE *out)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    struct utsname system;
    cpu_set_t cpus;
    double load = NAN; /* of the last minute: who else worked here */
    const time_t now = time(NULL);
    char stamp[32];
    int length;

    MPI_Get_library_version(library, &length);
    uname(&system);
    CPU_ZERO(&cpus);
    sched_getaffinity(0, sizeof cpus, &cpus);
    (void) getloadavg(&load, 1);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    clv_json_text(out, "version", CLV_VERSION);
    clv_json_text(out, "time", stamp);
    clv_json_text(out, "mpi", library);
    clv_json_text(out, "system", system.release);
    clv_json_text(out, "host", system.nodename);
    clv_json_number(out, "processors", (double) sysconf(_SC_NPROCESSORS_ONLN));
    clv_json_number(out, "load", load);
    clv_json_number(out, "bound_to_cpus", CPU_COUNT(&cpus));
    clv_json_text(out, "emulated", getenv("CLV_CLUSTER") ? getenv("CLV_CLUSTER") : "");
}

void clv_json_algorithm(FILE *out, const clv_algorithm_t *algorithm)
{
    clv_json_text(out, "algorithm", algorithm->name);
    clv_json_text(out, "components", algorithm->components);
    for (int s = 0; s < algorithm->n_settings; s++) {
        clv_json_text(out, algorithm->settings[s].name, algorithm->settings[s].value);
    }
}
