/* SPDX-License-Identifier: BSD-3-Clause
 * See pap_pair.h.
 */
#include "tests/support/pap_pair.h"

#include <string.h>

#include "pap_predict/pap_process.h"
#include "tests/support/pap_job.h"
#include "util/util_time.h"

#define WAIT_NS (120 * CLV_NS_PER_S) /* ends a hang; nothing is timed */

clv_status_t pair_open(pair_t *pair, int one_node, int64_t connect_timeout_ns)
{
    const clv_pap_options_t options = {.sma_window = 4, .connect_timeout_ns = connect_timeout_ns};
    clv_status_t status = CLV_OK;
    memset(pair, 0, sizeof *pair);
    pair->hooks.node_plans_bytes = 100;
    for (int i = 0; i < 2 && status == CLV_OK; i++) {
        status = clv_pap_open(&options, &pair->pap[i]);
        if (status == CLV_OK) {
            clv_pap_pretend_node(pair->pap[i], one_node ? 0 : (uint32_t) i);
        }
    }
    return status;
}

void pair_set_patience(pair_t *pair, int64_t patience_ns)
{
    pair->pap[0]->options.patience_ns = patience_ns;
    pair->pap[1]->options.patience_ns = patience_ns;
}

clv_status_t pair_create(pair_t *pair)
{
    clv_status_t status = CLV_OK;
    for (int i = 0; i < 2 && status == CLV_OK; i++) {
        status =
            clv_pap_group_create(pair->pap[i], 2, i, &pair->hooks,
                                 pair->endpoints + i * CLV_PAP_ENDPOINT_BYTES, &pair->group[i]);
    }
    return status;
}

clv_status_t pair_attach(pair_t *pair)
{
    clv_status_t status = CLV_OK;
    for (int i = 0; i < 2 && status == CLV_OK; i++) {
        status = clv_pap_group_attach(pair->group[i], pair->endpoints, NULL);
    }
    return status;
}

clv_status_t pair_activate(pair_t *pair)
{
    clv_status_t status = CLV_OK;
    for (int i = 0; i < 2 && status == CLV_OK; i++) {
        status = clv_pap_group_activate(pair->group[i]);
    }
    return status;
}

void pair_ask(pair_t *pair, clv_pap_call_t calls[2], clv_status_t status[2],
              const clv_pap_forecast_t *forecasts[2])
{
    const int64_t until_ns = clv_local_now_ns() + WAIT_NS;
    const void *node_plans;
    size_t n_bytes;
    status[0] = status[1] = CLV_AGAIN;
    while ((status[0] == CLV_AGAIN || status[1] == CLV_AGAIN) && clv_local_now_ns() < until_ns) {
        for (int i = 0; i < 2; i++) {
            if (status[i] == CLV_AGAIN) {
                status[i] = clv_pap_call_forecast(pair->group[i], &calls[i], &forecasts[i],
                                                  &node_plans, &n_bytes);
            }
        }
        job_sleep_ns(50 * CLV_NS_PER_US);
    }
}

void pair_free(pair_t *pair)
{
    for (int i = 0; i < 2; i++) {
        clv_pap_group_free(pair->group[i]);
        pair->group[i] = NULL;
    }
}

void pair_close(pair_t *pair)
{
    for (int i = 0; i < 2; i++) {
        clv_pap_close(pair->pap[i]);
        pair->pap[i] = NULL;
    }
}
