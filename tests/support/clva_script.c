/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes the .clva files of a fictitious job from a script of its calls, on nodes whose clocks
 * differ by an hour.
 *
 * usage: clva-script FOLDER NODES RANKS_PER_NODE [BOUND_NS] < SCRIPT
 *
 * A line of the script is a call, in the order in which ranks make them:
 *      OP[:ROOT] RANKS ARRIVAL-EXIT ...      allreduce 0,1,2 100-250 240-250 90-250
 * with times in us for each of the ranks in turn. Each set of ranks is a communicator. # begins a
 * comment. BOUND_NS: bound of the clock lines, 0 on node 0 (default 0). Vectors have 8 bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "record/record_clva.h"

#define NS_PER_HOUR INT64_C(3600000000000)
#define MAX_RANKS   64
#define MAX_THINGS  256 /* communicators, streams */
#define US          1000

typedef struct comm {
    int32_t n, members[MAX_RANKS];
    uint32_t n_calls;
} comm_t;

typedef struct made {
    int32_t n_nodes, n_local;
    int64_t bound_ns;
    FILE *files[MAX_RANKS];
    int32_t n_comms, n_streams;
    comm_t comms[MAX_THINGS];
    clv_clva_stream_t streams[MAX_THINGS];
} made_t;

static unsigned char bytes[CLV_CLVA_RECORD_BYTES];

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "clva-script: %s\n", what);
    exit(2);
}

static void put(FILE *file, size_t n_bytes)
{
    if (n_bytes == 0 || fwrite(bytes, 1, n_bytes, file) != n_bytes) {
        fail("it could not be written");
    }
}

static void begin_node(made_t *made, const char *folder, int32_t node)
{
    clv_clva_head_t head = {.clva = CLV_CLVA_VERSION,
                            .job = "script",
                            .program = "clva-script",
                            .node = node,
                            .n_nodes = made->n_nodes,
                            .n_ranks = made->n_nodes * made->n_local,
                            .n_local = made->n_local,
                            .every = 1};
    const clv_clva_clock_t clock = {.from_ns = 1,
                                    .origin_ns = node * NS_PER_HOUR,
                                    .offset_ns = node * NS_PER_HOUR,
                                    .error_ns = node > 0 ? made->bound_ns : 0};
    int32_t ranks[MAX_RANKS];
    char path[1024];

    (void) snprintf(head.host, sizeof head.host, "host%d", (int) node);
    (void) snprintf(path, sizeof path, "%s/script.%d.clva", folder, (int) node);
    made->files[node] = fopen(path, "w");
    if (made->files[node] == NULL) {
        fail("its files cannot be made");
    }
    for (int32_t i = 0; i < made->n_local; i++) {
        ranks[i] = node * made->n_local + i;
    }
    put(made->files[node], clv_clva_put_head((char *) bytes, sizeof bytes, &head));
    put(made->files[node], clv_clva_put_local(bytes, sizeof bytes, ranks, made->n_local));
    put(made->files[node], clv_clva_put_clock(bytes, sizeof bytes, &clock));
}

/* Parses "0,1,2"; returns the index of that communicator. */
static int32_t comm_of(made_t *made, const char *list)
{
    comm_t comm = {0};

    for (char *end; comm.n < MAX_RANKS && *list != '\0'; list = end + (*end == ',')) {
        comm.members[comm.n] = (int32_t) strtol(list, &end, 10);
        if (end == list || comm.members[comm.n++] >= made->n_nodes * made->n_local) {
            fail("not ranks of the job");
        }
    }
    for (int32_t i = 0; i < made->n_comms; i++) {
        if (made->comms[i].n == comm.n &&
            memcmp(made->comms[i].members, comm.members, sizeof comm.members) == 0) {
            return i;
        }
    }
    if (made->n_comms == MAX_THINGS) {
        fail("too many communicators");
    }
    clv_clva_comm_t record = {
        .id = (uint64_t) made->n_comms + 1, .n_ranks = comm.n, .n_listed = comm.n};
    unsigned char members[4 * MAX_RANKS] = {0};
    for (int32_t i = 0; i < comm.n; i++) {
        members[4 * i] = (unsigned char) comm.members[i];
    }
    record.members = members;
    (void) snprintf(record.name, sizeof record.name, "%s",
                    comm.n == made->n_nodes * made->n_local ? "MPI_COMM_WORLD" : "a part");
    for (int32_t node = 0; node < made->n_nodes; node++) {
        put(made->files[node], clv_clva_put_comm(bytes, sizeof bytes, &record));
    }
    made->comms[made->n_comms] = comm;
    return made->n_comms++;
}

