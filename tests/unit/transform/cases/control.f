c     Negative control, in the style of BT: lines of blocks cross the ranks,
c     each step needs what the rank before has just found, works on it in
c     place and hands it on. Nothing stands between a message and its use.
      program control
      implicit none
      include 'mpif.h'
      integer nc, n, steps
      parameter (nc = 5, n = 20, steps = 4)
      double precision rhs(nc, n), total, sum
      integer rank, size, prev, next, step, ierr
      integer i, m, status(MPI_STATUS_SIZE)

      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierr)
      prev = rank - 1
      next = rank + 1
      sum = 0.0d0
      do i = 1, n
         do m = 1, nc
            rhs(m, i) = dble(m + i + rank)
         end do
      end do

      do step = 1, steps
         if (prev .ge. 0) then
            call MPI_RECV(rhs, nc * n, MPI_DOUBLE_PRECISION, prev,
     >                    step, MPI_COMM_WORLD, status, ierr)
         end if
         do i = 2, n
            do m = 1, nc
               rhs(m, i) = rhs(m, i) - 0.1d0 * rhs(m, i-1)
               sum = sum + rhs(m, i)
            end do
         end do
         if (next .lt. size) then
            call MPI_SEND(rhs, nc * n, MPI_DOUBLE_PRECISION, next,
     >                    step, MPI_COMM_WORLD, ierr)
         end if
      end do

      call MPI_ALLREDUCE(sum, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM,
     >                   MPI_COMM_WORLD, ierr)
      if (rank .eq. 0) write (*, *) total
      call MPI_FINALIZE(ierr)
      end
