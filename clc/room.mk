# clc: sources and tests. A library of its own, since programs need it and the component does not.
clv_clc_headers = clc/clc.h clc/clc_internal.h
clv_clc_sources = \
	clc/clc_backward.c \
	clc/clc_count.c \
	clc/clc_depend.c \
	clc/clc_forward.c \
	clc/clc_hull.c \
	clc/clc_line.c \
	clc/clc_trace.c

unit_tests += tests/unit/test_clc_parts tests/unit/test_clc_random
tests_unit_test_clc_random_SOURCES = tests/unit/test_clc_random.c tests/support/clc_synth.c \
	tests/support/clc_synth.h tests/sim/cs_random.h
