! In the style of NAS MG: V-cycles on a periodic cube. Each stencil ends with an exchange of its
! result's faces, one axis after the other, since the corners need it; both directions of an axis
! have their buffers, which all axes and levels share.

module mg_data
  use mpi
  implicit none
  integer :: n, px, py, pz, steps
  include 'sizes.inc'
  integer, parameter :: levels = 10
  integer, parameter :: longest = n / min(px, py, pz) + 2
  integer, parameter :: nm2 = longest * longest
  double precision :: buff(nm2, 4)
  integer :: nbr(3, -1:1), msg_type(3, -1:1), msg_id(3, -1:1)
  integer :: me, many, at(3), parts(3)
  integer :: m1(levels), m2(levels), m3(levels), ir(levels), lt
  double precision, parameter :: a(0:3) = [-8.0d0 / 3.0d0, 0.0d0, 1.0d0 / 6.0d0, 1.0d0 / 12.0d0]
  double precision, parameter :: c(0:3) = [-3.0d0 / 8.0d0, 1.0d0 / 32.0d0, -1.0d0 / 64.0d0, 0.0d0]
end module mg_data

program mg
  use mg_data
  implicit none
  double precision, allocatable :: u(:), v(:), r(:)
  double precision :: before, after, start, time
  integer :: step, total, k, ierr
  call mpi_init(ierr)
  call setup
  total = 0
  do k = lt, 1, -1
    ir(k) = total + 1
    total = total + m1(k) * m2(k) * m3(k)
  end do
  allocate (u(total), r(total), v(m1(lt) * m2(lt) * m3(lt)))
  u = 0.0d0
  r = 0.0d0
  call charges(v, m1(lt), m2(lt), m3(lt))
  call resid(u, v, r, m1(lt), m2(lt), m3(lt))
  call norm(r, m1(lt), m2(lt), m3(lt), before)
  call mpi_barrier(MPI_COMM_WORLD, ierr)
  start = mpi_wtime()
  do step = 1, steps
    call cycle_once(u, v, r, total)
    call resid(u, v, r, m1(lt), m2(lt), m3(lt))
  end do
  time = mpi_wtime() - start
  call norm(r, m1(lt), m2(lt), m3(lt), after)
  if (me == 0) then
    print '(a, f12.6, a)', 'time: ', time, ' s'
    if (after < 0.05d0 * before) then
      print '(a, es24.16)', 'verification: PASSED value=', after
    else
      print '(a, es24.16)', 'verification: FAILED value=', after
    end if
  end if
  call mpi_finalize(ierr)
end program mg

subroutine setup
  use mg_data
  implicit none
  integer :: axis, k, length(3), there(3), ierr
  call mpi_comm_rank(MPI_COMM_WORLD, me, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, many, ierr)
  parts = [px, py, pz]
  if (many /= px * py * pz) call mpi_abort(MPI_COMM_WORLD, 2, ierr)
  at = [mod(me, px), mod(me / px, py), me / (px * py)]
  do axis = 1, 3
    there = at
    there(axis) = mod(at(axis) + 1, parts(axis))
    nbr(axis, 1) = there(1) + px * (there(2) + py * there(3))
    there(axis) = mod(at(axis) + parts(axis) - 1, parts(axis))
    nbr(axis, -1) = there(1) + px * (there(2) + py * there(3))
    nbr(axis, 0) = me
    msg_type(axis, -1) = 100 * axis
    msg_type(axis, 1) = 100 * axis + 10
  end do
  length = n / parts
  lt = 1
  do while (minval(length) / 2**lt >= 2)
    lt = lt + 1
  end do
  do k = 1, lt
    m1(k) = length(1) / 2**(lt - k) + 2
    m2(k) = length(2) / 2**(lt - k) + 2
    m3(k) = length(3) / 2**(lt - k) + 2
  end do
end subroutine setup

