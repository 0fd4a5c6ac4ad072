"""Dashboards for Jupyter: explanations under differential privacy, at all epsilons at once."""

from __future__ import annotations

from dpexplain._utils.extras import needed

try:
    import anywidget as _anywidget
    import ipywidgets as _ipywidgets
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        needed("dpexplain_widgets", str(error.name), "widgets"),
        name=error.name,
    ) from None

from dpexplain_widgets.export.write_page import write_page
from dpexplain_widgets.views.disagreement import DisagreementView
from dpexplain_widgets.views.edit import EditView
from dpexplain_widgets.views.explorer import Explorer
from dpexplain_widgets.views.filter import FilterView
from dpexplain_widgets.views.importance import ImportanceView
from dpexplain_widgets.views.ledger import LedgerView
from dpexplain_widgets.views.local import LocalView
from dpexplain_widgets.views.overview import OverviewView
from dpexplain_widgets.views.planner import PlannerView
from dpexplain_widgets.views.rank import RankView
from dpexplain_widgets.views.shape import ShapeView

del _anywidget, _ipywidgets

__all__ = [
    "DisagreementView",
    "EditView",
    "Explorer",
    "FilterView",
    "ImportanceView",
    "LedgerView",
    "LocalView",
    "OverviewView",
    "PlannerView",
    "RankView",
    "ShapeView",
    "write_page",
]
