EXTRA_DIST += tests/sim/cs_random.h
unit_tests += tests/unit/test_cs_model
tests_unit_test_cs_model_SOURCES = tests/unit/test_cs_model.c
tests_unit_test_cs_model_LDADD = $(clv_test_libs)
unit_tests += tests/unit/test_cs_tracker
tests_unit_test_cs_tracker_SOURCES = tests/unit/test_cs_tracker.c
tests_unit_test_cs_tracker_LDADD = $(clv_test_libs)
