/* SPDX-License-Identifier: BSD-3-Clause
 *
 * k-means by MPI_Allreduce, with an uneven load: each rank assigns its own points to the nearest of
 * the centres, and one allreduce per iteration adds the sums and counts of all clusters over the
 * ranks: clusters * (dimensions + 1) doubles. The last rank has more points.
 *
 * Coordinates are small whole numbers, so sums are exact in any order, and the centres equal those
 * of a serial run bit by bit. Rank 0 compares the two at the end.
 *
 * Written as by a user: plain MPI. --pace makes a rank sleep this long per point, in place of a
 * real program's work per point, where each rank has its own core.
 */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct options {
    int iterations; /* times exclude the first half */
    int points;     /* per rank */
    int uneven;     /* factor for the points of the last rank */
    int clusters;
    int dimensions;
    int pace; /* us per point */
} options_t;

/* One allreduce: for each cluster the sums of coordinates, then the number of points. */
typedef struct means {
    const options_t *options;
    double *centres;
    double *sums;
    size_t n_sums;
} means_t;

/* Coordinate d of point number `point`: 0 .. 255, near one of a few corners. */
static double coordinate(uint64_t point, uint64_t d)
{
    uint64_t z = (point % 7 * 1000 + d % 11) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t noise = (point * 65537 + d) * UINT64_C(0xbf58476d1ce4e5b9);

    z ^= z >> 29;
    noise ^= noise >> 31;
    return (double) (z * UINT64_C(0x94d049bb133111eb) >> 57) + (double) (noise >> 57);
}

static int points_of(const options_t *options, int rank, int size)
{
    return options->points * (rank == size - 1 && size > 1 ? options->uneven : 1);
}

static double distance(const options_t *options, const double *point, const double *centre,
                       double limit)
{
    double sum = 0;

    for (int d = 0; d < options->dimensions; d++) {
        sum += (point[d] - centre[d]) * (point[d] - centre[d]);
        if (d % 64 == 63 && sum >= limit) {
            break;
        }
    }
    return sum;
}

static int nearest(const means_t *means, const double *point)
{
    double least = INFINITY;
    int best = 0;

    for (int c = 0; c < means->options->clusters; c++) {
        const double *centre = means->centres + (size_t) c * (size_t) means->options->dimensions;
        const double far = distance(means->options, point, centre, least);
        if (far < least) {
            least = far;
            best = c;
        }
    }
    return best;
}

static void assign_point(means_t *means, uint64_t number)
{
    const options_t *options = means->options;
    double point[4096];
    double *cluster;

    for (int d = 0; d < options->dimensions; d++) {
        point[d] = coordinate(number, (uint64_t) d);
    }
    cluster = means->sums + (size_t) nearest(means, point) * (size_t) (options->dimensions + 1);
    for (int d = 0; d < options->dimensions; d++) {
        cluster[d] += point[d];
    }
    cluster[options->dimensions] += 1;
}

static void move_centres(means_t *means)
{
    const int n = means->options->dimensions;

    for (int c = 0; c < means->options->clusters; c++) {
        const double *sums = means->sums + (size_t) c * (size_t) (n + 1);
        for (int d = 0; d < n && sums[n] > 0; d++) {
            means->centres[(size_t) c * (size_t) n + (size_t) d] = sums[d] / sums[n];
        }
    }
}

static means_t begin(const options_t *options)
{
    const size_t n_centres = (size_t) options->clusters * (size_t) options->dimensions;
    means_t means = {.options = options, .n_sums = n_centres + (size_t) options->clusters};

    means.centres = calloc(n_centres, sizeof *means.centres);
    means.sums = calloc(means.n_sums, sizeof *means.sums);
    if (!means.centres || !means.sums) {
        fprintf(stderr, "kmeans: no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
        exit(2);
    }
    for (size_t i = 0; i < n_centres; i++) {
        means.centres[i] =
            coordinate(i / (size_t) options->dimensions * 3 + 1, i % (size_t) options->dimensions);
    }
    return means;
}

static void end(means_t *means)
{
    free(means->centres);
    free(means->sums);
}

/* ---- parallel and serial --------------------------------------------------------------------- */

typedef struct times {
    double iteration, in_call, in_call_most; /* s; this rank's mean, then the largest */
} times_t;

static void sleep_us(long us)
{
    const struct timespec time = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&time, NULL);
}

