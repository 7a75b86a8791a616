! Kernels and an exchange that begin with pointers to the arrays of their grid.
module grid_mod
  use mpi_f08
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  type :: grid_t
    integer :: nx = 0, ny = 0
    integer :: up = MPI_PROC_NULL, down = MPI_PROC_NULL
    type(MPI_Comm) :: comm
    type(MPI_Datatype) :: coltype, rowtype
    real(dp), allocatable :: u(:,:), unew(:,:)
  end type grid_t
contains
  subroutine grid_create(g, nx, ny, comm)
    type(grid_t), intent(out) :: g
    integer, intent(in) :: nx, ny
    type(MPI_Comm), intent(in) :: comm
    integer :: rank, nprocs
    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, nprocs)
    g%nx = nx
    g%ny = ny
    g%comm = comm
    if (rank > 0) g%down = rank - 1
    if (rank < nprocs - 1) g%up = rank + 1
    allocate(g%u(0:nx+1, 0:ny+1), g%unew(0:nx+1, 0:ny+1))
    g%u = 0.0_dp
    g%unew = 0.0_dp
    call MPI_Type_vector(ny, 1, nx + 2, MPI_DOUBLE_PRECISION, g%coltype)
    call MPI_Type_commit(g%coltype)
    call MPI_Type_contiguous(nx, MPI_DOUBLE_PRECISION, g%rowtype)
    call MPI_Type_commit(g%rowtype)
  end subroutine grid_create
  subroutine grid_free(g)
    type(grid_t), intent(inout) :: g
    call MPI_Type_free(g%coltype)
    call MPI_Type_free(g%rowtype)
    deallocate(g%u, g%unew)
  end subroutine grid_free
end module grid_mod

module kernels
  use mpi_f08
  use grid_mod
  implicit none
contains
  subroutine exchange(g)
    type(grid_t), intent(inout), target :: g
    real(dp), pointer :: u(:,:)
    integer :: nx, ny, j
    real(dp) :: sb(100), rb(100)
    u => g%u
    nx = g%nx
    ny = g%ny
    do j = 1, ny
      sb(j) = u(nx,j)
    end do
    call MPI_Sendrecv(sb, ny, MPI_DOUBLE_PRECISION, g%up, 1, rb, ny, MPI_DOUBLE_PRECISION, &
                      g%down, 1, g%comm, MPI_STATUS_IGNORE)
    if (g%down /= MPI_PROC_NULL) then
      do j = 1, ny
        u(0,j) = rb(j)
      end do
    end if
  end subroutine exchange
  subroutine relax(g)
    type(grid_t), intent(inout), target :: g
    real(dp), pointer :: u(:,:), unew(:,:)
    integer :: i, j
    u => g%u
    unew => g%unew
    do j = 1, g%ny
      do i = 1, g%nx
        unew(i,j) = 0.25_dp * (u(i-1,j) + u(i+1,j) + u(i,j-1) + u(i,j+1)) + 1.0_dp
      end do
    end do
  end subroutine relax
  subroutine copy_back(g)
    type(grid_t), intent(inout), target :: g
    real(dp), pointer :: u(:,:), unew(:,:)
    integer :: i, j, nx, ny
    nx = g%nx
    u => g%u
    unew => g%unew
    ny = g%ny
    do j = 1, ny
      do i = 1, nx
        u(i,j) = unew(i,j)
      end do
    end do
  end subroutine copy_back
end module kernels

program main
  use mpi_f08
  use grid_mod
  use kernels
  implicit none
  type(grid_t), target :: g
  integer :: it, rank
  real(dp) :: s, t
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call grid_create(g, 14, 9, MPI_COMM_WORLD)
  g%u(3, 4) = 7.0_dp
  do it = 1, 20
    call exchange(g)
    call relax(g)
    call copy_back(g)
  end do
  s = sum(g%u(1:g%nx, 1:g%ny))
  call MPI_Allreduce(s, t, 1, MPI_DOUBLE_PRECISION, MPI_SUM, g%comm)
  if (rank == 0) print '(f24.12)', t
  call grid_free(g)
  call MPI_Finalize()
end program main
