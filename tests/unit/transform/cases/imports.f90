! Modules and routines import what they use of mpi_f08 one by one.
module edges
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08, only: MPI_Comm, MPI_Status, MPI_Sendrecv, MPI_PROC_NULL ! and a comment
  use mpi_f08, only: MPI_DOUBLE_PRECISION
  implicit none
  private
  public :: swap_edges
contains
  subroutine swap_edges(u, n, rank, nprocs, comm)
    integer, intent(in) :: n, rank, nprocs
    real(real64), intent(inout) :: u(0:n + 1)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Status) :: status
    integer :: left, right
    left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    right = merge(rank + 1, MPI_PROC_NULL, rank < nprocs - 1)
    call MPI_Sendrecv(u(n), 1, MPI_DOUBLE_PRECISION, right, 1, &
                      u(0), 1, MPI_DOUBLE_PRECISION, left, 1, comm, status)
    call MPI_Sendrecv(u(1), 1, MPI_DOUBLE_PRECISION, left, 2, &
                      u(n + 1), 1, MPI_DOUBLE_PRECISION, right, 2, comm, status)
  end subroutine swap_edges
end module edges

program imports
  use, intrinsic :: iso_fortran_env, only: real64
  use edges, only: swap_edges
  use MPI_F08, ONLY: MPI_Init, MPI_Finalize, MPI_Comm_rank, MPI_Comm_size, MPI_COMM_WORLD
  implicit none
  integer, parameter :: n = 500
  real(real64) :: u(0:n + 1), v(0:n + 1), part
  integer :: rank, nprocs, i, k
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs)
  do i = 0, n + 1
    u(i) = mod(i*7 + rank, 13)
    v(i) = 0
  end do
  do k = 1, 20
    call swap_edges(u, n, rank, nprocs, MPI_COMM_WORLD)
    do i = 1, n
      v(i) = 0.5d0*u(i) + 0.25d0*(u(i - 1) + u(i + 1))
    end do
    do i = 1, n
      u(i) = v(i)
    end do
  end do
  part = 0
  do i = 1, n
    part = part + u(i)*i
  end do
  call total(part)
  call MPI_Finalize()
contains
  subroutine total(mine)
    use mpi_f08, only: MPI_Allreduce, MPI_DOUBLE_PRECISION, MPI_SUM
    real(real64), intent(in) :: mine
    real(real64) :: everything, weights
    integer :: j
    call MPI_Allreduce(mine, everything, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    weights = 0
    do j = 1, 1000
      weights = weights + 1d0/j
    end do
    if (rank == 0) print '(2es24.16)', everything, weights
  end subroutine total
end program imports
