"""Alarms of the health check are shown after every fit, and stored in its explanation."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from dpexplain import (
    Classes,
    DPExplainableBoostingClassifier,
    HealthWarning,
    Numeric,
    Schema,
    sweep,
)
from dpexplain.audit import record
from dpexplain.edit import Shift
from dpexplain.io import from_json, to_json
from dpexplain_widgets.export.fallback import fallback_html
from dpexplain_widgets.payload.payload import build_payload

N = 4_000
SCHEMA = Schema({"age": Numeric(18, 90), "dose": Numeric(0, 300)}, target=Classes(["no", "yes"]))


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.uniform(18, 90, N), "dose": rng.uniform(0, 300, N)})
    return X, np.where(rng.random(N) < 0.5, "no", "yes")


@pytest.fixture
def unread(table):
    X, y = table
    return X.assign(dose="3,5 mg"), y


def model(schema=SCHEMA, **settings):
    return DPExplainableBoostingClassifier(1.0, schema=schema, max_rounds=1, **settings)


@pytest.mark.filterwarnings("error")
def test_fit_of_a_clean_table_says_nothing(table):
    assert model().fit(*table).explain_global(effect=False).alarms == ()


def test_fit_names_a_column_that_it_cannot_read_at_the_line_of_the_caller(unread):
    with pytest.warns(HealthWarning, match=r"% of dose is missing or unreadable") as caught:
        model().fit(*unread)
    assert [warned.filename for warned in caught] == [__file__]


def test_sweep_warns_once_for_all_its_fits(unread):
    with pytest.warns(HealthWarning, match="dose is missing") as caught:
        sweep(model(), *unread, (0.5, 1.0), reference=True, progress=False)
    assert [warned.filename for warned in caught] == [__file__]


def test_warning_after_a_fit_with_seeded_noise_says_that_it_is_not_private(unread):
    with pytest.warns(HealthWarning, match="^NOT PRIVATE: the released numbers"):
        model(reproducible_seed=1).fit(*unread)
    with pytest.warns(HealthWarning, match="^NOT PRIVATE: the released numbers"):
        sweep(model(reproducible_seed=1), *unread, (0.5, 1.0), reference=False, progress=False)
    with pytest.warns(HealthWarning, match=r"^the released numbers.* or dpexplain schema check in"):
        model().fit(*unread)


def test_repeated_fits_of_an_audit_do_not_warn(unread):
    X, y = unread
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted, _ = record(model(structure_seed=0), X, y)
    assert fitted.explain_global(effect=False).alarms


@pytest.fixture
def shown(unread):
    with pytest.warns(HealthWarning):
        return model().fit(*unread).explain_global(effect=False)


def test_alarms_are_in_the_file_the_text_and_the_notebook(shown):
    (alarm,) = shown.alarms
    assert from_json(to_json(shown)) == shown
    assert f"health check: {alarm}" in [line for line in shown.describe() if isinstance(line, str)]
    assert alarm in shown._repr_html_()


def test_alarms_stay_with_an_edited_explanation(shown):
    assert Shift("age", by=0.1, names=["missing"]).apply(shown).alarms == shown.alarms


def test_explorer_and_the_page_without_scripts_get_the_alarms(shown):
    payload = build_payload(shown)
    (repeats,) = payload["fits"]
    assert repeats[0]["alarms"] == list(shown.alarms)
    assert shown.alarms[0] in fallback_html(payload, repeats[0])


def test_alarms_of_several_classes_are_told_once(unread):
    X, y = unread
    schema = Schema(SCHEMA.features, target=Classes(["no", "yes", "maybe"]))
    with pytest.warns(HealthWarning):
        shown = model(schema).fit(X, np.where(X["age"] < 40, "maybe", y)).explain_global()
    assert len(shown.alarms) == 1
    assert sum("health check" in line for line in shown.describe() if isinstance(line, str)) == 1
    assert from_json(to_json(shown)) == shown
