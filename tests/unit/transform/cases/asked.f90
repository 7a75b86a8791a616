module heat
  use mpi_f08
  implicit none
  type :: field
    integer :: nx, ny
    double precision, allocatable :: data(:,:)
  end type field
  type :: parallel_data
    integer :: rank, size, left, right
  end type parallel_data
contains
  subroutine initialize(f, nx, ny, rank)
    type(field), intent(inout) :: f
    integer, intent(in) :: nx, ny, rank
    integer :: i, j
    f%nx = nx
    f%ny = ny
    allocate(f%data(0:nx+1, 0:ny+1))
    do j = 0, ny + 1
      do i = 0, nx + 1
        f%data(i, j) = rank + 0.01d0 * i + 0.1d0 * mod(j, 7)
      end do
    end do
  end subroutine initialize
  subroutine exchange(f, parallel)
    type(field), intent(inout) :: f
    type(parallel_data), intent(in) :: parallel
    call MPI_Sendrecv(f%data(:, 1), f%nx + 2, MPI_DOUBLE_PRECISION, parallel%left, 1, &
        f%data(:, f%ny + 1), f%nx + 2, MPI_DOUBLE_PRECISION, parallel%right, 1, &
        MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(f%data(:, f%ny), f%nx + 2, MPI_DOUBLE_PRECISION, parallel%right, 2, &
        f%data(:, 0), f%nx + 2, MPI_DOUBLE_PRECISION, parallel%left, 2, &
        MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end subroutine exchange
  subroutine evolve(curr, prev)
    type(field), intent(inout) :: curr, prev
    integer :: i, j
    do j = 1, curr%ny
      do i = 1, curr%nx
        curr%data(i, j) = prev%data(i, j) + 0.1d0 * (prev%data(i, j-1) + prev%data(i, j+1))
      end do
    end do
  end subroutine evolve
end module heat

program main
  use heat
  implicit none
  type(field) :: current, previous
  type(parallel_data) :: parallel
  integer :: iter
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, parallel%rank)
  call MPI_Comm_size(MPI_COMM_WORLD, parallel%size)
  parallel%left = modulo(parallel%rank - 1, parallel%size)
  parallel%right = modulo(parallel%rank + 1, parallel%size)
  call initialize(current, 40, 40, parallel%rank)
  call initialize(previous, 40, 40, parallel%rank)
  do iter = 1, 20
    call exchange(previous, parallel)
    call evolve(current, previous)
    previous = current
  end do
  print *, parallel%rank, sum(previous%data)
  call MPI_Finalize()
end program main
