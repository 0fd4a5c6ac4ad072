"""What Harder et al. 2020 claim of locally linear maps, held against the measured tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from claims import Claim, NotMeasuredError, Tables

PAPER = "Harder 2020"
FIGURES = {"mnist": "locally_linear_figure_2", "fashion_mnist": "locally_linear_figure_5"}
PUBLISHED = "locally_linear_published"
TABLE = "locally_linear_table"
BESIDE_CNN = "locally_linear_beside_cnn"
BESIDE_CNN_DIGITS = "locally_linear_beside_cnn_digits"
PAPER_MODEL, OUR_MODEL, CNN = "locally linear (paper)", "locally linear (accurate)", "CNN"

_SMALL = 0.01
"""Difference of accuracies that counts as none: a point."""


def found(table: pd.DataFrame, study: str, metric: str = "accuracy", **setting: Any) -> float:
    """Value of the setting that has these values, None for what is empty."""
    chosen = table["metric"] == metric
    for column, value in setting.items():
        chosen &= table[column].isna() if value is None else table[column] == value
    if not chosen.any():
        raise NotMeasuredError(study)
    return float(table.loc[chosen, "mean"].mean())


def _grid(tables: Tables, data: str, epsilon: float | None, **other: Any) -> float:
    """Accuracy on the grid of figures 2 and 5."""
    usual = {"model": PAPER_MODEL, "projection": "per_filter", "n_basis": 300, "n_filters": 30}
    setting = {**usual, **other, "data": data, "epsilon": epsilon}
    return found(tables[FIGURES[data]], FIGURES[data], **setting)


def _images(tables: Tables) -> list[str]:
    """Names of the images whose figure was measured."""
    names = [data for data, study in FIGURES.items() if study in tables]
    if not names:
        raise NotMeasuredError(FIGURES["mnist"])
    return names


def _level(epsilon: float | None) -> str:
    return "without privacy" if epsilon is None else f"at {epsilon:g}"


def _listed(values: dict[str, tuple[float, float]], first: str, second: str) -> str:
    return "; ".join(f"{k}: {first} {a:.3f}, {second} {b:.3f}" for k, (a, b) in values.items())


def _published(tables: Tables) -> dict[str, tuple[float, float]]:
    table = tables[PUBLISHED]
    return {
        f"{row['data']} {_level(row['epsilon'])}": (row["mean"], row["published"])
        for _, row in table.iterrows()
    }


def _projection(tables: Tables) -> dict[str, tuple[float, float]]:
    return {
        f"{data} {_level(epsilon)}": (
            _grid(tables, data, epsilon),
            _grid(tables, data, epsilon, projection="none", n_basis=None),
        )
        for data in _images(tables)
        for epsilon in (0.5, 2.0)
    }


def _filters(tables: Tables, some: int) -> dict[str, tuple[float, float]]:
    """Accuracy with some filters per class and with all 30."""
    return {
        f"{data} {_level(e)}": (
            _grid(tables, data, e, n_filters=some),
            _grid(tables, data, e),
        )
        for data in _images(tables)
        for e in (2.0, None)
    }


def _both(tables: Tables) -> pd.DataFrame:
    """What was measured beside the network, on any images."""
    parts = [tables[name] for name in (BESIDE_CNN, BESIDE_CNN_DIGITS) if name in tables]
    return pd.concat(parts) if parts else tables[BESIDE_CNN]


def _beside_cnn(tables: Tables) -> dict[str, tuple[float, float]]:
    """On the images of the paper alone."""
    table = tables[BESIDE_CNN]
    pairs = table.loc[table["epsilon"].notna(), ["data", "epsilon"]].drop_duplicates()
    return {
        f"{data} {_level(epsilon)}": (
            found(table, BESIDE_CNN, data=data, epsilon=epsilon, model=OUR_MODEL),
            found(table, BESIDE_CNN, data=data, epsilon=epsilon, model=CNN),
        )
        for data, epsilon in pairs.itertuples(index=False)
    }


def _cosines(
    tables: Tables, metric: str, explanation: str, model: str = OUR_MODEL
) -> dict[str, float]:
    table = _both(tables)
    chosen = (
        (table["metric"] == metric)
        & (table["explanation"] == explanation)
        & (table["model"] == model)
    )
    chosen_rows = table.loc[chosen, ["data", "epsilon", "mean"]]
    return {
        f"{data} {_level(None if np.isnan(epsilon) else epsilon)}": mean
        for data, epsilon, mean in chosen_rows.itertuples(index=False)
    }


def _several(values: dict[str, float]) -> str:
    return "; ".join(f"{name}: {value:.2f}" for name, value in values.items())


_TO_CNN = "cosine to integrated gradients of the CNN"


def _to_cnn(tables: Tables) -> dict[str, tuple[float, float]]:
    same = _cosines(tables, _TO_CNN, "exact")
    other = _cosines(tables, f"{_TO_CNN}, another image", "exact")
    return {name: (same[name], other[name]) for name in same}


def _clinical(tables: Tables) -> tuple[float, float]:
    return found(tables[TABLE], TABLE, epsilon=2.0), found(tables[TABLE], TABLE, epsilon=None)


CLAIMS = (
    Claim(
        PAPER,
        "Locally linear maps reach 94.2 % on MNIST and 83.2 % on Fashion-MNIST at epsilon 2, "
        "91.8 % and 80.7 % at 0.5",
        lambda t: _listed(_published(t), "ours", "published"),
        lambda t: all(ours > theirs - _SMALL for ours, theirs in _published(t).values()),
    ),
    Claim(
        PAPER,
        "Their private accuracy is comparable to that of a private CNN (within a point)",
        lambda t: _listed(_beside_cnn(t), "ours", "CNN"),
        lambda t: all(ours > cnn - _SMALL for ours, cnn in _beside_cnn(t).values()),
    ),
    Claim(
        PAPER,
        "Random projections raise accuracy under privacy",
        lambda t: _listed(_projection(t), "with", "without"),
        lambda t: all(with_it > without for with_it, without in _projection(t).values()),
    ),
    Claim(
        PAPER,
        "A few filters per class suffice: 10 are within a point of 30",
        lambda t: _listed(_filters(t, 10), "10", "30"),
        lambda t: all(few > many - _SMALL for few, many in _filters(t, 10).values()),
    ),
    Claim(
        PAPER,
        "Several filters per class are better than one, which is logistic regression",
        lambda t: _listed(_filters(t, 1), "1", "30"),
        lambda t: all(many > one for one, many in _filters(t, 1).values()),
    ),
    Claim(
        PAPER,
        "The filter with the largest weighting explains a prediction (cosine of 0.9 to the exact "
        "explanation)",
        lambda t: _several(_cosines(t, "cosine to exact", "top filter")),
        lambda t: min(_cosines(t, "cosine to exact", "top filter").values()) > 0.9,
    ),
    Claim(
        PAPER,
        "Explanations resemble Integrated Gradients of a CNN (cosine of 0.5)",
        lambda t: _listed(_to_cnn(t), "same image", "another"),
        lambda t: all(same > 0.5 for same, _ in _to_cnn(t).values()),
    ),
    Claim(
        PAPER,
        "Private explanations stay near those without privacy (cosine of 0.5)",
        lambda t: (
            _several(_cosines(t, "cosine to not private", "exact"))
            + "; Integrated Gradients of the CNN, "
            + _several(_cosines(t, "cosine to not private", "integrated gradients", CNN))
        ),
        lambda t: min(_cosines(t, "cosine to not private", "exact").values()) > 0.5,
    ),
    Claim(
        PAPER,
        "On medical records privacy costs little accuracy (three points at epsilon 2)",
        lambda t: "{:.3f} at epsilon 2, {:.3f} without privacy".format(*_clinical(t)),
        lambda t: _clinical(t)[0] > _clinical(t)[1] - 0.03,
    ),
)
