clv_coll_clv_headers = coll_clv/coll_clv_execute.h
clv_coll_clv_sources = coll_clv/coll_clv_execute.c
