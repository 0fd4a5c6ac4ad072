"""The benchmarks run on simulated data and print what they promise."""

from __future__ import annotations

import importlib
import math
import re
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from dpexplain import Classes, Numeric, Schema
from dpexplain.datasets import make_additive
from example_explanations import age, classifier

pytestmark = pytest.mark.full

EPSILONS = (1.0, 8.0)
RACERS = ["dpexplain, default", "dpexplain, paper preset", "InterpretML, default"]


@pytest.fixture
def load(repository, monkeypatch):
    """Import a module of the benchmarks by its name."""
    monkeypatch.syspath_prepend(str(repository / "tests" / "benchmarks"))
    return importlib.import_module


@pytest.fixture
def published(load, monkeypatch):
    """Published figures, as if the paper had some for simulated data."""
    published = load("published")
    impossible = published.Published(
        600, {published.GDP: [(10.0, 0.1)] * len(EPSILONS) + [(1.0, 0.1)]}
    )
    monkeypatch.setitem(published.BY_DATASET, "simulated", impossible)
    return published


def tables(text: str) -> list[list[list[str]]]:
    """Cells of each Markdown table, header first."""
    found, last = [], ""
    for line in text.splitlines():
        if line.startswith("|"):
            if not last.startswith("|"):
                found.append([])
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        last = line
    return [[header, *rows] for header, _, *rows in found]


@pytest.fixture
def small_targets(load, monkeypatch):
    """Targets on few rows, adult's on simulated data, with kernels that are on disk."""
    targets, data, cold_start = load("bench_targets"), load("bench_data"), load("cold_start")
    growth, reading, apart = targets.growth, targets.reading, cold_start.apart
    monkeypatch.setattr(cold_start, "apart", lambda n_rows, cache: apart(n_rows, ""))
    monkeypatch.setattr(targets, "N_REPEATS", 1)
    monkeypatch.setattr(targets, "growth", lambda budget: growth(budget, n_rows=1000))
    monkeypatch.setattr(targets, "reading", lambda: reading(n_rows=4000))
    starting = targets.starting
    monkeypatch.setattr(targets, "starting", lambda: starting(n_runs=1, n_rows=200))
    scaling = targets.scaling
    monkeypatch.setattr(targets, "scaling", lambda: scaling((1000, 2000, 3000), epochs=1))
    monkeypatch.setattr(load("bench_opacus"), "N_STEPS", 1)
    monkeypatch.setattr(targets, "EPSILONS", EPSILONS)
    monkeypatch.setitem(data.TABLES, "adult", data.TABLES["simulated"])


def test_targets_are_printed_with_what_was_measured_met_or_not(load, capsys, small_targets):
    pytest.importorskip("interpret")

    load("run").main(["--datasets", "adult", "--splits", "1"])

    rows = tables(capsys.readouterr().out)[-1]
    assert rows[0] == ["target", "wanted", "measured", "met"]
    named = " ".join(row[0] for row in rows[1:])
    wanted = (
        "default against",
        "equal settings",
        "sweep of 2",
        "coins",
        "half",
        "memory",
        "all cells quoted",
        "import of one estimator",
        "no kernel on disk",
        "installation without extras",
        "locally linear step",
        "CPU times",
        "extrapolated to 100,000,000 rows",
    )
    for target in wanted:
        assert target in named
    assert all(re.search(r"\d", row[2]) for row in rows[1:])
    assert {row[3] for row in rows[1:]} <= {"yes", "no"}


def test_race_prints_both_libraries_with_ratios(load, capsys, monkeypatch):
    pytest.importorskip("interpret")
    monkeypatch.setattr(load("run"), "targets", lambda *arguments: iter([]))
    monkeypatch.setattr(load("bench_passes"), "N_RECORDS", (5_000,))
    monkeypatch.setattr(load("bench_passes"), "_SECONDS", 0.01)

    load("run").main(["--datasets", "simulated", "--splits", "2", "--epsilon", "4"])

    text = capsys.readouterr().out
    private, passes, plain, _ = tables(text)
    assert [row[1] for row in private[1:]] == RACERS
    assert [row[1] for row in plain[1:]] == ["dpexplain", "InterpretML, no pairs"]
    assert [row[1] for row in passes[1:]] == ["logistic", "squared"]
    assert all(float(row[2]) > 0 and row[3] == "14" for row in passes[1:])
    assert "epsilon 4, delta 1e-06" in text
    assert "2 random 80/20 splits" in text
    assert re.search(r"dpexplain \d.*interpret-core \d", text)
    for row in (*private[1:3], plain[1]):
        assert all(float(ratio.removesuffix(" ×")) > 0 for ratio in row[4:6])
        assert row[6].startswith("AUROC 0.")


