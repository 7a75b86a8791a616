! Arguments of MPI's procedures are given by their names, in any order.
program keywords
  use mpi_f08, only: MPI_Init, MPI_Finalize, MPI_Comm_rank, MPI_Comm_size, MPI_COMM_WORLD, &
    MPI_Sendrecv, MPI_Bcast, MPI_Allreduce, MPI_Irecv, MPI_Isend, MPI_Waitall, MPI_Request, &
    MPI_Status, MPI_STATUSES_IGNORE, MPI_STATUS_IGNORE, MPI_PROC_NULL, MPI_SUM, MPI_REAL8, MPI_INTEGER
  implicit none
  integer, parameter :: n = 400
  real(8) :: u(0:n + 1), v(0:n + 1), w(n), part, everything
  integer :: rank, nprocs, left, right, i, k, rounds, ierr
  type(MPI_Request) :: requests(2)
  call MPI_Init(ierror=ierr)
  call MPI_Comm_rank(comm=MPI_COMM_WORLD, rank=rank, ierror=ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size=nprocs)
  left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  right = merge(rank + 1, MPI_PROC_NULL, rank < nprocs - 1)
  rounds = rank
  if (rank == 0) rounds = 15
  call MPI_Bcast(buffer=rounds, count=1, datatype=MPI_INTEGER, root=0, comm=MPI_COMM_WORLD)
  do i = 0, n + 1
    u(i) = mod(i*7 + rank, 13)
    v(i) = 0
  end do
  do i = 1, n
    w(i) = 1d0/i
  end do
  do k = 1, rounds
    call MPI_Sendrecv(u(n), 1, MPI_REAL8, right, 1, comm=MPI_COMM_WORLD, status=MPI_STATUS_IGNORE, &
                      recvbuf=u(0), recvcount=1, recvtype=MPI_REAL8, source=left, recvtag=1)
    call MPI_Irecv(buf=u(n + 1), count=1, datatype=MPI_REAL8, source=right, tag=2, &
                   comm=MPI_COMM_WORLD, request=requests(1))
    call MPI_Isend(u(1), 1, MPI_REAL8, tag=2, dest=left, request=requests(2), comm=MPI_COMM_WORLD)
    call MPI_Waitall(2, array_of_statuses=MPI_STATUSES_IGNORE, array_of_requests=requests)
    do i = 1, n
      v(i) = 0.5d0*u(i) + 0.25d0*(u(i - 1) + u(i + 1))
    end do
    do i = 1, n
      u(i) = v(i)
    end do
  end do
  part = 0
  do i = 1, n
    part = part + u(i)*i
  end do
  call MPI_Allreduce(part, everything, op=MPI_SUM, count=1, datatype=MPI_REAL8, comm=MPI_COMM_WORLD)
  do i = 1, n
    w(i) = w(i) + sqrt(w(i))
  end do
  if (rank == 0) print '(2es24.16)', everything, sum(w)
  call MPI_Waitall(0, requests, MPI_STATUSES_IGNORE)
  call MPI_Finalize()
end program keywords
