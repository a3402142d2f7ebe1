# bench: clv-bench, the statistics behind it, the emulated cluster, the simulation, and programs that
# measure one room.
clv_bench_sources = bench/bench_stats.c bench/bench_stats.h bench/bench_options.c \
	bench/bench_options.h

installed_mpi_programs += bench/clv-bench
bench_clv_bench_SOURCES = bench/clv_bench.c bench/bench_algorithms.c bench/bench_algorithms.h \
	bench/bench_collectives.c bench/bench_collectives.h bench/bench_own_reduce.c \
	bench/bench_call.c bench/bench_call.h bench/bench_json.c bench/bench_json.h \
	bench/bench_loop.c bench/bench_loop.h bench/bench_loop_report.c bench/bench_loop_report.h \
	bench/bench_pace.c bench/bench_pace.h \
	bench/bench_measure.c bench/bench_measure.h bench/bench_report.c bench/bench_report.h \
	bench/bench_sync.c bench/bench_sync.h $(clv_bench_sources)

installed_programs += bench/clv-bench-compare
installed_manuals += docs/man/clv-bench.1 docs/man/clv-bench-compare.1
tool_programs += bench/bench_plan bench/plan_quality bench/bench_decide
bench_clv_bench_compare_SOURCES = bench/clv_bench_compare.c bench/bench_results.c \
	bench/bench_results.h bench/bench_clock_results.c bench/bench_clock_results.h \
	bench/bench_plot.c bench/bench_plot.h $(clv_bench_sources)
bench_bench_plan_SOURCES = bench/bench_plan.c tests/support/pairing_heap_plan.c \
	tests/support/pairing_heap_plan.h

unit_tests += tests/unit/test_bench_options tests/unit/test_bench_stats tests/unit/test_bench_pace
tests_unit_test_bench_options_SOURCES = tests/unit/test_bench_options.c $(clv_bench_sources)
tests_unit_test_bench_stats_SOURCES = tests/unit/test_bench_stats.c $(clv_bench_sources)
tests_unit_test_bench_pace_SOURCES = tests/unit/test_bench_pace.c bench/bench_pace.c \
	bench/bench_pace.h $(clv_bench_sources)
script_tests += tests/mpi/bench_cluster.sh tests/mpi/bench_program.sh tests/mpi/bench_compare.sh tests/mpi/bench_grid.sh \
	tests/mpi/bench_results.sh tests/mpi/bench_other_mpi.sh tests/sim/test_smpi.sh
