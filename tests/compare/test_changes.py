"""A claim about two years compares the same bins of two private fits."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import dpexplain.io
from dpexplain.cli import main
from dpexplain.compare import claim_change
from dpexplain.explain import Guarantee, MulticlassExplanation, claim
from dpexplain.explain.noise_model import half_width
from example_explanations import age, age_and_job, classifier, private_guarantee, reference


def fit(values=(-0.5, 0.25, 0.5, 0.0), epsilon=0.5, **changes):
    guarantee = private_guarantee(epsilon)
    return classifier(guarantee, terms=(age(guarantee, contribution=list(values), **changes),))


def test_a_change_is_the_later_estimate_minus_the_earlier_with_both_errors():
    fits = {"2023": fit(), "2024": fit((-2.5, 0.25, 2.5, 0.0))}
    change = claim_change(fits, "age", 50, 20)
    before, after = (claim(each, "age", 50, 20) for each in fits.values())
    assert (change.before, change.after) == (before, after)
    assert change.estimate == pytest.approx(after.estimate - before.estimate)
    assert change.std == pytest.approx(math.hypot(before.std, after.std))
    assert (change.low, change.high) == pytest.approx(
        change.estimate + np.array([-1, 1]) * half_width(10) * change.std
    )
    assert change.holds
    assert change.words.startswith(
        "At ε = 0.5 in each fit, odds of income = high for records with age = 45 – 90 rose "
        "compared with records with age = 17 – 29 from 2023 to 2024, other features equal: from "
        "+1 to +5, a change of +4 log-odds (odds × 54.6), 95% between +"
    )


def test_the_same_fit_twice_has_not_changed():
    change = claim_change({"a": fit(), "b": fit()}, "age", (17, 40))
    assert (change.estimate, change.holds) == (0.0, False)
    assert "it is uncertain whether" in change.words
    assert "rose or fell compared with all others" in change.words


def test_the_other_order_changes_the_other_way():
    fits = {"2023": fit(), "2024": fit((-0.9, 0.3, 0.7, 0.0))}
    there = claim_change(fits, "age", 50)
    back = claim_change(dict(reversed(fits.items())), "age", 50)
    assert back.estimate == -there.estimate
    assert (back.low, back.high) == pytest.approx((-there.high, -there.low))
    assert "fell compared with the average record from 2024 to 2023" in back.words


def test_both_epsilons_and_both_bins_are_named_if_they_differ():
    change = claim_change(
        {"a": fit(), "b": fit(epsilon=2.0, bin_edges=[17.0, 30.0, 48.0, 90.0])}, "age", 50, 20
    )
    assert change.words.startswith("At ε = 0.5 and 2 in the two fits, ")
    assert "age = 45 – 90 (later 48 – 90)" in change.words
    table = change.frame()
    assert list(table["fit"]) == ["a", "b", "change"]
    assert list(table["epsilon"].fillna(0)) == [0.5, 2.0, 0.0]
    assert table["private"].all()
    other = claim_change({"a": fit(), "b": fit(epsilon=2.0)}, "age", 50, 20)
    assert change.high - change.low > other.high - other.low  # more ways to choose bins


def test_a_change_from_a_fit_that_is_not_private_says_so():
    audited = Guarantee.not_private("noise was forced")
    shown = classifier(audited, terms=(age(audited),))
    change = claim_change({"a": fit(), "b": shown}, "age", 50, 20)
    assert change.words.startswith("NOT PRIVATE: in these fits, ")
    assert not change.frame()["private"].iloc[-1]


def test_what_cannot_be_compared_is_refused():
    two = {"a": fit(), "b": fit()}
    with pytest.raises(TypeError, match="pass the earlier and the later fit by name"):
        claim_change(fit(), "age", 50)
    with pytest.raises(ValueError, match="got 1 fits"):
        claim_change({"a": fit()}, "age", 50)
    with pytest.raises(TypeError, match="'b' is a Change; pass explanations of one score"):
        claim_change({"a": fit(), "b": claim_change(two, "age", 50)}, "age", 50)
    with pytest.raises(ValueError, match="pass a term and a bin"):
        claim_change(two, "age", None)
    with pytest.raises(ValueError, match="different targets"):
        claim_change({"a": fit(), "b": dataclasses.replace(fit(), target_name="x")}, "age", 50)
    pairs = dataclasses.replace(classifier(), pairs=(age_and_job(),))
    with pytest.raises(ValueError, match="bins of one feature"):
        claim_change({"a": pairs, "b": pairs}, "age & job", "30, nurse")
    with pytest.raises(KeyError, match="a: no term 'aeg'"):
        claim_change(two, "aeg", 50)
    narrow = {"a": fit(), "b": fit(bin_edges=[17.0, 30.0, 45.0, 60.0])}
    with pytest.raises(KeyError, match="b: no bin '70' of 'age'; its bins cover 17 – 60"):
        claim_change(narrow, "age", 70)
    with pytest.raises(ValueError, match="a: bins 50 and 51 are the same"):
        claim_change(two, "age", 50, 51)
    effect = {"effect": [-0.5, 0.25, 0.5, 0.0], "effect_std": [0.1] * 4, "effect_factor": 3.0}
    with pytest.raises(ValueError, match="only one of the fits has estimated effects"):
        claim_change({"a": fit(), "b": fit(**effect)}, "age", 50)


def test_the_command_names_the_files(tmp_path, capsys):
    fits = {"2023": fit(), "2024": fit((-0.9, 0.3, 0.7, 0.0))}
    earlier, later = (
        str(dpexplain.io.save(each, tmp_path / f"{name}.json")) for name, each in fits.items()
    )
    asked = ["claim", later, "--since", earlier, "--term", "age"]
    assert main([*asked, "--bin", "50", "--against", "20"]) == 0
    assert capsys.readouterr().out == f"{claim_change(fits, 'age', 50, 20)}\n"
    assert main([*asked, "--bin", "50", "--csv"]) == 0
    assert (
        capsys.readouterr().out.splitlines()[3].startswith("change,age,45 – 90,the average record,")
    )
    for options, words in (
        (["--bin", "500"], "2023: no bin '500'"),
        ([], "pass --bin"),
        (["--extreme", "highest"], "without --extreme"),
    ):
        assert main([*asked, *options]) == 2
        assert words in capsys.readouterr().err
    several = MulticlassExplanation(
        tuple(classifier(link="softmax", classes=("a", "b", "c"), of_class=name) for name in "abc")
    )
    of_classes = str(dpexplain.io.save(several, tmp_path / "classes.json"))
    for files, words in (
        ([later, "--since", of_classes], "classes.json has a score for each class, and"),
        ([of_classes, "--since", later], "pass --class with 'a', 'b', 'c'"),
    ):
        assert main(["claim", *files, "--term", "age", "--bin", "50"]) == 2
        assert words in capsys.readouterr().err
    loud = dpexplain.io.save(reference(), tmp_path / "reference.json")
    assert main([*asked[:3], str(loud), "--term", "age", "--bin", "50"]) == 2
