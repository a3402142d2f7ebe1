/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See coll_clv_devices.h.
 */
#include "coll_clv/coll_clv_devices.h"

#include "opal/mca/base/mca_base_var.h"

#include "coll_clv/coll_clv.h"
#include "coll_clv/coll_clv_compat.h"

/* Components of Open MPI that copy device memory, so that the function below them gets host
 * memory. */
static const struct {
    const char *name;
    uint32_t collectives;
} copiers[] = {{"cuda", CLV_OF(REDUCE) | CLV_OF(ALLREDUCE)},
               {"accelerator", CLV_OF(REDUCE) | CLV_OF(ALLREDUCE) | CLV_OF(BCAST)}};

/* -1: the component is not there, or `--mca coll` leaves it out, so it has registered nothing. */
static int priority_of(const char *component)
{
    const int index = mca_base_var_find("ompi", "coll", component, "priority");
    const mca_base_var_storage_t *value = NULL;

    if (0 > index || OPAL_SUCCESS != mca_base_var_get_value(index, &value, NULL, NULL) ||
        NULL == value) {
        return -1;
    }
    return value->intval;
}

uint32_t coll_clv_devices_collectives(int priority)
{
    uint32_t collectives = CLV_OF_ALL;

    if (!COLL_CLV_COMPAT_HAS_DEVICES()) {
        return 0;
    }
    for (size_t i = 0; i < sizeof copiers / sizeof *copiers; i++) {
        if (priority_of(copiers[i].name) > priority) {
            collectives &= ~copiers[i].collectives;
        }
    }
    return collectives;
}
