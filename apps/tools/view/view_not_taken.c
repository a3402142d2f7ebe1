/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls that clv could have planned but was not configured to take (see view.h).
 */
#include "apps/tools/view/view.h"

#include <stdlib.h>
#include <string.h>

#include "choose/choose_print.h"

/* The job's value of a parameter, up to the next blank; NULL: none. */
static const char *given(const clv_clva_head_t *head, const char *name)
{
    const size_t length = strlen(name);
    const char *at = head->parameters;

    while (*at != '\0') {
        if (strncmp(at, name, length) == 0 && at[length] == '=') {
            return at + length + 1;
        }
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    return NULL;
}

static void take_collectives(const clv_clva_head_t *head, clv_choose_config_t *config)
{
    const char *value = given(head, "collectives");
    char list[256];
    uint32_t bits;

    config->collectives = CLV_OF(REDUCE);
    if (value != NULL) {
        (void) snprintf(list, sizeof list, "%.*s", (int) strcspn(value, " "), value);
        if (strcmp(list, "none") == 0) {
            config->collectives = 0;
        } else if (clv_collectives_read(list, &bits) == CLV_OK) {
            config->collectives = (int32_t) bits;
        }
    }
}

/* The job's parameters that determine when a call is large. */
static clv_choose_config_t config_of(const clv_clva_head_t *head)
{
    clv_choose_config_t config = clv_what_if_config();

#define TAKE(name)                                                                                 \
    if (given(head, #name) != NULL) {                                                              \
        config.name = (int32_t) strtol(given(head, #name), NULL, 10);                              \
    }
#define TAKE_BYTES(to, code, name, mpi, goal, root, op, counts, result, bytes, least) TAKE(bytes)
    TAKE(min_ranks)
    CLV_COLLECTIVE_MAP(TAKE_BYTES, )
#undef TAKE_BYTES
#undef TAKE
    take_collectives(head, &config);
    return config;
}

int view_collective_of(const clv_clva_stream_t *key)
{
    const int recorded = key->op;

    if (key->how == CLV_CLVA_HOW_BLOCKING) {
#define IS_OF(to, code, name, mpi, goal, root, op, counts, result, bytes, least)                   \
    if (recorded == CLV_CLVA_OP_##code) {                                                          \
        return CLV_COLLECTIVE_##code;                                                              \
    }
        CLV_COLLECTIVE_MAP(IS_OF, )
#undef IS_OF
    }
    return -1;
}

static bool is_not_taken(const clv_choose_config_t *config, const view_comm_t *comm, int32_t call,
                         const clv_clva_stream_t *key, int collective)
{
    return collective >= 0 && (config->collectives >> collective & 1) == 0 &&
           comm->choice[call] == CLV_CLVA_NOT_OURS && comm->n_ranks >= config->min_ranks &&
           comm->n_ranks <= CLV_SCHED_MAX_RANKS &&
           key->bytes >= clv_choose_min_bytes(config, collective);
}

void view_not_taken(const view_t *view, char *text, size_t size)
{
    const clv_choose_config_t config = config_of(view_any_head(view));
    int64_t n_calls[CLV_N_COLLECTIVES] = {0};

    for (int32_t k = 0; k < view->n_comms; k++) {
        const view_comm_t *comm = &view->comms[k];
        for (int32_t i = 0; i < comm->n_calls; i++) {
            const clv_clva_stream_t *key = &view->streams[comm->stream[i]].key;
            const int collective = view_collective_of(key);
            if (is_not_taken(&config, comm, i, key, collective)) {
                n_calls[collective]++;
            }
        }
    }
    clv_choose_print_not_taken(text, size, &config, n_calls);
}