subroutine charges(v, n1, n2, n3)
  use mg_data
  implicit none
  integer, intent(in) :: n1, n2, n3
  double precision :: v(n1, n2, n3)
  integer :: k, point(3)
  v = 0.0d0
  do k = 1, 20
    point = [mod(37 * k + 11 * k * k, n), mod(91 * k + 5 * k * k, n), mod(53 * k + 7 * k * k, n)]
    point = point - at * [n1 - 2, n2 - 2, n3 - 2] + 2
    if (all(point >= 2) .and. all(point <= [n1 - 1, n2 - 1, n3 - 1])) then
      v(point(1), point(2), point(3)) = merge(1.0d0, -1.0d0, k <= 10)
    end if
  end do
  call comm3(v, n1, n2, n3)
end subroutine charges

subroutine cycle_once(u, v, r, total)
  use mg_data
  implicit none
  integer, intent(in) :: total
  double precision :: u(total), v(*), r(total)
  integer :: k
  do k = lt, 2, -1
    call rprj3(r(ir(k)), m1(k), m2(k), m3(k), r(ir(k - 1)), m1(k - 1), m2(k - 1), m3(k - 1))
  end do
  call zero3(u(ir(1)), m1(1), m2(1), m3(1))
  call psinv(r(ir(1)), u(ir(1)), m1(1), m2(1), m3(1))
  do k = 2, lt - 1
    call zero3(u(ir(k)), m1(k), m2(k), m3(k))
    call interp(u(ir(k - 1)), m1(k - 1), m2(k - 1), m3(k - 1), u(ir(k)), m1(k), m2(k), m3(k))
    call resid_of(u(ir(k)), r(ir(k)), m1(k), m2(k), m3(k))
    call psinv(r(ir(k)), u(ir(k)), m1(k), m2(k), m3(k))
  end do
  call interp(u(ir(lt - 1)), m1(lt - 1), m2(lt - 1), m3(lt - 1), u, m1(lt), m2(lt), m3(lt))
  call resid(u, v, r, m1(lt), m2(lt), m3(lt))
  call psinv(r, u, m1(lt), m2(lt), m3(lt))
end subroutine cycle_once

subroutine resid(u, v, r, n1, n2, n3)
  use mg_data
  implicit none
  integer, intent(in) :: n1, n2, n3
  double precision :: u(n1, n2, n3), v(n1, n2, n3), r(n1, n2, n3)
  double precision :: u1(longest), u2(longest)
  integer :: i1, i2, i3
  do i3 = 2, n3 - 1
    do i2 = 2, n2 - 1
      do i1 = 1, n1
        u1(i1) = u(i1, i2 - 1, i3) + u(i1, i2 + 1, i3) + u(i1, i2, i3 - 1) + u(i1, i2, i3 + 1)
        u2(i1) = u(i1, i2 - 1, i3 - 1) + u(i1, i2 + 1, i3 - 1) + u(i1, i2 - 1, i3 + 1) &
          + u(i1, i2 + 1, i3 + 1)
      end do
      do i1 = 2, n1 - 1
        r(i1, i2, i3) = v(i1, i2, i3) - a(0) * u(i1, i2, i3) &
          - a(2) * (u2(i1) + u1(i1 - 1) + u1(i1 + 1)) - a(3) * (u2(i1 - 1) + u2(i1 + 1))
      end do
    end do
  end do
  call comm3(r, n1, n2, n3)
end subroutine resid

! The residual of a correction: r holds the right-hand side.
subroutine resid_of(u, r, n1, n2, n3)
  use mg_data
  implicit none
  integer, intent(in) :: n1, n2, n3
  double precision :: u(n1, n2, n3), r(n1, n2, n3)
  double precision :: u1(longest), u2(longest)
  integer :: i1, i2, i3
  do i3 = 2, n3 - 1
    do i2 = 2, n2 - 1
      do i1 = 1, n1
        u1(i1) = u(i1, i2 - 1, i3) + u(i1, i2 + 1, i3) + u(i1, i2, i3 - 1) + u(i1, i2, i3 + 1)
        u2(i1) = u(i1, i2 - 1, i3 - 1) + u(i1, i2 + 1, i3 - 1) + u(i1, i2 - 1, i3 + 1) &
          + u(i1, i2 + 1, i3 + 1)
      end do
      do i1 = 2, n1 - 1
        r(i1, i2, i3) = r(i1, i2, i3) - a(0) * u(i1, i2, i3) &
          - a(2) * (u2(i1) + u1(i1 - 1) + u1(i1 + 1)) - a(3) * (u2(i1 - 1) + u2(i1 + 1))
      end do
    end do
  end do
  call comm3(r, n1, n2, n3)
