"""Write the expected files anew from what the tool does now; read the difference before commit."""

from __future__ import annotations

import os
from pathlib import Path

from imbrex.transform.command import diff, explain
from imbrex.transform.engine import transform
from imbrex.transform.options import Options

OF_FOLDER = {"cases": Options(), "progress": Options(progress_interval_s=100e-6)}

if __name__ == "__main__":
    for folder, options in OF_FOLDER.items():
        os.chdir(Path(__file__).resolve().parent / folder)
        for source in sorted(Path().iterdir()):
            if source.suffix in (".c", ".cpp", ".f", ".f90"):
                outcome = transform([source], options)
                Path(f"{source}.expected.diff").write_text(diff(outcome))
                Path(f"{source}.expected.txt").write_text(explain(outcome))
