c     The same in Fortran: the block that goes around is copied to be sent.
      program ring
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 400)
      double precision block(n), field(n)
      integer rank, size, ierr, i, k, step, next, prev
      integer status(MPI_STATUS_SIZE)

      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierr)
      next = mod(rank + 1, size)
      prev = mod(rank + size - 1, size)
      do i = 1, n
         block(i) = dble(rank) + 0.001d0 * dble(i)
         field(i) = 0.0d0
      end do
      do step = 1, 3
         call MPI_SENDRECV_REPLACE(block, n, MPI_DOUBLE_PRECISION,
     >        next, 7, prev, 7, MPI_COMM_WORLD, status, ierr)
         do k = 1, 20
            do i = 1, n
               field(i) = 0.5d0 * field(i) + 1.0d0
            end do
         end do
         do i = 1, n
            field(i) = field(i) + block(i)
         end do
      end do
      write (*, *) rank, field(3), block(n)
      call MPI_FINALIZE(ierr)
      end
