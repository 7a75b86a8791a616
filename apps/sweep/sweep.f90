! Neutral particle transport by discrete ordinates, as in Sweep3D: one energy group, isotropic
! scattering, diamond differences, vacuum around the box. x and y are divided among the ranks; for
! each octant of directions, blocks of planes and of angles are pipelined through the grid of ranks:
! receive the inflow from the two upstream neighbours (phiib, phijb), sweep the block, send the
! outflow downstream. All calls are blocking; each rank works on what it has received at once, so
! there is next to nothing to overlap.
!
! When the scattering source has converged, sources equal absorption plus leakage. The fluxes are the
! same at every point for any number of ranks.
program sweep
   use mpi_f08
   use options
   implicit none
   double precision, parameter :: pi = 3.14159265358979323846d0
   integer, parameter :: polar = 2, azimuths = 3, angles = polar*azimuths
   double precision, parameter :: total_xs = 1.0d0, scatter_xs = 0.6d0
   double precision :: mu(angles), eta(angles), xi(angles), weight(angles)

   integer :: rank, size, n, mk, mmi, iterations, dims(2), coords(2), status, it, nx, ny, first(2)
   integer :: north, south, west, east
   type(MPI_Comm) :: comm
   double precision :: h, start, seconds, change, local(3), sums(3), balance, largest
   double precision, allocatable :: flux(:, :, :), old(:, :, :), source(:, :, :)
   double precision, allocatable :: phiib(:, :, :), phijb(:, :, :), phikb(:, :, :)
   double precision :: leakage
   logical :: passed

   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Comm_size(MPI_COMM_WORLD, size)
   n = 48
   mk = 8
   mmi = 3
   iterations = 40
   call option_set('sweep', 'discrete-ordinates transport, pipelined sweeps')
   call option_integer('n', n, 'cells in each dimension')
   call option_integer('planes', mk, 'planes in a pipelined block; divides n')
   call option_integer('angles', mmi, 'angles in a pipelined block: 1, 2, 3 or 6')
   call option_integer('iterations', iterations, 'source iterations')
   dims = 0
   call MPI_Dims_create(size, 2, dims)
   call option_end(rank, n >= 2 .and. n <= 1000 .and. all(n >= dims) .and. mk >= 1 .and. &
                   mod(n, max(mk, 1)) == 0 .and. mmi >= 1 .and. mod(angles, max(mmi, 1)) == 0 &
                   .and. iterations >= 1, status)
   if (status /= 0) then
      call MPI_Finalize()
      call exit(merge(0, 2, status == 1))
   end if
   call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .false., comm)
   call MPI_Cart_coords(comm, rank, 2, coords)
   call MPI_Cart_shift(comm, 0, 1, west, east)
   call MPI_Cart_shift(comm, 1, 1, south, north)
   first = n*coords/dims
   nx = n*(coords(1) + 1)/dims(1) - first(1)
   ny = n*(coords(2) + 1)/dims(2) - first(2)
   h = 1.0d0/n*6.0d0                                ! six mean free paths across
   call set_angles
   allocate (flux(nx, ny, n), old(nx, ny, n), source(nx, ny, n))
   allocate (phiib(ny, mk, mmi), phijb(nx, mk, mmi), phikb(nx, ny, mmi))
   flux = 0.0d0

   call MPI_Barrier(comm)
   start = MPI_Wtime()
   do it = 1, iterations
      old = flux
      call set_source
      call sweep_octants
   end do
   seconds = MPI_Wtime() - start

   call set_source                                  ! from the last flux, for the balance
   local(1) = sum(source - scatter_xs*flux)*h**3
   local(2) = sum((total_xs - scatter_xs)*flux)*h**3
   local(3) = leakage
   call MPI_Allreduce(local, sums, 3, MPI_DOUBLE_PRECISION, MPI_SUM, comm)
   balance = abs(sums(1) - sums(2) - sums(3))/sums(1)
   local(1) = maxval(abs(flux - old))
   local(2) = maxval(abs(flux))
   call MPI_Allreduce(local, sums, 2, MPI_DOUBLE_PRECISION, MPI_MAX, comm)
   change = sums(1)
   largest = sums(2)
   local(1) = sum(flux)
   call MPI_Allreduce(local, sums, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm)
   if (rank == 0) then
      write (*, '(5(a,i0),a)') 'sweep: ', n, '^3 cells, ', 8*angles, ' directions, ', iterations, &
         ' iterations, ', dims(1), ' x ', dims(2), ' ranks'
      write (*, '(a,f0.6,2(a,es10.3))') 'time: ', seconds, ' s, balance ', balance, &
         ', last change ', change/largest
   end if
   ! an iteration leaves at most scatter_xs / total_xs of the error
   passed = balance < (scatter_xs/total_xs)**iterations + 1.0d-11 .and. &
            change/largest < (scatter_xs/total_xs)**(iterations - 1) + 1.0d-12
   call verification(rank, passed, sums(1)/dble(n)**3)
   call MPI_Finalize()
   call exit(merge(0, 1, passed))

