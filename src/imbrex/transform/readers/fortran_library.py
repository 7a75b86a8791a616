"""Fortran's intrinsic procedures, as far as the analysis must know them."""

from __future__ import annotations

_NAMES = """
abs achar acos adjustl adjustr aimag aint all allocated amax0 amax1 amin0 amin1 amod anint any asin
associated atan atan2 bit_size btest cabs ceiling char cmplx conjg cos cosh count cshift dabs dacos
dasin datan datan2 dble dcmplx dconjg dcos dcosh ddim dexp digits dim dimag dint dlog dlog10 dmax1
dmin1 dmod dnint dot_product dprod dreal dsign dsin dsinh dsqrt dtan dtanh eoshift epsilon erf erfc
exp exponent float floor fraction gamma huge iabs iachar iand ibclr ibits ibset ichar idim idint
idnint ieor ifix index int int2 int8 ior ishft ishftc isign is_contiguous isnan kind lbound len
len_trim lge lgt lle llt log log10 log_gamma logical maskl matmul max max0 max1 maxloc maxval merge
min min0 min1 minexponent minloc minval mod modulo nearest nint not norm2 null pack popcnt precision
present product radix range real repeat reshape rrspacing scale scan selected_int_kind
selected_real_kind shape shiftl shiftr sign sin sinh size sngl spacing spread sqrt storage_size sum
tan tanh tiny transfer transpose trim ubound unpack verify zabs zexp zsqrt iargc
command_argument_count new_line
acosh asinh atanh bessel_j0 bessel_j1 bessel_jn bessel_y0 bessel_y1 bessel_yn bge bgt ble blt
dshiftl dshiftr erfc_scaled findloc hypot iall iany is_iostat_end is_iostat_eor
leadz logical maskr merge_bits out_of_range parity popcnt poppar rank same_type_as
extends_type_of selected_char_kind selected_logical_kind shifta trailz
alog alog10 ccos cexp clog csin csqrt dconjg derf derfc dacosh dasinh datanh dfloat dgamma dlgama
algama int1 int4 zcos zlog zsin
cdabs cdcos cdexp cdlog cdsin cdsqrt complex imag imagpart lnblnk realpart xor
besj0 besj1 besjn besy0 besy1 besyn dbesj0 dbesj1 dbesjn dbesy0 dbesy1 dbesyn
acosd asind atand atan2d cosd cotan cotand sind tand dcosd dsind dtand lshift rshift sizeof isnan
"""
# Functions of the intrinsic modules, by module.
_OF_MODULES = {
    "ieee_arithmetic": """
ieee_class ieee_copy_sign ieee_is_finite ieee_is_nan ieee_is_negative ieee_is_normal
ieee_logb ieee_next_after ieee_rem ieee_rint ieee_scalb ieee_selected_real_kind
ieee_support_datatype ieee_support_denormal ieee_support_divide ieee_support_inf
ieee_support_io ieee_support_nan ieee_support_rounding ieee_support_sqrt ieee_support_standard
ieee_support_underflow_control ieee_unordered ieee_value ieee_signbit ieee_quiet_eq ieee_fma
""",
    "ieee_exceptions": "ieee_support_flag ieee_support_halting",
    "iso_c_binding": "c_associated c_sizeof",
    "iso_fortran_env": "compiler_options compiler_version",
    "omp_lib": """
omp_get_wtime omp_get_wtick omp_get_thread_num omp_get_num_threads omp_get_max_threads
omp_get_num_procs omp_in_parallel omp_get_dynamic omp_get_nested omp_get_level
omp_get_team_num omp_get_num_teams omp_get_num_devices omp_get_default_device
omp_is_initial_device
""",
}
MODULES = frozenset(_OF_MODULES)
FUNCTIONS = frozenset(_NAMES.split())
MODULE_FUNCTIONS = {name: frozenset(text.split()) for name, text in _OF_MODULES.items()}
"""Functions that a scope knows where it uses the module."""

SUBROUTINES: dict[str, dict[int, str]] = {
    "random_number": {0: "w"},
    "cpu_time": {0: "w"},
    "system_clock": {0: "w", 1: "w", 2: "w"},
    "mvbits": {0: "r", 3: "w"},
}
# Subroutines that use a state of the library's own: two of them do not change places.
STATES = {"random_number": "random_number"}
# Subroutines whose effects are not described, but that call no MPI.
NO_MPI = frozenset(
    {
        "get_command_argument",
        "get_command",
        "get_environment_variable",
        "date_and_time",
        "random_seed",
        "getarg",
        "getenv",
        "exit",
        "abort",
        "flush",
        # Of the intrinsic modules and of OpenMP.
        "c_f_pointer",
        "c_f_procpointer",
        "c_loc",
        "c_funloc",
        "ieee_get_flag",
        "ieee_get_halting_mode",
        "ieee_get_rounding_mode",
        "ieee_get_status",
        "ieee_get_underflow_mode",
        "ieee_set_flag",
        "ieee_set_halting_mode",
        "ieee_set_rounding_mode",
        "ieee_set_status",
        "ieee_set_underflow_mode",
        "omp_set_num_threads",
        "omp_set_dynamic",
        "omp_set_nested",
        "omp_set_schedule",
        "omp_init_lock",
        "omp_destroy_lock",
        "omp_set_lock",
        "omp_unset_lock",
        "omp_get_wtime",
        "omp_get_wtick",
        # Of GNU Fortran and of other compilers.
        "etime",
        "dtime",
        "dsecnds",
        "secnds",
        "time8",
        "mclock",
        "mclock8",
        "rand",
        "irand",
        "srand",
        "ran",
        "idate",
        "itime",
        "ltime",
        "gmtime",
        "fdate",
        "ctime",
        "hostnm",
        "getcwd",
        "getlog",
        "getpid",
        "getuid",
        "getgid",
        "sleep",
        "isatty",
        "ttynam",
        "fstat",
        "lstat",
        "stat",
        "chdir",
        "chmod",
        "unlink",
        "rename",
        "umask",
        "access",
        "fget",
        "fgetc",
        "fput",
        "fputc",
        "fseek",
        "ftell",
        "perror",
        "ierrno",
        "gerror",
        "backtrace",
        "loc",
        "move_alloc",
    }
)
OPERATORS = frozenset(
    ["eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not", "eqv", "neqv", "true", "false"]
)
