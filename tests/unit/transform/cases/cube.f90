! Faces of a cube: those in x and y are packed, those in z are planes with their edges, whose size
! is a product of sizes that the program computes.
module field
  use mpi_f08
  implicit none
  integer :: nx, ny, nz
  integer :: xm, xp, ym, yp, zm, zp
  type(MPI_Comm) :: cart
  double precision, allocatable :: u(:,:,:), v(:,:,:)
  double precision, allocatable :: sx1(:,:), sx2(:,:), rx1(:,:), rx2(:,:)
  double precision, allocatable :: sy1(:,:), sy2(:,:), ry1(:,:), ry2(:,:)
contains
  subroutine exchange_x
    integer :: j, k
    do k = 1, nz
      do j = 1, ny
        sx1(j,k) = u(1,j,k)
        sx2(j,k) = u(nx,j,k)
      end do
    end do
    call MPI_Sendrecv(sx1, ny*nz, MPI_DOUBLE_PRECISION, xm, 1, rx2, ny*nz, &
        MPI_DOUBLE_PRECISION, xp, 1, cart, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(sx2, ny*nz, MPI_DOUBLE_PRECISION, xp, 2, rx1, ny*nz, &
        MPI_DOUBLE_PRECISION, xm, 2, cart, MPI_STATUS_IGNORE)
    do k = 1, nz
      do j = 1, ny
        u(0,j,k) = rx1(j,k)
        u(nx+1,j,k) = rx2(j,k)
      end do
    end do
  end subroutine
  subroutine exchange_y
    integer :: i, k
    do k = 1, nz
      do i = 1, nx
        sy1(i,k) = u(i,1,k)
        sy2(i,k) = u(i,ny,k)
      end do
    end do
    call MPI_Sendrecv(sy1, nx*nz, MPI_DOUBLE_PRECISION, ym, 3, ry2, nx*nz, &
        MPI_DOUBLE_PRECISION, yp, 3, cart, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(sy2, nx*nz, MPI_DOUBLE_PRECISION, yp, 4, ry1, nx*nz, &
        MPI_DOUBLE_PRECISION, ym, 4, cart, MPI_STATUS_IGNORE)
    do k = 1, nz
      do i = 1, nx
        u(i,0,k) = ry1(i,k)
        u(i,ny+1,k) = ry2(i,k)
      end do
    end do
  end subroutine
  subroutine exchange_z
    call MPI_Sendrecv(u(0,0,1), (nx+2)*(ny+2), MPI_DOUBLE_PRECISION, zm, 5, &
        u(0,0,nz+1), (nx+2)*(ny+2), MPI_DOUBLE_PRECISION, zp, 5, cart, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(u(0,0,nz), (nx+2)*(ny+2), MPI_DOUBLE_PRECISION, zp, 6, &
        u(0,0,0), (nx+2)*(ny+2), MPI_DOUBLE_PRECISION, zm, 6, cart, MPI_STATUS_IGNORE)
  end subroutine
  subroutine relax
    integer :: i, j, k
    do k = 1, nz
      do j = 1, ny
        do i = 1, nx
          v(i,j,k) = (u(i-1,j,k) + u(i+1,j,k) + u(i,j-1,k) + u(i,j+1,k) &
              + u(i,j,k-1) + u(i,j,k+1)) / 6d0
        end do
      end do
    end do
  end subroutine
end module
program main
  use field
  implicit none
  integer :: np, me, dims(3), it, i, j, k
  logical :: periods(3)
  double precision :: s
  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, np)
  dims = 0
  periods = .true.
  call MPI_Dims_create(np, 3, dims)
  call MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, .false., cart)
  call MPI_Comm_rank(cart, me)
  call MPI_Cart_shift(cart, 0, 1, xm, xp)
  call MPI_Cart_shift(cart, 1, 1, ym, yp)
  call MPI_Cart_shift(cart, 2, 1, zm, zp)
  nx = 24 / dims(1)
  ny = 24 / dims(2)
  nz = 24 / dims(3)
  allocate(u(0:nx+1,0:ny+1,0:nz+1), v(0:nx+1,0:ny+1,0:nz+1))
  allocate(sx1(ny,nz), sx2(ny,nz), rx1(ny,nz), rx2(ny,nz))
  allocate(sy1(nx,nz), sy2(nx,nz), ry1(nx,nz), ry2(nx,nz))
  do k = 0, nz+1
    do j = 0, ny+1
      do i = 0, nx+1
        u(i,j,k) = me + 0.1d0*i + 0.01d0*j*j + 0.001d0*k*k*k
        v(i,j,k) = 0d0
      end do
    end do
  end do
  do it = 1, 10
    call exchange_x
    call exchange_y
    call exchange_z
    call relax
    u(1:nx,1:ny,1:nz) = v(1:nx,1:ny,1:nz)
  end do
  s = 0
  do k = 1, nz
    do j = 1, ny
      do i = 1, nx
        s = s + u(i,j,k) * (i + 2*j + 3*k)
      end do
    end do
  end do
  print '(i4, es25.17)', me, s
  call MPI_Finalize()
end program
