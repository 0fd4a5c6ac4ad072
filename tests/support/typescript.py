"""The TypeScript compiler that ``make`` puts next to the environment, if npm can get it."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def find_tsc() -> Path | None:
    """Find the compiler's script: DPEXPLAIN_TSC if set, else this environment's."""
    named = os.environ.get("DPEXPLAIN_TSC")
    own = Path(sys.prefix) / "tsc" / "node_modules" / "typescript" / "lib" / "tsc.js"
    path = Path(named) if named else own
    return path if path.is_file() else None
