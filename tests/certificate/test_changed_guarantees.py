"""Files whose guarantee was changed after the fit are not certified; all others are."""

from __future__ import annotations

import dataclasses
import json

import pytest

import dpexplain
import private_models
from certified import EVENT, certifiable, certified, guarantee
from dpexplain import PrivacyLedger
from dpexplain._utils.guarantee_words import bags_note, known_note, known_sampler, opendp_gaussian
from dpexplain.accounting.spending import Spending
from dpexplain.certificate import release, verify
from dpexplain.edit import EditLog, Remove
from dpexplain.mechanisms import NoiseSource

PAID_MU = Spending.of([EVENT]).gaussian_bound


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return certified(tmp_path_factory.mktemp("changed"))


def with_guarantee(**changes):
    changed = dataclasses.replace(guarantee(), **changes)
    shown = certifiable()
    terms = tuple(dataclasses.replace(term, guarantee=changed) for term in shown.terms)
    return dataclasses.replace(shown, guarantee=changed, terms=terms)


def refused(made, shown, words):
    path = made.folder / "changed.json"
    dpexplain.io.save(shown, path)
    ledger = PrivacyLedger.open(made.ledger)
    before = ledger.to_json()
    with pytest.raises(ValueError, match=words):
        release(path, ledger)
    assert ledger.to_json() == before
    assert not verify(made.page, made.ledger, path).passed


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mu": 1e-4}, "0 entries that promise"),
        ({"epsilon_replace": 0.6}, "0 entries that promise"),
        ({"epsilon": 40.0, "epsilon_replace": 80.0, "mu": PAID_MU}, "0 entries that promise"),
        ({"covers": "everything ever"}, r"not as dpexplain writes it \(covers\)"),
        ({"covers": "this fit alone, edited by hand afterwards"}, r"\(covers\)"),
        ({"sampler": "noise of quantum computers"}, r"\(sampler\)"),
        ({"version": "0.1.0, approved"}, r"\(version\)"),
        ({"notes": ("Certified by the ministry",)}, r"\(notes\)"),
    ],
)
def test_file_with_another_guarantee_than_the_fit_wrote_is_refused(made, changes, words):
    refused(made, with_guarantee(**changes), words)


def test_file_that_states_no_mu_or_larger_numbers_is_certified(made):
    for changes in ({"mu": None, "epsilon_replace": None}, {"mu": 1.0, "epsilon_replace": 9.0}):
        path = made.folder / "other.json"
        dpexplain.io.save(with_guarantee(**changes), path)
        assert release(path, PrivacyLedger.open(made.ledger)).entry == 1


def test_term_with_a_smaller_mu_than_its_model_is_refused(made):
    shown = certifiable()
    promise = dataclasses.replace(shown.terms[0].guarantee, mu=0.01)
    less = dataclasses.replace(shown.terms[0], guarantee=promise)
    shown = dataclasses.replace(shown, terms=(less, *shown.terms[1:]))
    refused(made, shown, r"\(of a term\)")


@pytest.mark.parametrize("name", ["Certified Medical Device", "DP", "DPModel (epsilon=0.5) plus"])
def test_model_that_the_entry_does_not_name_is_refused(made, name):
    refused(made, certifiable(model_name=name), "0 entries that promise")


def test_file_without_the_schema_that_the_entry_names_is_refused(made):
    refused(made, certifiable(schema=None), "0 entries that promise")


def test_page_says_which_words_the_ledger_cannot_confirm(made, tmp_path):
    text = made.page.read_text()
    assert "The file names the source of its noise, which the ledger cannot confirm" in text
    assert "fitted with dpexplain 0.1.0 (as the file states)" in text
    assert "the fit recorded no schema" not in text

    unknown = certified(tmp_path, explanation=certifiable(schema=None))
    assert "names as the file states them: the fit recorded no schema" in unknown.page.read_text()


def test_edited_explanation_is_certified_only_with_the_words_about_its_edits(made, tmp_path):
    edited = EditLog().edit(Remove("job")).apply(certifiable())
    of_edited = certified(tmp_path, explanation=edited)
    assert of_edited.verified().passed
    assert of_edited.certificate.edited == ("job",)
    page, without = of_edited.page.read_text(), made.page.read_text()
    assert "By hand, after the fit: job. The file says how." in page
    assert "No page can show these four things." in page
    assert "The edits use released numbers and general knowledge, not the records." in page
    assert "By hand" not in without
    assert "these three things" in without
    for change in ({"covers": "this fit alone"}, {"notes": ()}):
        said = dataclasses.replace(edited.guarantee, **change)
        terms = tuple(dataclasses.replace(term, guarantee=said) for term in edited.terms)
        refused(made, dataclasses.replace(edited, guarantee=said, terms=terms), "not as dpexplain")


def test_words_of_every_source_of_noise_are_known():
    for backend in ("exact", "opendp", "rounded"):
        assert known_sampler(NoiseSource(backend).description)
    assert not known_sampler(NoiseSource("exact", reproducible_seed=1).description)
    assert not known_sampler(opendp_gaussian("0.16.0; approved"))
    assert known_note(bags_note(14))
    assert not known_note(bags_note("14") + ", as approved")


_PEOPLE = {"adjacency": "replace", "max_rows_per_person": 2}
_FITS = [
    (name, {**private_models.known(name, max_rounds=20), **settings})
    for name, way in private_models.WAYS
    for settings in ((way,) if way else ({}, _PEOPLE))
]


@pytest.mark.full
@pytest.mark.parametrize(("name", "settings"), _FITS)
def test_file_of_every_private_fit_is_certified_with_its_own_ledger(tmp_path, name, settings):
    X, y = private_models.records_for(name, 60)
    groups = [k // 2 for k in range(len(X))] if "max_rows_per_person" in settings else None
    adjacency = settings.get("adjacency", "add_remove")
    ledger = PrivacyLedger("fits", path=tmp_path / "ledger.json", adjacency=adjacency)
    model = private_models.make(name, epsilon=1.0, ledger=ledger, **settings)
    model.fit(X, y, groups=groups)
    dpexplain.io.save(model.explain_global(), tmp_path / "model.json")

    release(tmp_path / "model.json", ledger).save(tmp_path / "page.html")
    found = verify(tmp_path / "page.html", ledger.path, tmp_path / "model.json")
    assert found.passed, found.text()

    content = json.loads((tmp_path / "model.json").read_text())
    stated = model.guarantee_
    for field, least in (("mu", stated.mu), ("epsilon_replace", stated.epsilon_replace)):
        if least is None or (field == "epsilon_replace" and least <= stated.epsilon):
            continue
        less = json.dumps(content).replace(f'"{field}": {least!r}', f'"{field}": {0.99 * least!r}')
        (tmp_path / "less.json").write_text(less + "\n")
        with pytest.raises(ValueError, match="0 entries that promise"):
            release(tmp_path / "less.json", ledger)
