"""Values that occur only in a table are searched for in every output."""

from __future__ import annotations

import json
import logging
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dpexplain.io
import dpexplain.models as models
from canary import canary_records, in_bytes, in_object, in_text, in_words
from canary_channels import CHANNELS, Listener, fit_canary
from dpexplain import PrivacyLedger, sweep
from private_models import PRIVATE, WAYS, make, records_for

pytestmark = pytest.mark.full


@pytest.fixture(scope="module", params=WAYS, ids=str)
def fitted(request, tmp_path_factory):
    name, way = request.param
    return fit_canary(name, make(name, **way), tmp_path_factory.mktemp("ledger"))


@pytest.mark.parametrize("channel", CHANNELS)
def test_no_value_of_a_record_comes_out_of_a_fit(fitted, channel):
    assert fitted.heard
    assert "ledger.json" in fitted.files
    assert CHANNELS[channel](fitted) == []


# --- planted leaks: each must be seen where it comes out ------------------------------------------


def keep_the_table(model, X, y):
    model.X_ = X


def keep_a_view_of_all_records(model, X, y):
    model.first_ = np.arange(float(len(X)))[:1]


def keep_a_closure(model, X, y):
    rows = X.to_numpy()
    model.again_ = lambda: rows


def keep_single_precision(model, X, y):
    model.residuals_ = {"first": [np.float32(X.iat[0, 0])]}


def keep_the_largest_label(model, X, y):
    model.labels_ = frozenset(str(label) for label in y)


def keep_the_number_of_records(model, X, y):
    model.n_samples_ = len(X)


def keep_for_all_models(model, X, y):
    type(model)._last_table = X.to_numpy()


def print_the_range(model, X, y):
    print("oldest:", X["age"].iloc[0])


def warn_of_a_label(model, X, y):
    warnings.warn(f"unknown label {y.iloc[40]!r}", UserWarning, stacklevel=2)


def log_the_shape(model, X, y):
    logging.getLogger("fit").debug("fitting %s records", len(X))


def show_progress(model, X, y):
    print(f"loss {X.iat[0, 0]:.2f}", file=sys.stderr)


def write_beside_the_ledger(model, X, y):
    Path(model.ledger.path).with_name("cache.bin").write_bytes(np.float64(X.iat[0, 0]).tobytes())


def put_a_value_into_a_unit(model, X, y):
    bins = model._terms.bins[0]
    object.__setattr__(bins, "feature", replace(bins.feature, unit=X.iat[3, 0]))


LEAKS = [
    (keep_the_table, "memory"),
    (keep_a_view_of_all_records, "memory"),
    (keep_a_closure, "memory"),
    (keep_single_precision, "memory"),
    (keep_the_number_of_records, "memory"),
    (keep_the_largest_label, "pickles"),
    (keep_for_all_models, "modules"),
    (print_the_range, "words"),
    (warn_of_a_label, "words"),
    (log_the_shape, "words"),
    (show_progress, "words"),
    (write_beside_the_ledger, "files"),
    *((put_a_value_into_a_unit, way) for way in ("html", "files", "figures", "widgets")),
]


@pytest.mark.parametrize(
    ("leak", "channel"), LEAKS, ids=lambda each: getattr(each, "__name__", each)
)
def test_a_planted_leak_is_found(leak, channel, monkeypatch, tmp_path):
    name = PRIVATE[0]
    kind = getattr(models, name)
    honest = kind._failure_of_fit

    def leaky(self, X, y, groups):  # with all rows: those without a target are left out later
        failure = honest(self, X, y, groups)
        leak(self, X, y)
        return failure

    monkeypatch.setattr(kind, "_failure_of_fit", leaky)
    monkeypatch.setattr(kind, "_last_table", None, raising=False)
    assert CHANNELS[channel](fit_canary(name, make(name), tmp_path)) != []


# --- sweeps -------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=PRIVATE)
def swept(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    X, y, _ = canary_records(request.param)
    with Listener() as listener:
        ledger = PrivacyLedger("canary sweep", path=folder / "ledger.json")
        comparison = sweep(
            make(request.param), X, y, (0.5, 2), evaluate=(X, y), ledger=ledger, n_jobs=2
        )
        print(comparison, ledger)
    return comparison, listener.text, (folder / "ledger.json").read_bytes()


def test_a_sweep_says_and_keeps_no_secret_in_its_private_part(swept):
    comparison, heard, ledger_file = swept
    assert "sweep" in heard  # the bar
    assert in_words(heard) == []
    assert in_bytes(ledger_file) == []
    assert in_object([comparison.explanations, comparison.ledger]) == []
    kind = type(comparison)
    alone = kind(comparison.epsilons, comparison.explanations, ledger=comparison.ledger)
    for text in (alone._repr_html_(), repr(alone), dpexplain.io.to_json(alone)):
        assert in_text(text) == []


@pytest.mark.parametrize("name", PRIVATE)
def test_what_is_not_private_in_a_sweep_says_so_wherever_it_stands(name):
    X, y = records_for(name)
    comparison = sweep(make(name), X, y, (0.5,), evaluate=(X, y), progress=False)
    assert not comparison.private
    assert not comparison.reference.guarantee.private
    assert not comparison.metrics["private"].any()
    assert "NOT PRIVATE" in comparison._repr_html_()
    document = json.loads(dpexplain.io.to_json(comparison))["content"]
    assert document["reference"]["guarantee"]["private"] is False
    assert {row["private"] for row in document["metrics"]} == {False}
