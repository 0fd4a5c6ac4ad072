"""Six messy tables with data dictionaries, as exported in six fields.

Every table is simulated from a seed, so it holds nobody's data. A table has what its cells mean
(`meant`), how they are spelled (`spelled`) and the format of its file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from dpexplain import Schema
from dpexplain.tables.lines import LineFormat, read_texts

N = 2_000
Texts = list[str]


@dataclass(frozen=True)
class MessyTable:
    """A table, its dictionary, and the options that its commands need."""

    dictionary: str
    target: str
    meant: pd.DataFrame
    spelled: pd.DataFrame
    file: str = "data.csv"
    separator: str = ","
    encoding: str = "utf-8"
    line_end: str = "\n"
    blank_lines: int = 0
    dictionary_encoding: str = "utf-8"
    options: Sequence[str] = ()
    fit_options: Sequence[str] = ()
    schema: str = "schema.toml"  # that of the fit

    def write(self, folder: Path) -> None:
        """Write the table and its dictionary."""
        text = self.spelled.to_csv(index=False, sep=self.separator, lineterminator=self.line_end)
        text += self.line_end * self.blank_lines
        (folder / self.file).write_bytes(text.encode(self.encoding))
        (folder / "dictionary.csv").write_bytes(self.dictionary.encode(self.dictionary_encoding))

    def read(self, folder: Path) -> tuple[Schema, pd.DataFrame]:
        """Write both files and read them as the commands do."""
        self.write(folder)
        schema = Schema.from_dictionary(folder / "dictionary.csv", target=self.target)
        if "--groups" in self.fit_options:
            schema = replace(schema, person=self.fit_options[1])
        form = LineFormat(self.separator, self.encoding.removesuffix("-sig"))
        return schema, read_texts(folder / self.file, form)

    def commands(self) -> list[list[str]]:
        """Return the six commands that lead from the two files to a page and its certificate."""
        ledger = f"{Path(self.file).stem}.ledger.json"
        table = [self.file, *self.options, "--target", self.target, "--schema", "schema.toml"]
        sources = ["--ledger", ledger, "--schema", self.schema]
        groups = self.fit_options[:2] if "--groups" in self.fit_options else []
        dictionary = ["dictionary.csv", "--target", self.target, "--out", "schema.toml"]
        fit = ["--epsilon", "1", *self.fit_options, "--cap-epsilon", "3", "--person", "A. Curie"]
        return [
            ["schema", "from-dictionary", *dictionary],
            ["schema", "check", *table, *groups],
            ["fit", *table, *fit, "--purpose", "annual report", "--out", "model.json"],
            ["report", "model.json", "--ledger", ledger, "--out", "report.html"],
            ["release", "model.json", *sources, "--out", "certificate.html"],
            ["verify", "certificate.html", *sources, "--release", "model.json"],
        ]


@dataclass
class Columns:
    """Columns under construction: what the cells mean, and how they are spelled."""

    rng: np.random.Generator
    n: int
    meant: dict[str, object] = field(default_factory=dict)
    spelled: dict[str, Texts] = field(default_factory=dict)

    def _pick(self, texts: Sequence[str]) -> str:
        return texts[int(self.rng.random() * len(texts))]

    def number(
        self,
        name: str,
        values: np.ndarray,
        *,
        digits: int = 1,
        comma: bool = False,
        empty: float = 0.0,
        markers: Sequence[str] = ("",),
    ) -> None:
        """Add numbers, a proportion of which is missing and spelled as a marker."""
        kept = np.where(self.rng.random(self.n) < empty, np.nan, np.round(values, digits))
        texts = [f"{v:.{digits}f}".replace(".", "," if comma else ".") for v in kept]
        self.meant[name] = kept
        self.spelled[name] = [
            self._pick(markers) if np.isnan(v) else t for v, t in zip(kept, texts, strict=True)
        ]

    def date(
        self,
        name: str,
        first: str,
        n_days: int,
        formats: Sequence[str],
        *,
        empty: float = 0.0,
        markers: Sequence[str] = ("",),
    ) -> None:
        """Add days, each in one of the formats."""
        days = pd.Timestamp(first) + pd.to_timedelta(self.rng.integers(0, n_days, self.n), "D")
        lacks = self.rng.random(self.n) < empty
        self.meant[name] = [
            None if no else f"{d:%Y-%m-%d}" for d, no in zip(days, lacks, strict=True)
        ]
        self.spelled[name] = [
            self._pick(markers) if no else d.strftime(self._pick(formats))
            for d, no in zip(days, lacks, strict=True)
        ]

    def category(
        self, name: str, values: Sequence[str | None], spellings: Mapping[str | None, Texts]
    ) -> None:
        """Add categories, each in one of its spellings."""
        self.meant[name] = list(values)
        self.spelled[name] = [self._pick(spellings.get(v, [str(v)])) for v in values]

    def drawn(
        self, names: Sequence[str | None], p: Sequence[float] | None = None
    ) -> list[str | None]:
        """Draw categories; None marks a missing one."""
        return list(self.rng.choice(np.array(names, dtype=object), self.n, p=p))

    def plain(self, name: str, texts: Iterable[object]) -> None:
        """Add a column that is not a feature."""
        self.spelled[name] = [str(text) for text in texts]

    def outcome(self, risk: np.ndarray, names: tuple[str, str], empty: float) -> list[str | None]:
        """Add one of two outcomes, a proportion of them missing."""
        drawn = np.where(self.rng.random(self.n) < 1 / (1 + np.exp(-risk)), names[1], names[0])
        lacks = self.rng.random(self.n) < empty
        return [None if no else str(each) for each, no in zip(drawn, lacks, strict=True)]

    def frames(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return what the cells mean, and how they are spelled."""
        return pd.DataFrame(self.meant, dtype=object), pd.DataFrame(self.spelled, dtype=object)


