# examples: the programs that ./clv run shows, and their test.
clv_transport_sources = \
	examples/transport/transport.c \
	examples/transport/transport_options.c \
	examples/transport/transport_options.h \
	examples/transport/transport_physics.c \
	examples/transport/transport_physics.h \
	examples/transport/transport_report.c \
	examples/transport/transport_report.h \
	examples/transport/transport_rng.h \
	examples/transport/transport_shares.c \
	examples/transport/transport_shares.h \
	examples/transport/transport_trace.c \
	examples/transport/transport_trace.h

mpi_programs += examples/transport/transport tests/mpi/transport_broken
examples_transport_transport_SOURCES = $(clv_transport_sources)
tests_mpi_transport_broken_SOURCES = $(clv_transport_sources) tests/mpi/broken_reduce.c

mpi_programs += examples/kmeans/kmeans tests/mpi/kmeans_broken
tests_mpi_kmeans_broken_SOURCES = examples/kmeans/kmeans.c tests/mpi/broken_allreduce.c

script_tests += tests/mpi/test_example.sh tests/mpi/test_kmeans.sh tests/mpi/test_languages.sh tests/mpi/test_train.sh
