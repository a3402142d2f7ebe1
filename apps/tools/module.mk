# tools: programs for users, but clv-correct (../clc/module.mk).
installed_mpi_programs += apps/tools/clv-clock
installed_manuals += docs/man/clv-clock.1
apps_tools_clv_clock_CPPFLAGS = $(AM_CPPFLAGS) $(clv_bench_place_flags)
apps_tools_clv_clock_SOURCES = apps/tools/clv-clock.c apps/tools/clock_report.c apps/tools/clock_report.h \
	$(clv_bench_place_sources) $(clv_bench_plot_sources)

installed_programs += apps/tools/clv-predict
installed_manuals += docs/man/clv-predict.1
apps_tools_clv_predict_SOURCES = apps/tools/clv-predict.c

installed_programs += apps/tools/clv-view
installed_manuals += docs/man/clv-view.1
apps_tools_clv_view_SOURCES = apps/tools/clv-view.c apps/tools/view/view.h apps/tools/view/view_allprof.c apps/tools/view/view_blame.c apps/tools/view/view_count.c apps/tools/view/view_index.h \
	apps/tools/view/view_export.c apps/tools/view/view_index.c apps/tools/view/view_live.c apps/tools/view/view_load.c apps/tools/view/view_not_taken.c apps/tools/view/view_page.c apps/tools/view/view_print.c \
	apps/tools/view/view_print_what_if.c apps/tools/view/view_what_if.c
# Empty without OTF2. In a condition it would take the place of LDADD where the condition does not hold, too.
apps_tools_clv_view_LDADD = $(LDADD) $(OTF2_LIBS)
if CLV_HAVE_OTF2
apps_tools_clv_view_SOURCES += apps/tools/view/view_otf2.c
else
apps_tools_clv_view_SOURCES += apps/tools/view/view_no_otf2.c
endif
EXTRA_DIST += apps/tools/view/page.html
# C of the page: a string per line.
apps/tools/view/page_lines.inc: $(srcdir)/apps/tools/view/page.html
	$(AM_V_GEN)$(MKDIR_P) apps/tools/view && \
	sed -e 's/[\\"]/\\&/g' -e 's/.*/"&",/' $(srcdir)/apps/tools/view/page.html >$@.new && mv $@.new $@
apps/tools/view/view_page.$(OBJEXT): apps/tools/view/page_lines.inc
CLEANFILES += apps/tools/view/page_lines.inc

installed_programs += apps/tools/clv-plan
installed_manuals += docs/man/clv-plan.1

unit_tests += tests/apps/test_view_index
tests_apps_test_view_index_SOURCES = tests/apps/test_view_index.c apps/tools/view/view_index.h \
	apps/tools/view/view_index.c
script_tests += tests/apps/test_allprof.sh tests/apps/test_view_tool.sh tests/apps/test_view_blame.sh tests/apps/test_view_page.sh
