! In the style of NAS LU: symmetric successive over-relaxation for five coupled variables, a
! wavefront over planes. The coefficients of a plane (jacld, jacu) need nothing of the neighbours;
! its values do, which exchange_1 brings, two messages by a constant flag, through one buffer.

      program lu
      implicit none
      include 'mpif.h'
      include 'lu.inc'
      integer step, ierr
      double precision before, after, start, time
      call mpi_init(ierr)
      call setup
      call rhs
      call l2norm(before)
      call mpi_barrier(MPI_COMM_WORLD, ierr)
      start = mpi_wtime()
      do step = 1, steps
        call ssor
        call rhs
      end do
      time = mpi_wtime() - start
      call l2norm(after)
      if (me .eq. 0) then
        print '(a, f12.6, a)', 'time: ', time, ' s'
        if (after .lt. 0.5d0 * before) then
          print '(a, es24.16)', 'verification: PASSED value=', after
        else
          print '(a, es24.16)', 'verification: FAILED value=', after
        end if
      end if
      call mpi_finalize(ierr)
      end

      subroutine setup
      implicit none
      include 'mpif.h'
      include 'lu.inc'
      integer i, j, k, m, ierr
      call mpi_comm_rank(MPI_COMM_WORLD, me, ierr)
      call mpi_comm_size(MPI_COMM_WORLD, many, ierr)
      if (many .ne. px * py) call mpi_abort(MPI_COMM_WORLD, 2, ierr)
      row = me / py
      col = mod(me, py)
      north = -1
      south = -1
      west = -1
      east = -1
      if (row .gt. 0) north = me - py
      if (row .lt. px - 1) south = me + py
      if (col .gt. 0) west = me - 1
      if (col .lt. py - 1) east = me + 1
      do k = 1, nz
        do j = 0, ny + 1
          do i = 0, nx + 1
            do m = 1, 5
              u(m,i,j,k) = 0.0d0
              rsd(m,i,j,k) = 0.0d0
            end do
          end do
        end do
      end do
      do k = 1, nz
        do j = 1, ny
          do i = 1, nx
            do m = 1, 5
              frct(m,i,j,k) = sin(0.1d0 * m * (i + row * nx))
     &          + cos(0.07d0 * (j + col * ny)) * sin(0.05d0 * k)
            end do
          end do
        end do
      end do
      end

      subroutine ssor
      implicit none
      include 'lu.inc'
      integer i, j, k, m
      do k = 2, nz - 1
        call jacld(k)
        call blts(k)
      end do
      do k = nz - 1, 2, -1
        call jacu(k)
        call buts(k)
      end do
      do k = 2, nz - 1
        do j = 1, ny
          do i = 1, nx
            do m = 1, 5
              u(m,i,j,k) = u(m,i,j,k) + rsd(m,i,j,k)
            end do
          end do
        end do
      end do
      end

      subroutine jacld(k)
!     Coefficients of the points before, and of the point itself.
      implicit none
      include 'lu.inc'
      integer k, i, j, l, m
      double precision q, s
      do j = 1, ny
        do i = 1, nx
          q = 1.0d0 / (1.0d0 + 0.01d0 * u(1,i,j,k)**2)
          do l = 1, 5
            do m = 1, 5
              s = 0.1d0 * q / (1 + abs(l - m))
     &          + 0.01d0 * u(m,i,j,k) * u(l,i,j,k) * q * q
              d(m,l,i,j) = dt * s
              a(m,l,i,j) = -dt * (s + 0.03d0 * u(l,i,j,k-1))
              b(m,l,i,j) = -dt * (s - 0.02d0 * u(m,i,j,k) * q)
              c(m,l,i,j) = -dt * (s + 0.01d0 * u(l,i,j,k) * q)
            end do
            d(l,l,i,j) = d(l,l,i,j) + 1.0d0 + 6.0d0 * dt
            a(l,l,i,j) = a(l,l,i,j) - dt
            b(l,l,i,j) = b(l,l,i,j) - dt
            c(l,l,i,j) = c(l,l,i,j) - dt
          end do
        end do
      end do
      end

      subroutine jacu(k)
