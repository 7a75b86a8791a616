! Persistent requests: made once, started in each step. Columns are sent from the grid itself, rows
! from buffers that they are packed into.
program main
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 40
  double precision :: u(0:n+1,0:n+1), v(0:n+1,0:n+1), sw(n), se(n), rw(n), re(n)
  integer :: req(8), ierr, rank, nproc, up, down, left, right, i, j, step
  double precision :: s, total
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nproc, ierr)
  up = rank + 1
  if (up == nproc) up = MPI_PROC_NULL
  down = rank - 1
  if (down < 0) down = MPI_PROC_NULL
  left = mod(rank + nproc - 1, nproc)
  right = mod(rank + 1, nproc)
  do j = 0, n+1
     do i = 0, n+1
        u(i,j) = 0.25d0*j + 0.001d0*i*i + rank
        v(i,j) = u(i,j)
     end do
  end do
  call MPI_Recv_init(u(1,0), n, MPI_DOUBLE_PRECISION, down, 1, MPI_COMM_WORLD, req(1), ierr)
  call MPI_Recv_init(u(1,n+1), n, MPI_DOUBLE_PRECISION, up, 2, MPI_COMM_WORLD, req(2), ierr)
  call MPI_Recv_init(rw, n, MPI_DOUBLE_PRECISION, left, 3, MPI_COMM_WORLD, req(3), ierr)
  call MPI_Recv_init(re, n, MPI_DOUBLE_PRECISION, right, 4, MPI_COMM_WORLD, req(4), ierr)
  call MPI_Send_init(u(1,1), n, MPI_DOUBLE_PRECISION, down, 2, MPI_COMM_WORLD, req(5), ierr)
  call MPI_Send_init(u(1,n), n, MPI_DOUBLE_PRECISION, up, 1, MPI_COMM_WORLD, req(6), ierr)
  call MPI_Send_init(sw, n, MPI_DOUBLE_PRECISION, left, 4, MPI_COMM_WORLD, req(7), ierr)
  call MPI_Send_init(se, n, MPI_DOUBLE_PRECISION, right, 3, MPI_COMM_WORLD, req(8), ierr)
  do step = 1, 12
     do j = 1, n
        sw(j) = u(1,j)
        se(j) = u(n,j)
     end do
     call MPI_Startall(8, req, ierr)
     call MPI_Waitall(8, req, MPI_STATUSES_IGNORE, ierr)
     do j = 1, n
        u(0,j) = rw(j)
        u(n+1,j) = re(j)
     end do
     do j = 1, n
        do i = 1, n
           v(i,j) = 0.25d0*(u(i-1,j) + u(i+1,j) + u(i,j-1) + u(i,j+1))
        end do
     end do
     do j = 1, n
        do i = 1, n
           u(i,j) = v(i,j)
        end do
     end do
  end do
  s = 0
  do j = 1, n
     do i = 1, n
        s = s + u(i,j)
     end do
  end do
  call MPI_Allreduce(s, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(f20.10)', total
  do i = 1, 8
     call MPI_Request_free(req(i), ierr)
  end do
  call MPI_Finalize(ierr)
end program main
