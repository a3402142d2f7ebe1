clv_pap_headers =
clv_pap_sources =
