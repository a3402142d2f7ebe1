# choose: sources, tests.
clv_choose_headers = choose/choose.h choose/choose_algorithms.h choose/choose_collectives.h \
	choose/choose_parameters.h choose/choose_reasons.h choose/choose_node_plan.h \
	choose/choose_gain.h choose/choose_guard.h choose/choose_keys.h choose/choose_late.h choose/choose_iterations.h choose/choose_levels.h choose/choose_policy.h choose/choose_previous.h choose/choose_print.h choose/choose_score.h \
	choose/choose_search.h choose/choose_try.h choose/choose_verdict.h choose/choose_wait.h
clv_choose_sources = choose/choose.c choose/choose_gain.c choose/choose_guard.c choose/choose_keys.c choose/choose_late.c choose/choose_node_plan.c choose/choose_iterations.c choose/choose_previous.c choose/choose_print.c \
	choose/choose_score.c choose/choose_search.c choose/choose_tables.c choose/choose_try.c choose/choose_verdict.c choose/choose_wait.c

unit_tests += tests/choose/test_choose tests/choose/test_choose_allreduce tests/choose/test_choose_classic tests/choose/test_choose_guard tests/choose/test_choose_keys tests/choose/test_choose_loop tests/choose/test_choose_replay tests/choose/test_choose_try tests/choose/test_choose_verdict tests/choose/test_choose_wait
EXTRA_DIST += tests/data/decisions.txt tests/support/choose_ablate.c
clv_choose_loop_sources = tests/support/choose_loop.c tests/support/choose_loop.h \
	tests/support/choose_programs.c tests/support/random_instance.h
tests_choose_test_choose_loop_SOURCES = tests/choose/test_choose_loop.c $(clv_choose_loop_sources)
