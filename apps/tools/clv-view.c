/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-view: shows which rank was late at which collective, by how much, because of whom, and at
 * what cost, from the records of `mpirun --mca coll_clv_record DIR`. See clv-view.1 and
 * docs/guide/arrivals.md.
 *
 * Exit: 0, 1 no memory or output was lost, 2 bad arguments, no readable input, or a view that needs
 * missing data.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/cli/cli_options.h"
#include "apps/cli/cli_file.h"
#include "apps/tools/view/view.h"

typedef struct options {
    const char *folder;
    const char *format; /* of the export, or NULL */
    const char *page;   /* output file, or NULL */
    bool json;
    bool what_if; /* only the what-if view, with the curve */
    bool live;
    view_choice_t choice;
    view_network_t network;
} options_t;

#define DIGITS "0123456789"

/* Returns NULL, or the permitted form. */
static const char *take_calls(void *fields, const char *text)
{
    static const char wanted[] = "A:B, two numbers of calls";
    view_choice_t *choice = &((options_t *) fields)->choice;
    const size_t n_first = strspn(text, DIGITS);
    const char *second = text + n_first + 1;

    if (n_first == 0 || text[n_first] != ':' || *second == '\0' ||
        second[strspn(second, DIGITS)] != '\0') {
        return wanted;
    }
    const unsigned long long first = strtoull(text, NULL, 10), last = strtoull(second, NULL, 10);
    if (last > UINT32_MAX) {
        return "A:B with B at most 4294967295";
    }
    if (last < first) {
        return "A:B with A at most B";
    }
    choice->first_call = (uint32_t) first;
    choice->last_call = (uint32_t) last;
    return NULL;
}

static const char *take_ran(void *fields, const char *text)
{
    for (int i = 0; i <= CLV_WHAT_IF_CLV; i++) {
        if (strcmp(clv_what_if_ways[i].word, text) == 0) {
            ((options_t *) fields)->network.ran = clv_what_if_ways[i].word;
            return NULL;
        }
    }
    return "default, pipeline or clv";
}

static void list_formats(FILE *out)
{
    fprintf(out, "formats of --export: %s\n", view_exports);
}

#define AT(field) offsetof(options_t, field)

static const clv_option_t rows[] = {
    CLV_ROW_FLAG("json", AT(json), "print the numbers as JSON"),
    {.name = "page",
     .kind = CLV_OPTION_TEXT,
     .offset = AT(page),
     .value = "FILE",
     .letter = 'o',
     .meaning = "write a self-contained HTML page; with\n--export otf2 the folder of the archive"},
    CLV_ROW_TEXT("export", AT(format), "FORMAT", NULL, "every call, in this format"),
    CLV_ROW_WHOLE32("stream", AT(choice.stream), 0, INT32_MAX - 1, NULL,
                    "only this stream, by its number in the summary"),
    CLV_ROW_TAKE("calls", take_calls, "A:B", NULL,
                 "only calls A to B of each communicator, numbered from 0"),
    CLV_ROW_TEXT("ranks", AT(choice.ranks), "LIST", NULL,
                 "only these ranks of MPI_COMM_WORLD, such as 0,4-7"),
    CLV_ROW_FLAG("live", AT(live), "update the summary every second while the job runs; q quits"),
    CLV_ROW_FLAG("what-if", AT(what_if),
                 "only the times that other algorithms would have taken, in full"),
    CLV_ROW_REAL("latency-us", AT(network.latency_us), 0, 1e6, NULL,
                 "what-if: latency of a message; default 50 us"),
    CLV_ROW_REAL("gbit", AT(network.gbit), 1e-3, 1e5, NULL,
                 "what-if: Gb/s of a link; default: fitted to the record"),
    CLV_ROW_REAL("early-kib", AT(network.early_kib), 0, 1e6, NULL,
                 "what-if: KiB that a rank can send before its receiver\narrives"),
    CLV_ROW_TAKE("ran", take_ran, "WAY", NULL,
                 "what-if: the algorithm that ran: default, pipeline or clv;\nelse as recorded"),
    CLV_ROWS_END,
};

static const clv_program_t program = {
    .name = "clv-view",
    .usage = "clv-view [options] DIR\n"
             "Reads the record of a job (mpirun --mca coll_clv_record DIR) and shows which ranks\n"
             "were late at which collective, and what that cost. Without options: a summary of at\n"
             "most 40 lines.",
    .options = rows,
    .more = list_formats,
    .takes_operands = true,
};

