clv_schedule_headers = schedule/schedule.h schedule/sched_exec.h
clv_schedule_sources = schedule/sched_exec.c
