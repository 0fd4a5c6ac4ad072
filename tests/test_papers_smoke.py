"""The studies of papers run on small data and measure what they say."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.full


def test_every_study_says_what_it_shows_and_has_few_cells_where_time_is_short(load):
    studies = list(load("make_papers").studies())

    names = [study.name for study in studies]
    assert len(set(names)) == len(names)
    for study in studies:
        assert study.paper
        assert study.shows
        assert study.protocol
        many, few = study.cells(False), study.cells(True)
        assert many or study.missing(), study.name  # data that are not here have no cells
        assert bool(many) == bool(few)
        assert len(few) <= len(many), study.name
        assert all(isinstance(v, str | int | float | None) for c in many for v in c.values())


def test_published_figures_and_causes_name_settings_that_are_measured(load, repository):
    tables = load("claims").read_tables(repository / "docs" / "papers")
    extra = {"published", "published_sd", "cause"}
    for study in load("make_papers").studies():
        if study.name not in tables:
            continue
        table = tables[study.name].astype(object).replace(float("nan"), None)
        filed = set(load("file_data").FILED) - set(tables[study.name]["data"])
        for entry in (*study.published, *study.causes):
            if entry.get("data") in filed:
                continue  # measured where somebody has put its file
            wanted = {k: v for k, v in entry.items() if k not in extra}
            assert set(wanted) <= set(table), (study.name, entry)
            match = np.all([table[k].map(lambda x, v=v: x == v) for k, v in wanted.items()], axis=0)
            assert np.any(match), (study.name, entry)


def test_tables_of_nori_are_measured_with_and_without_privacy(load, monkeypatch):
    ebm, data = load("paper_ebm"), load("bench_data")
    monkeypatch.setattr(ebm, "loaded", lambda name: data.load_simulated(300))

    rows = [
        row
        for model, epsilon in [("DP-EBM, classic", 8.0), ("linear, prepared", None)]
        for row in ebm.measure("simulated", model, epsilon, n_splits=2)
    ]

    assert [row["repeat"] for row in rows] == [0, 1, 0, 1]
    assert {row["metric"] for row in rows} == {"AUROC"}
    assert all(0.5 < row["value"] <= 1.0 for row in rows[2:])
    assert all(0.0 <= row["value"] <= 1.0 for row in rows)


def test_peers_get_columns_within_their_public_bounds(load):
    peers, data = load("paper_ebm_diffprivlib"), load("bench_data").load_simulated(200)

    raw = peers.encoded(data.X, data.schema, scaled=False)
    scaled = peers.encoded(data.X, data.schema, scaled=True)

    for rows in (raw, scaled):
        assert rows.Z.shape == (200, 5)  # age, three jobs, and none
        assert np.all((rows.low <= rows.Z) & (rows.high >= rows.Z))
        assert np.all(np.linalg.norm(rows.Z, axis=1) <= rows.norm)
    assert raw.norm == pytest.approx(np.hypot(90, 1))
    assert scaled.norm == pytest.approx(np.sqrt(2))


def test_repairs_add_nothing_to_the_ledger_and_leave_no_fall(load, monkeypatch):
    module = load("paper_ebm_repairs")
    clinic = load("paper_ebm_figures").clinic
    few = replace(clinic(), X=clinic().X.iloc[:300], y=clinic().y.iloc[:300])
    monkeypatch.setattr(module, "clinic", lambda: few)

    table = pd.DataFrame(module.measure_isotonic(0.5, 1)).set_index(["metric", "model"])["value"]

    assert table["sum of falls", "monotone"] == 0.0
    assert table["sum of falls", "as released"] > 0.0
    assert (table["releases after the repair"] == 0.0).all()


def test_data_of_the_slides_are_measured_where_their_files_are(load, monkeypatch, tmp_path):
    slides, files = load("paper_slides_data"), load("file_data")
    monkeypatch.setenv("DPEXPLAIN_DATA", str(tmp_path))
    assert slides.missing() == "the file of parkinson or the file of phishing"
    rng = np.random.default_rng(0)
    for name, classes in (("parkinson", False), ("phishing", True)):
        monkeypatch.setitem(files.FILED, name, files.Filed(300, 2, classes=classes))
        X = rng.uniform(size=(300, 2))
        y = (X[:, 0] > 0.5).astype(int) if classes else X[:, 0] * 10
        path = files.path_of(name)
        path.parent.mkdir()
        np.savetxt(path, np.column_stack([X, y]), delimiter=",")
    assert slides.missing() == ""
    load("paper_ebm").loaded.cache_clear()
    cells = [c for c in slides.cells(fast=True) if c["model"] != "DP-EBM, classic"]

    rows = [row for cell in cells for row in slides.measure(**cell | {"epsilon": 8.0})]

    load("paper_ebm").loaded.cache_clear()
    assert [row["metric"] for row in rows] == ["RMSE"] + 4 * ["AUROC"]
    assert {row["model"] for row in rows if row["data"] == "phishing"} == {
        "DP-EBM, GDP",
        "linear, prepared",
        "random forest",
        "teaching variant, NOT PRIVATE",
    }
    assert all(0.0 < row["value"] < 20.0 for row in rows)


def test_mean_gradients_times_inputs_are_how_far_the_scores_rise(load):
    from sklearn.neural_network import MLPClassifier

    module = load("paper_locally_linear_attributions")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    network = MLPClassifier((8, 8), max_iter=50, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network.fit(X, y)

    found = module.mean_gradients(network, X[:5])

    def scores(rows):
        with np.errstate(divide="ignore"):
            return np.log(network.predict_proba(rows))  # the scores less a common number

    rise = scores(X[:5]) - scores(np.zeros((1, 4)))
    expected = np.einsum("nkd,nd->nk", found, X[:5])
    center = lambda values: values - values.mean(axis=1, keepdims=True)  # noqa: E731
    np.testing.assert_allclose(center(expected), center(rise), atol=0.05)


def test_maps_of_single_records_are_compared_with_a_network(load, monkeypatch):
    monkeypatch.delenv("DPEXPLAIN_DATA", raising=False)
    load("paper_locally_linear").clinical.cache_clear()
    module = load("paper_locally_linear_attributions")
    monkeypatch.setattr(module, "N_STEPS", 3)
    small = partial(module.MLPClassifier, (8, 8, 8))
    monkeypatch.setattr(module, "MLPClassifier", lambda sizes, **settings: small(**settings))

    rows = module.measure(0)

    load("paper_locally_linear").clinical.cache_clear()
    assert len(rows) == 4 * 3  # a second network, and ours at two levels and without privacy
    assert all(-1.0 <= row["value"] <= 1.0 for row in rows)


def test_top_filters_are_as_alike_as_their_pairs_are(load):
    module = load("paper_locally_linear_choices")
    vectors = np.random.default_rng(0).normal(size=(5, 3))

    cosines = [
        a @ b / np.linalg.norm(a) / np.linalg.norm(b)
        for i, a in enumerate(vectors)
        for b in vectors[:i]
    ]

    assert module.mean_cosine(vectors) == pytest.approx(np.mean(cosines))
    (cell,) = module.variety_cells(fast=True)
    several = module.measure_variety(**cell)
    single = module.measure_variety(**{**cell, "n_filters": 1})
    assert [row["class"] for row in several] == [None, *"0123456789"]
    assert min(row["value"] for row in several[1:]) < 0.999
    assert [row["value"] for row in single[1:]] == pytest.approx([1.0] * 10)


def test_random_predictions_have_a_mean_auroc_of_one_half(load, monkeypatch):
    module, data = load("paper_ebm_repairs"), load("bench_data")
    monkeypatch.setattr(module, "loaded", lambda name: data.load_simulated(300))

    table = pd.DataFrame(module.measure_spread("random predictions", None, 100))

    values = table.set_index("metric")["value"]
    assert values["mean of AUROC"] == pytest.approx(0.5, abs=0.05)  # 0.008 is one deviation
    assert list(table["quantile"].dropna()) == list(module.QUANTILES)


# --- private trees ---------------------------------------------------------------------------


@pytest.fixture
def small(load, monkeypatch):
    """The studies of private trees, each on one small simulated table."""
    load("trees_measured")
    data = replace(load("bench_data").load_simulated(200), name="banknote")
    modules = {name: load(f"paper_{name}") for name in ("dpboost", "objective_calibration")}
    for module in modules.values():
        monkeypatch.setattr(module, "table", lambda *_: data)
    monkeypatch.setattr(modules["objective_calibration"], "GRID", ((2, 2), (3, 2)))
    monkeypatch.setattr(modules["objective_calibration"], "FIXED", (3, 2))
    monkeypatch.setattr(modules["objective_calibration"], "N_FOLDS", 3)
    return modules


def test_scores_tree_by_tree_end_with_the_score(load, small):
    measured, dpboost = load("trees_measured"), small["dpboost"]
    data = dpboost.table()
    for epsilon in (4.0, None):
        model = dpboost._model(data, epsilon, n_trees=5)
        measured.fitted(model, data, np.arange(200))
        *_, last = measured.staged_scores(model, data.X)
        np.testing.assert_allclose(last, measured.score(model, data.X), atol=1e-9)


def test_studies_of_dpboost_measure_errors_shares_and_seconds(small):
    dpboost = small["dpboost"]
    rows = dpboost._measure_error("banknote", 4.0, True)
    rows += dpboost._measure_effects("banknote", 4.0, 50, True)
    rows += dpboost._measure_time("banknote", True)
    rows += dpboost._measure_convergence("banknote", "PARA", 20, 50, True)
    found = pd.DataFrame(rows)
    assert set(found["metric"]) == {"test error", "share filtered", "seconds per tree"}
    timed = found["metric"] == "seconds per tree"
    assert found["value"][~timed].between(0, 1).all()
    assert (found["value"][timed] > 0).all()
    assert found["n_trees"].dropna().max() == 50


def test_domains_have_an_error_per_fold_and_a_verdict_per_pair(small):
    module = small["objective_calibration"]
    rows = pd.DataFrame(module._measure_domain("banknote", 4.0, 10, False))
    errors = rows[rows["metric"] == "test error"]
    assert len(errors) == 3 * 2 * (3 * 2 + 2)  # folds, budgets, alphas with settings, forests
    assert (rows[rows["metric"] == "share best"].groupby("budget")["value"].sum() >= 1).all()
    verdicts = rows[rows["metric"].isin(["share better", "share worse"])]
    assert len(verdicts) == 2 * 3 * 4 * 2 * 2
    quantiles = pd.DataFrame(module._measure_runs("banknote", 4.0, 3))
    assert quantiles["value"].between(0, 1).all()


def test_bounds_on_leaf_values_and_shares_of_splits_are_varied(load, small, monkeypatch):
    load("trees_measured")
    module, data = load("paper_objective_calibration_settings"), small["objective_calibration"]
    monkeypatch.setattr(module, "table", data.table)
    monkeypatch.setattr(module, "SIZES", ((3, 2),))

    rows = pd.DataFrame(module.measure("banknote", 4.0, 10.0, 2))

    assert len(rows) == 2 * 3 * 2 * 3
    assert set(rows["largest_leaf"]) == {10.0}
    assert set(rows["beta"]) == {0.1, 0.5, 0.9}
    assert rows["value"].between(0, 1).all()


def test_alphas_of_splits_and_leaves_are_crossed(load, small, monkeypatch):
    load("trees_measured")
    module, data = load("paper_objective_calibration_alphas"), small["objective_calibration"]
    monkeypatch.setattr(module, "table", data.table)

    models = (module.GUESS, *module.SPLITS)
    rows = pd.DataFrame([r for m in models for r in module.measure("banknote", m, 4.0, 2)])

    assert set(rows["model"]) == set(models)
    trees = rows[rows["model"] != module.GUESS]
    assert len(trees) == 2 * len(module.SPLITS) * len(module.LEAVES) * len(module.SIZES)
    assert set(trees.groupby("model")["leaves"].nunique()) == {2}
    assert rows["value"].between(0, 1).all()


def test_alpha_by_weight_is_that_of_depth_where_each_split_halves_the_weight(load):
    load("trees_measured")
    module = load("paper_objective_calibration_alphas")
    from dpexplain import DPBoostedTreesClassifier
    from dpexplain.models.boosted_trees.boosted_trees import WEIGHT_STEPS
    from dpexplain.models.trees.structure import candidates_of, grid_of

    schema = load("bench_data").load_simulated(200).schema
    candidates = candidates_of(grid_of(schema, 4))
    one = np.random.default_rng(0).integers(0, 50, (1, candidates.n_bins, 2)) * WEIGHT_STEPS
    setting = {"schema": schema, "criterion": "m_alpha", "n_public": 200, "max_bins": 4}
    found = [
        kind(4.0, **setting)._utilities(np.concatenate([one, one]), candidates, 0.5)
        for kind in (DPBoostedTreesClassifier, module.ByWeight)
    ]

    np.testing.assert_array_equal(*found)


def test_noise_on_leaves_follows_the_bound_on_their_values_with_the_budget_of_the_paper(small):
    boosted = small["objective_calibration"].boosted
    data = small["objective_calibration"].table()
    scales = {}
    for budget in ("paper", "parallel"):
        for bound in (1.0, 10.0):
            model = boosted(data, "O.C", budget, 4.0, n_trees=2, depth=2)
            model._largest_leaf = bound
            scales[budget, bound] = model._leaf_phase(4).scale_int
    assert scales["paper", 10.0] == pytest.approx(10 * scales["paper", 1.0])
    assert scales["parallel", 10.0] == scales["parallel", 1.0]


def test_differences_count_where_folds_agree(load):
    significant = load("paper_objective_calibration").significant
    folds = np.random.default_rng(0).normal(0, 1, 10)
    folds -= folds.mean()
    assert significant(folds) == 0
    assert (significant(folds + 3), significant(folds - 3)) == (1, -1)
    assert significant(np.zeros(10)) == 0
    # A plain paired test would call this significant: t is 2.6 of 2.26, corrected 1.8.
    assert significant(folds / folds.std(ddof=1) + 2.6 / 10**0.5) == 0


def test_the_taught_variant_says_that_it_is_not_private_and_what_its_noise_amounts_to(load):
    from dpexplain.accounting import gdp_noise_multiplier

    teaching, data = load("teaching"), load("bench_data").load_simulated(200)
    y = (data.y == "yes").to_numpy()
    taught, composed = (
        teaching.NotPrivateTeachingEBM(4.0, 1e-6, max_rounds=5, composed=way).fit(data.X, y)
        for way in (False, True)
    )

    assert "NOT PRIVATE" in teaching.NotPrivateTeachingEBM.__doc__
    assert not taught.is_private
    assert taught.noise_std_ == pytest.approx(1.3247, abs=1e-4)
    assert taught.composed_epsilon() > 4.0
    assert composed.noise_std_ == gdp_noise_multiplier(5 * 2, 4.0, 1e-6)
    assert composed.composed_epsilon() == pytest.approx(4.0)
    assert np.all(np.isfinite(taught.decision_function(data.X)))


def test_curves_are_read_at_public_points_with_a_band_where_there_is_one(load, monkeypatch):
    figures, data = load("paper_ebm_figures"), load("bench_data")
    monkeypatch.setattr(figures, "loaded", lambda name: data.load_simulated(300))

    rows = figures.measure("simulated", "DP-EBM, GDP", 8.0, 2)
    table = figures.wide(None, rows)

    feature = data.load_simulated(10).schema.features["age"]
    np.testing.assert_array_equal(table["x"], figures.grid(feature))
    assert len(table) <= 64
    assert np.all((table["lower"] <= table["score"]) & (table["score"] <= table["upper"]))
    assert set(table["guarantee"]) == {"delta 1e-06"}
    scores = pd.DataFrame(rows).query("metric == 'score'").pivot_table("value", "x", "repeat")
    np.testing.assert_allclose(table["mean"], scores.mean(axis=1))
    np.testing.assert_allclose(table["score"], scores[0])  # of the first fit, as its band
    assert set(table["n"]) == {2}


@pytest.mark.named_entropy
@pytest.mark.filterwarnings("ignore::dpexplain.exceptions.PrivacyWarning")
def test_curves_with_next_to_no_noise_repeat_and_those_with_noise_do_not(load, monkeypatch):
    smooth, data = load("paper_ebm_smoothness"), load("bench_data")
    monkeypatch.setattr(load("paper_ebm_figures"), "loaded", lambda _: data.load_simulated(300))

    spread = {}
    for epsilon in (0.1, smooth.NO_NOISE):
        rows = pd.DataFrame(smooth.measure("simulated", smooth.OURS, epsilon, 4, fast=False))
        assert set(rows["repeat"]) == {0, 1, 2, 3}
        assert set(rows["feature"]) == {"age"}
        spread[epsilon] = rows["value"].std() / rows["value"].mean()

    assert spread[smooth.NO_NOISE] < 0.2 < 4 * spread[0.1]


@pytest.mark.filterwarnings("ignore::dpexplain.exceptions.PrivacyWarning")
def test_curves_are_compared_with_the_mean_of_bags(load, monkeypatch):
    smooth, figures = load("paper_ebm_smoothness"), load("paper_ebm_figures")
    data = load("bench_data")
    monkeypatch.setattr(figures, "loaded", lambda name: data.load_simulated(300))
    monkeypatch.setattr(smooth, "N_BAGS", 2)
    figures.single.cache_clear()

    private = pd.DataFrame(smooth.measure("adult", smooth.OURS, 4.0, 2, fast=False))
    single, bags = (
        pd.DataFrame(smooth.measure("adult", model, None, n_fits, fast=False))
        for model, n_fits in ((smooth.SINGLE, 2), (smooth.BAGGED, 1))
    )

    assert figures.single.cache_info().misses == 2  # a bag is one of the single fits
    figures.single.cache_clear()
    assert set(private["metric"]) == {"total variation", "correlation with the bagged EBM"}
    shape = private.loc[private["metric"].str.startswith("correlation"), "value"]
    assert shape.between(-1.0, 1.0).all()
    assert single["value"].nunique() == 2
    assert bags["value"].iloc[0] <= single["value"].mean() + 1e-9  # a mean of curves varies less


@pytest.mark.filterwarnings("ignore::dpexplain.exceptions.PrivacyWarning")
def test_chosen_splits_are_charged_what_random_ones_are(load):
    load("paper_ebm")
    choice, data = load("chosen_splits"), load("bench_data").load_simulated(300)
    from dpexplain import DPExplainableBoostingClassifier

    spent = []
    for way in (None, False, True):
        setting = {"schema": data.schema, "preset": "paper", "max_rounds": 20}
        model = DPExplainableBoostingClassifier(8.0, 1e-6, allow_weak=True, **setting)
        with choice.splits_chosen(twice=way) if way is not None else nullcontext():
            model.fit(data.X, data.y)
        spent.append(model.ledger_.total_epsilon())
        assert model.predict_proba(data.X).shape == (300, 2)

    assert spent == pytest.approx([spent[0]] * 3)


def test_splits_are_chosen_by_the_squared_sums_of_leaves(load):
    leaves = load("chosen_splits").chosen_leaves
    rng = np.random.default_rng(0)
    sums = np.array([5.0, 5.0, 0.0, 0.0, -9.0, -9.0, 1.0])
    setting = {"n_special": 1, "max_leaves": 3, "min_leaf_count": 1.0, "rng": rng}

    ordered = leaves(sums, np.full(7, 10.0), ordered=True, **setting)
    shuffled = leaves(sums[[4, 0, 2, 5, 1, 3, 6]], np.full(7, 10.0), ordered=False, **setting)
    one = leaves(sums, np.full(7, 0.1), ordered=True, **setting)

    assert list(ordered[:6]) == [0, 0, 1, 1, 2, 2]
    assert list(shuffled[:6]) == [0, 2, 1, 0, 2, 1]  # sorted by mean
    assert set(one) == {0}  # no leaf would have enough records
    assert set(ordered[6:]) <= {0, 1, 2}


@pytest.mark.filterwarnings("ignore::dpexplain.exceptions.PrivacyWarning")
def test_chosen_splits_are_scored_next_to_random_ones(load, monkeypatch):
    module, data = load("paper_ebm_splits"), load("bench_data")
    monkeypatch.setattr(module, "loaded", lambda _: data.load_simulated(300))

    rows = pd.DataFrame(module.measure("simulated", 8.0, 20, 2))

    scores = rows[rows["metric"] == "AUROC"].pivot_table("value", "repeat", "model")
    gains = rows[rows["metric"] == module.GAIN].pivot_table("value", "repeat", "model")
    for way in (module.FROM_BINS, module.FROM_HALF):
        np.testing.assert_allclose(gains[way], scores[way] - scores[module.OURS])


def test_filters_of_fits_are_matched_whatever_their_order(load):
    matched = load("paper_locally_linear").matched
    first = np.random.default_rng(0).normal(size=(2, 3, 8))
    orders = np.array([[2, 0, 1], [1, 0, 2]])
    other = np.stack(
        [2.0 * bank[np.argsort(order)] for bank, order in zip(first, orders, strict=True)]
    )

    np.testing.assert_array_equal(matched(other, first), orders)


def test_rates_decay_as_a_setting_says(load, monkeypatch):
    from dpexplain.models.locally_linear import private_classifier

    study, filters = load("paper_locally_linear"), load("locally_linear_filters")
    real, given = private_classifier.stepped_rates, []
    noted = lambda *rest: given.append(rest) or real(*rest)  # noqa: E731
    monkeypatch.setattr(private_classifier, "stepped_rates", noted)
    small = {"n_basis": 10, "n_filters": 2, "n_epochs": 2, "batch": 500}
    for decay in (filters.TEXT, filters.AS_AT_8, filters.LINEAR):
        study.fitted_images(**study.setting_of("digits", 8.0, **small, decay=decay))

    assert [rest[1:] for rest in given] == [(6, 15, 0.8), (6, 3, 0.9)]
