! A wavefront as LU has it: the rim of the next plane is received while this one is solved, by a
! routine whose flag says which way.

      program stages
      implicit none
      include 'mpif.h'
      integer n, k
      parameter (n = 40)
      double precision u(n,20), a(n)
      common /field/ u, a
      integer rank, many, ierr
      common /grid/ rank, many
      call mpi_init(ierr)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
      call mpi_comm_size(MPI_COMM_WORLD, many, ierr)
      do k = 1, 20
        u(1,k) = 1.0d0
      end do
      do k = 1, 20
        call coefficients(k)
        call solve(k)
      end do
      print *, rank, u(n,20), sum(u)
      call mpi_finalize(ierr)
      end

      subroutine coefficients(k)
      implicit none
      integer n, k, i
      parameter (n = 40)
      double precision u(n,20), a(n)
      common /field/ u, a
      do i = 1, n
        a(i) = 0.125d0 * k + 0.5d0 / i
      end do
      end

      subroutine solve(k)
      implicit none
      integer n, k, i, iex
      parameter (n = 40)
      double precision u(n,20), a(n)
      common /field/ u, a
      iex = 0
      call exchange(u, k, iex)
      do i = 2, n
        u(i,k) = a(i) * u(i-1,k) + 1.0d0
      end do
      iex = 1
      call exchange(u, k, iex)
      end

      subroutine exchange(g, k, iex)
      implicit none
      include 'mpif.h'
      integer n, k, iex, ierr, status(MPI_STATUS_SIZE)
      parameter (n = 40)
      double precision g(n,20), dum(1)
      integer rank, many
      common /grid/ rank, many
      if (iex .eq. 0) then
        if (rank .gt. 0) then
          call mpi_recv(dum, 1, MPI_DOUBLE_PRECISION, rank - 1, 7,
     &      MPI_COMM_WORLD, status, ierr)
          g(1,k) = dum(1)
        end if
      else if (rank .lt. many - 1) then
        dum(1) = g(n,k)
        call mpi_send(dum, 1, MPI_DOUBLE_PRECISION, rank + 1, 7,
     &    MPI_COMM_WORLD, ierr)
      end if
      end
