! A plate that relaxes; the procedures of the program take its sizes from there.
program heat2d
  use mpi
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer :: nx, ny, me, np, ierr, left, right, t
  real(dp), allocatable :: u(:,:), unew(:,:)
  real(dp) :: diff, gdiff
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
  nx = 60
  ny = 40
  left = me - 1
  if (left < 0) left = MPI_PROC_NULL
  right = me + 1
  if (right >= np) right = MPI_PROC_NULL
  allocate(u(0:nx+1,0:ny+1), unew(0:nx+1,0:ny+1))
  call initialize(u)
  unew = u
  do t = 1, 100
    call exchange(u)
    call relax(u, unew)
    diff = maxval(abs(unew - u))
    call MPI_Allreduce(diff, gdiff, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    u = unew
    if (gdiff < 1e-6_dp) exit
  end do
  if (me == 0) write(*,'(i6,es20.12)') t, gdiff
  deallocate(u, unew)
  call MPI_Finalize(ierr)
contains
  subroutine initialize(a)
    real(dp), intent(out) :: a(0:,0:)
    integer :: i, j
    do j = 0, ny+1
      do i = 0, nx+1
        a(i,j) = sin(0.05_dp*i)*me + j*0.01_dp
      end do
    end do
  end subroutine
  subroutine exchange(a)
    real(dp), intent(inout) :: a(0:,0:)
    integer :: req(4)
    call MPI_Irecv(a(1,0), nx, MPI_DOUBLE_PRECISION, left, 10, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Irecv(a(1,ny+1), nx, MPI_DOUBLE_PRECISION, right, 20, MPI_COMM_WORLD, req(2), ierr)
    call MPI_Isend(a(1,1), nx, MPI_DOUBLE_PRECISION, left, 20, MPI_COMM_WORLD, req(3), ierr)
    call MPI_Isend(a(1,ny), nx, MPI_DOUBLE_PRECISION, right, 10, MPI_COMM_WORLD, req(4), ierr)
    call MPI_Waitall(4, req, MPI_STATUSES_IGNORE, ierr)
  end subroutine
  subroutine relax(a, b)
    real(dp), intent(in) :: a(0:,0:)
    real(dp), intent(inout) :: b(0:,0:)
    integer :: i, j
    do j = 1, ny
      do i = 1, nx
        b(i,j) = 0.25_dp*(a(i-1,j)+a(i+1,j)+a(i,j-1)+a(i,j+1))
      end do
    end do
  end subroutine
end program
