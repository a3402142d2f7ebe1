clv_pap_headers = pap_predict/pap_predict.h pap_predict/pap_vector.h pap_predict/pap_tree.h \
	pap_predict/pap_wire.h pap_predict/pap_agree.h pap_predict/pap_predictors.h \
	pap_predict/pap_board.h pap_predict/pap_stream.h
clv_pap_sources =
