# clocksync: sources, tools, tests.
clv_clocksync_headers = clocksync/clocksync.h clocksync/cs_internal.h clocksync/cs_pair.h \
	clocksync/cs_run.h
clv_clocksync_sources = clocksync/cs_model.c clocksync/cs_fit.c clocksync/cs_tracker.c \
	clocksync/cs_clock.c clocksync/cs_pair.c clocksync/cs_offset.c clocksync/cs_learn.c \
	clocksync/cs_star.c clocksync/cs_up.c clocksync/cs_down.c clocksync/cs_sync.c \
	clocksync/cs_check.c clocksync/cs_label.c clocksync/cs_place.c

unit_tests += tests/clocksync/test_cs_model tests/clocksync/test_cs_tracker tests/clocksync/test_cs_parts \
	tests/clocksync/test_cs_sync tests/clocksync/test_cs_node_clock tests/sim/test_cs_scenarios
tests_clocksync_test_cs_sync_SOURCES = tests/clocksync/test_cs_sync.c tests/sim/cs_net.c tests/sim/cs_net.h \
	tests/sim/cs_random.h
tool_programs += tests/sim/sim_clocks
tests_sim_sim_clocks_SOURCES = tests/sim/sim_clocks.c tests/sim/cs_net.c tests/sim/cs_net.h \
	tests/sim/cs_random.h
script_tests += tests/sim/test_cs_tool.sh
