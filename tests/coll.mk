unit_tests += tests/unit/test_coll_decide
tests_unit_test_coll_decide_SOURCES = tests/unit/test_coll_decide.c \
	coll_clv/coll_clv_decide.c coll_clv/coll_clv_score.c coll_clv/coll_clv_search.c \
	coll_clv/coll_clv_print.c coll_clv/coll_clv_sheet.c
tests_unit_test_coll_decide_CFLAGS = $(AM_CFLAGS) # objects of its own, beside libtool's
tests_unit_test_coll_decide_LDADD = $(clv_test_libs)
unit_tests += tests/unit/test_coll_tables
tests_unit_test_coll_tables_SOURCES = tests/unit/test_coll_tables.c
tests_unit_test_coll_tables_LDADD = $(clv_test_libs)

# The component in Open MPI: selection, parameters, algorithms without a plan.
mpi_programs += tests/mpi/coll_probe tests/mpi/coll_others
tests_mpi_coll_probe_SOURCES = tests/mpi/coll_probe.c
tests_mpi_coll_others_SOURCES = tests/mpi/coll_others.c
if CLV_HAVE_OMPI
script_tests += tests/mpi/test_select.sh tests/mpi/test_params.sh tests/mpi/test_algorithms.sh
script_tests += tests/mpi/test_peers.sh tests/mpi/test_library.sh tests/mpi/test_pvars.sh
script_tests += tests/mpi/test_life.sh
endif
mpi_programs += tests/mpi/life_cases
tests_mpi_life_cases_SOURCES = tests/mpi/life_cases.c
tests_mpi_life_cases_LDADD = -lpthread
mpi_programs += tests/mpi/other_library
tests_mpi_other_library_SOURCES = tests/mpi/other_library.c tests/mpi/pvar_look.c tests/mpi/pvar_look.h
mpi_programs += tests/mpi/hint_cases
tests_mpi_hint_cases_SOURCES = tests/mpi/hint_cases.c clv.h
script_tests += tests/mpi/test_hint.sh
script_tests += tests/mpi/test_ahead.sh
mpi_programs += tests/mpi/costs
tests_mpi_costs_SOURCES = tests/mpi/costs.c tests/mpi/pvar_look.c tests/mpi/pvar_look.h
if CLV_HAVE_OMPI
script_tests += tests/mpi/test_costs.sh
endif
EXTRA_DIST += tests/quality/costs.sh

tool_programs += bench/bench_decide
bench_bench_decide_SOURCES = bench/bench_decide.c \
	coll_clv/coll_clv_decide.c coll_clv/coll_clv_score.c coll_clv/coll_clv_search.c
bench_bench_decide_CFLAGS = $(AM_CFLAGS) # objects of its own, beside libtool's
bench_bench_decide_LDADD = $(clv_core_libs)
