import assert from "node:assert/strict";
import test from "node:test";

import { csvCell } from "../../../widgets/dpexplain_widgets/static/export/csv.js";

test("numbers of a table are plain numbers in a file", () => {
  const cells = [["\u22120.522", "-0.522"], ["+1.2", "1.2"], ["1,465", "1465"], ["0", "0"]];
  for (const [shown, written] of cells) assert.equal(csvCell(shown), written);
});

test("texts are quoted, and none is a formula", () => {
  assert.equal(csvCell('say "no"'), '"say ""no"""');
  for (const sign of ["=", "+", "-", "@"]) assert.equal(csvCell(`${sign}cmd()`), `"'${sign}cmd()"`);
  assert.equal(csvCell("\u2068=cmd()\u2069"), "\"'=cmd()\"");
});
