"""``dpexplain predict``: predict targets for table rows with a saved explanation."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dpexplain.io
from dpexplain.cli.errors import CommandError
from dpexplain.cli.options import add_command, add_file, check_place
from dpexplain.cli.tables import any_table, only_column
from dpexplain.explain import GlobalExplanation, MulticlassExplanation
from dpexplain.explain.display import ONE_OF_A_SWEEP

if TYPE_CHECKING:
    import pandas as pd

    from dpexplain.schema import Schema

_LAST = "They are as confidential as the rows: the guarantee of the model does not cover these."


def add_commands(commands: Any) -> None:
    """Add the ``predict`` command."""
    predict = add_command(
        commands,
        "predict",
        summary="Predict the rows of a table with a saved explanation. Needs no model and spends "
        "nothing; the predictions are as confidential as the rows.",
        examples="dpexplain predict model.json new.csv --out predictions.csv\n"
        "dpexplain predict model.json new.csv --sep ';' --encoding latin-1 --out predictions.csv",
    )
    predict.add_argument("file", type=Path, help="explanation of one fit, as JSON")
    add_file(predict)
    predict.add_argument(
        "--schema",
        type=Path,
        metavar="TOML",
        help="rules for cells, for a file that was saved without its schema",
    )
    predict.add_argument(
        "--out",
        type=Path,
        required=True,
        help="predictions, as CSV: one line per row, in the order of the table",
    )
    predict.add_argument("--quiet", action="store_true", help="print no summary, only errors")
    predict.set_defaults(run=run_predict)


def run_predict(asked: argparse.Namespace) -> None:
    """Predict the target of each row of a table and write a CSV file."""
    given = [path for path in (asked.file, asked.table, asked.schema) if path]
    check_place(asked.out, suffixes=(".csv",), kept=tuple(given))
    explanation = dpexplain.io.load(asked.file)
    if not isinstance(explanation, GlobalExplanation | MulticlassExplanation):
        raise CommandError(
            f"{asked.file} contains a {type(explanation).__name__}, which cannot predict; pass a "
            "file of `dpexplain fit` with --model boosting, linear or another additive model; "
            f"{ONE_OF_A_SWEEP}"
        )
    schema = _further_schema(asked, explanation.schema)
    rows = any_table(asked)
    names = [str(name) for name in rows.columns]
    if len(names) == 1 and names[0] not in explanation.term_names_:
        raise CommandError(f"{asked.table}: {only_column(names[0])}")
    predicted = predictions(explanation, rows if schema is None else schema.clean(rows))
    dpexplain.io.write_file(asked.out, predicted.to_csv(index=False, lineterminator="\n"))
    if not asked.quiet:
        print(f"{len(predicted)} predictions saved to {asked.out}. {_LAST}")


def predictions(
    explanation: GlobalExplanation | MulticlassExplanation, rows: pd.DataFrame
) -> pd.DataFrame:
    """Predict the target of each row.

    Parameters
    ----------
    explanation : GlobalExplanation or MulticlassExplanation
    rows : DataFrame of shape (n_samples, n_columns)

    Returns
    -------
    DataFrame of shape (n_samples, n_outcomes)
        The column ``prediction``; for a classifier, also a column with the probability of each
        class.
    """
    import pandas as pd

    predicted = pd.DataFrame({"prediction": explanation.predict(rows)})
    if explanation.classes is None:
        return predicted
    names = [f"probability_{name}" for name in explanation.classes]
    return predicted.join(pd.DataFrame(explanation.predict_proba(rows), columns=names))


def _further_schema(asked: argparse.Namespace, known: Schema | None) -> Schema | None:
    """Load the schema given in the options, or return None if no schema is given.

    A schema must not be given if the explanation already contains one.
    """
    from dpexplain.schema import Schema

    if asked.schema is None:
        return None
    if known is not None:
        raise CommandError(f"--schema {asked.schema}: {asked.file} has its own schema; omit it.")
    return Schema.from_toml(asked.schema)
