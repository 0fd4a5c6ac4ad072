"""Schemas hold public knowledge: checked when made, immutable, the same after any round trip."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
import warnings
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpexplain.exceptions import PrivacyWarning, SchemaError
from dpexplain.models.inputs import observed_schema
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema

SCHEMA = Schema(
    features={
        "age": Numeric(17, 90, unit="years", description="Age", step=1),
        "job": Categorical(["a", "b"], description="Occupation"),
        "grade": Categorical(["poor", "good"], ordered=True),
    },
    target=Classes(["no", "yes"], name="churn"),
)

HOSTILE_TEXTS = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "\"quoted\" & 'single'",
    "\N{RIGHT-TO-LEFT OVERRIDE}reversed",
    "x" * 10_000,
    r"$\input{secret}$",
    "nul\x00and\x1bescape",
    "\N{PILE OF POO}",
    "two\nlines",
    "]]>",
    "a.b = 1",
]


def test_bounds_become_floats() -> None:
    feature = Numeric(np.int64(17), 90)
    assert (type(feature.low), type(feature.high)) == (float, float)


@pytest.mark.parametrize("kind", [Numeric, Range])
@pytest.mark.parametrize(
    ("low", "high"),
    [
        (5, 3),
        (3, 3),
        (math.nan, 1),
        (0, math.inf),
        (-math.inf, 0),
        ("0", 1),
        (None, 1),
        (False, True),
        (0, 10**400),
        (-1e308, 1e308),
        (0j, 1),
    ],
)
def test_bounds_that_span_no_finite_line_are_refused(kind: Any, low: Any, high: Any) -> None:
    with pytest.raises(SchemaError, match=kind.__name__):
        kind(low, high)


@pytest.mark.parametrize("step", [0, -1, 74, math.nan, math.inf, "1", True])
def test_steps_that_do_not_fit_between_the_bounds_are_refused(step: Any) -> None:
    with pytest.raises(SchemaError, match="step"):
        Numeric(17, 90, step=step)


@pytest.mark.parametrize(
    "categories",
    [
        [],
        "abc",
        {"a", "b"},
        {"a": 1},
        5,
        None,
        ["a", "a"],
        ["a", " a "],
        [1, "1.0"],
        [True, "true"],
        [True, 1],
        ["", "a"],
        [" "],
        ["nan"],
        [math.nan],
        [None, "a"],
        [b"a"],
        [["a"]],
        ["\ud800"],
    ],
)
def test_categories_that_do_not_tell_values_apart_are_refused(categories: Any) -> None:
    with pytest.raises(SchemaError):
        Categorical(categories)
    with pytest.raises(SchemaError):
        Classes(categories)


def test_a_target_has_two_classes_at_least() -> None:
    with pytest.raises(SchemaError, match="at least two"):
        Classes(["yes"])


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda text: Numeric(0, 1, unit=text), "unit"),
        (lambda text: Numeric(0, 1, description=text), "description"),
        (lambda text: Categorical(["a"], description=text), "description"),
        (lambda text: Range(0, 1, name=text), "name"),
        (lambda text: Classes([0, 1], name=text), "name"),
    ],
)
@pytest.mark.parametrize("text", [None, 5, b"x", "\udfff"])
def test_descriptions_are_texts(call: Any, field: str, text: Any) -> None:
    with pytest.raises(SchemaError, match=field):
        call(text)


@pytest.mark.parametrize("ordered", [1, "yes", None])
def test_ordered_is_a_truth_value(ordered: Any) -> None:
    with pytest.raises(SchemaError, match="ordered"):
        Categorical(["a"], ordered=ordered)


@pytest.mark.parametrize(
    ("features", "target", "message"),
    [
        ({}, None, "at least one column"),
        ([("a", Numeric(0, 1))], None, "mapping"),
        (pd.DataFrame({"a": [123456]}), None, "not DataFrame"),
        ({0: Numeric(0, 1)}, None, "feature name 0"),
        ({"": Numeric(0, 1)}, None, "feature name ''"),
        ({"\ud800": Numeric(0, 1)}, None, "Unicode"),
        ({"a": (0, 1)}, None, "feature 'a' must be Numeric.*not tuple"),
        ({"a": Range(0, 1)}, None, "feature 'a'"),
        ({"a": Numeric(0, 1)}, Numeric(0, 1), "target must be Range.*not Numeric"),
        ({"a": Numeric(0, 1)}, ["no", "yes"], "target must be Range.*not list"),
    ],
)
def test_a_schema_refuses_what_it_cannot_use(features: Any, target: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Schema(features, target)


def test_categories_are_texts_and_labels_stay_what_they_are() -> None:
    assert Categorical([2.0, 0.5, True, " x ", np.int64(3)]).categories == (
        "2",
        "0.5",
        "True",
        "x",
        "3",
    )
    target = Classes(np.array([0, 1]))
    assert target.labels == (0, 1)
    assert [type(label) for label in target.labels] == [int, int]
    assert target.names == ("0", "1")


@pytest.mark.parametrize(("low", "high"), [(-1e30, 1e30), (0, 1e31), (0, 1e-31)])
def test_a_range_whose_noise_single_precision_cannot_hold_is_refused(
    low: float, high: float
) -> None:
    with pytest.raises(SchemaError, match=r"between 1e-30 and 1e\+30.*another unit"):
        Range(low, high)


def test_midpoint_of_a_range() -> None:
    assert Range(0, 77).midpoint == 38.5


def test_a_schema_names_its_features_in_order() -> None:
    assert SCHEMA.feature_names == ("age", "job", "grade")
    assert SCHEMA.n_features == 3


def test_a_schema_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        SCHEMA.features["age"] = Numeric(0, 1)  # type: ignore[index]
    with pytest.raises(AttributeError):
        SCHEMA.target = None  # type: ignore[misc]
    with pytest.raises(AttributeError):
        SCHEMA.features["age"].low = 0  # type: ignore[misc, union-attr]


def test_a_schema_does_not_follow_the_mapping_it_was_made_of() -> None:
    features = {"a": Numeric(0, 1)}
    schema = Schema(features)
    features["b"] = Numeric(0, 1)
    assert schema.feature_names == ("a",)


def test_order_of_the_features_is_part_of_a_schema() -> None:
    reordered = Schema(dict(reversed(SCHEMA.features.items())), SCHEMA.target)
    assert reordered != SCHEMA
    assert Schema(dict(SCHEMA.features), SCHEMA.target) == SCHEMA
    assert hash(SCHEMA) == hash(Schema(dict(SCHEMA.features), SCHEMA.target))
    assert SCHEMA != "a schema"


@pytest.mark.parametrize(
    "copied",
    [
        copy.copy,
        copy.deepcopy,
        lambda schema: pickle.loads(pickle.dumps(schema)),
        lambda schema: Schema.from_toml(schema.to_toml()),
        lambda schema: eval(f"Schema({dict(schema.features)!r}, {schema.target!r})"),
    ],
)
def test_copies_of_a_schema_are_equal(copied: Any) -> None:
    plain = Schema({"a": Numeric(0, 1.5, unit="m", step=0.5), "b": Categorical(["x"])}, Range(0, 1))
    assert copied(plain) == plain


@pytest.mark.parametrize("schema", [SCHEMA, Schema({"a": Numeric(0, 1)}, None)])
def test_pickle_and_copies_keep_the_whole_schema(schema: Schema) -> None:
    for again in (copy.deepcopy(schema), pickle.loads(pickle.dumps(schema))):
        assert again == schema
        assert again.features["a" if schema is not SCHEMA else "age"] is not None
        with pytest.raises(TypeError):
            again.features["new"] = Numeric(0, 1)  # type: ignore[index]


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
finite = st.floats(-1e300, 1e300)
bounds = (
    st.tuples(finite, finite)
    .map(sorted)
    .filter(lambda ends: ends[0] < ends[1] and math.isfinite(ends[1] - ends[0]))
)
target_bounds = (
    st.tuples(st.floats(-4e29, 4e29), st.floats(-4e29, 4e29))
    .map(sorted)
    .filter(lambda ends: ends[1] - ends[0] >= 1e-30)
)
numeric = st.builds(
    lambda ends, unit, description, share: Numeric(
        *ends,
        unit=unit,
        description=description,
        step=None
        if share is None or not (ends[1] - ends[0]) * share
        else (ends[1] - ends[0]) * share,
    ),
    bounds,
    texts,
    texts,
    st.none() | st.floats(1e-6, 1),
)


def distinct(kind: Any, minimum: int, **options: Any) -> Any:
    """Return a strategy for objects built from a list of distinct categories or labels."""
    labels = st.lists(texts | st.integers() | st.floats(allow_nan=False) | st.booleans())

    @st.composite
    def build(draw: Any) -> Any:
        kept: list[Any] = []
        for label in draw(labels):
            try:
                Categorical([*kept, label])
            except SchemaError:
                continue
            kept.append(label)
        kept.extend(f"extra {index}" for index in range(minimum - len(kept)))
        return kind(kept, **{name: draw(strategy) for name, strategy in options.items()})

    return build()


categorical = distinct(Categorical, 1, ordered=st.booleans(), description=texts)
targets = st.one_of(
    st.none(),
    st.builds(lambda ends, *words: Range(*ends, *words), target_bounds, texts, texts, texts),
    distinct(Classes, 2, description=texts, name=texts),
)
schemas = st.builds(
    Schema,
    st.dictionaries(texts.filter(bool), numeric | categorical, min_size=1, max_size=3),
    targets,
)


@given(schema=schemas)
def test_toml_round_trip(schema: Schema) -> None:
    again = Schema.from_toml(schema.to_toml())
    assert again == schema
    if isinstance(schema.target, Classes):
        assert isinstance(again.target, Classes)
        assert list(map(type, again.target.labels)) == list(map(type, schema.target.labels))


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_texts_survive_a_toml_file(text: str, tmp_path: Path) -> None:
    schema = Schema(
        {text: Numeric(0, 1, unit=text, description=text), "c": Categorical([text])},
        Classes([text, "other"], name=f"{text}?"),
    )
    schema.to_toml(tmp_path / "schema.toml")
    assert Schema.from_toml(tmp_path / "schema.toml") == schema
    assert Schema.from_toml(str(tmp_path / "schema.toml")) == schema


def test_a_target_that_is_also_a_feature_is_refused() -> None:
    with pytest.raises(SchemaError, match="'age' is the target and a feature, which would predict"):
        Schema({"age": Numeric(17, 90), "pay": Numeric(0, 9)}, Range(17, 90, name="age"))
    assert Schema({"age": Numeric(17, 90)}, Range(17, 90)).target == Range(17, 90)


def test_toml_is_what_a_person_would_write() -> None:
    assert Schema({"age": Numeric(17, 90, unit="years")}, Classes([0, 1])).to_toml() == (
        'format = "dpexplain/schema"\nversion = 1\n\n'
        '[target]\nkind = "classes"\nlabels = [\n    0,\n    1,\n]\n\n'
        '[features.age]\nkind = "numeric"\nlow = 17\nhigh = 90\nunit = "years"\n'
    )


HEAD = 'format = "dpexplain/schema"\nversion = 1\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("format =\n", "not valid TOML"),
        ("\n", "lacks"),
        (HEAD, "lacks .'features'"),
        (HEAD + "features = 1", "'features' must be a table"),
        (HEAD + "[features]", "at least one column"),
        (HEAD + "[features]\na = 1", "feature 'a': kind=None"),
        (HEAD + "[features.a]\nlow = 0\nhigh = 1", "feature 'a': kind=None"),
        (HEAD + "[features.a]\nkind = 'range'\nlow = 0\nhigh = 1", "kind='range' must be one of"),
        (HEAD + "[features.a]\nkind = ['numeric']", "kind="),
        (HEAD + "[features.a]\nkind = 'numeric'\nlow = 0", "feature 'a' lacks .'high'"),
        (
            HEAD + "[features.a]\nkind = 'numeric'\nlow = 0\nhigh = 1\nunits = 'm'",
            "unknown.*'units'",
        ),
        (HEAD + "[features.a]\nkind = 'numeric'\nlow = 2\nhigh = 1", "feature 'a': Numeric: low=2"),
        (HEAD + "[features.a]\nkind = 'numeric'\nlow = nan\nhigh = 1", "finite"),
        (HEAD + "[features.a]\nkind = 'numeric'\nlow = 1979-05-27\nhigh = 1", "finite"),
        (HEAD + "[features.a]\nkind = 'categorical'\ncategories = 'ab'", "list in a fixed order"),
        (HEAD + "[features.a]\nkind = 'categorical'\ncategories = [[1]]", "a string or a number"),
        (HEAD + "extra = 1\n[features.a]\nkind = 'numeric'\nlow = 0\nhigh = 1", "'extra'"),
        (HEAD.replace("1", "2") + "[features.a]\nkind='numeric'\nlow = 0\nhigh = 1", "version=2"),
        ("format = 'x'\nversion = 1\nfeatures = {}", "format='x'"),
        (HEAD + "target = 3\n[features.a]\nkind = 'numeric'\nlow = 0\nhigh = 1", "the target"),
    ],
)
def test_toml_that_is_no_schema_is_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Schema.from_toml(text)


class _Collector(HTMLParser):
    """Collects what a browser would make of a text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_texts_are_escaped_in_html(text: str) -> None:
    schema = Schema(
        {
            text: Numeric(0, 1, unit=text, description=text),
            "b": Categorical([text, "other"], ordered=True, description=text),
        },
        Classes([text, "other"], name=f"{text}?", description=text),
    )
    html = schema._repr_html_()
    page = _Collector()
    page.feed(html)
    assert page.tags == {"table", "thead", "tbody", "tr", "th", "td", "bdi"}
    assert page.attributes == {"class", "scope", "style"}
    assert len(html) < 20_000
    assert not any(character in html for character in "\x00\x1b")
    if text.isprintable() and len(text) < 300:
        assert text in page.text


