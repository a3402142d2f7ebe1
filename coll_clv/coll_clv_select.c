/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes the literal `--mca coll clv` work.
 *
 * Open MPI reads it as "this component and no other" and then finds no component for the other
 * operations. The user means: clv for its collectives, the usual components for the rest. So while
 * the framework registers clv as its only component, clv finds and registers all others and clears
 * the selection, by which later steps would filter.
 */
#include "coll_clv/coll_clv.h"

#include <string.h>

#include "opal/mca/base/base.h"
#include "opal/mca/base/mca_base_framework.h"

static const char *selection(void)
{
    const char *text = ompi_coll_base_framework.framework_selection;
    return NULL == text ? "" : text;
}

/* Before we cleared the selection. */
static bool is_named;

/* Looks for "clv" in an including list; with an excluding one ("^clv") this code never runs. */
void coll_clv_select_look(void)
{
    const char *item = selection();

    is_named = false;
    while ('\0' != *item && !is_named) {
        const size_t length = strcspn(item, ",");
        is_named = 3 == length && 0 == strncmp(item, "clv", 3);
        item += length + (',' == item[length]);
    }
}

bool coll_clv_select_is_named(void)
{
    return is_named;
}

bool coll_clv_select_is_wanted(void)
{
    const coll_clv_params_t *params = &mca_coll_clv_component.params;

    return coll_clv_select_is_named() || 0 != params->priority ||
           (NULL != params->record && '\0' != params->record[0]);
}

/* Sets the variable, so that its owner frees the text. */
static int clear_selection(void)
{
    const int index = mca_base_var_find("ompi", "coll", NULL, NULL);

    if (0 > index) {
        return OMPI_ERR_NOT_FOUND;
    }
    return mca_base_var_set_value(index, "", 0, MCA_BASE_VAR_SOURCE_OVERRIDE, NULL);
}

/* A copy of the framework whose selection is all components but us. What it finds and registers is
 * appended to the real list, behind the component being registered now. */
static int register_companions(mca_base_framework_t *framework)
{
    mca_base_framework_t view = *framework;
    int status;

    view.framework_selection = (char *) "^clv";
    OBJ_CONSTRUCT(&view.framework_components, opal_list_t);
    status = mca_base_framework_components_register(&view, MCA_BASE_REGISTER_DEFAULT);
    if (OPAL_SUCCESS == status) {
        opal_list_join(&framework->framework_components,
                       opal_list_get_end(&framework->framework_components),
                       &view.framework_components);
    }
    OBJ_DESTRUCT(&view.framework_components);
    return status;
}

int coll_clv_select_companions(void)
{
    mca_base_framework_t *framework = &ompi_coll_base_framework;

    /* If the list has other components, this is ompi_info, which registers all. */
    if (0 != strcmp(selection(), "clv") ||
        1 != opal_list_get_size(&framework->framework_components)) {
        return OMPI_SUCCESS;
    }
    if (OMPI_SUCCESS != clear_selection()) {
        coll_clv_help("no-other-components", "the selection could not be cleared");
        return OMPI_ERR_NOT_AVAILABLE;
    }
    if (OPAL_SUCCESS != register_companions(framework)) {
        coll_clv_help("no-other-components", "they could not be found or registered");
        return OMPI_ERR_NOT_AVAILABLE;
    }
    return OMPI_SUCCESS;
}
