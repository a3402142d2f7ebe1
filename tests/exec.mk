# Tests of the executor: pure, and over the PML.
unit_tests += tests/unit/test_sched_exec
tests_unit_test_sched_exec_SOURCES = tests/unit/test_sched_exec.c
tests_unit_test_sched_exec_LDADD = $(clv_test_libs)

clv_reduce_cases_sources = tests/mpi/reduce_cases.c tests/mpi/reduce_check.c \
	tests/mpi/reduce_check.h
mpi_programs += tests/mpi/reduce_cases
tests_mpi_reduce_cases_SOURCES = $(clv_reduce_cases_sources) tests/mpi/reduce_plain.c
tests_mpi_reduce_cases_LDADD = -lpthread

# The executor without its component: needs Open MPI's internal headers and libraries.
if CLV_HAVE_OMPI
mpi_programs += tests/mpi/execute_cases tests/mpi/execute_errors
endif
tests_mpi_execute_cases_SOURCES = $(clv_reduce_cases_sources) tests/mpi/reduce_direct.c \
	coll_clv/coll_clv_execute.c coll_clv/coll_clv_execute.h
tests_mpi_execute_cases_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
tests_mpi_execute_cases_LDADD = $(clv_core_libs)
# Open MPI's internal libraries have other names in each version; libmpi knows them.
tests_mpi_execute_cases_LDFLAGS = $(AM_LDFLAGS) -Wl,--copy-dt-needed-entries

tests_mpi_execute_errors_SOURCES = tests/mpi/execute_errors.c coll_clv/coll_clv_execute.c \
	coll_clv/coll_clv_execute.h
tests_mpi_execute_errors_CPPFLAGS = $(tests_mpi_execute_cases_CPPFLAGS)
tests_mpi_execute_errors_LDADD = $(tests_mpi_execute_cases_LDADD)
tests_mpi_execute_errors_LDFLAGS = $(tests_mpi_execute_cases_LDFLAGS)

script_tests += tests/mpi/test_execute.sh tests/mpi/test_reduce.sh tests/mpi/test_trouble.sh
EXTRA_DIST += tests/mpi/reduce_common.sh
