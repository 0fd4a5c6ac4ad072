"""Markdown tables, and lines that describe the machine and the versions."""

from __future__ import annotations

import math
import os
import platform
import statistics
from collections.abc import Iterable, Sequence
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import dpexplain

LIBRARIES = ("interpret-core", "numpy", "numba", "opendp", "scikit-learn")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; the first two columns align left, all others right."""
    lines = [list(header), *(list(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    aligns = [
        str.ljust if i < 2 and not lines[-1][i][:1].isdigit() else str.rjust
        for i in range(len(header))
    ]
    rules = [align(":", w, "-") for align, w in zip(aligns, widths, strict=True)]
    cells = [
        [align(cell, w) for align, cell, w in zip(aligns, line, widths, strict=True)]
        for line in lines
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in [cells[0], rules, *cells[1:]])


def machine() -> str:
    """Return one line about the processor, its cores and the load."""
    load = f", load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
    return f"{_processor()}, {os.cpu_count()} cores, {platform.system()}{load}"


def versions() -> str:
    """Return one line with the date and the versions of Python and libraries."""
    found = [f"Python {platform.python_version()}", f"dpexplain {dpexplain.__version__}"]
    for name in LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} not installed")
    return f"{', '.join(found)}; {date.today()}"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def number(value: float, like: float | None = None) -> str:
    """Format a score: three decimals, or none for small units such as dollars.

    Parameters
    ----------
    value : float
    like : float or None, default=None
        Value whose decimals are used; None for its own.
    """
    decimals = 0 if abs(value if like is None else like) >= 1000 else 3
    return f"{value:,.{decimals}f}"


def signed(value: float, like: float | None = None) -> str:
    """Format a difference of scores, with the decimals of a score; no sign if it rounds to 0."""
    size = number(abs(value), like)
    return size if not size.strip("0.") else f"{'−' if value < 0 else '+'}{size}"


def spread(mean: float, std: float) -> str:
    """Format the mean and standard deviation of a score; one split has no deviation."""
    return number(mean) if math.isnan(std) else f"{number(mean)} ± {number(std, like=mean)}"


def plus_minus(mean: float, error: float, form: str, unit: str = "") -> str:
    """Format a mean with its error or deviation; the error of a single fit is left out.

    Parameters
    ----------
    mean : float
    error : float
        NaN for a single fit.
    form : str
        Format of the mean, such as ``"+.2f"``; the error uses it without the sign.
    unit : str, default=""
        Appended once, after the mean and the error.
    """
    errors = "" if math.isnan(error) else f" ± {error:{form.lstrip('+')}}"
    return f"{mean:{form}}{errors}{unit}"


def deviation(values: Sequence[float]) -> float:
    """Return the standard deviation of a sample, or NaN for a single value."""
    return statistics.stdev(values) if len(values) > 1 else math.nan
