"""Methods of local explanations for InterpretML and SHAP."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

ONE_CLASS: Final = "a figure shows one class: use .for_class(label).visualize(key)."


class InterpretLocal:
    """Mixin for local explanations, with data for InterpretML and SHAP."""

    @property
    def _by_score(self) -> tuple[Any, ...]:
        """Tuple of the explanation itself, or of one explanation for each class."""
        return (self,)

    def data(self, key: int) -> dict[str, Any]:
        """Return the contributions to the score of one sample, in InterpretML's format.

        Parameters
        ----------
        key : int
            Index of the sample.

        Returns
        -------
        dict
            The keys are ``type``, ``names`` (terms), ``scores`` (contributions; with several
            classes, one number per class), ``values`` (bin labels of the sample) and ``extra``,
            which has the same keys for the intercept.

        Raises
        ------
        IndexError
            If the sample does not exist.
        """
        parts = self._by_score
        n_samples = len(parts[0].contributions)
        if not -n_samples <= key < n_samples:
            raise IndexError(
                f"no sample {key}; there are {n_samples} samples, from 0 to {n_samples - 1}."
            )
        scores = np.stack([part.contributions[key] for part in parts], axis=-1)
        intercept = np.array([part.intercept for part in parts])
        one = len(parts) == 1
        return {
            "type": "univariate",
            "names": list(parts[0].term_names),
            "scores": (scores[:, 0] if one else scores).tolist(),
            "values": list(parts[0].bin_labels[key]),
            "extra": {
                "names": ["Intercept"],
                "scores": (intercept if one else intercept[None, :]).tolist(),
                "values": [1],
            },
        }

    def to_shap(self, X: npt.ArrayLike | None = None, *, effects: Any = None) -> Any:
        """Return the contributions as a ``shap.Explanation`` for SHAP's plots.

        With several classes, they are on its last axis.

        Nothing is estimated: in an additive model, the contribution of a term is its Shapley value
        relative to the intercept, because curves are centered using the counts of the model.

        Parameters
        ----------
        X : DataFrame, array or sequence of rows, or None, default=None
            Feature values of the same samples. SHAP's plots show these values, and use them for
            colors. If `X` is None, the plots show the bin labels instead.
        effects : GlobalExplanation, MulticlassExplanation or None, default=None
            Explanation of the same model. Its estimated effects then replace the contributions, and
            its estimated intercepts replace the intercepts, so they do not add up to scores of the
            model. `X` must also be given.

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

        return to_shap(self, X, effects=effects)  # type: ignore[arg-type]

    def visualize(self, key: int = 0) -> Any:
        """Draw the contributions to the score of one sample, with matplotlib.

        Parameters
        ----------
        key : int, default=0
            Index of the sample.

        Returns
        -------
        Axes

        Raises
        ------
        IndexError
            If the sample does not exist.
        ValueError
            If there are several classes.
        """
        if len(self._by_score) > 1:
            raise ValueError(ONE_CLASS)
        return self.plot(key)  # type: ignore[attr-defined]
