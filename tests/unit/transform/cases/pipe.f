c     A pipeline whose large message is computed into the same buffer in
c     each iteration: it is sent from a copy.
      program pipe
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 10000)
      double precision field(n), out(n)
      integer i, k, ierr, rank, nproc, status(MPI_STATUS_SIZE)
      call mpi_init(ierr)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
      call mpi_comm_size(MPI_COMM_WORLD, nproc, ierr)
      do i = 1, n
         field(i) = i
      end do
      do k = 1, 6
         if (rank .gt. 0) then
            call mpi_recv(field, n, MPI_DOUBLE_PRECISION, rank - 1, 3,
     &                    MPI_COMM_WORLD, status, ierr)
         end if
         do i = 1, n
            out(i) = 0.5d0 * field(i) + 1.0d0 / (i * k)
         end do
         if (rank .lt. nproc - 1) then
            call mpi_send(out, n, MPI_DOUBLE_PRECISION, rank + 1, 3,
     &                    MPI_COMM_WORLD, ierr)
         end if
      end do
      print *, rank, out(1), out(n)
      call mpi_finalize(ierr)
      end
