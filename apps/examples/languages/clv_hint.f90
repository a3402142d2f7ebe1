! SPDX-License-Identifier: BSD-3-Clause
!
! clv.h for Fortran: tells clv when this rank will arrive at its next reduce, allreduce or broadcast,
! or how far the work before it is, and asks how long it will wait there. Link clv_hint.c beside it.
!
!     use clv_hint
!     taken = clv_hint_arrival(MPI_COMM_WORLD%MPI_VAL, 25000000_c_long_long)   ! in 25 ms
!     call work()        ! or in it: taken = clv_hint_progress(MPI_COMM_WORLD%MPI_VAL, done, total)
!     call MPI_Reduce(...)
!
! 1 when clv took it, 0 where it is absent. And how long this rank will wait for the others:
!
!     ns = clv_expected_wait_ns(MPI_COMM_WORLD%MPI_VAL)   ! -1: not known
!
! The rest as clv.h says.
module clv_hint
    use, intrinsic :: iso_c_binding, only: c_double, c_int, c_long_long
    implicit none
    interface
        integer(c_int) function clv_hint_arrival(comm, ns_from_now) bind(C, name='clv_hint_arrival_f')
            import :: c_int, c_long_long
            integer(c_int), value :: comm
            integer(c_long_long), value :: ns_from_now
        end function
        integer(c_int) function clv_hint_progress(comm, done, total) bind(C, name='clv_hint_progress_f')
            import :: c_double, c_int
            integer(c_int), value :: comm
            real(c_double), value :: done, total
        end function
        integer(c_long_long) function clv_expected_wait_ns(comm) bind(C, name='clv_expected_wait_ns_f')
            import :: c_int, c_long_long
            integer(c_int), value :: comm
        end function
    end interface
end module
