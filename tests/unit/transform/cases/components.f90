module grid_m
  implicit none
  include 'mpif.h'
  type :: grid
    integer :: nx, ny, left, right, south, north, comm, column
    double precision, allocatable :: u(:,:), v(:,:)
  end type
contains
  subroutine setup(g, n)
    type(grid), intent(inout) :: g
    integer, intent(in) :: n
    integer :: size, rank, ierr, dims(2), i, j
    logical :: periods(2)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
    dims = 0
    periods = .false.
    call MPI_Dims_create(size, 2, dims, ierr)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., g%comm, ierr)
    call MPI_Comm_rank(g%comm, rank, ierr)
    call MPI_Cart_shift(g%comm, 0, 1, g%left, g%right, ierr)
    call MPI_Cart_shift(g%comm, 1, 1, g%south, g%north, ierr)
    g%nx = n / dims(1)
    g%ny = n / dims(2)
    call MPI_Type_vector(g%ny, 1, g%nx + 2, MPI_DOUBLE_PRECISION, g%column, ierr)
    call MPI_Type_commit(g%column, ierr)
    allocate(g%u(0:g%nx+1, 0:g%ny+1), g%v(0:g%nx+1, 0:g%ny+1))
    do j = 0, g%ny + 1
      do i = 0, g%nx + 1
        g%u(i,j) = rank + 0.01d0 * i + 0.1d0 * j
        g%v(i,j) = g%u(i,j)
      end do
    end do
  end subroutine
  subroutine halo(g)
    type(grid), intent(inout) :: g
    integer :: ierr
    call MPI_Sendrecv(g%u(1,g%ny), g%nx, MPI_DOUBLE_PRECISION, g%north, 1, &
                      g%u(1,0), g%nx, MPI_DOUBLE_PRECISION, g%south, 1, &
                      g%comm, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(g%u(1,1), g%nx, MPI_DOUBLE_PRECISION, g%south, 2, &
                      g%u(1,g%ny+1), g%nx, MPI_DOUBLE_PRECISION, g%north, 2, &
                      g%comm, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(g%u(g%nx,1), 1, g%column, g%right, 3, &
                      g%u(0,1), 1, g%column, g%left, 3, g%comm, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(g%u(1,1), 1, g%column, g%left, 4, &
                      g%u(g%nx+1,1), 1, g%column, g%right, 4, g%comm, MPI_STATUS_IGNORE, ierr)
  end subroutine
  subroutine step(g)
    type(grid), intent(inout) :: g
    integer :: i, j
    do j = 1, g%ny
      do i = 1, g%nx
        g%v(i,j) = 0.25d0 * (g%u(i-1,j) + g%u(i+1,j) + g%u(i,j-1) + g%u(i,j+1))
      end do
    end do
  end subroutine
  subroutine copy(g)
    type(grid), intent(inout) :: g
    integer :: i, j
    do j = 1, g%ny
      do i = 1, g%nx
        g%u(i,j) = g%v(i,j)
      end do
    end do
  end subroutine
end module
program main
  use grid_m
  implicit none
  type(grid) :: g
  integer :: ierr, it, i, j, rank
  double precision :: s, t
  call MPI_Init(ierr)
  call setup(g, 48)
  do it = 1, 20
    call halo(g)
    call step(g)
    call copy(g)
  end do
  s = 0
  do j = 1, g%ny
    do i = 1, g%nx
      s = s + g%u(i,j)
    end do
  end do
  call MPI_Comm_rank(g%comm, rank, ierr)
  call MPI_Reduce(s, t, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, g%comm, ierr)
  if (rank == 0) print *, t
  call MPI_Type_free(g%column, ierr)
  call MPI_Finalize(ierr)
end program
