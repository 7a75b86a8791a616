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
"""
FUNCTIONS = frozenset(_NAMES.split())
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
    }
)
OPERATORS = frozenset(
    ["eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not", "eqv", "neqv", "true", "false"]
)
