"""The command ``dpexplain`` on small CSV files: results, statuses, and what it never shows."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dpexplain
from dpexplain import Categorical, Classes, Numeric, PrivacyLedger, Range, Schema
from dpexplain.cli import main
from dpexplain.exceptions import PrivacyWarning

SCHEMA = Schema(
    {"age": Numeric(17, 90, unit="years", step=1), "job": Categorical(["a", "b"])},
    target=Classes(["no", "yes"], name="income"),
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with a private table of 400 records and its schema."""
    rng = np.random.default_rng(0)
    age = rng.integers(17, 91, 400)
    frame = pd.DataFrame(
        {
            "id": np.arange(400),
            "age": age,
            "job": rng.choice(["a", "b"], 400),
            "income": np.where(age + rng.normal(0, 10, 400) > 50, "yes", "no"),
        }
    )
    frame.to_csv(tmp_path / "data.csv", index=False)
    SCHEMA.to_toml(tmp_path / "schema.toml")
    monkeypatch.chdir(tmp_path)
    return tmp_path


FIT = ["fit", "data.csv", "--target", "income", "--schema", "schema.toml", "--epsilon", "1"]
SWEEP = ["sweep", *FIT[1:-1], "0.5", "1"]


def test_fit_saves_an_explanation_and_charges_the_ledger_beside_the_table(folder, capsys):
    assert main([*FIT, "--out", "model.json"]) == 0
    explanation = dpexplain.io.load("model.json")
    assert explanation.guarantee.private
    assert explanation.guarantee.epsilon == 1.0
    ledger = PrivacyLedger.open("data.ledger.json")
    assert ledger.dataset == "data"
    assert ledger.private_epsilon() == pytest.approx(1.0, rel=1e-3)
    printed = capsys.readouterr()
    assert "differential privacy for one record" in printed.out
    assert "age" in printed.out
    assert "are ignored: id" in printed.err


