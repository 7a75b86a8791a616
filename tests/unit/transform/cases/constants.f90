! Each scope imports the names of MPI that it uses, constants alone: procedures have no interface.
module fields
  use mpi, only: MPI_COMM_WORLD, MPI_PROC_NULL, MPI_DOUBLE_PRECISION, &
       MPI_STATUS_SIZE, MPI_SUM
  implicit none
  private
  public :: field
  type :: field
     integer :: nx = 0, ny = 0, up, down, comm
     real(8), allocatable :: u(:, :), v(:, :)
   contains
     procedure :: init
     procedure :: exchange
     procedure :: step
     procedure :: total
  end type field
contains
  subroutine init(self, nx, ny, comm)
    class(field), intent(inout) :: self
    integer, intent(in) :: nx, ny, comm
    integer :: i, j, rank, size, ierr
    self%nx = nx
    self%ny = ny
    self%comm = comm
    call MPI_Comm_rank(comm, rank, ierr)
    call MPI_Comm_size(comm, size, ierr)
    self%down = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    self%up = merge(rank + 1, MPI_PROC_NULL, rank < size - 1)
    allocate (self%u(nx, 0:ny + 1), self%v(nx, 0:ny + 1))
    do j = 0, ny + 1
       do i = 1, nx
          self%u(i, j) = sin(0.1d0*i + j + rank)
       end do
    end do
    self%v = self%u
  end subroutine init
  subroutine exchange(self)
    class(field), intent(inout) :: self
    integer :: ierr, status(MPI_STATUS_SIZE)
    call MPI_Sendrecv(self%u(:, self%ny), self%nx, MPI_DOUBLE_PRECISION, self%up, 1, &
         self%u(:, 0), self%nx, MPI_DOUBLE_PRECISION, self%down, 1, self%comm, status, ierr)
    call MPI_Sendrecv(self%u(:, 1), self%nx, MPI_DOUBLE_PRECISION, self%down, 2, &
         self%u(:, self%ny + 1), self%nx, MPI_DOUBLE_PRECISION, self%up, 2, self%comm, status, ierr)
  end subroutine exchange
  subroutine step(self)
    class(field), intent(inout) :: self
    integer :: i, j
    do j = 1, self%ny
       do i = 2, self%nx - 1
          self%v(i, j) = 0.25d0*(self%u(i - 1, j) + self%u(i + 1, j) + self%u(i, j - 1) + self%u(i, j + 1))
       end do
    end do
    do j = 1, self%ny
       do i = 2, self%nx - 1
          self%u(i, j) = self%v(i, j)
       end do
    end do
  end subroutine step
  real(8) function total(self)
    class(field), intent(in) :: self
    real(8) :: part
    integer :: ierr
    part = sum(self%u(:, 1:self%ny))
    call MPI_Allreduce(part, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, self%comm, ierr)
  end function total
end module fields
program constants
  use mpi, only: MPI_COMM_WORLD, MPI_PROC_NULL, MPI_DOUBLE_PRECISION, &
       MPI_STATUS_SIZE, MPI_SUM
  use fields
  implicit none
  type(field) :: f
  integer :: ierr, rank, n
  real(8) :: t
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call f%init(60, 40, MPI_COMM_WORLD)
  do n = 1, 50
     call f%exchange()
     call f%step()
  end do
  t = f%total()
  if (rank == 0) print '(f20.10)', t
  call MPI_Finalize(ierr)
end program constants
