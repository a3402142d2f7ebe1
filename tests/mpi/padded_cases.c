/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reductions whose operation writes whole structs, as C programs do: with padding, with fields that
 * the datatype leaves out, at the alignment of the struct, and of types whose lower bound or extent
 * is negative. Checked are the results, what lies around the vectors, and guards around what the
 * component has from the heap (guarded_heap.h).
 *
 *   padded_cases COLLECTIVE ALGORITHM...    each algorithm is forced on a communicator of its own
 *
 * Lines of rank 0: "padded: ring: 80 of 80 calls ran it, 0 wrong, 0 overruns of 123 blocks"; no
 * blocks under valgrind, which brings its own heap. Exit: 0 when nothing was wrong.
 * Open MPI's own buffers bear fewer of the types: algorithms that may use them run only those.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mpi/guarded_heap.h"
#include "tests/mpi/pvar_look.h"

enum { MAX_PIECES = 3, MAX_BYTES = 1000, LINE = 64, MARGIN = 1024, PATTERN = 0x5a };

/* A struct, and what of it is described. */
typedef struct kind {
    const char *name;
    int n_bytes;
    int alignment;
    int key; /* of the double in it: least wins */
    int n_pieces;
    int offsets[MAX_PIECES], lengths[MAX_PIECES];
    int at;   /* which of its bytes MPI's address points to */
    int step; /* from one to the next in the vector */
    int is_for_all;
} kind_t;

static const kind_t kinds[] = {
    {"padding at the end", 16, 8, 0, 2, {0, 8}, {8, 4}, 0, 16, 1},
    {"padding within", 24, 8, 8, 3, {0, 8, 16}, {4, 8, 8}, 0, 24, 1},
    {"the first field of a record", 1000, 8, 0, 1, {0}, {8}, 0, 1000, 0},
    {"the last field of a record", 1000, 8, 992, 1, {992}, {8}, 0, 1000, 0},
    {"aligned to 16 bytes", 32, 16, 0, 2, {0, 16}, {16, 4}, 0, 32, 0},
    {"aligned to a cache line", 64, 64, 8, 1, {8}, {8}, 0, 64, 0},
    {"negative lower bound", 48, 16, 8, 2, {8, 24}, {8, 4}, 32, 48, 0},
    {"negative extent", 32, 16, 8, 1, {8}, {12}, 0, -32, 0},
};
#define N_KINDS ((int) (sizeof kinds / sizeof *kinds))

static const int counts[] = {1, 2, 5, 97, 1031};
#define N_COUNTS ((int) (sizeof counts / sizeof *counts))

static const kind_t *kind; /* of the call under way */
static int n_misaligned, is_allreduce;

/* ---- elements -------------------------------------------------------------------------------- */

static double key_of(const char *element)
{
    double key;

    memcpy(&key, element + kind->key, sizeof key);
    return key;
}

static void fill(char *element, double key)
{
    for (int p = 0; p < kind->n_pieces; p++) {
        memset(element + kind->offsets[p], (int) key + p, (size_t) kind->lengths[p]);
    }
    memcpy(element + kind->key, &key, sizeof key);
}

static int is_equal(const char *element, double key)
{
    char want[MAX_BYTES];

    fill(want, key);
    for (int p = 0; p < kind->n_pieces; p++) {
        const int at = kind->offsets[p];
        if (memcmp(element + at, want + at, (size_t) kind->lengths[p]) != 0) {
            return 0;
        }
    }
    return 1;
}

/* The whole struct is written in any case. */
static void least(void *in, void *inout, int *count, MPI_Datatype *type)
{
    char chosen[MAX_BYTES];

    (void) type;
    for (int i = 0; i < *count; i++) {
        const char *a = (const char *) in - kind->at + (ptrdiff_t) i * kind->step;
        char *b = (char *) inout - kind->at + (ptrdiff_t) i * kind->step;
        n_misaligned += ((uintptr_t) a | (uintptr_t) b) % (uintptr_t) kind->alignment != 0;
        memcpy(chosen, key_of(a) < key_of(b) ? a : b, (size_t) kind->n_bytes);
        memcpy(b, chosen, (size_t) kind->n_bytes);
    }
}

