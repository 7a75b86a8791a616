"""What `imbrex transform` reads of MPI codes that nobody wrote for it.

    python benchmarks/transform_robustness.py [--sources DIR] [hpcc mumps scalapack]

Takes source packages from Debian (`apt-get source` with a list of sources of its own; nothing of
the system is changed), and prints for each the share of files that are read, the share of the MPI
calls in them that the readers see, and the reasons for files that are not read. --sources keeps the
packages. A call counts where a word that begins with MPI_ is called: in C `MPI_X(`, in Fortran
`call mpi_x`; comments aside.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import subprocess
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from imbrex.errors import ImbrexError
from imbrex.transform.options import Options
from imbrex.transform.readers.c_source import C_SUFFIXES
from imbrex.transform.readers.fortran_units import FORTRAN_SUFFIXES
from imbrex.transform.reading import read_program

_C_COMMENT = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|//[^\n]*|/\*.*?\*/", re.DOTALL)
_C_CALL = re.compile(r"\bMPI_[A-Z]\w*\s*\(")
_FIXED_COMMENT = re.compile(r"^[cC*!dD][^\n]*|![^\n]*", re.MULTILINE)
_FREE_COMMENT = re.compile(r"![^\n]*")
_FORTRAN_CALL = re.compile(r"\bcall\s+mpi_\w+", re.IGNORECASE)


@dataclass
class Count:
    files: int = 0
    read: int = 0
    written: int = 0  # MPI calls in the text of all files
    seen: int = 0
    lines: int = 0
    reasons: Counter[str] = field(default_factory=Counter)


def own_sources() -> str:
    """The package sources of this machine, for source packages."""
    line = "deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)"
    command = ["apt-get", "indextargets", "--format", line, "Created-By: Packages"]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return "\n".join(sorted(set(found.splitlines()))) + "\n"


def fetch(package: str, folder: Path) -> Path:
    """The unpacked source package below `folder`."""
    found = [path for path in folder.glob(f"{package}-*") if path.is_dir()]
    if found:
        return found[0]
    state = folder / "apt"
    (state / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    (state / "cache").mkdir(exist_ok=True)
    sources = state / "sources.list"
    sources.write_text(own_sources())
    options = [
        *("-o", f"Dir::Etc::sourcelist={sources}", "-o", "Dir::Etc::sourceparts=-"),
        *("-o", f"Dir::State::lists={state / 'lists'}", "-o", f"Dir::Cache={state / 'cache'}"),
        *("-o", "APT::Sandbox::User=root", "-qq"),
    ]
    if not list((state / "lists").glob("*Sources*")):
        subprocess.run(["apt-get", *options, "update"], check=True)
    if not list(folder.glob(f"{package}_*.orig.tar.*")):
        command = ["apt-get", *options, "source", "--download-only", "--tar-only", package]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    archive = next(folder.glob(f"{package}_*.orig.tar.*"))
    target = folder / archive.name.split(".orig")[0].replace("_", "-")
    target.mkdir()
    subprocess.run(["tar", "xf", str(archive), "-C", str(target)], check=True)
    return target


def calls_written(path: Path, text: str) -> int:
    if path.suffix in C_SUFFIXES:
        bare = _C_COMMENT.sub(lambda m: " " * (len(m[0]) > 0), text)
        return len(_C_CALL.findall(bare))
    fixed = path.suffix.lower() in (".f", ".for", ".ftn", ".f77")
    return len(_FORTRAN_CALL.findall((_FIXED_COMMENT if fixed else _FREE_COMMENT).sub("", text)))


def read(path: Path, include: list[str], count: Count) -> None:
    """Read one file by itself; whatever happens but a refusal is a crash and ends the script."""
    text = path.read_bytes().decode("latin-1")
    count.files += 1
    written = calls_written(path, text)
    count.written += written
    count.lines += text.count("\n")
    flags = include if path.suffix in C_SUFFIXES else [f"-I{path.parent}", *include]
    try:
        program = read_program([path], Options(flags=flags))
    except ImbrexError as error:
        count.reasons[short(str(error), path)] += 1
        return
    if program.skipped:
        count.reasons[short(next(iter(program.skipped.values())), path)] += 1
        return
    count.read += 1
    found = sum(
        call.name.upper().startswith("MPI_")
        for routine in program.routines.values()
        if routine.file == str(path)
        for statement in routine.statements()
        for call in statement.calls
    )
    count.seen += min(found, written)


def short(reason: str, path: Path) -> str:
    text = reason.replace(str(path), "").split("(give the compiler")[0]
    text = re.sub(r"^[^ ]*: ", "", text.strip(": "))
    return re.sub(r"\d+", "N", re.sub(r"'[^']*'|`[^`]*`", "X", text))[:70]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("packages", nargs="*", default=["hpcc", "mumps", "scalapack"])
    parser.add_argument("--sources", type=Path)
    arguments = parser.parse_args()
    print("| package | language | files read | lines | MPI calls seen | not read |")
    print("|---|---|---|---|---|---|")
    with contextlib.ExitStack() as stack:
        folder = arguments.sources
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        for package in arguments.packages:
            begin = time.perf_counter()
            try:
                tree = fetch(package, folder.resolve())
            except subprocess.CalledProcessError:
                print(f"| {package} | - | cannot be fetched | | | |", flush=True)
                continue
            headers = {path.parent for path in tree.rglob("*.h")}
            include = [f"-I{path}" for path in sorted(headers)]
            counts = {"C": Count(), "Fortran": Count()}
            for path in sorted(tree.rglob("*")):
                if path.is_file() and path.suffix in C_SUFFIXES:
                    read(path, include, counts["C"])
                elif path.is_file() and path.suffix.lower() in FORTRAN_SUFFIXES:
                    read(path, include, counts["Fortran"])
            for language, count in counts.items():
                if not count.files:
                    continue
                why = "; ".join(f"{text} ({n})" for text, n in count.reasons.most_common(3))
                share = 100 * count.seen / count.written if count.written else 100.0
                print(
                    f"| {tree.name} | {language} | {count.read} of {count.files} | {count.lines} | "
                    f"{count.seen} of {count.written} ({share:.0f} %) | {why or '-'} |",
                    flush=True,
                )
            print(f"<!-- {package}: {time.perf_counter() - begin:.0f} s -->", flush=True)


if __name__ == "__main__":
    main()
