#!/bin/bash
# Fuzzes the decoder of .clva files, starting from a small valid one; see libfuzzer.sh.
. "$CLV_TOP/tests/fuzz/libfuzzer.sh"
start=$(mktemp -d)
{
    echo '{"clva":1,"n_ranks":2,"n_local":1,"n_nodes":1}'
    printf '\4\0\0\0\10\0\0\0\1\0\0\0\1\0\0\0' # the ranks of the node
    printf '\6\0\0\0\20\0\0\0\1\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0' # calls that were dropped
} >"$start/plain"
libfuzzer fuzz_clva.c 1024 trace/trace_clva.c trace/trace_clva_read.c util/util_list.c util/util_status.c \
    -- "$start"/*
status=$?
rm -rf "$start"
exit $status