HOSPITAL = """name,type,min,max,categories,aliases,missing,unit,decimal,format,source
record_no,id,,,,,,,,,
patient_id,person,,,,,,,,,
creatinine,number,20,900,,,-99|unknown,µmol/L,comma,,"laboratory manual, page 3"
admitted,date,2019-01-01,2024-12-31,,,,,,%d.%m.%Y|%m/%d/%y,
sex,category,,,1=male|2=female,m=male|femal=female,,,,,
outcome,boolean,,,0=home|1=died,,9,,,,
"""


def hospital(n: int = N, seed: int = 0) -> MessyTable:
    """Admissions, up to three per patient, with dates in two formats and 30% open outcomes."""
    made = Columns(np.random.default_rng(seed), n)
    made.plain("record_no", range(1, n + 1))
    made.plain("patient_id", [f"P{7 * (i // 3):06d}" for i in range(n)])
    creatinine = made.rng.lognormal(4.6, 0.5, n).clip(20, 900)
    markers = ("-99", "unknown", "")
    made.number("creatinine", creatinine, comma=True, empty=0.1, markers=markers)
    made.date("admitted", "2019-01-01", 2000, ["%d.%m.%Y", "%m/%d/%y"])
    sex = made.drawn(["male", "female"])
    made.category("sex", sex, {"male": ["1", "m", "male "], "female": ["2", "femal", "female"]})
    outcome = made.outcome((creatinine - 150) / 60, ("home", "died"), 0.3)
    made.category("outcome", outcome, {"home": ["0"], "died": ["1"], None: ["9", ""]})
    return MessyTable(
        HOSPITAL,
        "outcome",
        *made.frames(),
        separator=";",
        encoding="utf-8-sig",
        line_end="\r\n",
        options=["--sep", ";"],
        fit_options=["--max-rows-per-person", "3"],
    )


SCHOOL = """Variable;Kind;Low;High;Values;Spellings;Missing values;Decimal;Reference
pupil;id;;;;;;;
grade_average;number;1;6;;;k.A.;comma;school act
hours_per_week;number;0;40;;;-1;comma;questionnaire, item 4
language;ordered;;;1=none|2=some|3=fluent;;9;;
school;category;;;Förderschule|Realschule|Gymnasium;Gymn.=Gymnasium|REALSCHULE=Realschule;;;
comment;free text;;;;;;;
plans;category;;;work|training|university;uni=university|Training=training;?;;
"""


