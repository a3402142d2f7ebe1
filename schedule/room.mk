clv_schedule_headers =
clv_schedule_sources =
