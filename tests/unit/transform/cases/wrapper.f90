! The exchange of a strip's two columns, with local buffers, in a routine of its own.
module strip
   implicit none
   integer, parameter :: n = 200
   double precision :: u(0:n + 1, 0:n + 1), v(n, n)
contains
   subroutine exchange(f, up, down)
      include 'mpif.h'
      double precision, intent(inout) :: f(0:n + 1, 0:n + 1)
      integer, intent(in) :: up, down
      double precision :: there(n), back(n)
      integer :: i, ierr

      do i = 1, n
         there(i) = f(1, i)
      end do
      call MPI_Sendrecv(there, n, MPI_DOUBLE_PRECISION, up, 1, back, n, MPI_DOUBLE_PRECISION, &
                        down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      ! Behind the last row.
      do i = 1, n
         f(n + 1, i) = back(i)
      end do
   end subroutine exchange
end module strip

program strips
   use strip
   implicit none
   include 'mpif.h'
   integer :: rank, size, i, j, step, ierr
   call MPI_Init(ierr)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
   call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
   do j = 0, n + 1
      do i = 0, n + 1
         u(i, j) = i + 0.5d0 * j * rank
      end do
   end do
   do step = 1, 5
      call exchange(u, mod(rank + 1, size), mod(rank + size - 1, size))
      do j = 1, n
         do i = 1, n
            v(i, j) = 0.5d0 * (u(i + 1, j) + u(i, j))
         end do
      end do
      do j = 1, n
         do i = 1, n
            u(i, j) = v(i, j) + step
         end do
      end do
   end do
   print *, rank, u(n, 3), v(n, n), v(1, 1)
   call MPI_Finalize(ierr)
end program strips
