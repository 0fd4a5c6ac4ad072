"""A line of a text file is read on its own, whatever other lines or chunks there are."""

from __future__ import annotations

import codecs
import csv
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dpexplain._utils.compiling import Kernel
from dpexplain.schema.unread import unread_lines
from dpexplain.tables import LineFormat, line_format, lines, read_guessed, read_texts
from dpexplain.tables.line_format import cells_of_line
from effort import examples

WIDE = (LineFormat(encoding="utf-16-le"), LineFormat(";", "utf-16-be"))
FORMS = (LineFormat(), LineFormat(";", "cp1252"), LineFormat("tab", "latin-1"), LineFormat("|"))
NAMES = ("age", "job", "income", "label")

# What readers of text stumble on: quotes, ends of lines of every alphabet, marks of byte order,
# broken characters, comments, escapes.
SCRAPS = [
    *(b"1", b"2.5", b"nurse", b"NA", b" ", b"#", b"\\", b"'", b"\x1a", b"\x00", b"\r", b"\r\r"),
    *(b'"', b'""', b'"a"', b'"a,b;c\td|e"', b",", b",", b";", b";", b"\t", b"\t", b"|", b"|"),
    *(b"\x0b", b"\x0c", b"\x1c", b"\x1e", b"\x85", "\x85".encode(), "\u2028".encode()),
    *("ä".encode(), b"\xc3", b"\xa4", b"\xff\xfe", b"\x81", codecs.BOM_UTF8, "\u202e".encode()),
]
LINES = st.lists(st.sampled_from(SCRAPS), max_size=9).map(b"".join)


@pytest.fixture(
    params=[
        pytest.param(3, marks=pytest.mark.full),
        17,
        pytest.param(1 << 20, marks=pytest.mark.full),
    ],
    ids=lambda size: f"blocks of {size}",
)
def small(request, monkeypatch):
    """Make chunks that end inside lines, characters and line endings."""
    monkeypatch.setattr(lines, "_BLOCK", request.param)
    monkeypatch.setattr(line_format, "LONGEST_LINE", 60)


def head(form, n_cells):
    return form.separator.join(NAMES[:n_cells]).encode()


