# trace: sources and tests. A library of its own, since programs need it and the component does not.
clv_trace_headers = trace/trace.h trace/trace_patterns.h
clv_trace_sources = trace/trace.c trace/trace_patterns.c

unit_tests += tests/unit/test_trace tests/unit/test_trace_patterns
tests_unit_test_trace_patterns_SOURCES = tests/unit/test_trace_patterns.c bench/bench_options.c \
	bench/bench_options.h
