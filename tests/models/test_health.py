"""Health checks: what they find, how often they raise false alarms, and their inputs."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dpexplain.models.alarms as health_tests
from dpexplain import (
    Categorical,
    Classes,
    DPExplainableBoostingClassifier,
    DPExplainableBoostingRegressor,
    DPLogisticRegression,
    Numeric,
    Range,
    Schema,
)
from dpexplain.audit import record, replay
from dpexplain.binning import NoisyCount, declared_cells
from dpexplain.binning.histograms import NoisyHistograms
from dpexplain.explain import Finding, Health
from dpexplain.models.boosting.health import alarms as alarms_of_fit
from dpexplain.models.boosting.health import class_tests

pytestmark = pytest.mark.full

SCHEMA = Schema(
    {"age": Numeric(18, 90), "dose": Numeric(0, 300), "job": Categorical(["a", "b", "c"])},
    target=Classes(["no", "yes"]),
)
N = 20_000


def records(n=N, seed=0, classes=("no", "yes")):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.uniform(18, 90, n),
            "dose": rng.uniform(0, 300, n),
            "job": rng.choice(["a", "b", "c"], n),
        }
    )
    return X, rng.choice(classes, n)


def fitted(X, y, schema=SCHEMA, **settings):
    settings = {"max_rounds": 2, "reproducible_seed": 0, "structure_seed": 0, **settings}
    return DPExplainableBoostingClassifier(1.0, schema=schema, **settings).fit(X, y)


def kinds(model):
    return [(finding.kind, finding.feature) for finding in model.health().alarms]


def half_missing(X, y):
    X.loc[: N // 2, "age"] = np.nan
    return X, y


def half_unreadable(X, y):
    dates = X["age"].astype(object)
    dates[: N // 2] = "-"
    return X.assign(age=dates), y


def other_codes(X, y):
    return X.assign(job=X["job"].replace("a", "1")), y


def grams_for_kilograms(X, y):
    return X.assign(age=1000.0 * X["age"]), y


def grams_for_most(X, y):
    X, y = grams_for_kilograms(X, y)
    X.loc[: N // 7, "age"] = np.nan  # a seventh of all, so less than 90% of all are in the last bin
    return X, y


def too_small_a_unit(X, y):
    return X.assign(dose=X["dose"] / 1e6), y


def one_label_misspelt(X, y):
    return X, np.where(y == "yes", "Y", y)


@pytest.mark.parametrize(
    ("mistake", "found"),
    [
        (half_missing, [("missing", "age")]),
        (half_unreadable, [("missing", "age")]),
        (other_codes, [("other", "job")]),
        (grams_for_kilograms, [("last bin", "age")]),
        (grams_for_most, [("last bin", "age")]),
        (too_small_a_unit, [("first bin", "dose")]),
        (one_label_misspelt, [("class", "")]),
        (lambda X, y: (X, np.where(y == "yes", 1, 0)), [("records", "")]),
        (lambda X, y: (X, y), []),
    ],
)
def test_mistakes_are_found_one_by_one(mistake, found):
    X, y = mistake(*records())
    assert kinds(fitted(X, y)) == found


def test_words_name_the_share_and_the_feature():
    X, y = half_missing(*records())
    (alarm,) = fitted(X, y).health().alarms
    assert alarm.words in {f"about {p}% of age is missing or unreadable" for p in (49, 50, 51)}
    assert 0.99 <= alarm.certainty <= 1.0


def test_words_about_a_full_bin_are_about_records_with_a_value():
    X, y = grams_for_most(*records())
    (alarm,) = fitted(X, y).health().alarms
    assert alarm.words == "almost everyone with a value is in the last bin of age: wrong unit?"


def test_one_of_three_classes_may_lack():
    classes = ("no", "maybe", "yes")
    schema = Schema(SCHEMA.features, target=Classes(classes))
    X, y = records(classes=classes)
    assert kinds(fitted(X, y, schema)) == []
    y = np.where(y == "maybe", "perhaps", y)
    (alarm,) = fitted(X, y, schema).health().alarms
    assert alarm.words.startswith("almost nobody is in class maybe")


def test_rows_without_a_target_are_told_from_a_public_number_of_rows():
    X, y = records()
    y = np.where(np.arange(N) % 2, y, "")
    assert kinds(fitted(X, y)) == []
    assert kinds(fitted(X, y, n_public=N)) == [("target", "")]


@pytest.mark.parametrize("objective", ["squared", "poisson"])
def test_a_regression_is_checked_without_classes(objective):
    schema = Schema(SCHEMA.features, target=Range(0, 10))
    X, _ = records()
    X.loc[: N // 2, "age"] = np.nan
    model = DPExplainableBoostingRegressor(
        1.0, schema=schema, objective=objective, max_rounds=2, reproducible_seed=0
    )
    assert kinds(model.fit(X, np.full(N, 3.0))) == [("missing", "age")]


@pytest.mark.parametrize("settings", [{"outer_bags": 3}, {"preset": "paper"}])
def test_bags_and_the_published_settings_are_checked_as_well(settings):
    assert kinds(fitted(*records(), **settings)) == []
    found = kinds(fitted(*one_label_misspelt(*records()), **{**settings, "max_rounds": 1}))
    assert found == [("class", "")]


def test_notes_count_terms_and_bins():
    X, y = records()
    health = fitted(X, y).health()
    notes = {finding.kind: finding for finding in health}
    assert set(notes) == {"noise", "bins"}
    assert not any(note.is_alarm for note in notes.values())
    assert "of 3 terms" in notes["noise"].words or "all 3 terms" in notes["noise"].words
    assert "bins resolved in 2 numeric features" in notes["bins"].words


@pytest.mark.parametrize(
    ("high", "settings", "noted"),
    [
        (10.0, {}, False),
        (1e9, {}, True),
        (1e9, {"clip": 0.01}, False),
        (1e6, {"objective": "poisson"}, False),
    ],
)
def test_a_note_tells_of_a_target_range_far_wider_than_the_values(high, settings, noted):
    schema = Schema(SCHEMA.features, target=Range(0, high, name="costs"))
    X, _ = records()
    y = np.random.default_rng(0).uniform(0, 10, len(X))
    model = DPExplainableBoostingRegressor(1.0, schema=schema, reproducible_seed=0, **settings)
    health = model.fit(X, y).health()
    found = [finding for finding in health if finding.kind == "range"]
    assert bool(found) == noted
    assert not any(finding.is_alarm for finding in found)
    assert all("(0 to 1,000,000,000) may be far too wide" in finding.words for finding in found)


def test_health_is_shown_as_text_table_and_escaped_html():
    health = Health(
        (Finding("missing", "<b>", "about 70% of <b> is missing", 0.999), Finding("bins", "", "x"))
    )
    assert repr(health) == "1 alarm\n- about 70% of <b> is missing\n- x"
    assert list(health.frame()["kind"]) == ["missing", "bins"]
    assert len(health) == 2
    assert "<b>" not in health._repr_html_()
    assert health.frame()["private"].all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("open_parameter", [{"schema": None}, {"reproducible_seed": 1}])
def test_health_of_a_fit_that_is_not_private_is_marked(open_parameter):
    X = pd.DataFrame({"age": [20.0, 30.0] * 20})
    schema = Schema({"age": Numeric(17, 90)}, target=Classes(["no", "yes"]))
    model = DPLogisticRegression(**{"schema": schema, **open_parameter})
    health = model.fit(X, ["no", "yes"] * 20).health()
    assert repr(health).startswith("NOT PRIVATE: ")
    assert "NOT PRIVATE" in health._repr_html_()
    assert not health.frame()["private"].any()


# False alarms, on tables that just respect their limits


def noisy_fit(rng, missing, other, n=2_000.0, std=30.0):
    """Make releases of a table with given proportions in its features' special cells."""
    grids = [declared_cells(name, f, 16) for name, f in SCHEMA.features.items()]
    exact = []
    for grid in grids:
        special = [missing] if grid.edges is not None else [other, missing]
        values = np.full(grid.n_value_bins, (1.0 - sum(special)) / grid.n_value_bins)
        exact.append(n * np.append(values, special))
    released = tuple(each + rng.normal(0.0, std, len(each)) for each in exact)
    people = NoisyCount(n + rng.normal(0.0, std), std)
    counted = NoisyHistograms(released, std, people).agreeing()
    binned = SimpleNamespace(
        first_cells=grids,
        first_counts=counted.counts,
        first_spread=counted.spread,
        n_samples=counted.n_samples,
        n_samples_std=counted.n_samples_std,
        cell_noise_std=std,
    )
    # In class yes are just as many as allowed.
    held, leaves = health_tests.FEWEST_IN_CLASS * n, 3
    sums = np.full(leaves, (held - n / 2) / leaves) + rng.normal(0.0, std, leaves)
    step = SimpleNamespace(clip=1.0, sums=sums)
    return SimpleNamespace(binned=binned, steps=[step], leaf_noise_std=[std], share=1.0)


