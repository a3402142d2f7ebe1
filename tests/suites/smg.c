/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of the controlled logical clock's paper: hypre's semicoarsening multigrid (SMG) on
 * a seven-point Laplacian, 16 x 16 x 8 cells on each rank, 5 iterations, between pauses.
 *
 * usage: smg [ROUNDS [PAUSE_S]]     1 round, 15 s before each and after the last
 *
 * Prints the sum of the solution after each round, on rank 0: runs with the same number of ranks
 * that did not print the same did not compute the same. For tests/suites/smg.sh.
 */
#include <HYPRE_struct_ls.h>
#include <HYPRE_utilities.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { DIMENSIONS = 3, STENCIL = 7, N_ITERATIONS = 5 };
static const int cells[DIMENSIONS] = {16, 16, 8};

typedef struct problem {
    HYPRE_StructGrid grid;
    HYPRE_StructStencil stencil;
    HYPRE_StructMatrix matrix;
    HYPRE_StructVector right_side, solution;
    int lower[DIMENSIONS], upper[DIMENSIONS], n_cells;
} problem_t;

static void place_cells(problem_t *problem)
{
    int n_ranks, rank, grid[DIMENSIONS] = {0, 0, 0};
    (void) MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    (void) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void) MPI_Dims_create(n_ranks, DIMENSIONS, grid);
    problem->n_cells = 1;
    for (int d = 0; d < DIMENSIONS; d++) {
        problem->lower[d] = rank % grid[d] * cells[d];
        problem->upper[d] = problem->lower[d] + cells[d] - 1;
        problem->n_cells *= cells[d];
        rank /= grid[d];
    }
}

static void make_matrix(problem_t *problem)
{
    int offsets[STENCIL][DIMENSIONS] = {{0, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {0, -1, 0},
                                        {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
    int entries[STENCIL] = {0, 1, 2, 3, 4, 5, 6};
    double *values = malloc(sizeof(double) * STENCIL * (size_t) problem->n_cells);
    if (values == NULL) {
        (void) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    HYPRE_StructStencilCreate(DIMENSIONS, STENCIL, &problem->stencil);
    for (int i = 0; i < STENCIL; i++) {
        HYPRE_StructStencilSetElement(problem->stencil, i, offsets[i]);
    }
    for (int i = 0; i < problem->n_cells * STENCIL; i++) {
        values[i] = i % STENCIL == 0 ? 6. : -1.;
    }
    HYPRE_StructMatrixCreate(MPI_COMM_WORLD, problem->grid, problem->stencil, &problem->matrix);
    HYPRE_StructMatrixInitialize(problem->matrix);
    HYPRE_StructMatrixSetBoxValues(problem->matrix, problem->lower, problem->upper, STENCIL,
                                   entries, values);
    HYPRE_StructMatrixAssemble(problem->matrix);
    free(values);
}

static void make_vector(const problem_t *problem, double value, HYPRE_StructVector *vector)
{
    HYPRE_StructVectorCreate(MPI_COMM_WORLD, problem->grid, vector);
    HYPRE_StructVectorInitialize(*vector);
    HYPRE_StructVectorSetConstantValues(*vector, value);
    HYPRE_StructVectorAssemble(*vector);
}

static void make_problem(problem_t *problem)
{
    place_cells(problem);
    HYPRE_StructGridCreate(MPI_COMM_WORLD, DIMENSIONS, &problem->grid);
    HYPRE_StructGridSetExtents(problem->grid, problem->lower, problem->upper);
    HYPRE_StructGridAssemble(problem->grid);
    make_matrix(problem);
    make_vector(problem, 1., &problem->right_side);
    make_vector(problem, 0., &problem->solution);
}

static void free_problem(problem_t *problem)
{
    HYPRE_StructVectorDestroy(problem->solution);
    HYPRE_StructVectorDestroy(problem->right_side);
    HYPRE_StructMatrixDestroy(problem->matrix);
    HYPRE_StructStencilDestroy(problem->stencil);
    HYPRE_StructGridDestroy(problem->grid);
}

static void solve(const problem_t *problem)
{
    HYPRE_StructSolver solver;
    HYPRE_StructVectorSetConstantValues(problem->solution, 0.);
    HYPRE_StructSMGCreate(MPI_COMM_WORLD, &solver);
    HYPRE_StructSMGSetMaxIter(solver, N_ITERATIONS);
    HYPRE_StructSMGSetTol(solver, 0.);
    HYPRE_StructSMGSetNumPreRelax(solver, 1);
    HYPRE_StructSMGSetNumPostRelax(solver, 1);
    HYPRE_StructSMGSetup(solver, problem->matrix, problem->right_side, problem->solution);
    HYPRE_StructSMGSolve(solver, problem->matrix, problem->right_side, problem->solution);
    HYPRE_StructSMGDestroy(solver);
}

/* Of all ranks' cells, on rank 0. */
static double sum_of_solution(problem_t *problem)
{
    double own = 0, sum = 0, *values = malloc(sizeof(double) * (size_t) problem->n_cells);
    if (values == NULL) {
        (void) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    HYPRE_StructVectorGetBoxValues(problem->solution, problem->lower, problem->upper, values);
    for (int i = 0; i < problem->n_cells; i++) {
        own += values[i];
    }
    free(values);
    (void) MPI_Reduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return sum;
}

int main(int argc, char **argv)
{
    const int n_rounds = argc > 1 ? atoi(argv[1]) : 1;
    const unsigned pause_s = (unsigned) (argc > 2 ? atoi(argv[2]) : 15);
    problem_t problem;
    int rank;
    (void) MPI_Init(&argc, &argv);
    (void) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    HYPRE_Init();
    make_problem(&problem);
    for (int round = 0; round < n_rounds; round++) {
        (void) sleep(pause_s);
        solve(&problem);
        const double sum = sum_of_solution(&problem);
        if (rank == 0) {
            printf("round %d: sum of the solution %.9e\n", round, sum);
        }
    }
    (void) sleep(pause_s);
    free_problem(&problem);
    HYPRE_Finalize();
    (void) MPI_Finalize();
    return 0;
}
