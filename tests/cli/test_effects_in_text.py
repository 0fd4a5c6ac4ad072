"""What the command line prints about the effect in the population, or its absence."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import re

import numpy as np
import pandas as pd
import pytest

import dpexplain.io
import view_examples
from dpexplain import PrivacyLedger
from dpexplain.accounting import GaussianEvent, NonPrivateEvent
from dpexplain.cli import main
from dpexplain.cli.text import table_text
from dpexplain.edit import EditLog, Scale
from dpexplain.explain._text import short_number
from example_filters import filter_bank
from pair_examples import swept

pytestmark = pytest.mark.full


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with saved sweeps and a saved fit, with and without estimates."""
    monkeypatch.chdir(tmp_path)
    without = view_examples.comparison(epsilons=(0.5, 1.0))
    found = view_examples.with_effects(without)
    dpexplain.io.save(found, "sweep.json")
    dpexplain.io.save(without, "without.json")
    dpexplain.io.save(found.explanations[1.0][0], "model.json")
    return tmp_path


def said(capsys, *command):
    assert main([*command]) == 0
    return " ".join(capsys.readouterr().out.split())


def test_a_fit_is_printed_with_its_effects_and_what_each_column_speaks_of(folder, capsys):
    words = said(capsys, "explain", "model.json")
    assert dpexplain.io.load("model.json").effect_words in words
    assert "describe the released curves." in words
    assert "What holds in the population?" in words
    assert "has_effect" in words


def test_the_text_of_an_edited_fit_says_which_numbers_were_edited(folder, capsys):
    found = dpexplain.io.load("model.json")
    dpexplain.io.save(EditLog.of(found).edit(Scale("age", factor=3.0)).apply(found), "edited.json")
    words = said(capsys, "explain", "edited.json", "--term", "age")
    assert words.startswith("The curve was edited by hand after the fit: scale age")
    assert "contribution is that of the edited curve" in words
    assert "describe the released curve" not in words
    assert "edited" not in said(capsys, "explain", "edited.json", "--term", "children")
    assert main(["claim", "edited.json", "--term", "age", "--bin", "30", "--against", "60"]) == 2
    assert "it was edited by hand. Make the claim about the fit as released" in (
        capsys.readouterr().err
    )
    overall = said(capsys, "explain", "edited.json")
    assert "describe the edited curves." in overall
    assert re.search(r"The edited curves show about \d+% of the effects\.", overall)


@pytest.mark.parametrize("term", [[], ["--term", "age"]])
def test_csv_of_a_fit_states_its_guarantee_in_every_row(folder, capsys, term):
    assert main(["explain", "model.json", "--csv", *term]) == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert set(table["guarantee"]) == {dpexplain.io.load("model.json").guarantee.short}
    assert set(table["epsilon"]) == {1.0}
    assert table["private"].all()


@pytest.mark.parametrize("term", [[], ["--term", "age"]])
def test_csv_of_a_sweep_states_the_guarantee_of_each_fit_in_its_rows(folder, capsys, term):
    comparison = view_examples.comparison(epsilons=(0.5, 1.0))
    reference = {math.inf: (comparison.reference,)}
    dpexplain.io.save(comparison, "both.json")
    assert main(["explain", "both.json", "--csv", *term]) == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out))
    for (epsilon, repeat), rows in table.groupby(["epsilon", "repeat"]):
        guarantee = {**comparison.explanations, **reference}[epsilon][repeat].guarantee
        assert set(rows["guarantee"]) == {guarantee.short}
        assert set(rows["private"]) == {guarantee.private}
        assert set(rows["adjacency"]) == {guarantee.adjacency}
        assert rows["delta"].fillna(-1).eq(-1 if guarantee.delta is None else guarantee.delta).all()


