#!/bin/bash
# Fuzzes the reader of arrival traces, starting from small valid ones; see libfuzzer.sh.
. "$CLV_TOP/tests/fuzz/libfuzzer.sh"
start=$(mktemp -d)
printf 'clv-trace 1\nranks 2\ncall 0 | 0 1 | 2 3\ncall 5 | 9 -8 | 10 11\n' >"$start/plain"
printf '# by hand\nclv-trace 1\r\nranks 1\nabout root 0\n\ncall 0|7|7' >"$start/odd"
libfuzzer fuzz_trace.c 512 trace/trace.c trace/trace_read.c util/util_alloc.c util/util_status.c \
    -- "$start"/*
status=$?
rm -rf "$start"
exit $status
