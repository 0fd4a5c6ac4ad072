"""Linear models of tables 2 and 3 of Nori et al., fitted with diffprivlib.

diffprivlib needs an older scikit-learn than ours, so it has an environment of its own, which
`make papers` tries to make; if that fails, the study is left out.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from bench_data import splits
from bench_measure import metric
from bench_models import filled
from numpy.typing import NDArray
from published import EPSILONS, N_SPLITS

from dpexplain import Classes, Numeric, Range, Schema
from dpexplain.datasets import Dataset
from paper_ebm import DATA, FAST_EPSILONS, PAPER_NAME, loaded, names, published_rows
from study import Cell, Row, Study

PREPARATIONS = ("as published", "prepared")
PENALTY = {"as published": 1.0, "prepared": 0.01}
"""C of the logistic regression: diffprivlib's own, and a fixed one that suits small budgets."""


def interpreter() -> Path:
    """Return the Python of the environment with diffprivlib."""
    default = Path(__file__).parents[2] / ".venv-peers" / "bin" / "python"
    return Path(os.environ.get("DPEXPLAIN_PEERS", default))


def missing() -> str:
    """Describe what is missing."""
    if interpreter().is_file():
        return ""
    return f"diffprivlib in an environment of its own ({interpreter()}, made by make papers)"


# --- features --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Encoded:
    """Features as numeric columns, with the public bounds of each.

    Attributes
    ----------
    Z : ndarray of shape (n_samples, n_columns)
    low, high : ndarray of shape (n_columns,)
    norm : float
        Public bound on the L2 norm of a row.
    """

    Z: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    norm: float


def encoded(X: pd.DataFrame, schema: Schema, *, scaled: bool) -> Encoded:
    """Encode each number as a column, and each declared category as a column.

    Numbers are clipped to their public bounds and, if `scaled`, mapped to [0, 1] by them; a
    missing number is at the lower bound, a missing category a category of its own.
    """
    columns, lows, highs, squares = [], [], [], 0.0
    for name, feature in schema.features.items():
        values = filled(X[[name]], Schema({name: feature}))[name]
        if not isinstance(feature, Numeric):
            known = [*map(str, feature.categories), "missing"]
            columns += [(values == category).to_numpy(float) for category in known]
            lows, highs = lows + [0.0] * len(known), highs + [1.0] * len(known)
            squares += 1.0
            continue
        width = feature.high - feature.low
        column = values.clip(feature.low, feature.high).to_numpy(float)
        low, high = (0.0, 1.0) if scaled else (feature.low, feature.high)
        columns.append((column - feature.low) / width if scaled else column)
        lows, highs = [*lows, low], [*highs, high]
        squares += max(abs(low), abs(high)) ** 2
    return Encoded(np.column_stack(columns), np.array(lows), np.array(highs), squares**0.5)


# --- measuring -------------------------------------------------------------------------------


def measure(data: str, preparation: str, epsilons: str, n_splits: int) -> list[Row]:
    """Measure the scores at all epsilons in one call of the other environment."""
    dataset = loaded(data)
    scaled = preparation == "prepared"
    rows = encoded(dataset.X, dataset.schema, scaled=scaled)
    arrays, settings = packed(dataset, rows, n_splits, scaled=scaled)
    settings |= {"epsilons": [*map(float, epsilons.split()), None], "C": PENALTY[preparation]}
    found = elsewhere(arrays, settings)
    setting = {
        "data": data,
        "model": f"diffprivlib, {preparation}",
        "metric": metric(dataset.schema),
    }
    return [setting | row for row in found]


