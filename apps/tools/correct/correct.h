/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the files of clv-correct: reading an OTF2 archive into the types of the clc module,
 * choosing clocks and latencies, rewriting the archive, and the report.
 *
 * Units: ticks of at most 1 ns each; ticks_per_ns turns latencies into them. If the archive's timer
 * is slower than 1 GHz, one of its ticks is archive.scale of ours, and the result is written in our
 * ticks.
 * Failures: the first one is kept as one line (correct_fail) and determines the exit status;
 * functions return true on success, false on failure.
 */
#ifndef CLV_CORRECT_H
#define CLV_CORRECT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "apps/clc/clc.h"
#include "apps/clc/clc_match.h"
#include "apps/clc/clc_records.h"
#include "apps/clc/clc_refine.h"

#define CORRECT_EXIT_MACHINE  1
#define CORRECT_EXIT_INPUT    2
#define CORRECT_EXIT_VIOLATED 3

#define CORRECT_NOBODY UINT32_MAX

/* Larger stamps would leave no room for shifts; 73 years of nanoseconds. */
#define CORRECT_LARGEST_STAMP (INT64_C(1) << 61)

/* The latencies that the clock enforced, stored with the result, so that its own check uses the
 * same. Ticks, between and inside hosts. */
#define CORRECT_LATENCY_PROPERTY "CLV::LATENCY_TICKS"

typedef struct correct_options {
    const char *input, *output, *json, *chrome, *truth;
    const char **clocks;
    int n_clocks;
    int32_t n_threads;
    int64_t memory_mib;        /* 0: no limit */
    double inter_ns, intra_ns; /* below 0: auto */
    double gamma;              /* below 0: the default, twice if needed */
    double slope;
    bool is_line_per_process, is_check, has_dense_alltoallv, is_quiet;
    const char *shown; /* the input, unless that was converted */
    bool only_ends;    /* of the archive's offsets, only the first and last */
    bool no_presync;
    bool has_no_refinement; /* do not refine clocks by the trace's own messages */
} correct_options_t;

/* Events that the clock ignores because they cannot be right: XX(NAME, meaning). */
#define CORRECT_LEFT_MAP(XX)                                                                       \
    XX(UNKNOWN_COMM, "events of communicators that are not defined")                               \
    XX(NO_RECEIVER, "sends to ranks that their communicator does not have")                        \
    XX(NO_SENDER, "receives from ranks that their communicator does not have")                     \
    XX(NO_MEMBER, "collectives of processes that their communicator does not have")                \
    XX(NO_ROOT, "collectives with a root that their communicator does not have")                   \
    XX(ODD_OPERATION, "collectives of a kind that is not known")                                   \
    XX(NO_BEGIN, "ends of collectives without their begin")                                        \
    XX(OTHER_THREAD, "nonblocking collectives that another thread began")                          \
    XX(INTERCOMM, "collectives of intercommunicators")                                             \
    XX(ALLTOALLV, "alltoallv and alltoallw, who sends to whom is not known (--alltoallv dense)")

typedef enum correct_left {
#define CORRECT_LEFT_ENUM(name, what) CORRECT_LEFT_##name,
    CORRECT_LEFT_MAP(CORRECT_LEFT_ENUM)
#undef CORRECT_LEFT_ENUM
        CORRECT_N_LEFT
} correct_left_t;

typedef struct correct_host {
    uint32_t ref;
    uint32_t name; /* string references */
    uint32_t boot_id, time_namespace, clock;
} correct_host_t;

typedef struct correct_process {
    uint32_t ref, name, tree_node;
    int32_t host;
    bool has_threads; /* has locations other than metrics */
} correct_process_t;

typedef struct correct_location {
    uint64_t ref, n_defined;
    uint32_t process, name;
    int32_t host;
    bool is_metric;
    clv_clc_point_t *offsets; /* from the archive, with our sign */
    int64_t n_offsets, n_offset_slots;
    int64_t *truth;    /* per event, if requested */
    int64_t n_slots;   /* room for events */
    int64_t n_falling; /* stamps that decreased */
    bool is_away;      /* another process has its events */
} correct_location_t;

typedef struct correct_member {
    uint32_t process, member;
} correct_member_t;

typedef struct correct_comm {
    uint32_t ref, name;
    uint32_t group, other; /* other: intercommunicators only, else CORRECT_NOBODY */
    uint32_t n_members, n_others;
    uint32_t *processes, *others; /* by rank */
    correct_member_t *by_process; /* sorted */
    uint32_t *slots; /* index of each member among those of its process here; NULL: all are here */
    bool is_self;
} correct_comm_t;