static double number(int i, int rank)
{
    return (double) ((i * 7919 + rank * 104729) % 10007);
}

static MPI_Datatype make_type(void)
{
    MPI_Aint displacements[MAX_PIECES];
    MPI_Datatype plain, type;

    for (int p = 0; p < kind->n_pieces; p++) {
        displacements[p] = kind->offsets[p] - kind->at;
    }
    MPI_Type_create_hindexed(kind->n_pieces, kind->lengths, displacements, MPI_BYTE, &plain);
    MPI_Type_create_resized(plain, -kind->at, kind->step, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&plain);
    return type;
}

/* ---- vectors --------------------------------------------------------------------------------- */

typedef struct vector {
    char *memory;
    size_t n_bytes; /* with margins */
    char *first;    /* struct */
    char *base;     /* for MPI */
} vector_t;

static vector_t make_vector(int count)
{
    const size_t elements = (size_t) count * (size_t) kind->n_bytes;
    vector_t v = {.n_bytes = (elements + LINE - 1) / LINE * LINE + 2 * MARGIN};

    v.memory = aligned_alloc(LINE, v.n_bytes);
    if (v.memory == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 2);
        exit(2);
    }
    memset(v.memory, PATTERN, v.n_bytes);
    v.first = v.memory + MARGIN + (kind->step < 0 ? elements - (size_t) kind->n_bytes : 0);
    v.base = v.first + kind->at;
    return v;
}

static void fill_vector(vector_t *v, int count, int rank)
{
    for (int i = 0; i < count; i++) {
        fill(v->first + (ptrdiff_t) i * kind->step, number(i, rank));
    }
}

static int margins_are_whole(const vector_t *v, int count)
{
    const size_t end = MARGIN + (size_t) count * (size_t) kind->n_bytes;

    for (size_t i = 0; i < v->n_bytes; i++) {
        if ((i < MARGIN || i >= end) && v->memory[i] != PATTERN) {
            return 0;
        }
    }
    return 1;
}

