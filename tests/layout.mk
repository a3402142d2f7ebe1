tool_programs += tests/layout/params_doc
tests_layout_params_doc_SOURCES = tests/layout/params_doc.c coll_clv/coll_clv_tables.h
tests_layout_params_doc_LDADD =
script_tests += tests/layout/test_layout.sh
