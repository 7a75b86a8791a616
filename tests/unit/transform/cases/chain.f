c     Blocks that cross the ranks through one buffer for both directions:
c     the message goes out of a copy while the next step is computed.
      program chain
      implicit none
      include 'mpif.h'
      integer nc, n, steps
      parameter (nc = 5, n = 20, steps = 4)
      double precision rhs(nc, n, n), face(nc, n), total, sum
      integer rank, size, prev, next, step, ierr
      integer i, j, m, status(MPI_STATUS_SIZE)

      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierr)
      prev = rank - 1
      next = rank + 1
      do j = 1, n
         do i = 1, n
            do m = 1, nc
               rhs(m, i, j) = dble(m + i * j + rank)
            end do
         end do
      end do

      do step = 1, steps
         if (prev .ge. 0) then
            call MPI_RECV(face, nc * n, MPI_DOUBLE_PRECISION, prev,
     >                    step, MPI_COMM_WORLD, status, ierr)
            do j = 1, n
               do m = 1, nc
                  rhs(m, 1, j) = rhs(m, 1, j) - 0.1d0 * face(m, j)
               end do
            end do
         end if
         do j = 1, n
            do i = 2, n
               do m = 1, nc
                  rhs(m, i, j) = rhs(m, i, j) - 0.1d0 * rhs(m, i-1, j)
               end do
            end do
         end do
         if (next .lt. size) then
            do j = 1, n
               do m = 1, nc
                  face(m, j) = rhs(m, n, j)
               end do
            end do
            call MPI_SEND(face, nc * n, MPI_DOUBLE_PRECISION, next,
     >                    step, MPI_COMM_WORLD, ierr)
         end if
      end do

      sum = 0.0d0
      do j = 1, n
         do i = 1, n
            sum = sum + rhs(1, i, j)
         end do
      end do
      call MPI_ALLREDUCE(sum, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM,
     >                   MPI_COMM_WORLD, ierr)
      if (rank .eq. 0) write (*, *) total
      call MPI_FINALIZE(ierr)
      end
