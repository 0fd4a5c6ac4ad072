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
    >>> from dpexplain import DPLocallyLinearClassifier, sweep
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPLocallyLinearClassifier(schema=stays.schema, n_public=500)
    >>> comparison = sweep(model, stays.X, stays.y, epsilons=(1, 4), progress=False)
    >>> from dpexplain_widgets import FilterView
    >>> invented = stays.schema.simulate(3, seed=0)[0]
    >>> view = FilterView(comparison, invented, samples_public=True, filter_class="yes")
    >>> view.filter_class
    'yes'
    """

    _shows = "filters"

    _esm = bundle("filter.js")

    def __init__(
        self, source: Any, samples: Any = None, *, samples_public: bool = False, **state: Any
    ) -> None:
        super().__init__(source, samples, samples_public=samples_public, **state)
