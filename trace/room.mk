# trace: sources and tests. A library of its own: programs need it, the component does not.
clv_trace_headers = trace/trace.h trace/trace_make.h trace/trace_numbers.h trace/trace_patterns.h
clv_trace_sources = trace/trace.c trace/trace_make.c trace/trace_numbers.c trace/trace_patterns.c \
	trace/trace_read.c

unit_tests += tests/unit/test_trace tests/unit/test_trace_make tests/unit/test_trace_patterns \
	tests/unit/test_trace_numbers tests/fuzz/fuzz_trace
script_tests += tests/fuzz/libfuzzer_trace.sh
