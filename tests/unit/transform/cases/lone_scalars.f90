! Wrappers whose messages are numbers: of their own, passed by value.
module numbers
  use mpi
  implicit none
  integer, parameter :: n = 4000
  integer :: peer
contains
  ! Its numbers are the caller's until the finish.
  subroutine exchange(x, got)
    double precision, intent(in) :: x(n)
    double precision, intent(out) :: got
    double precision :: sent, received
    integer :: ierr
    sent = 0.5d0 * (x(1) + x(n))
    call MPI_Sendrecv(sent, 1, MPI_DOUBLE_PRECISION, peer, 0, received, 1, MPI_DOUBLE_PRECISION, &
        peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    got = 0.25d0 * received
  end subroutine

  ! This ends with the start.
  subroutine by_value(sent, got)
    double precision, value :: sent
    double precision, intent(out) :: got
    integer :: ierr
    call MPI_Sendrecv(sent, 1, MPI_DOUBLE_PRECISION, peer, 2, got, 1, MPI_DOUBLE_PRECISION, &
        peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine

  subroutine relax(x)
    double precision, intent(inout) :: x(n)
    integer :: i
    do i = 1, n
      x(i) = 0.5d0 * x(i) + 0.125d0
    end do
  end subroutine
end module

program main
  use mpi
  use numbers
  implicit none
  double precision :: u(n), v(n), w(n), got(2)
  integer :: rank, ierr, i, step
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = ieor(rank, 1)
  do i = 1, n
    u(i) = mod(i * 7 + rank * 5, 32) / 32.0d0
  end do
  v = u
  w = u
  do step = 1, 20
    call exchange(u, got(1))
    call relax(v)
    call by_value(u(3), got(2))
    call relax(w)
    u(1) = u(1) + got(1) + got(2) + 0.0625d0 * (v(2) + w(2))
  end do
  print '(i3, es25.17)', rank, u(1)
  call MPI_Finalize(ierr)
end program