def test_a_fit_with_a_schema_that_was_read_from_records_says_so_in_every_line(folder, capsys):
    replace(SCHEMA, read_from_records=True).to_toml("schema.toml")
    assert main([*FIT, "--out", "model.json"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("NOT PRIVATE")
    assert "health: NOT PRIVATE: " in printed
    assert "otherwise. Entries that are not private make the total infinite" in printed
    assert PrivacyLedger.open("data.ledger.json").releases == ()


@pytest.mark.full
def test_fit_prints_the_health_of_every_model(folder, capsys):
    frame = pd.read_csv("data.csv")
    frame["job"] = "unknown"
    pd.concat([frame] * 50).to_csv("data.csv", index=False)
    assert main([*FIT, "--out", "model.json"]) == 0
    printed = capsys.readouterr().out
    assert "health: 1 alarm" in printed
    assert "- about 100% of job is not in the declared categories" in printed
    assert main([*FIT, "--model", "linear", "--out", "linear.json"]) == 0
    printed = capsys.readouterr().out
    assert "\nhealth: 1 alarm\n- about 100% of job is not in" in printed
    assert main([*FIT, "--model", "dpboost", "--out", "dpboost.json"]) == 0
    assert "\nhealth: no check\n- nothing can be checked" in capsys.readouterr().out


def test_a_second_fit_adds_to_the_same_ledger(folder, capsys):
    for name in ("first.json", "second.json"):
        assert main([*FIT, "--out", name, "--quiet"]) == 0
    assert PrivacyLedger.open("data.ledger.json").private_epsilon() > 1.2
    assert capsys.readouterr().out == ""


def test_a_warning_is_printed_once(folder, capsys):
    assert main([*FIT, "--epsilon", "12", "--out", "model.json"]) == 0
    assert capsys.readouterr().err.count("epsilon=12 is a weak guarantee") == 1


def test_what_the_cap_does_not_allow_is_refused_with_a_status_of_its_own(folder, capsys):
    assert main([*FIT, "--out", "model.json", "--cap-epsilon", "0.5"]) == 3
    assert PrivacyLedger.open("data.ledger.json").entries == ()
    assert not (folder / "model.json").exists()
    assert "0.5" in capsys.readouterr().err
    assert main([*FIT, "--out", "model.json", "--cap-epsilon", "3"]) == 2
    assert "created with 0.5; omit" in (printed := capsys.readouterr().err)
    assert "Nothing has been charged to it: if you set its limits by mistake" in printed


@pytest.mark.parametrize("setting", ["max_rows_per_person=3", "reproducible_seed=3"])
def test_a_refused_command_leaves_no_new_ledger_without_a_cap(folder, capsys, setting):
    assert main([*FIT, "--out", "model.json", "--set", setting]) == 2
    assert setting.split("=")[0] in capsys.readouterr().err.replace("-", "_")
    assert not list(folder.glob("*.ledger.json"))


def test_a_refused_command_keeps_a_ledger_that_was_there(folder):
    PrivacyLedger("data", path="data.ledger.json")
    assert main([*FIT, "--out", "model.json", "--set", "max_rows_per_person=3"]) == 2
    assert PrivacyLedger.open("data.ledger.json").entries == ()


def test_fit_and_check_refuse_a_target_that_the_schema_does_not_predict(folder, capsys):
    check = ["schema", "check", *FIT[1:6], "--target", "age"]
    Schema({"job": Categorical(["a", "b"])}, target=SCHEMA.target).to_toml("schema.toml")
    for command in ([*FIT, "--target", "age", "--out", "m.json"], check):
        assert main(command) == 2
        assert "schema.toml predicts the column 'income' of this table; pass --target income" in (
            capsys.readouterr().err
        )


def test_a_ledger_without_a_cap_says_how_to_set_one(folder, capsys):
    assert main([*FIT, "--out", "model.json"]) == 0
    assert "PrivacyLedger.open('data.ledger.json').lower_cap(EPSILON)" in capsys.readouterr().err
    assert main([*FIT, "--out", "other.json", "--cap-epsilon", "3"]) == 2
    assert "PrivacyLedger.open('data.ledger.json').lower_cap(3.0)" in capsys.readouterr().err
    PrivacyLedger.open("data.ledger.json").lower_cap(3.0)
    assert main([*FIT, "--out", "other.json", "--cap-epsilon", "3"]) == 0


def test_other_limits_than_those_of_the_ledger_are_refused(folder, capsys):
    assert main([*FIT, "--out", "model.json", "--cap-epsilon", "3"]) == 0
    assert main([*FIT, "--out", "other.json", "--cap-epsilon", "9"]) == 2
    assert "was created with 3.0" in (printed := capsys.readouterr().err)
    assert "Nothing has been charged" not in printed
    assert len({e.label for e in PrivacyLedger.open("data.ledger.json").entries}) == 1


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--out", "model.txt"], "must end in .json"),
        (["--out", "nowhere/model.json"], "folder does not exist"),
        (["--out", "m.json", "--epsilon", "-1"], "epsilon=-1.0 must be"),
        (["--out", "m.json", "--set", "trees=4"], "has no parameter 'trees'; it has"),
        (["--out", "m.json", "--set", "interactions=2"], "boosting models have pairs='auto'"),
        (["--out", "m.json", "--set", "max_bin=4"], "did you mean 'max_bins'?"),
        (["--out", "m.json", "--set", "max_rounds=many"], "max_rounds='many'"),
        (["--out", "m.json", "--set", "calibrated=False"], "the value is not TOML; write true or"),
        (["--out", "m.json", "--set", "pairs=[age]"], "the value is not TOML"),
        (["--out", "m.json", "--set", "epsilon=4"], "use the option"),
        (["--out", "m.json", "--target", "incme"], "did you mean 'income'?"),
        (["--out", "m.json", "--schema", "other.toml"], "no such file"),
        (["--out", "m.json", "--schema", "data.csv"], "schema from-dictionary` writes it from a"),
        (["--out", "m.json", "--schema", "wide.toml"], "lacks the column 'height'; the schema"),
        (["--out", "m.json", "--schema", "none.toml"], "lacks the column 'height'; the schema"),
    ],
)
def test_wrong_input_is_refused_before_a_ledger_is_begun(folder, capsys, more, message):
    height = {"height": Numeric(0, 250)}
    Schema({**SCHEMA.features, **height}, target=SCHEMA.target).to_toml("wide.toml")
    Schema(height, target=SCHEMA.target).to_toml("none.toml")
    assert main([*FIT, *more]) == 2
    assert message in capsys.readouterr().err
    assert not (folder / "data.ledger.json").exists()
    assert not list(folder.glob("m*.json"))