LIMITS = (health_tests.MOST_MISSING, health_tests.MOST_OTHER)


@pytest.mark.parametrize("level", [0.01, 0.5])
def test_false_alarms_are_at_most_as_frequent_as_stated(monkeypatch, level):
    """Five of nine limits are just reached, which is the worst for those tests."""
    monkeypatch.setattr(health_tests, "FALSE_ALARMS", level)
    rng, n_fits = np.random.default_rng(1), 3_000
    alarms = sum(
        bool(alarms_of_fit(noisy_fit(rng, *LIMITS), ("no", "yes"), None)) for _ in range(n_fits)
    )
    # A correct check exceeds this once in a billion runs.
    assert alarms <= stats.binom.isf(1e-9, n_fits, level)
    # All five tests together have at least the power of one at its share of the level, less the
    # slack of a variance that ignores correlation (a third of the level remains).
    assert alarms >= stats.binom.ppf(1e-9, n_fits, level / 10 / 3)


def test_twice_the_limits_raise_alarms():
    rng = np.random.default_rng(2)
    fit = noisy_fit(rng, 0.4, 0.2)
    found = [each.kind for each in alarms_of_fit(fit, ("no", "yes"), None)]
    assert found == ["missing", "missing", "missing", "other"]


def test_counted_classes_have_the_stated_noise():
    """The noise of 60 real fits, in units of its stated standard deviation, is standard normal."""
    X, y = records(2_000)
    y = np.where(np.arange(2_000) < 500, "yes", "no")
    scaled = []
    for seed in range(60):
        model = fitted(X, y, max_rounds=1, reproducible_seed=seed)
        fit = model._fit
        no, yes = class_tests(fit, ("no", "yes"))
        limit = health_tests.FEWEST_IN_CLASS * 2_000
        scaled.append((yes.records - (limit - 500)) / yes.noise_std)
        assert no.noise_std == yes.noise_std
    total = float(np.square(scaled).sum())
    low, high = stats.chi2.ppf([1e-6, 1.0 - 1e-6], 60)
    assert low < total < high