def test_calibration_of_classes_is_held_against_held_out_records(load, capsys):
    chosen = ["--parts", "calibration", "--tables", "three-classes"]
    load("truth").main([*chosen, "--epsilons", "4", "--fits", "8", "--jobs", "1"])
    ((names, row),) = tables(capsys.readouterr().out)
    assert row[:3] == ["three-classes", "4", "1"]
    assert names[8] == "accuracy"
    assert re.fullmatch(r"0\.\d{4} -> 0\.\d{4}", row[8])


def test_truth_is_held_against_bands_the_planner_a_table_and_held_out_records(
    load, capsys, monkeypatch, tmp_path
):
    truth, real = load("truth"), load("bench_truth_tables")
    monkeypatch.setattr(truth, "REAL", ("clinical",))
    monkeypatch.setattr(truth, "CLASSES", ("clinical",))
    for module in (truth, real):
        monkeypatch.setattr(module, "NUMBERS", ("smooth",))
        monkeypatch.setattr(module, "COUNTS", ("rare-counts",))
    counted = real._data("rare-counts")

    def drawn(name):
        if name == "rare-counts":
            few = slice(600)
            return replace(counted, X=counted.X[few], y=counted.y[few])
        task = "regression" if name == "smooth" else "classification"
        return make_additive(name, 600, task=task, random_state=0)

    monkeypatch.setattr(real, "_data", drawn)

    kept = ["--results", str(tmp_path / "rows.jsonl")]
    truth.main(["--problems", "400 people", "--epsilons", "4", "--fits", "1", *kept])

    found = tables(capsys.readouterr().out)
    coverage, people, claims, planner, table, warned, calibration, of_numbers, of_counts = found
    for row in (coverage[1], people[1], claims[1]):
        assert row[:3] == ["400 people", "4", "1"]
    for held in claims[1][3:]:  # a proportion needs a claim that holds
        assert re.fullmatch(r"0|[1-9][\d,]* \([01]\.\d{3}\)", held)
    assert [row[:2] for row in planner[1:]] == [["400 people", "6"], ["all", "6"]]
    assert table[1][:3] == calibration[1][:3] == ["clinical", "4", "1"]
    assert re.fullmatch(r"\d\.\d\d -> \d\.\d\d", table[1][3])
    assert of_numbers[1][:3] == ["smooth", "4", "1"]
    assert of_counts[1][:3] == ["rare-counts", "4", "1"]
    for row in (of_numbers[1], of_counts[1]):
        assert re.fullmatch(r"[+-]\d+\.\d% -> [+-]\d+\.\d%", row[3])
    assert [row[:2] for row in warned[1:]] == [
        ["400 people", "1"], ["table clinical", "1"], ["all", "2"],
    ]  # fmt: skip
    outside, either, _, inside = (cell.partition(" of ")[2] for cell in warned[-1][2:])
    assert outside == either
    assert int(outside or 0) + int(inside or 0) == 6 + 12

    truth.main(["--problems", "400 people", "--epsilons", "4", "--fits", "1", *kept])
    assert tables(capsys.readouterr().out) == found