def test_html_shows_bounds_units_and_categories() -> None:
    page = _Collector()
    page.feed(SCHEMA._repr_html_())
    for shown in ("17 to 90, step 1", "years", "poor < good", "a, b", "churn (target)", "no, yes"):
        assert shown in page.text


def test_repr_is_short() -> None:
    wide = Schema({f"feature {index}": Numeric(0, 1) for index in range(500)})
    assert len(repr(wide)) < 200
    assert "… 494 more" in repr(wide)


FRAME = pd.DataFrame(
    {
        "age": [18, 44, 89],
        "income": [0.123, 7.7, np.nan],
        "job": ["b", None, "a"],
        "smoker": [True, False, True],
        "grade": pd.Categorical(["low", "high", "low"], ["low", "high", "top"], ordered=True),
        "code": ["1", "2", " 3"],
        "mixed": ["1", "x", 2],
        "empty": [None, None, None],
        "constant": [4, 4, 4],
    }
)


def test_from_frame_warns_that_it_reads_the_data() -> None:
    with pytest.warns(PrivacyWarning, match="public data only") as caught:
        Schema.from_frame(FRAME)
    assert caught[0].filename == __file__


def test_observed_schema_leaves_a_target_that_is_a_column_without_a_name() -> None:
    table = pd.DataFrame({"age": [20.0, 30.0], "pay": [1.0, 2.0]})
    observed = observed_schema(table, table["age"], Range)  # a fit without a schema is charged here
    assert observed.target is not None
    assert observed.target.name == ""


