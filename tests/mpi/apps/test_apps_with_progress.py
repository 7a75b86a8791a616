"""The mini-apps behind `imbrex-exec --progress`: what they print has the same bits as without.

With looks as often as they go, over TCP, where large messages move only inside calls. Without, as
the library is set: plain runs of MPICH 4.0 over TCP hang in MPI_Finalize now and then.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from imbrex.mpi_environment import native
from imbrex.mpi_environment.launcher_line import parse_launcher_line
from imbrex.mpi_environment.mpi_library import library_of_launcher

pytestmark = pytest.mark.untimed

CASES: dict[str, tuple[list[str], tuple[str | None, ...]]] = {
    "halo2d": (["--n", "100", "--steps", "4"], ("late-wait", "overlapped")),
    "halo3d": (["--n", "48", "--steps", "3"], ("late-wait", "overlapped")),
    "cg": (["--n", "8"], ("overlapped",)),
    "wavefront": (["--n", "8", "--nz", "6", "--planes", "3", "--sweeps", "1"], ("overlapped",)),
    "bucket": (["--log-keys", "10", "--iterations", "2"], (None,)),
    "fft": (["--n", "8", "--steps", "1"], (None,)),
    "bossworker": (["--cells", "2"], (None,)),
    "ssor": (["--n", "8"], (None,)),
    "mg": (["--n", "8", "--cycles", "1"], (None,)),
    "line": (["--n", "8", "--chunk", "64"], (None,)),
    "sweep": (["--n", "6", "--planes", "3"], (None,)),
}
"""Options that take well under a second, and the variants that begin messages early."""
LOOKED_AT = {
    "halo2d": ["--n", "2200", "--steps", "2", "--variant", "overlapped"],
    "line": ["--n", "24", "--chunk", "288"],
}
"""Large messages, and computation for longer than a look's interval while they are open."""
OPTIONS = ("--progress=300", "--progress-share=100")
TCP = {"OMPI_MCA_btl": "tcp,self", "UCX_TLS": "tcp,self", "IMBREX_PROGRESS_TELL": "1"}
TIMED = re.compile(r"^time: +\S+ s|^boss computed .*|\d+ evaluations", re.MULTILINE)
"""What differs from run to run."""


def script(library: str) -> Path:
    """imbrex-exec of the runtime for this library."""
    line = parse_launcher_line([f"mpirun.{library}", "-n", "2", "true"])
    return native.build("runtime", library_of_launcher(line)) / "bin" / "imbrex-exec"


def printed_by(apps, execute, ranks, program, prefix=()):
    """What an app printed, but for times; how often its progress threads looked."""
    words = apps.line(ranks, *program)
    place = words.index(str(apps.folder / program[0]))
    binding = ["--bind-to", "none"] if apps.library == "openmpi" else []
    line = [words[0], *binding, *words[1:place], *prefix, *words[place:]]
    done = execute(line, environment=TCP if prefix else {})
    assert (done.exit_code, done.verdict) == (0, "PASSED"), done
    looks = re.findall(r"progress thread: (\d+) looks", done.errors)
    assert len(looks) == (ranks if prefix else 0), done.errors
    return TIMED.sub("", done.output), sum(map(int, looks))


# Four ranks of MPICH, which spin, take turns on two cores most of their time.
@pytest.mark.parametrize(
    ("ranks", "libraries"), [(1, ("mpich",)), (2, ("openmpi", "mpich")), (4, ("openmpi",))]
)
@pytest.mark.parametrize("name", CASES)
def test_same_bits(apps, execute, name, ranks, libraries):
    options, variants = CASES[name]
    for library in (one for one in libraries if one in apps):
        built = apps[library]
        prefix = [str(script(library)), *OPTIONS]
        for variant in variants:
            program = [name, *options, *(["--variant", variant] if variant else [])]
            plain, _ = printed_by(built, execute, ranks, program)
            helped, _ = printed_by(built, execute, ranks, program, prefix)
            assert helped == plain, (library, variant)


@pytest.mark.parametrize("name", LOOKED_AT)
def test_same_bits_while_the_thread_moves_data(apps, execute, name):
    for library, built in apps.items():
        program = [name, *LOOKED_AT[name]]
        plain, _ = printed_by(built, execute, 2, program)
        helped, looks = printed_by(built, execute, 2, program, [str(script(library)), *OPTIONS])
        assert helped == plain, library
        assert looks > 0, library
