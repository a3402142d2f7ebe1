clv_clocksync_headers = clocksync/clocksync.h clocksync/cs_internal.h
clv_clocksync_sources = clocksync/cs_model.c clocksync/cs_fit.c clocksync/cs_tracker.c
