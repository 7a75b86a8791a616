c     The two triangular sweeps: rsd becomes the correction.

c     Solves (D + omega L) in place, plane by plane from k = 1.
      subroutine lowers
      implicit none
      include 'ssor.inc'
      integer k

      do k = 1, nz
         call exch1(rsd, k, 0)
         call blts(k)
         call exch1(rsd, k, 2)
      end do
      end


c     Solves D^-1 (D + omega U) in place, plane by plane from k = nz.
      subroutine uppers
      implicit none
      include 'ssor.inc'
      integer k

      do k = nz, 1, -1
         call exch1(rsd, k, 1)
         call buts(k)
         call exch1(rsd, k, 3)
      end do
      end


c     One plane of the lower sweep.
      subroutine blts(k)
      implicit none
      include 'ssor.inc'
      integer i, j, k, m, n
      double precision v(nc)

      do j = 1, ny
         do i = 1, nx
            do m = 1, nc
               v(m) = rsd(m, i, j, k)
               do n = 1, nc
                  v(m) = v(m) - omega * (lower(m, n, 1)
     >                 * rsd(n, i-1, j, k)
     >                 + lower(m, n, 2) * rsd(n, i, j-1, k))
                  if (k .gt. 1) v(m) = v(m)
     >                 - omega * lower(m, n, 3) * rsd(n, i, j, k-1)
               end do
            end do
            call solve5(v, rsd(1, i, j, k))
         end do
      end do
      end


c     One plane of the upper sweep.
      subroutine buts(k)
      implicit none
      include 'ssor.inc'
      integer i, j, k, m, n
      double precision v(nc), w(nc)

      do j = ny, 1, -1
         do i = nx, 1, -1
            do m = 1, nc
               v(m) = 0.0d0
               do n = 1, nc
                  v(m) = v(m) + omega * (upper(m, n, 1)
     >                 * rsd(n, i+1, j, k)
     >                 + upper(m, n, 2) * rsd(n, i, j+1, k))
                  if (k .lt. nz) v(m) = v(m)
     >                 + omega * upper(m, n, 3) * rsd(n, i, j, k+1)
               end do
            end do
            call solve5(v, w)
            do m = 1, nc
               rsd(m, i, j, k) = rsd(m, i, j, k) - w(m)
            end do
         end do
      end do
      end


c     Solves center x = v by elimination; the blocks need no pivoting.
      subroutine solve5(v, x)
      implicit none
      include 'ssor.inc'
      double precision v(nc), x(nc), a(nc, nc), r(nc), factor
      integer m, n, l

      do n = 1, nc
         r(n) = v(n)
         do m = 1, nc
            a(m, n) = center(m, n)
         end do
      end do
      do l = 1, nc - 1
         do m = l + 1, nc
            factor = a(m, l) / a(l, l)
            do n = l + 1, nc
               a(m, n) = a(m, n) - factor * a(l, n)
            end do
            r(m) = r(m) - factor * r(l)
         end do
      end do
      do m = nc, 1, -1
         x(m) = r(m)
         do n = m + 1, nc
            x(m) = x(m) - a(m, n) * x(n)
         end do
         x(m) = x(m) / a(m, m)
      end do
      end
