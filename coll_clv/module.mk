# coll_clv: sources, and the tests that need Open MPI.
clv_coll_clv_headers = \
	coll_clv/coll_clv.h \
	coll_clv/coll_clv_ahead.h \
	coll_clv/coll_clv_buffers.h \
	coll_clv/coll_clv_calibrate.h \
	coll_clv/coll_clv_early.h \
	coll_clv/coll_clv_account.h \
	coll_clv/coll_clv_call.h \
	coll_clv/coll_clv_call_group.h \
	coll_clv/coll_clv_fit.h \
	coll_clv/coll_clv_run.h \
	coll_clv/coll_clv_show.h \
	coll_clv/coll_clv_compare.h \
	coll_clv/coll_clv_compat.h \
	coll_clv/coll_clv_relay.h \
	coll_clv/coll_clv_devices.h \
	coll_clv/coll_clv_execute.h \
	coll_clv/coll_clv_failure.h \
	coll_clv/coll_clv_gather.h \
	coll_clv/coll_clv_group.h \
	coll_clv/coll_clv_hwloc.h \
	coll_clv/coll_clv_known.h \
	coll_clv/coll_clv_levels.h \
	coll_clv/coll_clv_peers.h \
	coll_clv/coll_clv_process.h \
	coll_clv/coll_clv_processors.h \
	coll_clv/coll_clv_record.h \
	coll_clv/coll_clv_setup.h \
	coll_clv/coll_clv_summary.h \
	coll_clv/coll_clv_tables.h \
	coll_clv/coll_clv_tags.h \
	coll_clv/coll_clv_listen.h \
	coll_clv/coll_clv_sleep.h \
	coll_clv/coll_clv_wait.h
clv_coll_clv_sources = \
	coll_clv/coll_clv_ahead.c \
	coll_clv/coll_clv_allreduce.c \
	coll_clv/coll_clv_barrier.c \
	coll_clv/coll_clv_bcast.c \
	coll_clv/coll_clv_buffers.c \
	coll_clv/coll_clv_calibrate.c \
	coll_clv/coll_clv_early.c \
	coll_clv/coll_clv_account.c \
	coll_clv/coll_clv_call.c \
	coll_clv/coll_clv_call_group.c \
	coll_clv/coll_clv_fit.c \
	coll_clv/coll_clv_run.c \
	coll_clv/coll_clv_show.c \
	coll_clv/coll_clv_compare.c \
	coll_clv/coll_clv_component.c \
	coll_clv/coll_clv_relay.c \
	coll_clv/coll_clv_devices.c \
	coll_clv/coll_clv_execute.c \
	coll_clv/coll_clv_failure.c \
	coll_clv/coll_clv_gather.c \
	coll_clv/coll_clv_group.c \
	coll_clv/coll_clv_help.c \
	coll_clv/coll_clv_hint.c \
	coll_clv/coll_clv_known.c \
	coll_clv/coll_clv_levels.c \
	coll_clv/coll_clv_module.c \
	coll_clv/coll_clv_params.c \
	coll_clv/coll_clv_pvars.c \
	coll_clv/coll_clv_peers.c \
	coll_clv/coll_clv_process.c \
	coll_clv/coll_clv_processors.c \
	coll_clv/coll_clv_record.c \
	coll_clv/coll_clv_record_calls.c \
	coll_clv/coll_clv_record_requests.c \
	coll_clv/coll_clv_reduce.c \
	coll_clv/coll_clv_ring.c \
	coll_clv/coll_clv_select.c \
	coll_clv/coll_clv_setup.c \
	coll_clv/coll_clv_summary.c \
	coll_clv/coll_clv_tell.c \
	coll_clv/coll_clv_unknown.c \
	coll_clv/coll_clv_listen.c \
	coll_clv/coll_clv_sleep.c \
	coll_clv/coll_clv_wait.c

unit_tests += tests/coll_clv/test_coll_tables tests/coll_clv/test_coll_known
tests_coll_clv_test_coll_known_SOURCES = tests/coll_clv/test_coll_known.c coll_clv/coll_clv_known.c \
	coll_clv/coll_clv_known.h

