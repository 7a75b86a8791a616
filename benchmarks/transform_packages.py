"""Which files of a source package are one program, and the flags that its makefile has for them.

Patterns are of paths below the package; `examples` of a package are named `package:example`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Selection:
    files: tuple[str, ...]
    without: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    def paths(self, tree: Path) -> list[Path]:
        left = {path for pattern in self.without for path in tree.glob(pattern)}
        return sorted({path for p in self.files for path in tree.glob(p)} - left)


_PHYML = (
    "main utilities optimiz lk bionj models free help simu eigen pars alrt interface cl spr draw "
    "stats io make nexus init xml mixt tbe sse avx ancestral mpi_boot"
)
_PUZZLE = (
    "gamma ml1 ml2 mlparam model1 model2 puzzle1 puzzle2 pstep sched util consensus treesort "
    "treetest ppuzzle"
)


def _sources(folder: str, names: str) -> tuple[str, ...]:
    return tuple(f"*/{folder}/{name}.c" for name in names.split())


def _noise(name: str) -> Selection:
    return Selection((f"*/{name}/*.c",))


SELECTIONS = {
    "mocassin": Selection(
        ("*/source/*_mod.f90", "*/source/mocassin.f90"), (), ('-DPREFIX="/usr"',)
    ),
    "mpgrafic": Selection(
        ("*/src/*.f90", "*/src/*.c"), ("*/src/transform_single.f90",), ("-DDOUB",)
    ),
    "examl": Selection(
        ("*/examl/*.c",),
        ("*/examl/avxLikelihood.c", "*/examl/mic_native*.c"),
        ("-D_GNU_SOURCE", "-D__SIM_SSE3", "-msse3", "-D_OPTIMIZED_FUNCTIONS", "-D_USE_ALLREDUCE"),
    ),
    "phyml": Selection(_sources("src", _PHYML), (), ("-DPHYML", "-DMPI", "-DUNIX")),
    "spooles": Selection(("*/src/*.c", "MPI/drivers/allInOneMPI.c"), ("MT/src/*.c",), ()),
    "tree-puzzle": Selection((*_sources("src", _PUZZLE), "*/src/sprng/*.c"), (), ("-DPARALLEL",)),
    "mrbayes": Selection(("*/src/*.c",), (), ("-DMPI_ENABLED",)),
    "netpipe": Selection(("*/src/netpipe.c", "*/src/mpi.c"), (), ("-DMPI",)),
    "fftw": Selection(
        ("*/fftw/*.c", "*/rfftw/*.c", "*/mpi/*.c", "*/tests/test_main.c"),
        ("*/mpi/test_*.c", "*/mpi/rfftw_mpi_test.c"),
    ),
    "ampliconnoise:PyroDist": _noise("PyroDist"),
    "ampliconnoise:SeqDist": _noise("SeqDist"),
    "ampliconnoise:NDist": _noise("NDist"),
    "ampliconnoise:PyroNoiseM": _noise("PyroNoiseM"),
    "oasis3": Selection(
        ("*/lib/mct/mct/*.F90", "*/lib/mct/mpeu/*.F90", "*/lib/mct/examples/climate_concur1/*.F90"),
    ),
    "gerris": Selection(("*/src/*.c",)),
}
