/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading a performance variable of the component by its name, in two calls. */
#ifndef CLV_PVAR_LOOK_H
#define CLV_PVAR_LOOK_H

#include <mpi.h>

typedef struct pvar_look {
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    int is_there;
    int element;
} pvar_look_t;

/* full_name as docs/guide/params.md has it, of an element with _<word> behind. 0: there is none of
 * this name. A counter counts from here. */
int pvar_look_open(pvar_look_t *look, const char *full_name);
/* Its value now; missing when there is no such variable. */
long long pvar_look_read(const pvar_look_t *look, long long missing);
void pvar_look_close(pvar_look_t *look);

#endif
