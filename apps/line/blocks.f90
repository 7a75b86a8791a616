! Block tridiagonal lines: the 5 x 5 blocks of a line, and the elimination of one.
module blocks
   implicit none
   integer, parameter :: nc = 5

contains

   ! The diagonal and off-diagonal block of (I + dt L) at a point where the material is `s`.
   pure subroutine make_blocks(s, dt, h2, diagonal, beside)
      double precision, intent(in) :: s, dt, h2
      double precision, intent(out) :: diagonal(nc, nc), beside(nc, nc)
      integer :: m, l
      do l = 1, nc
         do m = 1, nc
            beside(m, l) = -dt*s*0.05d0/dble(1 + abs(m - l))/h2
            if (m == l) beside(m, l) = beside(m, l) - dt*s*(1.0d0 + 0.1d0*m)/h2
            diagonal(m, l) = -2.0d0*beside(m, l)
            if (m == l) diagonal(m, l) = diagonal(m, l) + 1.0d0
         end do
      end do
   end subroutine make_blocks

   ! v = v - a w
   pure subroutine subtract_product(v, a, w)
      double precision, intent(inout) :: v(nc)
      double precision, intent(in) :: a(nc, nc), w(nc)
      integer :: m, l
      do l = 1, nc
         do m = 1, nc
            v(m) = v(m) - a(m, l)*w(l)
         end do
      end do
   end subroutine subtract_product

   ! Overwrites c with a^-1 c and v with a^-1 v; a is lost. The blocks need no pivoting.
   pure subroutine solve_block(a, c, v)
      double precision, intent(inout) :: a(nc, nc), c(nc, nc), v(nc)
      integer :: p, m
      double precision :: factor
      do p = 1, nc
         factor = 1.0d0/a(p, p)
         a(p, :) = a(p, :)*factor
         c(p, :) = c(p, :)*factor
         v(p) = v(p)*factor
         do m = 1, nc
            if (m == p) cycle
            factor = a(m, p)
            a(m, :) = a(m, :) - factor*a(p, :)
            c(m, :) = c(m, :) - factor*c(p, :)
            v(m) = v(m) - factor*v(p)
         end do
      end do
   end subroutine solve_block

end module blocks
