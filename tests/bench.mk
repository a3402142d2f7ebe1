# bench: clv-bench, the statistics behind it, the emulated cluster
clv_bench_sources = bench/bench_patterns.c bench/bench_patterns.h bench/bench_stats.c \
	bench/bench_stats.h bench/bench_options.c bench/bench_options.h
mpi_programs += bench/clv-bench
bench_clv_bench_SOURCES = bench/clv_bench.c bench/bench_algorithms.c bench/bench_algorithms.h \
	bench/bench_collectives.c bench/bench_collectives.h bench/bench_own_reduce.c \
	bench/bench_measure.c bench/bench_measure.h bench/bench_report.c bench/bench_report.h \
	bench/bench_sync.c bench/bench_sync.h $(clv_bench_sources)
bench_clv_bench_LDADD = $(clv_core_libs)

unit_tests += tests/unit/test_bench_stats tests/unit/test_bench_patterns
tests_unit_test_bench_stats_SOURCES = tests/unit/test_bench_stats.c $(clv_bench_sources)
tests_unit_test_bench_stats_LDADD = $(clv_test_libs)
tests_unit_test_bench_patterns_SOURCES = tests/unit/test_bench_patterns.c $(clv_bench_sources)
tests_unit_test_bench_patterns_LDADD = $(clv_test_libs)
script_tests += tests/mpi/bench_cluster.sh tests/mpi/bench_program.sh tests/mpi/bench_compare.sh \
	tests/mpi/bench_results.sh tests/mpi/bench_other_mpi.sh

tool_programs += bench/clv-bench-compare
bench_clv_bench_compare_SOURCES = bench/clv_bench_compare.c bench/bench_results.c \
	bench/bench_results.h bench/bench_clock_results.c bench/bench_clock_results.h bench/bench_plot.c bench/bench_plot.h $(clv_bench_sources)
bench_clv_bench_compare_LDADD = $(clv_core_libs)
