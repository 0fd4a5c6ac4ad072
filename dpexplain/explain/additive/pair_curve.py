"""Pair term of an additive model: a contribution for each cell of a grid."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from dpexplain._utils.lazy import pd
from dpexplain.explain import _html
from dpexplain.explain._record import FloatArray, Record, frozen, read_only, text, texts
from dpexplain.explain._text import short_number
from dpexplain.explain.additive._binned import NO_BIN, Binned
from dpexplain.explain.additive.edits import described_edits
from dpexplain.explain.bands._noisy_part import NOT_AVAILABLE, NoisyPart
from dpexplain.explain.display import ModelDisplay
from dpexplain.explain.guarantee import Guarantee
from dpexplain.explain.noise_model import half_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class PairAxis(Binned):
    """The bins of one of the two features of a :class:`PairCurve`.

    Parameters
    ----------
    name : str
        Name of the feature.
    kind : {"numeric", "categorical"}
        Kind of the value bins.
    bin_edges : array-like of shape (n_value_bins + 1,) or None, default=None
        Increasing edges in units of the feature; None for a categorical feature.
    categories : sequence of str or None, default=None
        Names of the value bins of a categorical feature.
    ordered : bool, default=False
        Whether the categories are ordered.
    special : sequence of str, default=()
        Names of the special bins, such as ``("other", "missing")``; they follow the value bins.
    unit : str, default=""
        Unit of the feature.
    step : float or None, default=None
        Public resolution of a numeric feature, in units of the feature.

    Raises
    ------
    ValueError
        If the fields are inconsistent.

    Examples
    --------
    >>> from dpexplain.explain import PairAxis
    >>> age = PairAxis("age", "numeric", bin_edges=[17, 45, 90], special=("missing",))
    >>> age.n_bins, age.bin_labels
    (3, ('17 – 45', '45 – 90', 'missing'))
    """

    name: str
    kind: Literal["numeric", "categorical"]
    _: dataclasses.KW_ONLY
    bin_edges: FloatArray | None = None
    categories: tuple[str, ...] | None = None
    ordered: bool = False
    special: tuple[str, ...] = ()
    unit: str = ""
    step: float | None = None

    def __post_init__(self) -> None:
        """Check that the fields are consistent and freeze the edges."""
        text("name", self.name)
        text("unit", self.unit)
        self._check_bins()

    def __repr__(self) -> str:
        """Return the name of the feature and its number of bins."""
        bins = ", ".join([f"{self.n_value_bins} bins", *self.special])
        return f"PairAxis({self.name!r}, {self.kind}: {bins})"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class PairCurve(NoisyPart, Record, ModelDisplay):
    """The contribution of a pair of features to the score, for each cell of a grid.

    This library's models have pairs only if the parameter ``pairs`` was set. The noise in pairs of
    InterpretML models is not known; see :func:`from_interpret`.

    Parameters
    ----------
    name : str
        Name of the term, such as ``"age & job"``.
    axes : pair of PairAxis
        Features and bins of the rows and columns of the grid.
    contribution : array-like of shape (axes[0].n_bins, axes[1].n_bins)
        Score added in each cell, in `score_unit`.
    count : array-like of the same shape
        Number of records in each cell; noisy (so possibly negative) for a private model.
    guarantee : Guarantee
        Privacy guarantee of these numbers.
    score_unit : str, default=""
        Unit of the score; a :class:`GlobalExplanation` fills it in if it is empty.
    score_name : str, default=""
        Name of the score; a :class:`GlobalExplanation` fills it in.
    noise_std : array-like of the same shape or None, default=None
        Standard deviation of the privacy noise in each contribution, given the released grid, in
        `score_unit`; None if there is no noise or if it is unknown.
    sampling_std : array-like of the same shape or None, default=None
        Standard deviation of each contribution due to sampling the records; None if unknown.
    effect_std : array-like of the same shape or None, default=None
        Standard deviation of the difference between the released contributions and the true ones in
        the population, due to noise, sampling, and the shrinkage of the fit. The true contribution
        of a cell is the mean of the true function over that cell of the released grid. Pass None if
        the deviations are unknown.
    released : array-like of the same shape or None, default=None
        Contributions as released, if the pair was edited afterward; the standard deviations refer
        to the released pair.
    edits : sequence of str, default=()
        Descriptions of manual edits to the pair; a :class:`GlobalExplanation` fills them in.

    Raises
    ------
    ValueError
        If shapes are inconsistent, a number is not finite, or a standard deviation is negative.

    Examples
    --------
    >>> from dpexplain.explain import Guarantee, PairAxis, PairCurve
    >>> pair = PairCurve(
    ...     "age & job",
    ...     (
    ...         PairAxis("age", "numeric", bin_edges=[17, 45, 90]),
    ...         PairAxis("job", "categorical", categories=("nurse", "clerk")),
    ...     ),
    ...     contribution=[[0.5, -0.5], [-0.1, 0.2]],
    ...     count=[[201.2, 98.5], [150.9, 120.4]],
    ...     guarantee=Guarantee(1.0, 1e-6, "add_remove", True),
    ... )
    >>> pair.evaluate([30, 64], ["clerk", "clerk"])
    array([-0.5,  0.2])
    """

    name: str
    axes: tuple[PairAxis, PairAxis]
    contribution: FloatArray
    count: FloatArray
    _: dataclasses.KW_ONLY
    guarantee: Guarantee
    score_unit: str = ""
    score_name: str = ""
    noise_std: FloatArray | None = None
    sampling_std: FloatArray | None = None
    effect_std: FloatArray | None = None
    released: FloatArray | None = None
    edits: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that the fields are consistent and freeze the arrays."""
        text("name", self.name)
        text("score_unit", self.score_unit)
        text("score_name", self.score_name)
        if not isinstance(self.guarantee, Guarantee):
            raise ValueError(f"guarantee of term {self.name!r} must be a Guarantee.")
        axes = tuple(self.axes)
        if len(axes) != 2 or not all(isinstance(axis, PairAxis) for axis in axes):
            raise ValueError(f"axes of term {self.name!r} must be two PairAxis objects.")
        self._set("axes", axes)
        shape = (axes[0].n_bins, axes[1].n_bins)
        self._set("contribution", read_only("contribution", self.contribution, shape))
        self._set("count", read_only("count", self.count, shape))
        if self.released is not None:
            self._set("released", read_only("released", self.released, shape))
        self._set("edits", texts("edits", self.edits))
        self._check_noise(shape)

    def _check_noise(self, shape: tuple[int, int]) -> None:
        if self.sampling_std is not None and self.noise_std is None:
            raise ValueError("sampling_std needs noise_std: a model without noise has no band.")
        if self.effect_std is not None and self.noise_std is None:
            raise ValueError("effect_std needs noise_std: without noise, no effect is estimated.")
        for name in ("noise_std", "sampling_std", "effect_std"):
            if getattr(self, name) is None:
                continue
            std = read_only(name, getattr(self, name), shape)
            if (std < 0).any():
                raise ValueError(f"{name} must not be negative.")
            self._set(name, std)

    @cached_property
    def total_std(self) -> FloatArray | None:
        """Standard deviation of each contribution (total uncertainty), in `score_unit`.

        It combines privacy noise and sampling error; if the latter is unknown, it includes only
        privacy noise. The result is None if there is no privacy noise, or if the noise is unknown.
        """
        if self.noise_std is None or self.sampling_std is None:
            return self.noise_std
        return frozen(np.hypot(self.noise_std, self.sampling_std))

    @cached_property
    def band_factor(self) -> float:
        """Half-width, in standard deviations, of the simultaneous band for all cells.

        The confidence level is 95%, no matter how the cells are correlated.
        """
        return _factor(self.total_std)

    @property
    def effect(self) -> FloatArray | None:
        """Estimated contributions in the population; None if there is no estimate."""
        if self.effect_std is None:
            return None
        return self.contribution if self.released is None else self.released

    @property
    def effect_factor(self) -> float | None:
        """Half-width of a band around `effect` for all cells, in standard deviations.

        The confidence level is 95%, no matter how the cells are correlated. The result is None if
        there is no estimate.
        """
        return None if self.effect_std is None else _factor(self.effect_std)

    @property
    def noise_words(self) -> str:
        """Description of the cells that rise above the noise.

        If the pair is private and its noise is unknown, the description says so. It is empty if the
        pair is not private and has no known noise.
        """
        if self.signal is None or self.noise_floor is None:
            return NOT_AVAILABLE if self.guarantee.private else ""
        above = int(self.signal.sum())
        which = f"{above or 'None'} of {self.signal.size} cells"
        rise = "rises" if above in (0, 1) else "rise"
        return (
            f"{which} {rise} above the noise; noise alone gives an importance of about "
            f"{short_number(self.noise_floor, 3)}, and the importance of the pair is "
            f"{short_number(self.importance, 3)}."
        )

    @property
    def edit_words(self) -> str:
        """Description of the edits to the pair; empty if there are none."""
        return described_edits(self.edits)

    @property
    def feature_names(self) -> tuple[str, str]:
        """Names of the row feature and the column feature."""
        return self.axes[0].name, self.axes[1].name

    @cached_property
    def cell_labels(self) -> tuple[str, ...]:
        """Label of each cell, row by row, such as ``"30 – 34, nurse"``."""
        first, second = (axis.bin_labels for axis in self.axes)
        return tuple(f"{row}, {column}" for row in first for column in second)

    @cached_property
    def weights(self) -> FloatArray:
        """Proportion of records in each cell; negative counts are treated as zero."""
        positive = np.maximum(self.count, 0.0)
        total = positive.sum()
        return frozen(positive / total if total > 0 else np.full(positive.shape, 1 / positive.size))

    @cached_property
    def importance(self) -> float:
        """Mean absolute contribution over the records, in `score_unit`."""
        return float((self.weights * np.abs(self.contribution)).sum())

    def cell_index(self, first: npt.ArrayLike, second: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the index of the cell for each pair of values, counting row by row.

        Parameters
        ----------
        first, second : array-like of shape (n,)
            Values of the two features, as in :meth:`ShapeFunction.bin_index`.

        Returns
        -------
        ndarray of int64, shape (n,)
            Index into :attr:`cell_labels` and into the raveled :attr:`contribution`.
        """
        rows, columns = self.axes[0].bin_index(first), self.axes[1].bin_index(second)
        return rows * self.axes[1].n_bins + columns

    def index_or_none(self, first: npt.ArrayLike, second: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Find the cell for each pair of values; the index is -1 if there is no such cell.

        Parameters
        ----------
        first, second : array-like of shape (n,)
            As in :meth:`cell_index`.

        Returns
        -------
        ndarray of int64, shape (n,)
            As in :meth:`cell_index`; -1 if a value has no bin.
        """
        return self.cells_of(self.axes[0].index_or_none(first), self.axes[1].index_or_none(second))

    def cells_of(
        self, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Find the cell for each pair of bins; the index is -1 if there is no such cell.

        Parameters
        ----------
        rows, columns : ndarray of int64, shape (n,)
            Bins of the two features; -1 if there is no bin.

        Returns
        -------
        ndarray of int64, shape (n,)
            As in :meth:`index_or_none`.
        """
        known = (rows != NO_BIN) & (columns != NO_BIN)
        return np.where(known, rows * self.axes[1].n_bins + columns, NO_BIN)

    def evaluate(self, first: npt.ArrayLike, second: npt.ArrayLike) -> FloatArray:
        """Return the contribution of each pair of values.

        Parameters
        ----------
        first, second : array-like of shape (n,)
            As in :meth:`cell_index`.

        Returns
        -------
        ndarray of float64, shape (n,)
            Contributions in `score_unit`.
        """
        return self.contribution.ravel()[self.cell_index(first, second)]

    def frame(self) -> pd.DataFrame:
        """Return a table with one row per cell.

        Returns
        -------
        DataFrame
            Columns term, first_feature and second_feature (the names of the features), first and
            second (the labels of their bins), contribution, noise_std, sampling_std, total_std,
            band_low and band_high, signal (whether the cell rises above the noise; None if
            unknown), and count. The band covers all cells with 95% confidence. Unknown standard
            deviations and band limits are NaN. If effects are estimated, the table also has the
            columns effect, effect_std, effect_low, effect_high and effect_signal.
        """
        first, second = (axis.bin_labels for axis in self.axes)
        size = self.contribution.size
        low, high = (None, None) if self.band is None else self.band
        names = ("noise_std", "sampling_std", "total_std")
        stds = {name: getattr(self, name) for name in names} | {"band_low": low, "band_high": high}
        table = pd.DataFrame(
            {
                "term": self.name,
                "first_feature": self.axes[0].name,
                "first": np.repeat(np.array(first, dtype=object), len(second)),
                "second_feature": self.axes[1].name,
                "second": list(second) * len(first),
                "contribution": self.contribution.ravel(),
                **{
                    name: np.full(size, np.nan) if values is None else values.ravel()
                    for name, values in stds.items()
                },
                "signal": (
                    np.full(size, None)
                    if self.signal is None
                    else self.signal.ravel().astype(object)
                ),
                "count": self.count.ravel(),
            }
        )
        if self.effect is None or self.effect_band is None or self.effect_signal is None:
            return table
        effects = {
            "effect": self.effect,
            "effect_std": self.effect_std,
            "effect_low": self.effect_band[0],
            "effect_high": self.effect_band[1],
            "effect_signal": self.effect_signal,
        }
        columns = {name: None if v is None else v.ravel() for name, v in effects.items()}
        return table.assign(**columns)

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the pair as a heat map; see :func:`dpexplain.plotting.plot_pair`.

        Parameters
        ----------
        ax : Axes or None, default=None
            Axes to draw into; None creates a figure.
        **options
            Passed on to the plotting function.

        Returns
        -------
        Axes
            The axes with the plot.
        """
        from dpexplain.plotting import plot_pair

        return plot_pair(self, ax=ax, **options)

    def __repr__(self) -> str:
        """Return a one-line summary that suggests what to call next."""
        rows, columns = self.contribution.shape
        unit = f" {self.score_unit}" if self.score_unit else ""
        return (
            f"PairCurve({self.name!r}, {rows} × {columns} cells; importance "
            f"{short_number(self.importance, 3)}{unit}; {self.guarantee.short}; "
            f"{'edited; ' * bool(self.edits)}see .frame(), .plot())"
        )

    def _repr_html_(self) -> str:
        low, high = float(self.contribution.min()), float(self.contribution.max())
        rows, columns = self.contribution.shape
        size = f"{rows} × {columns} cells of {self.axes[0].name} and {self.axes[1].name}"
        reach = f"contributions from {short_number(low, 3)} to {short_number(high, 3)}"
        return _html.box(
            _html.heading(self.name),
            "" if self.guarantee.private else _html.warning(self.guarantee.short),
            _html.note(f"{size}; {reach} {self.score_unit}".rstrip()),
            *(_html.note(words) for words in (self.noise_words, self.edit_words) if words),
            _html.note(".plot() draws the heat map, .frame() lists the cells"),
        )


def _factor(std: FloatArray | None) -> float:
    """Return the half-width of a band for all cells, in standard deviations."""
    return half_width(max(1, 0 if std is None else int(np.count_nonzero(std))))