end subroutine resid_of

subroutine psinv(r, u, n1, n2, n3)
  use mg_data
  implicit none
  integer, intent(in) :: n1, n2, n3
  double precision :: r(n1, n2, n3), u(n1, n2, n3)
  double precision :: r1(longest), r2(longest)
  integer :: i1, i2, i3
  do i3 = 2, n3 - 1
    do i2 = 2, n2 - 1
      do i1 = 1, n1
        r1(i1) = r(i1, i2 - 1, i3) + r(i1, i2 + 1, i3) + r(i1, i2, i3 - 1) + r(i1, i2, i3 + 1)
        r2(i1) = r(i1, i2 - 1, i3 - 1) + r(i1, i2 + 1, i3 - 1) + r(i1, i2 - 1, i3 + 1) &
          + r(i1, i2 + 1, i3 + 1)
      end do
      do i1 = 2, n1 - 1
        u(i1, i2, i3) = u(i1, i2, i3) + c(0) * r(i1, i2, i3) &
          + c(1) * (r(i1 - 1, i2, i3) + r(i1 + 1, i2, i3) + r1(i1)) &
          + c(2) * (r2(i1) + r1(i1 - 1) + r1(i1 + 1))
      end do
    end do
  end do
  call comm3(u, n1, n2, n3)
end subroutine psinv

! Full weighting onto the coarser grid.
subroutine rprj3(r, n1, n2, n3, s, l1, l2, l3)
  use mg_data
  implicit none
  integer, intent(in) :: n1, n2, n3, l1, l2, l3
  double precision :: r(n1, n2, n3), s(l1, l2, l3)
  double precision :: line(-1:1)
  integer :: i1, i2, i3, j1, j2, j3, k
  do i3 = 2, l3 - 1
    j3 = 2 * i3 - 1
    do i2 = 2, l2 - 1
      j2 = 2 * i2 - 1
      do i1 = 2, l1 - 1
        j1 = 2 * i1 - 1
        do k = -1, 1
          line(k) = 0.25d0 * r(j1 + k, j2, j3) &
            + 0.125d0 * (r(j1 + k, j2 - 1, j3) + r(j1 + k, j2 + 1, j3) &
            + r(j1 + k, j2, j3 - 1) + r(j1 + k, j2, j3 + 1)) &
            + 0.0625d0 * (r(j1 + k, j2 - 1, j3 - 1) + r(j1 + k, j2 + 1, j3 - 1) &
            + r(j1 + k, j2 - 1, j3 + 1) + r(j1 + k, j2 + 1, j3 + 1))
        end do
        s(i1, i2, i3) = 2.0d0 * line(0) + line(-1) + line(1)
      end do
    end do
  end do
  call comm3(s, l1, l2, l3)
end subroutine rprj3

