"""Print the functions that mpi.h declares and the library lacks: `references.py MPICC DIR`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import header


def main() -> int:
    compiler, scratch = sys.argv[1], Path(sys.argv[2])
    found = header.read(compiler, scratch)
    names = sorted(
        n
        for n, f in found.functions.items()
        if n.startswith("PMPI") and n not in found.macros and n[1:] not in found.macros
    )
    source = scratch / "references.c"
    source.write_text(
        "#include <mpi.h>\ntypedef void function(void);\nfunction *references[] = {\n"
        + "".join(f"    (function *){name},\n" for name in names)
        + "};\nint main(void) { return MPI_Init(0, 0) + (references[0] == 0); }\n"
    )
    program = scratch / "references"
    result = subprocess.run(
        [compiler, "-w", "-o", str(program), str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    absent = sorted(set(re.findall(r"undefined reference to [`'\"]P(MPI\w+)", result.stderr)))
    if result.returncode and not absent:
        sys.stderr.write(result.stderr)
        return 1
    print(",".join(absent))
    return 0


if __name__ == "__main__":
    sys.exit(main())
