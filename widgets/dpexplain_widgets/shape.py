"""The shape view: one term at one epsilon, beside its noise and its reference."""

from __future__ import annotations

from dpexplain_widgets.base import View
from dpexplain_widgets.bundle import bundle


class ShapeView(View):
    """The contribution of one term, bin by bin, over its histogram.

    Parameters
    ----------
    source : Comparison, GlobalExplanation or dict
        What to show.
    **state
        Initial choices by trait name; see :class:`dpexplain_widgets.state.ViewState`.
    """

    _esm = bundle("shape.js")
