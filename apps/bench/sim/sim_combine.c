/* SPDX-License-Identifier: BSD-3-Clause
 *
 * SMPI counts seconds of smpi/host-speed; apps/bench/sim/run sets that to the speed of its hosts.
 */
#include "apps/bench/sim/sim_combine.h"

#include <mpi.h>

#ifdef SMPI_H
#include <smpi/smpi.h>
#else
#define smpi_execute(seconds) ((void) (seconds))
#endif

void clv_sim_combining(double combine_ps, int32_t n_floats)
{
    if (combine_ps > 0) {
        smpi_execute(combine_ps / 1e12 * sizeof(float) * n_floats);
    }
}
