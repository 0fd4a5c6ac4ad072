"""Values passed between modules match the types in their comments, for TypeScript."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from dpexplain_widgets.export.bundle import STATIC
from node import NODE
from typescript import find_tsc

pytestmark = pytest.mark.full

WRONG = """
import { chosenBin, readState } from "{static}/state/state.js";

/** @param {import("{static}/types").Model} model */
export function wrong(model) {
  const state = readState(model);
  return chosenBin(state, state.payload.epsilon);
}
"""


def test_modules_fit_their_types_and_a_planted_mistake_does_not(tmp_path: Path):
    tsc = find_tsc()
    if tsc is None:
        pytest.skip("no TypeScript compiler: `make types` gets one with npm")
    planted = tmp_path / "planted.js"
    planted.write_text(WRONG.replace("{static}", STATIC.as_posix()))
    settings = {
        "extends": str(STATIC.parents[1] / "jsconfig.json"),
        "include": [f"{STATIC.as_posix()}/**/*", str(planted)],
    }
    (tmp_path / "jsconfig.json").write_text(json.dumps(settings))
    result = subprocess.run(
        [NODE, tsc, "-p", tmp_path / "jsconfig.json", "--pretty", "false"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    problems = [line for line in result.stdout.splitlines() if ": error " in line]

    assert len(problems) == 1, result.stdout
    assert problems[0].startswith("planted.js(7,")
    assert "'epsilon' does not exist on type 'Payload'" in problems[0]