static int write_page(const char *path, const view_t *view, const view_counts_t *counts,
                      const view_what_if_t *what_if)
{
    FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    struct stat status;

    if (file == NULL) {
        fprintf(stderr, "clv-view: %s: %s\n", path, strerror(errno));
        return 2;
    }
    char reason[512] = "out of memory";
    const bool done = view_print_page(file, view, counts, what_if);
    const bool is_ours =
        file != stdout && fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode);
    if (clv_output_close(file, path, reason, sizeof reason) != CLV_OK || !done) {
        fprintf(stderr, "clv-view: %s\n", reason);
        if (is_ours) {
            (void) unlink(path); /* remove an incomplete page */
        }
        return 1;
    }
    return 0;
}

static int show_counts(const options_t *options, const view_t *view, const view_counts_t *counts)
{
    view_what_if_t what_if;

    if (!view_find_what_if(view, &options->network, &what_if)) {
        fprintf(stderr, "clv-view: out of memory\n");
        return 1;
    }
    if (options->page != NULL) {
        return write_page(options->page, view, counts, &what_if);
    }
    if (options->json) {
        view_print_json(stdout, view, counts, &what_if);
    } else if (options->what_if) {
        view_print_what_if(stdout, &what_if, true);
    } else {
        view_print_summary(stdout, view, counts, &what_if);
    }
    return 0;
}

/* What -o does not write, of the views asked for; NULL: nothing. */
static const char *printed_view(const options_t *options)
{
    static const char *const formats[] = {"jsonl", "trace", "chrome"};
    static const char *const names[] = {"--export jsonl", "--export trace", "--export chrome"};

    for (size_t i = 0; options->format != NULL && i < sizeof formats / sizeof formats[0]; i++) {
        if (strcmp(options->format, formats[i]) == 0) {
            return names[i];
        }
    }
    return options->json      ? "--json"
           : options->what_if ? "--what-if"
           : options->live    ? "--live"
                              : NULL;
}

/* Returns -1, or the exit status after a message. */
static int check_page(const options_t *options)
{
    const char *printed = printed_view(options);
    char reason[160];

    if (options->page == NULL || printed == NULL) {
        return -1;
    }
    snprintf(reason, sizeof reason,
             "-o is for a page or --export otf2, not %s, which goes to standard output (> FILE)",
             printed);
    return clv_options_wrong(&program, reason);
}

static bool has_choice(const view_choice_t *choice)
{
    return choice->ranks != NULL || choice->stream >= 0 || choice->first_call > 0 ||
           choice->last_call < UINT32_MAX;
}

static int show(const options_t *options, const view_t *view)
{
    view_counts_t counts;
    int status = 1;

    if (options->choice.stream >= view->n_streams) {
        fprintf(stderr, "clv-view: there are %d streams, from 0 on\n", (int) view->n_streams);
        return 2;
    }
    if (view->n_cells == 0 && has_choice(&options->choice)) {
        fprintf(stderr, "clv-view: no recorded call fits --stream, --calls and --ranks\n");
        return 2;
    }
    if (options->format != NULL) {
        return view_export(stdout, view, options->format, options->choice.stream, options->page);
    }
    if (!view_count(view, &counts)) {
        fprintf(stderr, "clv-view: out of memory\n");
    } else if (counts.n_calls == 0 && options->choice.ranks != NULL) {
        fprintf(stderr,
                "clv-view: --ranks must name at least two ranks of a call, because lateness is "
                "relative\n");
        status = 2;
    } else {
        status = show_counts(options, view, &counts);
    }
    view_counts_free(&counts);
    return status;
}

int main(int argc, char **argv)
{
    options_t options = {.choice = {.stream = -1, .last_call = UINT32_MAX},
                         .network = {.latency_us = -1, .gbit = -1, .early_kib = -1}};
    view_t view;
    char reason[1200];
    int first;
    int status = clv_options_main(&program, argc, argv, &options, &first);

    if (status >= 0) {
        return status;
    }
    if (first + 1 != argc) {
        return clv_options_wrong(&program, "it takes one folder (--help)");
    }
    status = check_page(&options);
    if (status >= 0) {
        return status;
    }
    options.folder = argv[first];
    if (options.live) {
        return view_live(options.folder, &options.choice, &options.network);
    }
    if (view_load(options.folder, &options.choice, &view, reason, sizeof reason) != 0) {
        fprintf(stderr, "clv-view: %s\n", reason);
        status = 2;
    } else {
        status = show(&options, &view);
        status = status == 0 && view.is_partial ? 2 : status;
    }
    view_free(&view);
    return clv_output_end(&program, status);
}
