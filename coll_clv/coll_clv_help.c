/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Error texts for users: a topic of help-coll-clv.txt in a frame, with one sentence in it.
 *
 * The texts are compiled in, so that they do not depend on the component's path or on the library's
 * help files. Open MPI's own show_help sends its texts to mpirun, which early in MPI_Init loses
 * some of them (seen with 4.1.4 on messages from two ranks at once). So one process of a host
 * writes the text itself.
 */
#include "coll_clv/coll_clv.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "opal/util/proc.h"

#include "util/util_hash.h"

#define FRAME "--------------------------------------------------------------------------\n"

typedef struct help_topic {
    const char *name;
    const char *text; /* with one %s, for the sentence */
} help_topic_t;

static const help_topic_t topics[] = {
#define HELP_TOPIC(name, text) {name, text},
#include "coll_clv_help_text.h"
#undef HELP_TOPIC
};

/* A hash, since topics may be whole lines, longer than a file or socket name; so may job names. */
static uint64_t number_of(const char *topic)
{
    return clv_fnv1a64(CLV_FNV1A64_BASIS, topic, strlen(topic));
}

/* A name that all processes of a job share and no other job has; "" for a singleton. */
static void name_job(char *name, size_t size)
{
    static const char *const variables[] = {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid",
                                            "SLURM_STEP_ID"};
    const char *allocation = getenv("SLURM_JOB_ID");

    name[0] = '\0';
    for (size_t i = 0; '\0' == name[0] && i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = getenv(variables[i]);
        if (NULL != value) {
            (void) snprintf(name, size, "%s.%s", NULL == allocation ? "" : allocation, value);
        }
    }
}

typedef enum claim { FIRST, LATER, UNKNOWN } claim_t;

/* Claims by a file in the job's session folder on this host, which is removed with the job. It
 * survives the process that made it: a process may abort before the last one of its host starts.
 * Needs no file descriptor, of which there may be none left. */
static claim_t claim_file(const char *topic)
{
    char path[4096];

    if (NULL == opal_process_info.job_session_dir) {
        return UNKNOWN;
    }
    (void) snprintf(path, sizeof path, "%s/clv-help-%016" PRIx64, opal_process_info.job_session_dir,
                    number_of(topic));
    if (0 != mknod(path, S_IFREG | S_IRUSR | S_IWUSR, 0)) {
        return EEXIST == errno ? LATER : UNKNOWN;
    }
    return FIRST;
}

/* Claims by an abstract socket name, which its owner keeps until it ends and which leaves nothing
 * behind. */
static claim_t claim_socket(const char *topic)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char job[600];
    int fd, length, bind_error;

    name_job(job, sizeof job);
    if ('\0' == job[0]) {
        return FIRST;
    }
    length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1,
                      "clv-help-%u-%016" PRIx64 "-%016" PRIx64, (unsigned) getuid(), number_of(job),
                      number_of(topic));
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (0 > fd) {
        return FIRST;
    }
    if (0 == bind(fd, (struct sockaddr *) &address,
                  (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + (size_t) length))) {
        return FIRST;
    }
    bind_error = errno;
    (void) close(fd);
    return EADDRINUSE == bind_error ? LATER : FIRST;
}

bool coll_clv_help_is_first(const char *topic)
{
    const claim_t claim = claim_file(topic);

    return FIRST == (UNKNOWN == claim ? claim_socket(topic) : claim);
}

static const char *text_of(const char *topic)
{
    for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++) {
        if (0 == strcmp(topics[i].name, topic)) {
            return topics[i].text;
        }
    }
    return "%s\n";
}

void coll_clv_help(const char *topic, const char *sentence)
{
    const char *text = text_of(topic);
    const char *place = strstr(text, "%s");
    char message[2048];

    if (!coll_clv_help_is_first(topic)) {
        return;
    }
    /* In one write: other processes write to the same stream. */
    (void) snprintf(message, sizeof message, FRAME "%.*s%s%s" FRAME, (int) (place - text), text,
                    sentence, place + 2);
    fputs(message, stderr);
}
