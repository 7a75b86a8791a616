! An exchange along one axis, which SELECT CASE chooses, and constructs with names.
module axes
  use mpi
  implicit none
  integer, parameter :: n = 24
  integer :: me, np, up, down, ierr
contains
  subroutine exchange(u, axis)
    double precision, intent(inout) :: u(0:n+1, 0:n+1)
    integer, intent(in) :: axis
    integer :: req(2)
    direction: select case (axis)
    case (1) direction
      call MPI_Irecv(u(0, 0), n + 2, MPI_DOUBLE_PRECISION, down, 1, MPI_COMM_WORLD, req(1), ierr)
      call MPI_Isend(u(0, n), n + 2, MPI_DOUBLE_PRECISION, up, 1, MPI_COMM_WORLD, req(2), ierr)
      call MPI_Waitall(2, req, MPI_STATUSES_IGNORE, ierr)
    case (2) direction
      call MPI_Irecv(u(0, n+1), n + 2, MPI_DOUBLE_PRECISION, up, 2, MPI_COMM_WORLD, req(1), ierr)
      call MPI_Isend(u(0, 1), n + 2, MPI_DOUBLE_PRECISION, down, 2, MPI_COMM_WORLD, req(2), ierr)
      call MPI_Waitall(2, req, MPI_STATUSES_IGNORE, ierr)
    case default direction
      u(:, 0) = 0
    end select direction
  end subroutine exchange
  subroutine gathered(u, edge)
    double precision, intent(inout) :: u(0:n+1, 0:n+1)
    double precision, intent(inout) :: edge(0:n+1)
    integer :: req(2), messages
    messages = 0
    above: if (me < np - 1) then
      call MPI_Irecv(edge, n + 2, MPI_DOUBLE_PRECISION, up, 3, MPI_COMM_WORLD, req(1), ierr)
      messages = 1
    end if above
    below: if (me > 0) then
      messages = messages + 1
      call MPI_Isend(u(0, 1), n + 2, MPI_DOUBLE_PRECISION, down, 3, MPI_COMM_WORLD, &
        req(messages), ierr)
    end if below
    call MPI_Waitall(messages, req, MPI_STATUSES_IGNORE, ierr)
  end subroutine gathered
end module axes
program main
  use mpi
  use axes
  implicit none
  double precision :: u(0:n+1, 0:n+1), v(0:n+1, 0:n+1), edge(0:n+1), w(n)
  integer :: i, j, step
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
  up = MPI_PROC_NULL
  down = MPI_PROC_NULL
  if (me < np - 1) up = me + 1
  if (me > 0) down = me - 1
  do j = 0, n + 1
    do i = 0, n + 1
      u(i, j) = mod(3*i + 5*j + me, 13)
    end do
  end do
  v = 0
  w = 0
  edge = 0
  time: do step = 1, 5
    call exchange(u, 1)
    rows: do j = 1, n
      row: do i = 1, n
        v(i, j) = u(i - 1, j) + u(i + 1, j) + u(i, j - 1)
      end do row
    end do rows
    call gathered(u, edge)
    points: do i = 1, n
      w(i) = mod(2*w(i) + i, 17d0)
    end do points
    do j = 1, n
      do i = 1, n
        u(i, j) = mod(v(i, j) + w(i), 19d0)
      end do
    end do
    u(1, 1) = u(1, 1) + edge(1)
  end do time
  print *, me, sum(u)
  call MPI_Finalize(ierr)
end program main
