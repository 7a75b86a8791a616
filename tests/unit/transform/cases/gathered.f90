! A step that is a function: its value is the largest change, which each part of the loops goes on
! with.
module heat
  implicit none
  include 'mpif.h'
  integer, parameter :: nx = 40, ny = 20, dp = kind(1.0d0)
  real(dp) :: u(0:nx + 1, 0:ny + 1), unew(0:nx + 1, 0:ny + 1)
  integer :: me, many, up, down
contains
  subroutine exchange(a)
    real(dp), intent(inout) :: a(0:nx + 1, 0:ny + 1)
    integer :: ierr
    call mpi_sendrecv(a(0, 1), nx + 2, MPI_DOUBLE_PRECISION, down, 1, a(0, ny + 1), nx + 2, &
      MPI_DOUBLE_PRECISION, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call mpi_sendrecv(a(0, ny), nx + 2, MPI_DOUBLE_PRECISION, up, 2, a(0, 0), nx + 2, &
      MPI_DOUBLE_PRECISION, down, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine exchange

  function step(a, b) result(change)
    real(dp), intent(in) :: a(0:nx + 1, 0:ny + 1)
    real(dp), intent(inout) :: b(0:nx + 1, 0:ny + 1)
    real(dp) :: change
    integer :: i, j
    change = 0
    do j = 1, ny
      do i = 1, nx
        b(i, j) = 0.25d0 * (a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1))
        if (abs(b(i, j) - a(i, j)) > change) change = abs(b(i, j) - a(i, j))
      end do
    end do
  end function step
end module heat

program main
  use heat
  implicit none
  integer :: i, j, it, ierr
  real(dp) :: res
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, me, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, many, ierr)
  up = mod(me + 1, many)
  down = mod(me + many - 1, many)
  do j = 0, ny + 1
    do i = 0, nx + 1
      u(i, j) = mod(3 * i + 7 * j + me, 11)
    end do
  end do
  do it = 1, 20
    call exchange(u)
    res = step(u, unew)
    u(1:nx, 1:ny) = unew(1:nx, 1:ny)
    if (res < 1d-9) exit
  end do
  print '(i3, 2es24.16)', me, sum(u), res
  call mpi_finalize(ierr)
end program main
