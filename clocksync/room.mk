clv_clocksync_headers =
clv_clocksync_sources =
