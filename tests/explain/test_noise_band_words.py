"""The noise band takes bins and trees as given, and no text claims more for it."""

from __future__ import annotations

import pytest

from dpexplain import sweep
from dpexplain.explain import LocalExplanation, ShapeFunction
from dpexplain.plotting import plot_shape_function


def words(thing):
    return " ".join((thing.__doc__ or "").split())


@pytest.mark.parametrize("kind", [ShapeFunction, LocalExplanation])
def test_documented_noise_is_the_noise_given_bins_and_trees(kind):
    assert "given the released bins and trees" in words(kind)
    assert "leaves out" in words(kind)


def test_figure_says_what_its_band_leaves_out():
    assert "leaves out that other noise would have given others" in words(plot_shape_function)


def test_sweep_does_not_promise_that_only_noise_differs():
    assert "differ by their noise only" not in words(sweep)
    assert "bins and trees can still differ" in words(sweep)
