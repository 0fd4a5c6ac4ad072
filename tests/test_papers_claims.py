"""The claims of the papers have known places, verdicts and evidence, and the pages show them."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def folder(repository):
    """Return the folder of the tables."""
    return repository / "docs" / "papers"


@pytest.fixture
def claims(folder):
    """Read the claims as they are written."""
    return pd.read_csv(folder / "claims.csv", keep_default_na=False)


def test_verdicts_and_places_are_from_a_fixed_vocabulary(load, claims):
    by_key, verdicts = load("sources").BY_KEY, load("claims").VERDICTS

    assert set(claims["verdict"]) <= set(verdicts)
    for paper, place in zip(claims["paper"], claims["place"], strict=True):
        assert place in by_key[paper].places


def test_every_table_and_figure_of_a_paper_has_a_claim(load, claims):
    for source in load("sources").SOURCES:
        found = set(claims.loc[claims["paper"] == source.key, "place"])
        assert set(source.shown) - found == set(), source.key


def test_every_row_of_a_printed_table_has_one_claim(load, claims):
    for source in load("sources").SOURCES:
        assert set(source.rows) <= set(source.shown)
        of_rows = claims[(claims["paper"] == source.key) & (claims["row"] != "")]
        assert set(of_rows["place"]) == set(source.rows), source.key
        for place, rows in source.rows.items():
            found = of_rows.loc[of_rows["place"] == place, "row"]
            assert sorted(found) == sorted(rows), (source.key, place)
        tables = {place for place in source.shown if place.startswith("table")}
        assert tables - set(source.rows) <= {"table 4"}  # printed as a picture


def test_a_row_holds_if_all_of_its_numbers_are_near(load):
    rows, claims = load("printed_rows"), load("claims")
    printed = [{"published": 1.0, "published_sd": 0.1}, {"published": 1.0, "published_sd": None}]
    means = {"holds": (1.1, 1.9), "holds in part": (1.3, 1.9), "does not hold": (1.3, 2.1)}
    for verdict, ours in means.items():
        table = pd.DataFrame(printed).assign(model=["a", "b"], mean=ours)
        table["ratio"] = table["mean"] / table["published"]
        table["in_sd"] = (table["mean"] - table["published"]) / table["published_sd"]
        claim = rows.printed_row(
            "A", "table 1", "one", "said", lambda t, table=table: rows.beside(table, "model")
        )
        assert claim.verdict(claims.Tables()) == verdict
        assert claim.row == "one"
        assert claim.evidence(claims.Tables()).startswith(f"a {ours[0]} (printed 1 ± 0.1)")


def test_a_verdict_follows_from_files_that_exist_and_the_rest_has_a_reason(folder, claims):
    decided = claims["verdict"].isin(["holds", "holds in part", "does not hold"])

    assert (claims["evidence"] != "").all()
    assert (claims.loc[decided, "files"] != "").all()
    named = {name for files in claims["files"] for name in files.split()}
    assert named <= {path.name for path in folder.glob("*.csv")}
    assert not claims.duplicated(["paper", "place", "row", "claim"]).any()


def test_the_page_of_each_source_lists_its_claims(load, folder, claims):
    pages = load("pages")
    for source in load("sources").SOURCES:
        text = (folder / f"{source.page}.md").read_text(encoding="utf-8")
        assert text == pages.page(source, folder), "make papers PAPERS_ARGS='--compare-only'"
        own = claims[claims["paper"] == source.key]
        assert len(own) > 0
        for row in own.to_dict("records"):
            assert f"| {row['place']} | {row['claim']} | {row['verdict']} |" in text
        titled = "## Rows of the printed tables" in text
        assert titled == (own["row"] != "").any()
        assert f"{source.page}.md" in (folder / "index.md").read_text(encoding="utf-8")


def test_every_difference_beyond_two_published_deviations_has_a_cause(folder):
    for path in folder.glob("*.csv"):
        table = pd.read_csv(path)
        if "in_sd" not in table:
            continue
        compared = table[table["published"].notna()]
        far = (compared["in_sd"].abs() > 2) | ~compared["ratio"].between(0.5, 2.0)
        assert compared.loc[far & (compared["published"] != 0), "cause"].notna().all(), path.name
        published = compared[compared["published_sd"].notna()]
        expected = (published["mean"] - published["published"]) / published["published_sd"]
        np.testing.assert_allclose(published["in_sd"], expected, rtol=1e-3, atol=0.02)


def test_every_page_opens_with_pictures_that_exist(load, folder):
    pictures = load("pictures").PICTURES
    for source in load("sources").SOURCES:
        text = (folder / f"{source.page}.md").read_text(encoding="utf-8")
        linked = re.findall(r"\]\(figures/(\w+)\.svg\)", text)
        drawn = {
            picture.name
            for picture in pictures[source.page]
            if all((folder / f"{table}.csv").is_file() for table in picture.tables)
        }
        assert set(linked) == drawn
        assert drawn, source.page
        assert all((folder / "figures" / f"{name}.svg").is_file() for name in linked)
        parts = [text.find(f"\n## {part}\n") for part in ("Pictures", "Tables", "Causes", "Claims")]
        assert parts == sorted(parts)
        assert -1 not in parts


def test_every_printed_number_that_was_measured_stands_on_its_page(load, folder):
    pages = load("pages")
    for path in folder.glob("*.csv"):
        table = pd.read_csv(path)
        if "published" not in table:
            continue
        rows = pages._named(table[table["published"].notna()])
        assert not rows.duplicated(["line", "at"]).any(), path.name  # else a cell would be lost


def test_what_a_study_has_less_of_stands_next_to_its_pictures_and_tables(load, folder):
    less = load("reduced").REDUCED
    assert set(less) == set(pd.read_csv(folder / "studies.csv")["name"])
    for source in load("sources").SOURCES:
        text = (folder / f"{source.page}.md").read_text(encoding="utf-8")
        head = text[: text.index("\n## Causes\n")]
        assert head.count("\nWhat differs: ") == head.count("![") + head.count("\n### ")
        for name in re.findall(r"\n### (\w+): here", head):
            table = pd.read_csv(folder / f"{name}.csv")
            assert load("reduced").reduced(name, table) in head


def test_a_picture_from_the_study_of_another_source_says_what_differs_from_its_own(folder):
    text = (folder / "slides.md").read_text(encoding="utf-8")

    assert "six of eight data sets" not in text  # which is said of the paper's tables


def test_the_domains_that_texts_count_are_those_of_the_table(load, folder):
    table = pd.read_csv(folder / "objective_calibration.csv")

    measured = set(table["data"]) - {load("results").ALL}

    assert len(measured) == load("objective_calibration_claims").N_DOMAINS
    counted = table[(table["data"] == load("results").ALL) & (table["n_cuts"] == 10)]
    assert set(counted["n"]) == {len(measured)}


@pytest.mark.full
def test_the_claims_are_those_that_the_tables_decide(load, folder, claims):
    run, rules = load("make_papers"), load("claims")

    again = rules.decided(run.claims(), rules.read_tables(folder))

    pd.testing.assert_frame_equal(again, claims, check_dtype=False)


@pytest.mark.full
def test_the_studies_are_described_as_their_modules_do(load, folder):
    again = load("results").described(load("make_papers").studies())

    written = pd.read_csv(folder / "studies.csv")
    assert set(written["paper"]) == set(load("sources").BY_KEY)
    pd.testing.assert_frame_equal(again, written, check_dtype=False)


def test_every_number_is_of_five_fits_or_more(load, folder):
    counted, all_domains = load("reduced")._COUNTED, load("results").ALL
    found = {}
    for path in sorted(folder.glob("*.csv")):
        table = pd.read_csv(path)
        if path.stem in counted or "n" not in table or "quantile" in table:
            continue
        least = int(table.loc[table["data"] != all_domains, "n"].min())
        if least < 5:
            found[path.stem] = least

    assert found == {}


def test_the_first_page_has_the_hours_that_the_command_adds_up(load, folder, capsys):
    load("make_papers")._list(folder)

    hours = re.search(r"([\d.]+) CPU hours of fits in all", capsys.readouterr().out)

    text = (folder / "index.md").read_text(encoding="utf-8")
    assert hours is not None
    assert f"tables took {hours[1]} CPU hours" in text
