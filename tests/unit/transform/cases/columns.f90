! A plate in blocks: the ends of its columns travel as a vector type that another routine makes.
module plate
  implicit none
  integer, parameter :: nx = 120, ny = 80
  double precision :: u(0:nx+1, 0:ny+1), w(0:nx+1, 0:ny+1)
  integer :: row, plane
contains
  subroutine make_types()
    include 'mpif.h'
    integer :: ierr
    call mpi_type_vector(ny, 1, nx + 2, mpi_double_precision, row, ierr)
    call mpi_type_commit(row, ierr)
    call mpi_type_contiguous(nx, mpi_double_precision, plane, ierr)
    call mpi_type_commit(plane, ierr)
  end subroutine make_types

  subroutine step(left, right, down, up)
    include 'mpif.h'
    integer, intent(in) :: left, right, down, up
    integer :: i, j, ierr, status(mpi_status_size)
    call mpi_sendrecv(u(1,1), 1, row, left, 2, u(nx+1,1), 1, row, right, 2, &
         mpi_comm_world, status, ierr)
    call mpi_sendrecv(u(nx,1), 1, row, right, 3, u(0,1), 1, row, left, 3, &
         mpi_comm_world, status, ierr)
    call mpi_sendrecv(u(1,1), 1, plane, down, 4, u(1,ny+1), 1, plane, up, 4, &
         mpi_comm_world, status, ierr)
    call mpi_sendrecv(u(1,ny), 1, plane, up, 5, u(1,0), 1, plane, down, 5, &
         mpi_comm_world, status, ierr)
    do j = 1, ny
      do i = 1, nx
        w(i,j) = 0.25d0*(u(i-1,j) + u(i+1,j) + u(i,j-1) + u(i,j+1))
      end do
    end do
    do j = 1, ny
      do i = 1, nx
        u(i,j) = w(i,j)
      end do
    end do
  end subroutine step
end module plate

program columns
  use plate
  implicit none
  include 'mpif.h'
  integer :: rank, nproc, ierr, t, i, j, dims(2), cart, left, right, down, up
  logical :: periods(2)
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  call mpi_comm_size(mpi_comm_world, nproc, ierr)
  dims = 0
  periods = .true.
  call mpi_dims_create(nproc, 2, dims, ierr)
  call mpi_cart_create(mpi_comm_world, 2, dims, periods, .false., cart, ierr)
  call mpi_cart_shift(cart, 0, 1, left, right, ierr)
  call mpi_cart_shift(cart, 1, 1, down, up, ierr)
  call make_types()
  do j = 0, ny + 1
    do i = 0, nx + 1
      u(i,j) = rank + 0.001d0*i*j
    end do
  end do
  do t = 1, 20
    call step(left, right, down, up)
  end do
  print '(i3, es25.17)', rank, sum(u(1:nx,1:ny))
  call mpi_type_free(row, ierr)
  call mpi_type_free(plane, ierr)
  call mpi_finalize(ierr)
end program columns
