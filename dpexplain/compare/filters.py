"""Comparison of locally linear models at several epsilons."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpexplain.accounting.summary import LedgerSummary
from dpexplain.compare._fits import Fits
from dpexplain.compare.matching import filter_agreement, match_filters
from dpexplain.explain import FilterBank
from dpexplain.explain._record import FloatArray

_SAME = ("classes", "input_names", "grid_shape", "n_filters", "target_name")


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class FilterComparison(Fits[FilterBank]):
    """Fits of a locally linear model at several epsilons, without any records.

    Parameters
    ----------
    epsilons : tuple of float
        Epsilons in ascending order, equal to the keys of `explanations`.
    explanations : mapping of float to sequence of FilterBank
        Filters of the repeated fits at each epsilon.
    reference : FilterBank or None, default=None
        The non-private reference model.
    metrics : DataFrame or None, default=None
        Columns epsilon (infinite for the reference), repeat, metric, value and private. Metrics
        measured on held-out records are diagnostics, not private releases.
    ledger : LedgerSummary
        Summary of the budget spent on the data set.
    title : str, default=""
        Heading for figures and dashboards.

    Raises
    ------
    ValueError
        If the epsilons are not the keys of the explanations, or the explanations belong to
        different models.

    Examples
    --------
    >>> from dpexplain import DPLocallyLinearClassifier, sweep
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPLocallyLinearClassifier(schema=stays.schema, n_public=500)
    >>> comparison = sweep(model, stays.X, stays.y, epsilons=(1, 4), progress=False)
    >>> comparison.epsilons
    (1.0, 4.0)
    >>> comparison.explanations[4][0].classes
    ('no', 'yes')
    """

    epsilons: tuple[float, ...]
    explanations: Mapping[float, tuple[FilterBank, ...]]
    reference: FilterBank | None = None
    metrics: pd.DataFrame | None = None
    _: dataclasses.KW_ONLY
    ledger: LedgerSummary
    title: str = ""

    def __post_init__(self) -> None:
        """Check that the explanations are compatible."""
        self._check_fits(FilterBank, _SAME)

    @property
    def first(self) -> FilterBank:
        """First fit at the smallest epsilon."""
        return self.explanations[self.epsilons[0]][0]

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes."""
        return self.first.classes

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the inputs."""
        return self.first.input_names

    @property
    def grid_shape(self) -> tuple[int, ...] | None:
        """Shape of the input grid (images, signals); None for a table."""
        return self.first.grid_shape

    @property
    def anchor(self) -> FilterBank:
        """Fit that defines the order of the filters: the first fit at the largest epsilon."""
        return self.explanations[self.epsilons[-1]][0]

    def matched(self) -> FilterComparison:
        """Align the filters of all fits.

        Returns
        -------
        FilterComparison
            A comparison in which every fit, including the reference, is matched to :attr:`anchor`;
            see :func:`match_filters`. The order of the reference's filters therefore depends
            on another fit.
        """
        anchor = self.anchor
        return dataclasses.replace(
            self,
            explanations={
                epsilon: tuple(match_filters(fit, anchor) for fit in fits)
                for epsilon, fits in self.explanations.items()
            },
            reference=None if self.reference is None else match_filters(self.reference, anchor),
        )

    def repeatability(self, inputs: npt.ArrayLike | None = None) -> pd.DataFrame:
        """Compare all pairs of repeats at each epsilon.

        Parameters
        ----------
        inputs : array-like of shape (n_samples, n_inputs) or None, default=None
            Prepared inputs of public samples, on which local explanations are also compared.

        Returns
        -------
        DataFrame
            One row per epsilon: n_pairs (the number of pairs), and the mean of each field of
            :class:`dpexplain.compare.FilterAgreement` over the pairs.

        Raises
        ------
        ValueError
            If no epsilon has two fits.
        """
        rows = []
        for epsilon, fits in self.explanations.items():
            found = [
                dataclasses.asdict(filter_agreement(a, b, _array(inputs)))
                for a, b in combinations(fits, 2)
            ]
            if found:
                means = pd.DataFrame(found).mean()
                rows.append({"epsilon": epsilon, "n_pairs": len(found), **means.to_dict()})
        if not rows:
            raise ValueError("no epsilon has two fits; pass n_repeats=2 or more to sweep.")
        return pd.DataFrame(rows)

    def faithfulness(self, inputs: npt.ArrayLike | None = None) -> pd.DataFrame:
        """Compare every private fit with the reference.

        Parameters
        ----------
        inputs : array-like of shape (n_samples, n_inputs) or None, default=None
            Prepared inputs of samples, on which local explanations are also compared.

        Returns
        -------
        DataFrame
            One row per fit: epsilon, repeat, the fields of
            :class:`dpexplain.compare.FilterAgreement`, and private, which is always False: a
            comparison with the non-private reference is not private.

        Raises
        ------
        ValueError
            If the reference is missing.
        """
        samples = _array(inputs)
        return self._beside_reference(lambda a, b: filter_agreement(a, b, samples))

    def above_noise(self) -> pd.DataFrame:
        """Return the proportion of weights above the privacy noise for each private fit.

        Returns
        -------
        DataFrame
            One row per fit: epsilon, repeat, share_of_filters and share_of_class_means (proportion
            of weights more than two standard deviations from zero; noise alone gives 0.046), and
            signal_to_noise (median over the filters; noise alone gives about 1). The last three
            are NaN if the noise is unknown.
        """
        return pd.DataFrame(
            [
                {
                    "epsilon": epsilon,
                    "repeat": repeat,
                    "share_of_filters": _number(fit.share_above_noise()),
                    "share_of_class_means": _number(fit.share_above_noise("class_means")),
                    "signal_to_noise": _median(fit.signal_to_noise()),
                }
                for epsilon, repeat, fit in self._private_fits()
            ]
        )

    def frame(self) -> pd.DataFrame:
        """Return the mean filters as a table with one row per fit, class and input.

        Returns
        -------
        DataFrame
            Columns epsilon (infinite for the reference), repeat, private and class, followed by the
            columns of :meth:`dpexplain.explain.WeightMap.frame`. For individual filters, see
            ``explanations[epsilon][repeat].frame()``.
        """
        frames = []
        for epsilon, repeat, fit in self.fits():
            for name in fit.classes:
                frame = fit.class_mean(name).frame()
                frame.insert(0, "epsilon", epsilon)
                frame.insert(1, "repeat", repeat)
                frame.insert(2, "private", fit.guarantee.private)
                frame.insert(3, "class", name)
                frames.append(frame)
        return pd.concat(frames, ignore_index=True)

    def plot(self, **options: Any) -> npt.NDArray[np.object_]:
        """Plot all classes by epsilon; see `dpexplain.plotting.plot_filter_comparison`.

        Parameters
        ----------
        **options
            Passed on to the plotting function.

        Returns
        -------
        ndarray of Axes, shape (n_classes, n_columns)
            One column for each epsilon, and one for the reference if there is one.
        """
        from dpexplain.plotting import plot_filter_comparison

        return plot_filter_comparison(self, **options)

    def __repr__(self) -> str:
        """Return a one-line description that suggests the next step."""
        epsilons = ", ".join(f"{epsilon:g}" for epsilon in self.epsilons)
        reference = "with" if self.reference is not None else "without"
        return (
            f"FilterComparison(ε = {epsilons}; {len(self.classes)} classes, "
            f"{self.first.n_filters} filters each; {reference} reference; "
            f"{self.guarantee_words[1]}; see .frame(), .metrics, .above_noise(), .plot())"
        )

    def _repr_html_(self) -> str:
        more = ".frame(), .above_noise(), .repeatability(), .plot() show more"
        columns = {"class means above noise": True, "filters above noise": True}
        return self._html_box(columns, _shares_above_noise, more)


def _shares_above_noise(fit: FilterBank) -> tuple[str, ...]:
    shares = (fit.share_above_noise("class_means"), fit.share_above_noise())
    return tuple("" if share is None else f"{100 * share:.0f}%" for share in shares)


def _array(inputs: npt.ArrayLike | None) -> FloatArray | None:
    return None if inputs is None else np.asarray(inputs, dtype=np.float64)


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _median(values: FloatArray | None) -> float:
    return math.nan if values is None else float(np.median(values))