def test_a_spreadsheet_is_refused_with_what_to_do(folder, capsys):
    (folder / "data.csv").rename("data.xlsx")
    assert main([FIT[0], "data.xlsx", *FIT[2:], "--out", "m.json"]) == 2
    assert "save the sheet as CSV (UTF-8)." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("target", "message"),
    [("age", "has it as a feature, and 'income' as what is"), ("id", "pass --target income")],
)
def test_another_target_than_that_of_the_schema_is_refused(folder, capsys, target, message):
    assert main([*FIT, "--out", "m.json", "--target", target]) == 2
    assert message in capsys.readouterr().err
    assert not list(folder.glob("*.ledger.json"))


def test_a_new_ledger_without_a_cap_says_so_and_takes_none_later(folder, capsys):
    assert main([*FIT, "--out", "m.json"]) == 0
    assert "has no cap and will refuse nothing" in capsys.readouterr().err
    assert main([*FIT, "--out", "other.json", "--cap-epsilon", "5"]) == 2
    printed = capsys.readouterr().err
    assert "was created without a cap" in printed
    assert "begins" not in printed


def test_a_new_ledger_names_the_others_in_its_folder_that_it_does_not_count(folder, capsys):
    (folder / "data.csv").rename("next.csv")
    for name in ("a", "b", "c d", "e"):
        (folder / f"{name}.ledger.json").touch()
    assert main([FIT[0], "next.csv", *FIT[2:], "--out", "m.json", "--cap-epsilon", "3"]) == 0
    printed = capsys.readouterr().err
    assert "does not count the fits in a.ledger.json, b.ledger.json, c d.ledger.json" in printed
    assert "and 1 more, next to it" in printed
    assert "--ledger a.ledger.json" in printed
    assert main([FIT[0], "next.csv", *FIT[2:], "--out", "n.json"]) == 0
    assert "does not count" not in capsys.readouterr().err


def test_a_ledger_that_was_chosen_or_is_alone_names_no_others(folder, capsys):
    assert main([*FIT, "--out", "m.json"]) == 0
    assert main([*FIT, "--out", "n.json", "--ledger", "chosen.ledger.json"]) == 0
    assert "does not count" not in capsys.readouterr().err


def test_a_ledger_that_is_not_there_is_wrong_input(folder, capsys):
    assert main(["ledger", "nowhere.ledger.json"]) == 2
    assert "no such file" in capsys.readouterr().err


def _draft(name):
    with pytest.warns(PrivacyWarning, match="it is a draft"):
        return Schema.from_toml(name)


def test_a_draft_keeps_identifiers_out_and_lists_what_to_decide(folder, capsys):
    frame = pd.read_csv("data.csv").assign(code=[f"P{number}" for number in range(400)])
    frame.to_csv("public.csv", index=False)
    draft = ["schema", "draft", "public.csv", "--target", "income", "--out", "d.toml"]
    assert main(draft) == 0
    printed = capsys.readouterr()
    assert "- 'code': 400 different values; treated as an ID, not as a feature." in printed.out
    assert "NOT PRIVATE" in printed.out
    assert "P399" not in (folder / "d.toml").read_text()
    assert _draft("d.toml").id == ("id", "code")
    assert main([*draft, "--replace", "--exclude", "code", "age"]) == 0
    assert _draft("d.toml").feature_names == ("job",)
    assert _draft("d.toml").id == ("id",)
    assert main([*draft, "--replace", "--exclude", "cod"]) == 2
    assert "did you mean 'code'?" in capsys.readouterr().err


