"""The shape view: one curve at one epsilon, with its noise and the reference."""

from __future__ import annotations

from dpexplain_widgets.export.bundle import bundle
from dpexplain_widgets.views.base import View


class ShapeView(View):
    """Chart of one term's contribution in each bin, above a histogram.

    Parameters
    ----------
    source : Comparison, GlobalExplanation, dict or View
        What to show; see :class:`dpexplain_widgets.views.base.View`.
    samples : DataFrame or None, default=None
        Records for local explanations.
    samples_public : bool, default=False
        Whether `samples` are public, so that anyone may see them.
    **state
        Initial choices, keyed by trait name; see :class:`dpexplain_widgets.state.state.ViewState`.
    """

    _esm = bundle("shape.js")
