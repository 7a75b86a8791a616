! Fields and their sizes belong to a derived type; a wrapper exchanges columns by MPI_Sendrecv.
module grids
  use mpi_f08
  implicit none
  private
  public :: grid, grid_create, relax, keep
  type :: grid
    integer :: nx, ny
    real(8), allocatable :: u(:, :), unew(:, :)
  end type grid
contains
  subroutine grid_create(g, nx, ny, rank)
    type(grid), intent(out) :: g
    integer, intent(in) :: nx, ny, rank
    integer :: i, j
    g%nx = nx
    g%ny = ny
    allocate (g%u(0:nx + 1, 0:ny + 1))
    allocate (g%unew(0:nx + 1, 0:ny + 1))
    g%unew = 0.0d0
    g%u = 0.0d0
    do j = 1, ny
      do i = 1, nx
        g%u(i, j) = rank + 0.5d0 * i + 0.25d0 * j
      end do
    end do
  end subroutine grid_create

  subroutine halo_exchange(a, comm)
    real(8), contiguous, intent(inout) :: a(0:, 0:)
    type(MPI_Comm), intent(in) :: comm
    integer :: rank, ranks, below, above, nx, ny
    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    below = modulo(rank - 1, ranks)
    above = modulo(rank + 1, ranks)
    nx = size(a, 1) - 2
    ny = size(a, 2) - 2
    call MPI_Sendrecv(a(1, ny), nx, MPI_DOUBLE_PRECISION, above, 11, &
                      a(1, 0), nx, MPI_DOUBLE_PRECISION, below, 11, comm, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(a(1, 1), nx, MPI_DOUBLE_PRECISION, below, 12, &
                      a(1, ny + 1), nx, MPI_DOUBLE_PRECISION, above, 12, comm, MPI_STATUS_IGNORE)
  end subroutine halo_exchange

  subroutine relax(g, comm)
    type(grid), intent(inout) :: g
    type(MPI_Comm), intent(in) :: comm
    integer :: i, j
    call halo_exchange(g%u, comm)
    do j = 1, g%ny
      do i = 1, g%nx
        g%unew(i, j) = 0.5d0 * g%u(i, j) + 0.25d0 * (g%u(i, j - 1) + g%u(i, j + 1))
      end do
    end do
  end subroutine relax

  subroutine keep(g)
    type(grid), intent(inout) :: g
    integer :: i, j
    do j = 1, g%ny
      do i = 1, g%nx
        g%u(i, j) = g%unew(i, j)
      end do
    end do
  end subroutine keep
end module grids

program main
  use mpi_f08
  use grids
  implicit none
  type(grid) :: g
  type(MPI_Comm) :: comm
  integer :: rank, step
  real(8) :: mine, before, after
  call MPI_Init()
  comm = MPI_COMM_WORLD
  call MPI_Comm_rank(comm, rank)
  call grid_create(g, 80, 60, rank)
  mine = sum(g%u)
  call MPI_Allreduce(mine, before, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm)
  do step = 1, 8
    call relax(g, comm)
    call keep(g)
  end do
  mine = sum(g%u(1:g%nx, 1:g%ny))
  call MPI_Allreduce(mine, after, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm)
  if (rank == 0) print '(a, i2)', 'wrong values ', merge(1, 0, abs(after - before) > 1d-9 * before)
  print '(a, i3, es24.16)', 'rank', rank, mine
  call MPI_Finalize()
end program main
