module dom
  use mpi_f08
  implicit none
  integer :: im, jm, north, south
contains
  subroutine halo2(a)
    real(8), intent(inout) :: a(im, -1:jm+2)
    type(MPI_Request) :: req(4)
    integer :: ierr
    call MPI_Irecv(a(1,-1), 2*im, MPI_DOUBLE_PRECISION, south, 1, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Irecv(a(1,jm+1), 2*im, MPI_DOUBLE_PRECISION, north, 2, MPI_COMM_WORLD, req(2), ierr)
    call MPI_Isend(a(1,jm-1), 2*im, MPI_DOUBLE_PRECISION, north, 1, MPI_COMM_WORLD, req(3), ierr)
    call MPI_Isend(a(1,1), 2*im, MPI_DOUBLE_PRECISION, south, 2, MPI_COMM_WORLD, req(4), ierr)
    call MPI_Waitall(4, req, MPI_STATUSES_IGNORE, ierr)
  end subroutine
  subroutine advect(a, b, c)
    real(8), intent(in) :: a(im, -1:jm+2), c
    real(8), intent(inout) :: b(im, -1:jm+2)
    integer :: i, j
    do j = 1, jm
      do i = 1, im
        b(i,j) = a(i,j) - c*(a(i,j+1) - a(i,j-1)) + 0.1d0*c*(a(i,j+2) - a(i,j-2))
      end do
    end do
  end subroutine
end module
program main
  use dom
  implicit none
  real(8), allocatable :: a(:,:), b(:,:)
  integer :: it, rank, size, ierr
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  im = 40
  jm = 30
  north = mod(rank+1, size)
  south = mod(rank-1+size, size)
  allocate(a(im,-1:jm+2), b(im,-1:jm+2))
  a = rank
  b = 0
  do it = 1, 20
    call halo2(a)
    call advect(a, b, 0.01d0)
    call halo2(b)
    call advect(b, a, 0.01d0)
  end do
  do jm = 4, 1, -1
    call halo2(a)
    call advect(a, b, 0.01d0)
    a(:,1:jm) = b(:,1:jm)
    print *, rank, jm, sum(a)
  end do
  call MPI_Finalize(ierr)
end program
