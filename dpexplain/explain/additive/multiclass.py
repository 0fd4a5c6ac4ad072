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
import pandas as pd

from dpexplain.explain import _html
from dpexplain.explain._by_class import ByClass, checked_parts
from dpexplain.explain._record import FloatArray
from dpexplain.explain._text import listing, short_number, shorten
from dpexplain.explain.additive._explaining_rows import explain_rows_of_classes
from dpexplain.explain.additive.edits import EditRecord
from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.additive.interpret_manner import InterpretManner
from dpexplain.explain.additive.multiclass_local import MulticlassLocalExplanation
from dpexplain.explain.additive.predicting import PredictsRows
from dpexplain.explain.bands._noisy_classes import NoisyClasses
from dpexplain.explain.display import ModelDisplay
from dpexplain.explain.guarantee import Guarantee

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
    NoisyClasses, PredictsRows, InterpretManner, ModelDisplay, ByClass[GlobalExplanation]
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
    >>> explanation = model.explain_global()  # doctest: +SKIP
    >>> explanation.for_class("setosa")["petal length"].plot()  # doctest: +SKIP
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
        yield from (words for words in (self.effect_words, self.effect_caution) if words)
        yield self.ranking()

    def importances(self) -> pd.Series[float]:
        """Return the mean absolute contribution of each term and pair over all classes.

        Returns
        -------
        Series
            Averages over the classes, indexed by term or pair, largest first.
        """
        return self._mean_importances()

    def frame(self) -> pd.DataFrame:
        """Return a table with one row per class, term and bin.

        Returns
        -------
        DataFrame
            The column ``class``, followed by the columns of :meth:`ShapeFunction.frame`.
        """
        return self._frames()

    def __getitem__(self, name: str) -> NoReturn:
        """Raise an error that asks the caller to choose one class."""
        raise KeyError(
            f"a term has a curve per class: .for_class(label)[{shorten(str(name))!r}], with one of "
            f"{listing(self.classes)}."
        )

    def __repr__(self) -> str:
        """Return a one-line summary that suggests what to call next."""
        model = f"{self.model_name}, " if self.model_name else ""
        return (
            f"MulticlassExplanation({model}{len(self.term_names)} terms for {len(self.classes)} "
            f"classes of {self.target_name}; {self.guarantee.short}; {self.by_class[0]._edited}see "
            ".for_class(label), .frame(), .importances())"
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
            _html.table(head, rows, (False, True, *([True] if noisy else []), False)),
            *(
                _html.note(words)
                for words in (self.noise_words, self.effect_words, self.effect_caution)
                if words
            ),
            *(_html.note(str(edit)) for edit in self.edits),
            _html.note(".for_class(label) shows the curves of a class"),
        )
