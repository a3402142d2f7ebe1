/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct in one process, which has all locations and needs no communication. Under mpirun it
 * executes the MPI program installed beside it instead.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/cli_file.h"
#include "apps/tools/correct/correct_crew.h"

static bool is_started_by_mpirun(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") != NULL || getenv("PMIX_RANK") != NULL;
}

void correct_crew_begin(int *argc, char ***argv)
{
    (void) argc;
    if (!is_started_by_mpirun()) {
        return;
    }
    /* in the build folder, and in the installation */
    static const char *const places[] = {"replay/clv-correct-mpi",
                                         "../libexec/clv/clv-correct-mpi"};
    char reason[256];
    clv_become_beside(places, sizeof places / sizeof places[0], *argv);
    (void) snprintf(reason, sizeof reason,
                    "started by mpirun, but cannot start clv-correct-mpi: %s (it is built where "
                    "MPI is)",
                    strerror(errno));
    clv_tell_for_all("clv-correct", reason);
    exit(CORRECT_EXIT_MACHINE);
}

int correct_crew_status(int status)
{
    return status;
}

int correct_crew_exit(int status)
{
    return status;
}

void correct_crew_end(correct_t *correct)
{
    (void) correct;
}

bool correct_crew_is_first(void)
{
    return true;
}

bool correct_crew_agree(bool is_good)
{
    return is_good;
}

void correct_crew_reduce(void *values, size_t n, correct_reduce_t how)
{
    (void) values;
    (void) n;
    (void) how;
}

void correct_crew_tell(void *bytes, size_t n_bytes)
{
    (void) bytes;
    (void) n_bytes;
}

bool correct_crew_collect(void **items, size_t *n_items, size_t item_bytes)
{
    (void) items;
    (void) n_items;
    (void) item_bytes;
    return true;
}

bool correct_crew_share(correct_t *correct)
{
    (void) correct;
    return true;
}

bool correct_crew_join(correct_t *correct)
{
    (void) correct;
    return true;
}

bool correct_crew_settle(correct_t *correct)
{
    clv_clc_match_settle(correct->match, &correct->trace);
    correct->whole = &correct->trace;
    return true;
}

void correct_crew_gather(const correct_t *correct)
{
    (void) correct;
}

void correct_crew_limit(const correct_t *correct, const clv_clc_config_t *config)
{
    (void) correct;
    (void) config;
}

bool correct_crew_share_offsets(correct_t *correct)
{
    (void) correct;
    return true;
}

uint64_t correct_crew_key(const correct_t *correct, uint64_t at)
{
    (void) correct;
    return at;
}

OTF2_ErrorCode correct_crew_write(OTF2_Archive *archive)
{
    return OTF2_Archive_SetSerialCollectiveCallbacks(archive);
}
