"""Changed ledgers, files and certificates fail verification every time."""

from __future__ import annotations

import copy
import json
import random
import shutil
from dataclasses import replace

import pytest

import dpexplain
from certified import EPSILON, certifiable, certified
from dpexplain import PrivacyLedger
from dpexplain._utils.json import write_document
from dpexplain.accounting import GaussianEvent
from dpexplain.accounting.ledger_state import LedgerState
from dpexplain.certificate import Certificate, file_hash, release
from ledger_files import anew, by_hand


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return certified(tmp_path_factory.mktemp("original"))


@pytest.fixture
def made(original, tmp_path):
    shutil.copytree(original.folder, tmp_path / "copy")
    return type(original)(tmp_path / "copy", original.certificate)


def failed(made, certificate=None, **options):
    found = made.verified(certificate, **options)
    assert not found.passed
    return {check.name for check in found.checks if check.status == "failed"}


def test_untouched_files_pass_every_check(made):
    for certificate in (made.page, made.data):
        found = made.verified(certificate, schema=made.schema)
        assert {check.status for check in found.checks if check.name != "signature"} == {"passed"}


def test_later_charges_a_lowered_cap_and_another_release_leave_the_certificate_valid(made):
    ledger = PrivacyLedger.open(made.ledger)
    ledger.charge([GaussianEvent("counts", 30.0)], label="later")
    ledger.lower_cap(2.0)
    release(made.release, ledger, person="B. Bohr")
    found = made.verified()

    assert found.passed
    assert "1 charged since" in found.text()


def test_verification_writes_nothing(made):
    before = {path.name: path.read_bytes() for path in made.folder.iterdir()}
    made.verified(schema=made.schema)

    assert {path.name: path.read_bytes() for path in made.folder.iterdir()} == before


def test_cap_raised_by_hand_fails_the_ledger(made):
    by_hand(made.ledger, cap_epsilon=9.0)
    assert failed(made) == {"ledger"}


def test_cap_raised_with_a_new_chain_fails_the_cap(made):
    anew(made.ledger, cap_epsilon=9.0)

    assert failed(made) == {"cap"}


def test_removed_entry_with_a_new_chain_fails_the_chain(made):
    entries = json.loads(made.ledger.read_text())["entries"]
    anew(made.ledger, entries=[entries[1], entries[1], entries[2]])

    assert "chain" in failed(made)


def test_older_copy_of_the_ledger_fails_the_chain_though_it_is_intact(made):
    older = made.ledger.read_bytes()
    ledger = PrivacyLedger.open(made.ledger)
    ledger.charge([GaussianEvent("counts", 30.0)], label="later")
    release(made.release, ledger, person="B. Bohr").save(made.page)
    assert made.verified().passed
    made.ledger.write_bytes(older)

    assert {"chain", "release"} & failed(made) == {"chain"}


def test_other_file_and_other_schema_are_named(made):
    made.schema.write_text(made.schema.read_text().replace("90", "91"))
    assert failed(made, schema=made.schema) == {"schema"}

    dpexplain.io.save(certifiable(model_name="DPOther"), made.release)
    assert {"release", "content"} <= failed(made)


def test_ledger_of_another_data_set_fails(made, tmp_path):
    (tmp_path / "other").mkdir()
    other = certified(tmp_path / "other", dataset="other survey")
    shutil.copy(other.ledger, made.ledger)

    assert "chain" in failed(made)


def test_missing_and_foreign_files_are_failed_checks_and_no_errors(made):
    made.release.unlink()
    assert {"file", "release"} <= failed(made)
    made.ledger.write_text("{}")
    assert "ledger" in failed(made)
    made.page.write_text("<html></html>")
    assert "certificate" in failed(made)


def test_page_of_another_version_is_said_to_be_that(made):
    content = {**made.certificate.to_dict(), "library": "dpexplain 99.0"}
    made.data.write_text(write_document("certificate", content) + "\n")
    found = made.verified(made.data)

    assert not found.passed
    assert "created with dpexplain 99.0" in found.text()


# Random changes. Each draws a file and a change, and returns the certificate to be verified.


def any_bytes(made, draw):
    path = draw.choice([made.ledger, made.release, made.page, made.data])
    held = bytearray(path.read_bytes())
    place = draw.randrange(len(held))
    match draw.randrange(3):
        case 0:
            held[place] ^= 1 << draw.randrange(8)
        case 1:
            del held[place : place + draw.randint(1, 40)]
        case _:
            held.insert(place, draw.randrange(256))
    path.write_bytes(bytes(held))
    return made.data if path == made.data else made.page