def test_observed_schema_covers_the_data_without_a_word() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schema = Schema._observed(FRAME, pd.Series(["yes", "no", "yes"], name="churn"))
    assert schema == Schema(
        {
            "age": Numeric(18, 89, step=1),
            "income": Numeric(0.1, 7.7),
            "job": Categorical(["a", "b"]),
            "smoker": Categorical(["False", "True"]),
            "grade": Categorical(["low", "high", "top"], ordered=True),
            "code": Numeric(1, 3, step=1),
            "mixed": Categorical(["1", "2", "x"]),
            "empty": Numeric(0, 1),
            "constant": Numeric(0, 8, step=1),
        },
        Classes(["no", "yes"], name="churn"),
    )


def test_a_schema_that_was_read_from_records_says_so_wherever_it_goes() -> None:
    declared = Schema({"age": Numeric(17, 90)}, target=Classes(["no", "yes"]))
    read = dataclasses.replace(declared, read_from_records=True)
    assert read != declared
    for again in (copy.deepcopy(read), pickle.loads(pickle.dumps(read))):
        assert again == read
    assert Schema.from_toml(read.to_toml()) == read
    assert "read_from_records" not in declared.to_toml()
    assert repr(read).endswith("read_from_records=True)")
    assert "NOT PRIVATE" in read._repr_html_()
    assert "NOT PRIVATE" not in declared._repr_html_()
    with pytest.raises(SchemaError, match="read_from_records must be True or False"):
        dataclasses.replace(declared, read_from_records="no")


