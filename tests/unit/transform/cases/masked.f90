module sea
  use mpi_f08
  implicit none
  integer, parameter :: nx = 48, ny = 36, nt = 25
  real(8) :: t(0:nx+1,0:ny+1), tn(0:nx+1,0:ny+1), q(nx,ny), c(nx,ny)
  logical :: wet(nx,ny)
  integer :: up, down
contains
  subroutine exchange
    type(MPI_Status) :: st
    call MPI_Sendrecv(t(1:nx,ny), nx, MPI_DOUBLE_PRECISION, up, 3, t(1:nx,0), nx, MPI_DOUBLE_PRECISION, down, 3, &
      MPI_COMM_WORLD, st)
    call MPI_Sendrecv(t(1:nx,1), nx, MPI_DOUBLE_PRECISION, down, 4, t(1:nx,ny+1), nx, MPI_DOUBLE_PRECISION, up, 4, &
      MPI_COMM_WORLD, st)
  end subroutine
  subroutine surface
    where (wet)
      q = 0.5d0*c + 0.01d0
    elsewhere
      q = 0
    end where
  end subroutine
  subroutine diffuse
    integer :: i, j
    do j = 1, ny
      do i = 1, nx
        tn(i,j) = t(i,j) + 0.1d0*(t(i-1,j) + t(i+1,j) + t(i,j-1) + t(i,j+1) - 4*t(i,j))
      end do
    end do
  end subroutine
end module
program main
  use sea
  implicit none
  integer :: it, rank, size, i, j
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  up = mod(rank+1, size); down = mod(rank-1+size, size)
  do j = 1, ny
    do i = 1, nx
      wet(i,j) = mod(i*j, 3) /= 0
      c(i,j) = 1d0/(i+j+rank)
    end do
  end do
  t = rank
  do it = 1, nt
    call exchange
    call surface
    call diffuse
    where (wet) t(1:nx,1:ny) = tn(1:nx,1:ny) + q
    c = c*0.99d0
  end do
  print *, rank, sum(t)
  call MPI_Finalize()
end program
