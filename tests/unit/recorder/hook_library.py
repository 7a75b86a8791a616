"""The recorder's hooks as the library that compilers take for libtsan."""

from __future__ import annotations

import subprocess
from pathlib import Path

ACCESS = Path(__file__).resolve().parents[3] / "runtime" / "access"
REGISTERS = ACCESS / "registers.h"
HOOKS = ("copies.c", "gfortran.c", "hooks.c", "keep.c", "shadow.c")


def build_hook_library(folder: Path) -> None:
    """Leave libtsan.a in the folder."""
    flags = ["-std=c11", "-D_GNU_SOURCE", f"-I{ACCESS.parent}"]
    sources = [str(ACCESS / name) for name in HOOKS]
    library = ["gcc", *flags, "-O2", "-fPIC", "-ftls-model=initial-exec", "-c", *sources]
    subprocess.run(library, check=True, cwd=folder)
    objects = [name.replace(".c", ".o") for name in HOOKS]
    subprocess.run(["ar", "rcs", "libtsan.a", *objects], check=True, cwd=folder)