!     Coefficients of the points behind, and of the point itself.
      implicit none
      include 'lu.inc'
      integer k, i, j, l, m
      double precision q, s
      do j = 1, ny
        do i = 1, nx
          q = 1.0d0 / (1.0d0 + 0.01d0 * u(1,i,j,k)**2)
          do l = 1, 5
            do m = 1, 5
              s = 0.1d0 * q / (1 + abs(l - m))
     &          + 0.01d0 * u(m,i,j,k) * u(l,i,j,k) * q * q
              d(m,l,i,j) = dt * s
              a(m,l,i,j) = -dt * (s - 0.03d0 * u(l,i,j,k+1))
              b(m,l,i,j) = -dt * (s + 0.02d0 * u(m,i,j,k) * q)
              c(m,l,i,j) = -dt * (s - 0.01d0 * u(l,i,j,k) * q)
            end do
            d(l,l,i,j) = d(l,l,i,j) + 1.0d0 + 6.0d0 * dt
            a(l,l,i,j) = a(l,l,i,j) - dt
            b(l,l,i,j) = b(l,l,i,j) - dt
            c(l,l,i,j) = c(l,l,i,j) - dt
          end do
        end do
      end do
      end

      subroutine blts(k)
      implicit none
      include 'lu.inc'
      integer k, i, j, l, m, n, iex
      double precision t(5), e(5,5), f
      iex = 0
      call exchange_1(rsd, k, iex)
      do j = 1, ny
        do i = 1, nx
          do m = 1, 5
            f = 0.0d0
            do l = 1, 5
              f = f + a(m,l,i,j) * rsd(l,i,j,k-1)
     &          + b(m,l,i,j) * rsd(l,i,j-1,k)
     &          + c(m,l,i,j) * rsd(l,i-1,j,k)
              e(m,l) = d(m,l,i,j)
            end do
            t(m) = rsd(m,i,j,k) - omega * f
          end do
          do n = 1, 4
            do m = n + 1, 5
              f = e(m,n) / e(n,n)
              do l = n + 1, 5
                e(m,l) = e(m,l) - f * e(n,l)
              end do
              t(m) = t(m) - f * t(n)
            end do
          end do
          do m = 5, 1, -1
            f = t(m)
            do l = m + 1, 5
              f = f - e(m,l) * t(l)
            end do
            t(m) = f / e(m,m)
            rsd(m,i,j,k) = t(m)
          end do
        end do
      end do
      iex = 2
      call exchange_1(rsd, k, iex)
      end

      subroutine buts(k)
      implicit none
      include 'lu.inc'
      integer k, i, j, l, m, n, iex
      double precision t(5), e(5,5), f
      iex = 1
      call exchange_1(rsd, k, iex)
      do j = ny, 1, -1
        do i = nx, 1, -1
          do m = 1, 5
            f = 0.0d0
            do l = 1, 5
              f = f + a(m,l,i,j) * rsd(l,i,j,k+1)
     &          + b(m,l,i,j) * rsd(l,i,j+1,k)
     &          + c(m,l,i,j) * rsd(l,i+1,j,k)
              e(m,l) = d(m,l,i,j)
            end do
            t(m) = omega * f
          end do
          do n = 1, 4
            do m = n + 1, 5
              f = e(m,n) / e(n,n)
              do l = n + 1, 5
                e(m,l) = e(m,l) - f * e(n,l)
              end do
              t(m) = t(m) - f * t(n)
            end do
          end do
          do m = 5, 1, -1
            f = t(m)
            do l = m + 1, 5
              f = f - e(m,l) * t(l)
            end do
            t(m) = f / e(m,m)
            rsd(m,i,j,k) = rsd(m,i,j,k) - t(m)
          end do
        end do
      end do
      iex = 3
      call exchange_1(rsd, k, iex)
      end

      subroutine rhs