@pytest.mark.parametrize(
    ("y", "task", "expected"),
    [
        ([0, 1, 1], "auto", Classes([0, 1])),
        ([0, 1, 2], "auto", Range(0, 2)),
        ([0, 1, 2], "classification", Classes([0, 1, 2])),
        ([0, 1, 1], "regression", Range(0, 1)),
        ([False, True, None], "auto", Classes([False, True])),
        ([2.5, 10.0, 3.0], "auto", Range(2.5, 10)),
        (["b", "a", "b"], "auto", Classes(["a", "b"])),
        (["b", 1, 2], "classification", Classes(["1", "2", "b"])),
        (None, "auto", None),
    ],
)
def test_observed_target_follows_the_task(y: Any, task: Any, expected: Any) -> None:
    target = Schema._observed(np.zeros((3, 1)), y, task=task).target
    assert target == expected
    if isinstance(expected, Classes):
        assert isinstance(target, Classes)
        assert list(map(type, target.labels)) == list(map(type, expected.labels))


def test_columns_of_an_array_are_numbered() -> None:
    assert Schema._observed(np.zeros((3, 2))).feature_names == ("feature_0", "feature_1")


def test_unknown_task_is_refused() -> None:
    with pytest.raises(ValueError, match="task='rank'"):
        Schema._observed(np.zeros((3, 2)), task="rank")  # type: ignore[arg-type]


