module halo
  use mpi_f08
  implicit none
  integer :: nx, ny, left, right, ierr
contains
  subroutine exchange(a)
    double precision, intent(inout) :: a(0:nx+1, ny)
    double precision, allocatable :: sl(:), rl(:), sr(:), rr(:)
    type(MPI_Request), allocatable :: req(:)
    integer :: j
    allocate(sl(ny), rl(ny), sr(ny), rr(ny), req(4))
    do j = 1, ny
      sl(j) = a(1, j)
      sr(j) = a(nx, j)
    end do
    call MPI_Irecv(rl, ny, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Irecv(rr, ny, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, req(2), ierr)
    call MPI_Isend(sr, ny, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, req(3), ierr)
    call MPI_Isend(sl, ny, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, req(4), ierr)
    call MPI_Waitall(4, req, MPI_STATUSES_IGNORE, ierr)
    do j = 1, ny
      a(0, j) = rl(j)
      a(nx + 1, j) = rr(j)
    end do
    deallocate(sl, rl, sr, rr, req)
  end subroutine exchange
  subroutine step(a, b)
    double precision, intent(in) :: a(0:nx+1, ny)
    double precision, intent(inout) :: b(0:nx+1, ny)
    integer :: i, j
    do j = 1, ny
      do i = 1, nx
        b(i, j) = 0.5d0 * (a(i - 1, j) + a(i + 1, j))
      end do
    end do
  end subroutine step
end module halo
program main
  use halo
  implicit none
  double precision, allocatable :: u(:, :), v(:, :)
  integer :: it
  call MPI_Init(ierr)
  nx = 20
  ny = 20
  call MPI_Comm_rank(MPI_COMM_WORLD, left, ierr)
  right = left
  allocate(u(0:nx+1, ny), v(0:nx+1, ny))
  u = 1
  v = 1
  do it = 1, 5
    call exchange(u)
    call step(u, v)
    call exchange(v)
    call step(v, u)
  end do
  print *, u(1, 1)
  call MPI_Finalize(ierr)
end program main
