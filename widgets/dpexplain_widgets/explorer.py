"""The Explorer: all views of one comparison or explanation, side by side."""

from __future__ import annotations

from dpexplain_widgets.base import View
from dpexplain_widgets.bundle import bundle


class Explorer(View):
    """All views in one: scrub epsilon, choose a term, read a bin, see what it costs.

    Parameters
    ----------
    source : Comparison, GlobalExplanation or dict
        What to show. A view needs no model and no data; a file made by ``dpexplain.io.save``
        is enough.
    **state
        Initial choices by trait name; see :class:`dpexplain_widgets.state.ViewState`.

    Examples
    --------
    >>> explorer = Explorer(comparison)  # doctest: +SKIP
    >>> explorer.epsilon_index = 2  # doctest: +SKIP
    >>> explorer.selection  # doctest: +SKIP
    """

    _esm = bundle("explorer.js")
