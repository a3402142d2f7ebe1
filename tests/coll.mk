unit_tests += tests/unit/test_coll_decide
tests_unit_test_coll_decide_SOURCES = tests/unit/test_coll_decide.c \
	coll_clv/coll_clv_decide.c coll_clv/coll_clv_sheet.c
tests_unit_test_coll_decide_LDADD = $(clv_test_libs)