@pytest.mark.parametrize("link", ["logit", "identity"])
def test_records_reject_a_true_curve_as_often_as_planned(load, link):
    rejects, draws = load("bench_truth_tables").is_rejected, 200
    bins, rng = np.repeat([0, 1, 2, 3], [600, 600, 600, 2]), np.random.default_rng(0)
    true, X = np.array([-1.0, 0.0, 1.0, 0.0]), pd.DataFrame({"age": bins + 0.5})
    few, far = np.array([0, 0, 0, 1.0]), np.array([0, 0, 1.0, 0])
    found = []
    for _ in range(draws):
        chance = 1.0 / (1.0 + np.exp(-true[bins]))
        y = rng.normal(true[bins]) if link == "identity" else (rng.random(len(X)) < chance) * 1
        curve = np.bincount(bins, y) / np.bincount(bins)  # the most likely curve
        if link == "logit":
            curve = np.clip(curve, 0.01, 0.99)
            curve = np.log(curve / (1.0 - curve))
        term = age(contribution=curve, count=[9.0] * 4, bin_edges=range(5), special=())
        classes = ("no", "yes") if link == "logit" else None
        reference = classifier(terms=(term,), classes=classes, link=link, intercept=0.0)
        labels = np.array(classes)[y] if classes else y
        data = SimpleNamespace(X=X, y=pd.Series(labels))
        shifts = np.where([True, True, True, False], true - curve, 0.0), few, far
        found.append([rejects(data, reference, term, shift) for shift in shifts])
    of_truth, of_few, of_far = np.sum(found, axis=0)
    low, high = binom.ppf([1e-5, 1.0 - 1e-5], draws, 0.05)
    assert low <= of_truth <= high
    assert of_few < draws / 2 < of_far == draws  # two records show next to nothing


def test_an_oracle_that_knows_correlations_is_held_against_the_estimate(load, capsys, monkeypatch):
    truth, bench = load("truth"), load("bench_truth")
    few = replace(load("bench_truth_problems").problem("correlated"), n=600)
    monkeypatch.setattr(bench, "problem", lambda name: few)
    truth.main(["--parts", "oracle", "--epsilons", "4", "--fits", "1"])
    found = tables(capsys.readouterr().out)[0]
    assert [row[0] for row in found[1:]] == ["correlated", "correlated counts"]
    for share in found[1][3:]:
        assert re.fullmatch(r"[01]\.\d\d -> [01]\.\d\d", share)


def test_planner_is_wrong_where_terms_rise_earlier_or_although_none_should(load):
    def row(needed: float) -> dict[str, object]:
        rises = needed == 1.0
        return {"problem": "p", "term": "x", "epsilon": 1.0, "above": rises, "needed": needed}

    larger = [{"problem": "p", "term": "x", "epsilon": 12.0, "above": True}]
    rows = [row(math.inf), row(20.0), row(8.0), row(math.nan), row(1.0)]

    found = load("bench_truth_planner").planner_rows(rows, larger)[-1]

    assert list(found.values()) == ["all", 5, "1 (1.00)", 1, "1 (1.00)", "2 (0.50)"]


def test_noise_is_held_against_refits_truth_and_shuffled_labels(
    load, capsys, monkeypatch, tmp_path
):
    noise = load("noise")
    monkeypatch.setattr(noise, "SIMULATED", {"clinical": 500})

    few = {"epsilons": 2, "refits": 3, "bands": 2, "tables": 1, "runs": 2}
    options = [word for name, n in few.items() for word in (f"--{name}", str(n))]
    noise.main(["--datasets", "clinical", *options])

    coverage, truth, shuffled = tables(capsys.readouterr().out)
    assert coverage[1][:2] == ["clinical", "2"]
    assert 0 <= float(coverage[1][2]) <= 1
    assert 0 <= float(truth[1][2]) <= 1
    assert shuffled[1][2].endswith("of 2")

    again = [*options, "--datasets", "clinical", "--results", str(tmp_path)]
    noise.main([*again, "--measure-nothing"])
    assert not tables(capsys.readouterr().out)
    noise.main([*again, "--parts", "shuffled"])
    first = tables(capsys.readouterr().out)
    noise.main([*again, "--measure-nothing"])
    assert tables(capsys.readouterr().out) == first


def test_race_without_the_peer_says_so_and_gives_our_own_numbers(load, capsys, monkeypatch):
    run = load("run")
    monkeypatch.setattr(run, "peers", lambda: None)

    run.main(["--datasets", "simulated", "--quick"])

    text = capsys.readouterr().out
    (private,) = tables(text)
    assert "InterpretML is not installed" in text
    assert [row[1] for row in private[1:]] == RACERS[:2]