def test_a_line_that_is_no_record_is_neither_refused_nor_mentioned(folder, capsys):
    fit = [*FIT, "--out", "model.json", "--cap-epsilon", "5"]
    assert main([*fit, "--ledger", "first.ledger.json"]) == 0
    usual = capsys.readouterr()
    with (folder / "data.csv").open("ab") as data:
        data.write(b'47,SECRET,no,one too many\n"open,\n\xff,\0\n\n')
    assert main([*fit, "--ledger", "second.ledger.json", "--replace"]) == 0
    printed = capsys.readouterr()
    assert printed.err == usual.err
    assert "SECRET" not in printed.out


def test_a_header_without_names_is_refused(folder, capsys):
    text = (folder / "data.csv").read_text()
    (folder / "data.csv").write_text("Wards of 2024,,\n\n" + text)
    assert main([*FIT, "--out", "model.json"]) == 2
    assert "pass the line number of the names with --header" in capsys.readouterr().err
    assert main([*FIT, "--header", "2", "--out", "model.json"]) == 2
    assert "line 2 of the file does not contain column names" in capsys.readouterr().err
    assert not list(folder.glob("*.ledger.json"))
    assert main([*FIT, "--header", "3", "--out", "model.json"]) == 0


def test_columns_named_twice_are_told_and_any_of_them_can_be_chosen(folder, capsys):
    lines = (folder / "data.csv").read_text().splitlines()
    doubled = [f"{line},{line.split(',')[1]}" for line in lines]
    (folder / "data.csv").write_text("\n".join(doubled) + "\n")
    assert main([*FIT, "--out", "model.json"]) == 0
    first = lines[0].split(",")[1]
    told = capsys.readouterr().err
    assert f"column {len(lines[0].split(',')) + 1} is also named {first!r}" in told
    assert f"{first}.1\n" in told.partition("columns not in the schema are ignored: ")[2]
    assert main(["schema", "draft", *FIT[1:4], "--out", "d.toml"]) == 0
    assert f'[features."{first}.1"]' in (folder / "d.toml").read_text(encoding="utf-8")


def test_separator_and_encoding_are_options(folder, capsys):
    text = (folder / "data.csv").read_text().replace(",", ";")
    (folder / "data.csv").write_bytes(text.replace(";a;", ";ä;").encode("latin-1"))
    fit = [*FIT, "--sep", ";", "--encoding", "latin-1", "--out", "model.json"]
    assert main(fit) == 0
    check = ["schema", "check", *FIT[1:6], "--sep", ";", "--encoding", "latin-1"]
    assert main(check) == 0
    assert "'ä'" in capsys.readouterr().out
    assert main(["schema", "draft", *check[2:5], *check[-4:], "--out", "d.toml"]) == 0
    assert '"ä"' in (folder / "d.toml").read_text(encoding="utf-8")
    for option, value, message in (
        ("--encoding", "utf-32", "cannot be read line by line"),
        ("--sep", ";;", "must be one ASCII character"),
    ):
        assert main([*FIT, option, value, "--out", "other.json", "--ledger", "new.json"]) == 2
        assert message in capsys.readouterr().err
    assert not (folder / "new.json").exists()


def test_cells_that_do_not_parse_are_no_error(folder):
    lines = (folder / "data.csv").read_text().splitlines()
    lines[7] = "7,unknown,??,maybe"
    (folder / "data.csv").write_text("\n".join(lines) + "\n")
    assert main([*FIT, "--out", "model.json", "--quiet"]) == 0


def test_parameters_are_given_as_toml(folder):
    settings = ["--set", "preset=paper", "--set", 'monotone_constraints={age = "increasing"}']
    assert main([*FIT, *settings, "--out", "model.json", "--quiet"]) == 0
    bins = dpexplain.io.load("model.json")["age"].frame()
    values = bins["contribution"][~bins["special"].astype(bool)]
    assert np.all(np.diff(values) >= 0)