def school(n: int = N, seed: int = 1) -> MessyTable:
    """A survey with three classes and decimal commas; umlauts are in a Windows encoding."""
    made = Columns(np.random.default_rng(seed), n)
    made.plain("pupil", [f"S-{i:05d}" for i in made.rng.permutation(n)])
    grade = made.rng.uniform(1, 6, n)
    made.number("grade_average", grade, comma=True, empty=0.05, markers=["k.A."])
    hours = made.rng.gamma(2.0, 4.0, n).clip(0, 40)
    made.number("hours_per_week", hours, comma=True, empty=0.1, markers=["-1", "-1,0"])
    codes: dict[str | None, Texts] = {
        "none": ["1"],
        "some": ["2", "2.0"],
        "fluent": ["3"],
        None: ["9", ""],
    }
    made.category(
        "language", made.drawn(["none", "some", "fluent", None], p=[0.2, 0.4, 0.3, 0.1]), codes
    )
    kinds = made.drawn(["Förderschule", "Realschule", "Gymnasium"])
    odd: dict[str | None, Texts] = {
        "Realschule": ["Realschule", "REALSCHULE"],
        "Gymnasium": ["Gymn.", "Gymnasium "],
    }
    made.category("school", kinds, odd)
    made.plain("comment", made.drawn(["", 'said "no"; left', "fine; thanks", "0"]))
    rank = np.clip((6.5 - grade + made.rng.normal(0, 0.8, n)) // 2, 0, 2).astype(int)
    lacks = made.rng.random(n) < 0.1
    names = ("work", "training", "university")
    plans = [None if no else names[i] for i, no in zip(rank, lacks, strict=True)]
    spellings: dict[str | None, Texts] = {
        "university": ["uni"],
        "training": ["Training", "training"],
        None: ["?", ""],
    }
    made.category("plans", plans, spellings)
    return MessyTable(
        SCHOOL,
        "plans",
        *made.frames(),
        file="survey 2023.csv",
        separator=";",
        encoding="cp1252",
        line_end="\r\n",
        blank_lines=3,
        dictionary_encoding="utf-8-sig",
        options=["--sep", ";", "--encoding", "cp1252"],
    )


CREDIT = """name,type,min,max,step,categories,missing,format,description
contract_id,id,,,,,,,
income,number,0,250000,,,-99,,net income of a year
opened,date,2005-01-01,2024-12-31,,,01/01/1900,%d/%m/%Y|%Y%m%d,
n_loans,integer,0,20,,,-99,,
employer,category,,,,"public sector;Smith, Jones & Co;other employer",unknown,,
default,yes/no,,,,0=no|1=yes,,,90 days past due
"""


def credit(n: int = N, seed: int = 2) -> MessyTable:
    """Contracts with IDs, dates in two formats, -99, and commas inside quotes."""
    made = Columns(np.random.default_rng(seed), n)
    made.plain("contract_id", made.rng.permutation(10 * n)[:n] + 1_000_000)
    income = made.rng.lognormal(10.3, 0.6, n).clip(0, 250_000)
    made.number("income", income, digits=2, empty=0.1, markers=["-99", "-99.00"])
    formats = ["%d/%m/%Y", "%Y%m%d", "%Y-%m-%d"]
    made.date("opened", "2005-01-01", 7000, formats, empty=0.1, markers=["01/01/1900", ""])
    loans = made.rng.poisson(2.0, n)
    made.number("n_loans", loans.astype(float), digits=0, empty=0.1, markers=["-99"])
    names = ["public sector", "Smith, Jones & Co", "other employer", None]
    made.category("employer", made.drawn(names, p=[0.3, 0.3, 0.3, 0.1]), {None: ["unknown", " "]})
    outcome = made.outcome(loans - 0.00005 * income, ("no", "yes"), 0.0)
    made.category("default", outcome, {"no": ["0"], "yes": ["1", "1.0"]})
    return MessyTable(CREDIT, "default", *made.frames(), blank_lines=1)


COURT = """field\ttype\tmin\tmax\tcategories\taliases\tmissing\tformat\tsource
case_no\tid\t\t\t\t\t\t\t
defendant_id\tperson\t\t\t\t\t\t\t
sentenced\tdate\t2010-01-01\t2024-12-31\t\t\t\t%d.%m.%y|%d %B %Y\tregister
age\tinteger\t14\t99\t\t\t\t\t
offense\tcategory\t\t\ttheft|fraud|bodily harm\tlarceny=theft|Fraud=fraud\tn.a.\t\tpenal code
prior_convictions\tinteger\t0\t40\t\t\t99\t\t
reoffended\tboolean\t\t\tnein|ja\tNEIN=nein|J=ja\toffen\t\t
"""


def court(n: int = N, seed: int = 3) -> MessyTable:
    """Court cases, two per defendant, 30% still open; a Latin-1 file with bars as separators."""
    made = Columns(np.random.default_rng(seed), n)
    made.plain("case_no", [f"{i} Ls {made.rng.integers(1, 24):02d}/§{i % 7}" for i in range(n)])
    made.plain("defendant_id", np.arange(n) // 2 + 500)
    made.date("sentenced", "2010-01-01", 5000, ["%d.%m.%y", "%d %B %Y"])
    age = made.rng.integers(14, 80, n)
    made.number("age", age.astype(float), digits=0)
    offense = made.drawn(["theft", "fraud", "bodily harm", None], p=[0.4, 0.3, 0.2, 0.1])
    odd = {"theft": ["theft", "larceny"], "fraud": ["Fraud", "fraud"], None: ["n.a.", ""]}
    made.category("offense", offense, odd)
    prior = made.rng.poisson(1.5, n)
    made.number("prior_convictions", prior.astype(float), digits=0, empty=0.1, markers=["99"])
    outcome = made.outcome(prior - 0.05 * age, ("nein", "ja"), 0.3)
    spellings = {"nein": ["nein", "NEIN"], "ja": ["ja", "J"], None: ["offen", ""]}
    made.category("reoffended", outcome, spellings)
    return MessyTable(
        COURT,
        "reoffended",
        *made.frames(),
        separator="|",
        encoding="latin-1",
        options=["--sep", "|", "--encoding", "latin-1"],
        fit_options=["--max-rows-per-person", "2"],
    )


OFFICIAL = """variable,type,min,max,step,values,missing,unit,label
household,ID,,,,,,,
weight,ignore,,,,,,,grossing factor
age,integer,0,110,,,-9|-8,years,age on the day of the interview
region,nominal,,,,1=north|2=south|3=east|4=west,-9,,
smoker,binary,,,,1=yes|2=no,-9|-8,,
visits,count,0,60,,,-9,visits,visits to a doctor in twelve months
"""


def official(n: int = N, seed: int = 4) -> MessyTable:
    """A file of official statistics with counts and codes, separated by tabs."""
    made = Columns(np.random.default_rng(seed), n)
    made.plain("household", made.rng.permutation(n) + 880_000)
    made.plain("weight", made.rng.uniform(500, 1500, n).round(3))
    age = made.rng.integers(0, 95, n)
    made.number("age", age.astype(float), digits=0, empty=0.05, markers=["-9", "-8", "-9.0"])
    region = made.drawn(["north", "south", "east", "west", None], p=[0.3, 0.2, 0.2, 0.2, 0.1])
    codes = {"north": ["1"], "south": ["2", "02"], "east": ["3"], "west": ["4"], None: ["-9"]}
    made.category("region", region, codes)
    smoker = made.drawn(["yes", "no", None], p=[0.3, 0.6, 0.1])
    made.category("smoker", smoker, {"yes": ["1"], "no": ["2"], None: ["-9", "-8"]})
    visits = made.rng.poisson(np.exp(0.4 + 0.015 * age)).clip(0, 60)
    made.number("visits", visits.astype(float), digits=0, empty=0.15, markers=["-9", ""])
    return MessyTable(
        OFFICIAL,
        "visits",
        *made.frames(),
        file="microcensus.tsv",
        separator="\t",
        encoding="utf-8-sig",
        line_end="\r\n",
        blank_lines=2,
        fit_options=["--set", 'objective="poisson"'],
    )


CLAIMS = """name;type;min;max;step;categories;missing;unit;decimal;format;source
claim_no;key;;;;;;;;;
reported;datetime;2020-01-01;2024-12-31;;;;;;%d-%b-%Y;
temperature;number;-20;60;;;-999|Sensor defekt;°C;comma;;data sheet
pressure;number;900;1100;;;;hPa;comma;;data sheet
device;category;;;;Typ A|Typ Ä;;;;;
amount;number;0;5000;;;offen;EUR;comma;;policy
"""


def claims(n: int = N, seed: int = 5) -> MessyTable:
    """Claims with sensor readings, decimal commas and an amount to predict, in Latin-1."""
    made = Columns(np.random.default_rng(seed), n)
    made.plain("claim_no", [f"C{i:07d}" for i in made.rng.permutation(n)])
    made.date("reported", "2020-01-01", 1500, ["%d-%b-%Y", "%Y-%m-%dT%H:%M"])
    heat = made.rng.normal(18, 9, n).clip(-20, 60)
    made.number("temperature", heat, comma=True, empty=0.1, markers=["-999", "Sensor defekt"])
    made.number("pressure", made.rng.normal(1013, 15, n).clip(900, 1100), comma=True)
    made.category("device", made.drawn(["Typ A", "Typ Ä"]), {})
    amount = (1500 + 60 * heat + made.rng.normal(0, 200, n)).clip(0, 5000)
    made.number("amount", amount, digits=2, comma=True, empty=0.3, markers=["offen", ""])
    return MessyTable(
        CLAIMS,
        "amount",
        *made.frames(),
        separator=";",
        encoding="latin-1",
        line_end="\r\n",
        blank_lines=1,
        options=["--sep", ";", "--encoding", "latin-1"],
    )


TABLES = {each.__name__: each for each in (hospital, school, credit, court, official, claims)}
