! Receives are posted an iteration ahead; nothing looks at the statuses of what is awaited.
program unread
  use mpi
  implicit none
  integer, parameter :: nx = 200, ny = 100
  real(8), allocatable :: u(:, :), v(:, :)
  integer :: rank, nprocs, up, down, ierr, n, i, j
  real(8) :: part, total
  integer :: reqs(4), stats(MPI_STATUS_SIZE, 4)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  down = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  up = merge(rank + 1, MPI_PROC_NULL, rank < nprocs - 1)
  allocate (u(nx, 0:ny + 1), v(nx, 0:ny + 1))
  do j = 0, ny + 1
     do i = 1, nx
        u(i, j) = sin(0.1d0*i + j + rank)
        v(i, j) = u(i, j)
     end do
  end do
  do n = 1, 50
     call MPI_Irecv(u(1, 0), nx, MPI_DOUBLE_PRECISION, down, 1, MPI_COMM_WORLD, reqs(1), ierr)
     call MPI_Irecv(u(1, ny + 1), nx, MPI_DOUBLE_PRECISION, up, 2, MPI_COMM_WORLD, reqs(2), ierr)
     call MPI_Isend(u(1, ny), nx, MPI_DOUBLE_PRECISION, up, 1, MPI_COMM_WORLD, reqs(3), ierr)
     call MPI_Isend(u(1, 1), nx, MPI_DOUBLE_PRECISION, down, 2, MPI_COMM_WORLD, reqs(4), ierr)
     call MPI_Waitall(4, reqs, stats, ierr)
     do j = 1, ny
        do i = 2, nx - 1
           v(i, j) = 0.25d0*(u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1))
        end do
     end do
     do j = 1, ny
        do i = 2, nx - 1
           u(i, j) = v(i, j)
        end do
     end do
  end do
  part = 0
  do j = 1, ny
     do i = 1, nx
        part = part + u(i, j)
     end do
  end do
  call MPI_Reduce(part, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(f20.10)', total
  call MPI_Finalize(ierr)
end program unread
