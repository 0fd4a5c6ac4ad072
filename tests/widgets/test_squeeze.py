"""A squeezed script does what the original does."""

from __future__ import annotations

import subprocess

import pytest

from dpexplain_widgets.export.squeeze import squeezed
from node import NODE

SCRIPT = r"""
// Everything that a short name or a lost blank could break.
const ratio = 6 / 3 / 2; /* not a regular expression */
const pattern = /[/"'`]+ {2}(a|b)\/c/g;
let counter = 0;
function label(text, key = "label") {
  const ratio = text.length; // hides the other one
  return `${key}: ${text.replace(pattern, (each) => `<${each}>`)} ${ratio} {not code}`;
}
class Shape {
  size = 3;
  label(counter) { return label(`${counter}`) + this.size; }
  get ratio() { return ratio; }
}
const shorthand = 7;
const keyed = 8;
const own = { label: 1, ratio, shorthand, keyed: keyed + 1, "own": 2 };
const methods = { first: 1, inside(given) { return given * 3; }, async result() {} };
const { size } = new Shape();
const inside = (own) => own.label + + 1 - - size;
for (const key of Object.keys(own)) counter += own[key] ?? 0;
const result = counter > 0 ? label("a`b  (a/c") : keyed;
if (result) counter++;
{ for (; counter < 40; counter += 7); }
{ while (counter++ < 60); }
console.log(JSON.stringify([ratio, result, own, new Shape().label(4), new Shape().ratio]));
console.log(JSON.stringify([methods.inside(2), typeof methods.result, inside(own), counter]));
console.log(typeof shorthand, "two  blanks // stay", counter in own, 3 .toFixed(1));
"""
NAMES = (
    "ratio", "pattern", "counter", "label", "Shape", "shorthand", "keyed", "own", "size",
    "inside", "result",
)  # fmt: skip


def printed(script: str) -> str:
    result = subprocess.run(
        [NODE, "--input-type=module", "-e", script], capture_output=True, text=True, check=True
    )
    return result.stdout


def test_a_squeezed_script_prints_the_same():
    short = squeezed(SCRIPT, NAMES)

    assert printed(short) == printed(SCRIPT)
    assert len(short) < 0.75 * len(SCRIPT)
    assert "//" not in short.replace("two  blanks // stay", "")


def test_names_that_may_be_keys_stay_and_others_go():
    short = squeezed(SCRIPT, NAMES)

    for kept in ("ratio", "shorthand", "label", "keyed"):
        assert kept in short
    for gone in ("pattern", "Shape", "methods"):
        assert gone not in short


def test_names_of_arguments_and_of_the_browser_stay():
    assert squeezed("const first = (given) => document.name + given; const name = 1;", ()) == (
        "let a=(given)=>document.name+given;let name=1;"
    )


@pytest.mark.parametrize("expression", ["1 - -1", "1 + +1", "x++ + ++x", "typeof x", "2 in [x]"])
def test_blanks_stay_where_they_part_tokens(expression):
    script = f"let x = 1; console.log({expression});"

    assert printed(squeezed(script, ["x"])) == printed(script)
