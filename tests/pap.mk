unit_tests += tests/unit/test_pap_mac
tests_unit_test_pap_mac_SOURCES = tests/unit/test_pap_mac.c
tests_unit_test_pap_mac_LDADD = $(clv_test_libs)
unit_tests += tests/unit/test_pap_group
tests_unit_test_pap_group_SOURCES = tests/unit/test_pap_group.c tests/support/pap_job.c tests/support/pap_job.h
tests_unit_test_pap_group_LDADD = $(clv_test_libs)
