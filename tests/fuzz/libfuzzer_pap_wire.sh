#!/bin/bash
# Fuzzes the protocol's decoder and state machine; see libfuzzer.sh.
. "$CLV_TOP/tests/fuzz/libfuzzer.sh"
libfuzzer fuzz_pap_wire
