! Messages through mpi_f08, of array sections and a datatype; each has its tag. Ranks 0 and 1 exchange.
program kernels
  use mpi_f08
  implicit none
  integer, parameter :: n = 16
  real(8), asynchronous :: a(n, n), b(n, n)
  real(8) :: x
  integer :: rank, other, step, i, index
  type(mpi_request) :: q(2), p(2)
  type(mpi_datatype) :: row
  call mpi_init()
  call mpi_comm_rank(mpi_comm_world, rank)
  other = 1 - rank
  call mpi_type_vector(n, 1, n, mpi_double_precision, row)
  call mpi_type_commit(row)
  call mpi_recv_init(b(1, 5), n, mpi_double_precision, other, 3, mpi_comm_world, p(1))
  call mpi_send_init(a(1, 5), n, mpi_double_precision, other, 3, mpi_comm_world, p(2))
  x = 0
  do step = 1, 6
    do i = n, 1, -1
      a(i, 2) = step + i
    end do
    call mpi_irecv(b(:, 2), n, mpi_double_precision, other, 1, mpi_comm_world, q(1))
    call mpi_isend(a(:, 2), n, mpi_double_precision, other, 1, mpi_comm_world, q(2))
    call mpi_waitany(2, q, index, mpi_status_ignore)
    call mpi_waitany(2, q, index, mpi_status_ignore)
    do i = 1, n
      x = x + b(i, 2)
    end do
    do i = 1, n
      a(3, i) = step * i
    end do
    call mpi_sendrecv(a(3, 1), 1, row, other, 2, b(3, 1), 1, row, other, 2, mpi_comm_world, mpi_status_ignore)
    do i = n, 1, -1
      x = x + b(3, i)
    end do
    do i = 1, n
      a(i, 5) = step - i
    end do
    call mpi_startall(2, p)
    call mpi_waitall(2, p, mpi_statuses_ignore)
    do i = n, 1, -1
      x = x + b(i, 5)
    end do
  end do
  if (x < 0) print *, x
  call mpi_request_free(p(1))
  call mpi_request_free(p(2))
  call mpi_finalize()
end program kernels
