! In the style of SNAP: planes of a sweep, by routines that return at once where no neighbour is.
module plib_module
  implicit none
  include 'mpif.h'
  integer :: comm_snap, iproc, nproc, ylop, yhip
  integer, parameter :: i_knd = 4, r_knd = 8
contains
  subroutine precv_d_2d(proc, nproc_, value, d1, d2, comm, tag)
    integer(i_knd), intent(in) :: proc, nproc_, d1, d2, comm, tag
    real(r_knd), dimension(d1, d2), intent(inout) :: value
    integer(i_knd) :: dlen, ierr, istat(MPI_STATUS_SIZE)
    if (proc < 0) return
    dlen = d1 * d2
    call mpi_recv(value, dlen, MPI_DOUBLE_PRECISION, proc, tag, comm, istat, ierr)
  end subroutine
  subroutine psend_d_2d(proc, value, d1, d2, comm, tag)
    integer(i_knd), intent(in) :: proc, d1, d2, comm, tag
    real(r_knd), dimension(d1, d2), intent(in) :: value
    integer(i_knd) :: dlen, ierr
    if (proc < 0) return
    dlen = d1 * d2
    call mpi_send(value, dlen, MPI_DOUBLE_PRECISION, proc, tag, comm, ierr)
  end subroutine
end module
module sn_module
  implicit none
  integer, parameter :: nang = 16, nx = 8, ny = 10, nz = 12, noct = 2
  real(8) :: psii(nang, ny), psij(nang, nx), psi(nang, nx, ny, nz)
  real(8) :: qtot(nx, ny, nz), flux(nx, ny, nz)
  real(8) :: mu(nang), w(nang), jb_in(nang, nx), jb_out(nang, nx)
end module
subroutine sweep_recv_bdry(k)
  use plib_module
  use sn_module
  implicit none
  integer, intent(in) :: k
  jb_in = 0.0d0
  call precv_d_2d(ylop, nproc, jb_in, nang, nx, comm_snap, 100 + k)
end subroutine
subroutine sweep_send_bdry(k)
  use plib_module
  use sn_module
  implicit none
  integer, intent(in) :: k
  call psend_d_2d(yhip, jb_out, nang, nx, comm_snap, 100 + k)
end subroutine
subroutine dim3_sweep(k)
  use sn_module
  implicit none
  integer, intent(in) :: k
  integer :: i, j, m
  real(8) :: pc(nang), hv
  psij = jb_in
  psii = 0.0d0
  do j = 1, ny
    do i = 1, nx
      do m = 1, nang
        pc(m) = (qtot(i, j, k) + mu(m) * (psii(m, j) + psij(m, i))) / (1.0d0 + 2.0d0 * mu(m))
        psii(m, j) = 2.0d0 * pc(m) - psii(m, j)
        psij(m, i) = 2.0d0 * pc(m) - psij(m, i)
        psi(m, i, j, k) = pc(m)
      end do
    end do
  end do
  jb_out = psij
end subroutine
subroutine fluxes(k)
  use sn_module
  implicit none
  integer, intent(in) :: k
  integer :: i, j, m
  do j = 1, ny
    do i = 1, nx
      do m = 1, nang
        flux(i, j, k) = flux(i, j, k) + w(m) * psi(m, i, j, k)
      end do
    end do
  end do
end subroutine
program snap
  use plib_module
  use sn_module
  implicit none
  integer :: ierr, k, oct, m, it
  call mpi_init(ierr)
  comm_snap = MPI_COMM_WORLD
  call mpi_comm_rank(comm_snap, iproc, ierr)
  call mpi_comm_size(comm_snap, nproc, ierr)
  ylop = iproc - 1
  yhip = iproc + 1
  if (yhip == nproc) yhip = -1
  do m = 1, nang
    mu(m) = 0.1d0 * m
    w(m) = 1.0d0 / nang
  end do
  qtot = 1.0d0 + iproc
  flux = 0.0d0
  do it = 1, 3
    do k = 1, nz
      call sweep_recv_bdry(k)
      call dim3_sweep(k)
      call sweep_send_bdry(k)
      call fluxes(k)
    end do
  end do
  print *, iproc, sum(flux)
  call mpi_finalize(ierr)
end program