@pytest.mark.full
@pytest.mark.parametrize("model", ["random-forest", "dpboost", "boosted-trees"])
def test_models_without_a_delta_say_so_in_files_and_reports(folder, capsys, model):
    assert main([*FIT, "--model", model, "--out", "model.json"]) == 0
    guarantee = dpexplain.io.load("model.json").guarantee
    assert guarantee.private
    assert guarantee.delta == 0.0
    assert capsys.readouterr().out.startswith("1-differential privacy for one record")
    assert main(["report", "model.json", "--out", "report.html"]) == 0
    assert "1-DP" in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.full
@pytest.mark.parametrize("model", ["locally-linear", "linear"])
def test_other_models_are_fitted_explained_and_reported(folder, capsys, model):
    assert main([*SWEEP, "--model", model, "--out", "sweep.json"]) == 0
    assert main(["explain", "sweep.json"]) == 0
    assert "if published together" in capsys.readouterr().out
    assert main(["explain", "sweep.json", "--epsilon", "1"]) == 0
    assert "differential privacy" in capsys.readouterr().out
    assert main(["report", "sweep.json", "--out", "report.html"]) == 0


@pytest.mark.parametrize("model", ["random-forest", "linear"])
def test_models_that_need_a_table_in_memory_take_parquet_too(model, folder, capsys):
    pytest.importorskip("pyarrow")
    pd.read_csv("data.csv").to_parquet("data.parquet")
    fit = ["fit", "data.parquet", *FIT[2:], "--model", model]
    assert main([*fit, "--out", "model.json"]) == 0
    assert "age" in dpexplain.io.load("model.json")
    (folder / "data.parquet").write_text("Ms Smith")
    assert main([*fit, "--out", "other.json"]) == 2
    assert "is not Parquet" in capsys.readouterr().err


def test_a_sweep_of_a_parquet_file_reads_it_whole_for_the_reference(folder):
    pytest.importorskip("pyarrow")
    pd.read_csv("data.csv").to_parquet("data.parquet")
    sweep = ["sweep", "data.parquet", *SWEEP[2:], "--model", "linear", "--reference"]
    assert main([*sweep, "--out", "sweep.json"]) == 0
    assert dpexplain.io.load("sweep.json").reference is not None


def test_a_model_of_classes_is_refused_for_a_range(folder, capsys):
    Schema(SCHEMA.features, target=Range(0, 1)).to_toml("schema.toml")
    assert main([*FIT, "--model", "locally-linear", "--out", "model.json"]) == 2
    assert "choose one of boosting, linear" in capsys.readouterr().err


def test_sweep_saves_a_comparison_without_the_reference_unless_it_is_asked_for(folder, capsys):
    assert main([*SWEEP, "--out", "sweep.json"]) == 0
    comparison = dpexplain.io.load("sweep.json")
    assert comparison.epsilons == (0.5, 1.0)
    assert comparison.reference is None
    assert "if published together" in capsys.readouterr().out
    assert main([*SWEEP, "--reference", "--quiet", "--replace", "--out", "sweep.json"]) == 0
    assert dpexplain.io.load("sweep.json").reference is not None


def test_explain_prints_terms_bins_and_csv_and_draws(folder, capsys):
    assert main([*SWEEP, "--out", "sweep.json", "--quiet"]) == 0
    assert main(["explain", "sweep.json"]) == 0
    assert "ε = 0.5" in capsys.readouterr().out
    assert main(["explain", "sweep.json", "--epsilon", "1", "--term", "job"]) == 0
    assert "missing" in capsys.readouterr().out
    assert main(["explain", "sweep.json", "--csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + len(dpexplain.io.load("sweep.json").frame())
    assert main(["explain", "sweep.json", "--term", "age", "--plot", "age.png"]) == 0
    assert (folder / "age.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--epsilon", "3"], "contains fits at 0.5, 1"),
        (["--term", "ages"], "did you mean 'age'?"),
        (["--plot", "age.gif"], "--plot age.gif: the name must end in .png"),
    ],
)
def test_explain_says_what_there_is(folder, capsys, more, message):
    assert main([*SWEEP, "--out", "sweep.json", "--quiet"]) == 0
    assert main(["explain", "sweep.json", *more]) == 2
    assert message in capsys.readouterr().err


