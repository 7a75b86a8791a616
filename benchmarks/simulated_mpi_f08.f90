! What apps/sweep needs of the module mpi_f08, which SimGrid's simulator has not: each call is that
! of Fortran 77 (fortran_calls.c, or the simulator's own). No app reads a status.
module simulated_constants
   implicit none
   include 'mpif.h'
end module simulated_constants

module mpi_f08
   use simulated_constants, only: world => MPI_COMM_WORLD, MPI_DOUBLE_PRECISION, MPI_SUM, &
                                  MPI_MAX, MPI_PROC_NULL
   implicit none
   private
   public :: MPI_Comm, MPI_Status, MPI_COMM_WORLD, MPI_STATUS_IGNORE
   public :: MPI_DOUBLE_PRECISION, MPI_SUM, MPI_MAX, MPI_PROC_NULL
   public :: MPI_Init, MPI_Finalize, MPI_Comm_rank, MPI_Comm_size, MPI_Dims_create
   public :: MPI_Cart_create, MPI_Cart_coords, MPI_Cart_shift, MPI_Barrier, MPI_Allreduce
   public :: MPI_Send, MPI_Recv, MPI_Wtime

   type MPI_Comm
      integer :: MPI_VAL
   end type MPI_Comm
   type MPI_Status
      integer :: MPI_SOURCE
   end type MPI_Status
   type(MPI_Comm), parameter :: MPI_COMM_WORLD = MPI_Comm(world)
   type(MPI_Status), parameter :: MPI_STATUS_IGNORE = MPI_Status(0)

   interface
      subroutine init(error) bind(c, name='mpi_init_')
         integer :: error
      end subroutine init
      subroutine finish(error) bind(c, name='mpi_finalize_')
         integer :: error
      end subroutine finish
      subroutine rank_in(comm, rank, error) bind(c, name='mpi_comm_rank_')
         integer :: comm, rank, error
      end subroutine rank_in
      subroutine size_of(comm, ranks, error) bind(c, name='mpi_comm_size_')
         integer :: comm, ranks, error
      end subroutine size_of
      subroutine dims_of(ranks, axes, dims, error) bind(c, name='mpi_dims_create_')
         integer :: ranks, axes, dims(*), error
      end subroutine dims_of
      subroutine grid_of(comm, axes, dims, periods, reorder, grid, error) &
         bind(c, name='mpi_cart_create_')
         integer :: comm, axes, dims(*), periods(*), reorder, grid, error
      end subroutine grid_of
      subroutine coords_of(comm, rank, axes, coords, error) bind(c, name='mpi_cart_coords_')
         integer :: comm, rank, axes, coords(*), error
      end subroutine coords_of
      subroutine neighbours(comm, axis, by, before, behind, error) bind(c, name='mpi_cart_shift_')
         integer :: comm, axis, by, before, behind, error
      end subroutine neighbours
      subroutine meet(comm, error) bind(c, name='mpi_barrier_')
         integer :: comm, error
      end subroutine meet
      subroutine reduce_all(in, out, count, datatype, operation, comm, error) &
         bind(c, name='mpi_allreduce_')
         double precision :: in(*), out(*)
         integer :: count, datatype, operation, comm, error
      end subroutine reduce_all
      subroutine send_to(data, count, datatype, to, tag, comm, error) bind(c, name='mpi_send_')
         double precision :: data(*)
         integer :: count, datatype, to, tag, comm, error
      end subroutine send_to
      subroutine receive(data, count, datatype, from, tag, comm, status, error) &
         bind(c, name='mpi_recv_')
         double precision :: data(*)
         integer :: count, datatype, from, tag, comm, status, error
      end subroutine receive
      function clock() bind(c, name='mpi_wtime_')
         double precision :: clock
      end function clock
   end interface

contains

   subroutine MPI_Init
      integer :: error
      call init(error)
   end subroutine MPI_Init

   subroutine MPI_Finalize
      integer :: error
      call finish(error)
   end subroutine MPI_Finalize

   subroutine MPI_Comm_rank(comm, rank)
      type(MPI_Comm), intent(in) :: comm
      integer, intent(out) :: rank
      integer :: error
      call rank_in(comm%MPI_VAL, rank, error)
   end subroutine MPI_Comm_rank

   subroutine MPI_Comm_size(comm, ranks)
      type(MPI_Comm), intent(in) :: comm
      integer, intent(out) :: ranks
      integer :: error
      call size_of(comm%MPI_VAL, ranks, error)
   end subroutine MPI_Comm_size

   subroutine MPI_Dims_create(ranks, axes, dims)
      integer, intent(in) :: ranks, axes
      integer, intent(inout) :: dims(axes)
      integer :: error
      call dims_of(ranks, axes, dims, error)
   end subroutine MPI_Dims_create

   subroutine MPI_Cart_create(comm, axes, dims, periods, reorder, grid)
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: axes, dims(axes)
      logical, intent(in) :: periods(axes), reorder
      type(MPI_Comm), intent(out) :: grid
      integer :: error
      call grid_of(comm%MPI_VAL, axes, dims, merge(1, 0, periods), merge(1, 0, reorder), &
                   grid%MPI_VAL, error)
   end subroutine MPI_Cart_create

   subroutine MPI_Cart_coords(comm, rank, axes, coords)
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: rank, axes
      integer, intent(out) :: coords(axes)
      integer :: error
      call coords_of(comm%MPI_VAL, rank, axes, coords, error)
   end subroutine MPI_Cart_coords

   subroutine MPI_Cart_shift(comm, axis, by, before, behind)
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: axis, by
      integer, intent(out) :: before, behind
      integer :: error
      call neighbours(comm%MPI_VAL, axis, by, before, behind, error)
   end subroutine MPI_Cart_shift

   subroutine MPI_Barrier(comm)
      type(MPI_Comm), intent(in) :: comm
      integer :: error
      call meet(comm%MPI_VAL, error)
   end subroutine MPI_Barrier

   subroutine MPI_Allreduce(in, out, count, datatype, operation, comm)
      double precision, intent(in) :: in(*)
      double precision, intent(out) :: out(*)
      integer, intent(in) :: count, datatype, operation
      type(MPI_Comm), intent(in) :: comm
      integer :: error
      call reduce_all(in, out, count, datatype, operation, comm%MPI_VAL, error)
   end subroutine MPI_Allreduce

   subroutine MPI_Send(data, count, datatype, to, tag, comm)
      double precision, intent(in) :: data(*)
      integer, intent(in) :: count, datatype, to, tag
      type(MPI_Comm), intent(in) :: comm
      integer :: error
      call send_to(data, count, datatype, to, tag, comm%MPI_VAL, error)
   end subroutine MPI_Send

   subroutine MPI_Recv(data, count, datatype, from, tag, comm, status)
      double precision, intent(inout) :: data(*)
      integer, intent(in) :: count, datatype, from, tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Status), intent(in) :: status
      integer :: error
      call receive(data, count, datatype, from, tag, comm%MPI_VAL, status%MPI_SOURCE, error)
   end subroutine MPI_Recv

   double precision function MPI_Wtime()
      MPI_Wtime = clock()
   end function MPI_Wtime

end module mpi_f08
