"""The ledger view says in words what each kind of release was."""

from __future__ import annotations

from dataclasses import replace

import pytest

import view_examples
from dpexplain.accounting import (
    GaussianEvent,
    LaplaceEvent,
    NonPrivateEvent,
    PrivacyLedger,
    PureEvent,
    SubsampledGaussianEvent,
)
from dpexplain_widgets import Explorer
from page_checks import settle

pytestmark = [pytest.mark.browser, pytest.mark.full]

EVENTS = [
    GaussianEvent("histograms", 40.0, 14),
    SubsampledGaussianEvent("gradients", 1.5, 0.0125, 800),
    LaplaceEvent("counts", 4.0, 2),
    PureEvent("choice of splits", 0.1, 30),
    NonPrivateEvent("reference", "fitted without noise"),
]
WORDS = [
    "histograms: 14 × Gaussian, noise multiplier 40",
    "gradients: 800 × Gaussian, noise multiplier 1.5, on a random sample of 1.25%",
    "counts: 2 × Laplace, noise multiplier 4",
    "choice of splits: 30 × pure mechanism, ε = 0.1",
    "reference: not private, fitted without noise",
]


def test_each_kind_of_release_is_told_in_words(open_page):
    ledger = PrivacyLedger("survey-1974")
    ledger.charge(EVENTS, label="everything")
    ledger.charge([EVENTS[0]] * 8, label="many")
    page = open_page(Explorer(replace(view_examples.comparison(), ledger=ledger.summary())))
    settle(page)
    for details in page.locator("details").all():
        details.evaluate("node => { node.open = true; }")
    text = page.locator(".dpx-entries").inner_text()

    for words in WORDS:
        assert words in text
    assert "and 2 more" in text
