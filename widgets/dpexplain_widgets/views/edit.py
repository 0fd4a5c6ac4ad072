"""The edit view: repair a curve by hand, at no cost in privacy and with a record."""

from __future__ import annotations

from dpexplain_widgets.export.bundle import bundle
from dpexplain_widgets.views.base import View


class EditView(View):
    """One curve with its edits, their effects and warnings.

    The page previews every operation at once, with the arithmetic of :mod:`dpexplain.edit`. What
    is applied is computed in Python: `edited` gives the explanation, ``to_model(model)`` a model.
    `edits` is the log as plain values, `edit_log` as an object.

    Parameters
    ----------
    source : Comparison, GlobalExplanation, dict or View
        What to show; see :class:`dpexplain_widgets.views.base.View`.
    samples : DataFrame or None, default=None
        Records to explain one by one, elsewhere.
    samples_public : bool, default=False
        Whether these records may be shown to anyone.
    **state
        Initial choices by trait name; see :class:`dpexplain_widgets.state.state.ViewState`.

    Examples
    --------
    >>> view = EditView(model.explain_global(), term="age")  # doctest: +SKIP
    >>> view.to_model(model)  # doctest: +SKIP
    """

    _esm = bundle("edit.js")

    @property
    def page_edits(self) -> bool:
        """Always: editing is what it is for."""
        return True
