/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv.h for Fortran, where the handle of a communicator is an integer. See clv_hint.f90.
 */
#include "clv.h"

int clv_hint_arrival_f(MPI_Fint comm, long long ns_from_now);
int clv_hint_progress_f(MPI_Fint comm, double done, double total);

int clv_hint_arrival_f(MPI_Fint comm, long long ns_from_now)
{
    return clv_hint_arrival(MPI_Comm_f2c(comm), ns_from_now);
}

int clv_hint_progress_f(MPI_Fint comm, double done, double total)
{
    return clv_hint_progress(MPI_Comm_f2c(comm), done, total);
}

long long clv_expected_wait_ns_f(MPI_Fint comm);

long long clv_expected_wait_ns_f(MPI_Fint comm)
{
    return clv_expected_wait_ns(MPI_Comm_f2c(comm));
}
