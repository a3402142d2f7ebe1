# util: sources, tests. What no file of the component uses is in clv_read_sources, here and below.
clv_util_sources = util/util_status.c util/util_alloc.c util/util_log.c util/util_place.c util/util_list.c \
	util/util_near.c util/util_processors.c util/util_secret.c util/util_limit.c util/util_topology.c
clv_util_headers = util/util_status.h util/util_alloc.h util/util_hash.h util/util_log.h \
	util/util_time.h util/util_version.h util/util_link.h util/util_hot.h util/util_min_max.h \
	util/util_bytes.h util/util_divide.h util/util_place.h util/util_list.h util/util_secret.h \
	util/util_limit.h util/util_near.h util/util_processors.h util/util_topology.h
clv_read_sources = util/util_text.c
clv_read_headers = util/util_text.h
unit_tests += tests/util/test_util tests/util/test_util_limit tests/util/test_util_place tests/util/test_util_processors \
	tests/util/test_util_topology
