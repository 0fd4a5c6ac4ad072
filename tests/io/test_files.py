"""Files appear complete or not at all."""

from __future__ import annotations

import os
import stat
import sys

import pandas as pd
import pytest

from dpexplain import Comparison, DPExplainableBoostingClassifier, PrivacyLedger, io
from example_explanations import classifier, reference, samples


def test_saved_explanation_loads_as_it_was(tmp_path):
    path = io.save(classifier(), tmp_path / "model.json")
    assert io.load(path) == classifier()
    assert io.load(str(path)) == classifier()


def test_file_ends_with_a_line_and_is_plain_ascii(tmp_path):
    raw = io.save(samples(), tmp_path / "samples.json").read_bytes()
    assert raw.endswith(b"}\n")
    assert raw.isascii()


def test_non_private_object_says_so_in_its_file(tmp_path):
    path = io.save(reference(), tmp_path / "reference.json")
    assert '"private": false' in path.read_text()
    assert not io.load(path).guarantee.private


def test_file_of_a_comparison_tells_whether_it_may_leave(tmp_path):
    fits = {"epsilons": (0.5,), "explanations": {0.5: (classifier(),)}}
    ledger = PrivacyLedger("files").summary()
    rows = [(0.5, 0, "AUROC", 0.8125, False)]
    metrics = pd.DataFrame(rows, columns=["epsilon", "repeat", "metric", "value", "private"])
    extras = [{}, {"metrics": metrics}, {"reference": reference()}]
    paths = [
        io.save(Comparison(**fits, ledger=ledger, **extra), tmp_path / f"{i}.json")
        for i, extra in enumerate(extras)
    ]

    assert [io.load(path).private for path in paths] == [True, False, False]
    assert "0.8125" in paths[1].read_text()  # what was measured on records is in the file


def test_file_of_samples_holds_their_bins_and_tells_whether_it_may_leave(tmp_path):
    path = io.save(samples(), tmp_path / "inside.json")

    assert "17 - 29" in path.read_text()
    assert not io.load(path).releasable
    public = io.save(samples(samples_public=True), tmp_path / "public.json")
    assert io.load(public).releasable


def test_package_says_what_a_file_holds_and_when_it_may_leave():
    words = io.__doc__
    for name in ("guarantee.private", "comparison.private", "explanation.releasable"):
        assert f"``{name}``" in words
    assert "released numbers only" not in words


def test_failing_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = io.save(classifier(), tmp_path / "model.json")

    def fail(*args):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        io.save(classifier(intercept=9.0), path)
    assert io.load(path) == classifier()
    assert os.listdir(tmp_path) == ["model.json"]


def test_a_model_is_refused_with_what_to_save_instead(tmp_path):
    with pytest.raises(TypeError, match=r"pass model.explain_global\(\), which can predict"):
        io.save(DPExplainableBoostingClassifier(), tmp_path / "model.json")
    assert not os.listdir(tmp_path)


def test_object_that_cannot_be_written_leaves_no_file(tmp_path):
    with pytest.raises(TypeError, match="cannot write a dict"):
        io.save({}, tmp_path / "model.json")
    assert not os.listdir(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are POSIX")
def test_replaced_file_keeps_its_permissions(tmp_path):
    path = io.save(classifier(), tmp_path / "model.json")
    path.chmod(0o640)
    io.save(classifier(intercept=9.0), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_large_file_is_refused_before_it_is_read_whole(tmp_path):
    path = io.save(classifier(), tmp_path / "model.json")
    with pytest.raises(ValueError, match="limit of 50"):
        io.load(path, max_bytes=50)


@pytest.mark.parametrize("raw", [b"\xff\xfe", b"PK\x03\x04", b"", b"\x80\x04\x95"])
def test_file_of_another_kind_is_refused(tmp_path, raw):
    path = tmp_path / "model.json"
    path.write_bytes(raw)
    with pytest.raises(ValueError, match=r"not UTF-8|not JSON") as raised:
        io.load(path)
    assert str(raised.value).startswith(f"cannot load {str(path)!r}: not ")
    assert str(raised.value).endswith(". Pass a JSON file that io.save or `dpexplain fit` wrote.")


def test_json_of_another_kind_is_refused_by_name(tmp_path):
    path = tmp_path / "model.json"
    path.write_text("{}")
    with pytest.raises(ValueError, match=r"model\.json'?: not a dpexplain document: .* io\.save"):
        io.load(path)


def test_a_ledger_is_refused_with_what_opens_it(tmp_path):
    PrivacyLedger("stays", path=tmp_path / "stays.ledger.json")
    with pytest.raises(ValueError, match=r"a privacy ledger, which PrivacyLedger\.open\(path\)"):
        io.load(tmp_path / "stays.ledger.json")


def test_missing_file_and_folder_are_reported_as_such(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.json"):
        io.load(tmp_path / "none.json")
    path = tmp_path / "none" / "model.json"
    with pytest.raises(FileNotFoundError) as raised:
        io.save(classifier(), path)
    assert str(raised.value).startswith(
        f"cannot save to {str(path)!r}: the folder {str(path.parent)!r} does not exist; create it"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="messages of the system are POSIX")
def test_errors_of_the_system_name_the_file_that_was_asked_for(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(IsADirectoryError) as raised:
        io.save(classifier(), tmp_path / "folder")
    assert str(raised.value).endswith(f"Is a directory: {str(tmp_path / 'folder')!r}")
    with pytest.raises(NotADirectoryError) as raised:
        io.save(classifier(), tmp_path / "file" / "model.json")
    assert raised.value.filename == str(tmp_path / "file" / "model.json")
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


def test_path_before_the_object_is_answered_with_the_right_order(tmp_path):
    path = tmp_path / "model.json"
    for name in (path, str(path)):
        with pytest.raises(TypeError) as raised:
            io.save(name, classifier())
        assert "arguments are (object, path): io.save(obj, " + repr(str(path)) in str(raised.value)
    with pytest.raises(TypeError, match="cannot write a str"):
        io.save("model", path)
