/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints forecasts, plans and links for coll_clv_print (see coll_clv_show.h).
 */
#include "coll_clv/coll_clv_show.h"

#include <stdio.h>

#include "ompi/mca/pml/base/base.h"

#include "choose/choose_print.h"

static void print_line(void *context, const char *line)
{
    opal_output(((coll_clv_component_t *) context)->output, "coll:clv: %s", line);
}

static void print_plan(const coll_clv_call_t *call, const clv_pap_stream_key_t *key,
                       const coll_clv_node_plan_t *node_plan)
{
    clv_plan_t *plan = coll_clv_group_plan(call->module->group, key, node_plan);

    if (NULL != plan) {
        clv_choose_print_plan(plan, coll_clv_group_config(call->module->group)->place, print_line,
                              &mca_coll_clv_component);
        clv_plan_free(plan);
    }
}

/* Rank 0 prints each forecast once, with its plan. */
void coll_clv_show(const coll_clv_call_t *call, const clv_pap_stream_key_t *key,
                   const coll_clv_node_plan_t *node_plan)
{
    coll_clv_component_t *component = &mca_coll_clv_component;
    const int64_t version = NULL == node_plan->forecast ? 0 : node_plan->forecast->version;

    if (CLV_PRINT_NONE == component->params.print || !coll_clv_tells(call) ||
        (version == call->module->shown_version && key->root == call->module->shown_root)) {
        return;
    }
    call->module->shown_version = version;
    call->module->shown_root = key->root;
    if (0 != (component->params.print & CLV_PRINT_FORECAST)) {
        clv_choose_print_forecast(call->comm->c_name, key, node_plan->forecast,
                                  &node_plan->decision, print_line, component);
    }
    if (0 != (component->params.print & CLV_PRINT_PLAN)) {
        print_plan(call, key, node_plan);
    }
}

const char *coll_clv_pml_name(void)
{
    return mca_pml_base_selected_component.pmlm_version.mca_component_name;
}

void coll_clv_show_links(const coll_clv_call_t *call)
{
    coll_clv_component_t *component = &mca_coll_clv_component;
    const clv_choose_config_t *config = coll_clv_group_config(call->module->group);

    char title[MPI_MAX_OBJECT_NAME + MCA_BASE_MAX_COMPONENT_NAME_LEN + 16];

    component->link = config->cost;
    if (0 != (component->params.print & (CLV_PRINT_LINKS | CLV_PRINT_FORECAST | CLV_PRINT_PLAN)) &&
        coll_clv_tells(call)) {
        (void) snprintf(title, sizeof title, "%s over PML %s", call->comm->c_name,
                        coll_clv_pml_name());
        clv_choose_print_cost(title, config, print_line, component);
    }
}
