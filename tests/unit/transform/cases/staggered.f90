! Stencils of fourth order under OpenMP: two planes are cut off at either end, each end by a loop of
! its own with the directive of the whole.
module fd4_mod
  implicit none
  include 'mpif.h'
  integer, parameter :: rk = selected_real_kind(15)
  integer, parameter :: ng = 2
  type block_t
    integer :: nx, ny, nz
    real(rk), allocatable :: p(:,:,:), vx(:,:,:), vz(:,:,:)
  end type block_t
  integer :: comm, me, np, lo, hi
contains
  subroutine exchange_z(a, nx, ny, nz)
    integer, intent(in) :: nx, ny, nz
    real(rk), intent(inout) :: a(1-ng:nx+ng, 1-ng:ny+ng, 1-ng:nz+ng)
    integer :: reqs(4), ierr, cnt
    cnt = (nx+2*ng)*(ny+2*ng)*ng
    call mpi_irecv(a(1-ng,1-ng,1-ng), cnt, mpi_double_precision, lo, 1, comm, reqs(1), ierr)
    call mpi_irecv(a(1-ng,1-ng,nz+1), cnt, mpi_double_precision, hi, 2, comm, reqs(2), ierr)
    call mpi_isend(a(1-ng,1-ng,nz-ng+1), cnt, mpi_double_precision, hi, 1, comm, reqs(3), ierr)
    call mpi_isend(a(1-ng,1-ng,1), cnt, mpi_double_precision, lo, 2, comm, reqs(4), ierr)
    call mpi_waitall(4, reqs, mpi_statuses_ignore, ierr)
  end subroutine exchange_z

  subroutine velocity(b, dt)
    type(block_t), intent(inout) :: b
    real(rk), intent(in) :: dt
    integer :: i, j, k
    !$omp parallel do private(i,j,k)
    do k = 1, b%nz
      do j = 1, b%ny
        do i = 1, b%nx
          b%vx(i,j,k) = b%vx(i,j,k) - dt*(1.125_rk*(b%p(i+1,j,k)-b%p(i,j,k)) &
            - (b%p(i+2,j,k)-b%p(i-1,j,k))/24)
          b%vz(i,j,k) = b%vz(i,j,k) - dt*(1.125_rk*(b%p(i,j,k+1)-b%p(i,j,k)) &
            - (b%p(i,j,k+2)-b%p(i,j,k-1))/24)
        end do
      end do
    end do
    !$omp end parallel do
  end subroutine velocity

  subroutine pressure(b, dt)
    type(block_t), intent(inout) :: b
    real(rk), intent(in) :: dt
    integer :: i, j, k
    !$omp parallel do private(i,j,k)
    do k = 1, b%nz
      do j = 1, b%ny
        do i = 1, b%nx
          b%p(i,j,k) = b%p(i,j,k) - dt*(1.125_rk*(b%vx(i,j,k)-b%vx(i-1,j,k)) &
            - (b%vx(i+1,j,k)-b%vx(i-2,j,k))/24 + 1.125_rk*(b%vz(i,j,k)-b%vz(i,j,k-1)) &
            - (b%vz(i,j,k+1)-b%vz(i,j,k-2))/24)
        end do
      end do
    end do
    !$omp end parallel do
  end subroutine pressure
end module fd4_mod

program fd4
  use fd4_mod
  implicit none
  type(block_t) :: b
  integer :: ierr, it, i, j, k
  real(rk) :: s, gs, t0, t1
  call mpi_init(ierr)
  call mpi_comm_dup(mpi_comm_world, comm, ierr)
  call mpi_comm_rank(comm, me, ierr)
  call mpi_comm_size(comm, np, ierr)
  lo = merge(mpi_proc_null, me-1, me == 0)
  hi = merge(mpi_proc_null, me+1, me == np-1)
  b%nx = 16; b%ny = 14; b%nz = 12
  allocate(b%p(1-ng:b%nx+ng,1-ng:b%ny+ng,1-ng:b%nz+ng))
  allocate(b%vx(1-ng:b%nx+ng,1-ng:b%ny+ng,1-ng:b%nz+ng))
  allocate(b%vz(1-ng:b%nx+ng,1-ng:b%ny+ng,1-ng:b%nz+ng))
  b%p = 0
  b%vx = 0
  b%vz = 0
  do k = 1, b%nz
    do j = 1, b%ny
      do i = 1, b%nx
        b%p(i,j,k) = exp(-0.1_rk*((i-8)**2+(j-7)**2+(k+me*b%nz-8)**2))
      end do
    end do
  end do
  t0 = mpi_wtime()
  do it = 1, 10
    call exchange_z(b%p, b%nx, b%ny, b%nz)
    call velocity(b, 0.2_rk)
    call exchange_z(b%vz, b%nx, b%ny, b%nz)
    call pressure(b, 0.2_rk)
  end do
  t1 = mpi_wtime()
  s = sum(b%p(1:b%nx,1:b%ny,1:b%nz)**2)
  call mpi_allreduce(s, gs, 1, mpi_double_precision, mpi_sum, comm, ierr)
  if (me == 0) write(*,*) 'norm', sqrt(gs)
  write(*,*) 'rank', me, s
  call mpi_finalize(ierr)
end program fd4
