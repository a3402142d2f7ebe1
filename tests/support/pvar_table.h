/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The performance variables of the component with the words of their elements, from the tables that
 * register them: for the page about them and for programs that read one by name. Header only, as
 * such programs are also compiled alone.
 */
#ifndef CLV_TEST_PVAR_TABLE_H
#define CLV_TEST_PVAR_TABLE_H

#include "choose/choose_algorithms.h"
#include "choose/choose_collectives.h"
#include "choose/choose_reasons.h"
#include "coll_clv/coll_clv_tables.h"

#define PVAR_PREFIX        "coll_clv_"
#define PVAR_MOST_ELEMENTS 64

typedef struct pvar_element {
    const char *word, *meaning;
} pvar_element_t;

/* clang-format off */
#define PVAR_ELEMENT(word, meaning) {#word, meaning},
#define PVAR_REASON(code, name, text) {#name, text},
#define PVAR_ALGORITHM(code, word, collectives, how, order, traits, unfit, meaning) {#word, meaning},
#define PVAR_COLLECTIVE(to, code, name, mpi, goal, root, op, counts, result, bytes, least)         \
    {#name, mpi},
/* clang-format on */

/* Each ends in a row without a word. */
static const pvar_element_t pvar_elements_COLLECTIVE[] = {
    CLV_COLLECTIVE_MAP(PVAR_COLLECTIVE, ){NULL, NULL}};
static const pvar_element_t pvar_elements_ALGORITHM[] = {
    CLV_ALGORITHM_MAP(PVAR_ALGORITHM){NULL, NULL}};
static const pvar_element_t pvar_elements_REASON[] = {CLV_REASON_MAP(PVAR_REASON){NULL, NULL}};
static const pvar_element_t pvar_elements_CLASS[] = {COLL_CLV_CLASS_MAP(PVAR_ELEMENT){NULL, NULL}};
static const pvar_element_t pvar_elements_AHEAD[] = {COLL_CLV_AHEAD_MAP(PVAR_ELEMENT){NULL, NULL}};
static const pvar_element_t pvar_elements_WAIT[] = {COLL_CLV_WAIT_MAP(PVAR_ELEMENT){NULL, NULL}};
static const pvar_element_t pvar_elements_ONE[] = {{NULL, NULL}};

#undef PVAR_ELEMENT
#undef PVAR_REASON
#undef PVAR_ALGORITHM
#undef PVAR_COLLECTIVE

static const struct pvar_row {
    const char *name, *kind, *reader, *meaning; /* name: without the prefix */
    const pvar_element_t *elements;             /* of an array; else none */
} pvar_rows[] = {
#define PVAR_ROW(name, kind, source, first, second, elements, reader, meaning)                     \
    {#name, #kind, reader, meaning, pvar_elements_##elements},
    COLL_CLV_PVAR_MAP(PVAR_ROW)
#undef PVAR_ROW
};
#define N_PVAR_ROWS (sizeof pvar_rows / sizeof pvar_rows[0])

static inline int pvar_count_elements(const struct pvar_row *row)
{
    int n = 0;

    while (row->elements[n].word) {
        n++;
    }
    return n;
}

#endif
