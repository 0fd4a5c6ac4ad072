"""A table with its target, its schema and its source."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from importlib import resources

import pandas as pd

from dpexplain.schema import Schema


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A public dataset.

    Parameters
    ----------
    X : DataFrame of shape (n_samples, n_features)
        The features, one column for each feature of the schema.
    y : Series of shape (n_samples,)
        The target.
    schema : Schema
        Bounds, categories, units and descriptions, from the documentation of the data.
    name : str
        Short name.
    source : str
        Who published the data and where.
    licence : str
        Terms of use, if stated.
    description : str
        What one row represents and what is predicted.
    citation : str
        Reference to cite.

    Examples
    --------
    >>> from dpexplain.datasets import load_fair
    >>> load_fair()
    Dataset('fair', 6366 rows, 8 features, target 'affair')
    """

    X: pd.DataFrame
    y: pd.Series
    schema: Schema = field(kw_only=True)
    name: str = field(kw_only=True)
    source: str = field(kw_only=True)
    licence: str = field(kw_only=True)
    description: str = field(kw_only=True)
    citation: str = field(kw_only=True)

    def __repr__(self) -> str:
        n_rows, n_features = self.X.shape
        return (
            f"Dataset({self.name!r}, {n_rows} rows, {n_features} features, "
            f"target {str(self.y.name)!r})"
        )

    def _repr_html_(self) -> str:
        lines = (
            ("Source", self.source),
            ("Licence", self.licence),
            ("Cite", self.citation),
        )
        facts = "".join(f"<li>{title}: {escape(text, quote=True)}</li>" for title, text in lines)
        return (
            f"<p><b>{escape(repr(self), quote=True)}</b><br>"
            f"{escape(self.description, quote=True)}</p><ul>{facts}</ul>"
            f"{self.schema._repr_html_()}"
        )


def bundled_schema(name: str) -> Schema:
    """Read a schema that ships with the loaders.

    Parameters
    ----------
    name : str
        Name of the dataset.

    Returns
    -------
    Schema
        The schema.
    """
    file = resources.files(__package__) / "schemas" / f"{name}.toml"
    return Schema.from_toml(file.read_text(encoding="utf-8"))
