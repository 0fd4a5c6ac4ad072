"""Methods of local explanations, named as in InterpretML."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

ONE_CLASS: Final = "a figure shows one class: use .for_class(label).visualize(key)."


class InterpretLocal:
    """Mixin for local explanations, with methods named as in InterpretML."""

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