!     What is left of frct, with faces of the neighbours.
      implicit none
      include 'lu.inc'
      integer i, j, k, m
      do k = 1, nz
        do j = 1, ny
          do i = 1, nx
            do m = 1, 5
              rsd(m,i,j,k) = frct(m,i,j,k) - u(m,i,j,k)
            end do
          end do
        end do
      end do
      do k = 2, nz - 1
        do j = 1, ny
          do i = 1, nx
            do m = 1, 5
              rsd(m,i,j,k) = rsd(m,i,j,k) + dt * (u(m,i,j,k-1)
     &          - 2.0d0 * u(m,i,j,k) + u(m,i,j,k+1))
            end do
          end do
        end do
      end do
      call exchange_3(u, 0)
      do k = 2, nz - 1
        do j = 1, ny
          do i = 1, nx
            do m = 1, 5
              rsd(m,i,j,k) = rsd(m,i,j,k) + dt * (u(m,i-1,j,k)
     &          - 2.0d0 * u(m,i,j,k) + u(m,i+1,j,k))
            end do
          end do
        end do
      end do
      call exchange_3(u, 1)
      do k = 2, nz - 1
        do j = 1, ny
          do i = 1, nx
            do m = 1, 5
              rsd(m,i,j,k) = rsd(m,i,j,k) + dt * (u(m,i,j-1,k)
     &          - 2.0d0 * u(m,i,j,k) + u(m,i,j+1,k))
            end do
          end do
        end do
      end do
      end

      subroutine l2norm(value)
      implicit none
      include 'mpif.h'
      include 'lu.inc'
      integer i, j, k, m, ierr
      double precision value, own
      own = 0.0d0
      do k = 2, nz - 1
        do j = 1, ny
          do i = 1, nx
            do m = 1, 5
              own = own + rsd(m,i,j,k)**2
            end do
          end do
        end do
      end do
      call mpi_allreduce(own, value, 1, MPI_DOUBLE_PRECISION, MPI_SUM,
     &  MPI_COMM_WORLD, ierr)
      value = sqrt(value)
      end

      subroutine exchange_1(g, k, iex)
!     One plane: 0 receives from north and west, 2 sends to south and east, 1 and 3 the reverse.
      implicit none
      include 'mpif.h'
      include 'lu.inc'
      double precision g(5,0:nx+1,0:ny+1,nz)
      double precision dum(5,nx+ny)
      integer k, iex, i, j, m, ierr, status(MPI_STATUS_SIZE)
      if (iex .eq. 0) then
        if (north .ne. -1) then
          call mpi_recv(dum, 5*ny, MPI_DOUBLE_PRECISION, north, 1,
     &      MPI_COMM_WORLD, status, ierr)
          do j = 1, ny
            do m = 1, 5
              g(m,0,j,k) = dum(m,j)
            end do
          end do
        end if
        if (west .ne. -1) then
          call mpi_recv(dum, 5*nx, MPI_DOUBLE_PRECISION, west, 2,
     &      MPI_COMM_WORLD, status, ierr)
          do i = 1, nx
            do m = 1, 5
              g(m,i,0,k) = dum(m,i)
            end do
          end do
        end if
      else if (iex .eq. 1) then
        if (south .ne. -1) then
          call mpi_recv(dum, 5*ny, MPI_DOUBLE_PRECISION, south, 3,
     &      MPI_COMM_WORLD, status, ierr)
          do j = 1, ny
            do m = 1, 5
              g(m,nx+1,j,k) = dum(m,j)
            end do
          end do
        end if
        if (east .ne. -1) then
          call mpi_recv(dum, 5*nx, MPI_DOUBLE_PRECISION, east, 4,
     &      MPI_COMM_WORLD, status, ierr)
          do i = 1, nx
            do m = 1, 5
              g(m,i,ny+1,k) = dum(m,i)
            end do
          end do
        end if
      else if (iex .eq. 2) then
        if (south .ne. -1) then
          do j = 1, ny
            do m = 1, 5
              dum(m,j) = g(m,nx,j,k)
            end do
          end do
          call mpi_send(dum, 5*ny, MPI_DOUBLE_PRECISION, south, 1,
     &      MPI_COMM_WORLD, ierr)
        end if
        if (east .ne. -1) then
          do i = 1, nx
            do m = 1, 5
              dum(m,i) = g(m,i,ny,k)
            end do
          end do
          call mpi_send(dum, 5*nx, MPI_DOUBLE_PRECISION, east, 2,
     &      MPI_COMM_WORLD, ierr)
        end if
      else
        if (north .ne. -1) then
          do j = 1, ny
            do m = 1, 5
              dum(m,j) = g(m,1,j,k)
            end do
          end do
          call mpi_send(dum, 5*ny, MPI_DOUBLE_PRECISION, north, 3,
     &      MPI_COMM_WORLD, ierr)
        end if
        if (west .ne. -1) then
          do i = 1, nx
            do m = 1, 5
              dum(m,i) = g(m,i,1,k)
            end do
          end do
          call mpi_send(dum, 5*nx, MPI_DOUBLE_PRECISION, west, 4,
     &      MPI_COMM_WORLD, ierr)
        end if
      end if
      end

      subroutine exchange_3(g, iex)
