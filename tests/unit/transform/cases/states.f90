! Shallow water: states with arrays of their own, whose halos a generic name exchanges.
module comms
  use mpi
  implicit none
  integer, save :: comm, me, np, north, south
  interface exchange
    module procedure exchange2, exchange3
  end interface
contains
  subroutine comms_init()
    integer :: ierr
    call MPI_Init(ierr)
    comm = MPI_COMM_WORLD
    call MPI_Comm_rank(comm, me, ierr)
    call MPI_Comm_size(comm, np, ierr)
    north = mod(me+1, np)
    south = mod(me-1+np, np)
  end subroutine
  subroutine exchange2(a)
    real(8), intent(inout) :: a(:,0:)
    integer :: n, m, ierr
    n = size(a,1)
    m = ubound(a,2) - 1
    call MPI_Sendrecv(a(:,m), n, MPI_DOUBLE_PRECISION, north, 1, a(:,0), n, &
                      MPI_DOUBLE_PRECISION, south, 1, comm, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(a(:,1), n, MPI_DOUBLE_PRECISION, south, 2, a(:,m+1), n, &
                      MPI_DOUBLE_PRECISION, north, 2, comm, MPI_STATUS_IGNORE, ierr)
  end subroutine
  subroutine exchange3(a)
    real(8), intent(inout) :: a(:,:,0:)
    integer :: k
    do k = 1, size(a,2)
      a(:,k,0) = a(:,k,ubound(a,3)-1)
    end do
  end subroutine
  function global_max(x) result(y)
    real(8), intent(in) :: x
    real(8) :: y
    integer :: ierr
    call MPI_Allreduce(x, y, 1, MPI_DOUBLE_PRECISION, MPI_MAX, comm, ierr)
  end function
end module
module shallow
  use comms
  implicit none
  integer, parameter :: nx = 50, ny = 40
  type state
    real(8) :: h(nx,0:ny+1), u(nx,0:ny+1), v(nx,0:ny+1)
  end type
contains
  subroutine tendency(s, d)
    type(state), intent(inout) :: s
    type(state), intent(inout) :: d
    integer :: i, j, ip, im
    call exchange(s%h)
    call exchange(s%u)
    call exchange(s%v)
    do j = 1, ny
      do i = 1, nx
        ip = mod(i, nx) + 1
        im = mod(i-2+nx, nx) + 1
        d%h(i,j) = -(s%u(ip,j)-s%u(im,j) + s%v(i,j+1)-s%v(i,j-1))*0.5d0
        d%u(i,j) = -(s%h(ip,j)-s%h(im,j))*0.5d0
        d%v(i,j) = -(s%h(i,j+1)-s%h(i,j-1))*0.5d0
      end do
    end do
  end subroutine
  subroutine advance(s, d, dt)
    type(state), intent(inout) :: s
    type(state), intent(in) :: d
    real(8), intent(in) :: dt
    s%h(:,1:ny) = s%h(:,1:ny) + dt*d%h(:,1:ny)
    s%u(:,1:ny) = s%u(:,1:ny) + dt*d%u(:,1:ny)
    s%v(:,1:ny) = s%v(:,1:ny) + dt*d%v(:,1:ny)
  end subroutine
end module
program main
  use shallow
  implicit none
  type(state) :: s, d
  integer :: i, j, t, ierr
  real(8) :: cfl, g
  call comms_init()
  do j = 0, ny+1
    do i = 1, nx
      s%h(i,j) = 1 + 0.1d0*sin(0.1d0*(i+j+me*ny))
    end do
  end do
  s%u = 0; s%v = 0; d%h = 0; d%u = 0; d%v = 0
  do t = 1, 20
    cfl = global_max(maxval(abs(s%u)) + maxval(abs(s%v)) + 1d0)
    call tendency(s, d)
    call advance(s, d, 0.05d0/cfl)
  end do
  g = global_max(sum(s%h(:,1:ny)) + sum(s%v(:,1:ny)**2))
  if (me == 0) print '(es22.14)', g
  call MPI_Finalize(ierr)
end program
