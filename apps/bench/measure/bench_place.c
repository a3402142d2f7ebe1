/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds hosts by shared memory, and binding by the kernel's masks; see bench_place.h.
 */
#include "apps/bench/measure/bench_place.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "apps/bench/measure/bench_machine.h"

extern char **environ;

static int count_hosts(MPI_Comm comm)
{
    MPI_Comm host;
    int host_rank;
    int n_hosts;

    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &host_rank);
    MPI_Comm_free(&host);
    const int is_first = host_rank == 0;
    MPI_Allreduce(&is_first, &n_hosts, 1, MPI_INT, MPI_SUM, comm);
    return n_hosts;
}

void clv_bench_place_find(MPI_Comm comm, clv_bench_place_t *place_p)
{
    cpu_set_t cpus;
    const int n_processors = (int) sysconf(_SC_NPROCESSORS_ONLN);

    CPU_ZERO(&cpus);
    (void) sched_getaffinity(0, sizeof cpus, &cpus);
    const int n_mine = CPU_COUNT(&cpus);
    const int is_bound = n_mine < n_processors;
    MPI_Comm_size(comm, &place_p->n_ranks);
    place_p->n_processors = n_processors;
    place_p->n_hosts = count_hosts(comm);
    MPI_Allreduce(&n_mine, &place_p->n_cpus_least, 1, MPI_INT, MPI_MIN, comm);
    MPI_Allreduce(&n_mine, &place_p->n_cpus_most, 1, MPI_INT, MPI_MAX, comm);
    MPI_Allreduce(&is_bound, &place_p->n_bound, 1, MPI_INT, MPI_SUM, comm);
}

/* Describes the binding: "none", or how many ranks to how many processors. */
static void describe_binding(const clv_bench_place_t *place, char *text, size_t n_bytes)
{
    if (place->n_bound == 0) {
        snprintf(text, n_bytes, "none");
    } else if (place->n_cpus_least == place->n_cpus_most) {
        snprintf(text, n_bytes, "%d ranks to %d processors each", place->n_bound,
                 place->n_cpus_least);
    } else {
        snprintf(text, n_bytes, "%d ranks to %d to %d processors each", place->n_bound,
                 place->n_cpus_least, place->n_cpus_most);
    }
}

/* Variables that the launcher sets for its ranks, including keys. */
static bool is_of_launcher(const char *name)
{
    static const char *const prefixes[] = {"orte_", "ess",  "pmix",  "plm_",
                                           "oob_",  "prte", "shmem_"};

    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* "btl=tcp,self pml=ob1": Open MPI parameters set by mpirun or by hand. */
static void gather_parameters(char *text, size_t n_bytes)
{
    static const char prefix[] = "OMPI_MCA_";
    size_t n = 0;

    text[0] = '\0';
    for (char **entry = environ; *entry != NULL; entry++) {
        const char *name = *entry + strlen(prefix);
        if (strncmp(*entry, prefix, strlen(prefix)) != 0 || strchr(name, '/') != NULL ||
            is_of_launcher(name) || n + strlen(name) + 2 > n_bytes) {
            continue;
        }
        n += (size_t) snprintf(text + n, n_bytes - n, "%s%s", n > 0 ? " " : "", name);
    }
}

void clv_bench_place_json(clv_json_t *json, const clv_bench_place_t *place)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    char binding[96];
    char parameters[2048];
    struct utsname system = {0};
    double load = NAN; /* of the last minute, from other programs too */
    int length;

    MPI_Get_library_version(library, &length);
    (void) uname(&system);
    (void) getloadavg(&load, 1);
    describe_binding(place, binding, sizeof binding);
    gather_parameters(parameters, sizeof parameters);
    clv_json_whole(json, "ranks", place->n_ranks);
    clv_json_whole(json, "nodes", place->n_hosts);
    clv_json_text(json, "binding", binding);
    clv_json_whole(json, "processors", place->n_processors);
    clv_json_number(json, "load", load);
    clv_json_text(json, "mpi", library);
    clv_json_text(json, "parameters", parameters);
    clv_json_text(json, "system", system.release);
    clv_json_text(json, "compiler", __VERSION__);
    clv_json_text(json, "emulated", getenv("CLV_CLUSTER") ? getenv("CLV_CLUSTER") : "");
    clv_bench_machine_json(json, "");
}
