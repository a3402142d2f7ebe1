# clocksync: sources, tools, tests.
clv_clocksync_headers = clocksync/clocksync.h clocksync/cs_internal.h
clv_clocksync_sources = clocksync/cs_model.c clocksync/cs_fit.c clocksync/cs_tracker.c
# Algorithms that synchronise ranks of an MPI program: benchmarks, tools and tests have them, the component does not.
clv_clock_methods_headers = clocksync/methods/cs_methods.h clocksync/methods/cs_pair.h clocksync/methods/cs_run.h
clv_clock_methods_sources = clocksync/methods/cs_check.c clocksync/methods/cs_clock.c clocksync/methods/cs_down.c \
	clocksync/methods/cs_label.c clocksync/methods/cs_learn.c clocksync/methods/cs_offset.c clocksync/methods/cs_pair.c \
	clocksync/methods/cs_place.c clocksync/methods/cs_star.c clocksync/methods/cs_sync.c clocksync/methods/cs_up.c

unit_tests += tests/clocksync/test_cs_model tests/clocksync/test_cs_tracker tests/clocksync/test_cs_parts \
	tests/clocksync/test_cs_sync tests/clocksync/test_cs_node_clock tests/sim/test_cs_scenarios
tests_clocksync_test_cs_sync_SOURCES = tests/clocksync/test_cs_sync.c tests/sim/cs_net.c tests/sim/cs_net.h \
	tests/sim/cs_random.h
tool_programs += tests/sim/sim_clocks
tests_sim_sim_clocks_SOURCES = tests/sim/sim_clocks.c tests/sim/cs_net.c tests/sim/cs_net.h \
	tests/sim/cs_random.h
script_tests += tests/sim/test_cs_tool.sh
