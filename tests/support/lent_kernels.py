"""Kernels that are already compiled, lent to another copy of the package."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

OWN = Path(__file__).resolve().parents[2] / "dpexplain"


def lend_kernels(installed: Path) -> None:
    """Put kernels that are already compiled next to the modules of an installed package.

    They are used if a module has the same bytes and time stamp and numba and the processor are the
    same, and recompiled otherwise.
    """
    for module in OWN.rglob("*.py"):
        there = installed / module.relative_to(OWN)
        if not there.is_file():  # not in the wheel
            continue
        for kernel in module.parent.glob(f"__pycache__/{module.stem}.*.nb[ci]"):
            (there.parent / "__pycache__").mkdir(exist_ok=True)
            shutil.copy(kernel, there.parent / "__pycache__")
        stamp = module.stat()
        os.utime(there, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
