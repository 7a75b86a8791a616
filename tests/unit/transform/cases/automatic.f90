! In the style of ROMS: buffers whose sizes are arguments, flags for neighbours, error codes.
module mp_exchange_mod
  implicit none
  include 'mpif.h'
contains
  subroutine mp_exchange2d(ng, west, east, lbi, ubi, lbj, ubj, nghost, a, b)
    integer, intent(in) :: ng, west, east, lbi, ubi, lbj, ubj, nghost
    real(8), intent(inout) :: a(lbi:ubi, lbj:ubj), b(lbi:ubi, lbj:ubj)
    logical :: wexchange, eexchange
    integer :: i, j, mc, ewsize, ierr, werror, eerror, jlen
    integer :: wrequest, erequest
    integer, dimension(MPI_STATUS_SIZE, 2) :: status
    real(8), dimension(nghost*2*(ubj-lbj+1)) :: arecvw, arecve, asendw, asende
    wexchange = west >= 0
    eexchange = east >= 0
    jlen = ubj - lbj + 1
    ewsize = 2 * nghost * jlen
    if (wexchange) then
      call mpi_irecv(arecvw, ewsize, MPI_DOUBLE_PRECISION, west, 7, MPI_COMM_WORLD, wrequest, &
        werror)
    end if
    if (eexchange) then
      call mpi_irecv(arecve, ewsize, MPI_DOUBLE_PRECISION, east, 8, MPI_COMM_WORLD, erequest, &
        eerror)
    end if
    if (wexchange) then
      mc = 0
      do j = lbj, ubj
        do i = 1, nghost
          mc = mc + 1
          asendw(mc) = a(lbi + nghost + i - 1, j)
        end do
      end do
      do j = lbj, ubj
        do i = 1, nghost
          mc = mc + 1
          asendw(mc) = b(lbi + nghost + i - 1, j)
        end do
      end do
      call mpi_send(asendw, mc, MPI_DOUBLE_PRECISION, west, 8, MPI_COMM_WORLD, werror)
    end if
    if (eexchange) then
      mc = 0
      do j = lbj, ubj
        do i = 1, nghost
          mc = mc + 1
          asende(mc) = a(ubi - 2 * nghost + i, j)
        end do
      end do
      do j = lbj, ubj
        do i = 1, nghost
          mc = mc + 1
          asende(mc) = b(ubi - 2 * nghost + i, j)
        end do
      end do
      call mpi_send(asende, mc, MPI_DOUBLE_PRECISION, east, 7, MPI_COMM_WORLD, eerror)
    end if
    if (wexchange) then
      call mpi_wait(wrequest, status(:, 1), werror)
      if (werror /= 0) then
        print *, 'mp_exchange2d: error', werror
        return
      end if
      mc = 0
      do j = lbj, ubj
        do i = 1, nghost
          mc = mc + 1
          a(lbi + i - 1, j) = arecvw(mc)
        end do
      end do
      do j = lbj, ubj
        do i = 1, nghost
          mc = mc + 1
          b(lbi + i - 1, j) = arecvw(mc)
        end do
      end do
    end if
    if (eexchange) then
      call mpi_wait(erequest, status(:, 2), eerror)
      if (eerror /= 0) then
        print *, 'mp_exchange2d: error', eerror
        return
      end if
      mc = 0
      do j = lbj, ubj
        do i = 1, nghost
          mc = mc + 1
          a(ubi - nghost + i, j) = arecve(mc)
        end do
      end do
      do j = lbj, ubj
        do i = 1, nghost
          mc = mc + 1
          b(ubi - nghost + i, j) = arecve(mc)
        end do
      end do
    end if
  end subroutine
end module
program roms
  use mp_exchange_mod
  implicit none
  real(8), allocatable :: zeta(:, :), ubar(:, :), rz(:, :), ru(:, :), h(:, :)
  integer :: rank, nproc, west, east, step, i, j, ierr, im, jm
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, nproc, ierr)
  im = 40
  jm = 30
  west = rank - 1
  east = rank + 1
  if (east == nproc) east = -1
  allocate(zeta(-1:im+2, jm), ubar(-1:im+2, jm), rz(im, jm), ru(im, jm), h(im, jm))
  do j = 1, jm
    do i = -1, im + 2
      zeta(i, j) = modulo(i * j + rank, 9)
      ubar(i, j) = modulo(i + j + rank, 4)
    end do
  end do
  h = 1.0d0
  do step = 1, 4
    call mp_exchange2d(1, west, east, -1, im + 2, 1, jm, 2, zeta, ubar)
    do j = 1, jm
      do i = 1, im
        rz(i, j) = h(i, j) * (ubar(i + 1, j) - ubar(i - 1, j))
        ru(i, j) = 9.8d0 * (zeta(i + 1, j) - zeta(i - 1, j))
      end do
    end do
    do j = 1, jm
      do i = 1, im
        zeta(i, j) = zeta(i, j) - 0.001d0 * rz(i, j)
        ubar(i, j) = ubar(i, j) - 0.001d0 * ru(i, j)
      end do
    end do
  end do
  print *, rank, sum(zeta(1:im, :)), sum(ubar(1:im, :))
  call mpi_finalize(ierr)
end program
