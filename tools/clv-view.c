/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-view: who was late at which collective, by how much, whose fault it was and what it cost, out
 * of what `mpirun --mca coll_clv_record DIR` recorded. See clv-view.1 and docs/guide/arrivals.md.
 *
 * Exit: 0, 1 no memory or what was written did not arrive, 2 bad arguments or nothing that can be
 * read.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/view/view.h"
#include "util/util_version.h"

typedef struct options {
    const char *folder;
    const char *format; /* of the export, or NULL */
    const char *page;   /* where it goes, or NULL */
    int json;
    view_choice_t choice;
} options_t;

static int usage(FILE *file, int status)
{
    fprintf(file,
            "usage: clv-view [options] DIR\n"
            "Who was late at which collective, and what it cost: out of what a job recorded with\n"
            "mpirun --mca coll_clv_record DIR. Without options a summary of at most 40 lines.\n\n"
            "  --json            the same numbers as JSON\n"
            "  -o, --page FILE   a page of HTML that needs nothing else\n"
            "  --export FORMAT   every call: %s\n"
            "  --stream N        only this stream, a number of the summary\n"
            "  --calls A:B       only calls A to B of each communicator, numbered from 0\n"
            "  --ranks LIST      only these ranks of MPI_COMM_WORLD, such as 0,4-7\n"
            "  --help, --version\n",
            view_exports);
    return status;
}

static int read_calls(const char *text, view_choice_t *choice)
{
    char *end = NULL;
    const unsigned long long first = strtoull(text, &end, 10);

    if (end == text || *end != ':' || text[0] == '-' || end[1] == '-') {
        return 0;
    }
    text = end + 1;
    const unsigned long long last = strtoull(text, &end, 10);
    if (end == text || *end != '\0' || last < first || last > UINT32_MAX) {
        return 0;
    }
    choice->first_call = (uint32_t) first;
    choice->last_call = (uint32_t) last;
    return 1;
}

static int read_stream(const char *text, view_choice_t *choice)
{
    char *end = NULL;
    const long stream = strtol(text, &end, 10);

    choice->stream = (int32_t) stream;
    return end != text && *end == '\0' && stream >= 0 && stream < INT32_MAX;
}

/* 0: go on; else 1 + the exit status. */
static int read_options(int argc, char **argv, options_t *options)
{
    static const struct option names[] = {
        {"json", no_argument, NULL, 'j'},         {"page", required_argument, NULL, 'o'},
        {"export", required_argument, NULL, 'e'}, {"stream", required_argument, NULL, 's'},
        {"calls", required_argument, NULL, 'c'},  {"ranks", required_argument, NULL, 'r'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
    int option, good = 1;

    while (good && (option = getopt_long(argc, argv, "ho:", names, NULL)) != -1) {
        switch (option) {
        case 'j':
            options->json = 1;
            break;
        case 'o':
            options->page = optarg;
            break;
        case 'e':
            options->format = optarg;
            break;
        case 's':
            good = read_stream(optarg, &options->choice);
            break;
        case 'c':
            good = read_calls(optarg, &options->choice);
            break;
        case 'r':
            options->choice.ranks = optarg;
            break;
        case 'h':
            return 1 + usage(stdout, 0);
        default:
            good = 0;
        }
    }
    options->folder = good && optind + 1 == argc ? argv[optind] : NULL;
    return options->folder == NULL ? 1 + usage(stderr, 2) : 0;
}

static int write_page(const char *path, const view_t *view, const view_counts_t *counts)
{
    FILE *file = fopen(path, "w");

    if (file == NULL) {
        perror(path);
        return 2;
    }
    const int done = view_print_page(file, view, counts), bad = ferror(file);
    if (fclose(file) != 0 || bad || !done) {
        fprintf(stderr, "clv-view: %s could not be written\n", path);
        return 1;
    }
    return 0;
}

static int show(const options_t *options, const view_t *view)
{
    view_counts_t counts;
    int status = 0;

    if (options->choice.stream >= view->n_streams) {
        fprintf(stderr, "clv-view: there are %d streams, from 0 on\n", (int) view->n_streams);
        return 2;
    }
    if (options->format != NULL) {
        return view_export(stdout, view, options->format, options->choice.stream);
    }
    if (!view_count(view, &counts)) {
        view_counts_free(&counts);
        fprintf(stderr, "clv-view: out of memory\n");
        return 1;
    }
    if (options->page != NULL) {
        status = write_page(options->page, view, &counts);
    } else if (options->json) {
        view_print_json(stdout, view, &counts);
    } else {
        view_print_summary(stdout, view, &counts);
    }
    view_counts_free(&counts);
    return status;
}

int main(int argc, char **argv)
{
    options_t options = {.choice = {.stream = -1, .last_call = UINT32_MAX}};
    view_t view;
    char reason[1200];
    int status;

    if (clv_tells_version("clv-view", argc, argv)) {
        return 0;
    }
    status = read_options(argc, argv, &options);
    if (status != 0) {
        return status - 1;
    }
    if (view_load(options.folder, &options.choice, &view, reason, sizeof reason) != 0) {
        fprintf(stderr, "clv-view: %s\n", reason);
        status = 2;
    } else {
        status = show(&options, &view);
    }
    view_free(&view);
    return status == 0 && fflush(stdout) != 0 ? 1 : status;
}
