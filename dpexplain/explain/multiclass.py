"""Explanations of models with more than two classes: one explanation per class, taken together.

A model of several classes has a score for each; probabilities are the exponentials of the scores
over their sum (softmax). Adding the same number to all scores changes nothing, so scores are
centred: that of a class is its log-probability against the average over all classes. Every view,
figure and file understands the explanation of one class, which :meth:`for_class` gives.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpexplain._names import closest_name
from dpexplain.explain import _html
from dpexplain.explain._noisy_classes import NoisyClasses
from dpexplain.explain._record import FloatArray, Record
from dpexplain.explain._text import listing, short_number, shorten
from dpexplain.explain.edits import EditRecord
from dpexplain.explain.global_explanation import GlobalExplanation
from dpexplain.explain.guarantee import Guarantee
from dpexplain.explain.local_explanation import LocalExplanation

_HTML_ROWS = 10
_Part = TypeVar("_Part", GlobalExplanation, LocalExplanation)


def class_position(classes: tuple[str, ...], label: object) -> int:
    """Find a class by its name.

    Parameters
    ----------
    classes : tuple of str
    label : object
        Compared as text, so that 3 finds ``"3"``.

    Returns
    -------
    int

    Raises
    ------
    KeyError
        If there is no such class.
    """
    name = str(label)
    if name in classes:
        return classes.index(name)
    meant = closest_name(name, classes)
    hint = "" if meant is None else f" Did you mean {shorten(meant)!r}?"
    raise KeyError(f"no class {shorten(name)!r}; the classes are {listing(classes)}.{hint}")


def one_class_at_a_time(what: str, classes: tuple[str, ...]) -> NoReturn:
    """Raise the error of a view that is given all classes.

    Raises
    ------
    ValueError
        Always; it names the method to call and the classes there are.
    """
    raise ValueError(
        f"{what} shows one class at a time; pass .for_class(label) with one of {listing(classes)}."
    )


def scores_of(
    explanation: GlobalExplanation | MulticlassExplanation,
) -> tuple[GlobalExplanation, ...]:
    """Take an explanation apart into one per score: of each class, or the only one."""
    if isinstance(explanation, MulticlassExplanation):
        return explanation.by_class
    return (explanation,)


def check_one_class(shown: Any) -> None:
    """Refuse to draw an explanation or comparison of several classes.

    Raises
    ------
    ValueError
        If `shown` is of several classes; it names the method to call.
    """
    if hasattr(shown, "for_class"):
        one_class_at_a_time("a figure", shown.classes)


def _checked_parts(parts: Any, kind: type[_Part]) -> tuple[_Part, ...]:
    """Check that there is one part per class, in the order of the classes, of one model."""
    parts = tuple(parts)
    if len(parts) < 2 or not all(isinstance(part, kind) for part in parts):
        raise ValueError(f"by_class must hold a {kind.__name__} for each of at least two classes.")
    first = parts[0]
    if tuple(part.of_class for part in parts) != first.classes:
        raise ValueError("by_class must hold one explanation for each class, in their order.")
    for field in ("link", "classes", "guarantee", "target_name"):
        if any(getattr(part, field) != getattr(first, field) for part in parts):
            raise ValueError(f"by_class differs in {field}; take explanations of one model.")
    return parts


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MulticlassExplanation(NoisyClasses, Record):
    """An additive model with a score for each of several classes.

    Parameters
    ----------
    by_class : sequence of GlobalExplanation
        One per class, in their order: same terms and bins, link "softmax".

    Raises
    ------
    ValueError
        If the parts do not belong together.

    Examples
    --------
    >>> explanation = model.explain_global()  # doctest: +SKIP
    >>> explanation.for_class("setosa")["petal length"].plot()  # doctest: +SKIP
    """

    by_class: tuple[GlobalExplanation, ...]

    def __post_init__(self) -> None:
        """Check that the parts belong together."""
        parts = _checked_parts(self.by_class, GlobalExplanation)
        named = [(tuple(part), tuple(pair.name for pair in part.pairs)) for part in parts]
        if any(names != named[0] for names in named):
            raise ValueError("by_class differs in its terms; take explanations of one model.")
        self._set("by_class", parts)

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes."""
        return self.by_class[0].classes or ()

    @property
    def guarantee(self) -> Guarantee:
        """Privacy of the whole object: that of the model."""
        return self.by_class[0].guarantee

    @property
    def link(self) -> str:
        """Scale of the scores, ``"softmax"``."""
        return self.by_class[0].link

    @property
    def target_name(self) -> str:
        """Name of what is predicted."""
        return self.by_class[0].target_name

    @property
    def target_unit(self) -> str:
        """Unit of what is predicted: classes have none."""
        return self.by_class[0].target_unit

    @property
    def edits(self) -> tuple[EditRecord, ...]:
        """What was done by hand after the fit, in order; the same for all classes."""
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
        """Score of each class before any contribution, shape (n_classes,)."""
        return np.array([part.intercept for part in self.by_class])

    @property
    def term_names(self) -> tuple[str, ...]:
        """Names of the terms, in model order."""
        return tuple(self.by_class[0])

    def for_class(self, label: object) -> GlobalExplanation:
        """Explanation of one class, which every view, figure and file understands.

        Parameters
        ----------
        label : object
            Name of the class.

        Returns
        -------
        GlobalExplanation

        Raises
        ------
        KeyError
            If there is no such class.
        """
        return self.by_class[class_position(self.classes, label)]

    def without_pairs(self) -> MulticlassExplanation:
        """Leave out the pairs of every class; see :meth:`GlobalExplanation.without_pairs`.

        Returns
        -------
        MulticlassExplanation
        """
        return MulticlassExplanation(tuple(part.without_pairs() for part in self.by_class))

    def explain_local(
        self, X: pd.DataFrame, *, samples_public: bool = False
    ) -> MulticlassLocalExplanation:
        """Contributions to the scores of all classes; see :meth:`GlobalExplanation.explain_local`.

        Parameters
        ----------
        X : DataFrame of shape (n_samples, n_columns)
            With a column for every feature. Rows are not protected by the guarantee.
        samples_public : bool, default=False
            Whether the rows may be shown to anyone (public records, what-if inputs).

        Returns
        -------
        MulticlassLocalExplanation
        """
        from dpexplain.explain._explaining_rows import explain_rows_of_classes

        parts = explain_rows_of_classes(self.by_class, X, samples_public=samples_public)
        return MulticlassLocalExplanation(parts)

    def importances(self) -> pd.Series[float]:
        """Return the mean absolute contribution of each term, averaged over the classes.

        Returns
        -------
        Series
            Indexed by term, largest first.
        """
        return self._mean_importances()

    def frame(self) -> pd.DataFrame:
        """Return one row per class, term and bin.

        Returns
        -------
        DataFrame
            Column class, then those of :meth:`ShapeFunction.frame`.
        """
        frames = []
        for name, part in zip(self.classes, self.by_class, strict=True):
            frame = part.frame()
            frame.insert(0, "class", name)
            frames.append(frame)
        return pd.concat(frames, ignore_index=True)

    def plot(self, *arguments: Any, **options: Any) -> NoReturn:
        """Say which class to draw.

        Parameters
        ----------
        *arguments, **options
            What a figure of one class would take.

        Raises
        ------
        ValueError
            Always: a figure shows one class.
        """
        one_class_at_a_time("a figure", self.classes)

    def __getitem__(self, name: str) -> NoReturn:
        """Say how to choose a class first, then a term."""
        raise KeyError(
            f"a term has a curve per class: .for_class(label)[{shorten(str(name))!r}], with one of "
            f"{listing(self.classes)}."
        )

    def __repr__(self) -> str:
        """Return a line that points to the next step."""
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
            _html.note(self.noise_words) if self.noise_words else "",
            *(_html.note(str(edit)) for edit in self.edits),
            _html.note(".for_class(label) shows the curves of a class"),
        )


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MulticlassLocalExplanation(Record):
    """Contributions of every term to the scores of some samples, for each of several classes.

    Parameters
    ----------
    by_class : sequence of LocalExplanation
        One per class, in their order: same samples and terms, link "softmax".

    Raises
    ------
    ValueError
        If the parts do not belong together.
    """

    by_class: tuple[LocalExplanation, ...]

    def __post_init__(self) -> None:
        """Check that the parts belong together."""
        parts = _checked_parts(self.by_class, LocalExplanation)
        for field in ("term_names", "bin_labels", "samples_public"):
            if any(getattr(part, field) != getattr(parts[0], field) for part in parts):
                raise ValueError(f"by_class differs in {field}; explain the same samples.")
        self._set("by_class", parts)

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes."""
        return self.by_class[0].classes or ()

    @property
    def guarantee(self) -> Guarantee:
        """Privacy of the model; it does not cover the samples."""
        return self.by_class[0].guarantee

    @property
    def samples_public(self) -> bool:
        """Whether the samples may be shown to anyone."""
        return self.by_class[0].samples_public

    @property
    def releasable(self) -> bool:
        """Whether model and samples may both be shown to anyone."""
        return self.by_class[0].releasable

    @property
    def scores(self) -> FloatArray:
        """Scores on the link scale, shape (n_samples, n_classes)."""
        return np.stack([part.scores for part in self.by_class], axis=1)

    @property
    def predictions(self) -> FloatArray:
        """Probability of each class, shape (n_samples, n_classes)."""
        return np.stack([part.predictions for part in self.by_class], axis=1)

    def for_class(self, label: object) -> LocalExplanation:
        """Explanation of the scores of one class.

        Parameters
        ----------
        label : object
            Name of the class.

        Returns
        -------
        LocalExplanation

        Raises
        ------
        KeyError
            If there is no such class.
        """
        return self.by_class[class_position(self.classes, label)]

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.by_class[0])

    def to_shap(self, X: npt.ArrayLike | None = None) -> Any:
        """Return the contributions as a ``shap.Explanation``, a last axis per class.

        Nothing is estimated: in an additive model the contribution of a term is its Shapley
        value against the intercept, since curves are centred on the counts of the model.

        Parameters
        ----------
        X : DataFrame, array or sequence of rows, or None, default=None
            The same samples, whose values SHAP's plots then show and colour by; None shows the
            bin of each as text.

        Returns
        -------
        shap.Explanation
            SHAP has no place for guarantee and noise: keep this object beside its plots.

        Raises
        ------
        ImportError
            If SHAP is not installed.
        ValueError
            If `X` has another number of rows, or lacks a column.
        """
        from dpexplain.interop.shap_values import to_shap

        return to_shap(self, X)

    def frame(self, sample: int | None = None) -> pd.DataFrame:
        """Return one row per class, sample and term.

        Parameters
        ----------
        sample : int or None, default=None
            Position of one sample; None gives all.

        Returns
        -------
        DataFrame
            Column class, then those of :meth:`LocalExplanation.frame`.
        """
        frames = []
        for name, part in zip(self.classes, self.by_class, strict=True):
            frame = part.frame(sample)
            frame.insert(0, "class", name)
            frames.append(frame)
        return pd.concat(frames, ignore_index=True)

    def plot(self, *arguments: Any, **options: Any) -> NoReturn:
        """Say which class to draw.

        Parameters
        ----------
        *arguments, **options
            What a figure of one class would take.

        Raises
        ------
        ValueError
            Always: a figure shows one class.
        """
        one_class_at_a_time("a figure", self.classes)

    def __repr__(self) -> str:
        """Return a line that points to the next step."""
        public = "" if self.samples_public else "; samples not public"
        return (
            f"MulticlassLocalExplanation({len(self)} samples, {len(self.classes)} classes; "
            f"{self.guarantee.short}{public}; see .for_class(label), .frame())"
        )
