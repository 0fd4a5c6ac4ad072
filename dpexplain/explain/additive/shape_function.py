"""Shape function (curve): a contribution for each bin of a feature."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from dpexplain._utils.lazy import pd
from dpexplain.explain import _html
from dpexplain.explain._record import (
    FloatArray,
    choice,
    finite,
    frozen,
    read_only,
    text,
    texts,
)
from dpexplain.explain._text import short_number, signed_number
from dpexplain.explain.additive._binned import Binned
from dpexplain.explain.additive.edits import described_edits
from dpexplain.explain.bands._cautions import term_caution, term_note
from dpexplain.explain.bands._noisy_part import NoisyPart
from dpexplain.explain.bands.directions import directions_inside
from dpexplain.explain.display import ModelDisplay
from dpexplain.explain.guarantee import Guarantee
from dpexplain.tables.cells import DATE_UNIT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HTML_ROWS = 12
# Half-width of the band if the joint errors are unknown; it holds for each bin separately.
_POINTWISE = 2.0


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ShapeFunction(NoisyPart, Binned, ModelDisplay):
    """The contribution of one term to the score, bin by bin.

    Value bins come first: bin ``i`` of a numeric feature is ``[edges[i], edges[i + 1])``, except
    that the last value bin also includes its right edge. The special bins named in `special` come
    last.

    Parameters
    ----------
    name : str
        Name of the term.
    kind : {"numeric", "categorical"}
        Kind of the value bins.
    contribution : array-like of shape (n_bins,)
        Score added in each bin, in `score_unit`.
    count : array-like of shape (n_bins,)
        Number of records in each bin; noisy (so possibly negative) for a private model.
    guarantee : Guarantee
        Privacy guarantee of these numbers.
    bin_edges : array-like of shape (n_value_bins + 1,) or None, default=None
        Increasing edges in units of the feature; None for a categorical feature.
    categories : sequence of str or None, default=None
        Names of the value bins of a categorical feature.
    ordered : bool, default=False
        Whether the categories are ordered.
    unit : str, default=""
        Unit of the feature. If it is ``"days since 1970-01-01"``, labels show dates.
    description : str, default=""
        Meaning of the feature.
    noise_std : array-like of shape (n_bins,) or None, default=None
        Standard deviation of each contribution due to privacy noise, given the released bins and
        trees, in `score_unit`.
    structure_std : array-like of shape (n_bins,) or None, default=None
        Standard deviation due to the random structure of the fit: the noise in the histograms that
        determine the bins, and the random choice of the trees. Pass None if the deviation is
        unknown.
    sampling_std : array-like of shape (n_bins,) or None, default=None
        Standard deviation due to sampling the records; None if unknown.
    simultaneous_factor : float or None, default=None
        Half-width, in standard deviations, of a band that covers all bins simultaneously with 95%
        confidence; None if the joint errors of the bins are unknown.
    special : sequence of str, default=()
        Names of the special bins, such as ``("other", "missing")``; they follow the value bins.
    step : float or None, default=None
        Public resolution of a numeric feature, in units of the feature; for example, 1 if ages are
        given in whole years.
    score_unit : str, default=""
        Unit of the score, such as ``"log-odds"`` for a classifier; a :class:`GlobalExplanation`
        fills it in if it is empty.
    score_name : str, default=""
        Name of the score, such as ``"log-odds of income = high"``; a :class:`GlobalExplanation`
        fills it in.
    monotone : {"increasing", "decreasing"} or None, default=None
        Direction that the fit imposed on the curve over the value bins; None if it imposed none.
    bag_std : array-like of shape (n_bins,) or None, default=None
        Standard deviation of the contribution across the bags, in `score_unit`. Bags differ in
        their records, trees and, for a private model, noise. The curve is the mean over the bags,
        and therefore varies less than a single bag.
    stretch : float or None, default=None
        Estimate, from released sums, of the factor by which the curve must be multiplied to undo
        the shrinkage caused by a short fit; None if unknown.
    recovered : array-like of shape (n_bins,) or None, default=None
        Smooth curve estimated from all released sums of the fit; None if these sums are unknown.
        The model does not use this estimate.
    effect : array-like of shape (n_bins,) or None, default=None
        Estimate of the true population curve, in `score_unit`: the curve that the fit would produce
        without noise and without early stopping. Pass None if there is no estimate.
    effect_std : array-like of shape (n_bins,) or None, default=None
        Standard deviation of `effect` due to noise, sampling, and components of the curve that a
        short fit does not determine.
    effect_factor : float or None, default=None
        Half-width, in standard deviations, of a band around `effect` that covers all bins
        simultaneously with 95% confidence.
    count_std : array-like of shape (n_bins,) or None, default=None
        Standard deviation of the privacy noise in each count; None if unknown.
    unclear_with : str, default=""
        Name of another feature on which this feature may depend in another form than `effect`
        assumes, according to released sums; empty if there is none.
    released : array-like of shape (n_bins,) or None, default=None
        Contributions as released, if the curve was edited afterward; the standard deviations refer
        to the released curve.
    edits : sequence of str, default=()
        Descriptions of manual edits to the curve; a :class:`GlobalExplanation` fills them in.

    Raises
    ------
    ValueError
        If shapes are inconsistent, a number is not finite, or the curve violates its stated
        direction.

    Examples
    --------
    >>> from dpexplain.explain import Guarantee, ShapeFunction
    >>> age = ShapeFunction(
    ...     "age", "numeric", contribution=[-0.5, 0.1, 0.4], count=[210.3, 305.8, 90.1],
    ...     guarantee=Guarantee(1.0, 1e-6, "add_remove", True), bin_edges=[17, 30, 60, 90],
    ...     noise_std=[0.1, 0.1, 0.2],
    ... )
    >>> age.bin_labels
    ('17 – 30', '30 – 60', '60 – 90')
    >>> age.evaluate([25, 64])
    array([-0.5,  0.4])
    """

    name: str
    kind: Literal["numeric", "categorical"]
    contribution: FloatArray
    count: FloatArray
    _: dataclasses.KW_ONLY
    guarantee: Guarantee
    bin_edges: FloatArray | None = None
    categories: tuple[str, ...] | None = None
    ordered: bool = False
    unit: str = ""
    description: str = ""
    noise_std: FloatArray | None = None
    structure_std: FloatArray | None = None
    sampling_std: FloatArray | None = None
    simultaneous_factor: float | None = None
    special: tuple[str, ...] = ()
    step: float | None = None
    score_unit: str = ""
    score_name: str = ""
    monotone: Literal["increasing", "decreasing"] | None = None
    bag_std: FloatArray | None = None
    stretch: float | None = None
    recovered: FloatArray | None = None
    effect: FloatArray | None = None
    effect_std: FloatArray | None = None
    effect_factor: float | None = None
    count_std: FloatArray | None = None
    unclear_with: str = ""
    released: FloatArray | None = None
    edits: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that the fields are consistent and freeze the arrays."""
        for field in ("name", "unit", "description", "score_unit", "score_name", "unclear_with"):
            text(field, getattr(self, field))
        if not isinstance(self.guarantee, Guarantee):
            raise ValueError(f"guarantee of term {self.name!r} must be a Guarantee.")
        if self.monotone is not None:
            choice("monotone", self.monotone, ("increasing", "decreasing"))
        self._check_bins()
        self._check_arrays()
        self._check_monotone()

    def _check_monotone(self) -> None:
        if self.monotone is None:
            return
        sign = {"increasing": 1.0, "decreasing": -1.0}[self.monotone]
        if (sign * np.diff(self.contribution[: self.n_value_bins]) < 0).any():
            raise ValueError(
                f"term {self.name!r} is declared {self.monotone} but its contributions are not."
            )

    def _check_arrays(self) -> None:
        n_bins = self.n_bins
        self._set("contribution", read_only("contribution", self.contribution, (n_bins,)))
        self._set("count", read_only("count", self.count, (n_bins,)))
        for name in ("bag_std", "count_std"):
            if getattr(self, name) is not None:
                std = read_only(name, getattr(self, name), (n_bins,))
                if (std < 0).any():
                    raise ValueError(f"{name} must not be negative.")
                self._set(name, std)
        if self.stretch is not None:
            self._set("stretch", finite("stretch", self.stretch))
            if not self.stretch > 0:
                raise ValueError(f"stretch={self.stretch!r} must be positive.")
        for name in ("recovered", "released"):
            if getattr(self, name) is not None:
                self._set(name, read_only(name, getattr(self, name), (n_bins,)))
        self._set("edits", texts("edits", self.edits))
        self._check_noise(n_bins)
        self._check_effect()

    def _check_noise(self, n_bins: int) -> None:
        for name in ("noise_std", "structure_std", "sampling_std"):
            if getattr(self, name) is None:
                continue
            if self.noise_std is None:
                raise ValueError(f"{name} needs noise_std: a model without noise has no band.")
            std = read_only(name, getattr(self, name), (n_bins,))
            if (std < 0).any():
                raise ValueError(f"{name} must not be negative.")
            self._set(name, std)
        if self.simultaneous_factor is not None:
            factor = finite("simultaneous_factor", self.simultaneous_factor)
            if self.noise_std is None or factor < 0:
                raise ValueError(
                    f"simultaneous_factor={factor!r} must not be negative, and needs noise_std."
                )
            self._set("simultaneous_factor", factor)

    def _check_effect(self) -> None:
        given = (self.effect, self.effect_std, self.effect_factor)
        if all(part is None for part in given):
            return
        if self.effect is None or self.effect_std is None or self.effect_factor is None:
            raise ValueError(
                "effect, effect_std and effect_factor must be given together or all omitted."
            )
        for name in ("effect", "effect_std"):
            self._set(name, read_only(name, getattr(self, name), (self.n_bins,)))
        factor = finite("effect_factor", self.effect_factor)
        if factor < 0 or (self.effect_std < 0).any():
            raise ValueError("effect_std and effect_factor must not be negative.")
        self._set("effect_factor", factor)

    @property
    def constraint_words(self) -> str:
        """Constraint on the curve, such as ``"constrained to increase"``; empty if none."""
        if self.monotone is None:
            return ""
        return (
            "constrained to " + {"increasing": "increase", "decreasing": "decrease"}[self.monotone]
        )

    @property
    def edit_words(self) -> str:
        """Description of the edits to the curve; empty if there are none."""
        return described_edits(self.edits)

    @cached_property
    def weights(self) -> FloatArray:
        """Proportion of records in each bin; negative noisy counts are treated as zero."""
        positive = np.maximum(self.count, 0.0)
        total = positive.sum()
        return frozen(positive / total if total > 0 else np.full(self.n_bins, 1.0 / self.n_bins))

    @cached_property
    def importance(self) -> float:
        """Mean absolute contribution over the records, in `score_unit`."""
        return float(self.weights @ np.abs(self.contribution))

    @cached_property
    def total_std(self) -> FloatArray | None:
        """Standard deviation of each contribution (total uncertainty), in `score_unit`.

        It combines privacy noise with the variation due to random structure and to sampling, where
        these are known. The result is None if there is no privacy noise, or if the noise is
        unknown.
        """
        if self.noise_std is None:
            return None
        parts = (self.noise_std, self.structure_std, self.sampling_std)
        squares = [np.square(part) for part in parts if part is not None]
        return frozen(np.asarray(np.sqrt(np.sum(squares, axis=0))))

    @property
    def band_factor(self) -> float:
        """Half-width of the band in standard deviations."""
        return _POINTWISE if self.simultaneous_factor is None else self.simultaneous_factor

    @property
    def possible_directions(self) -> tuple[str, ...]:
        """Directions that a curve inside the band can have over the ordered value bins.

        ``("rising",)`` means that a rising curve fits inside the band and a falling curve does not.
        If "constant" is included, a constant curve fits inside the band. The result is empty if
        every curve inside the band changes direction. If `band` is None, only the curve itself is
        considered.
        """
        band = self.band
        ends = (self.contribution, self.contribution) if band is None else band
        low, high = (end[: self.n_value_bins] for end in ends)
        return directions_inside(low, high)

    @property
    def effect_caution(self) -> str:
        """Warning if the true curve may be outside the effect band; empty otherwise."""
        return term_caution(self)

    @property
    def effect_note(self) -> str:
        """Sentence on an effect that is hardly known; otherwise empty.

        For notes that depend on the whole model, see :attr:`GlobalExplanation.effect_notes`.
        """
        return term_note(self)

    @property
    def effect_remark(self) -> str:
        """The warning, or otherwise the note; empty if there is neither."""
        return self.effect_caution or self.effect_note

    @property
    def effect_directions(self) -> tuple[str, ...] | None:
        """Directions that a curve inside the effect band can have.

        The directions mean the same as in `possible_directions`, which describes the released
        curve. The result is None if there is no effect band.
        """
        if self.effect_band is None:
            return None
        low, high = (frozen(end[: self.n_value_bins]) for end in self.effect_band)
        return directions_inside(low, high)

    def evaluate(self, values: npt.ArrayLike) -> FloatArray:
        """Return the contribution of each value.

        Parameters
        ----------
        values : array-like of shape (n,)
            As in :meth:`bin_index`.

        Returns
        -------
        ndarray of float64, shape (n,)
            Contributions in `score_unit`.
        """
        return self.contribution[self.bin_index(values)]

    def frame(self) -> pd.DataFrame:
        """Return a table with one row per bin.

        Returns
        -------
        DataFrame
            Columns term and bin; bin_left and bin_right (NaN if a bin is not an interval);
            contribution; noise_std, structure_std, sampling_std and total_std (NaN if unknown);
            signal, whether the bin rises above the noise (None if unknown); count; special, whether
            the bin is a special bin; bag_std, effect and effect_std (NaN if unknown); effect_low
            and effect_high, the ends of the effect band (NaN if unknown); and effect_signal,
            whether the effect band excludes zero (None if unknown).
        """
        edges = np.full((2, self.n_bins), np.nan)
        if self.bin_edges is not None:
            edges[0, : self.n_value_bins] = self.bin_edges[:-1]
            edges[1, : self.n_value_bins] = self.bin_edges[1:]
        names = ("noise_std", "structure_std", "sampling_std", "total_std")
        stds = {name: self._or_nan(getattr(self, name)) for name in names}
        low, high = (None, None) if self.effect_band is None else self.effect_band
        marks = None if self.effect_signal is None else self.effect_signal.astype(object)
        signal = np.full(self.n_bins, None) if self.signal is None else self.signal.astype(object)
        return pd.DataFrame(
            {
                "term": self.name,
                "bin": list(self.bin_labels),
                "bin_left": edges[0],
                "bin_right": edges[1],
                "contribution": self.contribution.copy(),
                **stds,
                "signal": signal,
                "count": self.count.copy(),
                "special": np.arange(self.n_bins) >= self.n_value_bins,
                "bag_std": self._or_nan(self.bag_std),
                "effect": self._or_nan(self.effect),
                "effect_std": self._or_nan(self.effect_std),
                "effect_low": self._or_nan(low),
                "effect_high": self._or_nan(high),
                "effect_signal": np.full(self.n_bins, None) if marks is None else marks,
            }
        )

    def _or_nan(self, values: FloatArray | None) -> FloatArray:
        return np.full(self.n_bins, np.nan) if values is None else values.copy()

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the curve; see :func:`dpexplain.plotting.plot_shape_function`.

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
        from dpexplain.plotting import plot_shape_function

        return plot_shape_function(self, ax=ax, **options)

    def __repr__(self) -> str:
        """Return a one-line summary that suggests what to call next."""
        constraint = [self.constraint_words] if self.monotone else []
        edited = ["edited"] if self.edits else []
        bins = ", ".join([f"{self.n_value_bins} bins", *self.special, *constraint, *edited])
        unit = f" {self.score_unit}" if self.score_unit else ""
        return (
            f"ShapeFunction({self.name!r}, {self.kind}: {bins}; importance "
            f"{short_number(self.importance, 3)}{unit}; {self.guarantee.short}; "
            "see .frame(), .plot())"
        )

    def _repr_html_(self) -> str:
        largest = float(np.abs(self.contribution).max()) or 1.0
        rows = [
            (
                _html.escaped(label),
                signed_number(value),
                _html.bar(abs(value) / largest, negative=value < 0),
                _count_text(count),
            )
            for label, value, count in zip(
                self.bin_labels[:_HTML_ROWS], self.contribution, self.count, strict=False
            )
        ]
        head = (self._bin_heading(), self.score_unit or "contribution", "", "records")
        table = _html.table(head, rows, (False, True, False, True))
        return _html.box(
            _html.heading(self.name),
            "" if self.guarantee.private else _html.warning(self.guarantee.short),
            table,
            _html.note(self._footer()),
        )

    def _bin_heading(self) -> str:
        return f"bin [{self.unit}]" if self.unit not in ("", DATE_UNIT) else "bin"

    def _footer(self) -> str:
        more = self.n_bins - _HTML_ROWS
        parts = [f"{more} more bins in .frame()"] if more > 0 else []
        parts += [words for words in (self.constraint_words, self.edit_words) if words]
        parts += [self.guarantee.short] if self.guarantee.private else []
        return "; ".join([*parts, ".plot() draws it"])


def _count_text(count: float) -> str:
    """Format a number of records, rounded to an integer unless it is huge."""
    return f"{round(count):,}" if abs(count) < 1e12 else f"{count:.3g}"
