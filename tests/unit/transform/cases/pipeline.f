      program pipe
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 500)
      double precision u(n), v(n), edge(n), ghost(n)
      common /fields/ u, v
      integer rank, size, ierr, i, step
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierr)
      do 5 i = 1, n
        u(i) = rank + i
        ghost(i) = 0.0d0
    5 continue
      do 40 step = 1, 4
        do 10 i = 1, n
          edge(i) = u(i)
   10   continue
        if (rank .lt. size - 1) call MPI_SEND(edge, n,
     >      MPI_DOUBLE_PRECISION, rank + 1, 7, MPI_COMM_WORLD, ierr)
C       Independent of what the neighbour sends.
        call relax(v, n)
        if (rank .gt. 0) then
          call MPI_RECV(ghost, n, MPI_DOUBLE_PRECISION, rank - 1, 7,
     >        MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        end if
        do 20 i = 2, n - 1
          v(i) = v(i) + 0.5d0 * (u(i - 1) + u(i + 1))
   20   continue
        do 30 i = 1, n
          u(i) = u(i) + ghost(i)
   30   continue
   40 continue
      write (*, *) rank, u(n), v(n)
      call MPI_FINALIZE(ierr)
      end

      subroutine relax(x, m)
      implicit none
      integer m, i
      double precision x(m)
      do 10 i = 1, m
        x(i) = 0.5d0 * x(i) + 1.0d0
   10 continue
      end
