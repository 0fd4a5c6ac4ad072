"""Attributes and methods of explanations, named as in InterpretML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dpexplain.explain._record import FloatArray
from dpexplain.explain.additive._explaining_rows import contributions_of_rows
from dpexplain.explain.additive.pair_curve import PairCurve
from dpexplain.explain.additive.shape_function import ShapeFunction

if TYPE_CHECKING:
    from dpexplain.explain.additive._explaining_rows import ExplainsRows


class InterpretManner:
    """Mixin with attributes and methods named as in InterpretML.

    Values are in the order that this library uses: value bins first, special bins last.
    """

    @property
    def _by_score(self) -> Sequence[ExplainsRows]:
        raise NotImplementedError

    @property
    def term_names_(self) -> list[str]:
        """Names of the terms, then of the pairs."""
        return [part.name for part in self._by_score[0].parts]

    @property
    def term_scores_(self) -> list[FloatArray]:
        """Contribution of each bin, for every term.

        The list has one array for each term or pair. If there are several classes, the last axis of
        each array corresponds to the classes. Bins are in the order of ``bin_labels``: value bins,
        then "other" and "missing". InterpretML puts "missing" first; see
        :func:`dpexplain.interop.to_interpret`.
        """
        by_term = zip(*(score.parts for score in self._by_score), strict=True)
        tables = [np.stack([part.contribution for part in parts], axis=-1) for parts in by_term]
        return [table[..., 0] if len(self._by_score) == 1 else table for table in tables]

    def eval_terms(self, X: Any) -> FloatArray:
        """Return the contribution of each term to the score of each row.

        Parameters
        ----------
        X : table of shape (n_samples, n_columns)
            As in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_terms) or (n_samples, n_terms, n_classes)
            Contributions on the link scale; terms are in the order of `term_names_`.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`predict`.
        """
        return contributions_of_rows(self._by_score, X)


class InterpretData(InterpretManner):
    """Mixin for explanations of a single score, with methods named as in InterpretML."""

    def data(self, key: int | str | None = None) -> dict[str, Any]:
        """Return the data of a term, or the importances, in InterpretML's format.

        Parameters
        ----------
        key : int, str or None, default=None
            Index of the term in `term_names_`, or its name; None for the importances.

        Returns
        -------
        dict
            The keys are ``type``, ``names`` and ``scores``. For the importances, the names are the
            terms and pairs. For a curve, they are the categories or the bin edges; there is one
            more edge than there are scores. A curve also has ``special`` (the scores of the special
            bins, keyed by name) and ``density`` (the released counts). If the total uncertainty of
            a curve is known, ``lower_bounds`` and ``upper_bounds`` are one standard deviation below
            and above the scores. A pair has ``left_names`` and ``right_names`` instead of
            ``names``, and its special bins are omitted.

        Raises
        ------
        KeyError, IndexError
            If the term does not exist.
        """
        if key is None:
            importances = self.importances()  # type: ignore[attr-defined]
            names, values = importances.index.tolist(), importances.tolist()
            return {"type": "univariate", "names": names, "scores": values}
        part = self.part(self._name(key))  # type: ignore[attr-defined]
        return _pair_data(part) if isinstance(part, PairCurve) else _curve_data(part)

    def visualize(self, key: int | str | None = None) -> Any:
        """Draw a term, or the importances, with matplotlib.

        Parameters
        ----------
        key : int, str or None, default=None
            As in :meth:`data`.

        Returns
        -------
        Axes
            The axes with the plot. InterpretML returns a plotly figure instead; to get one, use
            :func:`dpexplain.interop.to_interpret`.

        Raises
        ------
        KeyError, IndexError
            If the term does not exist.
        """
        if key is None:
            return self.plot_importance()  # type: ignore[attr-defined]
        return self.plot(self._name(key))  # type: ignore[attr-defined]

    def _name(self, key: int | str) -> str:
        return name_of_term(key, self.term_names_)


def name_of_term(key: int | str, names: Sequence[str]) -> str:
    """Return the name of a term given by its name or its index.

    Parameters
    ----------
    key : int or str
        Index of the term in `names`, or its name, which is returned as it is.
    names : sequence of str
        Names of the terms.

    Returns
    -------
    str

    Raises
    ------
    IndexError
        If there is no such index.
    """
    if isinstance(key, str):
        return key
    if not -len(names) <= key < len(names):
        raise IndexError(
            f"no term {key}; there are {len(names)} terms, from 0 to {len(names) - 1}: pass an "
            "index in term_names_, or a name."
        )
    return names[key]


def data_of_classes(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Combine the data of a term from several classes.

    Parameters
    ----------
    parts : sequence of dict
        Results of `InterpretData.data` for a term or pair, one per class.

    Returns
    -------
    dict
        Like one of `parts`, except that a score or bound becomes a list with one number per class.
    """
    found = dict(parts[0])
    for name in ("scores", "lower_bounds", "upper_bounds"):
        if name in found:
            found[name] = np.stack([part[name] for part in parts], axis=-1).tolist()
    if "special" in found:
        found["special"] = {
            name: [part["special"][name] for part in parts] for name in found["special"]
        }
    return found


def _curve_data(term: ShapeFunction) -> dict[str, Any]:
    n, edges = term.n_value_bins, term.bin_edges
    names = list(term.categories or ()) if edges is None else edges.tolist()
    found: dict[str, Any] = {
        "type": "univariate",
        "names": names,
        "scores": term.contribution[:n].tolist(),
        "special": dict(zip(term.special, term.contribution[n:].tolist(), strict=True)),
        "density": {"names": names, "scores": term.count[:n].tolist()},
    }
    if term.total_std is not None:
        found["lower_bounds"] = (term.contribution - term.total_std)[:n].tolist()
        found["upper_bounds"] = (term.contribution + term.total_std)[:n].tolist()
    return found


def _pair_data(pair: PairCurve) -> dict[str, Any]:
    rows, columns = (axis.n_value_bins for axis in pair.axes)
    left, right = (
        list(axis.categories or ()) if axis.bin_edges is None else axis.bin_edges.tolist()
        for axis in pair.axes
    )
    scores = pair.contribution[:rows, :columns].tolist()
    return {"type": "interaction", "left_names": left, "right_names": right, "scores": scores}
