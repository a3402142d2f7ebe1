/* SPDX-License-Identifier: BSD-3-Clause
 * See pvar_look.h. */
#include "tests/mpi/pvar_look.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "choose/choose_algorithms.h"
#include "choose/choose_reasons.h"
#include "coll_clv/coll_clv_tables.h"

#define PREFIX "coll_clv_"

#define WORD(word, meaning)                                                          #word,
#define REASON_WORD(code, name, text)                                                #name,
#define ALGORITHM_WORD(code, word, collectives, how, needs_times, unfit, meaning)    #word,
#define CALL_WORD(to, code, name, mpi, goal, root, op, counts, result, bytes, least) #name,
static const char *const words_of_COLLECTIVE[] = {CLV_COLLECTIVE_MAP(CALL_WORD, ) NULL};
static const char *const words_of_ALGORITHM[] = {CLV_ALGORITHM_MAP(ALGORITHM_WORD) NULL};
static const char *const words_of_REASON[] = {CLV_REASON_MAP(REASON_WORD) NULL};
static const char *const words_of_CLASS[] = {COLL_CLV_CLASS_MAP(WORD) NULL};
static const char *const words_of_AHEAD[] = {COLL_CLV_AHEAD_MAP(WORD) NULL};
static const char *const words_of_WAIT[] = {COLL_CLV_WAIT_MAP(WORD) NULL};
static const char *const words_of_ONE[] = {NULL};

static const struct {
    const char *name;
    const char *const *words;
} variables[] = {
#define VARIABLE(name, kind, source, first, second, elements, reader, meaning)                     \
    {#name, words_of_##elements},
    COLL_CLV_PVAR_MAP(VARIABLE){NULL, NULL}};

const char *const *pvar_look_words(const char *name, int *n_words)
{
    *n_words = 0;
    for (int i = 0; variables[i].name; i++) {
        if (strcmp(variables[i].name, name) == 0) {
            while (variables[i].words[*n_words]) {
                (*n_words)++;
            }
            return *n_words > 0 ? variables[i].words : NULL;
        }
    }
    return NULL;
}

/* "coll_clv_ran_chain" is element 3, or so, of "coll_clv_ran". */
static void split(const char *full_name, char *name, size_t name_bytes, int *element)
{
    const char *own = full_name + strlen(PREFIX);

    *element = 0;
    snprintf(name, name_bytes, "%s", full_name);
    for (int i = 0; variables[i].name; i++) {
        const size_t length = strlen(variables[i].name);
        for (int e = 0; variables[i].words[e] && strncmp(own, variables[i].name, length) == 0;
             e++) {
            if (own[length] == '_' && strcmp(own + length + 1, variables[i].words[e]) == 0) {
                snprintf(name, name_bytes, PREFIX "%s", variables[i].name);
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
    int64_t values[PVAR_LOOK_MOST]; /* all of ours have 64 bits */

    return look->is_there && MPI_T_pvar_read(look->session, look->handle, values) == MPI_SUCCESS
               ? values[look->element]
               : missing;
}

void pvar_look_close(pvar_look_t *look)
{
    MPI_T_pvar_session_free(&look->session);
    MPI_T_finalize();
}
