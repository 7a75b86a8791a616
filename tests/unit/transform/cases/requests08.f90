! Nonblocking calls in mpi_f08, whose requests are of a derived type.
program requests08
  use mpi_f08
  implicit none
  integer, parameter :: n = 4000
  double precision :: east(n), u(n), v(n), total
  type(MPI_Request) :: req(2)
  integer :: rank, peer, step, i
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  peer = 1 - rank
  east = 0
  do i = 1, n
    u(i) = rank + 0.25d0 * i
    v(i) = 0
  end do
  total = 0
  do step = 1, 10
    call MPI_Irecv(east, n, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, req(1))
    call MPI_Isend(u, n, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, req(2))
    call MPI_Waitall(2, req, MPI_STATUSES_IGNORE)
    do i = 1, n
      v(i) = 0.5d0 * v(i) + 0.125d0 * u(i)
    end do
    do i = 1, n
      u(i) = u(i) + 0.25d0 * east(i)
    end do
  end do
  do i = 1, n
    total = total + u(i) + v(i)
  end do
  print *, rank, total
  call MPI_Finalize()
end program requests08
