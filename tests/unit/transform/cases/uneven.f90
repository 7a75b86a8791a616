! Blocks go along an open chain whose ranks have blocks of different sizes.
module kinds_m
  implicit none
  integer, parameter :: dp = kind(1.0d0)
end module kinds_m
program uneven
  use mpi
  use kinds_m
  implicit none
  integer :: rank, nprocs, ierr, i, j, k, l, left, right
  integer, parameter :: n = 12
  integer :: m
  real(dp), allocatable :: b(:, :), f(:, :)
  real(dp) :: c(0:3, -1:2, 2:4), g(0:3, -1:2, 2:4)
  real(dp) :: total, all
  integer :: status(MPI_STATUS_SIZE)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  left = rank - 1
  if (left < 0) left = MPI_PROC_NULL
  right = rank + 1
  if (right == nprocs) right = MPI_PROC_NULL
  m = 7 + rank
  allocate (b(0:n - 1, m), f(0:n - 1, m))
  do j = 1, m
     do i = 0, n - 1
        b(i, j) = mod(i*7 + j*3 + rank*5, 11)
        f(i, j) = 0
     end do
  end do
  c = rank
  do l = 2, 4
     c(:, :, l) = c(:, :, l) + l
  end do
  g = 0
  do k = 1, 4
     do j = 1, m
        do i = 0, n - 1
           f(i, j) = f(i, j) + b(i, j)*k + sqrt(b(i, j))
        end do
     end do
     call MPI_Sendrecv_replace(b, n*m, MPI_DOUBLE_PRECISION, right, 1, left, 1, MPI_COMM_WORLD, &
                               status, ierr)
     do l = 2, 4
        do j = -1, 2
           do i = 0, 3
              g(i, j, l) = g(i, j, l) + c(i, j, l)*k
           end do
        end do
     end do
     call MPI_Sendrecv_replace(c, 48, MPI_DOUBLE_PRECISION, left, 2, right, 2, MPI_COMM_WORLD, &
                               MPI_STATUS_IGNORE, ierr)
  end do
  total = 0
  do j = 1, m
     do i = 0, n - 1
        total = total + f(i, j)*(i + 3*j) + b(i, j)
     end do
  end do
  do l = 2, 4
     do j = -1, 2
        do i = 0, 3
           total = total + g(i, j, l)*(i + 3*j + l) + c(i, j, l)
        end do
     end do
  end do
  call MPI_Reduce(total, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(es24.16)', all
  call MPI_Finalize(ierr)
end program uneven
