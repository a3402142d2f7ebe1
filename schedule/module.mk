# schedule: sources, tools, tests.
clv_schedule_headers = \
	schedule/schedule.h \
	schedule/sched_cache.h \
	schedule/sched_interhost.h \
	schedule/sched_cost.h \
	schedule/sched_credit.h \
	schedule/sched_exec.h \
	schedule/sched_exits.h \
	schedule/sched_pending_sends.h \
	schedule/sched_generators.h \
	schedule/sched_goal.h \
	schedule/sched_instance.h \
	schedule/sched_fast_estimate.h \
	schedule/sched_plan.h \
	schedule/sched_replay.h \
	schedule/sched_host_order.h \
	schedule/generators/sched_bitset.h \
	schedule/generators/sched_active.h \
	schedule/generators/sched_simd.h
clv_schedule_sources = \
	schedule/sched_cache.c \
	schedule/sched_interhost.c \
	schedule/sched_interhost_chain.c \
	schedule/sched_interhost_run.c \
	schedule/sched_cost.c \
	schedule/sched_credit.c \
	schedule/sched_exec.c \
	schedule/sched_exits.c \
	schedule/sched_pending_sends.c \
	schedule/sched_generators.c \
	schedule/sched_goal.c \
	schedule/sched_instance.c \
	schedule/sched_fast_estimate.c \
	schedule/sched_plan.c \
	schedule/sched_replay.c \
	schedule/sched_replay_order.c \
	schedule/sched_host_order.c \
	schedule/generators/sched_bcast_chain.c \
	schedule/generators/sched_bitset.c \
	schedule/generators/sched_bitset_counts.inc \
	schedule/generators/sched_bitset_round.inc \
	schedule/generators/sched_bitset_sets.inc \
	schedule/generators/sched_chain.c \
	schedule/generators/sched_classic.c \
	schedule/generators/sched_cut_ring.c \
	schedule/generators/sched_active.c \
	schedule/generators/sched_helper_trees.c \
	schedule/generators/sched_nodes.c \
	schedule/generators/sched_simd.c
clv_read_sources += schedule/sched_print.c schedule/sched_read.c schedule/sched_validate.c schedule/sched_oracles.c \
	schedule/generators/sched_clairvoyant.c schedule/generators/sched_segtree.c \
	schedule/generators/sched_segtree_nodes.inc
clv_read_headers += schedule/sched_print.h schedule/sched_read.h schedule/generators/sched_busy.h

unit_tests += tests/schedule/test_sched_plan tests/schedule/test_sched_exec tests/schedule/test_sched_agreement
unit_tests += tests/schedule/test_sched_credit
unit_tests += tests/schedule/test_sched_ring
unit_tests += tests/schedule/test_sched_goal tests/schedule/test_sched_cost
unit_tests += tests/schedule/test_sched_nodes tests/schedule/test_sched_exits tests/schedule/test_sched_fast_estimate
unit_tests += tests/schedule/test_sched_host_order
tests_schedule_test_sched_host_order_SOURCES = tests/schedule/test_sched_host_order.c \
	tests/support/random_instance.h
tests_schedule_test_sched_fast_estimate_SOURCES = tests/schedule/test_sched_fast_estimate.c \
	tests/support/random_instance.h
tests_schedule_test_sched_nodes_SOURCES = tests/schedule/test_sched_nodes.c $(clv_random_plan_sources) \
	tests/support/random_instance.h
clv_random_plan_sources = tests/support/random_plan.c tests/support/random_plan.h
tests_schedule_test_sched_exec_SOURCES = tests/schedule/test_sched_exec.c $(clv_random_plan_sources)
clv_plan_mutants_sources = tests/support/plan_mutants.c tests/support/plan_mutants.h
tests_schedule_test_sched_ring_SOURCES = tests/schedule/test_sched_ring.c $(clv_random_plan_sources) \
	$(clv_plan_mutants_sources) tests/support/random_instance.h
tests_schedule_test_sched_goal_SOURCES = tests/schedule/test_sched_goal.c $(clv_random_plan_sources) \
	$(clv_plan_mutants_sources) tests/support/random_instance.h
tests_schedule_test_sched_cost_SOURCES = tests/schedule/test_sched_cost.c $(clv_random_plan_sources) \
	tests/support/random_instance.h
tests_schedule_test_sched_agreement_SOURCES = tests/schedule/test_sched_agreement.c \
	tests/support/pairing_heap_plan.c tests/support/pairing_heap_plan.h \
	tests/support/random_instance.h
tests_schedule_test_sched_exits_SOURCES = tests/schedule/test_sched_exits.c tests/support/random_instance.h
script_tests += tests/schedule/test_sched_plan_tool.sh tests/schedule/test_sched_last_arriver.sh tests/fuzz/fuzz_sched.sh
