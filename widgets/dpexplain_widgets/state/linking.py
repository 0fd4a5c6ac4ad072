"""Links between views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import traitlets

from dpexplain_widgets.state.state import STATE_TRAITS, ViewState

# In the order of copying: the model before its epsilons, and the term before its bins.
_FIRST = ("model_name", "show_reference", "term")
_CONTENT = ("payload", "filter_arrays")
CHOICES = (*_FIRST, *(name for name in STATE_TRAITS if name not in (*_FIRST, *_CONTENT)))


def choices_of(view: ViewState) -> dict[str, Any]:
    """Collect what is selected in a view, without its content."""
    return {name: getattr(view, name) for name in CHOICES}


class Link:
    """Link between two views: choices made in one view are applied to the other.

    Parameters
    ----------
    one, other : View
        The views to link. The choices of `one` are copied to `other` when the link is created.
    choices : iterable of str or None, default=None
        Names of the traits to link; None means all choices.

    Raises
    ------
    ValueError
        If a choice does not exist.
    """

    def __init__(
        self, one: ViewState, other: ViewState, choices: Iterable[str] | None = None
    ) -> None:
        wanted = set(CHOICES if choices is None else choices)
        if unknown := sorted(wanted - set(CHOICES)):
            raise ValueError(f"no choice named {unknown[0]!r}; the choices are {sorted(CHOICES)}.")
        self.names = [name for name in CHOICES if name in wanted]
        self.views = (one, other)
        self._passing = False
        for name in self.names:
            self._pass_on(one, other, name)
        for view in self.views:
            view.observe(self._follow, names=self.names)

    def _follow(self, change: Mapping[str, Any]) -> None:
        if self._passing:
            return
        one, other = self.views
        source, target = (one, other) if change["owner"] is one else (other, one)
        self._passing = True
        try:
            self._pass_on(source, target, change["name"])
        finally:
            self._passing = False

    def _pass_on(self, source: ViewState, target: ViewState, name: str) -> None:
        """Copy a choice to the target if it is available there."""
        try:
            if name == "epsilon_index" and source.shown["fits"]:
                target.epsilon = source.epsilon
            else:
                setattr(target, name, getattr(source, name))
        except traitlets.TraitError:
            pass

    def unlink(self) -> None:
        """Unlink the views."""
        for view in self.views:
            view.unobserve(self._follow, names=self.names)
