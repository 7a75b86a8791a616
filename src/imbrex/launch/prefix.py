"""The small sh script that stands before the program and loads the runtime into it.

Its values are written out, not inherited, so that it works on remote nodes of a shared file
system whatever the launcher forwards of the environment.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

NAME = "imbrex-exec"

_SCRIPT = """\
#!/bin/sh
# Start one rank with Imbrex's runtime.
{exports}
LD_PRELOAD={runtime}${{LD_PRELOAD:+:$LD_PRELOAD}}
export LD_PRELOAD
case $1 in
*/*) ;;
*)  # Launchers also look for the program in the working directory.
    if ! command -v -- "$1" >/dev/null 2>&1; then
        imbrex_program=./$1
        shift
        set -- "$imbrex_program" "$@"
    fi ;;
esac
exec "$@"
"""

_COLLECT = """\
#!/bin/sh
# Bring the parts of ranks that could not merge from this node to the run directory.
for part in {parts}/rank-*.part; do
    [ -f "$part" ] || continue
    name=${{part##*/}}
    cp "$part" {target}/".$name.$$" && mv {target}/".$name.$$" {target}/"$name"
done
rm -rf {parts}
exit 0
"""


def write_prefix(folder: Path, runtime: Path, environment: Mapping[str, str]) -> Path:
    """Write the executable prefix script into the run directory and return its path."""
    exports = "\n".join(
        f"{name}={shlex.quote(value)}; export {name}" for name, value in environment.items()
    )
    return _write(folder / NAME, _SCRIPT.format(exports=exports, runtime=shlex.quote(str(runtime))))


def write_collector(folder: Path, parts: Path, target: Path) -> Path:
    """Write the script that copies node-local parts into the run directory, on each node."""
    return _write(
        folder / "collect-parts",
        _COLLECT.format(parts=shlex.quote(str(parts)), target=shlex.quote(str(target))),
    )


def _write(file: Path, text: str) -> Path:
    file.write_bytes(os.fsencode(text))  # a path may be no UTF-8, or the locale another
    file.chmod(0o755)
    return file
