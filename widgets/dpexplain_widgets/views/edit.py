"""The edit view: repair a curve by hand, at no privacy cost, and keep a log."""

from __future__ import annotations

from dpexplain_widgets.export.bundle import bundle
from dpexplain_widgets.views.base import View


class EditView(View):
    """Editor for the curve of a term, with a log of edits, their effects and warnings.

    The page previews edits immediately, using the arithmetic of :mod:`dpexplain.edit`. Applied
    edits are computed in Python: `edited` is the edited explanation, and ``to_model(model)``
    returns an edited model. `edits` is the log as plain values, and `edit_log` is the log as an
    object.

    Parameters
    ----------
    source : Comparison, GlobalExplanation, dict or View
        What to show; see :class:`dpexplain_widgets.views.base.View`.
    samples : DataFrame or None, default=None
        Records for local explanations in linked views.
    samples_public : bool, default=False
        Whether `samples` are public, so that anyone may see them.
    **state
        Initial choices, keyed by trait name; see :class:`dpexplain_widgets.state.state.ViewState`.

    Examples
    --------
    >>> view = EditView(model.explain_global(), term="age")  # doctest: +SKIP
    >>> view.to_model(model)  # doctest: +SKIP
    """

    _esm = bundle("edit.js")

    @property
    def page_edits(self) -> bool:
        """Always true: this view exists for editing."""
        return True
