! Two sweeps over a plate in two colours: each reads the cells of the other colour alone. One loop
! begins at every second cell; the other asks each cell for its colour.
module plate
  implicit none
  integer, parameter :: n = 60
  real(8), allocatable :: u(:, :), v(:, :)
contains
  subroutine relax(color)
    integer, intent(in) :: color
    integer :: i, j
    do j = 1, n
      do i = 1 + mod(j + color, 2), n, 2
        u(i, j) = 0.25d0 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1))
      end do
    end do
  end subroutine relax
end module plate

program redblack
  use mpi
  use plate
  implicit none
  real(8) :: s
  integer :: ierr, rank, ranks, left, right, it, i, j, color
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  call mpi_comm_size(mpi_comm_world, ranks, ierr)
  left = rank - 1
  if (left < 0) left = mpi_proc_null
  right = rank + 1
  if (right >= ranks) right = mpi_proc_null
  allocate (u(0:n + 1, 0:n + 1), v(0:n + 1, 0:n + 1))
  do j = 0, n + 1
    do i = 0, n + 1
      u(i, j) = 0.01d0 * mod(37 * i + 11 * j + 5 * rank, 101)
      v(i, j) = 0.01d0 * mod(17 * i + 31 * j + 3 * rank, 103)
    end do
  end do
  do it = 1, 8
    do color = 0, 1
      call mpi_sendrecv(u(0, n), n + 2, mpi_double_precision, right, 1, &
                        u(0, 0), n + 2, mpi_double_precision, left, 1, &
                        mpi_comm_world, mpi_status_ignore, ierr)
      call mpi_sendrecv(u(0, 1), n + 2, mpi_double_precision, left, 2, &
                        u(0, n + 1), n + 2, mpi_double_precision, right, 2, &
                        mpi_comm_world, mpi_status_ignore, ierr)
      call relax(color)
    end do
    do color = 0, 1
      call mpi_sendrecv(v(0, n), n + 2, mpi_double_precision, right, 3, &
                        v(0, 0), n + 2, mpi_double_precision, left, 3, &
                        mpi_comm_world, mpi_status_ignore, ierr)
      call mpi_sendrecv(v(0, 1), n + 2, mpi_double_precision, left, 4, &
                        v(0, n + 1), n + 2, mpi_double_precision, right, 4, &
                        mpi_comm_world, mpi_status_ignore, ierr)
      do j = 1, n
        do i = 1, n
          if (mod(i + j, 2) == color) then
            v(i, j) = v(i, j) + 0.3d0 * (v(i - 1, j) + v(i + 1, j) + v(i, j - 1) + v(i, j + 1) &
                                         - 4.0d0 * v(i, j))
          end if
        end do
      end do
    end do
  end do
  s = 0.0d0
  do j = 1, n
    do i = 1, n
      s = s + u(i, j) * (i + 2 * j) + v(i, j) * (2 * i + j)
    end do
  end do
  do i = 0, ranks - 1
    if (i == rank) print '(i0, f20.10)', rank, s
    call mpi_barrier(mpi_comm_world, ierr)
  end do
  call mpi_finalize(ierr)
end program redblack
