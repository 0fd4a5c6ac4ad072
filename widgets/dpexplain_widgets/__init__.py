"""Interactive Jupyter dashboards for differentially private explanations."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpexplain._utils.extras import needed

try:
    import anywidget as _anywidget
    import ipywidgets as _ipywidgets
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        needed("dpexplain_widgets", str(error.name), "widgets"),
        name=error.name,
    ) from None

from dpexplain_widgets.views.registry import VIEWS, view_class

if TYPE_CHECKING:
    from dpexplain_widgets.export.write_page import write_page as write_page
    from dpexplain_widgets.views.disagreement import DisagreementView as DisagreementView
    from dpexplain_widgets.views.edit import EditView as EditView
    from dpexplain_widgets.views.explorer import Explorer as Explorer
    from dpexplain_widgets.views.filter import FilterView as FilterView
    from dpexplain_widgets.views.importance import ImportanceView as ImportanceView
    from dpexplain_widgets.views.ledger import LedgerView as LedgerView
    from dpexplain_widgets.views.local import LocalView as LocalView
    from dpexplain_widgets.views.overview import OverviewView as OverviewView
    from dpexplain_widgets.views.planner import PlannerView as PlannerView
    from dpexplain_widgets.views.rank import RankView as RankView
    from dpexplain_widgets.views.shape import ShapeView as ShapeView

del _anywidget, _ipywidgets

__all__ = [*sorted(view.name for view in VIEWS if view.name), "write_page"]


def __getattr__(name: str) -> Any:
    """Import a view when it is first used."""
    if name == "write_page":
        value: Any = import_module(f"{__name__}.export.write_page").write_page
    elif (value := view_class(name)) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value  # later uses skip this function
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
