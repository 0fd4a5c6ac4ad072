"""What the 2025 slides on DP-EBM print and claim, compared with the measured tables."""

from __future__ import annotations

import pandas as pd

from claims import NOT_TESTABLE, Claim, NotMeasuredError, Tables, of_all, untested
from file_data import FILED
from printed_rows import NO_FILE, Number, Numbers, beside, printed_row, short
from sources import SLIDES as PAPER

_MODELS = ("logistic regression", "random forest", "gradient boosting", "EBM")
_PLAIN = {
    data: dict(zip(_MODELS, figures, strict=True))
    for data, figures in {
        "adult": ((0.907, 0.003), (0.903, 0.002), (0.928, 0.001), (0.929, 0.002)),
        "breast cancer": ((0.994, 0.006), (0.992, 0.009), (0.992, 0.010), (0.994, 0.009)),
        "telco": ((0.808, 0.014), (0.824, 0.002), (0.822, 0.004), (0.853, 0.004)),
        "credit_fraud": ((0.980, 0.003), (0.950, 0.007), (0.983, 0.002), (0.982, 0.005)),
    }.items()
}
_APLR_PRINTED = {
    "adult": (0.927, 0.002),
    "breast cancer": (0.993, 0.006),
    "telco": (0.849, 0.003),
    "credit_fraud": (0.979, 0.007),
}
_PRINTED = {data: {**rows, "APLR": _APLR_PRINTED[data]} for data, rows in _PLAIN.items()}
RECREATED = {
    "DP-EBM, classic": (
        (0.826, 0.003),
        (0.859, 0.005),
        (0.877, 0.005),
        (0.875, 0.004),
        (0.887, 0.004),
    ),
    "DP-EBM, GDP": (
        (0.871, 0.003),
        (0.878, 0.003),
        (0.883, 0.004),
        (0.888, 0.004),
        (0.893, 0.005),
    ),
}
NEW_DATA, NEW_EPSILONS = "slides_new_data", (0.1, 0.5, 2.0, 4.0, 8.0)
_TAUGHT = "teaching variant, NOT PRIVATE"
NEW_TABLES: dict[str, dict[str, tuple[tuple[float, float | None], ...]]] = {
    "parkinson": {
        "DP-EBM, classic": (
            (30.4, 1.673),
            (12.6, 0.168),
            (10.6, 0.045),
            (9.7, 0.119),
            (9.4, 0.033),
        ),
        "DP-EBM, GDP": ((17.2, 0.749), (11.4, 0.017), (9.6, 0.044), (9.4, 0.071), (9.1, 0.044)),
    },
    "phishing": {
        _TAUGHT: ((0.765, None), (0.540, None), (0.784, None), (0.943, None), (0.950, None)),
        "DP-EBM, classic": (
            (0.673, 0.005),
            (0.948, 0.004),
            (0.972, 0.003),
            (0.975, 0.003),
            (0.977, 0.003),
        ),
        "DP-EBM, GDP": (
            (0.914, 0.009),
            (0.968, 0.003),
            (0.977, 0.003),
            (0.978, 0.002),
            (0.979, 0.002),
        ),
        "linear, prepared": (
            (0.873, 0.008),
            (0.888, 0.002),
            (0.896, 0.005),
            (0.897, 0.005),
            (0.897, 0.005),
        ),
        "random forest": (
            (0.757, 0.003),
            (0.757, 0.003),
            (0.757, 0.003),
            (0.758, 0.003),
            (0.758, 0.003),
        ),
    },
}
_EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
_COMPOSED = "teaching variant with noise for all its releases, NOT PRIVATE"


def _plain(tables: Tables) -> pd.DataFrame:
    return tables["ebm_without_privacy"].pivot_table("mean", "data", "model")


_IN_README = {"logistic regression": "0.849 ± 0.005", "gradient boosting": "0.828 ± 0.010"}
"""What the README of InterpretML prints for telco where the slides differ from it and from us."""


def _other_figures(data: str, model: str) -> str:
    """Say why a number of the table without privacy may differ, or why it is missing."""
    if data == "telco" and model in _IN_README:
        return f"; the README of InterpretML prints {_IN_README[model]}, which we meet"
    if data == "credit_fraud" and model == "APLR":
        return "; not measured, even if the file of credit-fraud is present"
    return f"; {NO_FILE}" if data == "credit_fraud" else ""


def _plain_number(data: str, model: str) -> Numbers:
    """Return a model's mean next to the printed one; near within two printed deviations."""

    def numbers(tables: Tables) -> list[Number]:
        ours = _plain(tables).get(model, pd.Series(dtype=float)).get(data, float("nan"))
        if pd.isna(ours):
            raise NotMeasuredError(f"row of {model} on {data} in ebm_without_privacy")
        return [_number("AUROC", ours, *_PRINTED[data][model])]

    return numbers


