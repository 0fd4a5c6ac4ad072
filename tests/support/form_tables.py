"""A small messy table with its dictionary, and the answers to the form."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
from ipywidgets.embed import dependency_state

from dpexplain.app import ReleaseForm

DICTIONARY = """name,type,min,max,categories,aliases,missing,decimal,source
record_no,id,,,,,,,
patient_id,person,,,,,,,
creatinine,number,20,900,,,-99|unknown,comma,laboratory manual
sex,category,,,1=male|2=female,m=male|Femal=female,-9,,
died,boolean,,,0=no|1=yes,ja=yes|nein=no,9,,
"""
HEADER = "record_no;patient_id;creatinine;sex;died"


def messy_lines(n: int = 200) -> list[str]:
    """Make lines of a table with markers, decimal commas, codes and other spellings."""
    rng = np.random.default_rng(0)
    lines = []
    for row in range(n):
        value = round(float(rng.uniform(20, 900)), 1)
        shown = rng.choice(["-99", "unknown"]) if rng.random() < 0.2 else str(value)
        sex = rng.choice(["1", "m", "male", "2", "Femal", "-9"])
        died = rng.choice(["1", "ja"] if value > 400 else ["0", "nein", "9"])
        lines.append(f"{row};{row // 2};{shown.replace('.', ',')};{sex};{died}")
    return lines


def write_messy(folder: Path, lines: list[str] | None = None) -> None:
    """Write the table and its dictionary into a folder."""
    rows = messy_lines() if lines is None else lines
    (folder / "data.csv").write_text("\n".join([HEADER, *rows]) + "\n")
    (folder / "dictionary.csv").write_text(DICTIONARY, encoding="utf-8")


def filled(form: type[ReleaseForm] = ReleaseForm, **changed: str) -> ReleaseForm:
    """Fill a form in for the messy table of the current folder."""
    answers: dict[str, Any] = {
        "table": "data.csv",
        "separator": ";",
        "schema": "dictionary.csv",
        "target": "died",
        "model": "linear",
        "epsilon": "1",
        "rows": "2",
        "cap": "3",
        "person": "A. Curie",
        "purpose": "annual report",
    }
    return form(**{**answers, **changed})


def state_of(form: ReleaseForm) -> list[dict[str, Any]]:
    """Return what a notebook would save of a form, without random names."""
    state = dependency_state([form], drop_defaults=False)
    order = {name: f"widget {place}" for place, name in enumerate(state)}
    text = json.dumps([each["state"] for each in state.values()], default=_in_hex)
    text = text.replace(str(Path.cwd()), "")
    for name, place in order.items():
        text = text.replace(name, place)
    return [{k: v for k, v in each.items() if k != "_still"} for each in json.loads(text)]


def _in_hex(value: Any) -> str:
    return bytes(value).hex()


def click(form: ReleaseForm, *names: str) -> None:
    """Click buttons of a form, one after another."""
    for name in names:
        form.buttons[name].click()


def said(form: ReleaseForm, name: str) -> str:
    """Return the text at a field or in a message."""
    place: str = form.fields[name].said if name in form.fields else form.messages[name].value
    return unescape(place)
