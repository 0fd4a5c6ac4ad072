"""Files as programs export them, each to a verified certificate by six commands."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpexplain.cli import main
from dpexplain.tables import LineFormat, read_texts

pytestmark = [pytest.mark.full, pytest.mark.named_entropy]

N = 2_000


def of_pandas(rng):
    """A file with an unnamed index, labels as in SPSS, a repeated name and serial dates."""
    rows = {
        "age": rng.integers(18, 90, N),
        "smoker": rng.choice(["0 = no", "1 = yes", "9 = refused"], N, p=[0.6, 0.3, 0.1]),
        "score": rng.integers(0, 40, N),
        "score again": rng.integers(0, 40, N),
        "admitted": 44_000 + rng.integers(0, 1_000, N),
        "back": rng.choice(["0 = home", "1 = back"], N),
    }
    frame = pd.DataFrame(rows).rename(columns={"score again": "score"})
    dictionary = """name,type,min,max,categories,missing,format
age,integer,18,99,,,
smoker,category,,,0=no|1=yes,9=refused,
score.1,integer,0,40,,,
admitted,date,2020-01-01,2023-12-31,,,excel
back,category,,,0=home|1=back,,
"""
    return "data.csv", frame.to_csv().encode(), dictionary, "back", []


def of_a_spreadsheet(rng):
    """A UTF-16 file with tabs and two header lines with merged cells."""
    lines = ["\tBefore\t\tAfter\t", "id\tsys\tpulse\tsys\tresult"]
    for i in range(N):
        before, pulse = rng.integers(100, 200), rng.integers(50, 100)
        result = rng.choice(["better", "same", "worse"])
        lines.append(f"P{i:05d}\t{before}\t{pulse}\t{before - rng.integers(0, 20)}\t{result}")
    dictionary = """name,type,min,max,categories
id,id,,,
Before sys,integer,60,260,
Before pulse,integer,30,200,
After sys,integer,60,260,
After result,category,,,worse|same|better
"""
    text = ("\r\n".join(lines) + "\r\n").encode("utf-16")
    return "data.txt", text, dictionary, "After result", ["--header", "1-2"]


def of_a_report(rng):
    """A German report: title, quoted decimals with thousands, totals and a note below."""
    lines = ["Auswertung Klinikum;;;", "", '"Fall-Nr.";"Gewicht";"Geschlecht";"Kosten (€)"']
    costs = rng.uniform(100, 9_000, N)
    for i, cost in enumerate(costs):
        weight = f"{rng.uniform(40, 120):.1f}".replace(".", ",")
        lines.append(f'{i + 1};"{weight}";"{rng.choice(["Männlich", "Weiblich"])}";{german(cost)}')
    lines += ["", f"Summe;;;{german(costs.sum())}", "* vorläufige Werte"]
    dictionary = """Name;Type;Min;Max;Categories;Decimal;Thousands
Fall-Nr.;id;;;;;
Gewicht;number;30;250;;comma;
Geschlecht;category;;;Männlich|Weiblich;;
Kosten (€);number;0;10000;;comma;point
"""
    options = ["--sep", ";", "--encoding", "cp1252", "--header", "3"]
    return "data.csv", "\r\n".join(lines).encode("cp1252"), dictionary, "Kosten (€)", options


def of_a_school(rng):
    """Marks with decimal commas, answers in two spellings, and a dictionary in cp1252."""
    lines = ["Schüler-Nr;Note;Förderung;Nachhilfe;Beginn;Fehltage;versetzt"]
    for i in range(N):
        mark, begin = f"{rng.uniform(1, 6):.1f}".replace(".", ","), rng.integers(1, 29)
        answers = f"{rng.choice(['ja', 'nein'])};{rng.choice(['0', '1'])}"
        rest = f"{begin}.09.2023;{rng.integers(0, 40)};{rng.choice(['0', '1'])}"
        lines.append(f"S{i:05d};{mark};{answers};{rest}")
    dictionary = """Column;Type;Min;Max;Decimal;Format
Schüler-Nr;id;;;;
Note;number;1;6;comma;
Förderung;boolean;;;;
Nachhilfe;boolean;;;;
Beginn;date;01.09.2023;30.09.2023;;DD.MM.YYYY
Fehltage;integer;0;60;;
versetzt;boolean;;;;
"""
    return "data.csv", "\n".join(lines).encode("utf-8-sig"), dictionary, "versetzt", ["--sep", ";"]


def german(number):
    return '"' + f"{number:,.2f}".translate(str.maketrans(",.", ".,")) + '"'


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("make", [of_pandas, of_a_spreadsheet, of_a_report, of_a_school])
def test_six_commands_lead_from_the_file_to_a_verified_certificate(make, here, capsys):
    file, content, dictionary, target, options = make(np.random.default_rng(0))
    (here / file).write_bytes(content)
    written = "cp1252" if make is of_a_school else "utf-8"
    (here / "dictionary.csv").write_text(dictionary, encoding=written)
    meant = ["dictionary.csv", "--encoding", written, "--target", target]
    table = [file, *options, "--target", target, "--schema", "schema.toml"]
    proof = ["--ledger", "data.ledger.json", "--schema", "schema.toml"]
    responsible = ["--person", "A. Curie", "--purpose", "report"]
    printed = []
    for command in (
        ["schema", "from-dictionary", *meant, "--out", "schema.toml"],
        ["schema", "check", *table],
        ["fit", *table, *("--epsilon", "1", "--cap-epsilon", "3", "--out", "m.json"), *responsible],
        ["report", "m.json", "--out", "report.html"],
        ["release", "m.json", *proof, "--out", "certificate.html"],
        ["verify", "certificate.html", *proof, "--release", "m.json"],
    ):
        assert main(command) == 0, capsys.readouterr().err
        printed.append(capsys.readouterr())
    check, fit = printed[1], printed[2]
    unread = ("no number", "no date", "not in the list")
    assert [words for words in unread if words in check.out] == []
    assert "health: no alarm" in fit.out
    assert printed[-1].out.endswith("verified\n")
    if make is of_pandas:
        assert "column 5 is also named 'score' and is read as 'score.1'" in check.err
    if make is of_a_report:
        assert "a line of totals?" in check.out
        assert "above 10000" in check.out


def test_every_record_of_these_files_is_read(here):
    for make, options in (
        (of_pandas, {}),
        (of_a_spreadsheet, {"separator": "tab", "header": "1-2"}),
        (of_a_report, {"separator": ";", "encoding": "cp1252", "header": 3}),
    ):
        file, content, *_ = make(np.random.default_rng(0))
        (here / file).write_bytes(content)
        frame = read_texts(here / file, LineFormat(**options))
        assert (frame.iloc[:N] != "").all(axis=None)
        assert len(frame) == N + 3 * (make is of_a_report)
