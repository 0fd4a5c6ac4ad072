"""Figures are drawn without a display, in the default style, and never shown."""

from __future__ import annotations

import matplotlib
import pytest

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def no_figure_is_shown(monkeypatch):
    """Fail a test whose plot calls ``show``."""
    from matplotlib import pyplot

    def refuse(*args, **kwargs):
        raise AssertionError("a plot function called show()")

    monkeypatch.setattr(pyplot, "show", refuse)
    with matplotlib.rc_context(matplotlib.rcParamsDefault):
        matplotlib.rcParams["backend"] = "Agg"
        yield
