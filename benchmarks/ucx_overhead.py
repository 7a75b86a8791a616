"""Added time per transfer of the UCX event source, bare against measured, in alternating pairs.

    python benchmarks/ucx_overhead.py [--pairs N]

A UCX worker sends 8 bytes to itself (UCX_TLS=self), two transfers a round: a send and a receive,
with begin, end, bounds and rows of each. The added time holds one recorded call per round too.
Needs UCX's headers (libucx-dev).
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

from preloaded import ROOT


def build(folder: Path) -> tuple[Path, Path]:
    """The bare and the measured program."""
    source = str(ROOT / "benchmarks" / "ucx_overhead.c")
    runtime = ROOT / "runtime"
    engine = [*sorted((runtime / "core").glob("*.c")), runtime / "base" / "clock.c"]
    libraries = ["-rdynamic", "-lucp", "-lucs", "-lpthread", "-ldl"]
    bare, measured = folder / "bare", folder / "measured"
    flags = ["gcc", "-O2", "-fno-tree-vectorize", "-D_GNU_SOURCE", "-w"]
    subprocess.run([*flags, source, "-o", str(bare), *libraries], check=True)
    transport = [str(runtime / "transport" / name) for name in ("ucx.c", "self_messages.c")]
    command = [*flags, "-DMEASURED", f"-I{runtime}", source, *transport, *map(str, engine)]
    subprocess.run([*command, "-flto", "-o", str(measured), *libraries], check=True)
    return bare, measured


def time_round(program: Path) -> float:
    """ns per round of two transfers."""
    environment = {**os.environ, "UCX_TLS": "self", "IMBREX_EVENTS": "ucx"}
    return float(subprocess.run([program], env=environment, check=True, capture_output=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=int, default=15)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        bare, measured = build(Path(scratch))
        pairs = [(time_round(bare), time_round(measured)) for _ in range(options.pairs)]
    without, with_source = (statistics.median(pair[i] for pair in pairs) for i in (0, 1))
    added = [(m - b) / 2 for b, m in pairs]
    low, middle, high = statistics.quantiles(added, n=4) if len(added) > 1 else added * 3
    print(f"{'bare ns':>8} {'measured':>8} {'ratio':>6}  added ns per transfer")
    ratio = with_source / without
    print(f"{without / 2:8.1f} {with_source / 2:8.1f} {ratio:6.2f}  {middle:.1f}", end=" ")
    print(f"({low:.1f} to {high:.1f})")


if __name__ == "__main__":
    main()
