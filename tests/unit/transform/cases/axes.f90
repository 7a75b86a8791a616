! In the style of NAS MG: the faces of one axis after the other, since the corners need it, both
! directions of an axis through buffers that all axes share.
module axes
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 12, nm2 = 2**4 * 2**4
  double precision :: buff(nm2, 4), u(n, n), v(n, n)
  integer :: me, many, next(2, -1:1), msg_id(2, -1:1)
end module axes

program main
  use axes
  implicit none
  integer :: i, j, step, ierr
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, me, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, many, ierr)
  next(1, -1) = mod(me + many - 1, many)
  next(1, 1) = mod(me + 1, many)
  next(2, -1) = next(1, 1)
  next(2, 1) = next(1, -1)
  do j = 1, n
    do i = 1, n
      u(i, j) = mod(3 * i + 7 * j + me, 11)
    end do
  end do
  do step = 1, 5
    call comm(u)
    do j = 2, n - 1
      do i = 2, n - 1
        v(i, j) = 0.25d0 * (u(i - 1, j) + u(i + 1, j) + u(i - 1, j - 1) + u(i + 1, j + 1))
      end do
    end do
    u(2:n - 1, 2:n - 1) = v(2:n - 1, 2:n - 1)
  end do
  print '(i3, 2es24.16)', me, sum(u), maxval(u)
  call mpi_finalize(ierr)
end program main

subroutine comm(a)
  use axes
  implicit none
  double precision :: a(n, n)
  integer :: axis
  do axis = 1, 2
    call ready(axis, -1)
    call ready(axis, +1)
    call give(axis, +1, a)
    call give(axis, -1, a)
    call take(axis, -1, a)
    call take(axis, +1, a)
  end do
end subroutine comm

subroutine ready(axis, dir)
  use axes
  implicit none
  integer, intent(in) :: axis, dir
  integer :: buff_id, ierr
  if (dir == -1) then
    buff_id = 3
  else
    buff_id = 4
  end if
  call mpi_irecv(buff(1, buff_id), nm2, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 10 * axis + dir, &
    MPI_COMM_WORLD, msg_id(axis, dir), ierr)
end subroutine ready

subroutine give(axis, dir, a)
  use axes
  implicit none
  integer, intent(in) :: axis, dir
  double precision :: a(n, n)
  integer :: i, j, buff_len, buff_id, ierr
  buff_id = merge(1, 2, dir == -1)
  buff_len = 0
  if (axis == 1) then
    do j = 2, n - 1
      buff_len = buff_len + 1
      buff(buff_len, buff_id) = a(merge(2, n - 1, dir == -1), j)
    end do
    call mpi_send(buff(1, buff_id), buff_len, MPI_DOUBLE_PRECISION, next(axis, dir), &
      10 * axis - dir, MPI_COMM_WORLD, ierr)
  end if
  if (axis == 2) then
    do i = 1, n
      buff_len = buff_len + 1
      buff(buff_len, buff_id) = a(i, merge(2, n - 1, dir == -1))
    end do
    call mpi_send(buff(1, buff_id), buff_len, MPI_DOUBLE_PRECISION, next(axis, dir), &
      10 * axis - dir, MPI_COMM_WORLD, ierr)
  end if
end subroutine give

subroutine take(axis, dir, a)
  use axes
  implicit none
  integer, intent(in) :: axis, dir
  double precision :: a(n, n)
  integer :: i, j, indx, buff_id, ierr
  call mpi_wait(msg_id(axis, dir), MPI_STATUS_IGNORE, ierr)
  buff_id = merge(3, 4, dir == -1)
  indx = 0
  if (axis == 1) then
    do j = 2, n - 1
      indx = indx + 1
      a(merge(1, n, dir == -1), j) = buff(indx, buff_id)
    end do
  else
    do i = 1, n
      indx = indx + 1
      a(i, merge(1, n, dir == -1)) = buff(indx, buff_id)
    end do
  end if
end subroutine take