/* The content of the definitions. */
typedef struct correct_archive {
    char *folder, *name; /* of the archive: FOLDER/NAME.otf2 and FOLDER/NAME/ */
    uint64_t timer, global_offset, length, realtime; /* as read; offset and length of the result */
    int64_t scale;                                   /* our ticks per tick of the timer */
    double ticks_per_ns;                             /* of our ticks */
    char **strings;
    uint32_t n_strings;
    correct_host_t *hosts;
    correct_process_t *processes;
    correct_location_t *locations;
    correct_comm_t *comms;
    uint32_t n_hosts, n_processes, n_locations, n_comms;
    uint32_t truth_attribute;
    char **regions; /* names by reference, for timelines */
    uint32_t n_regions;
    uint64_t n_definitions;
    uint32_t n_markers;
} correct_archive_t;

typedef enum correct_source {
    CORRECT_BY_RECORDS,
    CORRECT_BY_OFFSETS,
    CORRECT_BY_ENDS,
    CORRECT_BY_NOTHING
} correct_source_t;

/* The presynchronised clock of a host. */
typedef struct correct_map {
    clv_clc_map_t map;
    correct_source_t source;
    bool is_by_name;       /* matched by name, since the archive does not identify the boot */
    clv_clc_map_t refined; /* remaining offsets found from messages, in presynchronised time */
    clv_clc_point_t *refined_points;
} correct_map_t;

typedef struct correct_refinement {
    int64_t n_points, most; /* most: the largest move */
    uint32_t n_hosts;
} correct_refinement_t;

/* The stages of a stamp. */
typedef enum correct_stage {
    CORRECT_PRESYNCED,
    CORRECT_REFINED,
    CORRECT_CORRECTED,
    CORRECT_N_STAGES
} correct_stage_t;

/* Error of the lateness at collectives, relative to the true last rank. n_collectives 0: no
 * truth. */
typedef struct correct_truth {
    double mean_us, median_us, p95_us;
    int64_t n_collectives, n_wrong;
} correct_truth_t;

typedef struct correct_latency {
    int64_t inter, intra;             /* ticks */
    int64_t known_inter, known_intra; /* latencies this archive was corrected with; -1: unknown */
    const char *source;
    int n_halved;
} correct_latency_t;

typedef struct correct_result {
    clv_clc_tally_t before[CLV_CLC_MAX_OPS], refined[CLV_CLC_MAX_OPS], after[CLV_CLC_MAX_OPS];
    correct_truth_t truth[CORRECT_N_STAGES];
    clv_clc_forward_result_t forward;
    clv_clc_table4_t table4;
    double gamma, steepest;
    int n_passes;
    double read_s, correct_s, write_s;
} correct_result_t;

/* A location without its events. */
typedef struct correct_ends {
    int64_t n_events, n_falling;
    int64_t first_stamp, last_stamp, first_corrected, last_corrected;
} correct_ends_t;

/* Everything. */
typedef struct correct {
    correct_options_t options;
    correct_archive_t archive;
    clv_clc_trace_t trace;
    /* The messages received here, and some collectives with all their members: each logical message
     * belongs to one process. In a single process, it is the trace. */
    const clv_clc_trace_t *whole;
    const clv_clc_share_t *share; /* NULL: all is here */
    clv_clc_match_t *match;
    correct_ends_t *ends;         /* of all locations, for the report */
    clv_clc_left_out_t *left_out; /* of all processes, sorted */
    size_t n_left_out;
    uint64_t n_messages, n_collectives; /* of all processes */
    int64_t n_scratch_bytes;            /* of all processes, after reading */
    double true_inter_us, true_intra_us;
    uint32_t *track_of_line;
    clv_clc_sources_t records;
    correct_map_t *maps; /* per host, or per process */
    correct_refinement_t refinement;
    correct_latency_t latency;
    correct_result_t result;
    int64_t base; /* added to all times, so that none is negative */
    uint64_t n_events, n_left[CORRECT_N_LEFT], n_lost_requests;
    int64_t n_inside; /* reversed between ranks that share a clock: not correctable */
} correct_t;

/* ---- correct_fail.c ---- */
bool correct_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Replaces the first failure. */
bool correct_fail_as(int status, const char *line);
int correct_failed(void);          /* the status, 0 if none */
const char *correct_failure(void); /* the line */
/* Keeps OTF2's messages for our line instead of printing them. */
void correct_catch_otf2(void);
const char *correct_otf2_words(void);

/* ---- correct_store.c: memory for events, in a file beyond the limit ---- */
bool correct_store_open(int64_t memory_bytes, const char *folder);
void *correct_store_get(size_t n_items, size_t item_bytes); /* zeroed; NULL after correct_fail */
/* May be called before close; NULL does nothing. */
void correct_store_give_back(void *memory);
void correct_store_close(void);
int64_t correct_store_file_bytes(void);

