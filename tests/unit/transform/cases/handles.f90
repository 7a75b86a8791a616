module grid_mod
  use mpi_f08
  implicit none
  integer, parameter :: wp = kind(1.0d0)
  type :: grid_t
     integer :: nx, ny
     integer :: rank, size, left, right
     type(MPI_Comm) :: comm
     real(wp), allocatable :: u(:,:), unew(:,:)
  end type grid_t
contains
  subroutine grid_init(self, nx, ny, comm)
    type(grid_t), intent(inout) :: self
    integer, intent(in) :: nx, ny
    type(MPI_Comm), intent(in) :: comm
    integer :: i, j
    self%nx = nx
    self%ny = ny
    self%comm = comm
    call MPI_Comm_rank(comm, self%rank)
    call MPI_Comm_size(comm, self%size)
    self%left = merge(self%rank - 1, MPI_PROC_NULL, self%rank > 0)
    self%right = merge(self%rank + 1, MPI_PROC_NULL, self%rank < self%size - 1)
    allocate(self%u(0:nx+1, 0:ny+1), self%unew(0:nx+1, 0:ny+1))
    self%u = 0.0_wp
    self%unew = 0.0_wp
    do j = 1, ny
       do i = 1, nx
          self%u(i, j) = mod(i + 3 * j + self%rank, 7)
       end do
    end do
  end subroutine grid_init

  subroutine grid_exchange(self)
    type(grid_t), intent(inout) :: self
    call MPI_Sendrecv(self%u(1, self%ny), self%nx, MPI_DOUBLE_PRECISION, self%right, 1, &
         self%u(1, 0), self%nx, MPI_DOUBLE_PRECISION, self%left, 1, self%comm, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(self%u(1, 1), self%nx, MPI_DOUBLE_PRECISION, self%left, 2, &
         self%u(1, self%ny + 1), self%nx, MPI_DOUBLE_PRECISION, self%right, 2, self%comm, MPI_STATUS_IGNORE)
  end subroutine grid_exchange

  subroutine grid_sweep(self)
    type(grid_t), intent(inout) :: self
    integer :: i, j
    do j = 1, self%ny
       do i = 1, self%nx
          self%unew(i, j) = 0.25_wp * (self%u(i-1, j) + self%u(i+1, j) + self%u(i, j-1) + self%u(i, j+1))
       end do
    end do
    self%u(1:self%nx, 1:self%ny) = self%unew(1:self%nx, 1:self%ny)
  end subroutine grid_sweep

  function grid_norm(self) result(total)
    type(grid_t), intent(in) :: self
    real(wp) :: total, mine
    mine = sum(self%u(1:self%nx, 1:self%ny)**2)
    call MPI_Allreduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, self%comm)
  end function grid_norm
end module grid_mod

program heat
  use mpi_f08
  use grid_mod
  implicit none
  type(grid_t) :: g
  integer :: it
  double precision :: n
  call MPI_Init()
  call grid_init(g, 300, 200, MPI_COMM_WORLD)
  do it = 1, 40
     call grid_exchange(g)
     call grid_sweep(g)
  end do
  n = grid_norm(g)
  if (g%rank == 0) print '(a,es20.12)', 'norm', n
  call MPI_Finalize()
end program heat
