"""Conversion of comparisons and ledger summaries to and from JSON values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pandas as pd

from dpexplain.accounting.summary import LedgerSummary
from dpexplain.compare._fits import Fits
from dpexplain.io._fields import (
    Fields,
    any_number,
    flag,
    integer,
    items,
    number,
    optional,
    plain,
    text,
)

Kind = TypeVar("Kind", bound=Fits[Any])
Model = TypeVar("Model")


def fits_to_plain(
    comparison: Fits[Model], write: Callable[[Model], dict[str, Any]]
) -> dict[str, Any]:
    """Convert a comparison to JSON values; `write` converts each fit."""
    reference, metrics = comparison.reference, comparison.metrics
    return {
        "fits": [
            {"epsilon": epsilon, "repeats": [write(fit) for fit in repeats]}
            for epsilon, repeats in comparison.explanations.items()
        ],
        "reference": None if reference is None else write(reference),
        "metrics": None if metrics is None else metrics_to_plain(metrics),
        "ledger": ledger_to_plain(comparison.ledger),
        "title": comparison.title,
    }


def fits_from_plain(
    value: Any, path: str, kind: Callable[..., Kind], read: Callable[[Any, str], Any]
) -> Kind:
    """Convert JSON values to a comparison; `read` converts each fit."""

    def read_repeats(entry: Any, entry_path: str) -> tuple[float, tuple[Any, ...]]:
        """Read an epsilon and its repeated fits."""
        fields = Fields(entry, entry_path)
        epsilon = fields.take("epsilon", number)
        repeats = fields.take("repeats", items(read))
        fields.finish()
        return epsilon, tuple(repeats)

    fields = Fields(value, path)
    fits = fields.take("fits", items(read_repeats))
    explanations = dict(fits)
    if len(explanations) < len(fits):
        raise ValueError(f"{path}.fits repeats an epsilon.")
    comparison = kind(
        tuple(epsilon for epsilon, _ in fits),
        explanations,
        reference=fields.take("reference", optional(read)),
        metrics=fields.take("metrics", optional(metrics_from_plain)),
        ledger=fields.take("ledger", ledger_from_plain),
        title=fields.take("title", text),
    )
    fields.finish()
    return comparison


def ledger_to_plain(summary: LedgerSummary) -> dict[str, Any]:
    """Convert a ledger summary to JSON values."""
    return summary.to_dict()


def ledger_from_plain(value: Any, path: str = "ledger") -> LedgerSummary:
    """Rebuild a `LedgerSummary` from JSON values, and check its fields."""
    Fields(value, path)
    return LedgerSummary.from_dict(value)


def metrics_to_plain(metrics: pd.DataFrame) -> list[dict[str, Any]]:
    """Convert a comparison's table of metrics to JSON values."""
    return [
        {
            "epsilon": plain(row["epsilon"]),
            "repeat": int(row["repeat"]),
            "metric": row["metric"],
            "value": plain(row["value"]),
            "private": bool(row["private"]),
        }
        for row in metrics.to_dict("records")
    ]


def metrics_from_plain(value: Any, path: str) -> pd.DataFrame:
    """Rebuild the table of metrics from JSON values."""
    readers = {
        "epsilon": any_number,
        "repeat": integer,
        "metric": text,
        "value": any_number,
        "private": flag,
    }

    def read_row(row: Any, row_path: str) -> list[Any]:
        """Read one row of the metrics table."""
        fields = Fields(row, row_path)
        cells = [fields.take(name, read) for name, read in readers.items()]
        fields.finish()
        return cells

    return pd.DataFrame(items(read_row)(value, path), columns=list(readers))
