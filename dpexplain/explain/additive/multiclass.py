"""Multiclass explanations: one explanation per class.

A multiclass model has a score for each class. Probabilities are the softmax of the scores: their
exponentials divided by the sum of the exponentials. Adding the same number to all scores does not
change any probability, so scores are centered: the score of a class is its log-probability relative
to the average of all classes. Figures show the explanation of one class, returned by
:meth:`for_class`; dashboards switch between classes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from dpexplain._utils.lazy import pd
from dpexplain.explain import _html
from dpexplain.explain._by_class import ByClass, checked_parts
from dpexplain.explain._interpret_local import ONE_CLASS
from dpexplain.explain._record import FloatArray
from dpexplain.explain._text import listing, short_number, shorten
from dpexplain.explain.additive._explaining_rows import explain_rows_of_classes
from dpexplain.explain.additive.edits import EditRecord, summary_of_edits
from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.additive.interpret_manner import InterpretManner, data_of_classes
from dpexplain.explain.additive.multiclass_local import MulticlassLocalExplanation
from dpexplain.explain.additive.predicting import PredictsRows
from dpexplain.explain.bands._drawn import (
    DRAWS,
    drawn_effects,
    drawn_importances,
    rank_intervals,
    sizes_of,
)
from dpexplain.explain.bands._model_words import ModelWords
from dpexplain.explain.display import ModelDisplay
from dpexplain.explain.guarantee import Guarantee
from dpexplain.explain.health import alarm_words
from dpexplain.explain.noise_model import STANDS_OUT_LEVEL

if TYPE_CHECKING:
    from dpexplain.schema import Schema

_HTML_ROWS = 10


def scores_of(
    explanation: GlobalExplanation | MulticlassExplanation,
) -> tuple[GlobalExplanation, ...]:
    """Split an explanation into one explanation for each score."""
    if isinstance(explanation, MulticlassExplanation):
        return explanation.by_class
    return (explanation,)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MulticlassExplanation(
    ModelWords, PredictsRows, InterpretManner, ModelDisplay, ByClass[GlobalExplanation]
):
    """Explanation of an additive model with a score for each of several classes.

    Parameters
    ----------
    by_class : sequence of GlobalExplanation
        One for each class, in order, with the same terms and bins and the link "softmax".

    Raises
    ------
    ValueError
        If the explanations are inconsistent.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dpexplain import Classes, DPExplainableBoostingClassifier, Numeric, Schema
    >>> iris = load_iris(as_frame=True)
    >>> schema = Schema({name: Numeric(0, 10) for name in iris.data}, target=Classes([0, 1, 2]))
    >>> model = DPExplainableBoostingClassifier(epsilon=4, schema=schema)
    >>> model = model.fit(iris.data, iris.target)
    >>> explanation = model.explain_global()
    >>> explanation.for_class("2")["petal length (cm)"].name
    'petal length (cm)'
    """

    by_class: tuple[GlobalExplanation, ...]

    def __post_init__(self) -> None:
        """Check that the parts are compatible."""
        parts = checked_parts(self.by_class, GlobalExplanation)
        named = [(tuple(part), tuple(pair.name for pair in part.pairs)) for part in parts]
        if any(names != named[0] for names in named):
            raise ValueError("by_class differs in its terms; take explanations of one model.")
        self._set("by_class", parts)

    @property
    def guarantee(self) -> Guarantee:
        """Privacy guarantee of the model."""
        return self.by_class[0].guarantee

    @property
    def link(self) -> str:
        """Scale of the scores, ``"softmax"``."""
        return self.by_class[0].link

    @property
    def target_name(self) -> str:
        """Name of the target."""
        return self.by_class[0].target_name

    @property
    def target_unit(self) -> str:
        """Unit of the target; usually empty, because classes have no unit."""
        return self.by_class[0].target_unit

    @property
    def schema(self) -> Schema | None:
        """Public schema of the fit; None if unknown."""
        return self.by_class[0].schema

    @property
    def alarms(self) -> tuple[str, ...]:
        """Alarms from the fit's health check, which point to mistakes in the table."""
        return self.by_class[0].alarms

    @property
    def _by_score(self) -> tuple[GlobalExplanation, ...]:
        return self.by_class

    @property
    def edits(self) -> tuple[EditRecord, ...]:
        """Edits made after the fit, in order; the same for all classes."""
        return self.by_class[0].edits

    @property
    def model_name(self) -> str:
        """Name of the estimator."""
        return self.by_class[0].model_name

    @property
    def score_unit(self) -> str:
        """Unit of scores and contributions."""
        return self.by_class[0].score_unit

    @property
    def intercept(self) -> FloatArray:
        """Score of each class before contributions are added, shape (n_classes,)."""
        return np.array([part.intercept for part in self.by_class])

    @property
    def term_names(self) -> tuple[str, ...]:
        """Names of the terms, in model order."""
        return tuple(self.by_class[0])

    @property
    def terms_above_noise(self) -> tuple[str, ...] | None:
        """Terms that rise above the noise in at least one class, most important first.

        If no term has any effect, the probability that any term is listed is at most 3%. This
        probability is divided equally among the classes. The result is None if the joint noise is
        unknown.
        """
        level = 1.0 - (1.0 - STANDS_OUT_LEVEL) / len(self.by_class)
        names: set[str] = set()
        for part in self.by_class:
            found = part.terms_above(level)
            if found is None:
                return None
            names |= {term.name for term in found}
        return tuple(str(name) for name in self.importances().index if name in names)

    @property
    def terms_with_effect(self) -> tuple[str, ...] | None:
        """Terms with a significant effect in at least one class, most important first.

        If no term has an effect, the probability that any term is listed is at most 3%. This
        probability is divided equally among the classes. The result is None if there are no effect
        estimates.
        """
        found = self._certain
        if found is None:
            return None
        return tuple(str(name) for name in self.importances().index if name in found)

    def without_pairs(self) -> MulticlassExplanation:
        """Return a copy without pairs; see :meth:`GlobalExplanation.without_pairs`.

        Returns
        -------
        MulticlassExplanation
        """
        return MulticlassExplanation(tuple(part.without_pairs() for part in self.by_class))

    def explain_local(
        self, X: Any, y: Any = None, *, samples_public: bool = False
    ) -> MulticlassLocalExplanation:
        """Explain the scores of all classes; see :meth:`GlobalExplanation.explain_local`.

        Parameters
        ----------
        X : table of shape (n_samples, n_columns)
            As in :meth:`predict`. Rows are not protected by the guarantee.
        y : object, default=None
            Ignored; accepted for consistency with the scikit-learn API.
        samples_public : bool, default=False
            Whether the rows may be shown to anyone, because they are public records or what-if
            inputs.

        Returns
        -------
        MulticlassLocalExplanation
        """
        parts = explain_rows_of_classes(self.by_class, X, samples_public=samples_public)
        return MulticlassLocalExplanation(parts)

    def describe(self) -> Iterator[str | pd.DataFrame]:
        """Yield descriptions of the guarantee and the noise, then the terms by importance.

        Yields
        ------
        str or DataFrame
        """
        yield from super().describe()
        yield from map(alarm_words, self.alarms)
        yield from self._effect_lines()
        if self.by_class[0].effect_scatter is not None:
            yield self._column_words
        yield self.ranking()

    def importances(self) -> pd.Series[float]:
        """Return the mean absolute contribution of each term and pair over all classes.

        Returns
        -------
        Series
            Averages over the classes, indexed by term or pair, largest first.
        """
        parts = pd.concat([part.importances() for part in self.by_class], axis=1)
        names = [part.name for part in self.by_class[0].parts]
        means = parts.mean(axis=1).reindex(names).rename("importance")
        return means.sort_values(ascending=False, kind="stable")

    def ranking(self) -> pd.DataFrame:
        """Return importances averaged over the classes, with noise floors and ranks.

        Returns
        -------
        DataFrame
            Indexed by term, largest importance first. Columns: importance (mean absolute
            contribution, averaged over the classes); noise_floor, the importance expected from
            noise alone; corrected_importance, the importance corrected for the bias from noise;
            importance_std, an upper bound on the standard deviation of the importance, computed as
            if the errors of all classes were fully correlated; above_noise, whether the term rises
            above the noise in at least one class; rank_low and rank_high, the 95% rank interval of
            the term; class_of_most, the class to which the term contributes the most; basis, what
            the ranks refer to: "effect" (the estimated effects) if there are estimates, and
            otherwise "noise" (the released curves). If there are estimates, there are four more
            columns: effect and effect_std, the estimated true importance, averaged over the
            classes, and an upper bound on its standard deviation; has_effect, whether the term has
            a significant effect in at least one class; and certain_by, what makes it significant
            in these classes: "bins", "slope" (the term rises or falls overall), "both", or "" if
            nothing does. Unknown numbers are NaN.

            For the direction of a term in each class, see ``for_class(label).ranking()``.
        """
        parts, above = self.by_class, self.terms_above_noise
        shown = np.array([[term.importance for term in part.terms] for part in parts])
        floors = np.array(
            [
                [np.nan if t.noise_floor is None else t.noise_floor for t in part.terms]
                for part in parts
            ]
        )
        corrected = np.array([[t.corrected_importance for t in part.terms] for part in parts])
        names = [term.name for term in parts[0].terms]
        table = pd.DataFrame(
            {
                "importance": shown.mean(axis=0),
                "noise_floor": floors.mean(axis=0),
                "corrected_importance": corrected.mean(axis=0),
                "importance_std": np.nan,
                "above_noise": [None if above is None else name in above for name in names],
                "rank_low": np.nan,
                "rank_high": np.nan,
                "class_of_most": [parts[c].of_class for c in shown.argmax(axis=0)],
            },
            index=pd.Index(names, name="term", dtype=object),
        )
        draws = [
            drawn_importances(part.terms, part.noise, part.noise.draws(DRAWS))
            for part in parts
            if part.noise is not None
        ]
        if len(draws) == len(parts):
            table["importance_std"] = np.mean([d.std(axis=0) for d in draws], axis=0)
            ends = rank_intervals(corrected.mean(axis=0), draws)
            table["rank_low"], table["rank_high"] = ends
        table["basis"] = "noise" if len(draws) == len(parts) else None
        self._fill_effects(table)
        return table.sort_values("importance", ascending=False, kind="stable")

    def _fill_effects(self, table: pd.DataFrame) -> None:
        """Fill in the columns that describe the estimated effects, if there are any."""
        certain = self._certain
        if certain is None:
            return
        sizes = [
            sizes_of(part.terms, scatter, drawn_effects(part.terms, scatter))
            for part in self.by_class
            if (scatter := part.effect_scatter) is not None
        ]
        table["effect"] = np.mean([s.mean(axis=0) for s in sizes], axis=0)
        table["effect_std"] = np.mean([s.std(axis=0) for s in sizes], axis=0)
        table["has_effect"] = [name in certain for name in table.index]
        table["certain_by"] = [certain.get(name, "") for name in table.index]
        ends = rank_intervals(table["effect"].to_numpy(), sizes)
        table["rank_low"], table["rank_high"] = ends
        table["basis"] = "effect"

    def frame(self) -> pd.DataFrame:
        """Return a table with one row per class, term and bin.

        Returns
        -------
        DataFrame
            The column ``class``, followed by the columns of :meth:`ShapeFunction.frame`.
        """
        return self._frames()

    def data(self, key: int | str | None = None) -> dict[str, Any]:
        """Return the data of a term, or the importances, in InterpretML's format.

        Parameters
        ----------
        key : int, str or None, default=None
            Index of the term in `term_names_`, or its name; None for the importances.

        Returns
        -------
        dict
            As returned by :meth:`GlobalExplanation.data`. For a term, lists of numbers become lists
            with one number per class for each bin, except for ``density``.

        Raises
        ------
        KeyError, IndexError
            If the term does not exist.
        """
        if key is not None:
            return data_of_classes([part.data(key) for part in self.by_class])
        importances = self.importances()
        names, values = importances.index.tolist(), importances.tolist()
        return {"type": "univariate", "names": names, "scores": values}

    def visualize(self, key: int | str | None = None) -> NoReturn:
        """Raise an error that asks for a single class.

        Parameters
        ----------
        key : int, str or None, default=None
            As in :meth:`data`.

        Raises
        ------
        ValueError
            Always, because a figure shows only one class.
        """
        raise ValueError(ONE_CLASS)

    def __getitem__(self, name: str) -> NoReturn:
        """Raise an error that asks the caller to choose one class."""
        if name in self.classes:
            raise KeyError(f".for_class({shorten(str(name))!r}) is the explanation of this class.")
        raise KeyError(
            f"a term has a curve per class: .for_class(label)[{shorten(str(name))!r}], with one of "
            f"{listing(self.classes)}."
        )

    def __repr__(self) -> str:
        """Return a one-line summary that suggests what to call next."""
        model = f"{self.model_name}, " if self.model_name else ""
        return (
            f"MulticlassExplanation({model}{len(self.term_names)} terms for {len(self.classes)} "
            f"classes of {self.target_name}; {self.guarantee.short}; "
            f"{summary_of_edits(self.by_class[0].edits)}see .for_class(label), .frame(), "
            ".importances())"
        )

    def _repr_html_(self) -> str:
        table = self.ranking()
        largest = float(table["importance"].iloc[0])
        noisy = self.noise_share is not None
        rows = [
            (
                _html.escaped(str(name)),
                short_number(row["importance"], 3),
                *([short_number(row["noise_floor"], 3)] if noisy else []),
                _html.bar(row["importance"] / largest if largest else 0.0),
            )
            for name, row in table.head(_HTML_ROWS).iterrows()
        ]
        importance = f"importance [{self.score_unit}], mean over classes"
        head = ("term", importance, *(["from noise alone"] if noisy else []), "")
        return _html.box(
            _html.heading(self.model_name or "Explanation"),
            _html.note(shorten(f"{self.target_name}: {listing(self.classes)}", 200)),
            "" if self.guarantee.private else _html.warning(self.guarantee.short),
            *(_html.warning(alarm_words(words)) for words in self.alarms),
            _html.table(head, rows, (False, True, *([True] if noisy else []), False)),
            *map(_html.note, filter(None, (self.noise_words, *self._effect_lines()))),
            *(_html.note(str(edit)) for edit in self.edits),
            _html.note(".for_class(label) shows the curves of a class"),
        )
