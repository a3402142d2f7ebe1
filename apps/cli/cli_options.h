/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line of every program, as one table: a new option is one row. Parsed by getopt_long,
 * which allows "--name=value", "--name value", unique prefixes of names, and operands between
 * options.
 *
 * Not: configuration files, environment.
 * Units: each option's own.
 * Errors: one line with the option, its range and the given value.
 * Memory: strings point into argv; nothing is allocated.
 * Threads: one at a time (getopt's state is global), before others are started.
 */
#ifndef CLV_CLI_OPTIONS_H
#define CLV_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum clv_option_kind {
    CLV_OPTION_TEXT,    /* const char * */
    CLV_OPTION_REAL,    /* double */
    CLV_OPTION_WHOLE,   /* int64_t */
    CLV_OPTION_WHOLE32, /* int32_t */
    CLV_OPTION_FLAG,    /* bool, set to true; takes no value */
    CLV_OPTION_TAKE     /* take decides */
} clv_option_kind_t;

/* Returns NULL, or the permitted values: "auto, ends or none". fields: the struct that the table
 * fills. */
typedef const char *(*clv_option_take_t)(void *fields, const char *text);

typedef struct clv_option {
    const char *name; /* without dashes; NULL ends a table */
    clv_option_kind_t kind;
    size_t offset;       /* of the field to fill */
    double least, most;  /* of numbers, both inclusive */
    const char *preset;  /* the default as text; NULL: the field is left alone */
    const char *meaning; /* lines of the help */
    clv_option_take_t take;
    const char *value; /* placeholder in the help, such as FILE; NULL: by kind */
    char letter;       /* a short form, or 0 */
} clv_option_t;

/* Rows of a table. */
#define CLV_ROW_TEXT(name_, offset_, value_, preset_, meaning_)                                    \
    {                                                                                              \
        .name = (name_), .kind = CLV_OPTION_TEXT, .offset = (offset_), .preset = (preset_),        \
        .meaning = (meaning_), .value = (value_)                                                   \
    }
#define CLV_ROW_NUMBER(kind_, name_, offset_, least_, most_, preset_, meaning_)                    \
    {                                                                                              \
        .name = (name_), .kind = (kind_), .offset = (offset_), .least = (least_), .most = (most_), \
        .preset = (preset_), .meaning = (meaning_)                                                 \
    }
#define CLV_ROW_REAL(...)    CLV_ROW_NUMBER(CLV_OPTION_REAL, __VA_ARGS__)
#define CLV_ROW_WHOLE(...)   CLV_ROW_NUMBER(CLV_OPTION_WHOLE, __VA_ARGS__)
#define CLV_ROW_WHOLE32(...) CLV_ROW_NUMBER(CLV_OPTION_WHOLE32, __VA_ARGS__)
#define CLV_ROW_FLAG(name_, offset_, meaning_)                                                     \
    {                                                                                              \
        .name = (name_), .kind = CLV_OPTION_FLAG, .offset = (offset_), .meaning = (meaning_)       \
    }
#define CLV_ROW_TAKE(name_, take_, value_, preset_, meaning_)                                      \
    {                                                                                              \
        .name = (name_), .kind = CLV_OPTION_TAKE, .preset = (preset_), .meaning = (meaning_),      \
        .take = (take_), .value = (value_)                                                         \
    }
#define CLV_ROWS_END                                                                               \
    {                                                                                              \
        .name = NULL                                                                               \
    }

typedef struct clv_program {
    const char *name;
    const char *usage; /* the first lines of the help, without "usage: " */
    const clv_option_t *options;
    void (*more)(FILE *out); /* the rest of the help; may be NULL */
    bool takes_operands;
} clv_program_t;

typedef enum clv_asked {
    CLV_ASKED_RUN,
    CLV_ASKED_HELP,
    CLV_ASKED_VERSION,
    CLV_ASKED_WRONG /* with one line in reason */
} clv_asked_t;

/* Fills the fields: first the presets, then the values in argv. Operands are moved to the end of
 * argv; the first one is argv[*first_p]. */
clv_asked_t clv_options_parse(const clv_program_t *program, int argc, char **argv, void *fields,
                              int *first_p, char *reason, size_t reason_bytes);

/* The same for a main. Returns -1 to go on; 0 after --help or --version; 2 after one line on
 * standard error. Under mpirun only rank 0 prints, and the other processes fail a second later,
 * because a launcher ends the job with the first that fails. The launcher's variables give the
 * rank, before MPI_Init. From here on, a file that exceeds ulimit -f causes a write error. */
int clv_options_main(const clv_program_t *program, int argc, char **argv, void *fields,
                     int *first_p);

/* The first of the names, NULL-terminated, that the last parsed command line gave; or NULL. */
const char *clv_options_given(const char *const *names);

/* Prints "program: ..." and returns 2, for errors that only the program itself can find. */
int clv_options_wrong(const clv_program_t *program, const char *reason);

void clv_options_help(const clv_program_t *program, FILE *out);

/* Whether this process prints for all of an mpirun or srun: the launcher gave it rank 0, or there
 * is no launcher. */
bool clv_speaks_for_all(void);

/* Prints "program: reason" in the process that speaks for all, before the program fails. Launchers
 * end the job with the first process that fails, so the others wait for a second. */
void clv_tell_for_all(const char *program, const char *reason);

#endif
