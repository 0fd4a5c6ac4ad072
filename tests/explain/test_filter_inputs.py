"""An explanation reads each cell of a record on its own, as the model does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from dpexplain import Categorical, Classes, Numeric, Schema
from dpexplain.explain import InputFeature, InputPreparation
from dpexplain.tables.encoding import encode_features
from example_filters import filter_bank, table_preparation

SCHEMA = Schema(
    {"age": Numeric(17, 90), "job": Categorical(["nurse", "clerk", "cook"])},
    target=Classes(["no", "yes"]),
)
cells = st.one_of(
    st.none(),
    st.integers(-200, 200),
    st.floats(),
    st.booleans(),
    st.sampled_from(["17", "nurse", " clerk ", "cook", "nobody", "", "nan", "30.5", "NA"]),
    st.just([1, 2]),
)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=6))
def test_records_are_read_as_the_model_reads_them(rows):
    table = pd.DataFrame({"age": [a for a, _ in rows], "job": [b for _, b in rows]}, dtype=object)
    preparation = table_preparation()
    expected = preparation.of_columns(encode_features(table, SCHEMA))
    for given_as in (table, table[["job", "age"]], table.infer_objects()):
        np.testing.assert_array_equal(preparation.inputs(given_as), expected)
    assert np.isfinite(expected).all()
    assert np.abs(expected).max() <= 1.0
    for place in range(len(rows)):
        alone = preparation.inputs(table.iloc[[place]])
        np.testing.assert_array_equal(alone[0], expected[place])


def test_inputs_of_a_table():
    table = pd.DataFrame({"age": [90, 17, None, "x"], "job": ["cook", "nurse", "pilot", None]})
    expected = [[1, 0, 0, 1], [-1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    np.testing.assert_array_equal(table_preparation().inputs(table), expected)
    assert table_preparation().input_names == ("age", "job=nurse", "job=clerk", "job=cook")


@given(
    st.lists(
        st.lists(st.one_of(st.floats(), st.none()), min_size=6, max_size=6), min_size=1, max_size=4
    )
)
@example([[0.0, None, None, None, 0.0, 7.942924351173344e-160]])  # its squares underflow
@example([[0.0, 0.0, 0.0, 0.0, 0.0, 5e-324]])  # the smallest number there is
@example([[25.5] * 6])  # the mean rounds, and what is left is no picture
@example([[255.0] * 5 + [np.nextafter(255.0, 0.0)]])  # even but for the last bit
def test_pictures_are_centered_and_of_unit_norm_each_by_itself(rows):
    pixels = tuple(InputFeature(f"pixel {i}", low=0, high=255, spread=255) for i in range(6))
    preparation = InputPreparation(pixels, per_record="centred_unit_norm", scale=340.0)
    inputs = preparation.inputs(rows)
    np.testing.assert_allclose(inputs.mean(axis=1), 0, atol=1e-9)
    norms = np.sqrt((inputs**2).sum(axis=1))
    assert np.all(np.isclose(norms, 340.0) | (norms == 0.0))
    for place, row in enumerate(rows):
        np.testing.assert_array_equal(preparation.inputs([row])[0], inputs[place])


@pytest.mark.parametrize("level", [0.5, 0.1, 1e-160, 5e-324])
def test_uniform_picture_is_the_baseline(level):
    pixels = tuple(InputFeature(f"pixel {i}", low=0, high=1) for i in range(6))
    preparation = InputPreparation(pixels, per_record="centred_unit_norm")
    np.testing.assert_array_equal(preparation.inputs([[level] * 6]), np.zeros((1, 6)))


@given(st.lists(st.floats(0, 1, width=32), min_size=4, max_size=4), st.integers(-1000, 0))
@example([1.0, 0.25, 0.0, 0.0], -1000)
def test_a_picture_is_the_same_however_dark(levels, power):
    """Scaling by powers of two changes no digit while non-zero values stay normal numbers."""
    assume(all(level == 0 or level * 2.0**power >= 2.0**-1022 for level in levels))
    pixels = tuple(InputFeature(f"pixel {i}", low=0, high=1) for i in range(4))
    inputs = InputPreparation(pixels, per_record="centred_unit_norm").inputs
    dark = [level * 2.0**power for level in levels]
    np.testing.assert_allclose(inputs([dark]), inputs([levels]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n_rows", [3, 64, 1000])
def test_a_picture_has_the_same_bits_in_any_company(n_rows):
    rng = np.random.default_rng(0)
    pixels = tuple(InputFeature(f"pixel {i}", low=0, high=255, spread=255) for i in range(784))
    preparation = InputPreparation(pixels, per_record="centred_unit_norm", scale=340.0)
    rows = rng.uniform(0, 255, (n_rows, 784))
    together = preparation.inputs(rows)
    for place in (0, n_rows // 2, n_rows - 1):
        np.testing.assert_array_equal(preparation.inputs(rows[[place]])[0], together[place])


def test_wrong_columns_are_named_and_no_value_is():
    with pytest.raises(ValueError, match=r"lacks the column 'job'") as lacking:
        table_preparation().inputs(pd.DataFrame({"age": [123456]}))
    with pytest.raises(ValueError, match=r"expected \(n_samples, 2\)") as narrow:
        table_preparation().inputs([[123456]])
    assert "123456" not in str(lacking.value) + str(narrow.value)


def test_bank_reads_records_only_if_it_knows_how():
    bank = filter_bank()
    np.testing.assert_array_equal(bank.inputs([[17, "nurse"]]), [[-1, 1, 0, 0]])
    with pytest.raises(ValueError, match="no preparation"):
        filter_bank(preparation=None).inputs([[17, "nurse"]])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: InputFeature("a", low=1, high=0), "low <= high"),
        (lambda: InputFeature("a", spread=0), "positive spread"),
        (lambda: InputFeature("a", spread=5e-324), "size"),
        (lambda: InputFeature("a", low=-1e300), "size"),
        (lambda: InputFeature("a", ()), "at least one"),
        (lambda: InputFeature("a", ("x", "x")), "distinct"),
        (lambda: InputPreparation(()), "one or more"),
        (lambda: InputPreparation((InputFeature("a"), InputFeature("a"))), "distinct"),
        (lambda: InputPreparation((InputFeature("a=b"), InputFeature("a", ("b",)))), "distinct"),
        (lambda: InputPreparation((InputFeature("a"),), scale=-1), "scale"),
        (lambda: InputPreparation((InputFeature("a"),), scale=1e300), "scale"),
        (lambda: InputPreparation((InputFeature("a"),), per_record="standard"), "per_record"),
    ],
)
def test_preparation_that_contradicts_itself_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()
