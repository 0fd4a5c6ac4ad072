"""Rows explained without the model: how values without a bin are treated."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from dpexplain.explain import GlobalExplanation, PairAxis, PairCurve
from example_explanations import age, job, private_guarantee

PEOPLE = pd.DataFrame({"age": [20.0, np.nan, 40.0], "job": ["nurse", "clerk", "secret trade"]})


def explanation(**changes) -> GlobalExplanation:
    """Make an explanation whose terms have no special bins."""
    bare_age = age(contribution=[-0.5, 0.25, 0.5], count=[1, 2, 3], noise_std=[0.1] * 3, special=())
    bare_job = job(contribution=[1.0, -1.0], count=[4, 2], noise_std=[0.1, 0.2], special=())
    fields = {"guarantee": private_guarantee(), "classes": ("no", "yes"), **changes}
    return GlobalExplanation((bare_age, bare_job), 0.25, "logit", **fields)


def test_a_value_without_a_bin_contributes_nothing_and_is_labeled_so():
    with pytest.warns(UserWarning, match="no bin in 'age', 'job' and contribute 0") as caught:
        local = explanation().explain_local(PEOPLE)
    assert caught[0].filename == __file__
    assert "secret" not in str(caught[0].message)
    assert local.contributions.tolist() == [[-0.5, 1.0], [0.0, -1.0], [0.25, 0.0]]
    assert [row.index("no bin") for row in local.bin_labels[1:]] == [0, 1]
    assert local.noise_std.tolist() == [[0.1, 0.1], [0.0, 0.2], [0.1, 0.0]]
    assert local.scores.tolist() == [0.75, -0.75, 0.5]


def test_rows_whose_values_have_bins_warn_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        local = explanation().explain_local(PEOPLE.head(1))
    assert local.bin_labels == (("17 – 29", "nurse"),)


def test_a_cell_of_a_pair_needs_a_bin_on_both_axes():
    axes = (
        PairAxis("age", "numeric", bin_edges=[17.0, 50.0, 90.0]),
        PairAxis("job", "categorical", categories=("nurse", "clerk")),
    )
    cells = np.array([[1.0, 2.0], [3.0, 4.0]])
    pair = PairCurve("age & job", axes, cells, np.ones((2, 2)), guarantee=private_guarantee())
    with pytest.warns(UserWarning, match="'age & job'"):
        local = explanation(pairs=(pair,)).explain_local(PEOPLE)
    assert local.contributions[:, 2].tolist() == [1.0, 0.0, 0.0]
    assert pair.index_or_none([60, None, 60], ["clerk", "clerk", "cook"]).tolist() == [3, -1, -1]