! Add the coarser grid's correction, by trilinear interpolation.
subroutine interp(z, l1, l2, l3, u, n1, n2, n3)
  implicit none
  integer, intent(in) :: l1, l2, l3, n1, n2, n3
  double precision :: z(l1, l2, l3), u(n1, n2, n3)
  integer :: i1, i2, i3
  do i3 = 1, l3 - 1
    do i2 = 1, l2 - 1
      do i1 = 1, l1 - 1
        u(2 * i1 - 1, 2 * i2 - 1, 2 * i3 - 1) = u(2 * i1 - 1, 2 * i2 - 1, 2 * i3 - 1) &
          + z(i1, i2, i3)
        u(2 * i1, 2 * i2 - 1, 2 * i3 - 1) = u(2 * i1, 2 * i2 - 1, 2 * i3 - 1) &
          + 0.5d0 * (z(i1, i2, i3) + z(i1 + 1, i2, i3))
        u(2 * i1 - 1, 2 * i2, 2 * i3 - 1) = u(2 * i1 - 1, 2 * i2, 2 * i3 - 1) &
          + 0.5d0 * (z(i1, i2, i3) + z(i1, i2 + 1, i3))
        u(2 * i1, 2 * i2, 2 * i3 - 1) = u(2 * i1, 2 * i2, 2 * i3 - 1) &
          + 0.25d0 * (z(i1, i2, i3) + z(i1 + 1, i2, i3) + z(i1, i2 + 1, i3) + z(i1 + 1, i2 + 1, i3))
        u(2 * i1 - 1, 2 * i2 - 1, 2 * i3) = u(2 * i1 - 1, 2 * i2 - 1, 2 * i3) &
          + 0.5d0 * (z(i1, i2, i3) + z(i1, i2, i3 + 1))
        u(2 * i1, 2 * i2 - 1, 2 * i3) = u(2 * i1, 2 * i2 - 1, 2 * i3) &
          + 0.25d0 * (z(i1, i2, i3) + z(i1 + 1, i2, i3) + z(i1, i2, i3 + 1) + z(i1 + 1, i2, i3 + 1))
        u(2 * i1 - 1, 2 * i2, 2 * i3) = u(2 * i1 - 1, 2 * i2, 2 * i3) &
          + 0.25d0 * (z(i1, i2, i3) + z(i1, i2 + 1, i3) + z(i1, i2, i3 + 1) + z(i1, i2 + 1, i3 + 1))
        u(2 * i1, 2 * i2, 2 * i3) = u(2 * i1, 2 * i2, 2 * i3) &
          + 0.125d0 * (z(i1, i2, i3) + z(i1 + 1, i2, i3) + z(i1, i2 + 1, i3) &
          + z(i1 + 1, i2 + 1, i3) + z(i1, i2, i3 + 1) + z(i1 + 1, i2, i3 + 1) &
          + z(i1, i2 + 1, i3 + 1) + z(i1 + 1, i2 + 1, i3 + 1))
      end do
    end do
  end do
end subroutine interp

subroutine zero3(u, n1, n2, n3)
  implicit none
  integer, intent(in) :: n1, n2, n3
  double precision :: u(n1, n2, n3)
  integer :: i1, i2, i3
  do i3 = 1, n3
    do i2 = 1, n2
      do i1 = 1, n1
        u(i1, i2, i3) = 0.0d0
      end do
    end do
  end do
end subroutine zero3

subroutine norm(r, n1, n2, n3, value)
  use mg_data
  implicit none
  integer, intent(in) :: n1, n2, n3
  double precision :: r(n1, n2, n3), value
  double precision :: mine, total
  integer :: i1, i2, i3, ierr
  mine = 0.0d0
  do i3 = 2, n3 - 1
    do i2 = 2, n2 - 1
      do i1 = 2, n1 - 1
        mine = mine + r(i1, i2, i3)**2
      end do
    end do
  end do
  call mpi_allreduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  value = sqrt(total / dble(n)**3)
end subroutine norm

subroutine comm3(u, n1, n2, n3)
  use mg_data
  implicit none
  integer, intent(in) :: n1, n2, n3
  double precision :: u(n1, n2, n3)
  integer :: axis
  do axis = 1, 3
    if (parts(axis) /= 1) then
      call ready(axis, -1)
      call ready(axis, +1)
      call give3(axis, +1, u, n1, n2, n3)
      call give3(axis, -1, u, n1, n2, n3)
      call take3(axis, -1, u, n1, n2, n3)
      call take3(axis, +1, u, n1, n2, n3)
    else
      call comm1p(axis, u, n1, n2, n3)
    end if
  end do
end subroutine comm3

subroutine ready(axis, dir)
  use mg_data
  implicit none
  integer, intent(in) :: axis, dir
  integer :: buff_id, ierr
  buff_id = 3 + dir
  call mpi_irecv(buff(1, buff_id), nm2, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, &
    msg_type(axis, dir), MPI_COMM_WORLD, msg_id(axis, dir), ierr)
end subroutine ready

