unit_tests += tests/unit/test_pap_mac
tests_unit_test_pap_mac_SOURCES = tests/unit/test_pap_mac.c
tests_unit_test_pap_mac_LDADD = $(clv_test_libs)
