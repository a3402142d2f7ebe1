clv_coll_clv_headers = \
	coll_clv/coll_clv.h \
	coll_clv/coll_clv_calibrate.h \
	coll_clv/coll_clv_compat.h \
	coll_clv/coll_clv_decide.h \
	coll_clv/coll_clv_execute.h \
	coll_clv/coll_clv_group.h \
	coll_clv/coll_clv_peers.h \
	coll_clv/coll_clv_print.h \
	coll_clv/coll_clv_score.h \
	coll_clv/coll_clv_search.h \
	coll_clv/coll_clv_sheet.h \
	coll_clv/coll_clv_tables.h
clv_coll_clv_sources = \
	coll_clv/coll_clv_algorithms.c \
	coll_clv/coll_clv_calibrate.c \
	coll_clv/coll_clv_component.c \
	coll_clv/coll_clv_decide.c \
	coll_clv/coll_clv_execute.c \
	coll_clv/coll_clv_group.c \
	coll_clv/coll_clv_help.c \
	coll_clv/coll_clv_hint.c \
	coll_clv/coll_clv_module.c \
	coll_clv/coll_clv_params.c \
	coll_clv/coll_clv_peers.c \
	coll_clv/coll_clv_print.c \
	coll_clv/coll_clv_reduce.c \
	coll_clv/coll_clv_ring.c \
	coll_clv/coll_clv_score.c \
	coll_clv/coll_clv_search.c \
	coll_clv/coll_clv_select.c \
	coll_clv/coll_clv_sheet.c \
	coll_clv/coll_clv_tell.c