static times_t run_parallel(means_t *means, int rank, int size)
{
    const options_t *options = means->options;
    const uint64_t first = (uint64_t) options->points * (uint64_t) rank;
    const int n_points = points_of(options, rank, size), warm = options->iterations / 2;
    double started = 0, in_call = 0;
    times_t times = {0};

    for (int i = 0; i < options->iterations; i++) {
        started = i == warm ? MPI_Wtime() : started;
        memset(means->sums, 0, means->n_sums * sizeof *means->sums);
        for (int p = 0; p < n_points; p++) {
            assign_point(means, first + (uint64_t) p);
        }
        sleep_us((long) options->pace * n_points);
        const double called = MPI_Wtime();
        MPI_Allreduce(MPI_IN_PLACE, means->sums, (int) means->n_sums, MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
        in_call += i < warm ? 0 : MPI_Wtime() - called;
        move_centres(means);
    }
    const int counted = options->iterations - warm;
    times.iteration = (MPI_Wtime() - started) / counted;
    times.in_call = times.in_call_most = in_call / counted;
    MPI_Allreduce(MPI_IN_PLACE, &times.iteration, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &times.in_call, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &times.in_call_most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    times.in_call /= size;
    return times;
}

static void run_serial(means_t *means, int size)
{
    const options_t *options = means->options;
    const int n_points = options->points * (size - 1) + points_of(options, size - 1, size);

    for (int i = 0; i < options->iterations; i++) {
        memset(means->sums, 0, means->n_sums * sizeof *means->sums);
        for (int p = 0; p < n_points; p++) {
            assign_point(means, (uint64_t) p);
        }
        move_centres(means);
    }
}

/* 1 if all ranks have the result of a serial run, bit by bit. */
static int check(const means_t *means, int rank, int size)
{
    const size_t n_centres =
        (size_t) means->options->clusters * (size_t) means->options->dimensions;
    means_t serial = begin(means->options);
    int right;

    if (rank == 0) {
        run_serial(&serial, size);
    }
    MPI_Bcast(serial.centres, (int) n_centres, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    right = memcmp(serial.centres, means->centres, n_centres * sizeof *serial.centres) == 0;
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    end(&serial);
    return right;
}

/* ---- options --------------------------------------------------------------------------------- */

typedef struct option_row {
    const char *name;
    size_t place;
    int least, most;
} option_row_t;

static const option_row_t rows[] = {
    {"--iterations", offsetof(options_t, iterations), 2, 1000000},
    {"--points", offsetof(options_t, points), 1, 1000000},
    {"--uneven", offsetof(options_t, uneven), 1, 1000},
    {"--clusters", offsetof(options_t, clusters), 1, 65536},
    {"--dimensions", offsetof(options_t, dimensions), 1, 4096},
    {"--pace", offsetof(options_t, pace), 0, 1000000},
};

static int read_option(const char *name, const char *value, options_t *options)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *rest = NULL;
        const long number = value ? strtol(value, &rest, 10) : 0;
        if (strcmp(rows[i].name, name) != 0) {
            continue;
        }
        if (!value || rest == value || *rest || number < rows[i].least || number > rows[i].most) {
            fprintf(stderr, "kmeans: %s wants a whole number from %d to %d\n", name, rows[i].least,
                    rows[i].most);
            return 0;
        }
        *(int *) ((char *) options + rows[i].place) = (int) number;
        return 1;
    }
    fprintf(stderr, "kmeans: unknown option %s\n", name);
    return 0;
}

int main(int argc, char **argv)
{
    options_t options = {
        .iterations = 40, .points = 20, .uneven = 4, .clusters = 511, .dimensions = 512};
    int rank, size, right;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        if (equals != NULL) {
            *equals = '\0';
        }
        char *name = argv[i];
        if (!read_option(name, equals != NULL ? equals + 1 : argv[++i], &options)) {
            MPI_Finalize();
            return 2;
        }
    }
    means_t means = begin(&options);
    const times_t times = run_parallel(&means, rank, size);
    right = check(&means, rank, size);
    if (rank == 0) {
        printf("kmeans-result ranks=%d iterations=%d bytes=%zu iteration_ms=%.1f mean_ms=%.1f "
               "max_ms=%.1f check=%s\n",
               size, options.iterations, means.n_sums * sizeof *means.sums, times.iteration * 1e3,
               times.in_call * 1e3, times.in_call_most * 1e3, right ? "ok" : "failed");
    }
    end(&means);
    MPI_Finalize();
    return right ? 0 : 1;
}
