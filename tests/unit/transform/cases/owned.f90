module grid_mod
  use mpi_f08
  implicit none
  type :: grid_t
    integer :: nx, ny
    double precision, pointer :: u(:,:), v(:,:), f(:,:)
    double precision, dimension(:), pointer :: sbe => null(), sbw => null()
    double precision, dimension(:), pointer :: rbe => null(), rbw => null()
    integer :: east, west
  end type
contains
  subroutine setup(g, nx, ny)
    type(grid_t), intent(inout) :: g
    integer, intent(in) :: nx, ny
    integer :: rank, size, ierr
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
    g%nx = nx; g%ny = ny
    g%east = modulo(rank + 1, size)
    g%west = modulo(rank - 1, size)
    allocate(g%u(0:nx+1,0:ny+1), g%v(0:nx+1,0:ny+1), g%f(nx,ny))
    allocate(g%sbe(ny), g%sbw(ny), g%rbe(ny), g%rbw(ny))
    g%u = rank + 1
    g%v = 0
    g%f = 0.25d0
    g%rbe = 0
    g%rbw = 0
  end subroutine
  subroutine exchange(g)
    type(grid_t), intent(inout) :: g
    type(MPI_Request) :: req(4)
    integer :: j, ierr
    do j = 1, g%ny
      g%sbe(j) = g%u(g%nx,j)
      g%sbw(j) = g%u(1,j)
    end do
    call MPI_Irecv(g%rbe, g%ny, MPI_DOUBLE_PRECISION, g%east, 1, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Irecv(g%rbw, g%ny, MPI_DOUBLE_PRECISION, g%west, 2, MPI_COMM_WORLD, req(2), ierr)
    call MPI_Isend(g%sbw, g%ny, MPI_DOUBLE_PRECISION, g%west, 1, MPI_COMM_WORLD, req(3), ierr)
    call MPI_Isend(g%sbe, g%ny, MPI_DOUBLE_PRECISION, g%east, 2, MPI_COMM_WORLD, req(4), ierr)
    call MPI_Waitall(4, req, MPI_STATUSES_IGNORE, ierr)
    do j = 1, g%ny
      g%u(g%nx+1,j) = g%rbe(j)
      g%u(0,j) = g%rbw(j)
    end do
  end subroutine
  subroutine relax(g)
    type(grid_t), intent(inout) :: g
    integer :: i, j
    do j = 1, g%ny
      do i = 1, g%nx
        g%v(i,j) = 0.2d0*(g%u(i-1,j) + g%u(i+1,j) + g%u(i,j-1) + g%u(i,j+1)) + g%f(i,j)
      end do
    end do
  end subroutine
  subroutine copyback(g)
    type(grid_t), intent(inout) :: g
    integer :: i, j
    do j = 1, g%ny
      do i = 1, g%nx
        g%u(i,j) = g%v(i,j)
      end do
    end do
  end subroutine
end module
program main
  use grid_mod
  implicit none
  type(grid_t) :: g
  integer :: it, ierr
  double precision :: s
  call MPI_Init(ierr)
  call setup(g, 40, 30)
  do it = 1, 20
    call exchange(g)
    call relax(g)
    call copyback(g)
  end do
  s = sum(g%u(1:40,1:30))
  print *, it, s
  call MPI_Finalize(ierr)
end program
