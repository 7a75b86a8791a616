program heat
  use mpi_f08
  implicit none
  integer, parameter :: nx = 64, ny = 48, nsteps = 20
  double precision, allocatable :: u(:,:), v(:,:), tmp(:,:)
  integer :: rank, nprocs, up, down, it, i, j, ierr
  double precision :: total, all
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  up = rank + 1
  if (up == nprocs) up = MPI_PROC_NULL
  down = rank - 1
  if (down < 0) down = MPI_PROC_NULL
  allocate(u(0:nx+1, 0:ny+1), v(0:nx+1, 0:ny+1))
  do j = 0, ny + 1
    do i = 0, nx + 1
      u(i,j) = sin(0.1d0*i) + 0.01d0*(j + ny*rank)
      v(i,j) = u(i,j)
    end do
  end do
  do it = 1, nsteps
    call MPI_Sendrecv(u(1,ny), nx, MPI_DOUBLE_PRECISION, up, 1, u(1,0), nx, &
        MPI_DOUBLE_PRECISION, down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(u(1,1), nx, MPI_DOUBLE_PRECISION, down, 2, u(1,ny+1), nx, &
        MPI_DOUBLE_PRECISION, up, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    do j = 1, ny
      do i = 1, nx
        v(i,j) = u(i,j) + 0.1d0*(u(i-1,j) + u(i+1,j) + u(i,j-1) + u(i,j+1) - 4*u(i,j))
      end do
    end do
    call move_alloc(u, tmp)
    call move_alloc(v, u)
    call move_alloc(tmp, v)
  end do
  total = 0
  do j = 1, ny
    do i = 1, nx
      total = total + u(i,j)
    end do
  end do
  call MPI_Reduce(total, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a,es22.14)', 'sum ', all
  deallocate(u, v)
  call MPI_Finalize(ierr)
end program
