! An exchange split by hand; its requests are in a module.
module halo
  implicit none
  include 'mpif.h'
  integer :: req(2), ierr
  double precision :: sb(10), rb(10)
contains
  subroutine begin(u, n, peer)
    integer, intent(in) :: n, peer
    double precision, intent(in) :: u(n)
    sb = u(1:10)
    call mpi_irecv(rb, 10, mpi_double_precision, peer, 0, mpi_comm_world, req(1), ierr)
    call mpi_isend(sb, 10, mpi_double_precision, peer, 0, mpi_comm_world, req(2), ierr)
  end subroutine
  subroutine finish(u, n)
    integer, intent(in) :: n
    double precision, intent(inout) :: u(n)
    call mpi_waitall(2, req, mpi_statuses_ignore, ierr)
    u(n-9:n) = rb
  end subroutine
  subroutine work(x, n)
    integer, intent(in) :: n
    double precision, intent(inout) :: x(n)
    integer :: i
    do i = 1, n
      x(i) = 0.5d0 * x(i) + 1.0d0
    end do
  end subroutine
end module
program p
  use halo
  implicit none
  double precision :: u(1000), v(1000), w(1000)
  integer :: rank, e, step
  call mpi_init(e)
  call mpi_comm_rank(mpi_comm_world, rank, e)
  do step = 1, 1000
    u(step) = step + rank
  end do
  v = 2.0d0
  w = 3.0d0
  do step = 1, 5
    call work(v, 1000)
    call begin(u, 1000, 1 - rank)
    call finish(u, 1000)
    call work(w, 1000)
    call work(u, 1000)
  end do
  print *, u(3), u(995), v(4), w(4)
  call mpi_finalize(e)
end program
