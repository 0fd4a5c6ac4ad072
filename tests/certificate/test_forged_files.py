"""Forgeries that keep files readable: each fails verification."""

from __future__ import annotations

import json
import re
import shutil
import unicodedata

import pytest

import dpexplain
from certified import Certified, certifiable, certified
from dpexplain import PrivacyLedger
from dpexplain.accounting import GaussianEvent
from dpexplain.certificate import Certificate, release, verify


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("original")
    made = certified(folder, person="Zoé Curie", purpose="report")
    made.certificate.save(folder / "certificate.pdf")
    made.certificate.save(folder / "certificate.md")
    return made


@pytest.fixture
def made(original, tmp_path):
    shutil.copytree(original.folder, tmp_path / "copy")
    return Certified(tmp_path / "copy", original.certificate)


def text_of(path):
    return path.read_bytes().decode()


def written(path, text):
    path.write_bytes(text.encode())
    return path


# How a text of JSON can be written otherwise, with the same content or with more.


def crlf(text):
    return text.replace("\n", "\r\n")


def marked(text):
    return "\ufeff" + text


def escaped(text):
    return re.sub(r'"label": "c', r'"label": "\\u0063', text).replace('"Zo', '"\\u005ao')


def reordered(text):
    content = json.loads(text)
    return json.dumps(dict(reversed(content.items())), indent=1, ensure_ascii=False)


def doubled(text):
    return re.sub(r'^(\s*\{\s*)("\w+")', r'\1"cap_epsilon": 1e9, \2', text, count=1)


def doubled_last(text):
    last = text.rstrip().rstrip("}").rstrip()
    return last + ', "cap_epsilon": 1000000.0}' + ("\n" if text.endswith("\n") else "")


def longer(text):
    return re.sub(r"(: -?\d+\.\d+)([,\n}])", r"\g<1>00000000000000000000000\2", text, count=1)


def other_exponent(text):
    return re.sub(r"\b4\.0\b", "0.4e1", text, count=1)


def huge(text):
    return re.sub(r"(\"cap_epsilon\": )[^,\n]+", r"\g<1>" + "9" * 400, text, count=1)


def not_a_number(text):
    return re.sub(r"(\"cap_epsilon\": )[^,\n]+", r"\1NaN", text, count=1)


def infinite(text):
    return re.sub(r"(\"cap_epsilon\": )[^,\n]+", r"\1Infinity", text, count=1)


def spaced(text):
    return text + " \n"


def commented(text):
    return text.rstrip() + "\n// checked\n"


def followed(text):
    return text.rstrip() + "\n{}\n"


def decomposed(text):
    return unicodedata.normalize("NFD", text)


def full_width(text):
    """Write digits of another alphabet, which Python reads as numbers."""
    return re.sub(r"(: )4\.0", "\\g<1>\uff14.0", text, count=1)


def deep(text):
    return '{"a":' * 50_000 + text + "}" * 50_000


WRITTEN = (
    crlf, marked, escaped, reordered, doubled, doubled_last, longer, other_exponent, huge,
    not_a_number, infinite, spaced, commented, followed, decomposed, full_width, deep,
)  # fmt: skip


@pytest.mark.parametrize("change", WRITTEN, ids=lambda change: change.__name__)
@pytest.mark.parametrize("name", ["ledger.json", "model.json", "certificate.json"])
def test_json_that_is_written_otherwise_fails(name, change, made):
    path = made.folder / name
    before = text_of(path)
    after = change(before)
    if after == before:  # the file has nothing that could be written so
        return
    written(path, after)
    found = made.verified(made.data if path == made.data else made.page)
    assert not found.passed, change.__name__


@pytest.mark.parametrize("suffix", [".html", ".md", ".pdf"])
@pytest.mark.parametrize(
    "change",
    [
        lambda raw: raw + b"\n",
        lambda raw: raw.replace(b"\n", b"\r\n"),
        lambda raw: b"\xef\xbb\xbf" + raw,
        lambda raw: raw + raw,
        lambda raw: raw.replace(b"Curie", b"Cur\xd1\x96e"),
        lambda raw: raw.replace(b"Curie", b"\xe2\x80\xaeeiruC"),
        lambda raw: raw.replace(b"0.5", b"0.4"),
    ],
    ids=["newline", "crlf", "mark", "twice", "homoglyph", "turned", "epsilon"],
)
def test_pages_that_are_written_otherwise_fail(suffix, change, made):
    path = made.folder / f"certificate{suffix}"
    assert made.verified(path).passed
    before = path.read_bytes()
    after = change(before)
    if after != before:
        path.write_bytes(after)
        assert not made.verified(path).passed


def test_a_page_named_otherwise_is_no_certificate_of_another_kind(made):
    for name in ("certificate.json", "certificate.md", "certificate.pdf"):
        raw = made.page.read_bytes()
        (made.folder / name).write_bytes(raw)
        assert not made.verified(made.folder / name).passed


def test_swapped_files_of_two_releases_fail(made, tmp_path):
    ledger = PrivacyLedger.open(made.ledger)
    other = tmp_path / "other.json"
    dpexplain.io.save(certifiable(model_name="DPOther"), other)
    ledger.charge([GaussianEvent("sums", 30.0)], label="DPOther (epsilon=0.5)")
    assert made.verified().passed
    assert not verify(made.page, made.ledger, other).passed
    assert not verify(made.page, made.release, made.ledger).passed
    assert not verify(made.data, made.data, made.data).passed
    (tmp_path / "b").mkdir()
    shown = certifiable(model_name="DPOther")
    second = certified(tmp_path / "b", "other survey", explanation=shown)
    assert second.verified().passed
    assert not verify(second.page, made.ledger, second.release).passed
    assert not verify(made.page, second.ledger, made.release).passed
    assert not verify(made.page, made.ledger, second.release).passed


def test_fields_of_two_certificates_cannot_be_mixed(made):
    ledger = PrivacyLedger.open(made.ledger)
    ledger.charge([GaussianEvent("counts", 30.0)], label="later")
    later = release(made.release, ledger, person="B. Bohr").to_dict()
    first = made.certificate.to_dict()
    kept = 0
    for name in first:
        if first[name] == later[name]:
            continue
        mixed = {**first, name: later[name]}
        try:
            Certificate.from_dict(mixed).save(made.page)
        except (ValueError, TypeError):
            continue
        kept += 1
        assert not made.verified().passed, name
    assert kept >= 3


def test_deleted_later_entries_are_found_with_a_head_that_was_kept_elsewhere(made):
    before = made.ledger.read_bytes()
    ledger = PrivacyLedger.open(made.ledger)
    ledger.charge([GaussianEvent("counts", 30.0)], label="later")
    kept = ledger.head
    ledger.charge([GaussianEvent("counts", 30.0)], label="last")
    assert made.verified(head=kept).passed
    assert made.verified(head=made.certificate.head).passed
    made.ledger.write_bytes(before)
    assert made.verified().passed  # an older copy is a ledger like any other
    found = made.verified(head=kept)
    assert {check.name for check in found.checks if check.status == "failed"} == {"head"}
    assert "deleted" in found.text()
    for wrong in ("", "0" * 64, "x", kept[:16], kept.upper()):
        assert not made.verified(head=wrong).passed


def test_a_head_is_found_after_the_cap_was_lowered(made):
    ledger = PrivacyLedger.open(made.ledger)
    ledger.charge([GaussianEvent("counts", 30.0)], label="later")
    kept = ledger.head
    ledger.lower_cap(3.5)
    assert made.verified(head=kept).passed
    lowered = PrivacyLedger.open(made.ledger).head
    assert made.verified(head=lowered).passed
