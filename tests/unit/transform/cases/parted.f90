! A strip in a derived type: the bounds of the step's loops are components, and what it computes
! with is of assumed shape. The messages are sections of it.
module strips
  use mpi_f08
  implicit none
  private
  public :: strip, set_up, exchange, relax
  type :: strip
    integer :: nx, ny, up, down
    double precision, allocatable :: u(:, :), v(:, :)
  end type strip
contains
  subroutine set_up(s, nx, ny, up, down)
    type(strip), intent(inout) :: s
    integer, intent(in) :: nx, ny, up, down
    integer :: i, j
    s%nx = nx
    s%ny = ny
    s%up = up
    s%down = down
    allocate (s%u(0:nx + 1, 0:ny + 1), s%v(0:nx + 1, 0:ny + 1))
    do j = 0, ny + 1
      do i = 0, nx + 1
        s%u(i, j) = 0.5d0 * j + up + 0.25d0 * mod(i, 3)
      end do
    end do
    s%v = s%u
  end subroutine set_up

  subroutine exchange(s, f)
    type(strip), intent(in) :: s
    double precision, intent(inout) :: f(0:, 0:)
    type(MPI_Request) :: requests(4)
    call MPI_Irecv(f(:, 0), s%nx + 2, MPI_DOUBLE_PRECISION, s%down, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Irecv(f(:, s%ny + 1), s%nx + 2, MPI_DOUBLE_PRECISION, s%up, 2, MPI_COMM_WORLD, &
      requests(2))
    call MPI_Isend(f(:, s%ny), s%nx + 2, MPI_DOUBLE_PRECISION, s%up, 1, MPI_COMM_WORLD, requests(3))
    call MPI_Isend(f(:, 1), s%nx + 2, MPI_DOUBLE_PRECISION, s%down, 2, MPI_COMM_WORLD, requests(4))
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
  end subroutine exchange

  subroutine relax(s, f, g)
    type(strip), intent(in) :: s
    double precision, intent(in) :: f(0:, 0:)
    double precision, intent(inout) :: g(0:, 0:)
    integer :: i, j
    do j = 1, s%ny
      do i = 1, s%nx
        g(i, j) = 0.25d0 * (f(i - 1, j) + f(i + 1, j) + f(i, j - 1) + f(i, j + 1))
      end do
    end do
  end subroutine relax
end module strips

program main
  use mpi_f08
  use strips, only: strip, set_up, exchange, relax
  implicit none
  type(strip) :: s
  integer :: rank, many, step
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, many)
  call set_up(s, 40, 24 / many, mod(rank + 1, many), mod(rank + many - 1, many))
  do step = 1, 10
    call exchange(s, s%u)
    call relax(s, s%u, s%v)
    call exchange(s, s%v)
    call relax(s, s%v, s%u)
  end do
  print *, s%u(3, 1), s%u(s%nx, s%ny)
  call MPI_Finalize()
end program main