def test_accuracy_stands_beside_published_figures_the_peer_and_targets(
    published, load, capsys, monkeypatch
):
    accuracy = load("accuracy")
    monkeypatch.setattr(accuracy, "EPSILONS", (0.1, 0.5, 4.0))
    accuracy.main(["--datasets", "simulated", "--splits", "2"])
    text = capsys.readouterr().out
    overview, targets, quality = tables(text)
    assert [row[1] for row in overview[1:]] == ["published", "InterpretML", "dpexplain"]
    assert [row[1] for row in quality[1:]] == ["InterpretML", "dpexplain"]
    loss, slope = map(float, quality[2][-1].split(" / "))  # not private, of two clear groups
    assert loss < np.log(2)
    assert 0.5 < slope < 2.0
    assert [row[1][:7] for row in targets[1:]] == ["ε = 0.5", "ε = 0.1", "ε = 4 w"]
    assert [row[4][:2] for row in targets[1:3]] == ["no", "no"]  # an AUROC of 10 is out of reach
    assert "better in" in text


def test_models_that_are_not_private_are_compared_on_the_same_splits(load, capsys):
    load("accuracy").main(["--datasets", "simulated", "--splits", "2", "--without-privacy"])
    ((_, row),) = tables(capsys.readouterr().out)
    assert row[:2] == ["simulated", "AUROC"]
    assert re.fullmatch(r"[+−]?0\.[0-9]{3} ± 0\.[0-9]{3}", row[-1])


@pytest.mark.parametrize(
    ("values", "text"),
    [([0.12], "+12.0 %"), ([0.1, 0.14], "+12.0 ± 2.8 %"), ([0.12, 0.12], "+12.0 ± 0.0 %")],
)
def test_what_one_fit_gave_is_printed_without_an_error(load, values, text):
    printing = load("bench_print")
    percent = [100 * value for value in values]
    mean, error = sum(percent) / len(percent), printing.deviation(percent)
    assert printing.plus_minus(mean, error, "+.1f", " %") == text


def test_each_choice_of_the_recipe_is_made_in_another_way(load, capsys, monkeypatch):
    choices = load("recipe_choices")
    monkeypatch.setattr(choices, "EPSILONS", (1.0,))
    choices.main(["--datasets", "small-table", "--splits", "2"])
    (printed,) = tables(capsys.readouterr().out)
    assert [row[0] for row in printed[2:]] == [c.words for c in choices.CHOICES]
    of_scores = [c.only in (None, "AUROC") for c in choices.CHOICES]
    shown = [bool(re.fullmatch(r"[+−]0\.[0-9]{3} ± 0\.[0-9]{3}", row[1])) for row in printed[2:]]
    assert shown == of_scores


def test_what_pairs_change_is_printed_with_those_that_were_chosen(load, capsys, monkeypatch):
    pairs = load("pairs")
    monkeypatch.setattr(pairs, "EPSILONS", (1.0,))
    monkeypatch.setattr(pairs, "DECLARED", {"simulated": [("age", "job")]})
    pairs.main(["--datasets", "simulated", "--splits", "2"])
    (_, row), _ = tables(capsys.readouterr().out)
    assert row[:2] == ["simulated", "1"]
    assert all(re.fullmatch(r"[+−]0\.[0-9]{3} ± 0\.[0-9]{3}", cell) for cell in row[4:6])
    assert re.fullmatch(r"× [0-9.]+", row[6])


def test_bands_of_pairs_are_compared_with_how_much_fits_vary(load, capsys, monkeypatch):
    pairs = load("pairs")
    monkeypatch.setattr(pairs, "BANDS", {"simulated": ("age", "job")})
    pairs.main(["--bands", "--splits", "2", "--epsilons", "1"])
    printed = capsys.readouterr().out
    assert re.search(r"epsilon 1: over 2 fits .* vary [0-9.]+ times as much as stated", printed)
    ((_, bar),) = tables(printed)
    assert bar[:2] == ["simulated", "1"]
    assert bar[-1] in ("yes", "no")


@pytest.mark.full
def test_pairs_without_privacy_are_printed_next_to_interpretml(load, capsys):
    pytest.importorskip("interpret.glassbox")
    load("pairs").main(["--without-privacy", "--datasets", "simulated", "--splits", "1"])
    ((_, *rows),) = tables(capsys.readouterr().out)
    assert [row[1] for row in rows] == ["without pairs", 'pairs="auto"', 'InterpretML, "3x"']
    assert all(0.5 < float(row[2]) < 1 for row in rows)


