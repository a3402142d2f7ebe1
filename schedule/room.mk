# schedule: sources, tools, tests.
clv_schedule_headers = schedule/schedule.h schedule/sched_instance.h schedule/sched_plan.h \
	schedule/sched_generators.h schedule/sched_front.h schedule/sched_simd.h \
	schedule/sched_bitset.h schedule/sched_cost.h schedule/sched_cache.h schedule/sched_read.h \
	schedule/sched_print.h schedule/sched_exec.h
clv_schedule_sources = schedule/sched_instance.c schedule/sched_plan.c schedule/sched_validate.c \
	schedule/sched_generators.c schedule/sched_clairvoyant.c schedule/sched_front.c \
	schedule/sched_simd.c schedule/sched_segtree.c schedule/sched_segtree_nodes.inc \
	schedule/sched_bitset.c schedule/sched_bitset_sets.inc \
	schedule/sched_bitset_counts.inc schedule/sched_bitset_round.inc schedule/sched_chain.c \
	schedule/sched_classic.c schedule/sched_cost.c schedule/sched_cache.c \
	schedule/sched_read.c schedule/sched_print.c schedule/sched_exec.c

tool_programs += tools/clv-plan
unit_tests += tests/unit/test_sched_plan tests/unit/test_sched_exec tests/unit/test_sched_agreement
tests_unit_test_sched_agreement_SOURCES = tests/unit/test_sched_agreement.c \
	tests/support/pairing_heap_plan.c tests/support/pairing_heap_plan.h \
	tests/support/random_instance.h
script_tests += tests/unit/test_sched_plan_tool.sh tests/fuzz/fuzz_sched.sh
EXTRA_DIST += tests/fuzz/fuzz_sched.c docs/man/clv-plan.1
