! SPDX-License-Identifier: BSD-3-Clause
!
! The program of reduce.c in Fortran, with the module mpi_f08.
program reduce
    use mpi_f08
    use, intrinsic :: iso_c_binding, only: c_int
    implicit none
    integer, parameter :: doubles = 262144
    interface
        integer(c_int) function usleep(us) bind(C)
            import :: c_int
            integer(c_int), value :: us
        end function
    end interface
    double precision, allocatable :: mine(:), total(:)
    double precision :: started, entered, took, expected, in_reduce = 0, mean
    integer :: rank, n_ranks, call, calls = 60
    character(16) :: argument
    integer(c_int) :: unused
    logical :: is_right = .true.

    allocate (mine(doubles), source=0d0)
    allocate (total(doubles), source=0d0)
    if (command_argument_count() > 0) then
        call get_command_argument(1, argument)
        read (argument, *) calls
    end if
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, n_ranks)
    started = MPI_Wtime()
    do call = 1, calls
        unused = usleep(5000 + 35000*mod(5*rank, n_ranks)/max(n_ranks - 1, 1))
        mine(call) = rank + call
        entered = MPI_Wtime()
        call MPI_Reduce(mine, total, doubles, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD)
        in_reduce = in_reduce + MPI_Wtime() - entered
        expected = n_ranks*(n_ranks - 1)/2d0 + n_ranks*call
        if (rank == 0) is_right = is_right .and. abs(total(call) - expected) < 0.5d0
    end do
    call MPI_Barrier(MPI_COMM_WORLD)
    took = MPI_Wtime() - started
    call MPI_Reduce(in_reduce, mean, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD)
    if (rank == 0) then
        print '(a,f0.3,a,f0.1,a,a)', 'reduce-result run_s=', took, ' in_reduce_ms=', &
            1d3*mean/n_ranks/calls, ' check=', merge('ok    ', 'failed', is_right)
    end if
    call MPI_Finalize()
    if (.not. is_right) stop 1
end program
