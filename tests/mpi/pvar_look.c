/* SPDX-License-Identifier: BSD-3-Clause
 * See pvar_look.h. */
#include "tests/mpi/pvar_look.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/pvar_table.h"

/* "coll_clv_ran_chain" is element 3, or so, of "coll_clv_ran". */
static void split(const char *full_name, char *name, size_t name_bytes, int *element)
{
    const char *own = full_name + strlen(PVAR_PREFIX);

    *element = 0;
    snprintf(name, name_bytes, "%s", full_name);
    for (size_t i = 0; i < N_PVAR_ROWS; i++) {
        const struct pvar_row *row = &pvar_rows[i];
        const size_t length = strlen(row->name);
        for (int e = 0; row->elements[e].word && strncmp(own, row->name, length) == 0; e++) {
            if (own[length] == '_' && strcmp(own + length + 1, row->elements[e].word) == 0) {
                snprintf(name, name_bytes, PVAR_PREFIX "%s", row->name);
                *element = e;
                return;
            }
        }
    }
}

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
    char name[256];
    int level, provided, index, n_values;

    MPI_Query_thread(&level); /* Open MPI takes a lower one for the program's, from then on */
    MPI_T_init_thread(level, &provided);
    MPI_T_pvar_session_create(&look->session);
    split(full_name, name, sizeof name, &look->element);
    index = find(name);
    look->is_there = index >= 0 && MPI_T_pvar_handle_alloc(look->session, index, NULL,
                                                           &look->handle, &n_values) == MPI_SUCCESS;
    return look->is_there;
}

long long pvar_look_read(const pvar_look_t *look, long long missing)
{
    int64_t values[PVAR_MOST_ELEMENTS]; /* all of ours have 64 bits */

    return look->is_there && MPI_T_pvar_read(look->session, look->handle, values) == MPI_SUCCESS
               ? values[look->element]
               : missing;
}

void pvar_look_close(pvar_look_t *look)
{
    MPI_T_pvar_session_free(&look->session);
    MPI_T_finalize();
}