def leaves(value, path=()):
    """Return the paths of all leaf values and of all non-empty lists."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        if value:
            yield path
        for key, inner in enumerate(value):
            yield from leaves(inner, (*path, key))
    else:
        yield path


def changed(value, draw):
    match value:
        case bool():
            return not value
        case int() | float():
            return draw.choice([value + 1, value * 2 + 1, value / 3 + 1e-9])
        case None:
            return draw.choice([1.0, {"type": "record"}])
        case str():
            place = draw.randrange(len(value) + 1)
            return value[:place] + draw.choice("0a9f") + value[place:]
        case list():
            items = value.copy()
            if draw.random() < 0.5 and len(items) > 1 and items != items[::-1]:
                return items[::-1]
            del items[draw.randrange(len(items))]
            return items
    raise AssertionError(type(value))


def with_a_field_changed(content, draw):
    content = copy.deepcopy(content)
    *outer, last = draw.choice(list(leaves(content)))
    holder = content
    for key in outer:
        holder = holder[key]
    holder[last] = changed(holder[last], draw)
    return content


def any_field_of_the_ledger(made, draw):
    content = with_a_field_changed(json.loads(made.ledger.read_text()), draw)
    made.ledger.write_text(json.dumps(content, indent=1))
    return made.page


def any_field_of_the_file(made, draw):
    content = with_a_field_changed(json.loads(made.release.read_text()), draw)
    made.release.write_text(json.dumps(content) + "\n")
    return made.page


def any_field_of_the_certificate(made, draw):
    """Change any field as the library would write it, with a matching page."""
    content = made.certificate.to_dict()
    del content["signature"]
    content = {**with_a_field_changed(content, draw), "signature": None}
    made.data.write_text(write_document("certificate", content) + "\n")
    try:
        Certificate.from_dict(content).save(made.page)
    except (ValueError, TypeError, KeyError, AttributeError):
        return made.data
    return draw.choice([made.data, made.page])


def ledger_with_a_new_chain(made, draw):
    content = json.loads(made.ledger.read_text())
    entries = content["entries"]
    place = draw.randrange(2)
    match draw.randrange(4):
        case 0:
            anew(made.ledger, cap_epsilon=4.0 + draw.random() + 1e-6)
        case 1:
            factor = draw.choice([0.5, 2.0, 1.0 + draw.random()])
            entries[place]["events"][0]["noise_multiplier"] *= factor
            anew(made.ledger, entries=entries)
        case 2:
            entries[place]["label"] += draw.choice("abc")
            anew(made.ledger, entries=entries)
        case _:
            anew(made.ledger, delta=content["delta"] * (1.5 + draw.random()))
    return made.page


def file_that_promises_more(made, draw):
    """Let file and certificate state less than the ledger's events cost."""
    epsilon = EPSILON * draw.uniform(0.1, 0.99)
    dpexplain.io.save(certifiable(epsilon), made.release)
    if draw.random() < 0.5:
        content = made.certificate.to_dict()
        content |= {"epsilon": epsilon, "release_sha256": file_hash(made.release)}
        Certificate.from_dict(content).save(made.page)
    return made.page


def words_of_the_page(made, draw):
    """Change only the visible text of a page, leaving its embedded data intact."""
    old, new = draw.choice(
        [
            ("at most 63 are", f"at most {draw.randint(50, 62)} are"),
            ("A. Curie", "B. Bohr"),
            ("ε = 0.5", f"ε = 0.{draw.randint(1, 4)}"),
            ("(limit) is ε = 4", "(limit) is ε = 3"),
            ("at most 63 of 100", f"at most {draw.randint(50, 62)} of 100"),
            ("one record", "one person"),
        ]
    )
    text = made.page.read_text()
    assert old in text
    made.page.write_text(text.replace(old, new, 1))
    return made.page


def form_of_the_page(made, draw):
    """Make changes that a browser may not show, or that hide what it shows."""
    old, new = draw.choice(
        [
            ("</style>", ".open { display: none }</style>"),
            ("</body>", "<!-- checked --></body>"),
            ("</body>", "<script>document.title = 1</script></body>"),
            ("<head>", '<head><meta http-equiv="refresh" content="0;url=other.html">'),
            ("<title>Privacy", "<title>privacy"),
            ("A. Curie", "\u0410. Curie"),  # a Cyrillic letter
            ("at most 63", "at\u200b most 63"),
            ("\n", "\r\n"),
            ("<!doctype", "\ufeff<!doctype"),
            ("</html>", "</html>\n"),
        ]
    )
    text = made.page.read_bytes().decode()
    assert old in text
    made.page.write_bytes(text.replace(old, new, 1).encode())
    return made.page


def facts_with_a_new_chain(made, draw):
    """Change dates, persons, order and recorded files, with matching hashes."""
    state = LedgerState.from_json(made.ledger.read_text())
    facts = {"date": "2020-01-01", "person": draw.choice("XYZ"), "purpose": "another"}
    name = draw.choice([*facts, "order", "releases"])
    match name:
        case "order":
            state = replace(state, entries=state.entries[::-1])
        case "releases":
            state = replace(state, releases=())
        case _:
            change = {name: facts[name]}
            entries = [
                replace(each, provenance=replace(each.provenance, **change))
                for each in state.entries
            ]
            state = replace(state, entries=tuple(entries))
    made.ledger.write_text(state.to_json())
    return made.page


CHANGES = (
    any_bytes,
    any_field_of_the_ledger,
    any_field_of_the_file,
    any_field_of_the_certificate,
    ledger_with_a_new_chain,
    file_that_promises_more,
    words_of_the_page,
    form_of_the_page,
    facts_with_a_new_chain,
)


def undetected(original, folder, n, seed):
    """Return the names and seeds of random changes that passed verification."""
    missed = []
    for number in range(n):
        draw = random.Random(f"{seed} {number}")
        shutil.copytree(original.folder, folder / "copy", dirs_exist_ok=True)
        made = type(original)(folder / "copy", original.certificate)
        change = CHANGES[number % len(CHANGES)]
        certificate = change(made, draw)
        if made.verified(certificate).passed:
            missed.append((change.__name__, seed, number))
    return missed


def test_random_tampering_is_detected(original, tmp_path):
    assert undetected(original, tmp_path, 42, seed=0) == []


@pytest.mark.full
def test_each_of_a_thousand_random_tamperings_is_detected(original, tmp_path):
    assert undetected(original, tmp_path, 1_000, seed=1) == []
