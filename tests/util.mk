unit_tests += tests/unit/test_util
tests_unit_test_util_SOURCES = tests/unit/test_util.c
tests_unit_test_util_LDADD = $(clv_test_libs)
