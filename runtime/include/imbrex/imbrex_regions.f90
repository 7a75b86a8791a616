! Marking where a message is produced and consumed, for Imbrex: docs/guide/interfaces.md.
!
! Beside imbrex.f90 for programs that want these marks: buffers may be of any type, which needs Fortran 2018 (assumed
! type). Nothing else is linked, and without the Imbrex runtime in the process the calls do nothing.
!
!   Fortran 90 and later:   use imbrex_regions          Fortran 77:   external subroutines of the same names
!                           call imbrex_produce_begin('edge')
!                           call imbrex_produce_end('edge', out, n)
module imbrex_regions
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_procpointer, c_funptr, c_int, c_null_char, &
      c_null_ptr, c_ptr, c_size_t
  implicit none
  private
  public :: imbrex_produce_begin, imbrex_produce_end, imbrex_consume_begin, imbrex_consume_end

  abstract interface
    subroutine region_call(which, name, length, buffer, elements) bind(c)
      import :: c_char, c_int, c_size_t
      integer(c_int), value :: which
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: length, elements
      type(*), intent(in) :: buffer(*)
    end subroutine region_call
  end interface

  interface
    ! A null handle is RTLD_DEFAULT on Linux: the first definition in the process, the runtime's if it is there.
    function dlsym(handle, symbol) bind(c, name='dlsym') result(address)
      import :: c_char, c_funptr, c_ptr
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: symbol(*)
      type(c_funptr) :: address
    end function dlsym
  end interface

  ! Several threads may look up at once: they all find the same, and `known` is set last.
  logical, volatile, save :: known = .false.
  procedure(region_call), pointer, save :: mark_region => null()

contains

  ! The data of a message are produced between these two: `elements` of those in `buffer` (an array, or an element of
  ! the array that is sent). The name says which message.
  subroutine imbrex_produce_begin(name)
    character(len=*), intent(in) :: name
    call mark(0_c_int, name, [0], 0)
  end subroutine imbrex_produce_begin

  subroutine imbrex_produce_end(name, buffer, elements)
    character(len=*), intent(in) :: name
    type(*), intent(in) :: buffer(*)
    integer, intent(in) :: elements
    call mark(1_c_int, name, buffer, elements)
  end subroutine imbrex_produce_end

  ! The message that was received into `buffer` is read between these two.
  subroutine imbrex_consume_begin(name, buffer)
    character(len=*), intent(in) :: name
    type(*), intent(in) :: buffer(*)
    call mark(2_c_int, name, buffer, 0)
  end subroutine imbrex_consume_begin

  subroutine imbrex_consume_end(name, elements)
    character(len=*), intent(in) :: name
    integer, intent(in) :: elements
    call mark(3_c_int, name, [0], elements)
  end subroutine imbrex_consume_end

  subroutine mark(which, name, buffer, elements)
    integer(c_int), intent(in) :: which
    character(len=*), intent(in) :: name
    type(*), intent(in) :: buffer(*)
    integer, intent(in) :: elements
    if (.not. known) call look_up()
    if (associated(mark_region)) call mark_region(which, name, len_trim(name, kind=c_size_t), buffer, &
        int(elements, c_size_t))
  end subroutine mark

  subroutine look_up()
    type(c_funptr) :: address
    address = dlsym(c_null_ptr, 'imbrex_access_region' // c_null_char)
    if (c_associated(address)) call c_f_procpointer(address, mark_region)
    known = .true.
  end subroutine look_up

end module imbrex_regions

! For callers without modules.
subroutine imbrex_produce_begin(name)
  use imbrex_regions, only: in_module => imbrex_produce_begin
  implicit none
  character(len=*), intent(in) :: name
  call in_module(name)
end subroutine imbrex_produce_begin

subroutine imbrex_produce_end(name, buffer, elements)
  use imbrex_regions, only: in_module => imbrex_produce_end
  implicit none
  character(len=*), intent(in) :: name
  type(*), intent(in) :: buffer(*)
  integer, intent(in) :: elements
  call in_module(name, buffer, elements)
end subroutine imbrex_produce_end

subroutine imbrex_consume_begin(name, buffer)
  use imbrex_regions, only: in_module => imbrex_consume_begin
  implicit none
  character(len=*), intent(in) :: name
  type(*), intent(in) :: buffer(*)
  call in_module(name, buffer)
end subroutine imbrex_consume_begin

subroutine imbrex_consume_end(name, elements)
  use imbrex_regions, only: in_module => imbrex_consume_end
  implicit none
  character(len=*), intent(in) :: name
  integer, intent(in) :: elements
  call in_module(name, elements)
end subroutine imbrex_consume_end