def read(path, form, n_cells, body):
    """Read a file of these lines into lists of cells; a warning is an error."""
    path.write_bytes(b"\n".join([head(form, n_cells), *body]) + b"\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = read_texts(path, form)
    assert tuple(frame.columns) == NAMES[:n_cells]
    return frame.to_numpy(dtype=object).tolist()


def by_itself(line, form, n_cells):
    cells = cells_of_line(line, form)
    return cells if cells is not None and len(cells) == n_cells else [""] * n_cells


files = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@files
@given(body=st.lists(LINES, max_size=12), form=st.sampled_from(FORMS), n_cells=st.integers(1, 4))
@example(body=[b'"', b'"'], form=FORMS[0], n_cells=1)
@example(body=[b"1,2,3", b"1,2"], form=FORMS[0], n_cells=2)
@example(body=[b"", b"", b'""', b'""""'], form=FORMS[0], n_cells=1)
@example(body=[b"a" * 60, b"a" * 61, b"\xe4" * 31], form=FORMS[1], n_cells=1)
@example(body=[b"a" * 60 + b"\r", b"a" * 61 + b"\r", b"b" * 500, b"c"], form=FORMS[0], n_cells=1)
@example(body=["é".encode() * 30, "é".encode() * 31, b"c"], form=FORMS[0], n_cells=1)
@example(body=[codecs.BOM_UTF8 + b'"1"', codecs.BOM_UTF8], form=FORMS[0], n_cells=1)
def test_a_file_is_the_sum_of_its_lines(body, form, n_cells, small, tmp_path):
    expected = [by_itself(line, form, n_cells) for line in body]
    assert read(tmp_path / "table.csv", form, n_cells, body) == expected


def has_text(line, form):
    try:
        return bool(line.decode(form.encoding).removesuffix("\r").strip(form.separator + ' "\t'))
    except UnicodeDecodeError:
        return True


@files
@given(body=st.lists(LINES, max_size=12), form=st.sampled_from(FORMS), n_cells=st.integers(1, 4))
@example(body=[b"", b"\xe4" * 9, b"", b"1,2", b"a" * 61, b'"'], form=FORMS[0], n_cells=1)
def test_lines_with_text_that_cannot_be_read_are_counted_by_reason(
    body, form, n_cells, small, tmp_path
):
    path = tmp_path / "table.csv"
    path.write_bytes(b"\n".join([head(form, n_cells), *body]) + b"\n")
    lost = [
        place + 2
        for place, line in enumerate(body)
        if len(cells_of_line(line, form) or [""] * 9) != n_cells and has_text(line, form)
    ]
    found = unread_lines(path, form)
    assert sum(each.n_lines for each in found) == len(lost)
    first = sorted(number for each in found for number in each.numbers)
    assert set(first) <= set(lost)
    assert first[:1] == lost[:1]
    assert len(first) == sum(min(3, each.n_lines) for each in found)


def test_the_reason_and_the_numbers_of_lines_that_cannot_be_read_are_told(tmp_path):
    path = tmp_path / "table.csv"
    lines = ["Titel", "age;job", "44;Köchin", '45;"open', "46", "", ";", "47;Köchin", "48;cook"]
    path.write_bytes("\r\n".join(lines).encode("latin-1"))
    form = LineFormat(";", header=2)
    assert [(each.reason, each.n_lines, each.examples) for each in unread_lines(path, form)] == [
        ("the line is not UTF-8 text: wrong encoding?", 2, "line 3, line 8"),
        ("the line has an open or misplaced quote: a line break in a cell?", 1, "line 4"),
        ("the line has too few or too many cells: wrong separator?", 1, "line 5"),
    ]
    marked = path.with_name("marked.csv")
    marked.write_bytes("\r\n".join(lines).encode("utf-16"))
    assert sum(each.n_lines for each in unread_lines(marked, form)) == 2


@files
@given(
    body=st.lists(LINES, min_size=1, max_size=10),
    odd=LINES,
    form=st.sampled_from(FORMS),
    n_cells=st.integers(1, 4),
    data=st.data(),
)
def test_a_line_that_comes_goes_or_is_damaged_leaves_the_others_as_they_were(
    body, odd, form, n_cells, data, small, tmp_path
):
    path, place = tmp_path / "table.csv", data.draw(st.integers(0, len(body) - 1))
    before = read(path, form, n_cells, body)
    more = read(path, form, n_cells, [*body[:place], odd, *body[place:]])
    assert more[:place] + more[place + 1 :] == before
    fewer = read(path, form, n_cells, body[:place] + body[place + 1 :])
    assert fewer == before[:place] + before[place + 1 :]
    changed = read(path, form, n_cells, [*body[:place], odd, *body[place + 1 :]])
    assert changed[:place] + changed[place + 1 :] == fewer


@pytest.mark.full
@examples(400)
@given(line=LINES, form=st.sampled_from(FORMS))
@example(line=b'a"b,"c"', form=FORMS[0])
@example(line=b'"a"b', form=FORMS[0])
@example(line=b'"a"""', form=FORMS[0])
@example(line=b' "a,b"', form=FORMS[0])
def test_a_line_is_read_as_the_strict_reader_of_python_reads_it(line, form):
    """Another implementation reads each line on its own; it treats bytes 0 and 13 differently."""
    cells = cells_of_line(line, form)
    try:
        text = line.decode(form.encoding)
        rows = list(csv.reader([text], delimiter=form.separator, strict=True))
    except (UnicodeDecodeError, csv.Error):
        rows = None
    if "\r" in line.decode("latin-1") or b"\0" in line:
        spoiled = b"\r" in line.removesuffix(b"\r") or b"\0" in line
        assert cells is None or not spoiled
    elif rows is None:
        assert cells is None
    else:
        assert cells == ((rows[0] if rows else []) or [""])


# Pairs of bytes of UTF-16: letters, separators and ends of lines; halves of characters, and pairs
# that look like the end of a line if they are read from the wrong byte.
PAIRS = [
    *(0x31, 0x61, 0x22, 0x22, 0x2C, 0x2C, 0x3B, 0x3B, 0x0D, 0x00, 0xFEFF, 0xFFFE, 0xD83D, 0xDE00),
    *(0x0A00, 0x0A61, 0x610A, 0x000B, 0x2028, 0x0D00, 0x2C00, 0xE4),
]
WIDE_LINES = st.lists(st.sampled_from(PAIRS), max_size=9)


def wide(pairs, form):
    order = "little" if form.encoding.endswith("le") else "big"
    return b"".join(pair.to_bytes(2, order) for pair in pairs)


def read_wide(path, form, n_cells, body):
    first = form.separator.join(NAMES[:n_cells]).encode(form.encoding)
    mark = line_format.BYTE_ORDER_MARKS[form.encoding]
    path.write_bytes(mark + form.newline.join([first, *body]) + form.newline)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read_texts(path, form).to_numpy(dtype=object).tolist()


@files
@given(
    body=st.lists(WIDE_LINES, min_size=1, max_size=8),
    odd=WIDE_LINES,
    form=st.sampled_from(WIDE),
    n_cells=st.integers(1, 3),
    data=st.data(),
)
@example(body=[[0x0A00, 0x000B]], odd=[0xD83D], form=WIDE[0], n_cells=1, data=None)
@example(body=[[0x61] * 60, [0x61] * 61, [0xE4] * 31], odd=[], form=WIDE[1], n_cells=1, data=None)
def test_a_line_of_utf_16_is_read_by_itself(body, odd, form, n_cells, data, small, tmp_path):
    body, odd = [wide(pairs, form) for pairs in body], wide(odd, form)
    path = tmp_path / "table.csv"
    before = read_wide(path, form, n_cells, body)
    assert before == [by_itself(line, form, n_cells) for line in body]
    place = 0 if data is None else data.draw(st.integers(0, len(body)))
    more = read_wide(path, form, n_cells, [*body[:place], odd, *body[place:]])
    assert more[:place] + more[place + 1 :] == before


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8", "utf-16-le"])
def test_a_file_that_says_that_it_is_in_utf_16_is_read_so(encoding, tmp_path):
    path = tmp_path / "table.csv"
    text = "age,Ort\r\n44,Köln\r\n45,\U0001f600\r\n"
    path.write_bytes(codecs.BOM_UTF16_LE + text.encode("utf-16-le"))
    frame = read_texts(path, LineFormat(encoding=encoding))
    assert list(frame.columns) == ["age", "Ort"]
    assert frame.to_numpy().tolist() == [["44", "Köln"], ["45", "\U0001f600"]]


def test_utf_16_without_its_mark_needs_its_byte_order(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes("a,b\n1,2\n".encode("utf-16-be"))
    assert read_texts(path, LineFormat(encoding="utf-16-be"))["b"].tolist() == ["2"]
    with pytest.raises(ValueError, match="utf-16-le or utf-16-be"):
        read_texts(path, LineFormat(encoding="utf-16"))
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(ValueError, match="does not begin with the byte order mark"):
        read_texts(path, LineFormat(encoding="utf-16"))
    path.write_bytes("a,b\n1,2\n".encode("utf-16-le") + b"3")  # a file that was cut
    frame = read_texts(path, LineFormat(encoding="utf-16-le"))
    assert frame.to_numpy().tolist() == [["1", "2"], ["", ""]]


@pytest.mark.parametrize(
    "first",
    [
        "a,b,a,a.1,,b,a",
        ",a",
        "a,",
        "Unnamed: 0,a,,a",
        "x,Unnamed: 1,,",
        "a,a.1,a,a.1,a",
    ],
)
def test_columns_named_twice_or_not_get_the_names_of_pandas(first, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(f"{first}\n")
    found = lines.header_of(path)
    assert len(set(found.names)) == len(found.names)
    given = first.split(",")
    changed = [name for name, old in zip(found.names, given, strict=True) if name != old]
    assert len(found.notes) == len(changed)
    assert all(repr(name) in note for name, note in zip(changed, found.notes, strict=True))
    assert found.names == list(pd.read_csv(path).columns)


@pytest.mark.parametrize(
    ("header", "text", "names"),
    [
        (3, "Wards of 2024;\n\nage;died\n44;no\n", ["age", "died"]),
        ("2", '"a title;\nage;died\n44;no\n', ["age", "died"]),
        ("1-2", "blood;\nurea;died\n44;no\n", ["blood urea", "blood died"]),
        ("1-2", "age;died\nage;\n44;no\n", ["age", "died"]),
        ("2-3", "x\n;labs;\nage;urea;K\n44;no;1\n", ["age", "labs urea", "labs K"]),
    ],
)
def test_names_may_be_below_a_title_and_in_several_lines(header, text, names, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(text)
    frame = read_texts(path, LineFormat(";", header=header))
    assert list(frame.columns) == names
    assert frame.iloc[:, :2].to_numpy().tolist() == [["44", "no"]]


@pytest.mark.parametrize("header", [0, "0", "2-1", "1-", "-1", "a", "1 2", "1.0", "٣", 1000])
def test_headers_that_are_no_lines_are_refused(header):
    with pytest.raises(ValueError, match="must be the number of the line"):
        LineFormat(header=header)


@pytest.mark.parametrize("header", ["3", "1-2", 5])
def test_a_header_without_names_is_refused_with_its_lines(header, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1\n")
    with pytest.raises(ValueError, match=rf"lines? {header} of the file do"):
        read_texts(path, LineFormat(header=header))


def test_an_end_of_line_at_the_end_begins_no_record(tmp_path):
    path = tmp_path / "table.csv"
    for text, n_rows in (
        (b"a,b", 0), (b"a,b\n", 0), (b"a,b\r\n", 0), (b"a,b\n\n", 1), (b"a,b\n1,2", 1),
        (b"a,b\n1,2\n", 1), (b"a,b\r\n1,2\r\n", 1), (b"a,b\n1,2\n\n", 2), (b"a\n\n\n1\n", 3),
    ):  # fmt: skip
        path.write_bytes(text)
        assert len(read_texts(path)) == n_rows
        assert len(read_guessed(path)) == n_rows


def test_a_mark_of_byte_order_belongs_to_no_name(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(codecs.BOM_UTF8 + b'"age",job\r\n1,a\r\n')
    assert list(read_texts(path).columns) == ["age", "job"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "does not contain column names"),
        (b"\n1,2\n", "does not contain column names"),
        (b"a,\xff\n", "does not contain column names"),
        (b'a,"b\n1,2\n', "does not contain column names"),
        (b"a,b\r1,2\r", "does not contain column names"),
        (b"a" * (line_format.LONGEST_LINE + 10), "does not contain column names"),
        (b",,\n", "does not contain column names"),
    ],
)
def test_a_first_line_without_names_is_refused(text, words, tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(text)
    with pytest.raises(ValueError, match=words):
        read_texts(path)


@pytest.mark.parametrize(
    "encoding",
    ["utf-32", "utf-32-le", "utf-7", "shift_jis", "gb18030", "big5", "iso2022_jp", "hz",
     "cp037", "unicode_escape", "raw_unicode_escape", "rot13", "zlib", "idna", "punycode",
     "no such", "a\0b", "", "undefined"],
)  # fmt: skip
def test_encodings_whose_lines_cannot_be_told_by_bytes_are_refused_by_name(encoding):
    with pytest.raises(ValueError, match="cannot be read line by line"):
        LineFormat(encoding=encoding)


@pytest.mark.parametrize("encoding", sorted(line_format.ENCODINGS - {"utf-8"}))
def test_a_code_page_that_is_taken_has_one_character_per_byte_and_ascii_in_its_place(encoding):
    form = LineFormat(encoding=encoding)
    special = {chr(byte) for byte in range(128)}
    for byte in range(256):
        try:
            text = bytes([byte]).decode(form.encoding)
        except UnicodeDecodeError:
            assert byte >= 128
            continue
        assert len(text) == 1
        assert text == chr(byte) if byte < 128 else text not in special


@pytest.mark.parametrize("separator", ["", ",,", '"', "\n", "\r", "\0", "ä", "tabs"])
def test_separators_that_are_no_character_of_ascii_are_refused(separator):
    with pytest.raises(ValueError, match="must be one ASCII character"):
        LineFormat(separator)


@pytest.mark.full
@files
@given(separator=st.sampled_from([chr(byte) for byte in range(1, 128) if chr(byte) not in '"\r\n']))
def test_every_separator_that_is_taken_separates(separator, tmp_path):
    a, b = ("x", "y") if separator not in "xy" else ("8", "9")
    path = tmp_path / "table.csv"
    path.write_text(f'{a}{separator}{b}\n"{separator}{a}"{separator}{b}\n', newline="\n")
    assert read_texts(path, LineFormat(separator)).to_numpy().tolist() == [[separator + a, b]]


def test_a_line_beyond_the_limit_takes_no_memory_and_leaves_the_others(tmp_path):
    path = tmp_path / "table.csv"
    with path.open("wb") as file:
        file.write(b"a,b\n1,2\n")
        for _ in range(64):
            file.write(b'"' + b"x" * (1 << 20))
        file.write(b"\n3,4\n")
    tracemalloc.start()
    rows = read_texts(path).to_numpy().tolist()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert rows == [["1", "2"], ["", ""], ["3", "4"]]
    assert peak < 32 << 20


def test_types_are_guessed_from_the_same_lines_for_drafts_alone(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b'a,b\n1,x\n"open,y\n2,NA\n')
    frame = read_guessed(path)
    np.testing.assert_array_equal(frame["a"], [1, np.nan, 2])
    assert frame["b"].isna().tolist() == [False, True, True]


def test_the_format_may_be_given_by_the_names_of_the_command_line(tmp_path):
    path = tmp_path / "umsatz.csv"
    path.write_text("Umsatz\nJahr;Größe\n2023;1,5\n", encoding="cp1252")
    named = read_texts(path, sep=";", encoding="cp1252", header=2)
    assert named.to_dict("list") == {"Jahr": ["2023"], "Größe": ["1,5"]}
    assert named.equals(read_texts(path, LineFormat(";", "cp1252", header=2)))
    assert named.equals(read_texts(path, LineFormat(";", header=2), encoding="cp1252"))
    with pytest.raises(ValueError, match="must be one ASCII character"):
        read_texts(path, sep=";;")


def test_a_file_without_a_record_calls_the_same_kernels(tmp_path, monkeypatch):
    """Compiling a kernel leaves a file, which would tell whether there is a record."""
    called, honest = [], Kernel.__call__

    def call(self, *arguments):
        called.append(self.__wrapped__.__name__)
        return honest(self, *arguments)

    monkeypatch.setattr(Kernel, "__call__", call)
    found = []
    for content in (b"age,job\n", b"age,job\n1,nurse\n", b"age,job\n1\n"):
        called.clear()
        (tmp_path / "table.csv").write_bytes(content)
        read_texts(tmp_path / "table.csv")
        found.append(set(called))
    assert found == [{"unreadable_lines"}] * 3
