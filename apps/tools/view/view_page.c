/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The page: one file of HTML that needs no network, with the numbers and the maps of lateness as
 * JSON in it (see view.h). Its text is page.html beside this file; the build converts it to C.
 *
 * Bounds: a map has at most 1200 x 512 cells; maps of single streams 600 x 256, for six streams; at
 * most 20,000 bars of single calls. So a page is below 3 MB for any record of up to 1,024 ranks.
 */
#include "apps/tools/view/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/cli_json.h"
#include "util/util_alloc.h"
#include "util/util_min_max.h"

#define MAX_COLUMNS  1200
#define MAX_ROWS     512
#define MAX_MAPS     6 /* of single streams */
#define MAX_BARS     20000
#define NOT_RECORDED 255

static const char *const page_lines[] = {
#include "apps/tools/view/page_lines.inc"
};

/* A call of any communicator, ordered by first arrival. */
typedef struct place {
    int32_t comm, call;
    int64_t first_ns, wait_ns;
    int32_t order, last; /* last: the rank of the job, -1: unknown */
} place_t;

typedef struct page {
    FILE *file;
    const view_t *view;
    const view_counts_t *counts;
    const view_what_if_t *what_if;
    place_t *places;
    int32_t n_places;
    int32_t *row_of, *rank_of; /* rank of the job to its row, by nodes; and back */
} page_t;

/* ---- calls in order -------------------------------------------------------------------------- */

static int first_first(const void *a, const void *b)
{
    const place_t *one = a, *other = b;

    return one->first_ns < other->first_ns ? -1 : one->first_ns > other->first_ns;
}

static int longest_wait_first(const void *a, const void *b)
{
    const place_t *one = a, *other = b;

    if (one->wait_ns != other->wait_ns) {
        return one->wait_ns > other->wait_ns ? -1 : 1;
    }
    return one->order - other->order;
}

static int in_order(const void *a, const void *b)
{
    return ((const place_t *) a)->order - ((const place_t *) b)->order;
}

static void add_places(page_t *page, int32_t comm_at, clv_numbers_rank_t *ranks)
{
    const view_comm_t *comm = &page->view->comms[comm_at];
    clv_numbers_call_t numbers;

    for (int32_t i = 0; i < comm->n_calls; i++) {
        view_numbers(comm, i, ranks, &numbers);
        if (numbers.n_present >= 2) {
            page->places[page->n_places++] =
                (place_t){.comm = comm_at,
                          .call = i,
                          .first_ns = numbers.first_ns,
                          .wait_ns = numbers.wait_ns,
                          .last = numbers.last_rank < 0 ? -1 : comm->members[numbers.last_rank]};
        }
    }
}

static bool find_places(page_t *page)
{
    const view_t *view = page->view;
    clv_numbers_rank_t *ranks = clv_alloc((size_t) view->n_ranks, sizeof *ranks);
    int64_t n = 0;

    for (int32_t i = 0; i < view->n_comms; i++) {
        n += view->comms[i].n_calls;
    }
    page->places = clv_alloc((size_t) n + 1, sizeof *page->places);
    for (int32_t i = 0; ranks != NULL && page->places != NULL && i < view->n_comms; i++) {
        add_places(page, i, ranks);
    }
    if (page->places != NULL) {
        qsort(page->places, (size_t) page->n_places, sizeof *page->places, first_first);
    }
    for (int32_t i = 0; page->places != NULL && i < page->n_places; i++) {
        page->places[i].order = i;
    }
    clv_free(ranks);
    return ranks != NULL && page->places != NULL;
}

