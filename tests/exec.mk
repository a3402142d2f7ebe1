# Tests of the executor: pure, and over the PML.
unit_tests += tests/unit/test_sched_exec
tests_unit_test_sched_exec_SOURCES = tests/unit/test_sched_exec.c
tests_unit_test_sched_exec_LDADD = $(clv_test_libs)
