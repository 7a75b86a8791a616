! An exchange of rows whose arrays, sizes, neighbours and requests are components of an object.
module grids
  use mpi_f08
  implicit none
  type :: grid_t
    integer :: nx, ny
    real(8), allocatable :: u(:,:), v(:,:), w(:,:)
    integer :: down, up
    type(MPI_Comm) :: comm
    type(MPI_Request) :: req(4)
  end type grid_t
contains
  subroutine make(g, n)
    type(grid_t), intent(inout) :: g
    integer, intent(in) :: n
    integer :: rank, many, i, j
    g%comm = MPI_COMM_WORLD
    call MPI_Comm_rank(g%comm, rank)
    call MPI_Comm_size(g%comm, many)
    g%nx = n
    g%ny = n / 4
    g%down = mod(rank + many - 1, many)
    g%up = mod(rank + 1, many)
    allocate(g%u(n, 0:n/4+1), g%v(n, 0:n/4+1), g%w(n, n))
    do j = 0, g%ny + 1
      do i = 1, g%nx
        g%u(i, j) = rank + 0.25d0 * i + 0.5d0 * j
        g%v(i, j) = 0
      end do
    end do
    do j = 1, g%nx
      do i = 1, g%nx
        g%w(i, j) = 1.0d0 / (i + j + rank)
      end do
    end do
  end subroutine make

  subroutine step(g)
    type(grid_t), intent(inout) :: g
    integer :: i, j
    call MPI_Sendrecv(g%u(1, 1), g%nx, MPI_DOUBLE_PRECISION, g%down, 1, g%u(1, g%ny + 1), &
      g%nx, MPI_DOUBLE_PRECISION, g%up, 1, g%comm, MPI_STATUS_IGNORE)
    do j = 1, g%nx
      do i = 1, g%nx
        g%w(i, j) = 0.5d0 * g%w(i, j) + 0.125d0
      end do
    end do
    do j = 1, g%ny
      do i = 1, g%nx
        g%v(i, j) = 0.5d0 * g%u(i, j) + 0.25d0 * g%u(i, j + 1)
      end do
    end do
    call MPI_Irecv(g%v(:, 0), g%nx, MPI_DOUBLE_PRECISION, g%down, 2, g%comm, g%req(1))
    call MPI_Isend(g%v(:, g%ny), g%nx, MPI_DOUBLE_PRECISION, g%up, 2, g%comm, g%req(2))
    call MPI_Waitall(2, g%req, MPI_STATUSES_IGNORE)
    do j = 1, g%nx
      do i = 1, g%nx
        g%w(i, j) = 0.5d0 * g%w(i, j) + 0.375d0
      end do
    end do
    do j = 1, g%ny
      do i = 1, g%nx
        g%u(i, j) = 0.5d0 * g%v(i, j) + 0.25d0 * g%v(i, j - 1)
      end do
    end do
  end subroutine step
end module grids

program main
  use grids
  implicit none
  type(grid_t) :: g
  integer :: it
  call MPI_Init()
  call make(g, 64)
  do it = 1, 10
    call step(g)
  end do
  print '(3f16.8)', sum(g%u(:, 1:g%ny)), sum(g%v(:, 0:g%ny)), sum(g%w)
  call MPI_Finalize()
end program main
