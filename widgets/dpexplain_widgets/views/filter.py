"""The filter view: the filters of each class and their noise."""

from __future__ import annotations

from typing import Any

from dpexplain_widgets.export.bundle import bundle
from dpexplain_widgets.views.base import View


class FilterView(View):
    """Filters of every class at every epsilon, and explanations of individual samples.

    Parameters
    ----------
    source : FilterComparison, FilterBank or View
        What to show.
    samples : DataFrame, array-like or None, default=None
        Records for local explanations, in the input format of the model.
    samples_public : bool, default=False
        Whether `samples` are public, so that anyone may see them.
    **state
        Initial choices, keyed by trait name; see :class:`dpexplain_widgets.state.state.ViewState`.

    Examples
    --------
    >>> view = FilterView(comparison, digits[:8], samples_public=True)  # doctest: +SKIP
    >>> view.filter_class = "3"  # doctest: +SKIP
    >>> view.selection  # doctest: +SKIP
    """

    _shows = "filters"

    _esm = bundle("filter.js")

    def __init__(
        self, source: Any, samples: Any = None, *, samples_public: bool = False, **state: Any
    ) -> None:
        super().__init__(source, samples, samples_public=samples_public, **state)
