import assert from "node:assert/strict";
import { test } from "node:test";

import { unpack } from "../../../widgets/dpexplain_widgets/static/state/unpack.js";

// Digits as the letters of digits.py: the lowest is twice its size, plus one if negative.
const letter = (digit) => String.fromCharCode(35 + digit + (35 + digit >= 92 ? 1 : 0));
const lowest = (step) => letter(2 * (Math.abs(step) % 45) + (step < 0 ? 1 : 0));
const streamOf = (steps) => [
  steps.map(lowest).join(""), steps.map((step) => letter(Math.floor(Math.abs(step) / 45) % 91)).join(""),
];

test("steps add up and are divided once", () => {
  const streams = { $n: streamOf([3, -1, 0, 5, 1, 4000, -4094]) };
  const value = [{ $n: [1, 3, 2] }, { $n: [-2, 2, 2] }, { $n: [0, 2, 2] }];
  assert.deepEqual(unpack({ table: [], value, streams }), [[0.3, 0.2, 0.2], [500, 600], [4000, -94]]);
});

test("a list with few digits leaves the other streams alone", () => {
  const streams = { $n: [streamOf([1, 2, 90])[0], streamOf([90])[1]] };
  assert.deepEqual(unpack({ table: [], value: [{ $n: [0, 2, 1] }, { $n: [0, 1, 2] }], streams }), [[1, 3], [90]]);
});

test("a part of the table may refer to an earlier part, and is read once", () => {
  const table = [{ $n: [0, 2, 1] }, { inner: { $r: 0 } }];
  const { a, b } = unpack({ table, value: { a: { $r: 1 }, b: { $r: 0 } }, streams: { $n: streamOf([1, 1]) } });
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
  const streams = { $l: streamOf([3, -1, -2]) };
  assert.deepEqual(unpack({ table: [], value: { $l: [1, 3, 2] }, streams }), [8, 4, 1]);
});
