"""Local explanations of a multiclass model."""

from __future__ import annotations

import dataclasses

import numpy as np

from dpexplain._utils.lazy import pd
from dpexplain.explain._by_class import ByClass, checked_parts
from dpexplain.explain._interpret_local import InterpretLocal
from dpexplain.explain._record import FloatArray
from dpexplain.explain._text import counted
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
            f"MulticlassLocalExplanation({counted(len(self), 'sample')}, "
            f"{len(self.classes)} classes; {self.guarantee.short}{public}; "
            "see .for_class(label), .frame())"
        )
