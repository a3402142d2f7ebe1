/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The component object and its life: register, open, init_query, close.
 *
 * Not: parameters (coll_clv_params.c), nor a communicator's part (coll_clv_module.c).
 * Threads: all of this runs in the thread of MPI_Init and MPI_Finalize. May be opened again.
 */
#include "coll_clv/coll_clv.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "coll_clv/coll_clv_ahead.h"
#include "coll_clv/coll_clv_relay.h"
#include "coll_clv/coll_clv_peers.h"
#include "coll_clv/coll_clv_process.h"
#include "coll_clv/coll_clv_processors.h"
#include "coll_clv/coll_clv_record.h"
#include "coll_clv/coll_clv_sleep.h"
#include "coll_clv/coll_clv_summary.h"
#include "coll_clv/coll_clv_wait.h"
#include "util/util_alloc.h"
#include "util/util_log.h"
#include "util/util_version.h"

static int clv_register(void);
static int clv_open(void);
static int clv_close(void);
static int clv_init_query(bool enable_progress_threads, bool enable_mpi_threads);

coll_clv_component_t mca_coll_clv_component = {
    .super =
        {
            .collm_version =
                {
                    COLL_CLV_BASE_VERSION,
                    .mca_component_name = "clv",
                    MCA_BASE_MAKE_VERSION(component, CLV_VERSION_MAJOR, CLV_VERSION_MINOR,
                                          CLV_VERSION_RELEASE),
                    .mca_register_component_params = clv_register,
                    .mca_open_component = clv_open,
                    .mca_close_component = clv_close,
                },
            .collm_init_query = clv_init_query,
            .collm_comm_query = mca_coll_clv_comm_query,
        },
    .account = PTHREAD_MUTEX_INITIALIZER,
    .output = -1,
};
COLL_CLV_COMPONENT_POINTER()

/* Releases of one series have changed the module structure without a new framework version, so
 * only the library we were compiled for will do. */
static bool clv_library_matches(void)
{
    char sentence[256];

    if (0 == strcmp(OMPI_IDENT_STRING, ompi_version_string)) {
        return true;
    }
    (void) snprintf(sentence, sizeof sentence, "built for %.99s, loaded by %.99s",
                    OMPI_IDENT_STRING, ompi_version_string);
    if (coll_clv_select_is_wanted()) {
        coll_clv_help("wrong-library", sentence);
    }
    return false;
}

/* Our own checks come first. Once the companions are registered, refusing would leave the job
 * without its only component. */
static int clv_register(void)
{
    coll_clv_component_t *component = &mca_coll_clv_component;

    coll_clv_select_look();
    if (OMPI_SUCCESS != coll_clv_params_register(component) || !clv_library_matches()) {
        return OMPI_ERR_NOT_AVAILABLE;
    }
    component->priority = component->params.priority;
    if (coll_clv_select_is_named() && !coll_clv_params_is_set("priority")) {
        component->priority = COLL_CLV_PRIORITY_NAMED;
    }
    component->only_records = 0 == component->priority && coll_clv_params_is_set("record") &&
                              '\0' != component->params.record[0];
    if (component->only_records) {
        component->priority = COLL_CLV_PRIORITY_NAMED;
    }
    return coll_clv_select_companions();
}

/* Own code because opal_output needs memory and does not check whether it got any. */
static void write_line(const char *line)
{
    char text[600];

    (void) snprintf(text, sizeof text, "coll:clv: %.580s\n", line);
    if (0 > write(STDERR_FILENO, text, strlen(text))) {
        return; /* nowhere else to report it */
    }
}

static void log_to_stream(void *context, clv_log_level_t level, const char *line)
{
    if (CLV_LOG_HOST == level && !coll_clv_help_is_first(line)) {
        return;
    }
    if (clv_alloc_is_short()) {
        write_line(line);
    } else {
        opal_output(((coll_clv_component_t *) context)->output, "coll:clv: %s", line);
    }
}

static int clv_open(void)
{
    coll_clv_component_t *component = &mca_coll_clv_component;
    const int verbose = component->params.verbose;

    component->config = coll_clv_params_config(component);
    component->output = opal_output_open(NULL);
    opal_output_set_verbosity(component->output, verbose);
    coll_clv_wait_set_stall(component->params.stall_seconds);
    coll_clv_compare_open(component->params.stall_seconds);
    coll_clv_relay_open(component->params.channel_timeout_ms);
    clv_log_set_sink(log_to_stream, component,
                     (clv_log_level_t) (verbose > CLV_LOG_ERROR ? verbose : CLV_LOG_ERROR));
    coll_clv_ahead_budget(component->params.ahead_bytes);
    coll_clv_peers_publish();
    coll_clv_processors_publish();
    return OMPI_SUCCESS;
}

static int clv_close(void)
{
    coll_clv_component_t *component = &mca_coll_clv_component;

    coll_clv_relay_close();
    coll_clv_compare_close();
    coll_clv_sleep_close();
    coll_clv_peers_close();
    coll_clv_processors_close();
    coll_clv_record_stop();
    coll_clv_summary();
    coll_clv_process_close(); /* communicators are gone; the thread must end before the runtime */
    clv_log_set_sink(NULL, NULL, CLV_LOG_ERROR);
    if (component->output >= 0) {
        opal_output_close(component->output);
        component->output = -1;
    }
    return OMPI_SUCCESS;
}

/* The thread level matters only to counters: a communicator runs one collective at a time. */
static int clv_init_query(bool enable_progress_threads, bool enable_mpi_threads)
{
    (void) enable_progress_threads;
    if (coll_clv_select_is_wanted()) {
        coll_clv_unknown_tell();
    }
    mca_coll_clv_component.is_threaded |= enable_mpi_threads;
    return OMPI_SUCCESS;
}
