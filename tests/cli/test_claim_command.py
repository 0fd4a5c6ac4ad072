"""``dpexplain claim`` prints what the claims of Python state."""

from __future__ import annotations

import io

import pandas as pd
import pytest

import dpexplain.io
from dpexplain.cli import main
from dpexplain.explain import claim, claim_strip
from example_explanations import reference
from pair_examples import swept
from view_examples import comparison, with_effects

EPSILONS = (0.5, 1.0, 4.0)


@pytest.fixture(scope="module")
def shown():
    return with_effects(comparison(epsilons=EPSILONS, joint=True))


@pytest.fixture
def file(shown, tmp_path):
    return dpexplain.io.save(shown, tmp_path / "sweep.json")


CASES = {
    "rank": ((), {}),
    "sign of the bin of a number": (("--bin", "52"), {"first": "51 – 53"}),
    "range of two numbers": (("--bin", "40", "60"), {"first": ("39 – 41", "60 – 62")}),
    "difference": (("--bin", "18", "--against", "51 – 53"), {"first": 18, "second": "51 – 53"}),
    "two ranges": (
        ("--bin", "25", "35", "--against", "50", "60"),
        {"first": ("24 – 26", "33 – 35"), "second": ("48 – 50", "60 – 62")},
    ),
    "extreme": (("--extreme", "highest"), {"extreme": "highest"}),
    "of a smaller epsilon": (("--bin", "52", "--epsilon", "1"), {"first": "51 – 53", "epsilon": 1}),
}


@pytest.mark.parametrize("case", CASES)
def test_claims_of_a_comparison_are_those_of_python(case, shown, file, capsys):
    options, about = CASES[case]
    expected = claim_strip(shown, "age", **about)

    assert main(["claim", str(file), "--term", "age", *options]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"{expected.words}\n")
    assert expected.asked.frequencies in printed
    rows = [line for line in printed.splitlines() if line.startswith("ε = ")]
    assert len(rows) == len(EPSILONS)
    for row, state in zip(rows, expected.states, strict=True):
        assert state in row

    assert main(["claim", str(file), "--term", "age", *options, "--csv"]) == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out))
    pd.testing.assert_series_equal(table["low"], expected.frame()["low"].astype(float))
    assert list(table["words"]) == list(expected.frame()["words"])


def test_one_explanation_makes_one_claim_about_the_bin_of_a_number(shown, tmp_path, capsys):
    fit = shown.explanations[4.0][0]
    file = dpexplain.io.save(fit, tmp_path / "model.json")
    labels = fit["age"].bin_labels
    for number in (17, 52, 90):  # both bounds belong to a bin
        assert main(["claim", str(file), "--term", "age", "--bin", str(number)]) == 0
        low = int(fit["age"].bin_index([number])[0])
        assert str(claim(fit, "age", labels[low])) in capsys.readouterr().out


def test_cells_of_a_pair_are_named_by_their_labels(tmp_path, capsys):
    pairs = swept()
    file = dpexplain.io.save(pairs, tmp_path / "pairs.json")
    cells = ("17 – 31, no", "76 – 90, no")
    expected = claim_strip(pairs, "age & children", *cells)
    asked = ["--term", "age & children", "--bin", cells[0], "--against", cells[1]]
    assert main(["claim", str(file), *asked]) == 0
    assert capsys.readouterr().out.startswith(expected.words)


def test_claims_of_a_model_that_is_not_private_are_refused(tmp_path, capsys):
    file = dpexplain.io.save(reference(), tmp_path / "reference.json")
    assert main(["claim", str(file), "--term", reference().terms[0].name]) == 2
    assert "need a private model" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--term", "agee"), "no term 'agee'"),
        (("--term", "age", "--bin", "seventy"), "no bin 'seventy'"),
        (("--term", "age", "--bin", "20-30"), "Write a number, or the two ends of a range."),
        (("--term", "age", "--bin", "20,5"), "Write a number with a decimal point, or the two"),
        (("--term", "age", "--bin", "200"), "no bin '200' of 'age'; its bins cover 17 – 90"),
        (("--term", "age", "--bin", "1", "2", "3"), "--bin takes one bin"),
        (
            ("--term", "age", "--bin", "20", "--against", "30", "40", "50"),
            "--against takes one bin",
        ),
        (
            ("--term", "age", "--bin", "20", "40", "--against", "30", "50"),
            "'17 – 41' and '30 – 50' of this fit share '30 – 41'",
        ),
        (("--term", "age", "--against", "30"), "pass a bin or a range with --bin"),
        (("--term", "age", "--bin", "20", "--against", "20"), "the same"),
        (("--term", "age", "--epsilon", "3"), "contains fits at 0.5, 1, 4"),
        (("--term", "age", "--class", "yes"), "omit it"),
    ],
)
def test_what_cannot_be_claimed_is_refused_in_words(options, words, file, capsys):
    assert main(["claim", str(file), *options]) == 2
    printed = capsys.readouterr()
    assert words in printed.err
    assert printed.out == ""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--extreme", "highest", "--bin", "40", "60", "--against", "20"), "pass only one of them"),
        (("--against", "30"), "pass a bin or a range with --bin"),
    ],
)
def test_options_that_exclude_each_other_are_refused_before_the_file_is_read(
    options, words, tmp_path, capsys
):
    assert main(["claim", str(tmp_path / "missing.json"), "--term", "age", *options]) == 2
    printed = capsys.readouterr().err
    assert words in printed
    assert "missing.json" not in printed


@pytest.mark.parametrize("options", [(), ("--extreme", "lowest", "--bin", "17 – 31, no")])
def test_a_pair_has_neither_a_rank_nor_an_extreme(options, tmp_path, capsys):
    file = dpexplain.io.save(swept(), tmp_path / "pairs.json")
    assert main(["claim", str(file), "--term", "age & children", *options]) == 2
    assert "two opposite corners of a region with --bin" in capsys.readouterr().err
