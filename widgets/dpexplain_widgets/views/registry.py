"""Registry of the views, with one entry for each view.

The registry determines ``dpexplain_widgets.__all__``, the tabs of an Explorer, the selection of the
open tab, and the views that a page omits because they do not apply to its kind of model. The list
of Explorer parts in `static/views/explorer/explorer.js` must match it; a test compares the two.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal, NamedTuple


class Listed(NamedTuple):
    """Registry entry of a view.

    Attributes
    ----------
    name : str
        Class of the view; "" for a part that exists only in the Explorer.
    module : str
        Module of ``dpexplain_widgets.views`` that contains the class.
    create : str
        Function of the front end that creates the view; "" for a view that is not part of the
        Explorer.
    shows : {"terms", "filters", "anything"}
        Models to which the view applies.
    tab : str
        Value of `tab` that opens the view in an Explorer; "" if it is always visible.
    frame : str
        Function that tabulates what the view shows, as ``"module:function"``; "" for a view whose
        table contains the bins of the selected term.
    """

    name: str
    module: str
    create: str = ""
    shows: Literal["terms", "filters", "anything"] = "terms"
    tab: str = ""
    frame: str = ""


VIEWS: list[Listed] = [
    Listed("ShapeView", "shape", "createShapePanel", tab="shape"),
    Listed("EditView", "edit", "createEdit", tab="edit"),
    Listed("", "", "createMultiples", tab="terms"),
    Listed(
        "DisagreementView",
        "disagreement",
        "createDisagreement",
        tab="disagreement",
        frame="comparing:disagreement_frame",
    ),
    Listed("RankView", "rank", "createRank", tab="rank", frame="rank:rank_frame"),
    Listed("LocalView", "local", "createLocal", tab="local", frame="local:local_frame"),
    Listed("ImportanceView", "importance", "createImportance"),
    Listed("PlannerView", "planner", "createPlanner"),
    Listed("FilterView", "filter", "createFilter", "filters"),
    Listed("OverviewView", "overview", "createOverview", "anything"),
    Listed("LedgerView", "ledger", "createLedger", "anything"),
    Listed("Explorer", "explorer", shows="anything"),
]

PAIRS = ("createPairPanel", "drawSmallHeatMap", "pairClaim", "pairAskedElsewhere", "claimedPair")
"""Front-end functions for terms of two features."""


def tabs() -> tuple[str, ...]:
    """List the tabs of an Explorer, in order."""
    return tuple(view.tab for view in VIEWS if view.tab)


def parts_for(shows: str) -> tuple[str, ...]:
    """List the front-end functions of the views with the given value of `shows`."""
    return tuple(view.create for view in VIEWS if view.create and view.shows == shows)


def frame_of_tab(tab: str) -> Any:
    """Return the function that tabulates what a tab shows; None for a table of bins."""
    frame = next((view.frame for view in VIEWS if view.tab == tab), "")
    module, _, function = frame.partition(":")
    return getattr(import_module(f"dpexplain_widgets.views.{module}"), function) if frame else None


def view_class(name: str) -> type[Any] | None:
    """Import and return the view class with a given name; None if there is none."""
    found = next((view for view in VIEWS if view.name == name != ""), None)
    if found is None:
        return None
    view: type[Any] = getattr(import_module(f"dpexplain_widgets.views.{found.module}"), name)
    return view
