/* SPDX-License-Identifier: BSD-3-Clause
 * See pvar_look.h. */
#include "tests/mpi/pvar_look.h"

#include <stdint.h>
#include <string.h>

static int find(const char *full_name)
{
    int n_pvars = 0;

    MPI_T_pvar_get_num(&n_pvars);
    for (int i = 0; i < n_pvars; i++) {
        char name[256];
        int name_bytes = sizeof name, verbosity, class, bind, readonly, continuous, atomic;
        MPI_Datatype type;
        MPI_T_enum values;

        if (MPI_T_pvar_get_info(i, name, &name_bytes, &verbosity, &class, &type, &values, NULL,
                                NULL, &bind, &readonly, &continuous, &atomic) == MPI_SUCCESS &&
            strcmp(name, full_name) == 0) {
            return i;
        }
    }
    return -1;
}

int pvar_look_open(pvar_look_t *look, const char *full_name)
{
    int level, provided, index, n_values;

    MPI_Query_thread(&level); /* Open MPI takes a lower one for the program's, from then on */
    MPI_T_init_thread(level, &provided);
    MPI_T_pvar_session_create(&look->session);
    index = find(full_name);
    look->is_there = index >= 0 && MPI_T_pvar_handle_alloc(look->session, index, NULL,
                                                           &look->handle, &n_values) == MPI_SUCCESS;
    return look->is_there;
}

long long pvar_look_read(const pvar_look_t *look, long long missing)
{
    int64_t value = missing; /* all of ours have 64 bits */

    if (look->is_there && MPI_T_pvar_read(look->session, look->handle, &value) != MPI_SUCCESS) {
        value = missing;
    }
    return value;
}

void pvar_look_close(pvar_look_t *look)
{
    MPI_T_pvar_session_free(&look->session);
    MPI_T_finalize();
}
