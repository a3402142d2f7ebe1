# trace: sources and tests. What recorders need is in the component; the rest is a library of its own,
# since programs need it and the component does not.
clv_clva_headers = trace/trace_clva.h
clv_clva_sources = trace/trace_clva.c trace/trace_clva_read.c
clv_trace_headers = trace/trace.h trace/trace_make.h trace/trace_numbers.h trace/trace_patterns.h
clv_trace_sources = trace/trace.c trace/trace_make.c trace/trace_numbers.c trace/trace_patterns.c \
	trace/trace_read.c

unit_tests += tests/unit/test_trace tests/unit/test_trace_make tests/unit/test_trace_patterns \
	tests/unit/test_clva tests/unit/test_trace_numbers tests/fuzz/fuzz_trace tests/fuzz/fuzz_clva
script_tests += tests/fuzz/libfuzzer_trace.sh tests/fuzz/libfuzzer_clva.sh
