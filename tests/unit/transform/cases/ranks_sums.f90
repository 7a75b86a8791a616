! Sums over all ranks in routines of their own.
module sums
  use mpi
  implicit none
  integer, parameter :: n = 4000
contains
  subroutine total(a, all)
    integer, intent(in) :: a(n)
    integer, intent(out) :: all
    integer :: own, i, ierr
    own = 0
    do i = 1, n
      own = own + mod(a(i), 1000)
    end do
    call MPI_Allreduce(own, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  end subroutine

  ! A function, whose value has its name.
  integer function largest(a)
    integer, intent(in) :: a(n)
    integer :: own, ierr
    own = maxval(a)
    call MPI_Allreduce(own, largest, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
  end function largest

  ! In place, of the caller's number.
  subroutine summed(x)
    integer, intent(inout) :: x
    integer :: ierr
    call MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  end subroutine

  subroutine step(a, factor, b)
    integer, intent(inout) :: a(n)
    integer, intent(in) :: factor, b(n)
    integer :: i
    do i = 1, n
      a(i) = mod(a(i) + factor * b(i), 1009)
    end do
  end subroutine
end module

program main
  use mpi
  use sums
  implicit none
  integer :: u(n), v(n), w(n), first, all, next, last
  integer :: rank, ierr, i, k
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  do i = 1, n
    u(i) = mod(i * 7 + rank * 5, 32)
  end do
  v = u
  w = u
  first = 1
  do k = 1, 20
    call total(v, all)
    call step(w, mod(all, 7) + first, v)
    call step(u, -mod(all, 7), v)
    call total(u, next)
    call step(w, 3, v)
    first = mod(next, 5) + 1
    call step(v, first, u)
  end do
  last = 2 * largest(v) + 1
  call step(w, 5, u)
  last = last + sum(w)
  call summed(last)
  call step(w, 2, v)
  print '(4i12)', rank, first, last, w(3)
  call MPI_Finalize(ierr)
end program
