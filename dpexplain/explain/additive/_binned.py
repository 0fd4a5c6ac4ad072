"""Bins of one feature: intervals or categories, followed by special bins."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from dpexplain._utils.lazy import pd
from dpexplain.explain._record import FloatArray, Record, choice, distinct, finite, read_only, texts
from dpexplain.explain._text import interval_labels
from dpexplain.tables.cells import cell_text, number_in

if TYPE_CHECKING:
    from collections.abc import Sequence

NO_BIN = -1
"""Index that marks a value without a bin."""


class Binned(Record):
    """Base class for frozen dataclasses that describe the bins of a feature."""

    name: str
    kind: Literal["numeric", "categorical"]
    bin_edges: FloatArray | None
    categories: tuple[str, ...] | None
    ordered: bool
    special: tuple[str, ...]
    unit: str
    step: float | None

    def _check_bins(self) -> None:
        choice("kind", self.kind, ("numeric", "categorical"))
        self._set("ordered", bool(self.ordered))
        self._set("special", distinct("special", texts("special", self.special)))
        if self.kind == "numeric":
            self._check_edges(self.bin_edges)
        else:
            if self.categories is None or self.bin_edges is not None or self.step is not None:
                raise ValueError("a categorical term has categories, no bin_edges and no step.")
            self._set("categories", distinct("categories", texts("categories", self.categories)))
        if self.step is not None:
            self._set("step", finite("step", self.step))
            if not self.step > 0:
                raise ValueError(f"step={self.step!r} must be positive.")
        if self.n_bins == 0:
            raise ValueError(f"term {self.name!r} has no bins; it needs at least one.")

    def _check_edges(self, given: Any) -> None:
        if given is None or self.categories is not None:
            raise ValueError("a numeric term has bin_edges and no categories.")
        edges = read_only("bin_edges", given, (None,))
        if edges.size < 2 or not (edges[1:] > edges[:-1]).all():
            raise ValueError("bin_edges must be at least two increasing numbers.")
        self._set("bin_edges", edges)

    @property
    def n_bins(self) -> int:
        """Number of bins, including special bins."""
        return self.n_value_bins + len(self.special)

    @property
    def n_value_bins(self) -> int:
        """Number of intervals or categories, without the special bins."""
        if self.bin_edges is not None:
            return self.bin_edges.size - 1
        return len(self.categories or ())

    @cached_property
    def bin_labels(self) -> tuple[str, ...]:
        """Label of each bin, such as ``"30 – 34"``, ``"nurse"`` or ``"missing"``."""
        if self.bin_edges is not None:
            values = interval_labels(self.bin_edges.tolist(), self.step, self.unit)
        else:
            values = list(self.categories or ())
        taken = set(values)
        return (*values, *(f"({name})" if name in taken else name for name in self.special))

    def bin_index(self, values: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Find the bin of each value.

        Parameters
        ----------
        values : array-like of shape (n,)
            Numbers in units of the feature, dates, or category names. Numbers outside the edges
            fall into the outermost bins. NaN and None are treated as missing. For a numeric
            feature, strings that are not numbers are also treated as missing.

        Returns
        -------
        ndarray of int64, shape (n,)
            Index of the bin.

        Raises
        ------
        ValueError
            If a value has no bin because there is no "missing" or "other" bin.
        """
        index = self.index_or_none(values)
        if (index == NO_BIN).any():
            absent = ["missing"] if self.bin_edges is not None else ["missing", "other"]
            lacks = " and ".join(f"no {name!r} bin" for name in absent if name not in self.special)
            raise ValueError(f"a value has no bin: term {self.name!r} has {lacks}.")
        return index

    def index_or_none(self, values: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Find the bin of each value, or -1 for values that have no bin.

        Parameters
        ----------
        values : array-like of shape (n,)
            As in :meth:`bin_index`.

        Returns
        -------
        ndarray of int64, shape (n,)
            Index of the bin; -1 if a value needs a special bin that does not exist.
        """
        cells = pd.Series(values, dtype=object)
        if self.bin_edges is not None:
            numbers = np.array(list(map(number_in(self.unit), cells)), dtype=np.float64)
            return self._number_index(self.bin_edges, numbers)
        return self._category_index([cell_text(cell) for cell in cells])

    def index_of_encoded(self, encoded: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Find the bin of each cell of a table that was encoded according to a schema.

        Parameters
        ----------
        encoded : ndarray of shape (n,)
            Numbers, with NaN for missing cells; or category codes, where the codes after that of
            the last category stand for "other" and "missing". See
            :func:`dpexplain.tables.encoding.encode_features`.

        Returns
        -------
        ndarray of int64, shape (n,)
            Index of the bin of each cell; -1 if a cell needs a special bin that does not exist.
        """
        if self.bin_edges is not None:
            return self._number_index(self.bin_edges, encoded)
        other, missing = self.n_value_bins, self.n_value_bins + 1
        index = self._with_special(encoded.astype(np.int64), encoded == other, "other")
        return self._with_special(index, encoded == missing, "missing")

    def _number_index(
        self, edges: FloatArray, numbers: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.int64]:
        inside = np.searchsorted(edges, numbers, side="right") - 1
        index = np.clip(inside, 0, self.n_value_bins - 1).astype(np.int64)
        return self._with_special(index, np.isnan(numbers), "missing")

    def _category_index(self, names: Sequence[str | None]) -> npt.NDArray[np.int64]:
        codes = {cell_text(name): code for code, name in enumerate(self.categories or ())}
        missing = np.array([name is None for name in names], dtype=bool)
        index = np.array([codes.get(name, -1) for name in names], dtype=np.int64)
        index = self._with_special(index, (index < 0) & ~missing, "other")
        return self._with_special(index, missing, "missing")

    def _with_special(
        self, index: npt.NDArray[np.int64], chosen: npt.NDArray[np.bool_], name: str
    ) -> npt.NDArray[np.int64]:
        known = name in self.special
        place = self.n_value_bins + self.special.index(name) if known else NO_BIN
        return np.where(chosen, place, index)
