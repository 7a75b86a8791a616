! Naming parts of a Fortran program for Imbrex: docs/guide/interfaces.md.
!
! Add this file to the program's sources and compile it with the program's own compiler (Fortran 2003). Nothing else is
! linked, and without the Imbrex runtime in the process the calls do nothing.
!
!   Fortran 90 and later:   use imbrex                  Fortran 77:   external subroutines of the same names
!                           call imbrex_begin('halo')                 call imbrex_begin('halo')
!                           call imbrex_end('halo')                   call imbrex_end('halo')
!
! Sections nest, per thread. Trailing blanks of a name do not count.
module imbrex
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_procpointer, c_funptr, c_null_char, c_null_ptr, &
      c_ptr, c_size_t
  implicit none
  private
  public :: imbrex_begin, imbrex_end, imbrex_present

  abstract interface
    subroutine section_call(name, length) bind(c)
      import :: c_char, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: length
    end subroutine section_call
  end interface

  interface
    ! A null handle is RTLD_DEFAULT on Linux: the first definition in the process, the runtime's if it is there. Looked
    ! up while the program runs because Fortran has no portable weak reference.
    function dlsym(handle, symbol) bind(c, name='dlsym') result(address)
      import :: c_char, c_funptr, c_ptr
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: symbol(*)
      type(c_funptr) :: address
    end function dlsym
  end interface

  ! Several threads may look up at once: they all find the same, and `known` is set last.
  logical, volatile, save :: known = .false.
  procedure(section_call), pointer, save :: begin_section => null()
  procedure(section_call), pointer, save :: end_section => null()

contains

  ! Enters the section `name` of the calling thread.
  subroutine imbrex_begin(name)
    character(len=*), intent(in) :: name
    if (.not. known) call look_up()
    if (associated(begin_section)) call begin_section(name, len_trim(name, kind=c_size_t))
  end subroutine imbrex_begin

  ! Leaves the section `name`; the runtime counts it as a mistake if that is not the innermost open one.
  subroutine imbrex_end(name)
    character(len=*), intent(in) :: name
    if (.not. known) call look_up()
    if (associated(end_section)) call end_section(name, len_trim(name, kind=c_size_t))
  end subroutine imbrex_end

  ! Whether the runtime is in this process.
  function imbrex_present() result(present_here)
    logical :: present_here
    if (.not. known) call look_up()
    present_here = associated(begin_section)
  end function imbrex_present

  subroutine look_up()
    type(c_funptr) :: begin_address, end_address
    begin_address = dlsym(c_null_ptr, 'imbrex_section_begin' // c_null_char)
    end_address = dlsym(c_null_ptr, 'imbrex_section_end' // c_null_char)
    if (c_associated(begin_address) .and. c_associated(end_address)) then
      call c_f_procpointer(begin_address, begin_section)
      call c_f_procpointer(end_address, end_section)
    end if
    known = .true.
  end subroutine look_up

end module imbrex

! For callers without modules. They need no interface: the arguments are plain CHARACTER values.
subroutine imbrex_begin(name)
  use imbrex, only: begin_in_module => imbrex_begin
  implicit none
  character(len=*), intent(in) :: name
  call begin_in_module(name)
end subroutine imbrex_begin

subroutine imbrex_end(name)
  use imbrex, only: end_in_module => imbrex_end
  implicit none
  character(len=*), intent(in) :: name
  call end_in_module(name)
end subroutine imbrex_end