# Programs for the scripts below.
mpi_programs += tests/mpi/coll_probe tests/mpi/hooks_probe tests/mpi/coll_others tests/mpi/life_cases \
	tests/mpi/other_library tests/mpi/hint_cases tests/mpi/costs tests/mpi/reduce_cases \
	tests/mpi/clock_watch tests/mpi/record_cases tests/mpi/record_requests tests/mpi/record_latency tests/mpi/user_operations \
	tests/mpi/allreduce_cases tests/mpi/allreduce_bits tests/mpi/bcast_cases tests/mpi/padded_cases tests/mpi/wrong_count
clv_pvar_look_sources = tests/mpi/pvar_look.c tests/mpi/pvar_look.h tests/support/pvar_table.h
clv_reduce_cases_sources = tests/mpi/reduce_cases.c tests/mpi/reduce_check.c \
	tests/mpi/reduce_check.h
tests_mpi_coll_probe_SOURCES = tests/mpi/coll_probe.c tests/support/pvar_table.h
tests_mpi_other_library_SOURCES = tests/mpi/other_library.c $(clv_pvar_look_sources)
tests_mpi_padded_cases_SOURCES = tests/mpi/padded_cases.c tests/mpi/guarded_heap.c \
	tests/mpi/guarded_heap.h $(clv_pvar_look_sources)
tests_mpi_user_operations_SOURCES = tests/mpi/user_operations.c $(clv_pvar_look_sources)
mpi_programs += tests/mpi/limit_cases tests/mpi/memory_cases tests/mpi/stall tests/mpi/channel_down \
	tests/mpi/broken_call tests/mpi/known_links tests/mpi/levels_cases tests/mpi/setup_cases
tests_mpi_setup_cases_SOURCES = tests/mpi/setup_cases.c $(clv_pvar_look_sources)
tests_mpi_known_links_SOURCES = tests/mpi/known_links.c $(clv_pvar_look_sources)
tests_mpi_levels_cases_SOURCES = tests/mpi/levels_cases.c $(clv_pvar_look_sources)
tests_mpi_levels_cases_LDADD = $(LDADD) -ldl
tests_mpi_channel_down_SOURCES = tests/mpi/channel_down.c $(clv_pvar_look_sources)
tests_mpi_soak_SOURCES = tests/mpi/soak.c tests/mpi/soak.h tests/mpi/soak_calls.c tests/mpi/soak_crash.c \
	tests/mpi/soak_preempt.c $(clv_pvar_look_sources)
tests_mpi_soak_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
tests_mpi_allreduce_bits_SOURCES = tests/mpi/allreduce_bits.c $(clv_pvar_look_sources)
tests_mpi_stall_SOURCES = tests/mpi/stall.c $(clv_pvar_look_sources)
tests_mpi_hint_cases_SOURCES = tests/mpi/hint_cases.c clv.h
tests_mpi_costs_SOURCES = tests/mpi/costs.c $(clv_pvar_look_sources)
tests_mpi_reduce_cases_SOURCES = $(clv_reduce_cases_sources) tests/mpi/reduce_plain.c
tests_mpi_allreduce_cases_SOURCES = $(clv_reduce_cases_sources) tests/mpi/allreduce_plain.c
clv_clock_drift_sources = tests/support/clock_drift.c tests/support/clock_drift.h
tests_mpi_clock_watch_SOURCES = tests/mpi/clock_watch.c $(clv_pvar_look_sources) \
	$(clv_clock_drift_sources)
tests_mpi_clock_watch_LDADD = -ldl
mpi_programs += tests/mpi/arrival_truth tests/mpi/iterations tests/mpi/early_probe tests/mpi/wait_cases \
	tests/mpi/wait_breaks
tests_mpi_wait_breaks_SOURCES = tests/mpi/wait_breaks.c clv.h
tests_mpi_wait_cases_SOURCES = tests/mpi/wait_cases.c $(clv_pvar_look_sources)
tests_mpi_iterations_SOURCES = tests/mpi/iterations.c $(clv_pvar_look_sources) \
	$(clv_bench_process_sources)
