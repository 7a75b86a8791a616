! In the style of hydrodynamics mini-apps: chunks with neighbours, packed faces, messages counted.
module definitions
  implicit none
  integer, parameter :: chunk_left = 1, chunk_right = 2, chunk_bottom = 3, chunk_top = 4
  integer, parameter :: external_face = -1
  type field_type
    double precision, allocatable :: density(:,:), energy(:,:), pressure(:,:)
  end type
  type chunk_type
    integer :: task
    integer :: neighbours(4)
    integer :: x_min, x_max, y_min, y_max
    type(field_type) :: field
    double precision, allocatable :: left_snd(:), left_rcv(:), right_snd(:), right_rcv(:)
    double precision, allocatable :: bottom_snd(:), bottom_rcv(:), top_snd(:), top_rcv(:)
  end type
  type(chunk_type) :: chunk
end module
module comms
  use mpi
  use definitions
  implicit none
  integer :: rank, np
contains
  subroutine clover_exchange(depth)
    integer, intent(in) :: depth
    integer :: request(4), message_count, status(MPI_STATUS_SIZE, 4), err
    integer :: size_x
    message_count = 0
    request = 0
    size_x = depth*(chunk%y_max + 2*depth)
    if (chunk%neighbours(chunk_left) /= external_face) then
      call pack_left(chunk%field%density, depth)
      call send_recv_left(size_x, 1, 2, request(message_count+1), request(message_count+2))
      message_count = message_count + 2
    end if
    if (chunk%neighbours(chunk_right) /= external_face) then
      call pack_right(chunk%field%density, depth)
      call send_recv_right(size_x, 2, 1, request(message_count+1), request(message_count+2))
      message_count = message_count + 2
    end if
    call MPI_Waitall(message_count, request, status, err)
    if (chunk%neighbours(chunk_left) /= external_face) then
      call unpack_left(chunk%field%density, depth)
    end if
    if (chunk%neighbours(chunk_right) /= external_face) then
      call unpack_right(chunk%field%density, depth)
    end if
  end subroutine
  subroutine pack_left(f, depth)
    double precision, intent(in) :: f(chunk%x_min-2:chunk%x_max+2, chunk%y_min-2:chunk%y_max+2)
    integer, intent(in) :: depth
    integer :: j, k, i
    do k = chunk%y_min - depth, chunk%y_max + depth
      do j = 1, depth
        i = j + (k + depth - 1)*depth
        chunk%left_snd(i) = f(chunk%x_min + j - 1, k)
      end do
    end do
  end subroutine
  subroutine pack_right(f, depth)
    double precision, intent(in) :: f(chunk%x_min-2:chunk%x_max+2, chunk%y_min-2:chunk%y_max+2)
    integer, intent(in) :: depth
    integer :: j, k, i
    do k = chunk%y_min - depth, chunk%y_max + depth
      do j = 1, depth
        i = j + (k + depth - 1)*depth
        chunk%right_snd(i) = f(chunk%x_max - depth + j, k)
      end do
    end do
  end subroutine
  subroutine unpack_left(f, depth)
    double precision, intent(inout) :: f(chunk%x_min-2:chunk%x_max+2, chunk%y_min-2:chunk%y_max+2)
    integer, intent(in) :: depth
    integer :: j, k, i
    do k = chunk%y_min - depth, chunk%y_max + depth
      do j = 1, depth
        i = j + (k + depth - 1)*depth
        f(chunk%x_min - depth + j - 1, k) = chunk%left_rcv(i)
      end do
    end do
  end subroutine
  subroutine unpack_right(f, depth)
    double precision, intent(inout) :: f(chunk%x_min-2:chunk%x_max+2, chunk%y_min-2:chunk%y_max+2)
    integer, intent(in) :: depth
    integer :: j, k, i
    do k = chunk%y_min - depth, chunk%y_max + depth
      do j = 1, depth
        i = j + (k + depth - 1)*depth
        f(chunk%x_max + j, k) = chunk%right_rcv(i)
      end do
    end do
  end subroutine
  subroutine send_recv_left(total_size, tag_send, tag_recv, req_send, req_recv)
    integer, intent(in) :: total_size, tag_send, tag_recv
    integer, intent(out) :: req_send, req_recv
    integer :: left_task, err
    left_task = chunk%neighbours(chunk_left)
    call MPI_Isend(chunk%left_snd, total_size, MPI_DOUBLE_PRECISION, left_task, tag_send, &
        MPI_COMM_WORLD, req_send, err)
    call MPI_Irecv(chunk%left_rcv, total_size, MPI_DOUBLE_PRECISION, left_task, tag_recv, &
        MPI_COMM_WORLD, req_recv, err)
  end subroutine
  subroutine send_recv_right(total_size, tag_send, tag_recv, req_send, req_recv)
    integer, intent(in) :: total_size, tag_send, tag_recv
    integer, intent(out) :: req_send, req_recv
    integer :: right_task, err
    right_task = chunk%neighbours(chunk_right)
    call MPI_Isend(chunk%right_snd, total_size, MPI_DOUBLE_PRECISION, right_task, tag_send, &
        MPI_COMM_WORLD, req_send, err)
    call MPI_Irecv(chunk%right_rcv, total_size, MPI_DOUBLE_PRECISION, right_task, tag_recv, &
        MPI_COMM_WORLD, req_recv, err)
  end subroutine