def _number(name: str, ours: float, mean: float, sd: float | None) -> Number:
    """Return a number that is near within two printed deviations."""
    printed = short(mean) if sd is None else f"{short(mean)} ± {sd:g}"
    return Number(name, short(ours), printed, sd is not None and abs(ours - mean) <= 2 * sd)


def _plain_rows(data: str) -> tuple[Claim, ...]:
    name, shown = data.replace("_", "-"), data.replace(" ", "_")
    where = "table without privacy"
    rows = [
        printed_row(
            PAPER,
            where,
            f"{shown}, {model}",
            f"Row of {name}: {model}",
            _plain_number(data, model),
            _SETTINGS.get(model, "") + f"{_SPLITS}{_other_figures(data, model)}",
        )
        for model in _MODELS
    ]
    said = f"Row of {name}: APLR, another additive model"
    numbers = _plain_number(data, "APLR")
    differs = f"{_APLR}; {_SPLITS}{_other_figures(data, 'APLR')}"
    return (*rows, printed_row(PAPER, where, f"{shown}, APLR", said, numbers, differs))


_SETTINGS = {
    "gradient boosting": "histogram gradient boosting instead of XGBoost; ",
    "EBM": "EBM without pairs of features, the slides do not say whether theirs has any; ",
}
_SPLITS = "5 splits, the slides name none"
_APLR = "default settings of the package aplr"


def _as_good(tables: Tables) -> pd.DataFrame:
    table = _plain(tables)
    rivals = table[["random forest", "gradient boosting"]].max(axis=1)
    return pd.DataFrame({"EBM": table["EBM"], "rival": rivals})


def _recreated(epsilon: float) -> Numbers:
    """Return our AUROC on adult next to theirs, for both ways of composition."""

    def numbers(tables: Tables) -> list[Number]:
        table = tables["ebm_tables"].query("data == 'adult'").set_index(["model", "epsilon"])
        place = _EPSILONS.index(epsilon)
        return [
            _number(model, table["mean"][model, epsilon], *printed[place])
            for model, printed in RECREATED.items()
        ]

    return numbers


def _new_numbers(data: str, epsilon: float) -> Numbers:
    """Return what a data set that the slides add has at one epsilon."""

    def numbers(tables: Tables) -> list[Number]:
        table = tables[NEW_DATA]
        return beside(table[(table["data"] == data) & (table["epsilon"] == epsilon)], "model")

    return numbers


def _new_claims(data: str, shown: str) -> tuple[Claim, ...]:
    return tuple(
        printed_row(
            PAPER,
            f"table of {data.capitalize()}",
            f"ε {epsilon:g}",
            f"{shown} at epsilon {epsilon:g}",
            _new_numbers(data, epsilon),
            f"{NO_FILE}{_NO_VARIANT if data == 'parkinson' else ''}",
        )
        for epsilon in NEW_EPSILONS
    )


_NO_VARIANT = "; the variant is not: it predicts probabilities, and the slides do not say how "
_NO_VARIANT += "theirs predicts a number"


def _new_sizes(data: str) -> Numbers:
    """Return the size of a data set that was measured; files of another size are refused."""

    def numbers(tables: Tables) -> list[Number]:
        if data not in set(tables[NEW_DATA]["data"]):
            raise NotMeasuredError(f"row of {data} in {NEW_DATA}")
        about = FILED[data]
        sizes = {"rows": about.n_rows, "columns": about.n_columns}
        return [Number(name, short(n), short(n), near=True) for name, n in sizes.items()]

    return numbers


def _taught(tables: Tables, metric: str = "AUROC", data: str = "adult") -> pd.Series:
    """Return the means of the teaching study, with the paper's steps."""
    table = tables["ebm_teaching"]
    table = table[(table["metric"] == metric) & (table["data"] == data)]
    if table.empty:
        raise NotMeasuredError(f"row of {data} in ebm_teaching")
    steps = table["learning_rate"].isna() | (
        (table["learning_rate"] == 0.01) & (table["max_rounds"] == 300)
    )
    return table[steps].set_index("model")["mean"]


def _taught_words(tables: Tables, data: str = "adult") -> str:
    found = _taught(tables, data=data)
    composed = _taught(tables, "epsilon of all releases", data)
    printed = {"adult": "0.889 against 0.8435", "telco": "0.839 against 0.8225"}
    printed["credit_fraud"] = "0.969 against 0.8754"
    return (
        f"AUROC {found['DP-EBM, GDP']:.3f} of DP-EBM against {found[_TAUGHT]:.3f} of the variant, "
        f"both at a nominal epsilon of 4; all releases of the variant together have epsilon "
        f"{composed[_TAUGHT]:,.0f}; with the noise that 4 would ask for, it has "
        f"{found[_COMPOSED]:.3f}; the slides print {printed[data]}"
    )


