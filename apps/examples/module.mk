# examples: the programs that ./clv run shows, and their test.
clv_transport_sources = \
	apps/examples/transport/transport.c \
	apps/examples/transport/transport.h \
	apps/examples/transport/transport_options.c \
	apps/examples/transport/transport_physics.c \
	apps/examples/transport/transport_report.c

mpi_programs += apps/examples/transport/transport tests/mpi/transport_broken
apps_examples_transport_transport_SOURCES = $(clv_transport_sources)
# No library that it does without: ./clv run waits for it.
apps_examples_transport_transport_LDADD = libclvtrace.a $(clv_core_lib)
tests_mpi_transport_broken_SOURCES = $(clv_transport_sources) tests/mpi/broken_reduce.c

mpi_programs += apps/examples/uneven/uneven

mpi_programs += apps/examples/kmeans/kmeans tests/mpi/kmeans_broken
tests_mpi_kmeans_broken_SOURCES = apps/examples/kmeans/kmeans.c tests/mpi/broken_allreduce.c

mpi_programs += apps/examples/lend/lend
apps_examples_lend_lend_SOURCES = apps/examples/lend/lend.c clv.h

script_tests += tests/mpi/test_example.sh tests/mpi/test_languages.sh tests/mpi/test_training.sh
