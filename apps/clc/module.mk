# clc: sources, the tool, tests. A library of its own, since programs need it and the component does
# not.
clv_clc_headers = \
	apps/clc/clc.h \
	apps/clc/clc_internal.h \
	apps/clc/clc_latency.h \
	apps/clc/clc_match.h \
	apps/clc/clc_parallel.h \
	apps/clc/clc_presync.h \
	apps/clc/clc_records.h \
	apps/clc/clc_refine.h \
	apps/clc/clc_replay.h
clv_clc_sources = \
	apps/clc/clc_backward.c \
	apps/clc/clc_count.c \
	apps/clc/clc_depend.c \
	apps/clc/clc_forward.c \
	apps/clc/clc_hull.c \
	apps/clc/clc_latency.c \
	apps/clc/clc_line.c \
	apps/clc/clc_match.c \
	apps/clc/clc_parallel.c \
	apps/clc/clc_presync.c \
	apps/clc/clc_records.c \
	apps/clc/clc_refine.c \
	apps/clc/clc_replay.c \
	apps/clc/clc_trace.c

unit_tests += tests/apps/test_clc_parts tests/apps/test_clc_random tests/apps/test_clc_match
unit_tests += tests/apps/test_clc_presync tests/apps/test_clc_refine
clv_synth_sources = tests/support/clc_synth.c tests/support/clc_synth.h tests/sim/cs_random.h
tests_apps_test_clc_random_SOURCES = tests/apps/test_clc_random.c $(clv_synth_sources)
tests_apps_test_clc_presync_SOURCES = tests/apps/test_clc_presync.c $(clv_synth_sources)
tests_apps_test_clc_refine_SOURCES = tests/apps/test_clc_refine.c tests/sim/cs_random.h
unit_tests += tests/apps/test_correct_clva
tests_apps_test_correct_clva_SOURCES = tests/apps/test_correct_clva.c apps/tools/correct/correct_clva.c \
	apps/tools/correct/correct.h tests/sim/cs_random.h
EXTRA_DIST += tests/fuzz/fuzz_clc_records.c apps/tools/correct/otf2_records.awk \
	apps/tools/correct/otf2_records.txt docs/man/clv-correct.1

clv_recorder_libraries =
# OTF2 in, OTF2 out. A row for every kind of record the installed headers have, or no tool.
if CLV_HAVE_OTF2
installed_programs += apps/tools/clv-correct
installed_manuals += docs/man/clv-correct.1
clv_correct_sources = \
	apps/tools/clv-correct.c \
	apps/tools/correct/correct.h \
	apps/tools/correct/correct_chrome.c \
	apps/tools/correct/correct_clocks.c \
	apps/tools/correct/correct_clva.c \
	apps/tools/correct/correct_crew.h \
	apps/tools/correct/correct_definitions.c \
	apps/tools/correct/correct_events.c \
	apps/tools/correct/correct_fail.c \
	apps/tools/correct/correct_latency.c \
	apps/tools/correct/correct_notes.h \
	apps/tools/correct/correct_records.c \
	apps/tools/correct/correct_refine.c \
	apps/tools/correct/correct_report.c \
	apps/tools/correct/correct_run.c \
	apps/tools/correct/correct_store.c \
	apps/tools/correct/correct_truth.c \
	apps/tools/otf2/otf2_create.h
apps_tools_clv_correct_SOURCES = $(clv_correct_sources) apps/tools/correct/correct_alone.c
apps_tools_clv_correct_LDADD = $(clv_core_libs) $(OTF2_LIBS)
# What clv-correct becomes under mpirun; not for users.
if CLV_HAVE_MPI
pkglibexec_PROGRAMS = apps/tools/replay/clv-correct-mpi
apps_tools_replay_clv_correct_mpi_SOURCES = $(clv_correct_sources) \
	apps/tools/replay/replay.h \
	apps/tools/replay/replay_crew.c \
	apps/tools/replay/replay_forward.c \
	apps/tools/replay/replay_homes.c \
	apps/tools/replay/replay_packets.c \
	apps/tools/replay/replay_stamps.c
apps_tools_replay_clv_correct_mpi_LDADD = $(clv_core_libs) $(OTF2_LIBS)
script_tests += tests/mpi/test_correct_replay.sh
endif
clv_otf2_headers = \
	$(OTF2_INCLUDE)/otf2/OTF2_EvtReaderCallbacks.h \
	$(OTF2_INCLUDE)/otf2/OTF2_GlobalDefReaderCallbacks.h \
	$(OTF2_INCLUDE)/otf2/OTF2_DefReaderCallbacks.h
clv_otf2_table = $(srcdir)/apps/tools/correct/otf2_records.txt
clv_otf2_maker = $(srcdir)/apps/tools/correct/otf2_records.awk
apps/tools/correct/otf2_records.inc: $(clv_otf2_table) $(clv_otf2_maker) $(clv_otf2_headers)
	$(AM_V_GEN)$(MKDIR_P) apps/tools/correct && \
	    $(AWK) -f $(clv_otf2_maker) $(clv_otf2_table) $(clv_otf2_headers) > $@.new && mv $@.new $@
apps/tools/correct/correct_records.$(OBJEXT): apps/tools/correct/otf2_records.inc
CLEANFILES += apps/tools/correct/otf2_records.inc

tool_programs += tests/support/otf2_make
tests_support_otf2_make_SOURCES = tests/support/otf2_make.c $(clv_synth_sources)
tests_support_otf2_make_LDADD = $(clv_core_libs) $(OTF2_LIBS)
script_tests += tests/apps/test_correct_tool.sh

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
