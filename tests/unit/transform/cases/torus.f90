! On a torus blocks of a go left and those of b go up, as they are multiplied.
program torus
  implicit none
  include 'mpif.h'
  integer :: n, q, k, i, j, rank, nprocs, cart, ierr, left, right, up, down
  integer :: dims(2), status(MPI_STATUS_SIZE)
  logical :: periods(2)
  double precision, allocatable :: a(:,:), b(:,:), c(:,:)
  double precision :: total, all
  call MPI_Init(ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  n = 48
  dims = 0
  call MPI_Dims_create(nprocs, 2, dims, ierr)
  q = maxval(dims)
  periods = .true.
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., cart, ierr)
  call MPI_Comm_rank(cart, rank, ierr)
  allocate(a(n, n), b(0:n-1, n), c(n, n))
  do j = 1, n
    do i = 1, n
      a(i, j) = mod(i * 7 + j * 3 + rank * 5, 11)
      b(i - 1, j) = mod(i * 5 + j * 2 + rank * 3, 7)
      c(i, j) = 0.0d0
    end do
  end do
  call MPI_Cart_shift(cart, 1, -1, right, left, ierr)
  call MPI_Cart_shift(cart, 0, -1, down, up, ierr)
  do k = 1, q
    call multiply(n, a, b, c)
    call MPI_Sendrecv_replace(a, n * n, MPI_DOUBLE_PRECISION, left, 1, right, 1, cart, &
                              status, ierr)
    call MPI_Sendrecv_replace(b, n * n, MPI_DOUBLE_PRECISION, up, 1, down, 1, cart, &
                              status, ierr)
  end do
  total = 0.0d0
  do j = 1, n
    do i = 1, n
      total = total + c(i, j) * mod(i + 2 * j, 5)
    end do
  end do
  call MPI_Reduce(total, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, cart, ierr)
  if (rank == 0) print '(a,es24.16)', 'checksum', all
  call MPI_Finalize(ierr)
contains
  subroutine multiply(n, a, b, c)
    integer, intent(in) :: n
    double precision, intent(in) :: a(n, n), b(n, n)
    double precision, intent(inout) :: c(n, n)
    integer :: i, j, l
    do j = 1, n
      do l = 1, n
        do i = 1, n
          c(i, j) = c(i, j) + a(i, l) * b(l, j)
        end do
      end do
    end do
  end subroutine multiply
end program torus
