! Messages of Fortran arrays whose orders are known; each has its tag. Ranks 0 and 1 exchange.
module fields
  implicit none
  integer, parameter :: n = 16
  real(8) :: c(n, n), edge(n), ghost(n), copy(n)
end module fields

program kernels
  use mpi
  use fields
  implicit none
  real(8) :: a(n, n), b(n, n), x
  integer :: rank, other, ierr, step, i, j, requests(2), row, statuses(mpi_status_size, 2)
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  other = 1 - rank
  call mpi_type_vector(n, 1, n, mpi_double_precision, row, ierr)
  call mpi_type_commit(row, ierr)
  do step = 1, 6
    do i = 1, n
      a(i, 2) = step + i
    end do
    call mpi_irecv(b(1, 2), n, mpi_double_precision, other, 1, mpi_comm_world, requests(1), ierr)
    call mpi_isend(a(1, 2), n, mpi_double_precision, other, 1, mpi_comm_world, requests(2), ierr)
    call mpi_waitall(2, requests, statuses, ierr)
    x = 0
    do i = n, 1, -1
      x = x + b(i, 2)
    end do
    a(:, 3) = x
    call mpi_sendrecv(a(1, 3), n, mpi_double_precision, other, 2, b(1, 3), n, &
      mpi_double_precision, other, 2, mpi_comm_world, statuses(:, 1), ierr)
    x = x + sum(b(:, 3))
    do j = n, 1, -1
      do i = 1, n
        a(i, j) = step + i * j
      end do
    end do
    call mpi_irecv(b(3, 1), 1, row, other, 3, mpi_comm_world, requests(1), ierr)
    call mpi_isend(a(3, 1), 1, row, other, 3, mpi_comm_world, requests(2), ierr)
    call mpi_waitall(2, requests, statuses, ierr)
    do i = 1, n
      x = x + b(3, i)
    end do
    ! Whole arrays: a row is assigned to the buffer, the one that came to an array.
    do j = n, 1, -1
      c(7, j) = step + j
    end do
    edge = c(7, :)
    call mpi_sendrecv(edge, n, mpi_double_precision, other, 4, ghost, n, mpi_double_precision, other, 4, &
      mpi_comm_world, statuses(:, 1), ierr)
    copy = ghost
    do i = n, 1, -1
      x = x + copy(i)
    end do
    ! Slices: a row, which the compiler packs and unpacks.
    do j = n, 1, -1
      c(9, j) = step - j
    end do
    call mpi_sendrecv(c(9, :), n, mpi_double_precision, other, 5, c(11, :), n, mpi_double_precision, other, 5, &
      mpi_comm_world, statuses(:, 1), ierr)
    do j = n, 1, -1
      x = x + c(11, j)
    end do
    if (x < 0) print *, x
  end do
  call mpi_finalize(ierr)
end program kernels
