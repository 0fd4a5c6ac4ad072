"""A data dictionary becomes a schema, and a wrong line is named with its column."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from dpexplain.exceptions import SchemaError
from dpexplain.schema import Categorical, Classes, Date, Numeric, Range, Schema

TEXT = """Variable;type;min;max;categories;aliases;missing;unit;decimal;format;source;contact
record;id;;;;;;;;;;
patient;person;;;;;;;;;;
dose;number;20,5;900;;;-99|unknown;mg;comma;;"manual;
page 3";
age;integer;0;120;;;;years;;;;nobody
seen;date;2019-01-01;31.12.2024;;;;;;%d.%m.%Y|%m/%d/%y;;
sex;category;;;1=male|2=female;m=male|femal=female;;;;;;

grade;ordered;;;low|<=5|high
smoker;yes/no;;;;;;;;;;
note;ignore;;;;;;;;;;
died;boolean;;;0=home|1=died;;9;;;;;
"""


def coded(code: str, name: str) -> dict[str, str]:
    """Spellings of a category with a code."""
    return dict.fromkeys([code, f"{code} = {name}", f"{code}={name}"], name)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "dictionary.csv"


def test_a_dictionary_becomes_a_schema_in_which_every_bound_has_a_source(path: Path) -> None:
    path.write_text(TEXT, encoding="utf-8-sig")
    schema = Schema.from_dictionary(path, target="died")
    line = "dictionary.csv, line {}".format
    assert schema == Schema(
        {
            "dose": Numeric(
                *(20.5, 900),
                unit="mg",
                missing=["-99", "unknown"],
                decimal=",",
                source="manual;\npage 3",
            ),
            "age": Numeric(0, 120, unit="years", step=1, source=line(6)),
            "seen": Date(
                "2019-01-01", "2024-12-31", format=["%d.%m.%Y", "%m/%d/%y"], source=line(7)
            ),
            "sex": Categorical(
                ["male", "female"],
                aliases={
                    **coded("1", "male"),
                    **coded("2", "female"),
                    "m": "male",
                    "femal": "female",
                },
                source=line(8),
            ),
            "grade": Categorical(["low", "<=5", "high"], ordered=True, source=line(10)),
            "smoker": Categorical(
                ["no", "yes"],
                aliases={
                    **dict.fromkeys(["0", "No", "NO", "n", "N", "nein", "Nein", "NEIN"], "no"),
                    **dict.fromkeys(["1", "Yes", "YES", "y", "Y"], "yes"),
                    **dict.fromkeys(["ja", "Ja", "JA", "j", "J"], "yes"),
                },
                source=line(11),
            ),
        },
        target=Classes(
            ["home", "died"],
            name="died",
            aliases={**coded("0", "home"), **coded("1", "died")},
            missing=9,
            source=line(13),
        ),
        id="record",
        person="patient",
    )
    assert Schema.from_toml(schema.to_toml()) == schema


def test_numbers_are_targets_too_and_whole_classes_stay_numbers(path: Path) -> None:
    path.write_text("name,type,min,max,values\na,number,0,1,\nb,int,0,9,\nc,category,,,0|1\n")
    assert Schema.from_dictionary(path, target="b").target == Range(
        0, 9, name="b", source="dictionary.csv, line 3"
    )
    target = Schema.from_dictionary(path, target="c").target
    assert isinstance(target, Classes)
    assert target.labels == (0, 1)
    assert Schema.from_dictionary(path).target is None


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("900;", "9O0;", "line 4 ('dose'), column 'max': '9O0' is not a finite number"),
        ("900;", "5;", "line 4 ('dose'), column 'max': 5 must be above the min, 20,5"),
        ("900;", ";", "line 4 ('dose'), column 'max': is empty; number needs it"),
        ("0;120", "0;inf", "line 6 ('age'), column 'max': 'inf'"),
        ("ordered", "orderd", "line 10 ('grade'), column 'type': 'orderd' is not a type; did you"),
        ("low|<=5|high", "low, high", "line 10 ('grade'), column 'categories': separate"),
        ("low|<=5|high", "", "line 10 ('grade'), column 'categories': is empty"),
        ("low|<=5|high", "low|low", "line 10 ('grade'), column 'categories': Categorical: 'low'"),
        ("comma", "dot", "line 4 ('dose'), column 'decimal': 'dot' must be point or comma"),
        ("31.12.2024", "31.13.2024", "line 7 ('seen'), column 'max': '31.13.2024' is not a date"),
        ("%m/%d/%y", "%m/%d", "line 7 ('seen'), column 'format': Date: format '%m/%d'"),
        ("=male|2", "=male|1", "line 8 ('sex'), column 'categories': Categorical: '1' is an"),
        ("=female;;", "=femlae;;", "line 8 ('sex'), column 'aliases': aliases: the alias 'femal'"),
        ("m=male|", "m|", "line 8 ('sex'), column 'aliases': 'm' must be written as"),
        (";9;", ";died;", "line 13 ('died'), column 'missing': Classes: 'died' is listed"),
        ("died;boolean", "died;date", "line 13 ('died'), column 'type': the target cannot be"),
        ("missing;", "mising;", "line 1: unknown column 'mising'; did you mean 'missing'?"),
        ("missing;", "levels;", "line 1: 'categories' and 'levels' are the same column"),
        ("type;", "what;", "line 1: no column 'type'"),
        ("age;", "sex;", "line 8, column 'Variable': 'sex' is in line 6 too"),
        ("record;id", ";id", "line 2, column 'Variable': is empty"),
        (
            "record;id",
            "record;person",
            "line 3 ('patient'), column 'type': 'record' is already the person",
        ),
        ("sex;category", "sex;Ganzzahl", "'Ganzzahl' is not a type. Use boolean, category,"),
        ("age;integer;0;120;", "age;integer;0;120;-9=refused", "the type integer has no codes"),
        ("grade;ordered;;;low|<=5|high", "grade;text;;;", "column 'categories': is empty; text"),
        ("died;", "dead;", "has no line for the target 'died'; did you mean 'dead'?"),
        ("grade;", '"grade;', "line 10: unexpected end of data"),
    ],
)
def test_a_wrong_line_is_named_with_its_column(
    path: Path, before: str, after: str, message: str
) -> None:
    assert before in TEXT
    path.write_text(TEXT.replace(before, after, 1), encoding="utf-8")
    with pytest.raises(SchemaError) as caught:
        Schema.from_dictionary(path, target="died")
    assert str(caught.value).startswith("dictionary.csv")
    assert message in str(caught.value)


def test_a_file_that_is_no_text_or_empty_is_refused(path: Path) -> None:
    path.write_bytes("name,type\någe,number\n".encode("latin-1"))
    with pytest.raises(SchemaError, match=r"line 2: not UTF-8 text; .*cp1252 \(--encoding\)"):
        Schema.from_dictionary(path)
    path.write_bytes(b"name,type\n\x81ge,number\n")
    with pytest.raises(SchemaError, match="line 2: not CP1252"):
        Schema.from_dictionary(path, encoding="cp1252")
    with pytest.raises(ValueError, match="'shift_jis' cannot be read"):
        Schema.from_dictionary(path, encoding="shift_jis")
    path.write_bytes(b"PK\3\4\x14\0\6\0")
    with pytest.raises(SchemaError, match="is a spreadsheet or an archive; save the sheet as CSV"):
        Schema.from_dictionary(path)
    path.write_text("name,type\n\n")
    with pytest.raises(SchemaError, match="no line after the first"):
        Schema.from_dictionary(path)


def test_codes_are_read_with_their_labels_as_spss_exports_them(path: Path) -> None:
    path.write_text("name,type,categories,missing\nsmoker,category,0=no|1=yes,9=refused|-1\n")
    smoker = Schema.from_dictionary(path).features["smoker"]
    cells = ["0", "0 = no", "1=yes", "yes", "9", "9 = refused", "refused", "-1", "2 = no"]
    cleaned = Schema({"smoker": smoker}).clean(pd.DataFrame({"smoker": cells}))["smoker"]
    assert cleaned.tolist() == ["no", "no", "yes", "yes", *[None] * 4, "2 = no"]


@pytest.mark.parametrize(
    ("written", "given"),
    [("cp1252", "cp1252"), ("utf-8", "cp1252"), ("utf-8-sig", "utf-8"), ("utf-16", "cp1252")],
)
def test_a_dictionary_is_utf_8_or_marked_or_in_the_encoding_given(
    path: Path, written: str, given: str
) -> None:
    path.write_text("name;type;unit;min;max\nGröße;number;µm;0;9\n", encoding=written)
    feature = Schema.from_dictionary(path, encoding=given).features["Größe"]
    assert isinstance(feature, Numeric)
    assert feature.unit == "µm"


@pytest.mark.parametrize(
    ("written", "formats"),
    [
        ("DD.MM.YYYY", ("%d.%m.%Y",)),
        ("dd/mm/yy; mm-dd-yyyy", ("%d/%m/%y", "%m-%d-%Y")),
        ("yyyymmdd", ("%Y%m%d",)),
        ("d-mmm-yyyy hh:mm:ss", ("%d-%b-%Y",)),
        ("yyyy-mm-dd", ("%Y-%m-%d",)),
        ("Excel|DD.MM.YYYY", ("excel", "%d.%m.%Y")),
        ("excel", ("excel",)),
        ("TT.MM.JJJJ|JJ/MM/AAAA", ("%d.%m.%Y", "%d/%m/%Y")),
        ("Mon DD, YYYY|DD-MON-YY HH24:MI:SS", ("%b %d, %Y", "%d-%b-%y")),
        ("DD.XX.YYYY", None),
    ],
)
def test_a_date_format_may_be_written_in_letters(
    path: Path, written: str, formats: tuple[str, ...] | None
) -> None:
    path.write_text(f'name,type,min,max,format\nd,date,2020-01-01,2020-12-31,"{written}"\n')
    if formats is None:
        with pytest.raises(SchemaError, match="column 'format'"):
            Schema.from_dictionary(path)
        return
    feature = Schema.from_dictionary(path).features["d"]
    assert isinstance(feature, Date)
    assert feature.format == formats


def test_a_boolean_without_categories_reads_the_usual_words(path: Path) -> None:
    path.write_text("name,type,missing\na,boolean,9\nb,yes/no,n|0\n")
    schema = Schema.from_dictionary(path)
    cells = ["0", "1", "False", "TRUE", "no", "Ja", "n", "y", "9", "maybe"]
    cleaned = schema.clean(pd.DataFrame({"a": cells, "b": cells}, dtype=object))
    a = ["False", "True", "False", "True", "False", "True", "False", "True", None, "maybe"]
    assert cleaned["a"].where(cleaned["a"].notna(), None).tolist() == a
    b = [None, "yes", None, "yes", "no", "yes", None, "yes", "9", "maybe"]
    assert cleaned["b"].where(cleaned["b"].notna(), None).tolist() == b
    again = Schema.from_toml(schema.to_toml())
    assert again == schema


def test_a_line_with_more_cells_than_headings_is_refused(path: Path) -> None:
    path.write_text("name,type,categories\nsex,category,male,female\nage,ignore,,\n")
    with pytest.raises(SchemaError, match=r"line 2: 4 cells, but the first line has 3; put a"):
        Schema.from_dictionary(path)


def test_all_wrong_lines_are_named_at_once(path: Path) -> None:
    lines = [f"x{i},number,0," for i in range(25)]
    path.write_text("\n".join(["name,type,min,max", *lines]))
    with pytest.raises(SchemaError, match=r"25 lines are wrong(.|\n)*'x0'(.|\n)*and 5 more"):
        Schema.from_dictionary(path)


def test_headings_have_other_names_and_the_first_of_two_descriptions_is_used(path: Path) -> None:
    path.write_text(
        "Variable_Name,Typ,Data type,Lower bound,Upper bound,Label,Description\n"
        "age,Zahl,integer,0,99,Age in years,something longer\n"
    )
    age = Numeric(0, 99, step=1, description="Age in years", source="dictionary.csv, line 2")
    assert Schema.from_dictionary(path) == Schema({"age": age})


def test_the_table_of_a_schema_lists_each_code_once(path: Path) -> None:
    path.write_text("name,type,categories\nsex,category,1=male|2=female\n", encoding="utf-8")
    page = Schema.from_dictionary(path)._repr_html_()
    assert "alias 1 = male, 2 = female" in page
    assert page.count("1 = male") == 1


def test_an_alias_may_name_the_code_of_its_category(path: Path) -> None:
    path.write_text(TEXT.replace("=female;;", "=2;;"), encoding="utf-8")
    schema = Schema.from_dictionary(path, target="died")
    path.write_text(TEXT, encoding="utf-8")
    assert schema == Schema.from_dictionary(path, target="died")
