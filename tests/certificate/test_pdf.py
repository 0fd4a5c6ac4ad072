"""The PDF page of a certificate: its text, its repeatability, and detected changes."""

from __future__ import annotations

import base64
import dataclasses
import random
import re

import matplotlib as mpl
import pytest

from certified import certified
from dpexplain.certificate import load
from dpexplain.certificate.content import sections_of, title_of
from example_explanations import HOSTILE_NAMES
from pdf_text import ascii_of, height_of, text_of

A4 = 841.89


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return certified(tmp_path_factory.mktemp("pdf"))


@pytest.fixture(scope="module")
def drawn(made):
    return made.certificate.pdf()


def words(stated):
    """Return all text of the page, in order."""
    texts = [title_of(stated)]
    for each in sections_of(stated):
        texts += [each.heading, *sum(each.rows, ()), *each.paragraphs, each.warning]
    return ascii_of("".join(texts))


def test_text_can_be_selected_and_says_what_the_html_page_says(made, drawn):
    on_paper = text_of(drawn)
    page = re.sub("<[^>]*>", "", made.certificate.html().split("<body>")[1].split("<script")[0])

    assert on_paper.startswith(words(made.certificate))
    assert words(made.certificate) == ascii_of(page.replace("&#x27;", "'"))
    assert on_paper.endswith("signatureofthepersonwhoapprovesthisrelease")
    assert height_of(drawn) == A4


def test_saved_page_reads_back_and_verifies(made, drawn, tmp_path):
    page = made.certificate.save(tmp_path / "certificate.PDF")

    assert page.read_bytes() == drawn
    assert made.verified(page).passed


@pytest.mark.full
def test_settings_of_the_user_and_the_date_change_no_byte(made, drawn, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    settings = {"pdf.fonttype": 42, "pdf.compression": 9, "text.usetex": True, "font.size": 30}
    with mpl.rc_context(settings):
        assert made.certificate.pdf() == drawn
        assert mpl.rcParams["font.size"] == 30


@pytest.mark.full
def test_long_lists_fit_on_the_page_and_very_long_ones_make_it_higher(made):
    many = dataclasses.replace(made.certificate, features=tuple(f"feature {n}" for n in range(99)))
    assert height_of(many.pdf()) == A4

    names = tuple("W" * 50 + str(n) for n in range(30))
    whole = dataclasses.replace(many, features=names, mechanisms=names, not_private=names).pdf()
    assert height_of(whole) > A4
    heights = [float(y) for y in re.findall(rb"1 0 -0 1 [\d.]+ ([\d.-]+) cm\nBT", whole)]
    assert 35 < min(heights) < max(heights) < height_of(whole) - 35
    assert all(name in text_of(whole) for name in names)


@pytest.mark.full
def test_any_name_is_drawn_as_itself_or_as_codes(made, tmp_path):
    names = ("山本", "שלום", "€ $x^2$ (a\\) %PDF\n", *HOSTILE_NAMES)
    stated = dataclasses.replace(made.certificate, features=names)
    page = stated.save(tmp_path / "page.pdf")

    assert load(page) == stated
    text = text_of(page.read_bytes())
    for drawn_as in ("[U+5C71][U+672C]", "[U+05E9][U+05DC][U+05D5][U+05DD]", r"$x^2$(a\)%PDF"):
        assert drawn_as in text


def changed(content, draw):
    """Change a byte, remove some, or add some, also at the end."""
    held = bytearray(content)
    place = draw.randrange(len(held))
    match draw.randrange(4):
        case 0:
            held[place] ^= 1 << draw.randrange(8)
        case 1:
            del held[place : place + draw.randint(1, 40)]
        case 2:
            held.insert(place, draw.randrange(256))
        case _:
            held += b"\n1 0 obj\n<< /Type /Catalog >>\nendobj\n%%EOF\n"
    return bytes(held)


@pytest.mark.full
def test_random_changes_are_detected(made, drawn, tmp_path):
    page, missed = tmp_path / "page.pdf", []
    for number in range(8):
        page.write_bytes(changed(drawn, random.Random(f"pdf {number}")))
        if made.verified(page).passed:
            missed.append(number)
    assert missed == []


def test_page_whose_words_or_data_were_exchanged_is_refused(made, drawn, tmp_path):
    other = dataclasses.replace(made.certificate, epsilon=0.1)
    (data,) = re.findall(rb"/Keywords \(dpexplain-certificate (.*?)\)", drawn)
    page = tmp_path / "page.pdf"

    page.write_bytes(drawn.replace(data, base64.b64encode(other.to_json().encode())))
    with pytest.raises(ValueError, match="differs from what"):
        load(page)
    page.write_bytes(drawn.replace(data, b"AAA"))
    with pytest.raises(ValueError, match="is not a certificate"):
        load(page)
    page.write_bytes(b"%PDF-1.4")
    with pytest.raises(ValueError, match="contains no certificate"):
        load(page)