_UNPRINTED = (
    "learning rate, rounds and bins of the variant are not printed; the paper's are used; within "
    "0.02 for the variant, which has no printed deviation, and two of those printed for DP-EBM"
)
_CLAIMED = (
    "the column of claimed figures has 0.875 ± 0.005 for classic, where the paper prints 0.873 ± "
    "0.007"
)

CLAIMS = (
    *(claim for data in _PLAIN for claim in _plain_rows(data)),
    Claim(
        PAPER,
        "table without privacy",
        "EBMs are as good as forests and boosted trees, to 0.005",
        lambda t: (
            "EBM against the better of forest and boosted trees: "
            + ", ".join(
                f"{n} {r['EBM']:.3f} against {r['rival']:.3f}" for n, r in _as_good(t).iterrows()
            )
        ),
        lambda t: of_all(_as_good(t)["EBM"] >= _as_good(t)["rival"] - 0.005),
        "our reading of the table, with our threshold; three of the four data sets",
    ),
    *(
        printed_row(
            PAPER,
            "table of adult, recreated",
            f"ε {epsilon:g}",
            f"A second implementation of DP-EBM on adult at epsilon {epsilon:g}, classic and GDP",
            _recreated(epsilon),
            _CLAIMED if epsilon == 0.5 else "",
        )
        for epsilon in _EPSILONS
    ),
    Claim(
        PAPER,
        "list of custom and official",
        "On adult at epsilon 4, a simplified variant has AUROC 0.8435, DP-EBM 0.889",
        _taught_words,
        lambda t: of_all(
            [
                abs(_taught(t)[_TAUGHT] - 0.8435) <= 0.02,
                abs(_taught(t)["DP-EBM, GDP"] - 0.889) <= 0.008,
            ]
        ),
        _UNPRINTED,
        "adult",
    ),
    Claim(
        PAPER,
        "list of custom and official",
        "The full algorithm is better than the simplified variant on adult",
        _taught_words,
        lambda t: bool(_taught(t)["DP-EBM, GDP"] > _taught(t)[_TAUGHT]),
        "the variant is not private",
    ),
    Claim(
        PAPER,
        "list of custom and official",
        "On telco churn at epsilon 4, the variant has AUROC 0.8225, DP-EBM 0.839",
        lambda t: _taught_words(t, "telco"),
        lambda t: of_all(
            [
                abs(_taught(t, data="telco")[_TAUGHT] - 0.8225) <= 0.02,
                abs(_taught(t, data="telco")["DP-EBM, GDP"] - 0.839) <= 0.022,
            ]
        ),
        _UNPRINTED,
        "telco",
    ),
    Claim(
        PAPER,
        "list of custom and official",
        "The full algorithm is better than the simplified variant on telco churn",
        lambda t: _taught_words(t, "telco"),
        lambda t: bool(_taught(t, data="telco")["DP-EBM, GDP"] > _taught(t, data="telco")[_TAUGHT]),
        "the variant is not private",
    ),
    Claim(
        PAPER,
        "list of custom and official",
        "The same on credit-card fraud: 0.8754 and 0.969",
        lambda t: _taught_words(t, "credit_fraud"),
        lambda t: of_all(
            [
                abs(_taught(t, data="credit_fraud")[_TAUGHT] - 0.8754) <= 0.02,
                abs(_taught(t, data="credit_fraud")["DP-EBM, GDP"] - 0.969) <= 0.022,
            ]
        ),
        f"{NO_FILE}; {_UNPRINTED}",
        "credit_fraud",
    ),
    Claim(
        PAPER,
        "custom implementation",
        "The variant has one noise scale and divides no budget over its rounds",
        lambda t: (
            "its releases together have epsilon "
            f"{_taught(t, 'epsilon of all releases')[_TAUGHT]:,.0f} where 4 is meant"
        ),
        lambda t: NOT_TESTABLE,
        "a description of their code; our variant was written after it; on adult, with the 300 "
        "rounds of the paper, if bins and categories were public; the slides print no number of "
        "rounds",
    ),
    untested(
        PAPER,
        "differences from algorithm 2",
        "The paper reduces variance by outer and inner bagging, and has monotonicity",
        "about another source, whose algorithm 2 has neither: it bags EBMs without privacy, and "
        "makes a private curve monotone after the fit",
        NOT_TESTABLE,
    ),
    untested(
        PAPER,
        "critical analysis",
        "Noise as a regularizer is not always good; the paper has tabular data only, and no "
        "private networks to compare with",
        "remarks about the paper, without a number; the page of DP-EBM has studies of what noise "
        "does to curves, for section 5.3",
        NOT_TESTABLE,
    ),
    *(
        printed_row(
            PAPER,
            "table of new data",
            data,
            f"Sizes of {data.capitalize()}",
            _new_sizes(data),
            f"{NO_FILE}; files of another size are refused",
        )
        for data in NEW_TABLES
    ),
    *_new_claims("parkinson", "RMSE of the variant and of DP-EBM"),
    *_new_claims("phishing", "AUROC of the variant, DP-EBM, logistic regression and forest"),
)
