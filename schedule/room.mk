clv_schedule_headers = schedule/schedule.h schedule/sched_instance.h schedule/sched_plan.h \
	schedule/sched_generators.h schedule/sched_cost.h schedule/sched_exec.h
clv_schedule_sources = schedule/sched_instance.c schedule/sched_plan.c schedule/sched_validate.c \
	schedule/sched_generators.c schedule/sched_clairvoyant.c schedule/sched_chain.c \
	schedule/sched_cost.c schedule/sched_exec.c
