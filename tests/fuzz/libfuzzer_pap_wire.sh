#!/bin/bash
# Fuzzes the protocol's decoder and state machine; see libfuzzer.sh.
. "$CLV_TOP/tests/fuzz/libfuzzer.sh"
cd "$CLV_TOP" || exit 1
libfuzzer fuzz_pap_wire.c 2048 pap_predict/agree/pap_{record_set,tree,wire,agree{,_end,_links,_receive,_records,_send}}.c \
    util/util_{alloc,status}.c --
