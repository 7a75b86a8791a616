! A datatype of rows that a structure holds, made by sizes that its routine is given.
module grid
  use mpi_f08
  implicit none
  type :: grid_t
    real(8), allocatable :: u(:,:), v(:,:)
    type(MPI_Datatype) :: row
  end type grid_t
contains
  subroutine create(g, n, m)
    type(grid_t), intent(inout) :: g
    integer, intent(in) :: n, m
    allocate(g%u(0:n+1, 0:m+1), g%v(0:n+1, 0:m+1))
    g%u = 0.0d0
    g%v = 0.0d0
    call MPI_Type_vector(m, 1, n + 2, MPI_DOUBLE_PRECISION, g%row)
    call MPI_Type_commit(g%row)
  end subroutine create
  subroutine exchange(g, n, left, right)
    type(grid_t), intent(inout) :: g
    integer, intent(in) :: n, left, right
    type(MPI_Request) :: r(4)
    call MPI_Irecv(g%u(0,1), 1, g%row, left, 1, MPI_COMM_WORLD, r(1))
    call MPI_Irecv(g%u(n+1,1), 1, g%row, right, 2, MPI_COMM_WORLD, r(2))
    call MPI_Isend(g%u(1,1), 1, g%row, left, 2, MPI_COMM_WORLD, r(3))
    call MPI_Isend(g%u(n,1), 1, g%row, right, 1, MPI_COMM_WORLD, r(4))
    call MPI_Waitall(4, r, MPI_STATUSES_IGNORE)
  end subroutine exchange
  subroutine sweep(g, n, m)
    type(grid_t), intent(inout) :: g
    integer, intent(in) :: n, m
    integer :: i, j
    do j = 1, m
      do i = 1, n
        g%v(i,j) = 0.25d0 * (g%u(i-1,j) + g%u(i+1,j) + g%u(i,j-1) + g%u(i,j+1)) + 1.0d0
      end do
    end do
    do j = 1, m
      do i = 1, n
        g%u(i,j) = g%v(i,j)
      end do
    end do
  end subroutine sweep
end module grid
program main
  use mpi_f08
  use grid
  implicit none
  type(grid_t) :: g
  integer :: n, m, it, rank, nprocs, left, right
  real(8) :: s, t
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs)
  n = 24 / nprocs
  m = 10 + mod(24, 5)
  left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  right = merge(rank + 1, MPI_PROC_NULL, rank < nprocs - 1)
  call create(g, n, m)
  do it = 1, 10
    call exchange(g, n, left, right)
    call sweep(g, n, m)
  end do
  s = sum(g%u(1:n, 1:m))
  call MPI_Allreduce(s, t, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(f24.12)', t
  call MPI_Type_free(g%row)
  call MPI_Finalize()
end program main