subroutine give3(axis, dir, u, n1, n2, n3)
  use mg_data
  implicit none
  integer, intent(in) :: axis, dir, n1, n2, n3
  double precision :: u(n1, n2, n3)
  integer :: i1, i2, i3, buff_len, buff_id, ierr
  buff_id = 2 + dir
  buff_len = 0
  if (axis == 1) then
    if (dir == -1) then
      do i3 = 2, n3 - 1
        do i2 = 2, n2 - 1
          buff_len = buff_len + 1
          buff(buff_len, buff_id) = u(2, i2, i3)
        end do
      end do
      call mpi_send(buff(1, buff_id), buff_len, MPI_DOUBLE_PRECISION, nbr(axis, dir), &
        msg_type(axis, +1), MPI_COMM_WORLD, ierr)
    else if (dir == +1) then
      do i3 = 2, n3 - 1
        do i2 = 2, n2 - 1
          buff_len = buff_len + 1
          buff(buff_len, buff_id) = u(n1 - 1, i2, i3)
        end do
      end do
      call mpi_send(buff(1, buff_id), buff_len, MPI_DOUBLE_PRECISION, nbr(axis, dir), &
        msg_type(axis, -1), MPI_COMM_WORLD, ierr)
    end if
  end if
  if (axis == 2) then
    if (dir == -1) then
      do i3 = 2, n3 - 1
        do i1 = 1, n1
          buff_len = buff_len + 1
          buff(buff_len, buff_id) = u(i1, 2, i3)
        end do
      end do
      call mpi_send(buff(1, buff_id), buff_len, MPI_DOUBLE_PRECISION, nbr(axis, dir), &
        msg_type(axis, +1), MPI_COMM_WORLD, ierr)
    else if (dir == +1) then
      do i3 = 2, n3 - 1
        do i1 = 1, n1
          buff_len = buff_len + 1
          buff(buff_len, buff_id) = u(i1, n2 - 1, i3)
        end do
      end do
      call mpi_send(buff(1, buff_id), buff_len, MPI_DOUBLE_PRECISION, nbr(axis, dir), &
        msg_type(axis, -1), MPI_COMM_WORLD, ierr)
    end if
  end if
  if (axis == 3) then
    if (dir == -1) then
      do i2 = 1, n2
        do i1 = 1, n1
          buff_len = buff_len + 1
          buff(buff_len, buff_id) = u(i1, i2, 2)
        end do
      end do
      call mpi_send(buff(1, buff_id), buff_len, MPI_DOUBLE_PRECISION, nbr(axis, dir), &
        msg_type(axis, +1), MPI_COMM_WORLD, ierr)
    else if (dir == +1) then
      do i2 = 1, n2
        do i1 = 1, n1
          buff_len = buff_len + 1
          buff(buff_len, buff_id) = u(i1, i2, n3 - 1)
        end do
      end do
      call mpi_send(buff(1, buff_id), buff_len, MPI_DOUBLE_PRECISION, nbr(axis, dir), &
        msg_type(axis, -1), MPI_COMM_WORLD, ierr)
    end if
  end if
end subroutine give3

subroutine take3(axis, dir, u, n1, n2, n3)
  use mg_data
  implicit none
  integer, intent(in) :: axis, dir, n1, n2, n3
  double precision :: u(n1, n2, n3)
  integer :: i1, i2, i3, indx, buff_id, side, status(MPI_STATUS_SIZE), ierr
  call mpi_wait(msg_id(axis, dir), status, ierr)
  buff_id = 3 + dir
  indx = 0
  if (axis == 1) then
    side = merge(1, n1, dir == -1)
    do i3 = 2, n3 - 1
      do i2 = 2, n2 - 1
        indx = indx + 1
        u(side, i2, i3) = buff(indx, buff_id)
      end do
    end do
  end if
  if (axis == 2) then
    side = merge(1, n2, dir == -1)
    do i3 = 2, n3 - 1
      do i1 = 1, n1
        indx = indx + 1
        u(i1, side, i3) = buff(indx, buff_id)
      end do
    end do
  end if
  if (axis == 3) then
    side = merge(1, n3, dir == -1)
    do i2 = 1, n2
      do i1 = 1, n1
        indx = indx + 1
        u(i1, i2, side) = buff(indx, buff_id)
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
