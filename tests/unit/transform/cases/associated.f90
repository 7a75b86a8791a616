module heat
  use mpi_f08
  implicit none
  type :: field
    integer :: nx, ny
    double precision :: scale = 0.5d0
    double precision, pointer :: old(:,:) => null(), new(:,:) => null()
  end type
contains
  subroutine swap(f)
    type(field), intent(inout) :: f
    double precision, pointer :: tmp(:,:)
    tmp => f%old
    f%old => f%new
    f%new => tmp
  end subroutine
  subroutine step(f, up, down)
    type(field), intent(inout) :: f
    integer, intent(in) :: up, down
    integer :: i, j
    double precision :: c
    associate (nx => f%nx, ny => f%ny, h => 0.2d0*f%scale, old => f%old)
      call MPI_Sendrecv(old(1,ny), nx, MPI_DOUBLE_PRECISION, up, 1, old(1,0), nx, &
           MPI_DOUBLE_PRECISION, down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call MPI_Sendrecv(old(1,1), nx, MPI_DOUBLE_PRECISION, down, 2, old(1,ny+1), nx, &
           MPI_DOUBLE_PRECISION, up, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      do j = 1, ny
        do i = 1, nx
          c = old(i-1,j) + old(i+1,j) + old(i,j-1) + old(i,j+1) - 4*old(i,j)
          f%new(i,j) = old(i,j) + h*c
        end do
      end do
    end associate
  end subroutine
end module
program p
  use heat
  implicit none
  type(field) :: f
  integer :: rank, np, up, down, it
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, np)
  up = merge(rank+1, MPI_PROC_NULL, rank < np-1)
  down = merge(rank-1, MPI_PROC_NULL, rank > 0)
  f%nx = 30
  f%ny = 48/np
  allocate(f%old(0:f%nx+1, 0:f%ny+1), f%new(0:f%nx+1, 0:f%ny+1))
  block
    integer :: i, j
    do j = 0, f%ny+1
      do i = 0, f%nx+1
        f%old(i,j) = i*0.01d0 + (j + rank*f%ny)*0.02d0
        f%new(i,j) = f%old(i,j)
      end do
    end do
  end block
  do it = 1, 20
    call step(f, up, down)
    call swap(f)
  end do
  if (rank == 0) print '(2es22.14)', sum(f%old), sum(f%new)
  call MPI_Finalize()
end program