/* Rows are ordered by node; missing nodes come last. */
static bool find_rows(page_t *page)
{
    const view_t *view = page->view;
    int32_t row = 0;

    page->row_of = clv_alloc((size_t) view->n_ranks, sizeof *page->row_of);
    page->rank_of = clv_alloc((size_t) view->n_ranks, sizeof *page->rank_of);
    if (page->row_of == NULL || page->rank_of == NULL) {
        return false;
    }
    for (int32_t node = 0; node <= view->n_nodes; node++) {
        for (int32_t rank = 0; rank < view->n_ranks; rank++) {
            if (view->node_of[rank] == (node < view->n_nodes ? node : -1)) {
                page->rank_of[row] = rank;
                page->row_of[rank] = row++;
            }
        }
    }
    return true;
}

/* ---- a map ----------------------------------------------------------------------------------- */

typedef struct map {
    int32_t stream; /* -1: all */
    int32_t n_calls, columns, rows;
    double *sum_ns;
    int32_t *n;
    int32_t *last; /* by column, a row; -1: unknown, or several calls */
} map_t;

static bool is_of(const page_t *page, const map_t *map, const place_t *place)
{
    return map->stream < 0 || page->view->comms[place->comm].stream[place->call] == map->stream;
}

static void add_call(const page_t *page, map_t *map, const place_t *place, int32_t at)
{
    const view_comm_t *comm = &page->view->comms[place->comm];
    const int64_t *arrival_ns = comm->arrival_ns + (size_t) place->call * (size_t) comm->n_ranks;
    const int64_t column = (int64_t) at * map->columns / map->n_calls;

    for (int32_t i = 0; i < comm->n_ranks; i++) {
        if (arrival_ns[i] != CLV_NUMBERS_NO_TIME) {
            const int64_t row =
                (int64_t) page->row_of[comm->members[i]] * map->rows / page->view->n_ranks;
            map->sum_ns[row * map->columns + column] += (double) (arrival_ns[i] - place->first_ns);
            map->n[row * map->columns + column]++;
        }
    }
    map->last[column] =
        map->columns == map->n_calls && map->rows == page->view->n_ranks && place->last >= 0
            ? page->row_of[place->last]
            : -1;
}

/* Equal ratios from 1 us (0) to 10 s (254). */
static unsigned char code_of(double sum_ns, int32_t n)
{
    if (n == 0) {
        return NOT_RECORDED;
    }
    const double us = sum_ns / n / 1e3;
    const double code = us > 1 ? 254 * log10(us) / 7 + 0.5 : 0;
    return (unsigned char) (code < 254 ? code : 254);
}

static void put_base64(FILE *file, const map_t *map)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const int64_t n = (int64_t) map->columns * map->rows;

    for (int64_t i = 0; i < n; i += 3) {
        unsigned char bytes[3] = {0};
        for (int64_t k = i; k < i + 3 && k < n; k++) {
            bytes[k - i] = code_of(map->sum_ns[k], map->n[k]);
        }
        fputc(digits[bytes[0] >> 2], file);
        fputc(digits[(bytes[0] & 3) << 4 | bytes[1] >> 4], file);
        fputc(i + 1 < n ? digits[(bytes[1] & 15) << 2 | bytes[2] >> 6] : '=', file);
        fputc(i + 2 < n ? digits[bytes[2] & 63] : '=', file);
    }
}

/* Writes the hosts at the side of the map. */
static void put_bands(const page_t *page, const map_t *map)
{
    const view_t *view = page->view;
    const char *between = "";
    int32_t first = 0;

    fputs("\"bands\":[", page->file);
    while (first < view->n_ranks) {
        const int32_t node = view->node_of[page->rank_of[first]];
        int32_t end = first;
        while (end < view->n_ranks && view->node_of[page->rank_of[end]] == node) {
            end++;
        }
        fprintf(page->file, "%s{\"first\":%.3f,\"rows\":%.3f,\"missing\":%d,\"name\":", between,
                (double) first * map->rows / view->n_ranks,
                (double) (end - first) * map->rows / view->n_ranks, node < 0);
        clv_json_put_text(page->file, node < 0 ? "not recorded" : view->nodes[node].head.host);
        fputs("}", page->file);
        between = ",";
        first = end;
    }
    fputs("]", page->file);
}