def test_files_are_left_out_in_one_line_each_where_no_folder_is_named(load, capsys, monkeypatch):
    monkeypatch.delenv("DPEXPLAIN_DATA", raising=False)

    found = list(load("bench_data").found(None, ["adult", "simulated", "wine"]))

    assert [name for name, _ in found] == ["simulated"]
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["Skipped adult", "Skipped wine"]
    assert all("DPEXPLAIN_DATA" in line for line in lines)


def test_splits_share_out_all_rows_and_do_not_depend_on_their_number(load):
    splits = load("bench_data").splits
    few, many = list(splits(100, 2)), list(splits(100, 5))

    for train, test in many:
        assert len(test) == 20
        np.testing.assert_array_equal(np.sort(np.r_[train, test]), np.arange(100))
    for one, other in zip(few, many, strict=False):
        np.testing.assert_array_equal(one[1], other[1])


def test_peer_gets_the_public_schema_and_no_missing_value(load):
    models, dataset = load("bench_models"), load("bench_data").load_simulated()

    filled = models.filled(dataset.X, dataset.schema)

    assert dataset.X.isna().any().all()
    assert not filled.isna().any(axis=None)
    assert set(filled.loc[dataset.X["age"].isna(), "age"]) == {18.0}
    assert set(filled.loc[dataset.X["job"].isna(), "job"]) == {"missing"}
    assert models._declared(dataset.schema) == {
        "feature_names": ["age", "job"],
        "feature_types": ["continuous", "nominal"],
    }


def test_tables_are_aligned(load):
    text = load("bench_print").table(["data", "AUROC"], [["a long name", "0.9"], ["", "0.912"]])

    assert text.splitlines() == [
        "| data        | AUROC |",
        "| :---------- | ----: |",
        "| a long name |   0.9 |",
        "|             | 0.912 |",
    ]


@pytest.mark.parametrize(
    ("value", "like", "text"),
    [(-0.0123, None, "−0.012"), (0.0001, None, "0.000"), (525.4, 73_165.0, "+525")],
)
def test_differences_have_a_sign_and_the_decimals_of_the_score(load, value, like, text):
    assert load("bench_print").signed(value, like) == text


def test_edits_print_how_much_nearer_repairs_come(load, monkeypatch, capsys):
    edit = load("edit")
    rising, turning = edit.FAMILIES[3], edit.FAMILIES[-1]
    monkeypatch.setattr(edit, "FAMILIES", (rising, turning))
    monkeypatch.setattr(edit, "MONOTONE", (rising,))
    monkeypatch.setattr(load("edit_families"), "FAMILIES", (rising, turning))

    edit.main(["--seeds", "2", "--patients", "1000", "--epsilon", "4"])

    printed = capsys.readouterr().out
    assert "filtration rate" in printed
    assert re.search(r"Repair at least 30 % nearer: (yes|no)", printed)
    assert re.search(r"Warning in at least 90 %: (yes|no)", printed)


def test_repairs_beside_a_partner_print_how_often_they_lead_away(load, monkeypatch, capsys):
    dependent = load("edit_dependent")
    monkeypatch.setattr(dependent, "MONOTONE", dependent.MONOTONE[:1])
    monkeypatch.setattr(dependent, "CORRELATIONS", (0.0, 0.8))

    dependent.main(["--seeds", "1", "--patients", "1000", "--epsilon", "4"])

    printed = capsys.readouterr().out
    assert [row[0] for row in tables(printed)[0][1:]] == ["independent", *["correlation 0.8"] * 3]
    assert "The repair led away in" in printed