end module
module kernels
  use definitions
  implicit none
contains
  subroutine ideal_gas(density, energy, pressure)
    double precision, intent(in) :: density(-1:), energy(-1:)
    double precision, intent(out) :: pressure(-1:)
    integer :: i
    do i = 1, size(density) - 4
      pressure(i) = 0.4d0*density(i)*energy(i)
    end do
  end subroutine
  subroutine advec(x_min, x_max, y_min, y_max, density, work)
    integer, intent(in) :: x_min, x_max, y_min, y_max
    double precision, intent(in) :: density(x_min-2:x_max+2, y_min-2:y_max+2)
    double precision, intent(out) :: work(x_min-2:x_max+2, y_min-2:y_max+2)
    integer :: j, k
    do k = y_min, y_max
      do j = x_min, x_max
        work(j, k) = 0.5d0*density(j, k) + 0.25d0*(density(j-1, k) + density(j+1, k))
      end do
    end do
  end subroutine
  subroutine update(x_min, x_max, y_min, y_max, density, work)
    integer, intent(in) :: x_min, x_max, y_min, y_max
    double precision, intent(inout) :: density(x_min-2:x_max+2, y_min-2:y_max+2)
    double precision, intent(in) :: work(x_min-2:x_max+2, y_min-2:y_max+2)
    integer :: j, k
    do k = y_min, y_max
      do j = x_min, x_max
        density(j, k) = work(j, k)
      end do
    end do
  end subroutine
  subroutine pdv(x_min, x_max, y_min, y_max, energy)
    integer, intent(in) :: x_min, x_max, y_min, y_max
    double precision, intent(inout) :: energy(x_min-2:x_max+2, y_min-2:y_max+2)
    integer :: j, k
    do k = y_min, y_max
      do j = x_min, x_max
        energy(j, k) = 0.9d0*energy(j, k) + 1d0
      end do
    end do
  end subroutine
end module
program main
  use mpi
  use definitions
  use comms
  use kernels
  implicit none
  integer :: ierr, step, j, k
  double precision :: s
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
  chunk%task = rank
  chunk%neighbours = external_face
  if (rank > 0) chunk%neighbours(chunk_left) = rank - 1
  if (rank < np - 1) chunk%neighbours(chunk_right) = rank + 1
  chunk%x_min = 1; chunk%x_max = 20; chunk%y_min = 1; chunk%y_max = 16
  allocate(chunk%field%density(-1:22, -1:18), chunk%field%energy(-1:22, -1:18))
  allocate(chunk%field%pressure(-1:22, -1:18))
  allocate(chunk%left_snd(64), chunk%left_rcv(64), chunk%right_snd(64), chunk%right_rcv(64))
  do k = -1, 18
    do j = -1, 22
      chunk%field%density(j, k) = mod(j*7 + k*3 + rank*5 + 100, 17)
      chunk%field%energy(j, k) = mod(j*5 + k*2 + 100, 7)
      chunk%field%pressure(j, k) = 0
    end do
  end do
  do step = 1, 5
    call clover_exchange(2)
    call pdv(chunk%x_min, chunk%x_max, chunk%y_min, chunk%y_max, chunk%field%energy)
    call advec(chunk%x_min, chunk%x_max, chunk%y_min, chunk%y_max, chunk%field%density, &
        chunk%field%pressure)
    call update(chunk%x_min, chunk%x_max, chunk%y_min, chunk%y_max, chunk%field%density, &
        chunk%field%pressure)
  end do
  s = sum(chunk%field%density) + sum(chunk%field%energy)
  print *, 'chunks:', rank, s
  call MPI_Finalize(ierr)
end program
