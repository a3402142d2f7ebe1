# pap_predict: sources, tools, tests.
clv_net_headers = pap_predict/net/net_channel.h pap_predict/net/net_cores.h pap_predict/net/net_interface.h pap_predict/net/net_listen.h pap_predict/net/net_mac.h \
	pap_predict/net/net_place.h pap_predict/net/net_thread.h
clv_net_sources = pap_predict/net/net_channel.c pap_predict/net/net_interface.c pap_predict/net/net_listen.c pap_predict/net/net_mac.c pap_predict/net/net_place.c \
	pap_predict/net/net_thread.c
if CLV_HAVE_HWLOC
clv_net_sources += pap_predict/net/net_cores.c
endif

clv_pap_headers = pap_predict/agree/pap_agree.h pap_predict/agree/pap_agree_parts.h \
	pap_predict/agree/pap_record.h \
	pap_predict/agree/pap_record_set.h pap_predict/agree/pap_stream.h pap_predict/agree/pap_table.h \
	pap_predict/agree/pap_tree.h pap_predict/agree/pap_wire.h pap_predict/agree/pap_work.h pap_predict/pap_endpoint.h \
	pap_predict/pap_clock.h pap_predict/pap_leader.h pap_predict/pap_leader_parts.h \
	pap_predict/pap_polling.h \
	pap_predict/pap_predict.h pap_predict/pap_process.h pap_predict/predict/pap_follow.h \
	pap_predict/predict/pap_history.h \
	pap_predict/predict/pap_history_parts.h pap_predict/predict/pap_numbers.h pap_predict/predict/pap_predictors.h
clv_pap_sources = pap_predict/agree/pap_agree.c pap_predict/agree/pap_agree_end.c \
	pap_predict/agree/pap_agree_links.c pap_predict/agree/pap_agree_receive.c \
	pap_predict/agree/pap_agree_records.c pap_predict/agree/pap_agree_send.c \
	pap_predict/agree/pap_record.c \
	pap_predict/agree/pap_record_set.c pap_predict/agree/pap_stream.c pap_predict/agree/pap_table.c \
	pap_predict/agree/pap_tree.c pap_predict/agree/pap_wire.c pap_predict/agree/pap_work.c pap_predict/pap_endpoint.c \
	pap_predict/pap_clock.c pap_predict/pap_collect.c pap_predict/pap_relay.c pap_predict/pap_group.c \
	pap_predict/pap_leader.c pap_predict/pap_polling.c pap_predict/pap_process.c \
	pap_predict/pap_publish.c pap_predict/pap_route.c \
	pap_predict/predict/pap_follow.c pap_predict/predict/pap_compute.c pap_predict/predict/pap_ewma.c \
	pap_predict/predict/pap_forecast.c \
	pap_predict/predict/pap_hints.c pap_predict/predict/pap_history.c pap_predict/predict/pap_judge.c \
	pap_predict/predict/pap_numbers.c pap_predict/predict/pap_sampling.c pap_predict/predict/pap_median.c \
	pap_predict/predict/pap_periodic.c pap_predict/predict/pap_predictors.c \
	pap_predict/predict/pap_sma.c

tool_programs += tests/support/pap-attacker tests/support/pap-cost
tests_support_pap_attacker_SOURCES = tests/support/pap_attacker.c
clv_pap_job_sources = tests/support/pap_job.c tests/support/pap_job.h
tests_support_pap_cost_SOURCES = tests/support/pap_cost.c $(clv_pap_job_sources)

unit_tests += tests/fuzz/fuzz_pap_wire tests/sim/test_pap_sim tests/pap_predict/test_pap_agree \
	tests/pap_predict/test_pap_best tests/pap_predict/test_pap_relay tests/pap_predict/test_pap_forecast tests/pap_predict/test_pap_channel \
	tests/pap_predict/test_pap_family tests/pap_predict/test_pap_footprint tests/pap_predict/test_pap_group \
	tests/pap_predict/test_pap_hostile tests/pap_predict/test_pap_mac tests/pap_predict/test_pap_memory tests/pap_predict/test_pap_key_table \
	tests/pap_predict/test_pap_patience \
	tests/pap_predict/test_pap_polling tests/pap_predict/test_pap_place tests/pap_predict/test_pap_record tests/pap_predict/test_pap_secret \
	tests/pap_predict/test_pap_stream tests/pap_predict/test_pap_wire tests/pap_predict/test_pap_work
tests_sim_test_pap_sim_SOURCES = tests/sim/test_pap_sim.c tests/sim/pap_net.c tests/sim/pap_net.h
tests_pap_predict_test_pap_relay_SOURCES = tests/pap_predict/test_pap_relay.c $(clv_pap_job_sources)
tests_pap_predict_test_pap_secret_SOURCES = tests/pap_predict/test_pap_secret.c $(clv_pap_job_sources)
tests_pap_predict_test_pap_family_SOURCES = tests/pap_predict/test_pap_family.c $(clv_pap_job_sources)
tests_pap_predict_test_pap_group_SOURCES = tests/pap_predict/test_pap_group.c $(clv_pap_job_sources)
tests_pap_predict_test_pap_hostile_SOURCES = tests/pap_predict/test_pap_hostile.c $(clv_pap_job_sources)
tests_pap_predict_test_pap_memory_SOURCES = tests/pap_predict/test_pap_memory.c $(clv_pap_job_sources)
tests_pap_predict_test_pap_key_table_SOURCES = tests/pap_predict/test_pap_key_table.c $(clv_pap_job_sources)
tests_pap_predict_test_pap_patience_SOURCES = tests/pap_predict/test_pap_patience.c $(clv_pap_job_sources)
script_tests += tests/fuzz/libfuzzer_pap_wire.sh tests/pap_predict/test_pap_predict_tool.sh
