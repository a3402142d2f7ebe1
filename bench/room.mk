# bench: clv-bench (measure), clv-bench-compare (compare), programs that measure one room
# (plans), reduces on a simulated machine (sim, which bench/sim/run builds itself). Commands that people type lie beside this file: cluster, grid, paper, results, show.
clv_bench_sources = bench/measure/bench_normal.c bench/measure/bench_normal.h \
	bench/measure/bench_smirnov.c bench/measure/bench_smirnov.h \
	bench/measure/bench_options.c bench/measure/bench_options.h \
	bench/measure/bench_stats.c bench/measure/bench_stats.h

# Also what tests/mpi/iterations tells.
clv_bench_cpu_wait_sources = bench/measure/bench_cpu_wait.c bench/measure/bench_cpu_wait.h

# Where it runs, and how it was compiled: also what clv-clock tells.
clv_bench_place_sources = bench/measure/bench_place.c bench/measure/bench_place.h \
	bench/measure/bench_cache.c bench/measure/bench_cache.h \
	bench/measure/bench_machine.c bench/measure/bench_machine.h
clv_bench_place_flags = -DCLV_BUILD_FLAGS='"$(CLV_BUILD_FLAGS)"'

installed_mpi_programs += bench/clv-bench
bench_clv_bench_CPPFLAGS = $(AM_CPPFLAGS) $(clv_bench_place_flags)
bench_clv_bench_SOURCES = bench/measure/clv_bench.c \
	bench/measure/bench_algorithms.c bench/measure/bench_algorithms.h \
	bench/measure/bench_call.c bench/measure/bench_call.h \
	bench/measure/bench_collectives.c bench/measure/bench_collectives.h \
	$(clv_bench_cpu_wait_sources) \
	bench/measure/bench_interrupt.c bench/measure/bench_interrupt.h \
	bench/measure/bench_loop.c bench/measure/bench_loop.h \
	bench/measure/bench_loop_report.c bench/measure/bench_loop_report.h \
	bench/measure/bench_measure.c bench/measure/bench_measure.h \
	bench/measure/bench_own_bounds.c bench/measure/bench_own_reduce.c \
	bench/measure/bench_pace.c bench/measure/bench_pace.h \
	bench/measure/bench_processing.c bench/measure/bench_processing.h \
	bench/measure/bench_radix.c bench/measure/bench_radix.h \
	bench/measure/bench_report.c bench/measure/bench_report.h \
	bench/measure/bench_sync.c bench/measure/bench_sync.h \
	bench/measure/bench_window.c bench/measure/bench_window.h \
	$(clv_bench_place_sources) $(clv_bench_sources)

installed_programs += bench/clv-bench-compare
clv_bench_plot_sources = bench/compare/bench_plot.c bench/compare/bench_plot.h \
	bench/compare/bench_plot_lines.c bench/compare/bench_plot_lines.h \
	bench/compare/bench_results.c bench/compare/bench_results.h \
	bench/measure/bench_stats.c bench/measure/bench_stats.h
bench_clv_bench_compare_SOURCES = bench/compare/clv_bench_compare.c \
	bench/compare/bench_factors.c bench/compare/bench_factors.h \
	bench/compare/bench_runs.c bench/compare/bench_runs.h \
	bench/compare/compare_means.c bench/compare/compare_means.h \
	bench/compare/compare_table.c bench/compare/compare_table.h \
	bench/measure/bench_normal.c bench/measure/bench_normal.h \
	bench/measure/bench_smirnov.c bench/measure/bench_smirnov.h $(clv_bench_plot_sources)
installed_manuals += docs/man/clv-bench.1 docs/man/clv-bench-compare.1

tool_programs += tests/support/clva_clocks
tests_support_clva_clocks_SOURCES = tests/support/clva_clocks.c
tool_programs += bench/bench_plan bench/plan_quality bench/bench_decide bench/bench_nodes bench/bench_copies
clv_bench_plans_sources = bench/plans/bench_time.h bench/measure/bench_stats.c bench/measure/bench_stats.h
bench_bench_plan_SOURCES = bench/plans/bench_plan.c $(clv_bench_plans_sources) tests/support/pairing_heap_plan.c \
	tests/support/pairing_heap_plan.h
bench_plan_quality_SOURCES = bench/plans/plan_quality.c
bench_bench_decide_SOURCES = bench/plans/bench_decide.c $(clv_bench_plans_sources)
bench_bench_nodes_SOURCES = bench/plans/bench_nodes.c $(clv_bench_plans_sources)
bench_bench_copies_SOURCES = bench/plans/bench_copies.c $(clv_bench_plans_sources)

unit_tests += tests/unit/test_bench_options tests/unit/test_bench_stats tests/unit/test_bench_pace \
	tests/unit/test_bench_window
tests_unit_test_bench_window_SOURCES = tests/unit/test_bench_window.c bench/measure/bench_window.c \
	bench/measure/bench_processing.c bench/measure/bench_processing.h $(clv_bench_sources) \
	bench/measure/bench_window.h bench/measure/bench_cache.c bench/measure/bench_cache.h \
	bench/measure/bench_machine.c bench/measure/bench_machine.h
tests_unit_test_bench_options_SOURCES = tests/unit/test_bench_options.c $(clv_bench_sources)
tests_unit_test_bench_stats_SOURCES = tests/unit/test_bench_stats.c $(clv_bench_sources)
tests_unit_test_bench_pace_SOURCES = tests/unit/test_bench_pace.c bench/measure/bench_pace.c \
	bench/measure/bench_pace.h $(clv_bench_sources)
script_tests += tests/mpi/bench_cluster.sh tests/mpi/bench_program.sh tests/mpi/bench_compare.sh \
	tests/mpi/bench_grid.sh tests/mpi/bench_paper.sh tests/mpi/bench_loop.sh tests/mpi/bench_results.sh tests/mpi/bench_pages.sh \
	tests/mpi/bench_other_mpi.sh tests/sim/test_smpi.sh
