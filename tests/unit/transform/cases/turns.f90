module grid
  use mpi
  implicit none
  double precision, allocatable, target :: field1(:,:), field2(:,:)
  double precision, pointer :: old(:,:), new(:,:), kept(:,:)
  integer :: nx, ny, rank, np, up, down
contains
  subroutine setup()
    integer :: ierr, j
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
    up = mod(rank+1, np); down = mod(rank+np-1, np)
    nx = 40
    ny = 120/np
    allocate(field1(0:nx+1, 0:ny+1), field2(0:nx+1, 0:ny+1))
    old => field1
    new => field2
    do j = 0, ny+1
      old(:,j) = j + rank*ny
      new(:,j) = 0
    end do
  end subroutine
  subroutine exchange(f, nx, ny)
    integer, intent(in) :: nx, ny
    double precision, intent(inout) :: f(0:nx+1, 0:ny+1)
    integer :: ierr
    call MPI_Sendrecv(f(0,ny), nx+2, MPI_DOUBLE_PRECISION, up, 1, f(0,0), nx+2, &
        MPI_DOUBLE_PRECISION, down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(f(0,1), nx+2, MPI_DOUBLE_PRECISION, down, 2, f(0,ny+1), nx+2, &
        MPI_DOUBLE_PRECISION, up, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine
  subroutine evolve(f, g, nx, ny)
    integer, intent(in) :: nx, ny
    double precision, intent(in) :: f(0:nx+1, 0:ny+1)
    double precision, intent(inout) :: g(0:nx+1, 0:ny+1)
    integer :: i, j
    do j = 1, ny
      do i = 1, nx
        g(i,j) = f(i,j) + 0.1d0*(f(i-1,j) + f(i+1,j) + f(i,j-1) + f(i,j+1) - 4*f(i,j))
      end do
    end do
  end subroutine
end module
program p
  use mpi
  use grid
  implicit none
  integer :: it, ierr
  double precision :: s, t
  call MPI_Init(ierr)
  call setup()
  do it = 1, 30
    call exchange(old, nx, ny)
    call evolve(old, new, nx, ny)
    kept => old
    old => new
    new => kept
  end do
  s = sum(old(1:nx,1:ny)) + field1(3,3)*1d-3
  call MPI_Allreduce(s, t, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(es22.14)', t
  deallocate(field1, field2)
  call MPI_Finalize(ierr)
end program