def test_objectives_print_a_table_for_counts_classes_bags_and_pair_sums(load, monkeypatch, capsys):
    objectives = load("objectives")
    data, digits = objectives.load_randhie(), objectives.load_digits()
    small = replace(data, X=data.X.head(400), y=data.y.head(400))
    digits.data, digits.target = digits.data[:300, ::8], digits.target[:300]
    monkeypatch.setattr(objectives, "load_randhie", lambda: small)
    monkeypatch.setattr(objectives, "load_digits", lambda: digits)
    monkeypatch.delenv("DPEXPLAIN_DATA", raising=False)
    objectives.main(["--splits", "2", "--epsilons", "8"])
    counts, classes, bags, pair_sums = tables(capsys.readouterr().out)
    assert [row[0] for row in counts[1:]] == [
        "constant", "scikit-learn, additive Poisson trees", "not private, squared",
        "ε = 8, squared", "not private, poisson", "ε = 8, poisson",
    ]  # fmt: skip
    assert [row[0] for row in classes[1:]] == [
        "scikit-learn, additive trees", "not private", "ε = 8",
    ]  # fmt: skip
    assert [row[0] for row in bags[1:]] == ["fair, ε = 8"]
    for line in (*counts[1:], *classes[1:], *bags[1:]):
        assert all(re.fullmatch(r"\d+\.\d{3} ± \d+\.\d{3}", cell) for cell in line[1:])
    ((name, without, with_, change),) = pair_sums[1:]
    assert name == "insurance, Poisson deviance, ε = 8"
    assert float(change.split(",")[0]) == pytest.approx(float(with_) - float(without), abs=2e-4)


def test_a_fit_on_files_is_measured_and_gives_the_model_of_the_table(load, monkeypatch, tmp_path):
    beyond, scratch = load("beyond_memory"), load("dpexplain.models.boosting.records.spill")
    monkeypatch.setattr(scratch, "MEMORY_BYTES", scratch.MEMORY_BYTES)
    path = tmp_path / "table.parquet"
    beyond.write_table(path, 3000, row_group=1000)
    beyond.write_table(path.with_name("small.parquet"), 100)
    found = [beyond.measured(way, path, epochs=2) for way in ("memory", "files", "disk")]
    assert len({row["scores"] for row in found}) == 1
    # Linux adds up pages of memory in batches, so a peak may seem to fall by some of them.
    assert all(-(2**20) <= row["peak"] < 2**30 for row in found)


@pytest.fixture
def small_images(load, monkeypatch):
    """Made-up images of 28 x 28 in place of MNIST, and fits of a few steps with a few numbers."""
    images = load("bench_images")
    names = [f"pixel {place}" for place in range(784)]
    labels = [str(digit) for digit in range(10)]
    schema = Schema({name: Numeric(0, 255) for name in names}, target=Classes(labels))
    rng = np.random.default_rng(0)
    data = SimpleNamespace(
        X=pd.DataFrame(rng.integers(0, 256, (60, 784)), columns=names),
        y=pd.Series(rng.choice(labels, 60)),
        schema=schema,
    )
    few = {"n_steps": 3, "n_filters": 2, "n_basis": 5}
    model = partial(images.DPLocallyLinearClassifier, **few)
    monkeypatch.setattr(images, "DPLocallyLinearClassifier", model)
    monkeypatch.setattr(images, "N_EXPLAINED", 5)
    for module in (images, load("locally_linear")):
        monkeypatch.setattr(
            module, "loaded", lambda name: (data, data) if name == "mnist" else None
        )
    return images


def test_filters_are_held_against_published_figures_and_their_own_refits(
    load, capsys, monkeypatch, tmp_path, small_images
):
    bench = load("locally_linear")
    monkeypatch.setattr(bench, "step_times", lambda: ([("kind", "ours", "1 ms", "1", "")], "none"))
    options = ["--epsilons", "2", "--seeds", "2", "--refits", "3", "--keep", str(tmp_path)]
    options += ["--tables", "simulated"]

    bench.main(options)

    text = capsys.readouterr().out
    assert "fashion_mnist was not found: set DPEXPLAIN_DATA" in text
    accuracy, paper, band, front, table, speed = tables(text)
    assert accuracy[1][:2] == ["mnist", "2"]
    assert accuracy[1][4] == "NO"  # labels are random
    spent = [float(cell) for cell in paper[1][2:5]]
    assert spent == sorted(spent, reverse=True)
    assert spent[0] == pytest.approx(2.0, abs=0.002)
    assert 0 <= float(band[1][2]) <= 1
    assert [row[1] for row in front[1:]] == list(bench.FRONT)
    assert all(-1 <= float(cell) <= 1 for row in front[1:] for cell in row[3:])
    fitted = ["2", "not private", "logistic regression, not private"]
    assert [row[:2] for row in table[1:]] == [["simulated", fit] for fit in fitted]
    assert speed[1][1] == "ours"

    monkeypatch.setattr(small_images, "_fit", None)
    bench.main([*options, "--parts", "accuracy", "paper", "band", "front"])  # all fits were kept
    assert tables(capsys.readouterr().out) == [accuracy, paper, band, front]


