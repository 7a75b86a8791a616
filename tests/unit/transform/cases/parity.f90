! A plate in strips: ranks take turns by their place in a chain of ELSE IF; each face is packed.
module strip
   implicit none
   integer, parameter :: n = 200
   integer :: rank, nproc
   double precision :: u(0:n + 1, 0:n + 1), v(n, n)
contains
   subroutine exchange(f)
      include 'mpif.h'
      double precision, intent(inout) :: f(0:n + 1, 0:n + 1)
      double precision :: above(n), below(n)
      integer :: i, ierr

      do i = 1, n
         above(i) = f(n, i)
      end do
      if (nproc == 1) then
         do i = 1, n
            f(0, i) = above(i)
         end do
      else if (rank == 0) then
         call mpi_send(above, n, mpi_double_precision, rank + 1, 7, mpi_comm_world, ierr)
      else if (rank < nproc - 1) then
         call mpi_recv(below, n, mpi_double_precision, rank - 1, 7, mpi_comm_world, &
                       mpi_status_ignore, ierr)
         call mpi_send(above, n, mpi_double_precision, rank + 1, 7, mpi_comm_world, ierr)
         do i = 1, n
            f(0, i) = below(i)
         end do
      else
         call mpi_recv(below, n, mpi_double_precision, rank - 1, 7, mpi_comm_world, &
                       mpi_status_ignore, ierr)
         do i = 1, n
            f(0, i) = below(i)
         end do
      end if
   end subroutine exchange
end module strip

program strips
   use strip
   implicit none
   include 'mpif.h'
   integer :: i, j, step, ierr
   call mpi_init(ierr)
   call mpi_comm_rank(mpi_comm_world, rank, ierr)
   call mpi_comm_size(mpi_comm_world, nproc, ierr)
   do j = 0, n + 1
      do i = 0, n + 1
         u(i, j) = i + 0.5d0*j*rank
      end do
   end do
   do step = 1, 10
      call exchange(u)
      do j = 1, n
         do i = 1, n
            v(i, j) = 0.5d0*(u(i - 1, j) + u(i, j)) + 1d-3*u(i, j)**2
         end do
      end do
      do j = 1, n
         do i = 1, n
            u(i, j) = v(i, j)/(1d0 + 1d-3*v(i, j))
         end do
      end do
   end do
   print '(i3, 2es25.17)', rank, u(n, 3), sum(v)
   call mpi_finalize(ierr)
end program strips
