program summa
  implicit none
  include 'mpif.h'
  integer :: rank, size, q, row, col, nb, k, ierr, rows, cols
  double precision, allocatable :: a(:, :), b(:, :), c(:, :), pa(:, :), pb(:, :)
  double precision :: total, part
  integer :: i, j
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  q = int(sqrt(dble(size)) + 0.5d0)
  row = rank / q
  col = mod(rank, q)
  call MPI_Comm_split(MPI_COMM_WORLD, row, col, rows, ierr)
  call MPI_Comm_split(MPI_COMM_WORLD, col, row, cols, ierr)
  nb = 144 / q
  allocate(a(nb, nb), b(nb, nb), c(nb, nb), pa(nb, nb), pb(nb, nb))
  do j = 1, nb
    do i = 1, nb
      a(i, j) = mod(rank + i * j, 7)
      b(i, j) = mod(rank * 3 + i + j, 5)
    end do
  end do
  c = 0.0d0
  do k = 0, q - 1
    if (col == k) pa = a
    call MPI_Bcast(pa, nb * nb, MPI_DOUBLE_PRECISION, k, rows, ierr)
    if (row == k) then
      do j = 1, nb
        do i = 1, nb
          pb(i, j) = b(i, j)
        end do
      end do
    end if
    call MPI_Bcast(pb, nb * nb, MPI_DOUBLE_PRECISION, k, cols, ierr)
    c = c + matmul(pa, pb)
  end do
  part = 0.0d0
  do j = 1, nb
    do i = 1, nb
      part = part + c(i, j) * mod(i + j, 11)
    end do
  end do
  call MPI_Reduce(part, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(f20.6)', total
  call MPI_Finalize(ierr)
end program summa
