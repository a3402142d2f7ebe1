#!/bin/bash
# Fuzzes the reader of schedules and all that makes plans, starting from golden files; see
# libfuzzer.sh.
. "$CLV_TOP/tests/fuzz/libfuzzer.sh"
cd "$CLV_TOP" || exit 1
libfuzzer fuzz_sched.c 2048 tests/support/random_plan.c schedule/{,generators/}*.c \
    util/util_{alloc,status,log}.c \
    -- tests/data/golden/{00,01,02,03,05,07,09,12,15,17,29,goal-*}.txt