/* Parses "bcast:0" on a communicator; each of its ranks records a new stream. */
static int32_t stream_of(made_t *made, char *name, int32_t comm)
{
    char *root = strchr(name, ':');
    clv_clva_stream_t stream = {.element_bytes = 8,
                                .bytes = 8,
                                .comm = (uint64_t) comm + 1,
                                .type = CLV_CLVA_TYPE_FLOAT,
                                .root = root == NULL ? -1 : atoi(root + 1)};

    if (root != NULL) {
        *root = '\0';
    }
    while (stream.op < CLV_CLVA_N_OPS && strcmp(clv_clva_ops[stream.op].name, name) != 0) {
        stream.op++;
    }
    if (stream.op == CLV_CLVA_N_OPS || made->n_streams == MAX_THINGS) {
        fail("no such operation, or too many");
    }
    for (int32_t i = 0; i < made->n_streams; i++) {
        if (made->streams[i].op == stream.op && made->streams[i].comm == stream.comm &&
            made->streams[i].root == stream.root) {
            return i;
        }
    }
    stream.stream = (uint16_t) (made->n_streams + 1);
    for (int32_t i = 0; i < made->comms[comm].n; i++) {
        const int32_t rank = made->comms[comm].members[i];
        put(made->files[rank / made->n_local],
            clv_clva_put_stream(bytes, sizeof bytes, rank, &stream));
    }
    made->streams[made->n_streams] = stream;
    return made->n_streams++;
}

static void put_times(made_t *made, int32_t rank, int32_t stream, uint32_t number, const char *text)
{
    const int32_t node = rank / made->n_local;
    clv_clva_call_t call = {.choice = CLV_CLVA_NOT_OURS,
                            .stream = (uint16_t) (stream + 1),
                            .number = number,
                            .predicted_ns = CLV_CLVA_NO_FORECAST};
    char *end = NULL;

    call.arrival_ns = NS_PER_HOUR * node + US * strtoll(text, &end, 10);
    if (*end != '-') {
        fail("times are ARRIVAL-EXIT");
    }
    call.exit_ns = NS_PER_HOUR * node + US * strtoll(end + 1, NULL, 10);
    put(made->files[node], clv_clva_put_calls(bytes, sizeof bytes, rank, &call, 1));
}

static void put_call(made_t *made, char *line)
{
    char *rest = NULL;
    char *op = strtok_r(line, " \t\n", &rest), *ranks = strtok_r(NULL, " \t\n", &rest);

    if (op == NULL || op[0] == '#') {
        return;
    }
    if (ranks == NULL) {
        fail("a call has ranks");
    }
    const int32_t comm = comm_of(made, ranks), stream = stream_of(made, op, comm);
    const uint32_t number = made->comms[comm].n_calls++;
    for (int32_t i = 0; i < made->comms[comm].n; i++) {
        const char *times = strtok_r(NULL, " \t\n", &rest);
        if (times == NULL) {
            fail("a call has times of all its ranks");
        }
        put_times(made, made->comms[comm].members[i], stream, number, times);
    }
}

int main(int argc, char **argv)
{
    static made_t made;
    char line[4096];

    if (argc < 4) {
        fail("usage: clva-script FOLDER NODES RANKS_PER_NODE [BOUND_NS] < SCRIPT");
    }
    made.n_nodes = atoi(argv[2]);
    made.n_local = atoi(argv[3]);
    made.bound_ns = argc > 4 ? atoll(argv[4]) : 0;
    if (made.n_nodes < 1 || made.n_local < 1 || made.n_nodes * made.n_local > MAX_RANKS) {
        fail("too many ranks");
    }
    (void) mkdir(argv[1], 0777);
    for (int32_t node = 0; node < made.n_nodes; node++) {
        begin_node(&made, argv[1], node);
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        put_call(&made, line);
    }
    for (int32_t node = 0; node < made.n_nodes; node++) {
        put(made.files[node], clv_clva_put_end(bytes, sizeof bytes, 0, 0));
        if (fclose(made.files[node]) != 0) {
            fail("it could not be written");
        }
    }
    return 0;
}
