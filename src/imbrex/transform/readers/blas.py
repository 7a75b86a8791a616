"""BLAS and LAPACK, which a program calls without their sources: what they do to their arguments.

They call no MPI and keep no address. The orders of arguments are those of the reference BLAS
(netlib.org/blas) and of LAPACK's users' guide; CBLAS has the layout as one argument more in front
of matrices. What is distributed (PBLAS, ScaLAPACK, BLACS) communicates and is not listed.
"""

from __future__ import annotations

# A letter for each argument: it is read (r), or read and set (b). Routines of one line differ in
# names alone; `?` stands for the types in front of the colon.
_VECTORS = """
sdcz: ?axpy rrrrbr
sdcz: ?scal rrbr
sdcz: ?copy rrrbr
sdcz: ?swap rbrbr
sd: ?dot rrrrr
sd: ?nrm2 ?asum rrr
sdcz: i?amax rrr
sd: ?rot rbrbrrr
sd: ?rotg bbbb
sd: ?rotm rbrbrr
sd: ?rotmg bbbrb
-: csscal zdscal rrbr
-: scnrm2 dznrm2 scasum dzasum rrr
-: dsdot rrrrr
-: sdsdot rrrrrr
"""
_MATRICES = """
sdcz: ?gemv rrrrrrrrrbr
sdcz: ?gbmv rrrrrrrrrrrbr
sd: ?symv rrrrrrrrbr
cz: ?hemv rrrrrrrrbr
sd: ?sbmv rrrrrrrrrbr
cz: ?hbmv rrrrrrrrrbr
sd: ?spmv rrrrrrrbr
cz: ?hpmv rrrrrrrbr
sdcz: ?trmv ?trsv rrrrrrbr
sdcz: ?tbmv ?tbsv rrrrrrrbr
sdcz: ?tpmv ?tpsv rrrrrbr
sd: ?ger ?syr2 rrrrrrrbr
cz: ?geru ?gerc ?her2 rrrrrrrbr
sd: ?syr rrrrrbr
cz: ?her rrrrrbr
sd: ?spr rrrrrb
cz: ?hpr rrrrrb
sd: ?spr2 rrrrrrrb
cz: ?hpr2 rrrrrrrb
sdcz: ?gemm rrrrrrrrrrrbr
sdcz: ?symm ?syr2k rrrrrrrrrrbr
cz: ?hemm ?her2k rrrrrrrrrrbr
sdcz: ?syrk rrrrrrrrbr
cz: ?herk rrrrrrrrbr
sdcz: ?trmm ?trsm rrrrrrrrrbr
"""
_LAPACK = """
sdcz: ?getrf rrbrbb
sdcz: ?getrs rrrrrrbrb
sdcz: ?gesv rrbrbbrb
sdcz: ?potrf rrbrb
sdcz: ?potrs rrrrrbrb
sdcz: ?gtsv rrbbbbrb
sd: ?pttrf rbbb
sd: ?pttrs rrrrbrb
sdcz: ?lacpy rrrrrbr
sdcz: ?laset rrrrrbr
sdcz: ?laswp rbrrrrr
"""
# Of these only that they call no MPI; complex functions return their value in ways that differ.
_FURTHER = """
gecon gerfs geequ gbsv gbtrf gbtrs gttrf gttrs posv potri pocon pbsv pbtrf pbtrs ptsv getri
sysv sytrf sytrs sytri hesv hetrf hetrs hetri gels gelsd gelss gelsy geqrf geqp3 gelqf
orgqr ormqr ungqr unmqr orglq ormlq unglq unmlq syev syevd syevr syevx heev heevd heevr heevx
geev geevx gees geesx gesvd gesdd sygv sygvd sygvx hegv hegvd hegvx ggev ggevx sbev hbev spev hpev
stev stevd stevr stevx steqr sterf stebz stein stedc stemr sytrd hetrd orgtr ungtr gehrd hseqr
trtri trtrs trcon trevc lange lansy lanhe lantr lascl larnv lartg larfg larf larft larfb lassq
ladiv lapy2 lapy3 lamch dotu dotc
"""

Effects = dict[str, dict[int, str]]


def _effects(table: str) -> Effects:
    found: Effects = {}
    for line in table.split("\n"):
        types, _, rest = line.partition(": ")
        *names, modes = rest.split() or [""]
        for name in names:
            for letter in types:
                found[name.replace("?", letter)] = {
                    at: "rw" if mode == "b" else "r" for at, mode in enumerate(modes)
                }
    return found


def _behind_layout(effects: dict[int, str]) -> dict[int, str]:
    return {0: "r"} | {at + 1: mode for at, mode in effects.items()}


_BLAS, _BLAS_OF_MATRICES = _effects(_VECTORS), _effects(_MATRICES)
_ALL = _BLAS | _BLAS_OF_MATRICES | _effects(_LAPACK)
_NAMES = [letter + name for name in _FURTHER.split() for letter in "sdcz"] + ["csrot", "zdrot"]

FORTRAN_EFFECTS: Effects = _ALL
FORTRAN_NO_MPI = frozenset([*_NAMES, "ilaenv", "lsame", "xerbla"])

# From C: Fortran's names with an underscore, and CBLAS.
C_EFFECTS: Effects = (
    {f"{name}_": effects for name, effects in _ALL.items()}
    | {f"cblas_{name}": effects for name, effects in _BLAS.items()}
    | {f"cblas_{name}": _behind_layout(effects) for name, effects in _BLAS_OF_MATRICES.items()}
)
C_NO_MPI = frozenset(
    [
        *(f"{name}_" for name in FORTRAN_NO_MPI),
        *(f"cblas_{letter}{name}_sub" for letter in "cz" for name in ("dotu", "dotc")),
        *(f"LAPACKE_{name}" for name in [*_NAMES, *_effects(_LAPACK)]),
    ]
)
