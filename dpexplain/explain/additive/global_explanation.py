"""Explanations of additive models: shape functions, intercept and guarantee."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from dpexplain._utils.lazy import pd
from dpexplain.explain import _html
from dpexplain.explain._record import Record, choice, distinct, finite, text
from dpexplain.explain._text import did_you_mean, listing, short_number, shorten
from dpexplain.explain.additive._explaining_rows import ExplainsRows
from dpexplain.explain.additive._reading_rows import check_schema
from dpexplain.explain.additive.edits import EditRecord, summary_of_edits
from dpexplain.explain.additive.interpret_manner import InterpretData
from dpexplain.explain.additive.links import Link, checked_classes, score_unit, shown_class
from dpexplain.explain.additive.pair_curve import PairCurve
from dpexplain.explain.additive.predicting import PredictsRows
from dpexplain.explain.additive.shape_function import ShapeFunction
from dpexplain.explain.bands._noisy_model import NoisyModel
from dpexplain.explain.display import ModelDisplay
from dpexplain.explain.guarantee import Guarantee
from dpexplain.explain.health import alarm_words
from dpexplain.explain.noise_model import NoiseModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpexplain.schema import Schema


_HTML_ROWS = 10
_Part = TypeVar("_Part", ShapeFunction, PairCurve)

_BIN_WORDS = (
    "What is noise? contribution, its standard deviations and signal describe the released curve. "
    "What holds in the population? effect, its 95% band and effect_signal estimate it."
)
_EDITED_WORDS = (
    "contribution is that of the edited curve, and signal compares it with the noise of the fit. "
    "The standard deviations, effect, its 95% band and effect_signal are those of the fit."
)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class GlobalExplanation(
    NoisyModel,
    PredictsRows,
    ExplainsRows,
    InterpretData,
    Record,
    ModelDisplay,
    Mapping[str, ShapeFunction],
):
    """Explanation of an additive model: a mapping from term names to shape functions.

    The values are instances of :class:`ShapeFunction`, in model order.

    Parameters
    ----------
    terms : sequence of ShapeFunction
        The terms, in the order in which the model adds them.
    intercept : float
        Score before contributions are added, on the link scale.
    link : {"logit", "identity", "log", "softmax"}
        Scale of the score: the log-odds of ``classes[1]``, the target itself, the logarithm of the
        expected target, or the log-probability of `of_class` relative to the average of all
        classes.
    guarantee : Guarantee
        Privacy guarantee of the whole object.
    target_name : str, default="target"
        Name of the target.
    target_unit : str, default=""
        Unit of the target, for regression.
    classes : tuple of str or None, default=None
        Class names of a classifier. If there are two classes, the score is for the second class.
    model_name : str, default=""
        Name of the estimator.
    of_class : str, default=""
        Class to which the score refers if there are several classes (link "softmax").
    noise : NoiseModel or None, default=None
        Joint errors of all bins due to privacy noise, random structure and sampling; None if the
        model has no noise, or if the noise is unknown.
    effect_scatter : NoiseModel or None, default=None
        Joint errors of the effect estimates, for all bins and the intercept; None if not available.
    effect_intercept : float or None, default=None
        Estimate of the intercept in the population; None if not available.
    edits : sequence of EditRecord, default=()
        Manual edits made after the fit, in order; see :mod:`dpexplain.edit`.
    released_intercept : float or None, default=None
        Intercept as released, if edits changed it; otherwise None.
    pairs : sequence of PairCurve, default=()
        Two-feature terms, added after the single-feature terms. They are not keys of the mapping;
        see :meth:`pair`.
    main_effects_only : bool, default=False
        Whether the model has interactions that no term shows, as in tree models. If so, the scores
        of the model are not sums of the terms.
    schema : Schema or None, default=None
        Public schema of the fit; None if unknown. Its rules for reading cells apply when rows are
        explained or predicted.
    alarms : sequence of str, default=()
        Alarms from the fit's health check, which point to mistakes in the table; see
        :class:`Health`.

    Raises
    ------
    ValueError
        If two terms or pairs have the same name, link and classes are inconsistent, the guarantee
        is private but the guarantee of a term or pair is not, or the schema describes other
        features or classes.

    See Also
    --------
    dpexplain.explain.claim : Sentence about a term or a decision, with a 95% confidence interval.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema)
    >>> model = model.fit(stays.X, stays.y)
    >>> explanation = model.explain_global()
    >>> explanation["age"].name, len(explanation)
    ('age', 12)
    >>> explanation.guarantee.short
    '(1, 1e-06)-DP, add/remove'
    >>> explanation.importances().index[0] in explanation    # the most important term
    True
    """

    terms: tuple[ShapeFunction, ...]
    intercept: float
    link: Link
    _: dataclasses.KW_ONLY
    guarantee: Guarantee
    target_name: str = "target"
    target_unit: str = ""
    classes: tuple[str, ...] | None = None
    model_name: str = ""
    of_class: str = ""
    noise: NoiseModel | None = None
    effect_scatter: NoiseModel | None = None
    effect_intercept: float | None = None
    edits: tuple[EditRecord, ...] = ()
    released_intercept: float | None = None
    pairs: tuple[PairCurve, ...] = ()
    main_effects_only: bool = False
    schema: Schema | None = None
    alarms: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the fields, and pass the score unit and the edits on to the terms."""
        for field in ("target_name", "target_unit", "model_name"):
            text(field, getattr(self, field))
        if not isinstance(self.guarantee, Guarantee):
            raise ValueError("guarantee must be a Guarantee.")
        self._set("alarms", tuple(text("alarms", words) for words in self.alarms))
        self._set("intercept", finite("intercept", self.intercept))
        self._set("main_effects_only", bool(self.main_effects_only))
        self._set("classes", checked_classes(self.link, self.classes, self.of_class))
        terms = tuple(self.terms)
        if not terms or not all(isinstance(term, ShapeFunction) for term in terms):
            raise ValueError("terms must be one or more ShapeFunction objects.")
        self._set("pairs", tuple(self.pairs))
        if not all(isinstance(pair, PairCurve) for pair in self.pairs):
            raise ValueError("pairs must be PairCurve objects.")
        distinct("terms", (*(term.name for term in terms), *(pair.name for pair in self.pairs)))
        self._check_guarantees()
        self._check_edits()
        self._set("terms", tuple(self._completed(term) for term in terms))
        self._set("pairs", tuple(self._completed(pair) for pair in self.pairs))
        self._check_noise()
        check_schema(self.schema, self._features, self.classes)

    def _check_guarantees(self) -> None:
        own = self.guarantee
        others = [part.name for part in self.parts if not part.guarantee.promises_as(own)]
        if own.private and others:
            raise ValueError(
                "a private explanation cannot hold non-private components or those of another fit: "
                f"{listing(others)}. Remove them, or use a guarantee marked as not private."
            )

    def _check_edits(self) -> None:
        self._set("edits", tuple(self.edits))
        if not all(isinstance(edit, EditRecord) for edit in self.edits):
            raise ValueError("edits must be EditRecord objects.")
        if self.released_intercept is not None:
            self._set("released_intercept", finite("released_intercept", self.released_intercept))

    def _check_noise(self) -> None:
        sizes = tuple(term.n_bins for term in self.terms)
        for name in ("noise", "effect_scatter"):
            joint = getattr(self, name)
            if joint is None:
                continue
            if not isinstance(joint, NoiseModel):
                raise ValueError(f"{name} must be a NoiseModel.")
            if joint.sizes != sizes:
                raise ValueError(f"{name} is for terms of {joint.sizes} bins, not {sizes}.")
        if self.effect_intercept is not None:
            self._set("effect_intercept", finite("effect_intercept", self.effect_intercept))

    def _completed(self, term: _Part) -> _Part:
        unit = term.score_unit or self.score_unit
        edits = tuple(edit.words for edit in self.edits if term.name in edit.terms) or term.edits
        name = self.score_name
        if (unit, name, edits) == (term.score_unit, term.score_name, term.edits):
            return term
        return dataclasses.replace(term, score_unit=unit, score_name=name, edits=edits)

    @property
    def _by_score(self) -> tuple[GlobalExplanation]:
        return (self,)

    @property
    def score_unit(self) -> str:
        """Unit of scores and contributions, such as ``"log-odds"``."""
        return score_unit(self.link, self.target_name, self.target_unit)

    @property
    def shown_class(self) -> str:
        """Class to which the score refers; empty for regression."""
        return shown_class(self.classes, self.of_class)

    @property
    def score_name(self) -> str:
        """Name of the score, such as ``"log-odds of income = >50K"``."""
        if self.link == "softmax":
            return f"log-odds of {self.target_name} = {self.of_class} against the average class"
        if self.classes is not None:
            return f"log-odds of {self.target_name} = {self.classes[1]}"
        name = f"{self.target_name} [{self.target_unit}]" if self.target_unit else self.target_name
        return f"log of the expected {name}" if self.link == "log" else name

    def __getitem__(self, name: str) -> ShapeFunction:
        """Return the term with this name."""
        for term in self.terms:
            if term.name == name:
                return term
        if any(pair.name == name for pair in self.pairs):
            raise KeyError(f"{shorten(name)!r} is a pair of features, not a term; see .pair(name).")
        if " & " in str(name) and not any(" & " in term for term in self):
            self.pair(name)
        hint = did_you_mean(str(name), [part.name for part in self.parts])
        raise KeyError(f"no term {shorten(str(name))!r}; the terms are {listing(self)}.{hint}")

    def __iter__(self) -> Iterator[str]:
        """Iterate over the term names in model order."""
        return (term.name for term in self.terms)

    def __len__(self) -> int:
        """Return the number of terms."""
        return len(self.terms)

    def pair(self, name: str) -> PairCurve:
        """Return the pair with this name.

        Parameters
        ----------
        name : str
            Name of the pair, such as ``"age & job"``.

        Returns
        -------
        PairCurve

        Raises
        ------
        KeyError
            If the pair does not exist.
        """
        for pair in self.pairs:
            if pair.name == name:
                return pair
        known = [pair.name for pair in self.pairs]
        there = (
            f"the pairs are {listing(known)}"
            if known
            else "this model has no pairs; fit it with pairs='auto' or a list of pairs of features"
        )
        turned = " & ".join(reversed(str(name).split(" & ")))
        hint = did_you_mean(turned if turned in known else str(name), known)
        raise KeyError(f"no pair {shorten(str(name))!r}; {there}.{hint}")

    def part(self, name: str) -> ShapeFunction | PairCurve:
        """Return the term or pair with this name.

        Parameters
        ----------
        name : str
            Name of the term or pair, such as ``"age"`` or ``"age & job"``.

        Returns
        -------
        ShapeFunction or PairCurve

        Raises
        ------
        KeyError
            If there is no term or pair with this name.
        """
        return self.pair(name) if any(name == pair.name for pair in self.pairs) else self[name]

    def without_pairs(self) -> GlobalExplanation:
        """Return the explanation without its pairs, for comparison with other models.

        Returns
        -------
        GlobalExplanation
            A copy without pairs; its scores differ from those of the model.
        """
        return dataclasses.replace(self, pairs=())

    def importances(self) -> pd.Series[float]:
        """Return the mean absolute contribution of each term and each pair, largest first.

        Returns
        -------
        Series
            Indexed by term, in :attr:`score_unit`. The means are weighted by the (noisy) counts, so
            computing them costs no additional privacy. Noise alone makes an importance positive, so
            compare it with ``explanation.part(term).noise_floor``; see
            :attr:`ShapeFunction.noise_floor`.
        """
        values = pd.Series(
            [part.importance for part in self.parts],
            index=pd.Index([part.name for part in self.parts], name="term", dtype=object),
            name="importance",
            dtype=np.float64,
        )
        return values.sort_values(ascending=False, kind="stable")

    def frame(self) -> pd.DataFrame:
        """Return a table with one row per term and bin.

        Returns
        -------
        DataFrame
            Terms in model order; columns as in :meth:`ShapeFunction.frame`. For the cells of a
            pair, see :meth:`PairCurve.frame`.
        """
        return pd.concat([term.frame() for term in self.terms], ignore_index=True)

    def describe(self) -> Iterator[str | pd.DataFrame]:
        """Yield the guarantee, noise and effects in words, then the terms by importance.

        Yields
        ------
        str or DataFrame
        """
        yield from super().describe()
        yield from map(alarm_words, self.alarms)
        yield from self._effect_lines()
        if self.effect_scatter is not None:
            yield self._column_words
        yield self.ranking()
        if self.pairs:
            yield self.pair_ranking()

    def term_frames(self) -> dict[str, pd.DataFrame]:
        """Return a table for each term and each pair, keyed by name.

        Returns
        -------
        dict of str to DataFrame
        """
        return {**super().term_frames(), **{pair.name: pair.frame() for pair in self.pairs}}

    def term_words(self, term: str) -> Iterator[str]:
        """Yield the meaning of the columns of a term, and a warning or note on it.

        Parameters
        ----------
        term : str
            Name of the term.

        Yields
        ------
        str
            A paragraph.
        """
        if edited := self.part(term).edit_words:
            yield f"The curve was {edited}."
        if term in self and self[term].effect is not None:
            yield _EDITED_WORDS if edited else _BIN_WORDS
        if words := self.effect_remarks.get(term):
            yield words

    @overload
    def plot(self, term: None = None, **options: Any) -> npt.NDArray[np.object_]: ...

    @overload
    def plot(self, term: str, ax: Axes | None = None, **options: Any) -> Axes: ...

    def plot(
        self,
        term: str | None = None,
        ax: Axes | None = None,
        *,
        kind: Literal["terms", "importance"] = "terms",
        **options: Any,
    ) -> npt.NDArray[np.object_] | Axes:
        """Plot one term, all terms or their importances; see :mod:`dpexplain.plotting`.

        Parameters
        ----------
        term : str or None, default=None
            Name of a single term or pair to draw, as in :meth:`ShapeFunction.plot`; None draws one
            panel for each term and pair.
        ax : Axes or None, default=None
            Axes to draw one term or the importances into; None creates a figure.
        kind : {"terms", "importance"}, default="terms"
            What to draw: the terms, or one bar for the importance of each term.
        **options
            Passed on to the plotting function.

        Returns
        -------
        ndarray of Axes, or Axes
            One panel per term or pair, most important first. If `term` or ``kind="importance"`` is
            given, the axes of that plot.

        Raises
        ------
        KeyError
            If there is no term or pair with this name.
        ValueError
            If `ax` is given although all terms are drawn, `kind` is unknown, or
            ``kind="importance"`` is combined with `term`.
        """
        from dpexplain.plotting import plot_global, plot_importance

        choice("kind", kind, ("terms", "importance") if term is None else ("terms",))
        if kind == "importance":
            return plot_importance(self, ax=ax, **options)
        if term is not None:
            part = self.part(term)
            if isinstance(part, ShapeFunction):
                options = {"caution": self.effect_remarks.get(term, ""), **options}
            return part.plot(ax=ax, **options)
        if ax is not None:
            raise ValueError("ax= takes one term; name it, or pass figure= to draw all terms.")
        return plot_global(self, **options)

    def plot_importance(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the importances; see :func:`dpexplain.plotting.plot_importance`.

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
        return cast("Axes", self.plot(ax=ax, kind="importance", **options))

    def __repr__(self) -> str:
        """Return a one-line summary that suggests what to call next."""
        model = f"{self.model_name}, " if self.model_name else ""
        return (
            f"GlobalExplanation({model}{self._size_words} for {self.score_name}; "
            f"{self.guarantee.short}; {summary_of_edits(self.edits)}see .frame(), "
            ".importances(), .ranking(), .plot(), .plot(term))"
        )

    @property
    def _size_words(self) -> str:
        pairs = len(self.pairs)
        more = f" and {pairs} pair{'s' if pairs > 1 else ''}" if pairs else ""
        return f"{len(self)} terms{more}"

    def _repr_html_(self) -> str:
        importances = self.importances()
        largest = float(importances.iloc[0])
        noisy = any(part.noise_floor is not None for part in self.parts)
        rows = [
            (
                _html.escaped(str(name)),
                short_number(value, 3),
                *([_floor_text(self.part(str(name)))] if noisy else []),
                _html.bar(value / largest if largest else 0.0),
            )
            for name, value in importances.head(_HTML_ROWS).items()
        ]
        importance = f"importance [{self.score_unit}]" if self.score_unit else "importance"
        head = ("term", importance, *(["from noise alone"] if noisy else []), "")
        private = self.guarantee.private
        return _html.box(
            _html.heading(self.model_name or "Explanation"),
            _html.note(shorten(self.score_name, 90)),
            "" if private else _html.warning(self.guarantee.short),
            *(_html.warning(alarm_words(words)) for words in self.alarms),
            _html.table(head, rows, (False, True, *([True] if noisy else []), False)),
            *map(_html.note, filter(None, (self.noise_words, *self._effect_lines()))),
            *(_html.note(str(edit)) for edit in self.edits),
            _html.note(self._footer()),
        )

    def _footer(self) -> str:
        more = len(self) + len(self.pairs) - _HTML_ROWS
        parts = [f"{more} more terms in .importances()"] if more > 0 else []
        parts += [self.guarantee.short] if self.guarantee.private else []
        return "; ".join([*parts, ".frame(), .plot(), ['term'] show more"])


def _floor_text(part: ShapeFunction | PairCurve) -> str:
    return "" if part.noise_floor is None else short_number(part.noise_floor, 3)