static int is_right(const vector_t *v, int count, int n_ranks)
{
    for (int i = 0; i < count; i++) {
        double want = number(i, 0);
        for (int r = 1; r < n_ranks; r++) {
            want = number(i, r) < want ? number(i, r) : want;
        }
        if (!is_equal(v->first + (ptrdiff_t) i * kind->step, want)) {
            return 0;
        }
    }
    return 1;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static int say(const char *what, int count, int rank)
{
    printf("# WRONG: %s: %s, count %d, rank %d\n", what, kind->name, count, rank);
    fflush(stdout);
    return 1;
}

static int check(MPI_Datatype type, MPI_Op op, int count, int root, int in_place, MPI_Comm comm)
{
    vector_t sent = make_vector(count), before = make_vector(count), result = make_vector(count);
    int rank, n_ranks, wrong = 0;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    const int has_result = is_allreduce || rank == root;
    in_place = in_place && has_result;
    fill_vector(in_place ? &result : &sent, count, rank);
    memcpy(before.memory, sent.memory, sent.n_bytes);
    const void *from = in_place ? MPI_IN_PLACE : sent.base;
    if (is_allreduce) {
        MPI_Allreduce(from, result.base, count, type, op, comm);
    } else {
        MPI_Reduce(from, has_result ? result.base : NULL, count, type, op, root, comm);
    }
    if (has_result && !is_right(&result, count, n_ranks)) {
        wrong += say("the result", count, rank);
    }
    if (!margins_are_whole(&result, count)) {
        wrong += say("around the result", count, rank);
    }
    if (memcmp(before.memory, sent.memory, sent.n_bytes) != 0) {
        wrong += say("what was sent", count, rank);
    }
    free(sent.memory);
    free(before.memory);
    free(result.memory);
    return wrong;
}

static int check_kind(MPI_Op op, MPI_Comm comm, int *n_calls_p)
{
    MPI_Datatype type = make_type();
    int n_ranks, rank, wrong = 0;

    MPI_Comm_size(comm, &n_ranks);
    MPI_Comm_rank(comm, &rank);
    n_misaligned = 0;
    for (int c = 0; c < N_COUNTS; c++) {
        for (int in_place = 0; in_place < 2; in_place++, ++*n_calls_p) {
            wrong += check(type, op, counts[c], *n_calls_p % n_ranks, in_place, comm);
        }
    }
    if (n_misaligned > 0) {
        wrong += say("alignment in the operation", 0, rank);
    }
    MPI_Type_free(&type);
    return wrong;
}

/* ---- algorithms ------------------------------------------------------------------------------ */

/* For communicators from here on. */
static int force(const char *collective, const char *algorithm)
{
    char name[64], text[64];
    int at, n_items, count, length = sizeof text, value, done = 0, x;
    MPI_T_cvar_handle handle;
    MPI_Datatype type;
    MPI_T_enum words;

    snprintf(name, sizeof name, "coll_clv_%s_algorithm", collective);
    if (MPI_T_cvar_get_index(name, &at) != MPI_SUCCESS ||
        MPI_T_cvar_get_info(at, NULL, NULL, &x, &type, &words, NULL, NULL, &x, &x) != MPI_SUCCESS ||
        MPI_T_enum_get_info(words, &n_items, text, &length) != MPI_SUCCESS) {
        return 0;
    }
    MPI_T_cvar_handle_alloc(at, NULL, &handle, &count);
    for (int i = 0; i < n_items && !done; i++) {
        length = sizeof text;
        MPI_T_enum_get_item(words, i, &value, text, &length);
        done = strcmp(text, algorithm) == 0 && MPI_T_cvar_write(handle, &value) == MPI_SUCCESS;
    }
    MPI_T_cvar_handle_free(&handle);
    return done;
}

/* Whether buffers may be Open MPI's. */
static int is_stock(const char *algorithm)
{
    static const char *const words[] = {"auto", "previous", "binomial", "rabenseifner",
                                        "two_levels"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i], algorithm) == 0) {
            return 1;
        }
    }
    return 0;
}

static long everywhere(long n)
{
    MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return n;
}

static int run(const char *collective, const char *algorithm, MPI_Op op)
{
    char name[64];
    pvar_look_t ran;
    MPI_Comm comm;
    int rank, n_calls = 0, wrong = 0;

    snprintf(name, sizeof name, "coll_clv_ran_%s", algorithm);
    if (!force(collective, algorithm)) {
        return 1;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    pvar_look_open(&ran, name);
    for (int k = 0; k < N_KINDS; k++) {
        kind = &kinds[k];
        if (kind->is_for_all || !is_stock(algorithm)) {
            wrong += check_kind(op, comm, &n_calls);
        }
    }
    const long long n_ran = pvar_look_read(&ran, n_calls);
    pvar_look_close(&ran);
    MPI_Comm_free(&comm);
    const long n_overruns = everywhere(guarded_heap_overruns());
    const long n_blocks = everywhere(guarded_heap_blocks());
    wrong = (int) everywhere(wrong);
    if (rank == 0) {
        printf("padded: %s: %lld of %d calls ran it, %d wrong, %ld overruns of %ld blocks\n",
               algorithm, n_ran, n_calls, wrong, n_overruns, n_blocks);
    }
    return wrong > 0 || n_overruns > 0;
}

int main(int argc, char **argv)
{
    MPI_Op op;
    int provided, failed = 0;

    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    if (argc < 3 || !guarded_heap_begin()) {
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    is_allreduce = strcmp(argv[1], "allreduce") == 0;
    MPI_Op_create(least, 1, &op);
    for (int i = 2; i < argc; i++) {
        failed |= run(argv[1], argv[i], op);
    }
    MPI_Op_free(&op);
    MPI_T_finalize();
    MPI_Finalize();
    return failed;
}
