! A step that also finds the largest change: each part of the divided loop goes on with it.
program residual
  use mpi_f08
  implicit none
  integer :: nx, ny, np, me, up, down, it, i, j
  double precision, allocatable :: u(:,:), v(:,:)
  double precision :: s, diff
  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, np)
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  nx = 64
  ny = 64 / np
  up = mod(me + 1, np)
  down = mod(me + np - 1, np)
  allocate(u(0:nx+1, 0:ny+1), v(0:nx+1, 0:ny+1))
  do j = 0, ny + 1
    do i = 0, nx + 1
      u(i,j) = me + 0.1d0*i + 0.01d0*j*j
      v(i,j) = u(i,j)
    end do
  end do
  do it = 1, 50
    call MPI_Sendrecv(u(1,ny), nx, MPI_DOUBLE_PRECISION, up, 1, u(1,0), nx, MPI_DOUBLE_PRECISION, &
        down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(u(1,1), nx, MPI_DOUBLE_PRECISION, down, 2, u(1,ny+1), nx, &
        MPI_DOUBLE_PRECISION, up, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    diff = 0d0
    do j = 1, ny
      do i = 1, nx
        v(i,j) = 0.25d0 * (u(i-1,j) + u(i+1,j) + u(i,j-1) + u(i,j+1))
        if (abs(v(i,j) - u(i,j)) > diff) diff = abs(v(i,j) - u(i,j))
      end do
    end do
    u(1:nx,1:ny) = v(1:nx,1:ny)
    if (diff < 1d-9) exit
  end do
  s = 0
  do j = 1, ny
    do i = 1, nx
      s = s + u(i,j)*(i+j)
    end do
  end do
  print '(i4,2es25.17)', me, s, diff
  call MPI_Finalize()
end program