tests_mpi_early_probe_SOURCES = tests/mpi/early_probe.c
tests_mpi_arrival_truth_SOURCES = tests/mpi/arrival_truth.c $(clv_clock_drift_sources)
tests_mpi_arrival_truth_LDADD = $(LDADD) -ldl

if CLV_HAVE_OMPI
script_tests += tests/mpi/test_select.sh tests/mpi/test_summary.sh tests/mpi/test_params.sh tests/mpi/test_algorithms.sh \
	tests/mpi/test_peers.sh tests/mpi/test_library.sh tests/mpi/test_pvars.sh \
	tests/mpi/test_life.sh tests/mpi/test_costs.sh tests/mpi/test_clock_watch.sh \
	tests/mpi/test_keys.sh tests/mpi/test_levels.sh tests/mpi/test_nodes.sh tests/mpi/test_setup.sh tests/mpi/test_transports.sh \
	tests/mpi/test_padded.sh tests/mpi/test_stacks.sh
# The executor without its component: needs Open MPI's internal headers and libraries.
mpi_programs += tests/mpi/execute_cases tests/mpi/execute_errors tests/mpi/execute_goals tests/mpi/soak \
	tests/mpi/gather_cases
endif
script_tests += tests/mpi/test_stall.sh tests/mpi/test_channel.sh tests/mpi/test_bridges.sh tests/mpi/test_reach.sh tests/mpi/test_execute.sh tests/mpi/test_reduce.sh tests/mpi/test_trouble.sh \
	tests/mpi/test_hint.sh tests/mpi/test_fallback.sh tests/mpi/test_ahead.sh tests/mpi/test_memory.sh tests/mpi/test_limits.sh tests/mpi/test_allreduce.sh tests/mpi/test_bits.sh \
	tests/mpi/test_bits_cut.sh tests/mpi/test_bcast.sh tests/mpi/test_devices.sh tests/mpi/test_processors.sh tests/mpi/test_wait.sh
# Their objects are the component's, made with it; younger than it, so that programs follow in the same make.
clv_gather_objects = coll_clv/.libs/mca_coll_clv_la-coll_clv_failure.o coll_clv/.libs/mca_coll_clv_la-coll_clv_gather.o
clv_execute_objects = coll_clv/.libs/mca_coll_clv_la-coll_clv_ahead.o \
	coll_clv/.libs/mca_coll_clv_la-coll_clv_buffers.o coll_clv/.libs/mca_coll_clv_la-coll_clv_execute.o \
	coll_clv/.libs/mca_coll_clv_la-coll_clv_wait.o $(clv_gather_objects)
$(clv_execute_objects): mca_coll_clv.la
	@touch $@
tests_mpi_execute_cases_SOURCES = $(clv_reduce_cases_sources) tests/mpi/reduce_direct.c
tests_mpi_execute_cases_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
tests_mpi_execute_cases_LDADD = $(clv_execute_objects) $(LDADD)
# Open MPI's internal libraries have other names in each version; libmpi knows them.
tests_mpi_execute_cases_LDFLAGS = $(AM_LDFLAGS) -Wl,--copy-dt-needed-entries
tests_mpi_execute_errors_CPPFLAGS = $(tests_mpi_execute_cases_CPPFLAGS)
tests_mpi_execute_errors_LDADD = $(clv_execute_objects) $(LDADD)
tests_mpi_execute_errors_LDFLAGS = $(tests_mpi_execute_cases_LDFLAGS)
tests_mpi_execute_goals_SOURCES = tests/mpi/execute_goals.c $(clv_random_plan_sources) tests/support/random_instance.h
tests_mpi_execute_goals_CPPFLAGS = $(tests_mpi_execute_cases_CPPFLAGS)
tests_mpi_execute_goals_LDADD = $(clv_execute_objects) $(LDADD)
tests_mpi_execute_goals_LDFLAGS = $(tests_mpi_execute_cases_LDFLAGS)
tests_mpi_gather_cases_CPPFLAGS = $(tests_mpi_execute_cases_CPPFLAGS)
tests_mpi_gather_cases_LDADD = $(clv_gather_objects) $(LDADD)
tests_mpi_gather_cases_LDFLAGS = $(tests_mpi_execute_cases_LDFLAGS)
