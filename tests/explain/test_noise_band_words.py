"""Each part of the noise is described as what it is, and no text claims more."""

from __future__ import annotations

import pytest

from dpexplain import sweep
from dpexplain.explain import LocalExplanation, ShapeFunction


def words(thing):
    return " ".join((thing.__doc__ or "").split())


@pytest.mark.parametrize("kind", [ShapeFunction, LocalExplanation])
def test_privacy_noise_is_the_noise_given_bins_and_trees(kind):
    assert "given the released bins and trees" in words(kind)


def test_the_other_parts_are_named():
    assert "noise in the histograms that determine the bins" in words(ShapeFunction)
    assert "due to sampling the records" in words(ShapeFunction)
    assert "privacy noise, random structure and sampling together" in words(LocalExplanation)


def test_sweep_does_not_promise_that_only_noise_differs():
    assert "differ by their noise only" not in words(sweep)
    assert "bins and trees can still differ" in words(sweep)
