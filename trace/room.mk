# trace: sources and tests. A library of its own, since programs need it and the component does not.
clv_trace_headers = trace/trace.h trace/trace_make.h trace/trace_patterns.h
clv_trace_sources = trace/trace.c trace/trace_make.c trace/trace_patterns.c trace/trace_read.c

unit_tests += tests/unit/test_trace tests/unit/test_trace_make tests/unit/test_trace_patterns \
	tests/fuzz/fuzz_trace
script_tests += tests/fuzz/libfuzzer_trace.sh
