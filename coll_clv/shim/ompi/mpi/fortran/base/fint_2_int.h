/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stand-in for a header that Debian's Open MPI packages leave out although ompi/op/op.h includes
 * it. It comes last on the include path, so a real one is always preferred. Nothing we call
 * converts between C and Fortran integers of different width; the casts are there for the two
 * inline functions of op.h that hand arguments to user operators written in Fortran.
 */
#ifndef OMPI_FORTRAN_BASE_FINT_2_INT_H
#define OMPI_FORTRAN_BASE_FINT_2_INT_H

#include "ompi_config.h"

#define OMPI_INT_2_FINT(number) ((MPI_Fint) (number))
#define OMPI_FINT_2_INT(number) ((int) (number))

#endif
