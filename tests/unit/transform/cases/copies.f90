! A wave in arrays that are copied as a whole: both ways packed, in one buffer, and in place.
module halo
  implicit none
contains
  subroutine halo_update(a, nx, ny, nbr, comm)
    include 'mpif.h'
    integer, intent(in) :: nx, ny, nbr(4), comm
    double precision, intent(inout) :: a(0:nx+1, 0:ny+1)
    double precision :: sbuf(ny), rbuf(ny)
    integer :: ierr, req(2), stats(MPI_STATUS_SIZE, 2)
    ! east-west, packed
    sbuf = a(nx, 1:ny)
    call MPI_Irecv(rbuf, ny, MPI_DOUBLE_PRECISION, nbr(1), 1, comm, req(1), ierr)
    call MPI_Isend(sbuf, ny, MPI_DOUBLE_PRECISION, nbr(2), 1, comm, req(2), ierr)
    call MPI_Waitall(2, req, stats, ierr)
    if (nbr(1) /= MPI_PROC_NULL) a(0, 1:ny) = rbuf
    sbuf = a(1, 1:ny)
    call MPI_Irecv(rbuf, ny, MPI_DOUBLE_PRECISION, nbr(2), 2, comm, req(1), ierr)
    call MPI_Isend(sbuf, ny, MPI_DOUBLE_PRECISION, nbr(1), 2, comm, req(2), ierr)
    call MPI_Waitall(2, req, stats, ierr)
    if (nbr(2) /= MPI_PROC_NULL) a(nx+1, 1:ny) = rbuf
    ! north-south, in place
    call MPI_Sendrecv(a(1, ny), nx, MPI_DOUBLE_PRECISION, nbr(4), 3, a(1, 0), nx, &
        MPI_DOUBLE_PRECISION, nbr(3), 3, comm, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(a(1, 1), nx, MPI_DOUBLE_PRECISION, nbr(3), 4, a(1, ny+1), nx, &
        MPI_DOUBLE_PRECISION, nbr(4), 4, comm, MPI_STATUS_IGNORE, ierr)
  end subroutine
end module
program wave2d
  use halo
  implicit none
  include 'mpif.h'
  integer :: ierr, rank, np, comm, dims(2), nbr(4), nx, ny, it, i, j
  logical :: per(2)
  double precision, allocatable :: u(:,:), um(:,:), up(:,:)
  double precision :: e, et
  call MPI_Init(ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
  dims = 0
  per = .false.
  call MPI_Dims_create(np, 2, dims, ierr)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, per, .true., comm, ierr)
  call MPI_Comm_rank(comm, rank, ierr)
  call MPI_Cart_shift(comm, 0, 1, nbr(1), nbr(2), ierr)
  call MPI_Cart_shift(comm, 1, 1, nbr(3), nbr(4), ierr)
  nx = 64; ny = 48
  allocate(u(0:nx+1,0:ny+1), um(0:nx+1,0:ny+1), up(0:nx+1,0:ny+1))
  u = 0; um = 0; up = 0
  u(nx/2, ny/2) = 1 + rank
  um = u
  do it = 1, 50
    call halo_update(u, nx, ny, nbr, comm)
    do j = 1, ny
      do i = 1, nx
        up(i,j) = 2*u(i,j) - um(i,j) + 0.2d0*(u(i-1,j)+u(i+1,j)+u(i,j-1)+u(i,j+1)-4*u(i,j))
      end do
    end do
    um = u
    u = up
  end do
  e = sum(u(1:nx,1:ny)**2)
  call MPI_Allreduce(e, et, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm, ierr)
  if (rank == 0) print '(es24.16)', et
  call MPI_Finalize(ierr)
end program
