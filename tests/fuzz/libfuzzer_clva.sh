#!/bin/bash
# Fuzzes the decoder of .clva files, starting from a small valid one; see libfuzzer.sh.
. "$CLV_TOP/tests/fuzz/libfuzzer.sh"
libfuzzer fuzz_clva
