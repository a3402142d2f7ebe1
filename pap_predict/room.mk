clv_pap_headers = pap_predict/pap_predict.h pap_predict/pap_vector.h pap_predict/pap_tree.h \
	pap_predict/pap_wire.h pap_predict/pap_agree.h pap_predict/pap_predictors.h \
	pap_predict/pap_board.h pap_predict/pap_stream.h
clv_pap_sources = pap_predict/pap_vector.c pap_predict/pap_tree.c pap_predict/pap_wire.c \
	pap_predict/pap_agree.c pap_predict/pap_stream.c pap_predict/pap_board.c \
	pap_predict/pap_predictors.c pap_predict/pap_sma.c pap_predict/pap_ewma.c \
	pap_predict/pap_median.c pap_predict/pap_periodic.c pap_predict/pap_compute.c
clv_pap_headers += pap_predict/pap_bytes.h pap_predict/pap_mac.h pap_predict/pap_interface.h \
	pap_predict/pap_card.h pap_predict/pap_table.h pap_predict/pap_channel.h
clv_pap_sources += pap_predict/pap_mac.c pap_predict/pap_interface.c pap_predict/pap_card.c \
	pap_predict/pap_table.c pap_predict/pap_channel.c
clv_pap_headers += pap_predict/pap_thread.h pap_predict/pap_clock.h pap_predict/pap_process.h \
	pap_predict/pap_leader.h pap_predict/pap_record.h
clv_pap_sources += pap_predict/pap_thread.c pap_predict/pap_clock.c pap_predict/pap_process.c \
	pap_predict/pap_listen.c pap_predict/pap_leader.c pap_predict/pap_record.c \
	pap_predict/pap_group.c
clv_pap_headers += pap_predict/pap_place.h pap_predict/pap_cores.h pap_predict/pap_best.h
clv_pap_sources += pap_predict/pap_place.c pap_predict/pap_best.c
if CLV_HAVE_HWLOC
clv_pap_sources += pap_predict/pap_cores.c
endif
clv_pap_headers += pap_predict/pap_pace.h
clv_pap_sources += pap_predict/pap_pace.c
