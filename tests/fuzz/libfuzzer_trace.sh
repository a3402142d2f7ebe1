#!/bin/bash
# Fuzzes the reader of arrival traces, starting from small valid ones; see libfuzzer.sh.
. "$CLV_TOP/tests/fuzz/libfuzzer.sh"
libfuzzer fuzz_trace
