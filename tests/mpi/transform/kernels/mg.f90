! In the style of NAS MG: the three axes are exchanged one after the other, with receives from any
! source that are posted first, buffers buff(:, id) that all axes share, and one request for each
! axis and direction. What is periodic within a process must be so at the end.
module grid
  use mpi
  implicit none
  integer, parameter :: n = 10, steps = 4, nm = (n + 2) * (n + 2)
  integer :: me, many
  integer :: nbr(3, -1:1)
  integer :: msg_id(3, -1:1), msg_type(3, -1:1)
  double precision :: buff(nm, 4)
end module grid

program mg
  use grid
  implicit none
  double precision, allocatable :: u(:, :, :), v(:, :, :), r(:, :, :)
  integer :: step, i, j, k, bad, total, ierr
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, me, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, many, ierr)
  call setup
  allocate (u(n + 2, n + 2, n + 2), v(n + 2, n + 2, n + 2), r(n + 2, n + 2, n + 2))
  do k = 1, n + 2
    do j = 1, n + 2
      do i = 1, n + 2
        u(i, j, k) = modulo(i + 2 * j + 3 * k + me * n, 7)
        v(i, j, k) = 1.0d0
      end do
    end do
  end do
  call comm3(u, n + 2, n + 2, n + 2)
  do step = 1, steps
    call resid(u, v, r, n + 2, n + 2, n + 2)
    call psinv(r, u, n + 2, n + 2, n + 2)
  end do
  bad = 0
  do k = 1, n + 2, n + 1
    do j = 2, n + 1
      do i = 2, n + 1
        if (u(i, j, k) /= u(i, j, merge(n + 1, 2, k == 1)) .and. nbr(3, 1) == me) bad = bad + 1
      end do
    end do
  end do
  call mpi_reduce(bad, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (me == 0) print *, 'mg: wrong values', total
  print *, 'mg: rank', me, 'sum', sum(u), sum(r)
  call mpi_finalize(ierr)
end program mg

subroutine setup
  use grid
  implicit none
  integer :: axis
  do axis = 1, 3
    nbr(axis, -1) = me
    nbr(axis, 1) = me
  end do
  nbr(1, -1) = mod(me + many - 1, many)
  nbr(1, 1) = mod(me + 1, many)
  if (many >= 4) then
    nbr(1, -1) = me - mod(me, 2) + mod(me + 1, 2)
    nbr(1, 1) = nbr(1, -1)
    nbr(2, -1) = mod(me + many - 2, many)
    nbr(2, 1) = mod(me + 2, many)
  end if
  do axis = 1, 3
    msg_type(axis, -1) = 100 * axis
    msg_type(axis, 1) = 100 * axis + 10
  end do
end subroutine setup

subroutine resid(u, v, r, n1, n2, n3)
  use grid, only: me
  implicit none
  integer, intent(in) :: n1, n2, n3
  double precision :: u(n1, n2, n3), v(n1, n2, n3), r(n1, n2, n3)
  integer :: i1, i2, i3
  do i3 = 2, n3 - 1
    do i2 = 2, n2 - 1
      do i1 = 2, n1 - 1
        r(i1, i2, i3) = v(i1, i2, i3) - 0.25d0 * u(i1, i2, i3) &
          + 0.125d0 * (u(i1 - 1, i2, i3) + u(i1 + 1, i2, i3)) &
          + 0.0625d0 * (u(i1, i2 - 1, i3 - 1) + u(i1, i2 + 1, i3 + 1))
      end do
    end do
  end do
  call comm3(r, n1, n2, n3)
end subroutine resid

subroutine psinv(r, u, n1, n2, n3)
  use grid, only: me
  implicit none
  integer, intent(in) :: n1, n2, n3
  double precision :: r(n1, n2, n3), u(n1, n2, n3)
  integer :: i1, i2, i3
  do i3 = 2, n3 - 1
    do i2 = 2, n2 - 1
      do i1 = 2, n1 - 1
        u(i1, i2, i3) = u(i1, i2, i3) + 0.5d0 * r(i1, i2, i3) &
          + 0.125d0 * (r(i1 - 1, i2, i3) + r(i1 + 1, i2, i3) + r(i1, i2 - 1, i3) &
          + r(i1, i2 + 1, i3) + r(i1, i2, i3 - 1) + r(i1, i2, i3 + 1))
      end do
    end do
  end do
  call comm3(u, n1, n2, n3)
end subroutine psinv

subroutine comm3(u, n1, n2, n3)
  use grid
  implicit none
  integer, intent(in) :: n1, n2, n3
  double precision :: u(n1, n2, n3)
  integer :: axis
  do axis = 1, 3
    if (nbr(axis, 1) /= me) then
      call ready(axis, -1)
      call ready(axis, 1)
      call give3(axis, 1, u, n1, n2, n3)
      call give3(axis, -1, u, n1, n2, n3)
      call take3(axis, -1, u, n1, n2, n3)
      call take3(axis, 1, u, n1, n2, n3)
    else
      call comm1p(axis, u, n1, n2, n3)
    end if
  end do
end subroutine comm3

subroutine ready(axis, dir)
  use grid
  implicit none
  integer, intent(in) :: axis, dir
  integer :: buff_id, ierr
  buff_id = merge(3, 4, dir == -1)
  call mpi_irecv(buff(1, buff_id), nm, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, &
    msg_type(axis, dir), MPI_COMM_WORLD, msg_id(axis, dir), ierr)
end subroutine ready

subroutine give3(axis, dir, u, n1, n2, n3)
  use grid
  implicit none
  integer, intent(in) :: axis, dir, n1, n2, n3
  double precision :: u(n1, n2, n3)
  integer :: i1, i2, i3, buff_len, buff_id, ierr
  buff_id = merge(1, 2, dir == -1)
  buff_len = 0
  if (axis == 1) then
    do i3 = 2, n3 - 1
      do i2 = 2, n2 - 1
        buff_len = buff_len + 1
        buff(buff_len, buff_id) = u(merge(2, n1 - 1, dir == -1), i2, i3)
      end do
    end do
  else if (axis == 2) then
    do i3 = 2, n3 - 1
      do i1 = 1, n1
        buff_len = buff_len + 1
        buff(buff_len, buff_id) = u(i1, merge(2, n2 - 1, dir == -1), i3)
      end do
    end do
  else
    do i2 = 1, n2
      do i1 = 1, n1
        buff_len = buff_len + 1
        buff(buff_len, buff_id) = u(i1, i2, merge(2, n3 - 1, dir == -1))
      end do
    end do
  end if
  call mpi_send(buff(1, buff_id), buff_len, MPI_DOUBLE_PRECISION, nbr(axis, dir), &
    msg_type(axis, -dir), MPI_COMM_WORLD, ierr)
end subroutine give3

subroutine take3(axis, dir, u, n1, n2, n3)
  use grid
  implicit none
  integer, intent(in) :: axis, dir, n1, n2, n3
  double precision :: u(n1, n2, n3)
  integer :: i1, i2, i3, indx, buff_id, status(MPI_STATUS_SIZE), ierr
  call mpi_wait(msg_id(axis, dir), status, ierr)
  buff_id = merge(3, 4, dir == -1)
  indx = 0
  if (axis == 1) then
    do i3 = 2, n3 - 1
      do i2 = 2, n2 - 1
        indx = indx + 1
        u(merge(1, n1, dir == -1), i2, i3) = buff(indx, buff_id)
      end do
    end do
  else if (axis == 2) then
    do i3 = 2, n3 - 1
      do i1 = 1, n1
        indx = indx + 1
        u(i1, merge(1, n2, dir == -1), i3) = buff(indx, buff_id)
      end do
    end do
  else
    do i2 = 1, n2
      do i1 = 1, n1
        indx = indx + 1
        u(i1, i2, merge(1, n3, dir == -1)) = buff(indx, buff_id)
      end do
    end do
  end if
end subroutine take3

subroutine comm1p(axis, u, n1, n2, n3)
  implicit none
  integer, intent(in) :: axis, n1, n2, n3
  double precision :: u(n1, n2, n3)
  integer :: i1, i2, i3
  if (axis == 1) then
    do i3 = 2, n3 - 1
      do i2 = 2, n2 - 1
        u(1, i2, i3) = u(n1 - 1, i2, i3)
        u(n1, i2, i3) = u(2, i2, i3)
      end do
    end do
  else if (axis == 2) then
    do i3 = 2, n3 - 1
      do i1 = 1, n1
        u(i1, 1, i3) = u(i1, n2 - 1, i3)
        u(i1, n2, i3) = u(i1, 2, i3)
      end do
    end do
  else
    do i2 = 1, n2
      do i1 = 1, n1
        u(i1, i2, 1) = u(i1, i2, n3 - 1)
        u(i1, i2, n3) = u(i1, i2, 2)
      end do
    end do
  end if
end subroutine comm1p
