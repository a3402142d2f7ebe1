/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Error texts for users.
 *
 * Open MPI's own show_help hands its texts to mpirun; so early in MPI_Init that way loses some of
 * them (seen with 4.1.4 on messages from two ranks at once), so each process writes its own.
 */
#include "coll_clv/coll_clv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opal/util/show_help.h"

/* Alone, or the first of mpirun's processes on this node. */
static bool tells_at_length(void)
{
    const char *local_rank = getenv("OMPI_COMM_WORLD_LOCAL_RANK");
    return NULL == local_rank || 0 == strcmp(local_rank, "0");
}

/* Where texts are compiled into the library and we came later, there is no text of ours. */
static char *long_text(const char *topic, const char *sentence)
{
#if COLL_CLV_HELP_IN_FILES || !defined(CLV_HELP_DIR)
#if defined(CLV_HELP_DIR)
    (void) opal_show_help_add_dir(CLV_HELP_DIR);
#endif
    return opal_show_help_string("help-coll-clv.txt", topic, true, sentence);
#else
    (void) topic;
    (void) sentence;
    return NULL;
#endif
}

void coll_clv_help(const char *topic, const char *sentence)
{
    char *text = tells_at_length() ? long_text(topic, sentence) : NULL;

    if (NULL != text) {
        fputs(text, stderr);
    } else {
        opal_output(0, "coll:clv: %s: %s", topic, sentence);
    }
    free(text);
}
