"""Dashboards for Jupyter: explanations under differential privacy, at all epsilons at once."""

from __future__ import annotations

from dpexplain._extras import needed

try:
    import anywidget as _anywidget
    import ipywidgets as _ipywidgets
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        needed("dpexplain_widgets", str(error.name), "widgets"),
        name=error.name,
    ) from None

from dpexplain_widgets.disagreement import DisagreementView
from dpexplain_widgets.edit import EditView
from dpexplain_widgets.explorer import Explorer
from dpexplain_widgets.filter import FilterView
from dpexplain_widgets.importance import ImportanceView
from dpexplain_widgets.ledger import LedgerView
from dpexplain_widgets.local import LocalView
from dpexplain_widgets.overview import OverviewView
from dpexplain_widgets.planner import PlannerView
from dpexplain_widgets.rank import RankView
from dpexplain_widgets.report import write_page
from dpexplain_widgets.shape import ShapeView

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