/* ---- correct_definitions.c ---- */
bool correct_read_definitions(correct_t *correct);
void correct_free_archive(correct_archive_t *archive);
/* Converts a stamp of the archive to our ticks; CORRECT_LARGEST_STAMP if it is larger. */
int64_t correct_ticks(const correct_archive_t *archive, uint64_t raw);
const char *correct_string(const correct_archive_t *archive, uint32_t ref);
/* Index of a communicator or location; CORRECT_NOBODY if there is none. */
uint32_t correct_find_comm(const correct_archive_t *archive, uint32_t ref);
uint32_t correct_find_location(const correct_archive_t *archive, uint64_t ref);
uint32_t correct_member(const correct_comm_t *comm, uint32_t process);
/* The process that `rank` of comm denotes for `process`: in an intercommunicator, one of the other
 * group. */
uint32_t correct_peer(const correct_comm_t *comm, uint32_t process, uint32_t rank);

/* ---- correct_records.c: reading and writing every kind of record ---- */
bool correct_read_events(correct_t *correct);
bool correct_write(correct_t *correct);
void correct_remove_folder(const char *folder); /* with all in it */

/* ---- correct_clva.c ---- */

/* Whether the bytes are a file of the recorder, of any version. */
bool correct_is_clva(const char *bytes, size_t n_bytes);
/* The clock of its host, as text for clv_clc_records_read. The caller frees *text_p (or NULL),
 * after a failure too. CLV_UNSUPPORTED, CLV_PROTOCOL, CLV_NO_MEMORY, with a reason. */
clv_status_t correct_clva_as_lines(const char *bytes, size_t n_bytes, char **text_p,
                                   size_t *text_bytes_p, const char **reason_p) CLV_MUST_CHECK;

/* ---- correct_clocks.c ---- */
bool correct_presynchronise(correct_t *correct);
/* Maps the stamps so that they never decrease; corrected keeps the old ones. */
void correct_move_track(clv_clc_track_t *track, const clv_clc_map_t *map);
/* The number of clocks (of hosts, or of processes on request), and the clock of a process. */
uint32_t correct_n_clocks(const correct_t *correct);
uint32_t correct_clock_of(const correct_t *correct, uint32_t process);
void correct_free_maps(correct_t *correct);
const char *correct_source_name(correct_source_t source);
const correct_map_t *correct_map_of(const correct_t *correct, const correct_location_t *location);
int64_t correct_corrected_at(const correct_t *correct, uint32_t location, uint64_t raw);

/* ---- correct_refine.c ---- */
/* Afterwards, if refinement.n_points is not 0, stamps are refined ones, and messages hold them. */
bool correct_refine(correct_t *correct);

/* ---- correct_latency.c ---- */
/* The dependences of all messages, and of the collectives of few hosts, by the stamps that messages
 * hold. */
typedef struct correct_delay {
    int32_t from, to; /* hosts */
    int64_t sent, received;
    uint64_t at; /* the message or, after all messages, the collective */
} correct_delay_t;
typedef void (*correct_take_t)(void *context, const correct_delay_t *delay);
void correct_each_delay(const clv_clc_trace_t *trace, correct_take_t take, void *context);
bool correct_choose_latency(correct_t *correct);

/* ---- correct_truth.c ---- */
/* Leaves the stamps of `which` in the messages. */
bool correct_judge(correct_t *correct, clv_clc_which_t which, correct_truth_t *truth);
/* The minimum true delays of messages; -1: none. Messages hold the truth afterwards. */
void correct_find_true_delays(correct_t *correct);

/* ---- correct_run.c ---- */
bool correct_make_lines(correct_t *correct);
/* The first and last stamp overall; both 0 without events. */
void correct_span(const correct_t *correct, clv_clc_which_t which, int64_t *first, int64_t *last);
void correct_place(const correct_t *correct, clv_clc_which_t which);
void correct_count(const correct_t *correct, const clv_clc_config_t *config,
                   clv_clc_tally_t *tallies);
bool correct_run(correct_t *correct);

/* ---- correct_report.c ---- */
extern const char *const correct_op_names[CLV_CLC_MAX_OPS];
void correct_warn_of_shift(const correct_t *correct); /* on stderr, if a shift is too long */
void correct_report(const correct_t *correct, FILE *out);
/* Closes an output file, standard output ("-") excepted; fails unless all of it was written. */
bool correct_close(FILE *out, const char *path);
bool correct_report_json(const correct_t *correct);

/* ---- correct_chrome.c ---- */
bool correct_chrome(correct_t *correct);

#endif
