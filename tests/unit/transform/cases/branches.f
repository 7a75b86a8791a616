c     What is received is wanted in two of three branches: a wait in each of
c     them, and one behind the work of the iteration.
      program branch
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 500)
      double precision u(n), v(n), in(n)
      integer i, k, ierr, rank, nproc, right, left
      integer status(MPI_STATUS_SIZE)
      call mpi_init(ierr)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
      call mpi_comm_size(MPI_COMM_WORLD, nproc, ierr)
      right = mod(rank + 1, nproc)
      left = mod(rank + nproc - 1, nproc)
      do i = 1, n
         u(i) = i + rank
         v(i) = 1.0d0
         in(i) = 0.0d0
      end do
      do k = 1, 9
         do i = 2, n
            u(i) = 0.5d0 * u(i - 1) + 0.25d0 * u(i)
         end do
         call mpi_sendrecv(u, n, MPI_DOUBLE_PRECISION, right, 6,
     &                     in, n, MPI_DOUBLE_PRECISION, left, 6,
     &                     MPI_COMM_WORLD, status, ierr)
         if (mod(k, 3) .eq. 0) then
            do i = 1, n
               v(i) = 0.5d0 * v(i) + k
            end do
            do i = 1, n
               v(i) = v(i) + in(i)
            end do
         else if (mod(k, 3) .eq. 1) then
            v(1) = v(1) + in(n)
         else
            v(1) = v(1) - 1.0d0
         end if
         do i = 2, n
            v(i) = 0.5d0 * (v(i) + v(i - 1))
         end do
      end do
      print *, rank, u(n), v(n), in(1)
      call mpi_finalize(ierr)
      end
