! A solver that a type extends another one for, with names for the parts of its grid.
module grid_mod
  use mpi
  implicit none
  type :: grid_t
    integer :: nx = 0, ny = 0
    integer :: left, right, comm
  contains
    procedure :: setup => grid_setup
  end type
contains
  subroutine grid_setup(self, nx, ny, comm)
    class(grid_t), intent(inout) :: self
    integer, intent(in) :: nx, ny, comm
    integer :: rank, size, ierr
    call MPI_Comm_rank(comm, rank, ierr)
    call MPI_Comm_size(comm, size, ierr)
    self%nx = nx
    self%ny = ny
    self%comm = comm
    self%left = rank - 1
    self%right = rank + 1
    if (rank == 0) self%left = MPI_PROC_NULL
    if (rank == size - 1) self%right = MPI_PROC_NULL
  end subroutine
end module

module solver_mod
  use mpi
  use grid_mod
  implicit none
  type, abstract :: solver_t
    type(grid_t) :: grid
    integer :: steps = 0
  contains
    procedure(step_i), deferred :: step
    procedure :: advance
  end type
  abstract interface
    subroutine step_i(self)
      import solver_t
      class(solver_t), intent(inout) :: self
    end subroutine
  end interface
  type, extends(solver_t) :: heat_t
    double precision, allocatable :: u(:,:), v(:,:)
    double precision :: kappa
  contains
    procedure :: init => heat_init
    procedure :: step => heat_step
    procedure :: exchange => heat_exchange
    procedure :: norm => heat_norm
  end type
contains
  subroutine advance(self, n)
    class(solver_t), intent(inout) :: self
    integer, intent(in) :: n
    integer :: i
    do i = 1, n
      call self%step()
      self%steps = self%steps + 1
    end do
  end subroutine
  subroutine heat_init(self, nx, ny, comm)
    class(heat_t), intent(inout) :: self
    integer, intent(in) :: nx, ny, comm
    integer :: i, j, rank, ierr
    call self%grid%setup(nx, ny, comm)
    call MPI_Comm_rank(comm, rank, ierr)
    allocate(self%u(0:nx+1, 0:ny+1), self%v(0:nx+1, 0:ny+1))
    self%kappa = 0.1d0
    do j = 0, ny + 1
      do i = 0, nx + 1
        self%u(i,j) = sin(0.1d0*(i + j*(rank+1)))
        self%v(i,j) = 0
      end do
    end do
  end subroutine
  subroutine heat_exchange(self)
    class(heat_t), intent(inout) :: self
    integer :: ierr, req(4)
    associate (g => self%grid)
      call MPI_Irecv(self%u(:,0), g%nx+2, MPI_DOUBLE_PRECISION, g%left, 1, g%comm, req(1), ierr)
      call MPI_Irecv(self%u(:,g%ny+1), g%nx+2, MPI_DOUBLE_PRECISION, g%right, 2, g%comm, req(2), ierr)
      call MPI_Isend(self%u(:,1), g%nx+2, MPI_DOUBLE_PRECISION, g%left, 2, g%comm, req(3), ierr)
      call MPI_Isend(self%u(:,g%ny), g%nx+2, MPI_DOUBLE_PRECISION, g%right, 1, g%comm, req(4), ierr)
      call MPI_Waitall(4, req, MPI_STATUSES_IGNORE, ierr)
    end associate
  end subroutine
  subroutine heat_step(self)
    class(heat_t), intent(inout) :: self
    integer :: i, j
    call self%exchange()
    do j = 1, self%grid%ny
      do i = 1, self%grid%nx
        self%v(i,j) = self%u(i,j) + self%kappa*(self%u(i-1,j) + self%u(i+1,j) + self%u(i,j-1) &
                      + self%u(i,j+1) - 4*self%u(i,j))
      end do
    end do
    do j = 1, self%grid%ny
      do i = 1, self%grid%nx
        self%u(i,j) = self%v(i,j)
      end do
    end do
  end subroutine
  double precision function heat_norm(self)
    class(heat_t), intent(in) :: self
    double precision :: s
    integer :: i, j, ierr
    s = 0
    do j = 1, self%grid%ny
      do i = 1, self%grid%nx
        s = s + self%u(i,j)**2
      end do
    end do
    call MPI_Allreduce(s, heat_norm, 1, MPI_DOUBLE_PRECISION, MPI_SUM, self%grid%comm, ierr)
  end function
end module

program main
  use mpi
  use solver_mod
  implicit none
  type(heat_t) :: heat
  integer :: ierr, rank
  double precision :: r
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call heat%init(64, 48, MPI_COMM_WORLD)
  call heat%advance(10)
  r = heat%norm()
  if (rank == 0) print *, 'norm', r, heat%steps
  call MPI_Finalize(ierr)
end program
