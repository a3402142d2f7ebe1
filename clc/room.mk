# clc: sources, the tool, tests. A library of its own, since programs need it and the component does
# not.
clv_clc_headers = \
	clc/clc.h \
	clc/clc_internal.h \
	clc/clc_latency.h \
	clc/clc_match.h \
	clc/clc_parallel.h \
	clc/clc_presync.h \
	clc/clc_records.h \
	clc/clc_refine.h
clv_clc_sources = \
	clc/clc_backward.c \
	clc/clc_count.c \
	clc/clc_depend.c \
	clc/clc_forward.c \
	clc/clc_hull.c \
	clc/clc_latency.c \
	clc/clc_line.c \
	clc/clc_match.c \
	clc/clc_parallel.c \
	clc/clc_presync.c \
	clc/clc_records.c \
	clc/clc_refine.c \
	clc/clc_trace.c

unit_tests += tests/unit/test_clc_parts tests/unit/test_clc_random tests/unit/test_clc_match
unit_tests += tests/unit/test_clc_presync tests/unit/test_clc_refine
clv_synth_sources = tests/support/clc_synth.c tests/support/clc_synth.h tests/sim/cs_random.h
tests_unit_test_clc_random_SOURCES = tests/unit/test_clc_random.c $(clv_synth_sources)
tests_unit_test_clc_presync_SOURCES = tests/unit/test_clc_presync.c $(clv_synth_sources)
tests_unit_test_clc_refine_SOURCES = tests/unit/test_clc_refine.c tests/sim/cs_random.h
unit_tests += tests/unit/test_correct_clva
tests_unit_test_correct_clva_SOURCES = tests/unit/test_correct_clva.c tools/correct/correct_clva.c \
	tools/correct/correct.h tests/sim/cs_random.h
EXTRA_DIST += tests/fuzz/fuzz_clc_records.c tools/correct/otf2_records.awk \
	tools/correct/otf2_records.txt docs/man/clv-correct.1

clv_recorder_libraries =
# OTF2 in, OTF2 out. A row for every kind of record the installed headers have, or no tool.
if CLV_HAVE_OTF2
installed_programs += tools/clv-correct
installed_manuals += docs/man/clv-correct.1
tools_clv_correct_SOURCES = \
	tools/clv-correct.c \
	tools/correct/correct.h \
	tools/correct/correct_chrome.c \
	tools/correct/correct_clocks.c \
	tools/correct/correct_clva.c \
	tools/correct/correct_definitions.c \
	tools/correct/correct_events.c \
	tools/correct/correct_fail.c \
	tools/correct/correct_latency.c \
	tools/correct/correct_notes.h \
	tools/correct/correct_records.c \
	tools/correct/correct_refine.c \
	tools/correct/correct_report.c \
	tools/correct/correct_run.c \
	tools/correct/correct_store.c \
	tools/correct/correct_truth.c \
	tools/otf2/otf2_create.h
tools_clv_correct_LDADD = $(clv_core_libs) $(OTF2_LIBS)
clv_otf2_headers = \
	$(OTF2_INCLUDE)/otf2/OTF2_EvtReaderCallbacks.h \
	$(OTF2_INCLUDE)/otf2/OTF2_GlobalDefReaderCallbacks.h \
	$(OTF2_INCLUDE)/otf2/OTF2_DefReaderCallbacks.h
clv_otf2_table = $(srcdir)/tools/correct/otf2_records.txt
clv_otf2_maker = $(srcdir)/tools/correct/otf2_records.awk
tools/correct/otf2_records.inc: $(clv_otf2_table) $(clv_otf2_maker) $(clv_otf2_headers)
	$(AM_V_GEN)$(MKDIR_P) tools/correct && \
	    $(AWK) -f $(clv_otf2_maker) $(clv_otf2_table) $(clv_otf2_headers) > $@.new && mv $@.new $@
tools/correct/correct_records.$(OBJEXT): tools/correct/otf2_records.inc
CLEANFILES += tools/correct/otf2_records.inc

tool_programs += tests/support/otf2_make
tests_support_otf2_make_SOURCES = tests/support/otf2_make.c $(clv_synth_sources)
tests_support_otf2_make_LDADD = $(clv_core_libs) $(OTF2_LIBS)
script_tests += tests/unit/test_correct_tool.sh

# Preloaded into MPI programs: .libs/otf2_recorder.so
if CLV_HAVE_MPI
clv_recorder_libraries += otf2_recorder.la
otf2_recorder_la_SOURCES = tests/support/otf2_recorder.c tests/support/otf2_recorder_clock.c \
	tests/support/otf2_recorder.h
otf2_recorder_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
otf2_recorder_la_LIBADD = $(OTF2_LIBS) -lm
mpi_programs += tests/mpi/otf2_program
script_tests += tests/mpi/test_otf2_recorder.sh
endif
endif
