c     The index of each loop is the same variable: what needs nothing of
c     the message goes in front of what does, with the number it needs.
      program indice
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 800)
      double precision u(n), v(n), w(n), s
      integer i, k, ierr, rank, nproc, left, right
      integer status(MPI_STATUS_SIZE)
      call mpi_init(ierr)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
      call mpi_comm_size(MPI_COMM_WORLD, nproc, ierr)
      right = mod(rank + 1, nproc)
      left = mod(rank + nproc - 1, nproc)
      do i = 1, n
         u(i) = i + rank
         w(i) = i
      end do
      do k = 1, 3
         call mpi_sendrecv(u, n, MPI_DOUBLE_PRECISION, right, 3,
     &                     v, n, MPI_DOUBLE_PRECISION, left, 3,
     &                     MPI_COMM_WORLD, status, ierr)
         do i = 1, n
            u(i) = 0.5d0 * u(i) + 0.25d0 * v(i)
         end do
c        what the other field weighs
         s = 0.125d0 * k
         do i = 2, n
            s = s + 1.0d-3 * w(i)
            w(i) = 0.5d0 * (w(i) + w(i - 1))
         end do
         u(k) = u(k) + s
      end do
      print *, rank, u(1), u(n), w(n)
      call mpi_finalize(ierr)
      end
