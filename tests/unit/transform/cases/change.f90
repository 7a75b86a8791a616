! A routine that steps and finds the largest change: its second part goes on with that of the first.
module grid
  use mpi_f08
  implicit none
  integer :: nx, ny, up, down, me, np
  double precision, allocatable :: u(:,:), v(:,:)
contains
  subroutine halo(a)
    double precision, intent(inout) :: a(0:nx+1,0:ny+1)
    call MPI_Sendrecv(a(1,ny), nx, MPI_DOUBLE_PRECISION, up, 1, a(1,0), nx, MPI_DOUBLE_PRECISION, &
        down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(a(1,1), nx, MPI_DOUBLE_PRECISION, down, 2, a(1,ny+1), nx, &
        MPI_DOUBLE_PRECISION, up, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end subroutine
  subroutine step(a, b, res)
    double precision, intent(in) :: a(0:nx+1,0:ny+1)
    double precision, intent(inout) :: b(0:nx+1,0:ny+1)
    double precision, intent(out) :: res
    integer :: i, j
    res = 0d0
    do j = 1, ny
      do i = 1, nx
        b(i,j) = 0.25d0 * (a(i-1,j) + a(i+1,j) + a(i,j-1) + a(i,j+1))
        if (abs(b(i,j) - a(i,j)) > res) res = abs(b(i,j) - a(i,j))
      end do
    end do
  end subroutine
end module
program main
  use grid
  implicit none
  integer :: it, i, j
  double precision :: s, r
  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, np)
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  nx = 60
  ny = 60 / np
  up = mod(me + 1, np)
  down = mod(me + np - 1, np)
  allocate(u(0:nx+1, 0:ny+1), v(0:nx+1, 0:ny+1))
  do j = 0, ny + 1
    do i = 0, nx + 1
      u(i,j) = me + 0.1d0*i + 0.01d0*j*j
      v(i,j) = u(i,j)
    end do
  end do
  do it = 1, 50
    call halo(u)
    call step(u, v, r)
    if (r < 1d-8) exit
    u(1:nx,1:ny) = v(1:nx,1:ny)
  end do
  s = 0
  do j = 1, ny
    do i = 1, nx
      s = s + u(i,j)*(i+j)
    end do
  end do
  print '(i4,2es25.17)', me, s, r
  call MPI_Finalize()
end program
