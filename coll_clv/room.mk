clv_coll_clv_headers =
clv_coll_clv_sources =
