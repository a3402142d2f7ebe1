# what_if: sources, tests. A library of its own: programs need it, the component does not.
clv_what_if_headers = apps/what_if/what_if.h apps/what_if/what_if_internal.h
clv_what_if_sources = apps/what_if/what_if.c apps/what_if/what_if_clv.c apps/what_if/what_if_fixed.c

unit_tests += tests/apps/test_what_if
tests_apps_test_what_if_SOURCES = tests/apps/test_what_if.c tests/support/random_instance.h