static void put_rows(const page_t *page, const map_t *map)
{
    const int32_t n_ranks = page->view->n_ranks;

    fputs("\"rows_of\":[", page->file);
    for (int64_t row = 0; row < map->rows; row++) {
        const int64_t first = (row * n_ranks + map->rows - 1) / map->rows;
        const int64_t end = ((row + 1) * n_ranks + map->rows - 1) / map->rows;
        fprintf(page->file, end - first > 1 ? "%s\"rank %d and %d more\"" : "%s\"rank %d\"",
                row > 0 ? "," : "", (int) page->rank_of[first], (int) (end - first - 1));
    }
    fputs("],", page->file);
}

static void put_map(const page_t *page, const map_t *map)
{
    char name[VIEW_NAME_BYTES] = "all recorded operations";

    if (map->stream >= 0) {
        view_stream_name(page->view, map->stream, name, sizeof name);
    }
    fputs("{\"name\":", page->file);
    clv_json_put_text(page->file, name);
    fprintf(page->file, ",\"stream\":%d,\"calls\":%d,\"columns\":%d,\"rows\":%d,\"late\":\"",
            (int) map->stream, (int) map->n_calls, (int) map->columns, (int) map->rows);
    put_base64(page->file, map);
    fputs("\",\"last\":[", page->file);
    for (int32_t i = 0; i < map->columns; i++) {
        fprintf(page->file, "%s%d", i > 0 ? "," : "", (int) map->last[i]);
    }
    fputs("],", page->file);
    put_rows(page, map);
    put_bands(page, map);
    fputs("}", page->file);
}

static bool make_map(const page_t *page, int32_t stream, int32_t columns, int32_t rows)
{
    map_t map = {.stream = stream};
    int32_t at = 0;

    for (int32_t i = 0; i < page->n_places; i++) {
        map.n_calls += is_of(page, &map, &page->places[i]);
    }
    map.columns = (int32_t) clv_smaller(columns, map.n_calls);
    map.rows = (int32_t) clv_smaller(rows, page->view->n_ranks);
    const size_t n = (size_t) map.columns * (size_t) map.rows;
    map.sum_ns = clv_alloc(n, sizeof *map.sum_ns);
    map.n = clv_alloc(n, sizeof *map.n);
    map.last = clv_alloc((size_t) map.columns, sizeof *map.last);
    const bool is_there = map.sum_ns != NULL && map.n != NULL && map.last != NULL;
    for (int32_t i = 0; is_there && i < page->n_places; i++) {
        if (is_of(page, &map, &page->places[i])) {
            add_call(page, &map, &page->places[i], at++);
        }
    }
    if (is_there) {
        put_map(page, &map);
    }
    clv_free(map.sum_ns);
    clv_free(map.n);
    clv_free(map.last);
    return is_there;
}

static bool put_maps(const page_t *page)
{
    bool done;

    fputs("{\"maps\":[", page->file);
    done = page->n_places == 0 || make_map(page, -1, MAX_COLUMNS, MAX_ROWS);
    for (int32_t i = 0; done && i < page->view->n_streams && i < MAX_MAPS; i++) {
        if (page->counts->streams[i].n_calls > 1) {
            fputs(",\n", page->file);
            done = make_map(page, page->counts->streams[i].stream, MAX_COLUMNS / 2, MAX_ROWS / 2);
        }
    }
    fputs("],\n\"calls\":[", page->file);
    return done;
}

/* ---- calls in full --------------------------------------------------------------------------- */

static void put_choice(const page_t *page, const view_comm_t *comm, int32_t call)
{
    const clv_clva_head_t *head = view_any_head(page->view);
    int length = 0, why_length = 0;
    const char *word = clv_clva_word(head->choices, comm->choice[call], &length);
    const char *why = clv_clva_word(head->reasons, comm->reason[call], &why_length);

    if (comm->choice[call] != CLV_CLVA_NOT_OURS && word != NULL && why != NULL) {
        fprintf(page->file, ",\"choice\":\"%.*s\",\"reason\":\"%.*s\"", length, word, why_length,
                why);
    }
}

