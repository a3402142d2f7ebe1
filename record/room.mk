# record: sources, the tool that reads what was recorded, tests.
clv_record_headers = record/record_ring.h record/record_drain.h
clv_record_sources = record/record_ring.c record/record_drain.c

installed_programs += tools/clv-view
installed_manuals += docs/man/clv-view.1
tools_clv_view_SOURCES = tools/clv-view.c tools/view/view.h tools/view/view_count.c \
	tools/view/view_export.c tools/view/view_load.c tools/view/view_print.c

unit_tests += tests/unit/test_record
if CLV_HAVE_OMPI
script_tests += tests/mpi/test_recorder.sh
endif
