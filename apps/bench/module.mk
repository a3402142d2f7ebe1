# bench: clv-bench (measure), clv-bench-compare (compare), programs that measure one module
# (plans), reduces on a simulated machine (sim, which apps/bench/sim/run builds itself). Commands that people type lie beside this file: cluster, grid, paper, results, show.
clv_bench_sources = apps/bench/measure/bench_normal.c apps/bench/measure/bench_smirnov.c \
	apps/bench/measure/bench_options.c apps/bench/measure/bench_options.h \
	apps/bench/measure/bench_stats.c apps/bench/measure/bench_stats.h

# Also what tests/mpi/iterations tells.
clv_bench_process_sources = apps/bench/measure/bench_process.c apps/bench/measure/bench_process.h

# Where it runs, and how it was compiled: also what clv-clock tells.
clv_bench_place_sources = apps/bench/measure/bench_place.c apps/bench/measure/bench_place.h \
	apps/bench/measure/bench_machine.c apps/bench/measure/bench_machine.h
clv_bench_place_flags = -DCLV_BUILD_FLAGS='"$(CLV_BUILD_FLAGS)"'

installed_mpi_programs += apps/bench/clv-bench
apps_bench_clv_bench_CPPFLAGS = $(AM_CPPFLAGS) $(clv_bench_place_flags) $(XDR_CPPFLAGS)
apps_bench_clv_bench_LDADD = libclvclocks.a libclvtrace.a libclvcli.a $(clv_core_lib) $(XDR_LIBS)
apps_bench_clv_bench_SOURCES = apps/bench/measure/clv_bench.c \
	apps/bench/measure/bench_algorithms.c apps/bench/measure/bench_algorithms.h \
	apps/bench/measure/bench_call.c \
	apps/bench/measure/bench_collectives.c apps/bench/measure/bench_collectives.h \
	$(clv_bench_process_sources) \
	apps/bench/measure/bench_loop.c apps/bench/measure/bench_loop.h \
	apps/bench/measure/bench_loop_report.c \
	apps/bench/measure/bench_measure.c apps/bench/measure/bench_measure.h \
	apps/bench/measure/bench_multicast.c \
	apps/bench/measure/bench_own.c \
	apps/bench/measure/bench_iteration.c apps/bench/measure/bench_iteration.h \
	apps/bench/measure/bench_processing.c \
	apps/bench/measure/bench_radix.c apps/bench/measure/bench_radix.h \
	apps/bench/measure/bench_report.c apps/bench/measure/bench_report.h \
	apps/bench/measure/bench_sync.c apps/bench/measure/bench_sync.h \
	apps/bench/measure/bench_window.c apps/bench/measure/bench_window.h \
	apps/bench/measure/bench_xdr.c \
	$(clv_bench_place_sources) $(clv_bench_sources)

# The same with another MPI library: make clv-bench-other CLV_OTHER_MPICC=mpicc.mpich CLV_OTHER_PROGRAM=FILE
clv-bench-other:
	cd $(srcdir) && $(CLV_OTHER_MPICC) -std=gnu11 -O2 -D_GNU_SOURCE -I. $(clv_bench_place_flags) -o $(CLV_OTHER_PROGRAM) \
		$(filter %.c,$(apps_bench_clv_bench_SOURCES)) util/*.c apps/cli/*.c apps/trace/*.c clocksync/*.c clocksync/methods/*.c \
		-lm -lpthread -ldl
.PHONY: clv-bench-other

installed_programs += apps/bench/clv-bench-compare
clv_bench_plot_sources = apps/bench/compare/bench_plot.c apps/bench/compare/bench_plot.h \
	apps/bench/compare/bench_plot_lines.c \
	apps/bench/compare/bench_results.c apps/bench/compare/bench_results.h \
	apps/bench/measure/bench_stats.c apps/bench/measure/bench_stats.h
apps_bench_clv_bench_compare_SOURCES = apps/bench/compare/clv_bench_compare.c apps/bench/compare/compare.h \
	apps/bench/compare/bench_factors.c apps/bench/compare/bench_runs.c \
	apps/bench/compare/compare_means.c apps/bench/compare/compare_table.c \
	apps/bench/measure/bench_normal.c apps/bench/measure/bench_smirnov.c $(clv_bench_plot_sources)
installed_manuals += docs/man/clv-bench.1 docs/man/clv-bench-compare.1

tool_programs += tests/support/clva_clocks
tests_support_clva_clocks_SOURCES = tests/support/clva_clocks.c
tool_programs += apps/bench/bench_plan apps/bench/plan_quality apps/bench/bench_decide apps/bench/bench_nodes apps/bench/bench_copies
clv_bench_plans_sources = apps/bench/plans/bench_time.h apps/bench/measure/bench_stats.c apps/bench/measure/bench_stats.h
apps_bench_bench_plan_SOURCES = apps/bench/plans/bench_plan.c $(clv_bench_plans_sources) tests/support/pairing_heap_plan.c \
	tests/support/pairing_heap_plan.h
apps_bench_plan_quality_SOURCES = apps/bench/plans/plan_quality.c
apps_bench_bench_decide_SOURCES = apps/bench/plans/bench_decide.c $(clv_bench_plans_sources)
apps_bench_bench_nodes_SOURCES = apps/bench/plans/bench_nodes.c $(clv_bench_plans_sources)
apps_bench_bench_copies_SOURCES = apps/bench/plans/bench_copies.c $(clv_bench_plans_sources)

unit_tests += tests/apps/test_bench_options tests/apps/test_bench_stats tests/apps/test_bench_iteration \
	tests/apps/test_bench_window
tests_apps_test_bench_window_SOURCES = tests/apps/test_bench_window.c apps/bench/measure/bench_window.c \
	apps/bench/measure/bench_processing.c $(clv_bench_sources) \
	apps/bench/measure/bench_window.h \
	apps/bench/measure/bench_machine.c apps/bench/measure/bench_machine.h
tests_apps_test_bench_options_SOURCES = tests/apps/test_bench_options.c $(clv_bench_sources)
tests_apps_test_bench_stats_SOURCES = tests/apps/test_bench_stats.c $(clv_bench_sources)
tests_apps_test_bench_iteration_SOURCES = tests/apps/test_bench_iteration.c apps/bench/measure/bench_iteration.c \
	apps/bench/measure/bench_iteration.h $(clv_bench_sources)
script_tests += tests/mpi/bench_cluster.sh tests/mpi/bench_program.sh tests/mpi/bench_compare.sh tests/mpi/bench_multicast.sh \
	tests/mpi/bench_grid.sh tests/mpi/bench_paper.sh tests/mpi/bench_results.sh tests/mpi/bench_pages.sh \
	tests/mpi/bench_other_mpi.sh tests/sim/test_smpi.sh