!     Whole faces of one axis, both ways.
      implicit none
      include 'mpif.h'
      include 'lu.inc'
      double precision g(5,0:nx+1,0:ny+1,nz)
      double precision buf(nmax*nz), buf1(nmax*nz)
      integer iex, i, j, k, m, at, mid, ierr, status(MPI_STATUS_SIZE)
      if (iex .eq. 0) then
        if (north .ne. -1) call mpi_irecv(buf1, 5*ny*nz,
     &    MPI_DOUBLE_PRECISION, north, 11, MPI_COMM_WORLD, mid, ierr)
        if (south .ne. -1) then
          do k = 1, nz
            do j = 1, ny
              do m = 1, 5
                at = ((k-1)*ny + j - 1)*5 + m
                buf(at) = g(m,nx,j,k)
              end do
            end do
          end do
          call mpi_send(buf, 5*ny*nz, MPI_DOUBLE_PRECISION, south,
     &      11, MPI_COMM_WORLD, ierr)
        end if
        if (north .ne. -1) then
          call mpi_wait(mid, status, ierr)
          do k = 1, nz
            do j = 1, ny
              do m = 1, 5
                at = ((k-1)*ny + j - 1)*5 + m
                g(m,0,j,k) = buf1(at)
              end do
            end do
          end do
        end if
        if (south .ne. -1) call mpi_irecv(buf1, 5*ny*nz,
     &    MPI_DOUBLE_PRECISION, south, 12, MPI_COMM_WORLD, mid, ierr)
        if (north .ne. -1) then
          do k = 1, nz
            do j = 1, ny
              do m = 1, 5
                at = ((k-1)*ny + j - 1)*5 + m
                buf(at) = g(m,1,j,k)
              end do
            end do
          end do
          call mpi_send(buf, 5*ny*nz, MPI_DOUBLE_PRECISION, north,
     &      12, MPI_COMM_WORLD, ierr)
        end if
        if (south .ne. -1) then
          call mpi_wait(mid, status, ierr)
          do k = 1, nz
            do j = 1, ny
              do m = 1, 5
                at = ((k-1)*ny + j - 1)*5 + m
                g(m,nx+1,j,k) = buf1(at)
              end do
            end do
          end do
        end if
      else
        if (west .ne. -1) call mpi_irecv(buf1, 5*nx*nz,
     &    MPI_DOUBLE_PRECISION, west, 13, MPI_COMM_WORLD, mid, ierr)
        if (east .ne. -1) then
          do k = 1, nz
            do i = 1, nx
              do m = 1, 5
                at = ((k-1)*nx + i - 1)*5 + m
                buf(at) = g(m,i,ny,k)
              end do
            end do
          end do
          call mpi_send(buf, 5*nx*nz, MPI_DOUBLE_PRECISION, east,
     &      13, MPI_COMM_WORLD, ierr)
        end if
        if (west .ne. -1) then
          call mpi_wait(mid, status, ierr)
          do k = 1, nz
            do i = 1, nx
              do m = 1, 5
                at = ((k-1)*nx + i - 1)*5 + m
                g(m,i,0,k) = buf1(at)
              end do
            end do
          end do
        end if
        if (east .ne. -1) call mpi_irecv(buf1, 5*nx*nz,
     &    MPI_DOUBLE_PRECISION, east, 14, MPI_COMM_WORLD, mid, ierr)
        if (west .ne. -1) then
          do k = 1, nz
            do i = 1, nx
              do m = 1, 5
                at = ((k-1)*nx + i - 1)*5 + m
                buf(at) = g(m,i,1,k)
              end do
            end do
          end do
          call mpi_send(buf, 5*nx*nz, MPI_DOUBLE_PRECISION, west,
     &      14, MPI_COMM_WORLD, ierr)
        end if
        if (east .ne. -1) then
          call mpi_wait(mid, status, ierr)
          do k = 1, nz
            do i = 1, nx
              do m = 1, 5
                at = ((k-1)*nx + i - 1)*5 + m
                g(m,i,ny+1,k) = buf1(at)
              end do
            end do
          end do
        end if
      end if
      end
