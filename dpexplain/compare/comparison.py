"""Explanations of one model at several epsilons, with their reference and ledger."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpexplain.accounting.summary import LedgerSummary
from dpexplain.compare._fits import Fits
from dpexplain.compare.faithfulness import faithfulness
from dpexplain.explain import GlobalExplanation, MulticlassExplanation, _html
from dpexplain.explain._text import short_number, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HTML_TERMS = 3
_TEXT_TERMS = 6


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Comparison(Fits[GlobalExplanation]):
    """Result of a sweep over epsilons, without any records.

    Parameters
    ----------
    epsilons : tuple of float
        Epsilons in ascending order, equal to the keys of `explanations`.
    explanations : mapping of float to sequence of GlobalExplanation
        Explanations of the repeated fits at each epsilon.
    reference : GlobalExplanation or None, default=None
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
    >>> from dpexplain import DPExplainableBoostingClassifier, sweep
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(schema=stays.schema)
    >>> comparison = sweep(model, stays.X, stays.y, epsilons=(0.5, 4), progress=False)
    >>> comparison.epsilons, list(comparison.explanations)
    ((0.5, 4.0), [0.5, 4.0])
    >>> comparison.explanations[4][0].guarantee.epsilon
    4.0
    """

    epsilons: tuple[float, ...]
    explanations: Mapping[float, tuple[GlobalExplanation, ...]]
    reference: GlobalExplanation | None = None
    metrics: pd.DataFrame | None = None
    _: dataclasses.KW_ONLY
    ledger: LedgerSummary
    title: str = ""

    def __post_init__(self) -> None:
        """Check that the explanations are compatible."""
        self._check_fits(GlobalExplanation, ("link", "classes", "target_name", "target_unit"))
        fits = [fit for _, _, fit in self.fits()]
        if any(set(fit) != set(fits[0]) for fit in fits):
            raise ValueError("explanations differ in their terms; compare fits of one model only.")

    @property
    def term_names(self) -> tuple[str, ...]:
        """Names of the terms, in model order."""
        return tuple(self.explanations[self.epsilons[0]][0])

    @property
    def pair_names(self) -> tuple[str, ...]:
        """Names of the feature pairs in any of the private fits.

        Fits may differ in their pairs, because each can choose its own. Pairs found only in the
        reference are not included, because the reference chooses its pairs without privacy. Fits
        with seeded noise are ignored for the same reason, unless all fits have seeded noise.
        """
        fits = [fit for _, _, fit in self._private_fits()]
        named = [fit for fit in fits if fit.guarantee.private] or fits
        return tuple(dict.fromkeys(pair.name for fit in named for pair in fit.pairs))

    @property
    def score_unit(self) -> str:
        """Unit of scores and contributions."""
        return self.explanations[self.epsilons[0]][0].score_unit

    def frame(self) -> pd.DataFrame:
        """Return one row per fit, term and bin.

        Returns
        -------
        DataFrame
            Columns epsilon (infinite for the reference), repeat and private, then the columns of
            :meth:`dpexplain.explain.ShapeFunction.frame`. The column noise_std refers to
            individual bins; for a whole term, see
            ``explanations[epsilon][repeat][term].noise_floor``. Pairs are not included; see
            ``explanations[epsilon][repeat].pair(name).frame()``.
        """
        frames = []
        for epsilon, repeat, explanation in self.fits():
            frame = explanation.frame()
            frame.insert(0, "epsilon", epsilon)
            frame.insert(1, "repeat", repeat)
            frame.insert(2, "private", explanation.guarantee.private)
            frames.append(frame)
        return pd.concat(frames, ignore_index=True)

    def term_frames(self) -> dict[str, pd.DataFrame]:
        """Return a table for each term and each pair of the private fits, keyed by name.

        Returns
        -------
        dict of str to DataFrame
            Columns epsilon, repeat and private, then those of one explanation. A fit without the
            pair has no rows.
        """
        return {
            **super().term_frames(),
            **{name: self._pair_frame(name) for name in self.pair_names},
        }

    def _pair_frame(self, name: str) -> pd.DataFrame:
        frames = [
            pair.frame().assign(epsilon=epsilon, repeat=repeat, private=fit.guarantee.private)
            for epsilon, repeat, fit in self.fits()
            for pair in fit.pairs
            if pair.name == name
        ]
        first = ["epsilon", "repeat", "private"]
        table = pd.concat(frames, ignore_index=True)
        return table[[*first, *table.columns.drop(first)]]

    def importances(self) -> pd.DataFrame:
        """Return the importance of each term and each pair, averaged over the repeats.

        Returns
        -------
        DataFrame
            One row for each term in model order, then for each of :attr:`pair_names`, and one
            column for each epsilon (infinite for the reference), in :attr:`score_unit`. For a pair,
            the mean is over the repeats in which it occurs, and is NaN if there are none. Noise
            alone makes importances positive, so compare them with
            ``explanations[epsilon][repeat].part(name).noise_floor``.
        """
        columns: dict[float, pd.Series[float]] = {}
        for epsilon, repeats in self.explanations.items():
            rows = pd.concat([fit.importances() for fit in repeats], axis=1)
            columns[epsilon] = rows.mean(axis=1)
        if self.reference is not None:
            columns[math.inf] = self.reference.importances()
        table = pd.DataFrame(columns).reindex([*self.term_names, *self.pair_names])
        return table.rename_axis(index="term", columns="epsilon")

    def effects(self) -> pd.DataFrame:
        """Return the estimated effect size of each term, averaged over the repeats.

        Returns
        -------
        DataFrame
            Like :meth:`importances`, but for the estimated effects in the population instead of the
            released curves; NaN if there is no estimate, as is the case for the reference.
        """
        columns = {
            epsilon: pd.concat([_effects(fit) for fit in repeats], axis=1).mean(axis=1)
            for epsilon, repeats in self.explanations.items()
        }
        table = pd.DataFrame(columns).reindex(list(self.term_names))
        return table.rename_axis(index="term", columns="epsilon")

    def faithfulness(self, k: int = 5) -> pd.DataFrame:
        """Compare every private fit with the reference.

        Parameters
        ----------
        k : int, default=5
            Number of top terms compared in `top_k_overlap`.

        Returns
        -------
        DataFrame
            One row per fit: epsilon, repeat, the fields of
            :class:`dpexplain.compare.Faithfulness`, and private, which is always False: a
            comparison with the non-private reference is not private.

        Raises
        ------
        ValueError
            If the reference is missing.
        """
        return self._beside_reference(lambda fit, reference: faithfulness(fit, reference, k=k))

    def describe(self) -> Iterator[str | pd.DataFrame]:
        """Yield the title, the guarantees in words, the importances and the effects.

        Yields
        ------
        str or DataFrame
        """
        yield from super().describe()
        yield f"importance of released curves in {self.score_unit}:"
        yield self.importances().rename(columns=_epsilon_name)
        for kind, names in (("terms", self.term_names), ("pairs", self.pair_names)):
            yield from self._counted(f"{kind}_above_noise", names, f"{kind} rise above the noise")
        effects = self.effects()
        if not effects.isna().all(axis=None):
            uncertain = "in parentheses if not certain"
            yield f"estimated effect in the population in {self.score_unit} ({uncertain}):"
            yield effects.apply(self._with_doubts).rename(columns=_epsilon_name)
            certain = "terms have an effect that is certain"
            yield from self._counted("terms_with_effect", self.term_names, certain)
        largest = self.epsilons[-1]
        fit = self.explanations[largest][0]
        if words := fit.effect_remark:
            yield f"At {_epsilon_name(largest)}: {words}"

    def _counted(self, found: str, names: Sequence[str], what: str) -> Iterator[str]:
        """Say at each epsilon which of these names all fits find, if that is known."""
        one = what.replace(" rise ", " rises ").replace(" have ", " has ")
        lines = []
        for epsilon, fits in self.explanations.items():
            each = "" if len(fits) == 1 else f" in each of {len(fits)} fits"
            in_all = _in_all([getattr(fit, found) for fit in fits])
            if in_all is not None:
                count = f"{len(in_all) or 'none'} of {len(names)}"
                words = f"{one if len(in_all) == 1 else what}{each}{_listed(in_all)}"
                lines.append(f"{_epsilon_name(epsilon)}: {count} {words}")
        yield from ["\n".join(lines)] if lines else []

    def _with_doubts(self, effects: pd.Series[float]) -> pd.Series[Any]:
        """Put effects in parentheses unless all fits at this epsilon are certain."""
        fits = self.explanations[float(effects.name)]  # type: ignore[arg-type]
        certain = _in_all([fit.terms_with_effect for fit in fits])
        if certain is None:
            return effects
        texts = effects.map(short_number, na_action="ignore")
        return texts.where(effects.index.isin(certain) | effects.isna(), "(" + texts + ")")

    def plot(self, term: str | None = None, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw a term at every epsilon; see :func:`dpexplain.plotting.plot_comparison`.

        Parameters
        ----------
        term : str or None, default=None
            Name of the term; None means the most important one.
        ax : Axes or None, default=None
            Axes to draw into; None creates a figure.
        **options
            Passed on to the plotting function.

        Returns
        -------
        Axes
            The axes with the plot.
        """
        from dpexplain.plotting import plot_comparison

        return plot_comparison(self, term=term, ax=ax, **options)

    def __repr__(self) -> str:
        """Return a one-line description that suggests the next step."""
        epsilons = ", ".join(f"{epsilon:g}" for epsilon in self.epsilons)
        reference = "with" if self.reference is not None else "without"
        return (
            f"Comparison(ε = {epsilons}; {len(self.term_names)} terms; {reference} reference; "
            f"{self.guarantee_words[1]}; see .frame(), .metrics, .plot(term))"
        )

    def _repr_html_(self) -> str:
        more = ".frame(), .importances(), .plot(term), .metrics show more"
        return self._html_box({"most important terms": False}, most_important, more)


def _effects(fit: GlobalExplanation) -> pd.Series[float]:
    table = fit.ranking()
    return table["effect"] if "effect" in table else pd.Series(np.nan, table.index)


def _in_all(found: Sequence[tuple[str, ...] | None]) -> list[str] | None:
    """Return the names that every fit found; None if unknown."""
    if any(each is None for each in found):
        return None
    return [name for name in found[0] or () if all(name in (each or ()) for each in found)]


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(shorten(name) for name in names[:_TEXT_TERMS])
    more = ", …" if len(names) > _TEXT_TERMS else ""
    return f": {shown}{more}" if names else ""


def _epsilon_name(epsilon: float) -> str:
    return "not private" if math.isinf(epsilon) else f"ε = {short_number(epsilon)}"


def most_important(fit: GlobalExplanation | MulticlassExplanation) -> tuple[str]:
    """Return the names of the most important terms, as one cell of an HTML table."""
    names = fit.importances().index[:_HTML_TERMS]
    return (", ".join(_html.escaped(str(name), 24) for name in names),)