static void put_call(const page_t *page, const place_t *place)
{
    const view_comm_t *comm = &page->view->comms[place->comm];
    const size_t first = (size_t) place->call * (size_t) comm->n_ranks;
    const char *between = "";
    char name[VIEW_NAME_BYTES];

    view_stream_name(page->view, comm->stream[place->call], name, sizeof name);
    fprintf(page->file,
            "{\"order\":%d,\"number\":%u,\"wait_ns\":%lld,\"name\":", (int) place->order,
            (unsigned) comm->number[place->call], (long long) place->wait_ns);
    clv_json_put_text(page->file, name);
    put_choice(page, comm, place->call);
    fprintf(page->file, ",\"request\":%d", comm->how != CLV_CLVA_HOW_BLOCKING);
    fputs(",\"ranks\":[", page->file);
    for (int32_t i = 0; i < comm->n_ranks; i++) {
        if (comm->arrival_ns[first + (size_t) i] == CLV_NUMBERS_NO_TIME) {
            continue;
        }
        const size_t cell = first + (size_t) i;
        fprintf(page->file, "%s[%d,%lld,%lld,", between, (int) comm->members[i],
                (long long) (comm->arrival_ns[cell] - place->first_ns),
                (long long) (comm->exit_ns[cell] - place->first_ns));
        fprintf(page->file, comm->predicted_ns[cell] == CLV_CLVA_NO_FORECAST ? "null]" : "%u]",
                (unsigned) comm->predicted_ns[cell]);
        between = ",";
    }
    fputs("]}", page->file);
}

/* Writes all calls, or those with the longest waits. */
static void put_calls(page_t *page)
{
    const int32_t most = (int32_t) clv_larger(1, MAX_BARS / page->view->n_ranks);
    const int32_t n = (int32_t) clv_smaller(most, page->n_places);

    if (n < page->n_places) {
        qsort(page->places, (size_t) page->n_places, sizeof *page->places, longest_wait_first);
        qsort(page->places, (size_t) n, sizeof *page->places, in_order);
    }
    for (int32_t i = 0; i < n; i++) {
        fputs(i > 0 ? ",\n" : "\n", page->file);
        put_call(page, &page->places[i]);
    }
    fputs("]}", page->file);
}

/* ---- the page -------------------------------------------------------------------------------- */

/* Writes the text for a word of the template; false: failed. */
static bool put_part(page_t *page, const char *word)
{
    if (strncmp(word, "@NUMBERS@", 9) == 0) {
        view_print_json(page->file, page->view, page->counts, page->what_if);
        return true;
    }
    if (!put_maps(page)) {
        return false;
    }
    put_calls(page);
    return true;
}

bool view_print_page(FILE *file, const view_t *view, const view_counts_t *counts,
                     const view_what_if_t *what_if)
{
    page_t page = {.file = file, .view = view, .counts = counts, .what_if = what_if};
    bool done = find_places(&page) && find_rows(&page);

    for (size_t i = 0; done && i < sizeof page_lines / sizeof page_lines[0]; i++) {
        const char *line = page_lines[i], *word = strchr(line, '@');
        const bool is_part = word != NULL && (strncmp(word, "@NUMBERS@", 9) == 0 ||
                                              strncmp(word, "@DETAIL@", 8) == 0);
        if (is_part) {
            fwrite(line, 1, (size_t) (word - line), file);
            done = put_part(&page, word);
            line = strchr(word + 1, '@') + 1;
        }
        fputs(line, file);
        fputc('\n', file);
    }
    clv_free(page.places);
    clv_free(page.row_of);
    clv_free(page.rank_of);
    return done;
}
