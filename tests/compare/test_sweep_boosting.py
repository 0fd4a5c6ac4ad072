"""Sweeps of the real model, on small simulated data."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from dpexplain import (
    BudgetError,
    Categorical,
    Classes,
    DPExplainableBoostingClassifier,
    DPExplainableBoostingRegressor,
    Numeric,
    PrivacyLedger,
    Range,
    Schema,
    SchemaError,
    io,
    sweep,
)
from dpexplain.explain import total_score
from example_explanations import private_guarantee

FEATURES = {
    "age": Numeric(18, 80, unit="years", step=1),
    "job": Categorical(["nurse", "clerk", "pilot"]),
}
CLASSIFIED = Schema(features=FEATURES, target=Classes(["no", "yes"], name="buys"))
COUNTED = Schema(features=FEATURES, target=Range(0, 20, unit="visits", name="visits"))
QUIET = {"progress": False}


def simulated(seed, n=1_500):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 81, n).astype(float),
            "job": rng.choice(["nurse", "clerk", "pilot"], n),
        }
    )
    X.loc[:5, "age"] = np.nan
    score = (X["age"].fillna(40) - 45) / 8 + 1.5 * (X["job"] == "pilot")
    labels = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no")
    return X, pd.Series(labels), pd.Series(np.clip(5 + score, 0, 20))


class Secret:
    """Cell that fails any test that looks at it."""

    def _refuse(self, *args):
        raise AssertionError("a value was read")

    __str__ = __repr__ = __float__ = __int__ = __eq__ = __hash__ = __bool__ = __lt__ = _refuse


def secret_table(columns):
    cells = np.empty((30, len(columns)), dtype=object)
    for place in np.ndindex(*cells.shape):
        cells[place] = Secret()
    return pd.DataFrame(cells, columns=columns)


def test_refused_sweep_reads_no_cell_and_spends_nothing():
    ledger = PrivacyLedger("secret", cap_epsilon=1.0)
    model = DPExplainableBoostingClassifier(schema=CLASSIFIED)
    X, y = secret_table(["age", "job"]), secret_table(["buys"])["buys"]
    with pytest.raises(BudgetError, match="this sweep needs"):
        sweep(model, X, y, epsilons=(0.9, 1.0), ledger=ledger, **QUIET)
    with pytest.raises(SchemaError, match="lacks the column 'age'"):
        sweep(model, secret_table(["wage", "job"]), y, epsilons=(0.5,), ledger=ledger, **QUIET)
    held_out = (secret_table(["wage", "job"]), y)
    with pytest.raises(SchemaError, match="lacks the column 'age'"):
        sweep(model, X, y, epsilons=(0.5,), evaluate=held_out, ledger=ledger, **QUIET)
    broken = DPExplainableBoostingClassifier(schema=CLASSIFIED, max_bins=0)
    with pytest.raises(ValueError, match="max_bins"):
        sweep(broken, X, y, epsilons=(0.5,), ledger=ledger, **QUIET)
    assert ledger.entries == ()


def test_classifier_sweep_spends_its_composition_and_explains_every_fit(tmp_path):
    X, y, _ = simulated(0)
    ledger = PrivacyLedger("simulated classes", delta=1e-6)
    comparison = sweep(
        DPExplainableBoostingClassifier(schema=CLASSIFIED),
        X.iloc[:1_000],
        y.iloc[:1_000],
        epsilons=(1.0, 4.0),
        n_repeats=2,
        evaluate=(X.iloc[1_000:], y.iloc[1_000:]),
        ledger=ledger,
        structure_seed=3,
        n_jobs=2,
        **QUIET,
    )
    assert comparison.epsilon_together == pytest.approx(ledger.private_epsilon(), rel=1e-3)
    assert 4.0 < ledger.private_epsilon() < 10.0
    assert ledger.total_epsilon() == math.inf
    assert comparison.term_names == ("age", "job")
    assert comparison.score_unit == "log-odds"
    assert not comparison.reference.guarantee.private
    assert all(fit.guarantee.private for fit in comparison.explanations[1.0])
    by_epsilon = comparison.metrics.groupby("epsilon")["value"].mean()
    # The reference ranks these data with an AUROC near 0.85, and 250 records of the smaller
    # class give a standard error below 0.02: five of them are left as tolerance.
    assert by_epsilon[math.inf] > 0.75
    assert by_epsilon[4.0] > by_epsilon[math.inf] - 0.1
    assert io.load(io.save(comparison, tmp_path / "sweep.json")) == comparison


@pytest.mark.full
def test_regression_sweep_measures_in_the_unit_of_the_target():
    X, _, y = simulated(1)
    comparison = sweep(
        DPExplainableBoostingRegressor(schema=COUNTED), X, y, epsilons=(2.0,), evaluate=(X, y),
        **QUIET,
    )  # fmt: skip
    assert comparison.score_unit == "visits"
    assert comparison.metrics["metric"].unique().tolist() == ["RMSE"]
    assert comparison.metrics["value"].between(0, y.std()).all()


def test_predictions_are_the_total_of_the_contributions():
    X, y, _ = simulated(2)
    model = DPExplainableBoostingClassifier(epsilon=2.0, schema=CLASSIFIED).fit(X, y)
    local, whole = model.explain_local(X), model.explain_global()
    looked_up = np.column_stack([whole[name].evaluate(X[name]) for name in whole])
    assert local.contributions.tobytes() == np.ascontiguousarray(looked_up).tobytes()
    scores = total_score(looked_up, whole.intercept)
    assert local.scores.tobytes() == scores.tobytes()
    assert model.predict_proba(X)[:, 1].tolist() == local.predictions.tolist()
    assert model.decision_function(X).tolist() == scores.tolist()


def test_guarantee_of_a_fit_is_stated_in_full():
    X, y, _ = simulated(3)
    model = DPExplainableBoostingClassifier(epsilon=0.5, schema=CLASSIFIED).fit(X, y)
    guarantee = model.explain_global().guarantee
    assert guarantee.short == private_guarantee().short
    assert guarantee.epsilon_replace > guarantee.epsilon
    for words in ("Noise:", "Library: dpexplain", "Under replace-one adjacency"):
        assert words in guarantee.statement()
