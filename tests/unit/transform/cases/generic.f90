! Exchanges and steps that are called by generic names: the rank of the array says which is meant.
module exchange_generic
  use mpi_f08
  implicit none
  private
  integer, parameter, public :: dp = kind(1d0)
  public :: update_halo, setup
  type(MPI_Comm) :: cart
  integer :: lo, hi
  interface update_halo
    module procedure halo2d
    module procedure halo3d
  end interface update_halo
contains
  subroutine setup(comm)
    type(MPI_Comm), intent(in) :: comm
    integer :: np
    call MPI_Comm_size(comm, np)
    call MPI_Cart_create(comm, 1, [np], [.true.], .false., cart)
    call MPI_Cart_shift(cart, 0, 1, lo, hi)
  end subroutine setup

  subroutine halo2d(a)
    real(dp), contiguous, intent(inout) :: a(0:,0:)
    integer :: nx, ny
    type(MPI_Request) :: r(4)
    nx = ubound(a, 1) - 1
    ny = ubound(a, 2) - 1
    call MPI_Irecv(a(:, 0), nx + 2, MPI_DOUBLE_PRECISION, lo, 11, cart, r(1))
    call MPI_Irecv(a(:, ny+1), nx + 2, MPI_DOUBLE_PRECISION, hi, 12, cart, r(2))
    call MPI_Isend(a(:, ny), nx + 2, MPI_DOUBLE_PRECISION, hi, 11, cart, r(3))
    call MPI_Isend(a(:, 1), nx + 2, MPI_DOUBLE_PRECISION, lo, 12, cart, r(4))
    call MPI_Waitall(4, r, MPI_STATUSES_IGNORE)
  end subroutine halo2d

  subroutine halo3d(a)
    real(dp), contiguous, intent(inout) :: a(0:,0:,0:)
    integer :: n, nz
    type(MPI_Request) :: r(4)
    n = size(a, 1) * size(a, 2)
    nz = ubound(a, 3) - 1
    call MPI_Irecv(a(:, :, 0), n, MPI_DOUBLE_PRECISION, lo, 21, cart, r(1))
    call MPI_Irecv(a(:, :, nz+1), n, MPI_DOUBLE_PRECISION, hi, 22, cart, r(2))
    call MPI_Isend(a(:, :, nz), n, MPI_DOUBLE_PRECISION, hi, 21, cart, r(3))
    call MPI_Isend(a(:, :, 1), n, MPI_DOUBLE_PRECISION, lo, 22, cart, r(4))
    call MPI_Waitall(4, r, MPI_STATUSES_IGNORE)
  end subroutine halo3d
end module exchange_generic

module physics
  use exchange_generic, only: dp
  implicit none
contains
  pure subroutine step2(a, b)
    real(dp), intent(in) :: a(0:,0:)
    real(dp), intent(inout) :: b(0:,0:)
    integer :: i, j
    do j = 1, ubound(a, 2) - 1
      do i = 1, ubound(a, 1) - 1
        b(i,j) = a(i,j) + 0.1_dp * (a(i,j+1) - 2 * a(i,j) + a(i,j-1))
      end do
    end do
  end subroutine step2

  pure subroutine step3(a, b)
    real(dp), intent(in) :: a(0:,0:,0:)
    real(dp), intent(inout) :: b(0:,0:,0:)
    integer :: i, j, k
    do concurrent (k = 1:ubound(a,3)-1, j = 1:ubound(a,2)-1, i = 1:ubound(a,1)-1)
      b(i,j,k) = a(i,j,k) + 0.1_dp * (a(i,j,k+1) + a(i,j,k-1) + a(i-1,j,k) + a(i+1,j,k) - 4 * a(i,j,k))
    end do
  end subroutine step3
end module physics

program generic
  use mpi_f08
  use exchange_generic
  use physics
  implicit none
  real(dp), allocatable :: a(:,:), an(:,:), c(:,:,:), cn(:,:,:)
  integer :: me, s, i, j, k
  real(dp) :: x, y
  call MPI_Init()
  call setup(MPI_COMM_WORLD)
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  allocate(a(0:21,0:15), an(0:21,0:15), c(0:9,0:9,0:11), cn(0:9,0:9,0:11))
  a = 0; an = 0; c = 0; cn = 0
  do j = 1, 14
    do i = 1, 20
      a(i,j) = mod(i*j + me, 5)
    end do
  end do
  do k = 1, 10
    do j = 1, 8
      do i = 1, 8
        c(i,j,k) = mod(i+j*k + me, 7)
      end do
    end do
  end do
  do s = 1, 8
    call update_halo(a)
    call step2(a, an)
    call update_halo(c)
    call step3(c, cn)
    a(1:20,1:14) = an(1:20,1:14)
    c(1:8,1:8,1:10) = cn(1:8,1:8,1:10)
  end do
  x = sum(a(1:20,1:14)) + 3 * sum(c(1:8,1:8,1:10)**2)
  call MPI_Reduce(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD)
  if (me == 0) print '(a,f20.9)', 'generic', y
  call MPI_Finalize()
end program generic
