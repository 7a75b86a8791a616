module heat
  use mpi_f08
  implicit none
  integer :: nx = 60, ny = 50
  real(8), allocatable :: t(:,:), tn(:,:)
  integer :: up, dn
contains
  subroutine exchange
    call MPI_Sendrecv(t(1,ny), nx, MPI_DOUBLE_PRECISION, up, 0, t(1,0), nx, MPI_DOUBLE_PRECISION, dn, 0, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE)
    call MPI_Sendrecv(t(1,1), nx, MPI_DOUBLE_PRECISION, dn, 1, t(1,ny+1), nx, MPI_DOUBLE_PRECISION, up, 1, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE)
  end subroutine
  subroutine sweep(c)
    real(8), intent(in) :: c
    tn(1:nx,1:ny) = t(1:nx,1:ny) + c*(t(0:nx-1,1:ny) + t(2:nx+1,1:ny) + t(1:nx,0:ny-1) + t(1:nx,2:ny+1) - 4*t(1:nx,1:ny))
  end subroutine
end module
program main
  use heat
  implicit none
  integer :: it, rank, size
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  up = mod(rank+1, size)
  dn = mod(rank-1+size, size)
  allocate(t(0:nx+1,0:ny+1), tn(0:nx+1,0:ny+1))
  t = rank
  tn = 0
  do it = 1, 20
    call exchange
    call sweep(0.1d0)
    t(1:nx,1:ny) = tn(1:nx,1:ny)
  end do
  do it = 1, 20
    call exchange
    tn(1:nx,1:ny) = 0.25d0*(t(0:nx-1,1:ny) + t(2:nx+1,1:ny) + t(1:nx,0:ny-1) + t(1:nx,2:ny+1))
    t(1:nx,1:ny) = tn(1:nx,1:ny)
  end do
  print *, rank, sum(t)
  call MPI_Finalize()
end program
