"""Several models in one view: which is read, what it is compared with, what is refused."""

from __future__ import annotations

import dataclasses
import math

import pytest
import traitlets

import view_examples
from dpexplain.accounting.gdp import epsilon_from_mu
from dpexplain_widgets import Explorer
from dpexplain_widgets.payload.joint_cost import together_words
from dpexplain_widgets.payload.payload import build_payload, models_of

pytestmark = pytest.mark.full

TERMS = view_examples.survey_terms()


@pytest.fixture(scope="module")
def models():
    other = view_examples.comparison(list(reversed(TERMS)), (0.5, 2.0), seed=3, title="Other")
    return {"DP-EBM": view_examples.comparison(), "linear": other}


def test_terms_of_every_model_stand_in_the_order_of_the_first(models):
    payload = build_payload(models)
    first, second = models_of(payload)

    assert [each["name"] for each in (first, second)] == ["DP-EBM", "linear"]
    assert [term["name"] for term in first["terms"]] == [term["name"] for term in second["terms"]]
    shape = models["linear"].explanations[2.0][0]["age"]
    place = [term["name"] for term in second["terms"]].index("age")
    assert second["fits"][1][0]["terms"][place]["contribution"] == shape.contribution.tolist()
    assert second["fits"][1][0]["terms"][place]["importance"] == shape.importance


def test_choices_are_those_of_the_model_that_is_read(models):
    view = Explorer(models, term="age", epsilon_index=5)
    assert view.model_names == ("DP-EBM", "linear")
    view.model_name = "linear"

    assert (view.epsilon, view.term) == (0.5, "age")
    shape = models["linear"].explanations[0.5][0]["age"]
    assert view.selection["contribution"].tolist() == shape.contribution.tolist()
    with pytest.raises(traitlets.TraitError, match=r"the epsilons are 0\.5, 2, float"):
        view.epsilon = 8


@pytest.mark.parametrize("trait", ["model_name", "other_model"])
def test_a_model_that_is_not_there_is_answered_with_those_that_are(models, trait):
    with pytest.raises(traitlets.TraitError, match=f"{trait}='tree' .*: 'DP-EBM', 'linear'"):
        setattr(Explorer(models), trait, "tree")


def test_another_payload_forgets_models_it_lacks(models):
    view = Explorer(models, model_name="linear", other_model="DP-EBM")
    view.payload = build_payload(models["DP-EBM"])

    assert (view.model_name, view.other_model) == ("", "")


def test_models_of_other_terms_do_not_stand_side_by_side(models):
    other = view_examples.comparison(TERMS[:3])

    with pytest.raises(ValueError, match=r"'small' has different terms .* \(only 'DP-EBM' has"):
        build_payload({"DP-EBM": models["DP-EBM"], "small": other})
    with pytest.raises(ValueError, match=rf"only 'DP-EBM' has '{TERMS[3].name}' and \d more"):
        build_payload({"small": other, "DP-EBM": models["DP-EBM"]})


def test_models_of_another_scale_do_not_stand_side_by_side(models):
    with pytest.raises(ValueError, match="'counts' has different terms or a different scale"):
        build_payload({"a": models["DP-EBM"], "counts": view_examples.comparison(classes=None)})


@pytest.mark.parametrize("names", [("", "b"), (1, "b")])
def test_models_need_names(models, names):
    with pytest.raises(TypeError, match="pass models by name"):
        build_payload(dict(zip(names, models.values(), strict=True)))


def test_a_ledger_is_no_model(models):
    with pytest.raises(TypeError, match="only models can be shown side by side"):
        build_payload({"a": models["DP-EBM"].ledger, "b": models["DP-EBM"]})


def test_a_name_of_a_model_may_be_that_of_a_field(models):
    payload = build_payload({"title": models["DP-EBM"], "terms": models["linear"]})

    assert [each["name"] for each in models_of(payload)] == ["title", "terms"]


def test_models_of_one_ledger_keep_their_guarantees(models):
    private = dataclasses.replace(models["DP-EBM"], reference=None)
    payload = build_payload({"a": private, "b": models["linear"]})

    assert payload["reference"] is None
    assert payload["others"][0]["reference"] is not None


def test_side_by_side_their_costs_are_composed(models):
    words = build_payload(models)["guarantee_words"][-1]
    mus = [fit.guarantee.mu for each in models.values() for _, _, fit in each.fits()]
    private = [mu for mu in mus if mu is not None]
    epsilon = epsilon_from_mu(math.sqrt(sum(mu**2 for mu in private)), view_examples.DELTA)

    assert words.startswith("all models side by side, if fitted on the same data and published")
    stated = float(words.split("ε = ")[1].split(" ")[0])
    assert epsilon <= stated <= epsilon * 1.001


def test_costs_without_a_gaussian_parameter_are_added_up(models):
    payloads = [build_payload(each) for each in models.values()]
    payloads[0]["fits"][0][0]["guarantee"]["mu"] = None

    assert "ε = 18.25 (δ = 8e-06)" in together_words(payloads)


@pytest.mark.parametrize(
    "changed",
    [{"unit": "one person (h), of whom at most 2 rows are used"}, {"adjacency": "replace"}],
)
def test_models_that_protect_different_units_or_neighbors_have_no_total(models, changed):
    payloads = [build_payload(each) for each in models.values()]
    payloads[1]["fits"][0][0]["guarantee"].update(changed)

    words = together_words(payloads)
    assert words.endswith(
        "no total, because not all of them state the same unit of privacy and adjacency"
    )
    assert "ε" not in words


def test_models_for_one_kind_of_persons_have_a_total_unless_the_kind_has_no_name(models):
    payloads = [build_payload(each) for each in models.values()]
    fits = [fit["guarantee"] for each in payloads for row in each["fits"] for fit in row]
    total = together_words(payloads)
    for rows, each in enumerate(fits, 1):
        each["unit"] = f"one person (h), of whom at most {rows} rows are used"
    assert together_words(payloads) == total
    for each in fits:
        each["unit"] = "one person, of whom at most 2 rows are used"
    assert "no total" in together_words(payloads)


def test_one_fit_that_is_not_private_leaves_nothing_to_promise_together(models):
    seeded = view_examples.comparison(private=False)
    payload = build_payload({"a": models["DP-EBM"], "seeded": seeded})

    assert payload["guarantee_words"][-1].endswith("NOT PRIVATE \u2014 do not publish")
