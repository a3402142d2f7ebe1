unit_tests += tests/unit/test_sched_agreement
tests_unit_test_sched_agreement_SOURCES = tests/unit/test_sched_agreement.c \
	tests/support/pairing_heap_plan.c tests/support/pairing_heap_plan.h \
	tests/support/random_instance.h
tests_unit_test_sched_agreement_LDADD = $(clv_test_libs)

tool_programs += bench/bench_plan
bench_bench_plan_SOURCES = bench/bench_plan.c tests/support/pairing_heap_plan.c
bench_bench_plan_LDADD = $(clv_core_libs)

script_tests += tests/unit/test_sched_plan_tool.sh
tool_programs += tools/clv-plan
tools_clv_plan_SOURCES = tools/clv-plan.c
tools_clv_plan_LDADD = $(clv_core_libs)

unit_tests += tests/unit/test_sched_plan
tests_unit_test_sched_plan_SOURCES = tests/unit/test_sched_plan.c
tests_unit_test_sched_plan_LDADD = $(clv_test_libs)

script_tests += tests/fuzz/fuzz_sched.sh
EXTRA_DIST += tests/fuzz/fuzz_sched.c

tool_programs += bench/plan_quality
bench_plan_quality_SOURCES = bench/plan_quality.c
bench_plan_quality_LDADD = $(clv_core_libs)
