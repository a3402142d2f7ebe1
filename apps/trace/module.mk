# trace: sources and tests. A library of its own: programs need it, the component does not.
clv_trace_headers = apps/trace/trace.h apps/trace/trace_allprof.h apps/trace/trace_make.h apps/trace/trace_numbers.h apps/trace/trace_patterns.h
clv_trace_sources = apps/trace/trace.c apps/trace/trace_allprof.c apps/trace/trace_make.c apps/trace/trace_numbers.c apps/trace/trace_patterns.c \
	apps/trace/trace_read.c

unit_tests += tests/apps/test_trace tests/apps/test_trace_make tests/apps/test_trace_patterns \
	tests/apps/test_trace_numbers tests/fuzz/fuzz_trace
script_tests += tests/fuzz/libfuzzer_trace.sh
