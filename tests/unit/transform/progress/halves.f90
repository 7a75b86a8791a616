! Exchanges that a routine starts and another one completes, with requests in a module.
module halo
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 1000000
  integer :: pending(2), peer
  double precision :: inside(n), outside(n)
contains
  subroutine begin_exchange(buffer)
    double precision, intent(inout) :: buffer(n)
    integer :: ierr
    call mpi_irecv(outside, n, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, pending(1), ierr)
    call mpi_isend(buffer, n, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, pending(2), ierr)
  end subroutine begin_exchange

  subroutine end_exchange()
    integer :: ierr
    call mpi_waitall(2, pending, MPI_STATUSES_IGNORE, ierr)
  end subroutine end_exchange

  ! What begins and ends in here is no window of a caller.
  subroutine whole_exchange()
    integer :: ierr
    call begin_exchange(inside)
    call mpi_waitall(2, pending, MPI_STATUSES_IGNORE, ierr)
  end subroutine whole_exchange
end module halo

program halves
  use halo
  implicit none
  integer :: rank, ierr, i
  double precision :: w(n)
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  inside = rank
  w = rank
  call begin_exchange(inside)
  do i = 1, n
    w(i) = 0.5d0 * w(i) + 1.0d0
  end do
  call end_exchange()
  call whole_exchange()
  do i = 1, n
    w(i) = 0.25d0 * w(i) + outside(i)
  end do
  call whole_exchange()
  call mpi_finalize(ierr)
  if (sum(w) < 0.0d0) stop 1
end program halves
