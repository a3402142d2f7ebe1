# -*- shell-script -*-
# SPDX-License-Identifier: BSD-3-Clause
#
# The in-tree home: this folder, linked or copied to ompi/mca/coll/clv of an Open MPI source tree,
# is found by its autogen.pl through this file and built like the components there.
# The standalone build uses configure.ac instead.

# MCA_ompi_coll_clv_CONFIG([action-if-can-compile], [action-if-cant-compile])
AC_DEFUN([MCA_ompi_coll_clv_CONFIG], [
    AC_CONFIG_FILES([ompi/mca/coll/clv/Makefile])
    AS_IF([test "$GCC" = yes], [CLV_HIDDEN=-fvisibility=hidden], [CLV_HIDDEN=])
    AC_SUBST([CLV_HIDDEN])
    $1
])dnl

# Conditionals of Makefile.am must be known on every path, also when the component is disabled.
AC_DEFUN([MCA_ompi_coll_clv_POST_CONFIG], [
    AM_CONDITIONAL([CLV_STANDALONE], [false])
    AM_CONDITIONAL([CLV_HAVE_OMPI], [false])
    AM_CONDITIONAL([CLV_HAVE_MPI], [false])
    AM_CONDITIONAL([CLV_HAVE_CMOCKA], [false])
    dnl Its own since 4.0; 4.1 may be told to go without, later ones never do.
    AM_CONDITIONAL([CLV_HAVE_HWLOC], [test "$OPAL_HAVE_HWLOC" != 0])
    AM_CONDITIONAL([CLV_HAVE_SIMGRID], [false])
    AM_CONDITIONAL([CLV_HAVE_OTF2], [false])
])dnl