contains

   ! One octant: Gauss-Legendre in the polar angle, equal steps in azimuth; the weights of all eight
   ! octants add up to one.
   subroutine set_angles
      double precision, parameter :: node(polar) = [0.339981043584856d0, 0.861136311594053d0]
      double precision, parameter :: share(polar) = [0.652145154862546d0, 0.347854845137454d0]
      integer :: p, a, m
      double precision :: omega
      do p = 1, polar
         do a = 1, azimuths
            m = (p - 1)*azimuths + a
            omega = (a - 0.5d0)*pi/(2*azimuths)
            xi(m) = node(p)
            mu(m) = sqrt(1.0d0 - node(p)**2)*cos(omega)
            eta(m) = sqrt(1.0d0 - node(p)**2)*sin(omega)
            weight(m) = share(p)/(8*azimuths)
         end do
      end do
      weight = weight/(8.0d0*sum(weight))
   end subroutine set_angles

   ! A fixed source in the lower left half of the box, and scattering everywhere.
   subroutine set_source
      integer :: i, j, k
      do k = 1, n
         do j = 1, ny
            do i = 1, nx
               source(i, j, k) = scatter_xs*flux(i, j, k)
               if (2*(first(1) + i) <= n .and. 3*(first(2) + j) <= 2*n) &
                  source(i, j, k) = source(i, j, k) + 1.0d0
            end do
         end do
      end do
   end subroutine set_source

   subroutine sweep_octants
      integer :: sx, sy, sz, octant, m, block, k1
      integer :: from_x, to_x, from_y, to_y
      flux = 0.0d0
      leakage = 0.0d0
      do octant = 0, 7
         sx = 1 - 2*mod(octant, 2)
         sy = 1 - 2*mod(octant/2, 2)
         sz = 1 - 2*(octant/4)
         from_x = merge(west, east, sx > 0)
         to_x = merge(east, west, sx > 0)
         from_y = merge(south, north, sy > 0)
         to_y = merge(north, south, sy > 0)
         do m = 1, angles, mmi
            phikb = 0.0d0
            do block = 1, n/mk
               k1 = merge((block - 1)*mk + 1, n - (block - 1)*mk, sz > 0)
               if (from_x /= MPI_PROC_NULL) then
                  call MPI_Recv(phiib, ny*mk*mmi, MPI_DOUBLE_PRECISION, from_x, 1, comm, &
                                MPI_STATUS_IGNORE)
               else
                  phiib = 0.0d0
               end if
               if (from_y /= MPI_PROC_NULL) then
                  call MPI_Recv(phijb, nx*mk*mmi, MPI_DOUBLE_PRECISION, from_y, 2, comm, &
                                MPI_STATUS_IGNORE)
               else
                  phijb = 0.0d0
               end if
               call sweep_block(sx, sy, sz, m, k1)
               if (to_x /= MPI_PROC_NULL) then
                  call MPI_Send(phiib, ny*mk*mmi, MPI_DOUBLE_PRECISION, to_x, 1, comm)
               else
                  call leak_x(m)
               end if
               if (to_y /= MPI_PROC_NULL) then
                  call MPI_Send(phijb, nx*mk*mmi, MPI_DOUBLE_PRECISION, to_y, 2, comm)
               else
                  call leak_y(m)
               end if
            end do
            call leak_z(m)
         end do
      end do
   end subroutine sweep_octants

   ! The angles m .. m+mmi-1 through mk planes from k1 on, in the direction of the octant.
   subroutine sweep_block(sx, sy, sz, m, k1)
      integer, intent(in) :: sx, sy, sz, m, k1
      integer :: a, i, j, k, plane, ii, jj
      double precision :: cx, cy, cz, psi
      do a = 1, mmi
         cx = 2.0d0*mu(m + a - 1)/h
         cy = 2.0d0*eta(m + a - 1)/h
         cz = 2.0d0*xi(m + a - 1)/h
         do plane = 1, mk
            k = k1 + sz*(plane - 1)
            do jj = 1, ny
               j = merge(jj, ny + 1 - jj, sy > 0)
               do ii = 1, nx
                  i = merge(ii, nx + 1 - ii, sx > 0)
                  psi = (source(i, j, k) + cx*phiib(j, plane, a) + cy*phijb(i, plane, a) &
                         + cz*phikb(i, j, a))/(total_xs + cx + cy + cz)
                  phiib(j, plane, a) = 2.0d0*psi - phiib(j, plane, a)
                  phijb(i, plane, a) = 2.0d0*psi - phijb(i, plane, a)
                  phikb(i, j, a) = 2.0d0*psi - phikb(i, j, a)
                  flux(i, j, k) = flux(i, j, k) + weight(m + a - 1)*psi
               end do
            end do
         end do
      end do
   end subroutine sweep_block

   subroutine leak_x(m)
      integer, intent(in) :: m
      integer :: a
      do a = 1, mmi
         leakage = leakage + weight(m + a - 1)*mu(m + a - 1)*sum(phiib(:, :, a))*h**2
      end do
   end subroutine leak_x

   subroutine leak_y(m)
      integer, intent(in) :: m
      integer :: a
      do a = 1, mmi
         leakage = leakage + weight(m + a - 1)*eta(m + a - 1)*sum(phijb(:, :, a))*h**2
      end do
   end subroutine leak_y

   subroutine leak_z(m)
      integer, intent(in) :: m
      integer :: a
      do a = 1, mmi
         leakage = leakage + weight(m + a - 1)*xi(m + a - 1)*sum(phikb(:, :, a))*h**2
      end do
   end subroutine leak_z

end program sweep
