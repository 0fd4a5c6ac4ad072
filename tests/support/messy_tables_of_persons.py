"""Two more messy tables, in which persons have several rows and the outcome has three classes."""

from __future__ import annotations

import numpy as np

from messy_tables import Columns, MessyTable, N, Texts

RULINGS = """column;type;min;max;categories;aliases;missing;unit;decimal;format;source
docket;id;;;;;;;;;
party_no;person;;;;;;;;;
filed;date;2012-01-01;2024-12-31;;;;;;%d.%m.%Y|%d-%b-%Y;register
value_in_dispute;number;0;500000;;;k. A.|-1;EUR;comma;;court fees act
hearings;integer;0;30;;;99;;;;
chamber;category;;;civil|commercial|family;ZK=civil|Civil Ch.=civil|KfH=commercial|Fam.=family;?;;;;
counsel;yes/no;;;0=no|1=yes;;9;;;;
ruling;category;;;granted|granted in part|dismissed;stattg.=granted|teilw.=granted in part|\
abgew.=dismissed;offen|vertagt;;;;
"""


def rulings(n: int = N, seed: int = 6) -> MessyTable:
    """Rulings of a court, up to four per party; 30% are still open."""
    made = Columns(np.random.default_rng(seed), n)
    made.plain("docket", [f"{i % 40} O {i // 40 + 1}/{10 + i % 14}" for i in range(n)])
    made.plain("party_no", [f"{9_000 + 7 * (i // 4):06d}" for i in range(n)])
    made.date("filed", "2012-01-01", 4_500, ["%d.%m.%Y", "%d-%b-%Y", "%Y-%m-%d"])
    value = made.rng.lognormal(10.5, 1.0, n).clip(0, 500_000)
    markers = ("k. A.", "-1", "-1,00")
    made.number("value_in_dispute", value, digits=2, comma=True, empty=0.1, markers=markers)
    hearings = made.rng.poisson(3, n).clip(0, 30)
    made.number("hearings", hearings.astype(float), digits=0, empty=0.1, markers=["99", ""])
    chamber = made.drawn(["civil", "commercial", "family", None], p=[0.4, 0.3, 0.2, 0.1])
    odd: dict[str | None, Texts] = {
        "civil": ["ZK", "Civil Ch.", "civil "],
        "commercial": ["KfH", "commercial"],
        "family": ["Fam."],
        None: ["?", ""],
    }
    made.category("chamber", chamber, odd)
    made.category("counsel", made.drawn(["no", "yes"]), {"no": ["0"], "yes": ["1", "1.0"]})
    lean = (np.log(value + 1) - 10.5) + 0.4 * (hearings - 3) + made.rng.normal(0, 0.7, n)
    names = np.array(["granted", "granted in part", "dismissed"], dtype=object)
    ruling = names[np.digitize(lean, [-0.6, 0.6])]
    ruling[made.rng.random(n) < 0.3] = None
    spellings: dict[str | None, Texts] = {
        "granted": ["stattg.", "granted"],
        "granted in part": ["teilw."],
        "dismissed": ["abgew.", "dismissed"],
        None: ["offen", "vertagt", ""],
    }
    made.category("ruling", list(ruling), spellings)
    return MessyTable(
        RULINGS,
        "ruling",
        *made.frames(),
        file="rulings 2024.csv",
        separator=";",
        encoding="cp1252",
        line_end="\r\n",
        options=["--sep", ";", "--encoding", "cp1252"],
        fit_options=["--max-rows-per-person", "4"],
    )


REPORTS = """name,type,min,max,categories,aliases,missing,unit,decimal,format,source
sheet,id,,,,,,,,,
pupil,ignore,,,,,,,,,number of the pupil
entered,date,2015-08-01,2024-07-31,,,,,,%d.%m.%y|%Y/%m/%d,
absences,integer,0,90,,,-1|k.A.,days,,,class register
grade,number,1,6,,,entf.,,comma,,school act
band,ordered,,,1=low|2=middle|3=high,,0,,,,
language,category,,,German|Turkish|Polish|other,dt.=German|tr=Turkish|poln.=Polish|\
POLN.=Polish,n/a,,,,
bus,yes/no,,,-=no|x=yes,X=yes,,,,,
result,category,,,promoted|on probation|repeats,P=promoted|PB=on probation|R=repeats,\
-99|unbekannt,,,,
"""


