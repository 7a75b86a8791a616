! DO CONCURRENT that needs the halo, in fields of one column and more.
module fields
  use mpi_f08
  implicit none
  integer, parameter :: dp = kind(1.0d0)
contains
  subroutine sweep(t, tn, w, n, m, left, right)
    integer, intent(in) :: n, m, left, right
    real(dp), intent(inout) :: t(0:n+1, 0:m+1), tn(0:n+1, 0:m+1)
    real(dp), intent(in) :: w(n)
    integer :: i, j
    call MPI_Sendrecv(t(1, 1), n, MPI_DOUBLE_PRECISION, left, 10, t(1, m+1), n, &
        MPI_DOUBLE_PRECISION, right, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(t(1, m), n, MPI_DOUBLE_PRECISION, right, 20, t(1, 0), n, &
        MPI_DOUBLE_PRECISION, left, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    do concurrent (j = 1:m, i = 1:n)
      tn(i, j) = tn(i, j) + w(i) * (t(i-1, j) + t(i+1, j) + t(i, j-1) + t(i, j+1))
      tn(i, j) = 0.5_dp * tn(i, j)
    end do
    do concurrent (i = 1:n, j = 1:m)
      t(i, j) = tn(i, j)
    end do
  end subroutine
  subroutine wide(t, tn, n, m, left, right)
    integer, intent(in) :: n, m, left, right
    real(dp), intent(inout) :: t(n, -1:m+2), tn(n, -1:m+2)
    integer :: k
    call MPI_Sendrecv(t(1, 1), 2*n, MPI_DOUBLE_PRECISION, left, 30, t(1, m+1), 2*n, &
        MPI_DOUBLE_PRECISION, right, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(t(1, m-1), 2*n, MPI_DOUBLE_PRECISION, right, 40, t(1, -1), 2*n, &
        MPI_DOUBLE_PRECISION, left, 40, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    do concurrent (k = 1:m)
      tn(1, k) = t(1, k-2) - t(1, k+2) + 0.25_dp * t(1, k)
      tn(2, k) = t(2, k-2) - t(2, k+2) + 0.25_dp * t(2, k)
    end do
    t(:, 1:m) = tn(:, 1:m)
  end subroutine
end module

program ranges
  use fields
  implicit none
  integer :: rank, procs, left, right, n, m, step, k
  real(dp), allocatable :: t(:,:), tn(:,:), w(:), s(:,:), sn(:,:)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, procs)
  left = rank - 1
  if (left < 0) left = MPI_PROC_NULL
  right = rank + 1
  if (right >= procs) right = MPI_PROC_NULL
  n = 4
  do m = 1, 6
    allocate(t(0:n+1, 0:m+1), tn(0:n+1, 0:m+1), w(n), s(2, -1:m+2), sn(2, -1:m+2))
    do k = 0, m + 1
      t(:, k) = k + 0.5_dp * rank
    end do
    do k = -1, m + 2
      s(:, k) = k - rank
    end do
    tn = 0
    sn = 0
    w = [1.0_dp, 0.5_dp, 0.25_dp, 2.0_dp]
    do step = 1, 5
      call sweep(t, tn, w, n, m, left, right)
      if (m > 1) call wide(s, sn, 2, m, left, right)
    end do
    print '(2i4,2es24.16)', rank, m, sum(t), sum(s)
    deallocate(t, tn, w, s, sn)
  end do
  call MPI_Finalize()
end program
