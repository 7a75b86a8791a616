! Objects that ask others for sizes; the routine with the exchange knows no name of MPI.
module mesh_m
  use, intrinsic :: iso_fortran_env, only: dp => real64
  use mpi_f08
  implicit none
  private
  public :: mesh_t
  type :: mesh_t
    private
    integer :: nx = 0, ny = 0
    integer :: west = MPI_PROC_NULL, east = MPI_PROC_NULL
    type(MPI_Comm) :: comm
  contains
    procedure :: init
    procedure :: rows
    procedure :: cols
    procedure :: exchange
  end type
contains
  subroutine init(self, nx, ny, comm)
    class(mesh_t), intent(inout) :: self
    integer, intent(in) :: nx, ny
    type(MPI_Comm), intent(in) :: comm
    integer :: rank, np
    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, np)
    self%comm = comm
    self%nx = nx
    self%ny = ny / np
    if (rank < mod(ny, np)) self%ny = self%ny + 1
    if (rank > 0) self%west = rank - 1
    if (rank < np - 1) self%east = rank + 1
  end subroutine
  pure integer function rows(self)
    class(mesh_t), intent(in) :: self
    rows = self%ny
  end function
  pure integer function cols(self)
    class(mesh_t), intent(in) :: self
    cols = self%nx
  end function
  subroutine exchange(self, a)
    class(mesh_t), intent(in) :: self
    real(dp), intent(inout), asynchronous :: a(0:self%nx+1, 0:self%ny+1)
    type(MPI_Request) :: req(4)
    call MPI_Irecv(a(1,0), self%nx, MPI_DOUBLE_PRECISION, self%west, 1, self%comm, req(1))
    call MPI_Irecv(a(1,self%ny+1), self%nx, MPI_DOUBLE_PRECISION, self%east, 2, self%comm, req(2))
    call MPI_Isend(a(1,1), self%nx, MPI_DOUBLE_PRECISION, self%west, 2, self%comm, req(3))
    call MPI_Isend(a(1,self%ny), self%nx, MPI_DOUBLE_PRECISION, self%east, 1, self%comm, req(4))
    call MPI_Waitall(4, req, MPI_STATUSES_IGNORE)
  end subroutine
end module
module heat_m
  use, intrinsic :: iso_fortran_env, only: dp => real64
  use mesh_m
  implicit none
  private
  public :: heat_t
  type :: heat_t
    type(mesh_t) :: mesh
    integer :: nx, ny
    real(dp), allocatable :: u(:,:), v(:,:)
    real(dp) :: c = 0.2_dp
  contains
    procedure :: setup
    procedure :: step
    procedure :: total
  end type
contains
  subroutine setup(self, nx, ny, rank)
    use mpi_f08, only: MPI_COMM_WORLD
    class(heat_t), intent(inout) :: self
    integer, intent(in) :: nx, ny, rank
    integer :: i, j
    call self%mesh%init(nx, ny, MPI_COMM_WORLD)
    self%nx = self%mesh%cols()
    self%ny = self%mesh%rows()
    allocate(self%u(0:self%nx+1, 0:self%ny+1), self%v(0:self%nx+1, 0:self%ny+1))
    do j = 0, self%ny+1
      do i = 0, self%nx+1
        self%u(i,j) = sin(0.1_dp*i) + cos(0.3_dp*j) + rank
        self%v(i,j) = 0
      end do
    end do
  end subroutine
  subroutine step(self)
    class(heat_t), intent(inout) :: self
    integer :: i, j
    call self%mesh%exchange(self%u)
    do j = 1, self%ny
      do i = 1, self%nx
        self%v(i,j) = self%u(i,j) + self%c*(self%u(i-1,j) + self%u(i+1,j) + self%u(i,j-1) &
          + self%u(i,j+1) - 4*self%u(i,j))
      end do
    end do
    self%u(1:self%nx,1:self%ny) = self%v(1:self%nx,1:self%ny)
  end subroutine
  real(dp) function total(self)
    class(heat_t), intent(in) :: self
    total = sum(self%u(1:self%nx,1:self%ny))
  end function
end module
program main
  use mpi_f08
  use heat_m
  implicit none
  type(heat_t) :: h
  integer :: rank, it
  double precision :: s, t
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call h%setup(64, 40, rank)
  do it = 1, 20
    call h%step()
  end do
  s = h%total()
  call MPI_Allreduce(s, t, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(a,es22.14)', 'total', t
  call MPI_Finalize()
end program
