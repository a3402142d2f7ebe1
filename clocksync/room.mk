clv_clocksync_headers = clocksync/clocksync.h clocksync/cs_internal.h clocksync/cs_pair.h \
	clocksync/cs_run.h
clv_clocksync_sources = clocksync/cs_model.c clocksync/cs_fit.c clocksync/cs_tracker.c \
	clocksync/cs_clock.c clocksync/cs_pair.c clocksync/cs_offset.c clocksync/cs_learn.c \
	clocksync/cs_star.c clocksync/cs_up.c clocksync/cs_down.c clocksync/cs_sync.c \
	clocksync/cs_check.c clocksync/cs_label.c clocksync/cs_place.c
