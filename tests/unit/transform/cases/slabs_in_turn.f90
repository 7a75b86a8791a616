! Both slabs of an axis come by one request through one array, which whole assignments use.
module grid
  implicit none
  include 'mpif.h'
  integer, parameter :: nx = 18, ny = 12, nz = 10
  integer :: me, many, up, down, left, right
  double precision :: u(0:nx+1, 0:ny+1, nz), w(nx, ny, nz)
end module grid

program heat
  use grid
  implicit none
  integer :: i, j, k, step, px, col, row, ierr
  double precision :: s
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, me, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, many, ierr)
  px = merge(2, 1, mod(many, 2) == 0)
  col = mod(me, px); row = me / px
  left = MPI_PROC_NULL; right = MPI_PROC_NULL; up = MPI_PROC_NULL; down = MPI_PROC_NULL
  if (col > 0) left = me - 1
  if (col < px - 1) right = me + 1
  if (row > 0) down = me - px
  if (row < many / px - 1) up = me + px
  do k = 1, nz
    do j = 0, ny + 1
      do i = 0, nx + 1
        u(i, j, k) = sin(0.3d0 * i + me) + 0.01d0 * j * k
      end do
    end do
  end do
  do step = 1, 9
    call faces_x(u)
    call smooth
    call faces_y(u)
    call relax
  end do
  s = sum(u(1:nx, 1:ny, :) ** 2)
  print '(a, i2, es24.16)', 'rank', me, s
  call mpi_finalize(ierr)
end program heat

subroutine faces_x(a)
  use grid
  implicit none
  double precision, intent(inout) :: a(0:nx+1, 0:ny+1, nz)
  double precision :: out(ny, nz), in(ny, nz)
  integer :: req, ierr
  if (left /= MPI_PROC_NULL) &
    call mpi_irecv(in, ny * nz, MPI_DOUBLE_PRECISION, left, 15, &
    MPI_COMM_WORLD, req, ierr)
  if (right /= MPI_PROC_NULL) then
    out = a(nx, 1:ny, :)
    call mpi_send(out, ny * nz, MPI_DOUBLE_PRECISION, right, 15, MPI_COMM_WORLD, ierr)
  end if
  if (left /= MPI_PROC_NULL) then
    call mpi_wait(req, MPI_STATUS_IGNORE, ierr)
    a(0, 1:ny, :) = in
  end if
  if (right /= MPI_PROC_NULL) &
    call mpi_irecv(in, ny * nz, MPI_DOUBLE_PRECISION, right, 16, &
    MPI_COMM_WORLD, req, ierr)
  if (left /= MPI_PROC_NULL) then
    out = a(1, 1:ny, :)
    call mpi_send(out, ny * nz, MPI_DOUBLE_PRECISION, left, 16, MPI_COMM_WORLD, ierr)
  end if
  if (right /= MPI_PROC_NULL) then
    call mpi_wait(req, MPI_STATUS_IGNORE, ierr)
    a(nx + 1, 1:ny, :) = in
  end if
end subroutine faces_x

subroutine faces_y(a)
  use grid
  implicit none
  double precision, intent(inout) :: a(0:nx+1, 0:ny+1, nz)
  double precision :: out(nx, nz), in(nx, nz)
  integer :: req, ierr
  if (down /= MPI_PROC_NULL) &
    call mpi_irecv(in, nx * nz, MPI_DOUBLE_PRECISION, down, 5, &
    MPI_COMM_WORLD, req, ierr)
  if (up /= MPI_PROC_NULL) then
    out = a(1:nx, ny, :)
    call mpi_send(out, nx * nz, MPI_DOUBLE_PRECISION, up, 5, MPI_COMM_WORLD, ierr)
  end if
  if (down /= MPI_PROC_NULL) then
    call mpi_wait(req, MPI_STATUS_IGNORE, ierr)
    a(1:nx, 0, :) = in
  end if
  if (up /= MPI_PROC_NULL) &
    call mpi_irecv(in, nx * nz, MPI_DOUBLE_PRECISION, up, 6, &
    MPI_COMM_WORLD, req, ierr)
  if (down /= MPI_PROC_NULL) then
    out = a(1:nx, 1, :)
    call mpi_send(out, nx * nz, MPI_DOUBLE_PRECISION, down, 6, MPI_COMM_WORLD, ierr)
  end if
  if (up /= MPI_PROC_NULL) then
    call mpi_wait(req, MPI_STATUS_IGNORE, ierr)
    a(1:nx, ny + 1, :) = in
  end if
end subroutine faces_y

subroutine smooth
  use grid
  implicit none
  integer :: i, j, k
  do k = 1, nz
    do j = 1, ny
      do i = 1, nx
        w(i, j, k) = u(i, j, k) + 0.1d0 * (u(i-1, j, k) - 2 * u(i, j, k) + u(i+1, j, k))
      end do
    end do
  end do
  do k = 1, nz
    do j = 1, ny
      do i = 1, nx
        u(i, j, k) = w(i, j, k)
      end do
    end do
  end do
end subroutine smooth

subroutine relax
  use grid
  implicit none
  integer :: i, j, k
  do k = 1, nz
    do j = 1, ny
      do i = 1, nx
        w(i, j, k) = u(i, j, k) + 0.1d0 * (u(i, j-1, k) - 2 * u(i, j, k) + u(i, j+1, k))
      end do
    end do
  end do
  do k = 1, nz
    do j = 1, ny
      do i = 1, nx
        u(i, j, k) = w(i, j, k)
      end do
    end do
  end do
end subroutine relax