def reports(n: int = N, seed: int = 7) -> MessyTable:
    """Reports of a school, three per pupil, whom only an option of the fit names."""
    made = Columns(np.random.default_rng(seed), n)
    made.plain("sheet", made.rng.permutation(n) + 70_000)
    made.plain("pupil", [f"P-{made.rng.integers(10)}{i // 3:05d}" for i in range(n)])
    made.date("entered", "2015-08-01", 3_000, ["%d.%m.%y", "%Y/%m/%d"], empty=0.05)
    absences = made.rng.gamma(1.5, 6.0, n).clip(0, 90).round()
    made.number("absences", absences, digits=0, empty=0.1, markers=["-1", "k.A.", ""])
    grade = made.rng.uniform(1, 6, n)
    made.number("grade", grade, comma=True, empty=0.1, markers=["entf.", ""])
    codes: dict[str | None, Texts] = {
        "low": ["1"],
        "middle": ["2", "2.0", "02"],
        "high": ["3"],
        None: ["0", ""],
    }
    bands = made.drawn(["low", "middle", "high", None], p=[0.3, 0.3, 0.3, 0.1])
    made.category("band", bands, codes)
    tongues = made.drawn(
        ["German", "Turkish", "Polish", "other", None], p=[0.5, 0.2, 0.1, 0.1, 0.1]
    )
    odd: dict[str | None, Texts] = {
        "German": ["dt.", "German"],
        "Turkish": ["tr", "Turkish "],
        "Polish": ["poln.", "POLN."],
        None: ["n/a", ""],
    }
    made.category("language", tongues, odd)
    made.category("bus", made.drawn(["no", "yes"]), {"no": ["-"], "yes": ["x", "X"]})
    lean = 0.8 * (grade - 3.5) + 0.05 * absences + made.rng.normal(0, 0.7, n)
    names = np.array(["promoted", "on probation", "repeats"], dtype=object)
    result = names[np.digitize(lean, [0.2, 1.4])]
    result[made.rng.random(n) < 0.3] = None
    spellings: dict[str | None, Texts] = {
        "promoted": ["P", "promoted"],
        "on probation": ["PB"],
        "repeats": ["R", "repeats"],
        None: ["-99", "unbekannt", ""],
    }
    made.category("result", list(result), spellings)
    return MessyTable(
        REPORTS,
        "result",
        *made.frames(),
        file="reports.csv",
        separator=";",
        encoding="utf-8-sig",
        line_end="\r\n",
        blank_lines=2,
        options=["--sep", ";"],
        fit_options=["--groups", "pupil", "--max-rows-per-person", "3"],
        schema="model.schema.toml",
    )


BILLS = """name;type;min;max;categories;aliases;missing;decimal;thousands;affixes;format
claim;id;;;;;;;;;
member;person id;;;;;;;;;
served;timestamp;2020-01-01;2024-12-31;;;;;;;%m/%d/%Y %I:%M %p
billed;currency;0;200000;;;N/A|NULL;;comma;$;
share;integer;0;100;;;;;;%;
temperature;number;34;42;;;-;comma;;°C;
smoker;boolean;;;no|yes;N=no|Y=yes|FALSE=no|TRUE=yes;(null);;;;
fraud;boolean;;;N|Y;;?;;;;
"""


def bills(n: int = N, seed: int = 8) -> MessyTable:
    """Claims with units, thousands and signs in the cells, and blanks around names of columns."""
    made = Columns(np.random.default_rng(seed), n)
    made.plain("claim", range(1, n + 1))
    made.plain("member ", [f"M{i // 2}" for i in range(n)])
    made.date("served", "2020-01-01", 1_500, ["%m/%d/%Y 11:59 PM", "%m/%d/%Y 01:30 am"])
    billed = made.rng.lognormal(7.5, 1.0, n).clip(0, 200_000).round(2)
    lacks = made.rng.random(n) < 0.05
    made.meant["billed"] = np.where(lacks, np.nan, billed)
    made.spelled["billed"] = [
        made._pick(["N/A", "NULL"]) if no else f"${v:,.2f}"
        for v, no in zip(billed, lacks, strict=True)
    ]
    share = made.rng.integers(0, 101, n)
    made.meant["share"] = share.astype(float)
    made.spelled["share"] = [f"{v}{made._pick(['%', ' %', ''])}" for v in share]
    warm = made.rng.normal(37.5, 0.9, n).clip(34, 42).round(1)
    made.meant["temperature"] = warm
    made.spelled["temperature"] = [
        f"{v:.1f}".replace(".", ",") + made._pick(["", " °C"]) for v in warm
    ]
    spellings: dict[str | None, Texts] = {"no": ["N", "FALSE"], "yes": ["Y", "TRUE"]}
    smoker = made.drawn(["no", "yes", None], p=[0.6, 0.3, 0.1])
    made.category("smoker", smoker, {**spellings, None: ["(null)", ""]})
    fraud = made.outcome(np.log(billed + 1.0) - 7.5, ("N", "Y"), 0.3)
    made.category("fraud", fraud, {None: ["?", ""], "Y": ["Y", "Y "]})
    return MessyTable(
        BILLS,
        "fraud",
        *made.frames(),
        separator=";",
        options=["--sep", ";"],
        fit_options=["--max-rows-per-person", "2"],
    )


TABLES_OF_PERSONS = {each.__name__: each for each in (rulings, reports, bills)}