@pytest.mark.parametrize("command", [[], ["--term", "age"]])
@pytest.mark.parametrize("file", ["model.json", "sweep.json"])
def test_tables_on_the_screen_spare_columns_rather_than_break_lines(folder, capsys, command, file):
    assert main(["explain", file, *command]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 115  # 190 with all columns
    text = " ".join(lines)
    assert ("Left out to save space" in text) == (file == "model.json" or bool(command))


def test_the_mark_of_a_reference_is_never_left_out(folder, capsys):
    dpexplain.io.save(view_examples.comparison(epsilons=(0.5, 1.0)), "both.json")
    assert main(["explain", "both.json", "--term", "age"]) == 0
    head = next(line for line in capsys.readouterr().out.splitlines() if "contribution" in line)
    assert "private" in head


def test_a_sweep_says_at_which_epsilon_terms_rise_above_the_noise(folder, capsys):
    words = said(capsys, "explain", "sweep.json")
    comparison = dpexplain.io.load("sweep.json")
    for epsilon, (fit,) in comparison.explanations.items():
        names = fit.terms_above_noise
        assert f"ε = {epsilon:g}: {len(names) or 'none'} of {len(fit)} terms " in words
        assert not names or f"above the noise: {', '.join(names)}" in words
        certain = fit.terms_with_effect
        assert f"{len(certain) or 'none'} of {len(fit)} terms ha" in words
        assert not certain or f"an effect that is certain: {', '.join(certain[:6])}" in words
    one = comparison.explanations[1.0][0]
    twice = dataclasses.replace(comparison, explanations={0.5: (one, one), 1.0: (one,)})
    assert "above the noise in each of 2 fits" in "\n".join(map(str, twice.describe()))


def test_pairs_of_a_sweep_are_counted_and_printed_at_every_epsilon(folder, capsys):
    comparison = swept()
    dpexplain.io.save(comparison, "pairs.json")
    words = said(capsys, "explain", "pairs.json")
    for epsilon in comparison.epsilons:
        above = comparison.explanations[epsilon][0].pairs_above_noise
        line = f"ε = {epsilon:g}: {len(above or ()) or 'none'} of 2 pairs "
        assert (line in words) == (above is not None)
    assert main(["explain", "pairs.json", "--term", "age & children"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 115
    head = next(line for line in lines if "contribution" in line).split()
    assert head[:3] == ["epsilon", "first", "second"]
    table = comparison.term_frames()["age & children"]
    with_pair = [
        e for e, _, fit in comparison.fits() if "age & children" in {p.name for p in fit.pairs}
    ]
    assert list(dict.fromkeys(table["epsilon"])) == with_pair


def test_entries_of_a_ledger_fit_the_screen_and_are_rounded_up(tmp_path, capsys):
    file = tmp_path / "visits.json"
    ledger = PrivacyLedger("visits", cap_epsilon=5, delta=1e-6, path=file)
    for noise in (9.36, 21.39):
        ledger.charge([GaussianEvent("boosting", noise)], label="a model of the first visits")
    ledger.charge([NonPrivateEvent("reference", "for comparison")], label="a reference")
    assert main(["ledger", str(file), "--format", "entries"]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 96
    assert "explain --csv" not in text
    first, second = (line.split()[-1] for line in text.splitlines() if "boosting" in line)
    for printed, exact in zip((first, second), ledger.frame()["private_epsilon"], strict=False):
        assert exact <= float(printed) <= 1.001 * exact
    assert "entry 2: a reference, for one record" in text


def test_rounding_errors_are_zero_on_the_screen_and_in_files(folder, capsys):
    found = dpexplain.io.load("model.json")
    effect = found["age"].effect.copy()
    effect[-1] = -6.76e-12 * np.abs(effect).max()
    age = dataclasses.replace(found["age"], effect=effect)
    others = [age if term.name == "age" else term for term in found.terms]
    dpexplain.io.save(dataclasses.replace(found, terms=tuple(others)), "rounded.json")
    assert main(["explain", "rounded.json", "--term", "age", "--csv"]) == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert table["effect"].iloc[-1] == 0
    np.testing.assert_array_equal(table["effect"].iloc[:-1], effect[:-1])
    unbounded = pd.DataFrame({"epsilon": [0.5, np.inf]})
    assert "0.5" in table_text(unbounded)


def test_a_file_of_filters_is_printed_with_mean_weights_and_has_no_terms(folder, capsys):
    dpexplain.io.save(filter_bank(), "filters.json")
    words = said(capsys, "explain", "filters.json")
    assert "Mean filter of each class, in log-odds per unit of input" in words
    assert "weight noise_std" in words
    assert main(["explain", "filters.json", "--term", "age"]) == 2
    assert "no such term; omit --term: it has filters." in capsys.readouterr().err


def test_a_comparison_is_printed_with_effects_at_every_epsilon(folder, capsys):
    words = said(capsys, "explain", "sweep.json")
    assert "importance of released curves in log-odds:" in words
    assert "estimated effect in the population in log-odds (in parentheses if not" in words


def test_effects_of_a_comparison_that_some_fit_is_not_certain_of_are_in_parentheses():
    found = view_examples.with_effects(view_examples.comparison(epsilons=(0.5, 1.0), n_repeats=2))
    parts = list(found.describe())
    place = next(k for k, part in enumerate(parts) if str(part).startswith("estimated effect"))
    table = parts[place + 1]
    marked = set()
    for epsilon, fits in found.explanations.items():
        for name, value in found.effects()[epsilon].items():
            certain = all(name in fit.terms_with_effect for fit in fits)
            number = short_number(value)
            assert table[f"ε = {epsilon:g}"][name] == (number if certain else f"({number})")
            marked.add(certain)
    assert marked == {True, False}


def test_models_without_estimates_are_printed_with_a_warning(folder, capsys):
    words = said(capsys, "explain", "without.json")
    assert "estimated effect in the population" not in words
    assert "the true effect can lie outside" in words
    assert "the true effect can lie outside" in said(
        capsys, "explain", "without.json", "--epsilon", "1"
    )


def test_a_term_is_printed_with_the_ends_of_its_band(folder, capsys):
    words = said(capsys, "explain", "model.json", "--term", "age")
    assert "effect_low" in words
    assert "effect_high" in words
    assert "effect_signal estimate it." in words


def test_a_number_that_only_arithmetic_keeps_from_0_is_printed_as_0():
    table = pd.DataFrame({"effect": [0.5, -4.7e-17, np.nan], "delta": [1e-15, 3e-15, 2e-15]})
    rows = [line.split() for line in table_text(table).splitlines()[1:]]
    assert rows == [["0.5", "1e-15"], ["0", "3e-15"], ["2e-15"]]


def test_estimates_are_in_the_csv(folder, capsys):
    assert main(["explain", "sweep.json", "--csv"]) == 0
    head, first, *_ = capsys.readouterr().out.splitlines()
    row = dict(zip(*csv.reader([head, first]), strict=True))
    term = dpexplain.io.load("sweep.json").explanations[0.5][0].terms[0]
    assert float(row["effect"]) == term.effect[0]
    assert float(row["effect_low"]) == term.effect_band[0][0]
    assert float(row["effect_high"]) == term.effect_band[1][0]


def test_numbers_of_a_column_have_the_same_number_of_digits_unless_all_are_short():
    table = pd.DataFrame(
        {
            "AUROC": [0.734218, 0.75, 0.754],
            "epsilon": [0.5, 1.0, 4.0],
            "count": [12040.0, 363.81, 0.0],
            "value": [0.25, None, np.inf],
        }
    )
    rows = [line.split() for line in table_text(table).splitlines()[1:]]
    assert rows == [
        ["0.7342", "0.5", "12040", "0.25"],
        ["0.7500", "1", "363.8"],
        ["0.7540", "4", "0", "inf"],
    ]


@pytest.mark.parametrize(("file", "show"), [("model.json", "both"), ("sweep.json", "effect")])
def test_the_curves_of_a_figure_are_chosen(folder, capsys, file, show):
    pictures = []
    for chosen in ([], ["--show", "released"], ["--show", show]):
        command = ["explain", file, "--term", "age", "--plot", "age.png", *chosen]
        assert main(command) == 0
        pictures.append((folder / "age.png").read_bytes())
    assert pictures[1] != pictures[2]
    assert pictures[0] == pictures[2 if file == "model.json" else 1]


def test_a_choice_of_curves_without_a_figure_or_for_a_comparison_is_refused(folder, capsys):
    assert main(["explain", "model.json", "--show", "effect"]) == 2
    assert "--plot" in capsys.readouterr().err
    command = ["explain", "sweep.json", "--plot", "all.png", "--show", "both"]
    assert main(command) == 2
    assert "'released' or 'effect'" in capsys.readouterr().err


def test_estimates_come_back_from_a_file_to_the_last_bit(folder):
    saved = view_examples.with_effects(view_examples.comparison(epsilons=(0.5, 1.0)))
    fit, again = saved.explanations[1.0][0], dpexplain.io.load("model.json")
    assert again.effect_words == fit.effect_words
    assert again.effect_cautions == fit.effect_cautions
    assert again.effect_notes == fit.effect_notes
    assert again.effect_intercept == fit.effect_intercept
    for one, other in zip(fit.terms, again.terms, strict=True):
        np.testing.assert_array_equal(one.effect_band, other.effect_band)


def test_effects_of_a_comparison_are_means_over_repeats():
    found = view_examples.with_effects(view_examples.comparison(epsilons=(1.0,), n_repeats=2))
    tables = [fit.ranking()["effect"] for fit in found.explanations[1.0]]
    for name, value in found.effects()[1.0].items():
        assert value == pytest.approx(np.mean([table[name] for table in tables]))
    gone = dataclasses.replace(
        found, explanations=view_examples.comparison(epsilons=(1.0,)).explanations
    )
    assert gone.effects().isna().all(axis=None)
