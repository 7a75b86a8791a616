module grid
   implicit none
   integer, parameter :: n = 200
   double precision :: u(0:n + 1, 0:n + 1), v(n, n)
contains
   subroutine smooth(first, last)
      integer, intent(in) :: first, last
      integer :: i, j
      do j = first, last
         do i = 1, n
            v(i, j) = 0.25d0 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1))
         end do
      end do
   end subroutine smooth
end module grid

program halo
   use grid
   implicit none
   include 'mpif.h'
   integer :: rank, size, up, down, ierr, i, j
   double precision :: w(n)
   call MPI_Init(ierr)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
   call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
   up = mod(rank + 1, size)
   down = mod(rank + size - 1, size)
   u = rank
   ! Columns lie together in memory.
   call MPI_Sendrecv(u(1, n), n, MPI_DOUBLE_PRECISION, up, 1, u(1, 0), n, &
                     MPI_DOUBLE_PRECISION, down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
   do j = 2, n - 1
      do i = 1, n
         v(i, j) = 0.25d0 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1))
      end do
   end do
   do i = 1, n
      w(i) = 0.5d0 * i
   end do
   call smooth(1, 1)
   print *, rank, v(1, 1), v(n, n), w(3)
   call MPI_Finalize(ierr)
end program halo