def test_a_fit_on_three_million_rows_of_a_file_needs_less_than_the_table(load, tmp_path):
    """14 features as float64 are 336 MB.

    The finest cells take two bytes per value until they are merged, 84 MB, then one; target and
    scores take 24 MB. The rest is what decoding takes, which depends on how far the reader gets
    ahead: 229 to 251 MB were measured in all.
    """
    beyond = load("beyond_memory")
    path = tmp_path / "table.parquet"
    beyond.write_table(path, 3_000_000)
    beyond.write_table(path.with_name("small.parquet"), 2000, row_group=500)
    peaks = {way: beyond.in_process_of_its_own(way, path, 3)["peak"] for way in ("files", "disk")}
    assert max(peaks.values()) < 14 * 8 * 3_000_000, peaks


def test_growing_tables_are_measured_extrapolated_and_drawn(load, tmp_path, capsys):
    scale = load("scale")
    start, slope, error = scale.line_through([1, 2, 3], [5.0, 7.0, 9.0])
    assert (start, slope) == (pytest.approx(3.0), pytest.approx(2.0))
    assert error == pytest.approx(0.0)
    scale.main([
        "--sizes", "1000", "3000", "--models", "linear", "--epochs", "1",
        "--out", str(tmp_path),
    ])  # fmt: skip
    printed = capsys.readouterr().out
    (rows,) = tables(printed)
    assert [row[1] for row in rows[1:]] == ["1,000", "3,000"]
    assert all(f"Extrapolated to {n:,} rows" in printed for n in scale.EXTRAPOLATED)
    assert [row["rows"] for row in scale.read_costs(tmp_path / "scale.csv")] == ["1000", "3000"]

    scale.main(["--costs", str(tmp_path / "scale.csv"), "--out", str(tmp_path / "again")])
    assert capsys.readouterr().out == printed
    for folder in (tmp_path, tmp_path / "again"):
        drawn = (folder / "scale.svg").read_text(encoding="utf-8")
        assert all(word in drawn for word in ("DPLogisticRegression", "CPU time", "memory"))


def test_costs_of_many_features_are_printed_beside_a_fit_to_those_that_matter(load, capsys):
    load("scale").main(["--features", "12", "6", "--rows", "400", "--epsilon", "8"])
    ((_, *rows),) = tables(capsys.readouterr().out)
    assert [row[0] for row in rows] == ["6", "12"]
    assert all(0.5 < float(cell) <= 1 for row in rows for cell in row[3:])


def test_tables_that_no_file_divides_or_no_disk_holds_are_refused(load, tmp_path):
    scale = load("scale")
    with pytest.raises(SystemExit, match="multiples of 1,000"):
        scale.main(["--sizes", "1000", "2500", "--folder", str(tmp_path)])
    with pytest.raises(SystemExit, match="--folder"):
        scale.main(["--sizes", str(10**15), "--folder", str(tmp_path)])
    assert not list(tmp_path.iterdir())


def test_the_cold_start_is_measured_step_by_step_beside_its_target(load, capsys):
    cold_start = load("cold_start")
    cold_start.main(["--rows", "200", "--repeats", "1"])
    printed = capsys.readouterr().out
    imports, rows = tables(printed)
    assert [row[0] for row in imports[1:]] == list(cold_start.IMPORTS)
    assert float(imports[1][1]) < float(imports[4][1])  # the interpreter alone is faster
    assert f"target {cold_start.IMPORT_TARGET:g}" in printed
    assert [row[0] for row in rows] == ["kernels", "none on disk", "on disk"]
    assert rows[0][1:] == list(cold_start.STEPS)
    cold, warm = ([float(cell) for cell in row[1:]] for row in rows[1:])
    assert cold[2] > warm[2]  # kernels that were compiled are found again
    assert f"target {cold_start.TARGET:g}" in printed