@given(values=st.lists(st.floats(), max_size=6))
@example(values=[0.0, 5e-324])
@example(values=[1e308])
@example(values=[1.0, 1.0 + 2**-52])
def test_observed_bounds_contain_every_finite_value(values: list[float]) -> None:
    feature = Schema._observed(np.array(values, dtype=float).reshape(-1, 1)).features["feature_0"]
    assert isinstance(feature, Numeric)
    finite_values = [value for value in values if math.isfinite(value) and abs(value) <= 1e300]
    assert all(feature.low <= value <= feature.high for value in finite_values)


@pytest.mark.parametrize("values", [[0, 1e-35], [1e-32, 2e-32], [3e-40, 3e-40], [1e29, 4e29]])
def test_a_drafted_range_is_never_too_narrow(values):
    target = Schema._observed(np.zeros((2, 1)), values, task="regression").target
    assert target.low <= min(values) <= max(values) <= target.high


@pytest.mark.parametrize("values", [[0, 1e31], [1e35, 2e35], [-1e301, 1e301], [-1e308, -1e307]])
def test_a_drafted_range_that_would_be_too_wide_is_clipped_with_a_warning(values):
    with pytest.warns(UserWarning, match="clipped to -4e\\+29 to 4e\\+29; divide the target"):
        target = Schema._observed(np.zeros((2, 1)), values, task="regression").target
    assert target.low <= np.clip(min(values), -4e29, 4e29) <= target.high


@pytest.mark.parametrize("field", ["version = 1", "high = 1"])
def test_a_number_too_long_to_write_out_is_refused_in_words(field):
    text = Schema({"a": Numeric(0, 1)}, target=Range(0, 1)).to_toml()
    endless = text.replace(field, field.split("=")[0] + "= 0x" + "f" * 4500)
    assert endless != text
    with pytest.raises(SchemaError, match="more than 1,024 bits"):
        Schema.from_toml(endless)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("save", "'save'; schema.to_toml.* Schema.from_toml"),
        ("load", "'load'; schema.to_toml.* Schema.from_toml"),
        ("nosuch", "has no attribute 'nosuch'"),
    ],
)
def test_a_method_for_files_that_a_schema_lacks_is_answered_with_the_one_it_has(name, words):
    for owner in (SCHEMA, Schema):
        with pytest.raises(AttributeError, match=words):
            getattr(owner, name)
    assert copy.copy(SCHEMA) == pickle.loads(pickle.dumps(SCHEMA)) == SCHEMA
