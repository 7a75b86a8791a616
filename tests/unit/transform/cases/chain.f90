! Bodies go along a chain of ranks, while those that are here attract the rank's own.
program chain
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 200
  real(8) :: x(n), f(n), total, all
  integer :: rank, nprocs, i, ierr, left, right
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  left = rank - 1
  if (left < 0) left = MPI_PROC_NULL
  right = rank + 1
  if (right == nprocs) right = MPI_PROC_NULL
  do i = 1, n
    x(i) = 0.01d0 * i + rank
    f(i) = 0.0d0
  end do
  call attract(n, n + 5, 3, x, f, left, right)
  total = 0.0d0
  do i = 1, n
    total = total + f(i) * i
  end do
  call MPI_Reduce(total, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a,es24.16)', 'sum', all
  call MPI_Finalize(ierr)
contains
  subroutine attract(n, most, rounds, x, f, left, right)
    integer, intent(in) :: n, most, rounds, left, right
    real(8), intent(in) :: x(n)
    real(8), intent(inout) :: f(n)
    real(8) :: here(most)
    integer :: i, j, k
    do i = 1, most
      here(i) = 0.0d0
    end do
    do i = 1, n
      here(i) = x(i)
    end do
    do k = 1, rounds
      do i = 1, n
        do j = 1, n
          f(i) = f(i) + (here(j) - x(i)) / (0.1d0 + (here(j) - x(i))**2)
        end do
      end do
      call MPI_Sendrecv_replace(here, n, MPI_DOUBLE_PRECISION, right, 3, left, 3, &
                                MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    end do
    f(1) = f(1) + here(n) + here(most)
  end subroutine attract
end program chain
