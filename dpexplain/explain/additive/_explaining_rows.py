"""Explain rows using the curves of an explanation, without the model."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dpexplain.explain._record import FloatArray
from dpexplain.explain._text import listing
from dpexplain.explain.additive._binned import NO_BIN, Binned
from dpexplain.explain.additive._reading_rows import FindsBins, bins_of_rows
from dpexplain.explain.additive.local_explanation import LocalExplanation, rest_scores, total_score

if TYPE_CHECKING:
    from dpexplain.explain.additive.links import Link
    from dpexplain.explain.additive.pair_curve import PairCurve
    from dpexplain.explain.additive.shape_function import ShapeFunction
    from dpexplain.explain.guarantee import Guarantee
    from dpexplain.schema import Schema

_NO_BIN_LABEL = "no bin"


class ExplainsRows:
    """Mixin that lets :class:`GlobalExplanation` explain rows."""

    terms: tuple[ShapeFunction, ...]
    pairs: tuple[PairCurve, ...]
    intercept: float
    link: Link
    classes: tuple[str, ...] | None
    of_class: str
    guarantee: Guarantee
    target_name: str
    target_unit: str
    model_name: str
    main_effects_only: bool
    schema: Schema | None

    @property
    def parts(self) -> tuple[ShapeFunction | PairCurve, ...]:
        """All parts of the score except the intercept: the terms, then the pairs."""
        return (*self.terms, *self.pairs)

    @property
    def _features(self) -> tuple[Binned, ...]:
        """The bins of each term, then the bins of both features of each pair."""
        return (*self.terms, *(axis for pair in self.pairs for axis in pair.axes))

    def explain_local(
        self, X: Any, y: Any = None, *, samples_public: bool = False
    ) -> LocalExplanation:
        """Return the contribution of each term and pair to the score of each row.

        The model is not needed.

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
        LocalExplanation
            Contributions of the terms and pairs, with their noise if it is known. ``score_std`` is
            None; to obtain it, call the model's ``explain_local``.

        Raises
        ------
        TypeError
            If `X` is not a table with named columns, and the explanation has no schema.
        ValueError
            If a column is missing, or if this explanation covers only one of several classes or
            only main effects.

        Warns
        -----
        UserWarning
            If a term has no bin for a value, such as a missing value; the term then contributes 0,
            with the label "no bin".
        """
        return explain_rows(self, X, samples_public=samples_public)


def explain_rows(explanation: ExplainsRows, X: Any, *, samples_public: bool) -> LocalExplanation:
    """Explain rows; see :meth:`GlobalExplanation.explain_local`.

    Parameters
    ----------
    explanation : GlobalExplanation
    X : table of shape (n_samples, n_columns)
    samples_public : bool

    Returns
    -------
    LocalExplanation
    """
    (places,) = _places_by_score([explanation], X)
    _warn_where_no_bin(explanation, places)
    return _explained(explanation, places, samples_public=samples_public)


def explain_rows_of_classes(
    by_class: Sequence[ExplainsRows], X: Any, *, samples_public: bool
) -> tuple[LocalExplanation, ...]:
    """Explain the score of every class for each row.

    Parameters
    ----------
    by_class : sequence of GlobalExplanation
    X : table of shape (n_samples, n_columns)
    samples_public : bool

    Returns
    -------
    tuple of LocalExplanation
        One for each class.
    """
    places = _places_by_score(by_class, X)
    _warn_where_no_bin(by_class[0], places[0])  # classes share their bins
    rest = rest_scores(_scores(by_class, places))
    return tuple(
        _explained(part, at, samples_public=samples_public, rest_score=rest[:, k])
        for k, (part, at) in enumerate(zip(by_class, places, strict=True))
    )


def scores_of_rows(by_score: Sequence[ExplainsRows], X: Any) -> FloatArray:
    """Return the score of each row on the link scale.

    Parameters
    ----------
    by_score : sequence of GlobalExplanation
        A single explanation, or one for each class.
    X : table of shape (n_samples, n_columns)

    Returns
    -------
    ndarray of float64, shape (n_samples,) or (n_samples, n_classes)
    """
    places = _places_by_score(by_score, X)
    _warn_where_no_bin(by_score[0], places[0])
    scores = _scores(by_score, places)
    return scores[:, 0] if len(by_score) == 1 else scores


def contributions_of_rows(by_score: Sequence[ExplainsRows], X: Any) -> FloatArray:
    """Return the contribution of each term and pair to the score of each row.

    Parameters
    ----------
    by_score : sequence of GlobalExplanation
        A single explanation, or one for each class.
    X : table of shape (n_samples, n_columns)

    Returns
    -------
    ndarray of float64, shape (n_samples, n_terms) or (n_samples, n_terms, n_classes)
    """
    places = _places_by_score(by_score, X)
    _warn_where_no_bin(by_score[0], places[0])
    tables = [_contributions(part, at) for part, at in zip(by_score, places, strict=True)]
    return tables[0] if len(tables) == 1 else np.stack(tables, axis=2)


def _scores(
    by_score: Sequence[ExplainsRows], places: Sequence[Sequence[npt.NDArray[np.int64]]]
) -> FloatArray:
    parts = zip(by_score, places, strict=True)
    scores = [total_score(_contributions(part, at), part.intercept) for part, at in parts]
    return np.stack(scores, axis=1)


def _places_by_score(by_score: Sequence[ExplainsRows], X: Any) -> list[list[npt.NDArray[np.int64]]]:
    """Return, for each score, the bins and cells into which the rows fall.

    The table is read only once.
    """
    first = by_score[0]
    if len(by_score) == 1 and first.of_class:
        raise ValueError(
            f"this explains only the class {first.of_class!r}, whose probability depends on "
            "the other classes; take the explanation of all classes."
        )
    if first.main_effects_only:
        raise ValueError(
            f"{first.model_name or 'the model'} has interactions that the curves do not "
            "include, so this explanation cannot reproduce its scores; call the model's "
            "explain_local or predict."
        )
    bins_of = bins_of_rows(first._features, first.schema, X)
    return [_places(part, bins_of) for part in by_score]


def _places(explanation: ExplainsRows, bins_of: FindsBins) -> list[npt.NDArray[np.int64]]:
    """Return the bin of each row in each term, then its cell in each pair.

    Rows without a bin are marked with `NO_BIN`.
    """
    singles = [bins_of(term) for term in explanation.terms]
    return [*singles, *(pair.cells_of(*map(bins_of, pair.axes)) for pair in explanation.pairs)]


def _warn_where_no_bin(explanation: ExplainsRows, places: Sequence[npt.NDArray[np.int64]]) -> None:
    parts = zip(explanation.parts, places, strict=True)
    if lacking := [part.name for part, at in parts if (at == NO_BIN).any()]:
        warnings.warn(
            f"cells of X have no bin in {listing(lacking)} and contribute 0 there, labeled "
            f'"{_NO_BIN_LABEL}": the explanation does not state how the model treats missing or '
            "unknown values. Fill them or drop these rows to get the model's scores.",
            UserWarning,
            stacklevel=4,  # points to the call of explain_local or predict
        )


def _parts(explanation: ExplainsRows) -> Iterator[tuple[FloatArray, tuple[str, ...]]]:
    """Yield the contributions and bin labels of each term and pair.

    After the last bin, an entry with contribution 0 is added for values without a bin. The index
    `NO_BIN` (-1) refers to this entry.
    """
    for term in explanation.terms:
        yield np.append(term.contribution, 0.0), (*term.bin_labels, _NO_BIN_LABEL)
    for pair in explanation.pairs:
        yield np.append(pair.contribution, 0.0), (*pair.cell_labels, _NO_BIN_LABEL)


def _contributions(
    explanation: ExplainsRows, places: Sequence[npt.NDArray[np.int64]]
) -> FloatArray:
    parts = zip(_parts(explanation), places, strict=True)
    return np.stack([values[at] for (values, _), at in parts], axis=1)


def _explained(
    explanation: ExplainsRows,
    places: Sequence[npt.NDArray[np.int64]],
    *,
    samples_public: bool,
    rest_score: FloatArray | None = None,
) -> LocalExplanation:
    labels = [
        [names[i] for i in at] for (_, names), at in zip(_parts(explanation), places, strict=True)
    ]
    return LocalExplanation(
        tuple(part.name for part in explanation.parts),
        _contributions(explanation, places),
        explanation.intercept,
        explanation.link,
        bin_labels=tuple(zip(*labels, strict=True)),
        guarantee=explanation.guarantee,
        classes=explanation.classes,
        samples_public=samples_public,
        target_name=explanation.target_name,
        target_unit=explanation.target_unit,
        noise_std=_stds(explanation, places, "noise_std"),
        total_std=_stds(explanation, places, "total_std"),
        of_class=explanation.of_class,
        rest_score=rest_score,
    )


def _stds(
    explanation: ExplainsRows, places: Sequence[npt.NDArray[np.int64]], name: str
) -> FloatArray | None:
    """Return the standard deviations of the contributions, or None if any is unknown."""
    known = [getattr(part, name) for part in explanation.parts]
    if any(std is None for std in known):
        return None
    return np.stack(
        [np.append(std, 0.0)[at] for std, at in zip(known, places, strict=True)], axis=1
    )
