! Work in layers: what a step calls has the loops that need the halo.
module fields
  implicit none
  integer, parameter :: nx = 60, ny = 40
  double precision :: u(0:nx+1,0:ny+1), f(0:nx+1,0:ny+1), w(0:nx+1,0:ny+1)
end module fields
module kernels
  use fields
  implicit none
contains
  subroutine flux(c)
    double precision, intent(in) :: c
    integer :: i, j
    do j = 1, ny
      do i = 1, nx
        f(i,j) = c*(u(i,j-1) + u(i,j+1) + u(i-1,j) + u(i+1,j) - 4.0d0*u(i,j))
      end do
    end do
  end subroutine flux
  subroutine update(dt)
    double precision, intent(in) :: dt
    integer :: i, j
    do j = 1, ny
      do i = 1, nx
        u(i,j) = u(i,j) + dt*f(i,j)
      end do
    end do
  end subroutine update
  subroutine advance(dt, c)
    double precision, intent(in) :: dt, c
    double precision :: half
    half = 0.5d0*c*(1.0d0 - dt)
    call flux(half)
    call update(dt)
  end subroutine advance
end module kernels
program main
  use mpi
  use fields
  use kernels
  implicit none
  integer :: rank, size, ierr, up, down, step, i, j
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  call mpi_comm_size(mpi_comm_world, size, ierr)
  up = merge(rank - 1, mpi_proc_null, rank > 0)
  down = merge(rank + 1, mpi_proc_null, rank < size - 1)
  do j = 0, ny+1
    do i = 0, nx+1
      u(i,j) = mod(i*7 + j*3 + rank, 13)
    end do
  end do
  f = 0
  do step = 1, 10
    call exchange(up, down)
    call advance(0.1d0, 0.9d0)
  end do
  print '(i3,es20.12)', rank, sum(f) + sum(u(1:nx,1:ny))
  call mpi_finalize(ierr)
end program main
subroutine exchange(up, down)
  use mpi
  use fields
  implicit none
  integer, intent(in) :: up, down
  integer :: r(4), ierr
  call mpi_irecv(u(0,0), nx+2, mpi_double_precision, up, 0, mpi_comm_world, r(1), ierr)
  call mpi_irecv(u(0,ny+1), nx+2, mpi_double_precision, down, 1, mpi_comm_world, r(2), ierr)
  call mpi_isend(u(0,1), nx+2, mpi_double_precision, up, 1, mpi_comm_world, r(3), ierr)
  call mpi_isend(u(0,ny), nx+2, mpi_double_precision, down, 0, mpi_comm_world, r(4), ierr)
  call mpi_waitall(4, r, mpi_statuses_ignore, ierr)
end subroutine exchange
