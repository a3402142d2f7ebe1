# sim: reduces on a machine simulated by SimGrid. bench/sim/run builds clv-sim with smpicc itself.
script_tests += tests/sim/test_smpi.sh
EXTRA_DIST += bench/sim/run bench/sim/platform bench/sim/clv_sim.c bench/sim/sim_direct.c \
	bench/sim/sim_direct.h bench/sim/sim_execute.c bench/sim/sim_execute.h bench/sim/sim_options.c \
	bench/sim/sim_options.h bench/sim/sim_plan.c bench/sim/sim_plan.h bench/sim/sim_predict.c \
	bench/sim/sim_predict.h bench/sim/sim_radix_k.c bench/sim/sim_radix_k.h bench/sim/sim_report.c \
	bench/sim/sim_report.h bench/sim/sim_round.c bench/sim/sim_round.h
