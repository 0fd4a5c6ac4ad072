"""Sizes of data sets that the papers print, and claims about each printed row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from claims import NOT_TESTABLE, NOT_TESTED, Claim, NotMeasuredError, Tables, untested
from file_data import FILED
from printed_rows import NO_FILE, Number, printed_row, short
from sources import LI, NOCK, NORI
from study import Row

NAMES = {NORI: "ebm_data", LI: "dpboost_data", NOCK: "objective_calibration_data"}
"""Name of the study of each paper."""

Sizes = Mapping[str, float]


def _sizes(rows: float, columns: float, positives: float | None = None) -> Sizes:
    sizes = {"rows": rows, "columns": columns}
    return sizes if positives is None else {**sizes, "share of positives": positives}


PRINTED: Mapping[str, Mapping[str, Sizes]] = {
    NORI: {
        "adult": _sizes(32_561, 14, 0.241),
        "telco": _sizes(7_043, 19, 0.266),
        "credit_fraud": _sizes(284_807, 30, 0.002),
        "california": _sizes(20_499, 8),
        "elevators": _sizes(16_598, 18),
        "pol": _sizes(15_000, 49),
        "wine": _sizes(5_297, 11),
    },
    LI: {
        "adult": _sizes(32_561, 123),
        "covtype": _sizes(581_012, 54),
        "susy": _sizes(5_000_000, 18),
        "cod_rna": _sizes(59_535, 8),
        "webdata": _sizes(49_749, 300),
        "synthetic_cls": _sizes(1_000_000, 400),
        "abalone": _sizes(4_177, 8),
        "year_prediction": _sizes(463_715, 90),
        "synthetic_reg": _sizes(1_000_000, 400),
    },
    NOCK: {
        "transfusion": _sizes(748, 4),
        "banknote": _sizes(1_372, 4),
        "breast_cancer_wisconsin": _sizes(699, 9),
        "ionosphere": _sizes(351, 33),
        "sonar": _sizes(208, 60),
        "yeast": _sizes(1_484, 7),
        "wine-red": _sizes(1_599, 11),
        "cardiotocography": _sizes(2_126, 9),
        "creditcard_small": _sizes(1_000, 23),
        "abalone-old": _sizes(4_177, 8),
        "qsar": _sizes(1_055, 41),
        "wine-white": _sizes(4_898, 11),
        "page_blocks": _sizes(5_473, 10),
        "mice": _sizes(1_080, 77),
        "hill_valley_with_noise": _sizes(1_212, 100),
        "hill_valley_without_noise": _sizes(1_212, 100),
        "firmteacher": _sizes(10_800, 16),
        "magic": _sizes(19_020, 10),
        "eeg": _sizes(14_980, 14),
    },
}
"""By paper and data set, as the studies name them."""

HERE: Mapping[str, Sequence[str]] = {paper: tuple(rows) for paper, rows in PRINTED.items()}
"""The data sets that the studies count, where their files are."""

_PLACES = {NORI: "table 1", LI: "table 1", NOCK: "table 2"}
_A_SAMPLE = (
    "probably a sample of a public table of 30,000 clients; our text of the paper lacks the "
    "footnote that may say which rows; measured if its file is present"
)
_SIMULATED = "simulated with fewer rows and columns, for memory and time"
_CAUSE = {
    (NORI, "telco"): "26.5% of all 7,043 customers; 26.6% of the 7,032 whose charges are complete",
    (
        NORI,
        "california",
    ): "the paper has 20,499 rows, and does not say which of the 20,640 it leaves out",
    (NORI, "elevators"): "one row more than in the paper, which does not say why",
    (NORI, "pol"): "48 columns and a target here; the paper probably counts the target",
    (NORI, "wine"): "red and white wine here, of which 5,318 rows are distinct; the paper has "
    "5,297",
    (LI, "adult"): "14 columns as they are; the paper has 123 of zeros and ones",
    (LI, "synthetic_cls"): _SIMULATED,
    (LI, "synthetic_reg"): _SIMULATED,
    (NOCK, "ionosphere"): "the public file has a column that is always zero; the paper probably "
    "leaves it out",
    (NOCK, "yeast"): "the public file has 8 columns besides the name; the paper does not say which "
    "it leaves out",
    (NOCK, "cardiotocography"): "the public file has 21 measurements; the paper has 9 and a "
    "footnote that our text of it lacks",
}
CAUSES: Mapping[str, Sequence[Row]] = {
    paper: [{"data": data, "cause": why} for (p, data), why in _CAUSE.items() if p == paper]
    for paper in NAMES
}
"""Why sizes differ, by paper."""


def undecided(claim: Claim, verdict: str = NOT_TESTED) -> Claim:
    """Return a claim with its numbers, which do not decide it, as where data are smaller."""
    return replace(claim, verdict=lambda tables: verdict)


def _row(paper: str, data: str) -> Claim:
    study = NAMES[paper]

    def numbers(tables: Tables) -> list[Number]:
        rows = tables[study]
        rows = rows[rows["data"] == data].set_index("metric")
        if rows.empty:
            raise NotMeasuredError(f"row of {data} in {study}")
        found = []
        for metric, printed in PRINTED[paper][data].items():
            ours, share = float(rows["mean"][metric]), metric == "share of positives"
            form = "{:.1%}".format if share else short
            near = abs(ours - printed) <= 0.0005 if share else ours == printed
            found.append(Number(metric, form(ours), form(printed), near))
        return found

    said = f"Sizes of {data.replace('_', '-')}"
    differs = _CAUSE.get((paper, data), "")
    if data in FILED:
        differs = _A_SAMPLE if data == "creditcard_small" else NO_FILE
    claim = printed_row(paper, _PLACES[paper], data, said, numbers, differs)
    return undecided(claim) if differs == _SIMULATED else claim


_ABSENT = {
    NORI: untested(
        NORI,
        "table 1",
        "Sizes of the healthcare data",
        "records of a hospital, which are not public",
        NOT_TESTABLE,
        "healthcare",
    ),
    LI: untested(
        LI,
        "table 1",
        "Sizes of real-sim",
        "public, but 20,958 sparse columns do not fit our tables",
        NOT_TESTED,
        "real-sim",
    ),
}


def size_claims(paper: str) -> tuple[Claim, ...]:
    """Return a claim per printed row of a paper's table of data sets."""
    rows = tuple(_row(paper, data) for data in PRINTED[paper])
    return (*rows, _ABSENT[paper]) if paper in _ABSENT else rows
