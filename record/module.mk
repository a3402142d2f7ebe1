# record: sources, tests.
clv_record_headers = record/record_clva.h record/record_ring.h record/record_drain.h record/record_pending.h record/record_early.h
clv_record_sources = record/record_clva.c record/record_ring.c record/record_drain.c record/record_pending.c record/record_early.c
clv_read_sources += record/record_clva_read.c

unit_tests += tests/record/test_record tests/record/test_clva tests/fuzz/fuzz_clva
script_tests += tests/fuzz/libfuzzer_clva.sh
tool_programs += tests/support/clva-make
tests_support_clva_make_SOURCES = tests/support/clva_make.c
tool_programs += tests/support/clva-script
tests_support_clva_script_SOURCES = tests/support/clva_script.c
if CLV_HAVE_OMPI
script_tests += tests/mpi/test_recorder.sh tests/mpi/test_record_requests.sh
endif
