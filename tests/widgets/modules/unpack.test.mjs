import assert from "node:assert/strict";
import { test } from "node:test";

import { fromRatios, fromSteps, unpack } from "../../../widgets/dpexplain_widgets/static/state/unpack.js";

test("steps add up and are divided once", () => {
  assert.deepEqual(fromSteps([1, 3, -1, 0]), [0.3, 0.2, 0.2]);
  assert.deepEqual(fromSteps([-2, 5, 1]), [500, 600]);
});

test("a part of the table may refer to another part, and is read once", () => {
  const { a, b } = unpack({ table: [{ $n: [0, 1, 1] }, { inner: { $r: 0 } }], value: { a: { $r: 1 }, b: { $r: 0 } } });
  assert.deepEqual(a, { inner: [1, 2] });
  assert.equal(a.inner, b);
});

test("marks are words of ones and zeros", () => {
  assert.deepEqual(unpack({ table: [], value: { $b: "101" } }), [true, false, true]);
});

test("a value that looks like a mark is left alone", () => {
  assert.deepEqual(unpack({ table: [], value: { $n: "text", $r: 0.5 } }), { $n: "text", $r: 0.5 });
});

test("ratios add up", () => {
  assert.deepEqual(fromRatios([1, 3, -1, -2]), [8, 4, 1]);
});
