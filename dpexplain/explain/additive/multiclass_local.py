"""Local explanations of a multiclass model."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from dpexplain._utils.lazy import pd
from dpexplain.explain._by_class import ByClass, checked_parts
from dpexplain.explain._interpret_local import InterpretLocal
from dpexplain.explain._record import FloatArray
from dpexplain.explain.additive.local_explanation import LocalExplanation
from dpexplain.explain.display import LocalDisplay
from dpexplain.explain.guarantee import Guarantee


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MulticlassLocalExplanation(InterpretLocal, LocalDisplay, ByClass[LocalExplanation]):
    """Contribution of each term to the score of each sample, for each class.

    Parameters
    ----------
    by_class : sequence of LocalExplanation
        One explanation for each class, in order. All of them must have the same samples, the same
        terms, and the link "softmax".

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
    >>> local = model.explain_local(iris.data[:2], samples_public=True)
    >>> len(local.by_class), local.scores.shape
    (3, (2, 3))
    """

    by_class: tuple[LocalExplanation, ...]

    def __post_init__(self) -> None:
        """Check that the parts are compatible."""
        parts = checked_parts(self.by_class, LocalExplanation)
        for field in ("term_names", "bin_labels", "samples_public"):
            if any(getattr(part, field) != getattr(parts[0], field) for part in parts):
                raise ValueError(f"by_class differs in {field}; explain the same samples.")
        self._set("by_class", parts)

    @property
    def _by_score(self) -> tuple[LocalExplanation, ...]:
        return self.by_class

    @property
    def guarantee(self) -> Guarantee:
        """Privacy guarantee of the model; it does not cover the samples."""
        return self.by_class[0].guarantee

    @property
    def samples_public(self) -> bool:
        """Whether the samples may be shown to anyone."""
        return self.by_class[0].samples_public

    @property
    def scores(self) -> FloatArray:
        """Scores on the link scale, shape (n_samples, n_classes)."""
        return np.stack([part.scores for part in self.by_class], axis=1)

    @property
    def predictions(self) -> FloatArray:
        """Probability of each class, shape (n_samples, n_classes)."""
        return np.stack([part.predictions for part in self.by_class], axis=1)

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.by_class[0])

    def to_shap(self, X: npt.ArrayLike | None = None, *, effects: Any = None) -> Any:
        """Return a ``shap.Explanation`` with classes on the last axis.

        Nothing is estimated: in an additive model, the contribution of a term is its Shapley value
        relative to the intercept, because curves are centered using the counts of the model.

        Parameters
        ----------
        X : DataFrame, array or sequence of rows, or None, default=None
            Feature values of the same samples. SHAP's plots show these values, and use them for
            colors. If `X` is None, the plots show the bin labels instead.
        effects : MulticlassExplanation or None, default=None
            Explanation of the same model. Its estimated effects replace the released contributions
            but, unlike the contributions, do not add up to the model's scores. `X` must also be
            given.

        Returns
        -------
        shap.Explanation
            The contributions (``values``), the intercept (``base_values``), and the values of `X`
            or the bin labels (``data``). SHAP cannot store the guarantee or the noise, so save this
            object along with the plots.

        Raises
        ------
        ImportError
            If SHAP is not installed.
        ValueError
            If `X` has a different number of rows, or lacks a column; or if `effects` lacks
            estimates, explains a model with other terms, or is given without `X`.
        """
        from dpexplain.interop.shap_values import to_shap

        return to_shap(self, X, effects=effects)

    def frame(self, sample: int | None = None) -> pd.DataFrame:
        """Return a table with one row per class, sample and term.

        Parameters
        ----------
        sample : int or None, default=None
            Index of one sample; None returns all samples.

        Returns
        -------
        DataFrame
            The column ``class``, followed by the columns of :meth:`LocalExplanation.frame`.
        """
        return self._frames(sample)

    def __repr__(self) -> str:
        """Return a one-line summary that suggests what to call next."""
        public = "" if self.samples_public else "; samples not public"
        return (
            f"MulticlassLocalExplanation({len(self)} samples, {len(self.classes)} classes; "
            f"{self.guarantee.short}{public}; see .for_class(label), .frame())"
        )