def test_ledger_prints_the_statement_in_every_format(folder, capsys):
    assert main([*FIT, "--out", "model.json", "--quiet"]) == 0
    for format_, expected in (
        ("text", "Privacy statement for data"),
        ("markdown", "# Privacy statement"),
        ("entries", "histograms"),
    ):
        assert main(["ledger", "data.ledger.json", "--format", format_]) == 0
        assert expected in capsys.readouterr().out
    assert main(["ledger", "data.ledger.json", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)
    assert main(["ledger", "data.ledger.json", "--published", "5"]) == 2


def test_ledger_says_what_is_left_under_its_cap(folder, capsys):
    assert main([*FIT, "--out", "model.json", "--quiet", "--cap-epsilon", "3"]) == 0
    assert main(["ledger", "data.ledger.json"]) == 0
    left = PrivacyLedger.open("data.ledger.json").remaining_epsilon
    found = re.search(r"cap of epsilon 3: epsilon ([\d.]+) for one fit", capsys.readouterr().out)
    assert left - 0.001 <= float(found[1]) <= left


def test_ledger_of_a_ledger_without_a_cap_says_that_it_refuses_nothing(folder, capsys):
    assert main([*FIT, "--out", "model.json", "--quiet"]) == 0
    assert main(["ledger", "data.ledger.json"]) == 0
    assert "refuses nothing" in capsys.readouterr().out


def test_ledger_of_a_model_names_the_command_that_shows_it(folder, capsys):
    assert main([*FIT, "--out", "model.json", "--quiet"]) == 0
    assert main(["ledger", "model.json"]) == 2
    error = capsys.readouterr().err
    assert "dpexplain explain model.json" in error
    assert "damaged" not in error


def test_a_schema_draft_warns_that_reading_private_data_is_not_free(folder, capsys):
    draft = ["schema", "draft", "data.csv", "--target", "income", "--out", "draft.toml"]
    assert main(draft) == 0
    assert "public data only" in capsys.readouterr().err
    assert _draft(folder / "draft.toml").target == Classes(["no", "yes"], name="income")
    assert main(draft) == 2  # what somebody has corrected since is not overwritten
    assert main([*draft, "--replace"]) == 0


def test_a_fit_with_a_schema_that_is_still_a_draft_says_that_no_guarantee_covers_it(folder, capsys):
    assert main(["schema", "draft", *FIT[1:4], "--out", "schema.toml", "--replace"]) == 0
    capsys.readouterr()
    assert main([*FIT, "--out", "m.json"]) == 0
    assert "no guarantee covers a fit of the records from which it was read" in (
        capsys.readouterr().err
    )
    text = (folder / "schema.toml").read_text(encoding="utf-8")
    (folder / "schema.toml").write_text(text.partition("\n")[2], encoding="utf-8")
    assert main([*FIT, "--out", "n.json"]) == 0
    assert "draft" not in capsys.readouterr().err


def test_schema_check_counts_cells_and_says_that_it_is_not_private(folder, capsys):
    check = ["schema", "check", "data.csv", "--target", "income", "--schema", "schema.toml"]
    assert main(check) == 0
    assert "fits every cell" in capsys.readouterr().out
    with (folder / "data.csv").open("a") as file:
        file.write("400,12,c,yes\n")
    assert main(check) == 0
    printed = capsys.readouterr().out
    assert "NOT PRIVATE" in printed
    assert "below 17" in printed


def test_schema_check_reads_cells_as_a_fit_does(folder, capsys):
    lines = ["age,job,income", *["30,007,yes", "40,None,no"] * 5]
    (folder / "codes.csv").write_text("\n".join(lines))
    Schema(
        {"age": Numeric(17, 90), "job": Categorical(["007", "None"])},
        target=Classes(["no", "yes"], name="income"),
    ).to_toml("codes.toml")
    check = ["schema", "check", "codes.csv", "--target", "income", "--schema", "codes.toml"]
    assert main(check) == 0
    assert "The schema fits every cell." in capsys.readouterr().out


def test_schema_check_counts_lines_that_are_no_records_and_shows_none_of_them(folder, capsys):
    (folder / "bad.csv").write_text("age,job,income\n30,a,yes\n30,a,yes,secret\n")
    check = ["schema", "check", "bad.csv", "--target", "income", "--schema", "schema.toml"]
    assert main(check) == 0
    printed = capsys.readouterr()
    assert "the row is dropped" in printed.out
    assert "secret" not in printed.out + printed.err


@pytest.mark.full
def test_report_writes_a_page_with_the_statement_and_without_the_reference(folder, capsys):
    arguments = ["report", *SWEEP[1:], "--reference", "--out", "report.html"]
    assert main(arguments) == 0
    page = (folder / "report.html").read_text()
    assert "Privacy statement" in page
    assert "Everything in this file was computed from differentially private releases" in page
    assert "NOT PRIVATE: " not in page
    assert "saved to" in capsys.readouterr().out
    assert main([*arguments, "--not-for-release", "--replace"]) == 0
    assert "NOT PRIVATE: " in (folder / "report.html").read_text()


def test_report_of_a_saved_comparison_needs_no_table(folder):
    assert main([*SWEEP, "--out", "sweep.json", "--quiet"]) == 0
    assert main(["report", "sweep.json", "--out", "report.html", "--quiet"]) == 0
    assert (folder / "report.html").stat().st_size > 10_000
    assert main(["report", "sweep.json", "--epsilon", "1", "--out", "report.html"]) == 2
    assert main(["report", "data.csv", "--out", "report.html"]) == 2


def test_report_of_a_saved_fit_states_the_ledger_that_is_given(folder, capsys):
    assert main([*FIT, "--out", "model.json", "--quiet"]) == 0
    report = ["report", "model.json", "--out", "report.html", "--quiet"]
    ledger = ["--ledger", "data.ledger.json"]
    assert main(report) == 0
    assert "Promised for everything fitted" not in (folder / "report.html").read_text()
    assert main([*report, *ledger]) == 0
    page = (folder / "report.html").read_text()
    assert "Promised for everything fitted" in page
    assert "Privacy statement for data" in page
    PrivacyLedger("other", path="other.ledger.json")
    assert main([*report, "--ledger", "other.ledger.json"]) == 2
    assert "no entry of other.ledger.json promises what model.json does" in capsys.readouterr().err
    assert main([*report, "--ledger", "none.ledger.json"]) == 2
    assert "no such file" in capsys.readouterr().err
    assert main([*SWEEP, "--out", "sweep.json", "--quiet"]) == 0
    assert main(["report", "sweep.json", *report[2:], *ledger]) == 2
    assert "sweep.json holds the ledger of its fits already" in capsys.readouterr().err


def test_a_blank_title_is_refused_before_the_charge(folder, capsys):
    assert main(["report", *SWEEP[1:], "--title", "  ", "--out", "report.html"]) == 2
    assert "title is blank" in capsys.readouterr().err
    assert not list(folder.glob("*.ledger.json"))
    assert main([*SWEEP, "--out", "sweep.json", "--quiet"]) == 0
    named = ["--title", "Income & work", "--out", "report.html", "--quiet"]
    assert main(["report", "sweep.json", *named]) == 0
    assert "<title>Income &amp; work</title>" in (folder / "report.html").read_text()


@pytest.fixture
def three_classes(folder):
    frame = pd.read_csv("data.csv")
    frame["income"] = np.array(["low", "middle", "high"])[np.arange(400) % 3]
    frame.to_csv("data.csv", index=False)
    target = Classes(["low", "middle", "high"], name="income")
    Schema(SCHEMA.features, target=target).to_toml("schema.toml")
    return folder


def test_a_page_of_an_unknown_class_is_refused_before_the_charge(three_classes, capsys):
    assert main(["report", *SWEEP[1:], "--class", "none", "--out", "report.html"]) == 2
    assert "'low', 'middle', 'high'" in capsys.readouterr().err
    assert not list(three_classes.glob("*.ledger.json"))
    assert not (three_classes / "report.html").exists()


def test_a_page_of_two_classes_takes_no_class(folder, capsys):
    assert main(["report", *SWEEP[1:], "--class", "yes", "--out", "report.html"]) == 2
    assert "--class yes: omit it" in capsys.readouterr().err
    assert not list(folder.glob("*.ledger.json"))


@pytest.mark.full
def test_files_of_three_classes_are_explained_by_class_and_reported_with_all_or_one(
    three_classes, capsys
):
    assert main([*FIT, "--out", "model.json", "--quiet"]) == 0
    assert main(["explain", "model.json"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "An importance above its noise_floor is not enough for above_noise" in words
    assert "class_of_most is the class to which the term contributes most" in words
    assert main(["explain", "model.json", "--plot", "all.png"]) == 2
    assert "pass --class with 'low', 'middle', 'high'" in capsys.readouterr().err
    one = ["--class", "middle"]
    assert main(["explain", "model.json", *one, "--term", "age", "--plot", "age.png"]) == 0
    assert (three_classes / "age.png").exists()
    assert main(["explain", "model.json", *one, "--csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    one_class = dpexplain.io.load("model.json").for_class("middle")
    assert len(lines) - 1 >= len(one_class.frame())
    assert main(["report", "model.json", *one, "--out", "one.html"]) == 0
    assert main(["report", "model.json", "--out", "all.html"]) == 0
    assert main(["report", *SWEEP[1:], "--out", "sweep.html", "--quiet"]) == 0
    pages = {name: (three_classes / f"{name}.html").read_text() for name in ("one", "all", "sweep")}
    titles = {name: page.count(", class low") for name, page in pages.items()}
    assert titles["one"] == 0 < min(titles["all"], titles["sweep"])


def test_a_sweep_of_three_classes_names_the_class_of_each_table(three_classes, capsys):
    assert main([*SWEEP, "--out", "sweep.json"]) == 0
    printed = capsys.readouterr().out
    assert [printed.count(f"\nclass {each}\n") for each in ("low", "middle", "high")] == [1, 1, 1]
    assert printed.count("each model alone") == 1
    assert printed.count("importance of released curves") == 3


@pytest.mark.parametrize("arguments", [[], ["schema"]])
def test_a_command_that_is_missing_is_answered_with_those_there_are(capsys, arguments):
    assert main(arguments) == 2
    assert "commands:\n" in (printed := capsys.readouterr().err)
    assert ("draft" if arguments else "predict") in printed


def test_open_names_the_page_or_writes_a_notebook_for_a_saved_file(folder, capsys):
    (folder / "page.html").write_text("<p>")
    assert main(["open", "page.html", "--print"]) == 0
    assert capsys.readouterr().out.strip() == (folder / "page.html").as_uri()
    assert main([*SWEEP, "--out", "sweep.json", "--quiet"]) == 0
    assert main(["open", "sweep.json", "--print"]) == 0
    assert capsys.readouterr().out.strip().endswith("jupyter lab sweep.ipynb")
    notebook = json.loads((folder / "sweep.ipynb").read_text())
    assert "Explorer(shown)" in notebook["cells"][1]["source"]
    assert main(["open", "missing.html"]) == 2


def test_every_command_has_help_with_examples(capsys):
    for command in ("fit", "sweep", "report", "explain", "ledger", "open", "schema draft"):
        with pytest.raises(SystemExit) as stopped:
            main([*command.split(), "--help"])
        assert stopped.value.code == 0
        assert "examples:" in capsys.readouterr().out


def test_a_stop_by_the_keyboard_has_its_own_status(folder, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("dpexplain.cli.fits.ledger_of_command", stop)
    assert main([*FIT, "--out", "model.json"]) == 130


def test_a_file_that_is_no_ledger_is_wrong_input_and_no_refusal_to_pay(folder, capsys):
    assert main(["ledger", "data.csv"]) == 2
    assert "cannot be read as a ledger" in capsys.readouterr().err


def test_a_missing_file_is_named_without_a_number_of_the_system(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["report", "none.json", "--out", "page.html"]) == 2
    assert capsys.readouterr().err == "dpexplain report: none.json: no such file.\n"