def packed(
    dataset: Dataset, rows: Encoded, n_splits: int, *, scaled: bool = False
) -> tuple[dict[str, NDArray], Row]:
    """Return arrays and settings for a call of the other environment."""
    target = dataset.schema.target
    settings: Row = {"n_splits": n_splits, "norm": rows.norm}
    settings["classes"] = isinstance(target, Classes)
    if isinstance(target, Classes):
        y = (dataset.y == target.labels[1]).to_numpy(int)
    else:
        y, extra = _target(dataset.y, target, scaled=scaled)
        settings |= extra
    arrays = {"Z": rows.Z, "low": rows.low, "high": rows.high, "y": y}
    for repeat, (train, test) in enumerate(splits(len(y), n_splits)):
        arrays |= {f"train_{repeat}": train, f"test_{repeat}": test}
    return arrays, settings


def _target(y: pd.Series, target: Range, *, scaled: bool) -> tuple[NDArray[np.float64], Row]:
    """Return the target for the regression, its bounds, and the scale of its errors."""
    values = y.clip(target.low, target.high).to_numpy(float)
    if not scaled:
        return values, {"target_bounds": (target.low, target.high), "target_scale": 1.0}
    half = (target.high - target.low) / 2
    bounds = {"target_bounds": (-1.0, 1.0), "target_scale": half}
    return (values - target.low) / half - 1, bounds


def elsewhere(arrays: dict[str, NDArray], settings: Row) -> list[Row]:
    """Return the rows of diffprivlib's fits, one per epsilon and split."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, **arrays)
        script = Path(__file__).with_name("diffprivlib_fits.py")
        call = [str(interpreter()), str(script), str(path), json.dumps(settings)]
        done = subprocess.run(call, capture_output=True, text=True, check=False, timeout=7200)
    if done.returncode:
        raise RuntimeError(f"diffprivlib failed: {done.stderr[-2000:]}")
    return json.loads(done.stdout)


def cells(fast: bool) -> list[Cell]:
    """Return a cell per data set and preparation, since each starts another Python."""
    epsilons = " ".join(f"{e:g}" for e in (FAST_EPSILONS if fast else EPSILONS))
    return [
        {"data": data, "preparation": preparation, "epsilons": epsilons}
        | {"n_splits": 2 if fast else N_SPLITS}
        for data in names(fast)
        for preparation in PREPARATIONS
    ]


PROTOCOL = f"""diffprivlib 0.6.6, delta 0; the paper used the same library and names no version.
{N_SPLITS} random 80/20 splits, those of ebm_tables, whose criterion holds here too. Categories are
columns of zeros and ones. As published, by our reading of the paper's default parameters: numbers
in their own units, so that the bound on the norm of a row (logistic regression) and the bounds of
columns (linear regression) are those of the schemas: about 2,000,000 for adult, the bound of its
sampling weights; C = 1, at most 100 iterations. Prepared: numbers mapped to [0, 1] by the public
bounds, the norm of a row bounded by the square root of the number of features, C = 0.01, fixed and
not tuned per data set; the target of a regression mapped to [-1, 1]. Without privacy:
scikit-learn's models on the same columns. By its source, the linear regression of 0.6.6 takes only
the lower bound of a column into account for the sum of its squares, so it may add too little noise
for its epsilon."""


def _ours(model: str, private: bool) -> str | None:
    return "diffprivlib, as published" if model == "linear" else None


CAUSES: list[Row] = [
    {
        "data": data,
        "model": "diffprivlib, as published",
        "cause": "another algorithm: the paper cites those of Sheffet and of Imtiaz and Sarwate, "
        "the Wishart mechanism of diffprivlib before 0.4, whose noise keeps the problem convex "
        "and which was later shown not to be private; 0.6.6 puts noise on the objective, which "
        "then may have no minimum",
    }
    for data in DATA[2:]
]
STUDIES = (
    Study(
        name="ebm_diffprivlib",
        paper=PAPER_NAME,
        shows="tables 2 and 3: linear models as published and properly prepared",
        protocol=PROTOCOL.replace("\n", " "),
        cells=cells,
        measure=measure,
        published=published_rows(_ours),
        causes=CAUSES,
        missing=missing,
    ),
)
