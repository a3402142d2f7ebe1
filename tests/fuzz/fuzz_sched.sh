#!/bin/bash
# Fuzzes the reader of schedules and all that makes plans, starting from golden files; see libfuzzer.sh.
. "$CLV_TOP/tests/fuzz/libfuzzer.sh"
libfuzzer fuzz_sched