def test_counts_of_full_bins_that_were_split_have_the_stated_noise(monkeypatch):
    """As above, for bins that hold as many records as allowed, far more than any other."""
    n = 2_000
    rng, row = np.random.default_rng(0), np.arange(n)
    age = np.where(row < 0.9 * n, 89.9, rng.uniform(18, 60, n))
    cost = np.where(row < 0.98 * n, 0.0, rng.uniform(2e5, 9e5, n))
    X = pd.DataFrame({"age": age, "cost": cost})
    schema = Schema({"age": Numeric(18, 90), "cost": Numeric(0, 1e6)}, target=Range(0, 1))
    scaled = []
    monkeypatch.setattr(
        "dpexplain.models.boosting.health.alarms_of_cells",
        lambda counted, *_: tuple(
            scaled.append(test.records / test.noise_std)
            for test in health_tests._of_features(counted)
            if (test.kind, test.feature) in {("last bin", "age"), ("first bin", "cost")}
        )[:0],
    )
    fits = 40
    for seed in range(fits):
        model = DPExplainableBoostingRegressor(
            1.0, schema=schema, max_rounds=1, reproducible_seed=seed
        ).fit(X, rng.random(n))
        binned = model._fit.binned
        for first, cells in zip(binned.first_cells, binned.cell_spread, strict=True):
            assert first.n_bins < len(cells)
    assert len(scaled) == 2 * fits
    # The stated noise ignores correlations that make it smaller. Tests of both features share the
    # number of records, so the limits are those of single tests.
    for place in (0, 1):
        each = np.array(scaled[place::2])
        assert each.mean() < 5.0 / np.sqrt(fits)
        assert 0.2 < np.mean(each**2) < stats.chi2.isf(1e-6, fits) / fits


def test_health_follows_from_the_releases_alone():
    schema = Schema(SCHEMA.features, target=Classes(["no", "yes"]))
    estimator = DPExplainableBoostingClassifier(1.0, schema=schema, structure_seed=1, max_rounds=3)
    X, y = records(60)
    X.loc[:40, "age"] = np.nan
    model, transcript = record(estimator, X, y)
    neighbor = (X.iloc[1:], y[1:])
    assert replay(estimator, neighbor, model, transcript).holds
    other, _ = record(estimator, *neighbor, answers=transcript.answers)
    assert other.health() == model.health()
