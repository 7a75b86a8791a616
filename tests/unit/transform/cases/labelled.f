c     FORTRAN 77: loops that end at labels, of which a routine has one.
      program main
      include 'mpif.h'
      integer n
      parameter (n = 64)
      double precision u(0:n+1,-1:n+2), v(0:n+1,-1:n+2), w(n), b(n)
      common /fld/ u, v
      integer me, np, up, dn
      common /par/ me, np, up, dn
      integer ierr, it, i, j, st(MPI_STATUS_SIZE)
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, me, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, np, ierr)
      up = mod(me + 1, np)
      dn = mod(me + np - 1, np)
      do 10 j = -1, n + 2
      do 10 i = 0, n + 1
        u(i,j) = i + j*me
        v(i,j) = i + me
   10 continue
      do 20 i = 1, n
        w(i) = 0
        b(i) = i
   20 continue
      do 70 it = 1, 20
c       One row to each side, in place.
        call MPI_SENDRECV(u(1,1), n, MPI_DOUBLE_PRECISION, up, 1,
     1    u(1,n+1),
     1    n, MPI_DOUBLE_PRECISION, dn, 1, MPI_COMM_WORLD, st, ierr)
        call MPI_SENDRECV(u(1,n), n, MPI_DOUBLE_PRECISION, dn, 2,
     1    u(1,0),
     1    n, MPI_DOUBLE_PRECISION, up, 2, MPI_COMM_WORLD, st, ierr)
        do 30 j = 1, n
        do 30 i = 1, n
          v(i,j) = 0.25d0*(u(i-1,j) + u(i+1,j)
     1      + u(i,j-1) + u(i,j+1))
   30   continue
c       What is sent, and more.
        do 40 i = 1, n
          w(i) = w(i) + v(i,1)
          b(i) = 0.5d0*(b(i) + v(i,n))
   40   continue
        call MPI_SENDRECV(b, n, MPI_DOUBLE_PRECISION, up, 3, v(1,0),
     1    n, MPI_DOUBLE_PRECISION, dn, 3, MPI_COMM_WORLD, st, ierr)
        do 60 j = 1, n
          do 50 i = 1, n
   50       u(i,j) = v(i,j)
   60   continue
c       Two rows, in routines; a rank alone has no neighbour.
        if (np .gt. 1) call exch
        call relax
   70 continue
      print '(i4,3es20.10)', me, u(5,1), u(n,n), w(7) + v(7,0)
      call MPI_FINALIZE(ierr)
      end

      subroutine exch
      include 'mpif.h'
      integer n
      parameter (n = 64)
      double precision u(0:n+1,-1:n+2), v(0:n+1,-1:n+2)
      common /fld/ u, v
      integer me, np, up, dn
      common /par/ me, np, up, dn
      integer ierr, st(MPI_STATUS_SIZE)
      call MPI_SENDRECV(u(0,1), 2*n+4, MPI_DOUBLE_PRECISION, up, 4,
     1  u(0,n+1), 2*n+4, MPI_DOUBLE_PRECISION, dn, 4, MPI_COMM_WORLD,
     2  st, ierr)
      call MPI_SENDRECV(u(0,n-1), 2*n+4, MPI_DOUBLE_PRECISION, dn, 5,
     1  u(0,-1), 2*n+4, MPI_DOUBLE_PRECISION, up, 5, MPI_COMM_WORLD,
     2  st, ierr)
      end

      subroutine relax
      integer n
      parameter (n = 64)
      double precision u(0:n+1,-1:n+2), v(0:n+1,-1:n+2)
      common /fld/ u, v
      integer i, j
      do 10 j = 1, n
      do 10 i = 1, n
        v(i,j) = 0.25d0*(u(i-1,j) + u(i+1,j) + u(i,j-2) + u(i,j+2))
   10 continue
      do 30 j = 1, n
        do 20 i = 1, n
          u(i,j) = v(i,j)
   20   continue
   30 continue
      end
