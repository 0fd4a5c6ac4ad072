import assert from "node:assert/strict";
import { test } from "node:test";

import {
  epsilonForTarget, existenceWords, onlyMetric, targetWords,
} from "../../../widgets/dpexplain_widgets/static/views/planner/sweep_answers.js";

const sweep = (name, rows, epsilons = [0.5, 1, 4]) =>
  ({ epsilons, fits: rows.map((row) => row.map((value) => ({ metrics: { [name]: value } }))) });

test("a target between two epsilons is met in between, one beyond the last nowhere", () => {
  const found = sweep("AUROC", [[0.7], [0.75], [0.8]]);
  assert.equal(epsilonForTarget(found, "AUROC", 0.7), 0.5);
  assert.ok(Math.abs(epsilonForTarget(found, "AUROC", 0.775) - 2) < 1e-12);
  assert.equal(epsilonForTarget(found, "AUROC", 0.81), Infinity);
  assert.match(targetWords(found, "AUROC", 0.775), /^With ε = 2, 9 of 10 fits would reach AUROC 0.775/);
  assert.match(targetWords(found, "AUROC", 0.9), /^No ε up to 4 makes AUROC 0.9 likely/);
  assert.equal(targetWords(found, "AUROC", null), "");
});

test("errors are reached from above, and the spread of repeats counts against a target", () => {
  assert.equal(epsilonForTarget(sweep("RMSE", [[3], [2], [1]]), "RMSE", 2), 1);
  const spread = sweep("AUROC", [[0.6, 0.7], [0.7, 0.8], [0.8, 0.9]]);
  assert.ok(epsilonForTarget(spread, "AUROC", 0.75) > 1);
});

test("a page with several metrics, or with none, has no single metric", () => {
  assert.equal(onlyMetric(sweep("AUROC", [[0.7], [0.8]])), "AUROC");
  assert.equal(onlyMetric({ fits: [[{ metrics: { a: 1, b: 2 } }]] }), "");
  assert.equal(onlyMetric({ fits: [[{ metrics: {} }], [{ metrics: { a: 1 } }]] }), "");
});

test("a pair is said to exist where a fit has it", () => {
  const made = (...absent) => ({
    epsilons: [0.5, 1, 4], terms: [{ name: "age & job" }],
    fits: absent.map((row) => row.map((each) => ({ terms: [{ absent: each }] }))),
  });
  const words = (...absent) => existenceWords(made(...absent), { name: "age & job" });
  assert.equal(words([true], [false], [false]), " exists at ε = 1 and 4 only.");
  assert.equal(words([true], [true], [false]), " exists at ε = 4 only.");
  assert.equal(words([true], [true], [true]), " exists in no private fit.");
  assert.equal(words([true, false], [false], [false]), " exists at ε = 0.5, 1 and 4, but not in every fit.");
  assert.equal(words([false], [false], [false]), "");
  assert.equal(existenceWords(made([true], [true], [true]), undefined), "");
});
