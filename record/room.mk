# record: sources, the tool that reads what was recorded, tests.
clv_record_headers = record/record_clva.h record/record_ring.h record/record_drain.h record/record_pending.h record/record_early.h
clv_record_sources = record/record_clva.c record/record_clva_read.c record/record_ring.c record/record_drain.c record/record_pending.c record/record_early.c

installed_programs += tools/clv-view
installed_manuals += docs/man/clv-view.1
tools_clv_view_SOURCES = tools/clv-view.c tools/view/view.h tools/view/view_blame.c tools/view/view_count.c tools/view/view_index.h \
	tools/view/view_export.c tools/view/view_index.c tools/view/view_live.c tools/view/view_load.c tools/view/view_not_taken.c tools/view/view_page.c tools/view/view_print.c \
	tools/view/view_print_what_if.c tools/view/view_what_if.c
# Empty without OTF2. In a condition it would take the place of LDADD where the condition does not hold, too.
tools_clv_view_LDADD = $(LDADD) $(OTF2_LIBS)
if CLV_HAVE_OTF2
tools_clv_view_SOURCES += tools/view/view_otf2.c
else
tools_clv_view_SOURCES += tools/view/view_no_otf2.c
endif
EXTRA_DIST += tools/view/page.html tools/view/page_lines.awk
tools/view/page_lines.inc: $(srcdir)/tools/view/page.html $(srcdir)/tools/view/page_lines.awk
	$(AM_V_GEN)$(MKDIR_P) tools/view && \
	awk -f $(srcdir)/tools/view/page_lines.awk $(srcdir)/tools/view/page.html >$@.new && mv $@.new $@
tools/view/view_page.$(OBJEXT): tools/view/page_lines.inc
CLEANFILES += tools/view/page_lines.inc

unit_tests += tests/unit/test_record tests/unit/test_clva tests/unit/test_view_index tests/fuzz/fuzz_clva
script_tests += tests/fuzz/libfuzzer_clva.sh
tests_unit_test_view_index_SOURCES = tests/unit/test_view_index.c tools/view/view_index.h \
	tools/view/view_index.c
tool_programs += tests/support/clva-make
tests_support_clva_make_SOURCES = tests/support/clva_make.c
tool_programs += tests/support/clva-script
tests_support_clva_script_SOURCES = tests/support/clva_script.c
script_tests += tests/unit/test_view_tool.sh tests/unit/test_view_blame.sh tests/unit/test_view_page.sh
if CLV_HAVE_OMPI
script_tests += tests/mpi/test_recorder.sh tests/mpi/test_record_requests.sh
endif
