"""What all views have in common: the state, the reprs and the way they are made."""

from __future__ import annotations

from typing import Any, ClassVar

import anywidget
import pandas as pd

from dpexplain_widgets.bundle import stylesheet
from dpexplain_widgets.fallback import fallback_html
from dpexplain_widgets.payload import build_payload
from dpexplain_widgets.selection import selection_frame
from dpexplain_widgets.state import (
    STATE_TRAITS,
    ViewState,
    epsilon_place,
    first_epsilon_index,
    most_important,
)


class View(ViewState, anywidget.AnyWidget):
    """A view of a comparison or explanation; subclasses choose the front-end module.

    Parameters
    ----------
    source : Comparison, GlobalExplanation or dict
        What to show; a dict is a payload that another view holds.
    **state
        Initial choices by trait name, such as ``term="age"`` or ``epsilon_index=2``.

    Raises
    ------
    TypeError
        If `source` cannot be shown or a choice has no such name.
    traitlets.TraitError
        If a choice is not among what `source` offers.
    """

    _css = stylesheet()
    _needs_terms: ClassVar[bool] = True

    def __init__(self, source: Any, **state: Any) -> None:
        payload = build_payload(source)
        if self._needs_terms and not payload["terms"]:
            raise TypeError(
                f"{type(self).__name__} shows models, and this has none; LedgerView shows a "
                "LedgerSummary."
            )
        known = {*STATE_TRAITS, "layout"} - {"payload"}
        if unknown := sorted(set(state) - known):
            raise TypeError(f"no choice named {unknown[0]!r}; the choices are {sorted(known)}.")
        start = {
            "term": most_important(payload),
            "epsilon_index": first_epsilon_index(payload),
        }
        super().__init__(payload=payload, **{**start, **state})

    @property
    def epsilon(self) -> float:
        """Epsilon that is chosen, to read or set; infinite for the non-private reference.

        Setting it chooses the fit of that epsilon; :class:`traitlets.TraitError` lists the
        epsilons there are if there is none.
        """
        epsilons = self.payload["epsilons"]
        at_reference = self.epsilon_index >= len(epsilons)
        return float("inf") if at_reference else float(epsilons[self.epsilon_index])

    @epsilon.setter
    def epsilon(self, epsilon: float) -> None:
        self.epsilon_index = epsilon_place(self.payload, epsilon)

    @property
    def selection(self) -> pd.DataFrame:
        """What is chosen: the bins of the term in the fit that is read, or the one chosen bin.

        Columns as in :meth:`dpexplain.compare.Comparison.frame`.
        """
        return selection_frame(self)

    def __repr__(self) -> str:
        """Return a line that names what is chosen."""
        title = self.payload["title"]
        shown = title if len(title) <= 60 else f"{title[:59]}…"
        fit = self._fit()
        guarantee = "" if fit is None else f"; {fit['guarantee']['short']}"
        term = "" if fit is None else f", term {self.term[:60]!r}"
        return f"{type(self).__name__}({shown!r}{term}{guarantee})"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Add a static table, for places that show notebooks without running them."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle
        return {**data, "text/html": fallback_html(self.payload, self._fit())}, metadata
