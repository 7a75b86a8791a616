! A routine that only calls the exchange of each field, which is nonblocking by itself.
module halo
  use mpi
  implicit none
  integer :: up, down, rank, nproc
  type field_t
    integer :: nx, ny
    real(8), allocatable :: u(:,:), p(:,:), v(:,:), q(:,:)
  end type
contains
  subroutine exchange(a, nx, ny)
    integer, intent(in) :: nx, ny
    real(8), intent(inout) :: a(0:nx+1, 0:ny+1)
    integer :: r(4), ierr
    call MPI_Irecv(a(0,0), nx+2, MPI_DOUBLE_PRECISION, up, 0, MPI_COMM_WORLD, r(1), ierr)
    call MPI_Irecv(a(0,ny+1), nx+2, MPI_DOUBLE_PRECISION, down, 1, MPI_COMM_WORLD, r(2), ierr)
    call MPI_Isend(a(0,1), nx+2, MPI_DOUBLE_PRECISION, up, 1, MPI_COMM_WORLD, r(3), ierr)
    call MPI_Isend(a(0,ny), nx+2, MPI_DOUBLE_PRECISION, down, 0, MPI_COMM_WORLD, r(4), ierr)
    call MPI_Waitall(4, r, MPI_STATUSES_IGNORE, ierr)
  end subroutine
  subroutine exchange_all(f)
    type(field_t), intent(inout) :: f
    call exchange(f%u, f%nx, f%ny)
    call exchange(f%p, f%nx, f%ny)
  end subroutine
end module
program main
  use mpi
  use halo
  implicit none
  type(field_t) :: f
  integer :: ierr, i, j, it
  real(8) :: s, t
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nproc, ierr)
  up = merge(rank-1, MPI_PROC_NULL, rank > 0)
  down = merge(rank+1, MPI_PROC_NULL, rank < nproc-1)
  f%nx = 50
  f%ny = 40
  allocate(f%u(0:f%nx+1,0:f%ny+1), f%p(0:f%nx+1,0:f%ny+1))
  allocate(f%v(0:f%nx+1,0:f%ny+1), f%q(0:f%nx+1,0:f%ny+1))
  do j = 0, f%ny+1
    do i = 0, f%nx+1
      f%u(i,j) = sin(0.1d0*i + j + rank)
      f%p(i,j) = cos(0.2d0*i + j + rank)
    end do
  end do
  do it = 1, 10
    call exchange_all(f)
    do j = 1, f%ny
      do i = 1, f%nx
        f%v(i,j) = 0.25d0*(f%u(i,j-1) + f%u(i,j+1) + f%p(i,j))
        f%q(i,j) = 0.25d0*(f%p(i,j-1) + f%p(i,j+1) + f%u(i,j))
      end do
    end do
    do j = 1, f%ny
      do i = 1, f%nx
        f%u(i,j) = f%v(i,j)
        f%p(i,j) = f%q(i,j)
      end do
    end do
  end do
  s = sum(f%u) + sum(f%p)
  call MPI_Allreduce(s, t, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(es23.15)', t
  call MPI_Finalize(ierr)
end program
