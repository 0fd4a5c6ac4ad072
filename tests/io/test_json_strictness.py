"""Files that cannot be trusted are refused with a ValueError that says where and why."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain import Comparison, PrivacyLedger
from dpexplain.io import from_json, to_json
from example_explanations import age, classifier, job, private_guarantee, samples


def comparison():
    return Comparison(
        (0.5, 1.0),
        {0.5: (classifier(),), 1.0: (classifier(),)},
        ledger=PrivacyLedger("strict").summary(),
    )


EXAMPLES = {
    "guarantee": private_guarantee(),
    "numeric": age(),
    "categorical": job(),
    "global": classifier(),
    "local": samples(),
    "ledger": PrivacyLedger("strict").summary(),
    "comparison": comparison(),
}


def changed(obj, *path_and_value):
    """Write `obj` with one entry of its content replaced."""
    *path, last, value = path_and_value
    document = json.loads(to_json(obj))
    place = document["content"]
    for key in path:
        place = place[key]
    place[last] = value
    return json.dumps(document)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("[1, 2", "not JSON"),
        ("[]", "no 'format'"),
        ('{"version": 1}', "no 'format'"),
        ('{"format": "csv"}', "unknown format 'csv'"),
        ('{"format": "dpexplain/model", "version": 1, "content": {}}', "unknown format"),
        ('{"format": "guarantee", "version": 1, "content": {}}', "unknown format"),
        ('{"format": "dpexplain/global", "version": 2, "content": {}}', "version 2"),
        ('{"format": "dpexplain/global", "version": true, "content": {}}', "version True"),
        ('{"format": "dpexplain/global", "version": "1", "content": {}}', "version 1"),
        ('{"format": "dpexplain/global", "content": {}}', "version None"),
        ('{"format": "dpexplain/global", "version": 1}', "format, version and content only"),
        (
            '{"format": "dpexplain/global", "version": 1, "content": {}, "x": 1}',
            "format, version and content only",
        ),
        ('{"format": "dpexplain/global", "version": 1, "content": []}', "must be a JSON object"),
        ('{"format": "dpexplain/global", "format": "dpexplain/local"}', "repeats a field"),
        ('{"format": NaN}', "NaN"),
        ("[" * 100_000, "nested too deeply"),
        ("1" * 5_000, "5000 digits"),
    ],
)
def test_what_is_no_document_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        from_json(text)


def test_bytes_are_no_text():
    with pytest.raises(ValueError, match="JSON text, got bytes"):
        from_json(b"{}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (changed(age(), "contribution", [0.0]), "contribution has shape"),
        (changed(age(), "contribution", 0, None), r"content.contribution\[0\] must be a finite"),
        (changed(age(), "contribution", 0, "nan"), "finite number, got a string"),
        (changed(age(), "contribution", 0, "1.0"), "finite number, got a string"),
        (changed(age(), "contribution", 0, True), "finite number, got true or false"),
        (changed(age(), "contribution", 0, 10**400), "401 digits"),
        (changed(age(), "contribution", 0, 2**53 + 1), "too large"),
        (changed(age(), "contribution", [[0.0] * 4]), "finite number, got a list"),
        (changed(age(), "contribution", {}), "must be a list"),
        (changed(age(), "bin_edges", [3, 2, 1, 0]), "increasing"),
        (changed(age(), "noise_std", [-1, 0, 0, 0]), "negative"),
        (changed(age(), "kind", "image"), "kind"),
        (changed(age(), "name", 3), "content.name must be a string"),
        (changed(age(), "ordered", 1), "true or false"),
        (changed(age(), "colour", "red"), "unknown fields: 'colour'"),
        (changed(age(), "guarantee", "private", "yes"), "content.guarantee.private"),
        (changed(age(), "guarantee", "epsilon", -1), "epsilon"),
        (changed(age(), "guarantee", "epsilon", "inf"), "contradicts"),
        (changed(age(), "guarantee", "epsilon", "nan"), "epsilon"),
        (changed(job(), "categories", ["a", "a"]), "distinct"),
        (changed(classifier(), "terms", []), "one or more"),
        (changed(classifier(), "terms", 1, "name", "age"), "distinct"),
        (changed(classifier(), "terms", 1, "count", 2, "x"), r"content.terms\[1\].count\[2\]"),
        (changed(classifier(), "classes", ["a"]), "two class names"),
        (changed(classifier(), "intercept", "nan"), "content.intercept"),
        (changed(samples(), "bin_labels", []), "bin_labels"),
        (changed(samples(), "contributions", [[1.0], [1.0, 2.0]]), "contributions"),
        (changed(comparison(), "fits", []), "at least one"),
        (changed(comparison(), "fits", 0, "epsilon", 1.0), "repeats an epsilon"),
        (changed(comparison(), "fits", 0, "epsilon", 2.0), "ascending"),
        (changed(comparison(), "fits", 0, "repeats", []), "at least one fit"),
        (changed(comparison(), "metrics", [{"epsilon": 1}]), "content.metrics"),
        (changed(comparison(), "ledger", {}), "LedgerSummary"),
        (changed(comparison(), "ledger", "delta", 2), "delta"),
    ],
)
def test_wrong_content_is_refused_and_located(text, message):
    with pytest.raises(ValueError, match=message):
        from_json(text)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_every_field_is_needed_and_no_other_is_taken(kind):
    document = json.loads(to_json(EXAMPLES[kind]))
    for name in document["content"]:
        content = {key: value for key, value in document["content"].items() if key != name}
        with pytest.raises(ValueError, match=r"missing|fields"):
            from_json(json.dumps({**document, "content": content}))
    with pytest.raises(ValueError, match=r"unknown|fields"):
        from_json(json.dumps({**document, "content": {**document["content"], "extra": 1}}))


def test_number_that_overflows_a_float_is_refused():
    text = to_json(classifier()).replace("-0.75", "1e999")
    with pytest.raises(ValueError, match="too large for a float"):
        from_json(text)


def test_long_text_is_refused_before_it_is_parsed():
    text = to_json(classifier())
    with pytest.raises(ValueError, match="more than the limit of 100"):
        from_json(text, max_bytes=100)
    assert from_json(text, max_bytes=len(text)) == classifier()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)


@given(st.sampled_from(sorted(EXAMPLES)), st.data())
def test_damaged_document_is_read_or_refused_with_a_value_error(kind, data):
    document = json.loads(to_json(EXAMPLES[kind]))
    place, key = document, "content"
    for _ in range(data.draw(st.integers(0, 6))):
        inner = place[key]
        if not isinstance(inner, (dict, list)) or not inner:
            break
        keys = sorted(inner) if isinstance(inner, dict) else range(len(inner))
        place, key = inner, data.draw(st.sampled_from(keys))
    place[key] = data.draw(json_values)
    text = json.dumps(document)
    try:
        again = from_json(text)
    except ValueError:
        return
    assert from_json(to_json(again)) == again
