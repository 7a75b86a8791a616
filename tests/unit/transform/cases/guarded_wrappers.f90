! Calls of routines around messages that an IF guards, for one rank or for now and then.
module halo
  use mpi
  implicit none
  integer, parameter :: n = 500
  integer :: rank, nprocs, up, down
contains
  subroutine exchange(a)
    double precision, intent(inout) :: a(0:n+1)
    integer :: ierr
    call MPI_Sendrecv(a(1), 1, MPI_DOUBLE_PRECISION, up, 1, a(n+1), 1, MPI_DOUBLE_PRECISION, &
         down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(a(n), 1, MPI_DOUBLE_PRECISION, down, 2, a(0), 1, MPI_DOUBLE_PRECISION, &
         up, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine exchange

  ! Periodic in one dimension: a rank alone copies.
  subroutine wrap(a)
    double precision, intent(inout) :: a(0:n+1)
    integer :: ierr
    if (nprocs == 1) then
      a(0) = a(n)
      a(n+1) = a(1)
      return
    end if
    call MPI_Sendrecv(a(1), 1, MPI_DOUBLE_PRECISION, up, 3, a(n+1), 1, MPI_DOUBLE_PRECISION, &
         down, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(a(n), 1, MPI_DOUBLE_PRECISION, down, 4, a(0), 1, MPI_DOUBLE_PRECISION, &
         up, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine wrap

  subroutine decay(a, factor)
    double precision, intent(inout) :: a(0:n+1)
    double precision, intent(in) :: factor
    integer :: i
    do i = 1, n
      a(i) = factor*a(i) + 0.125d0
    end do
  end subroutine decay

  subroutine smooth(a, b)
    double precision, intent(in) :: a(0:n+1)
    double precision, intent(inout) :: b(0:n+1)
    integer :: i
    do i = 1, n
      b(i) = 0.25d0*(a(i-1) + a(i+1)) + 0.5d0*b(i)
    end do
  end subroutine smooth
end module halo

program main
  use mpi
  use halo
  implicit none
  double precision :: u(0:n+1), v(0:n+1), w(0:n+1), total
  integer :: ierr, step, i
  logical :: parallel
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  parallel = nprocs > 1
  up = mod(rank + 1, nprocs)
  down = mod(rank + nprocs - 1, nprocs)
  w = 0.0d0
  total = 0.0d0
  do i = 0, n + 1
    u(i) = i + rank
    v(i) = i + rank
  end do
  do step = 1, 20
    if (nprocs > 1) call exchange(u)
    call decay(w, 0.5d0)
    call smooth(u, v)
    IF (parallel .and. mod(step, 4) == 0 .and. &
        rank >= 0) call exchange(v)
    call wrap(u)
    call decay(w, 0.25d0)
    call smooth(v, u)
    if (parallel) then
      call exchange(w)
      total = total + 1.0d0
      call exchange(v)
    end if
    call decay(u, 0.75d0)
    call smooth(w, v)
    if (nprocs == 1) then
      u(0) = u(n)
    else
      call exchange(u)
    end if
    call decay(w, 0.5d0)
    call smooth(u, v)
    total = total + u(n/2) + v(1) + w(n+1)
  end do
  print '(i6,2es20.10)', rank, total, u(3) + v(n)
  call MPI_Finalize(ierr)
end program main
