import assert from "node:assert/strict";
import { test } from "node:test";

import {
  binOf, explainValues, flips, normalCertainty, predictionOf, shownValues, signWord, thresholdScore, typicalValue,
  valueRange,
} from "../../../widgets/dpexplain_widgets/static/views/local/contributions.js";
import { certaintyWords, crossingWords } from "../../../widgets/dpexplain_widgets/static/views/local/local.js";
import { readState } from "../../../widgets/dpexplain_widgets/static/state/state.js";
import { stubModel } from "../../../widgets/dpexplain_widgets/static/state/stub_model.js";
import { predictionName } from "../../../widgets/dpexplain_widgets/static/kit/words.js";
import { predictionsOverEpsilon } from "../../../widgets/dpexplain_widgets/static/views/local/people.js";
import { waterfallOrder, waterfallRows } from "../../../widgets/dpexplain_widgets/static/views/local/waterfall.js";
import { inputValue } from "../../../widgets/dpexplain_widgets/static/views/local/what_if.js";

const age = {
  edges: [17, 30, 90], labels: ["young", "old", "missing"], special: ["missing"],
  contribution: [0.5, -0.25, 0.125], count: [10, 90, 1], total_std: [0.1, 0.5, 1], importance: 1,
};
const job = {
  edges: null, labels: ["a", "missing", "other", "(missing)"], special: ["other", "(missing)"],
  contribution: [1, 2, 3, 4], count: [5, 9, 1, 1], total_std: [1, 1, 1, 1], importance: 2,
};
const fit = { guarantee: { private: true }, terms: [age, job], intercept: -1, intercept_std: 0 };
const terms = [{ name: "age", kind: "numeric", step: 1 }, { name: "job", kind: "categorical", step: null }];

function model(choices = {}) {
  const payload = {
    name: "", link: "logit", epsilons: [1], fits: [[fit]], reference: null, terms, others: [],
    samples: { public: false, names: ["x"], rows: [[20, null]] },
  };
  return stubModel({ payload, model_name: "", epsilon_index: 0, term: "age", sample: null, what_if: {}, ...choices });
}

test("a value is found in its bin, beyond the edges in the outermost", () => {
  assert.deepEqual([17, 29.9, 30, 90, -5, 1e9, null].map((value) => binOf(age, value)), [0, 0, 1, 1, 0, 1, 2]);
});

test("a category that is called missing is not the missing bin", () => {
  assert.deepEqual(["a", "missing", "unheard", null].map((value) => binOf(job, value)), [0, 1, 2, 3]);
  assert.equal(binOf({ ...job, special: [], labels: ["a", "b"] }, null), null);
});

test("contributions are added to the intercept in model order", () => {
  const { score, scoreStd, parts } = explainValues(fit, [20, "a"]);
  assert.equal(score, -1 + 0.5 + 1);
  assert.equal(scoreStd, Math.sqrt(0.1 ** 2 + 1));
  assert.deepEqual(parts.map((part) => part.label), ["young", "a"]);
});

test("without a band nothing is said about signs", () => {
  const bare = { ...fit, intercept_std: null, terms: [{ ...age, total_std: null }, { ...job, total_std: null }] };
  const { parts, scoreStd } = explainValues(bare, [20, "a"]);
  assert.deepEqual([signWord(parts[0]), scoreStd], [null, null]);
});

test("certainty of a sign is that of the normal distribution", () => {
  const known = [[0, 0.5], [1, 0.8413447], [1.959964, 0.975], [3, 0.9986501]];
  for (const [ratio, certainty] of known) assert.ok(Math.abs(normalCertainty(-ratio, 1) - certainty) < 1e-6);
  assert.equal(normalCertainty(0.1, 0), 1);
  assert.equal(normalCertainty(0, 0), 0.5);
});

test("a sign is certain from two standard deviations on", () => {
  assert.equal(signWord({ value: 2, std: 1 }), "certain");
  assert.equal(signWord({ value: 1.9, std: 1 }), "uncertain");
  assert.ok(flips({ value: 1 }, { value: -2 }) && !flips({ value: 1 }, { value: 0 }));
});

test("a typical value is the median of a number or the largest category, on a step where there is one", () => {
  assert.equal(typicalValue(age, 1), 60);
  const uneven = { ...age, labels: ["a", "b", "c"], special: [], edges: [0, 40, 50, 100], count: [5, -9, 4] };
  assert.equal(typicalValue(uneven, 1), 20);
  assert.equal(typicalValue({ ...uneven, count: [40, 25, 45] }, 1), 45);
  assert.equal(typicalValue({ ...age, edges: [-0.25, 0.25, 1.25] }, 0.5), 1);
  assert.equal(typicalValue(job, null), "missing");
});

test("a typical value without a step has the decimals that its bin needs", () => {
  const within = (low, high) => typicalValue({ ...age, edges: [low - 1, low, high] }, null);
  assert.equal(within(8.774425187284055, 9.054425187284055), 8.9);
  assert.equal(within(8.7744, 8.7745), 8.77445);
  assert.equal(within(-250.25, 300.5), 25);
  assert.equal(within(0, 1e-15), 0);
  assert.equal(within(2e-7, 3e-7), 2e-7);
});

test("public ranges of stepped values are the values themselves", () => {
  assert.deepEqual(valueRange({ step: 0.5 }, { edges: [17.25, 42.25] }), [17.5, 42]);
  assert.deepEqual(valueRange({ step: null }, { edges: [0.1, 3] }), [0.1, 3]);
});

test("made-up values come before those of the sample, and both before typical ones", () => {
  const values = (choices) => {
    const made = model(choices);
    return shownValues(made, readState(made));
  };
  assert.deepEqual(values({}), [60, "missing"]);
  assert.deepEqual(values({ sample: 0 }), [20, null]);
  assert.deepEqual(values({ sample: 0, what_if: { job: "a" } }), [20, "a"]);
  assert.deepEqual(values({ sample: 9 }), [60, "missing"]);
});

test("inputs give only values that the schema allows", () => {
  assert.deepEqual(["17", "90", "16.9", "", "x"].map((text) => inputValue(text, terms[0], age)),
    [17, 90, undefined, undefined, undefined]);
  assert.equal(inputValue("1", terms[1], job), "missing");
});

test("a waterfall ends at the score, whatever is summed up", () => {
  const many = { ...fit, terms: Array.from({ length: 20 }, (_, i) => ({ ...age, contribution: [i, 0, 0] })) };
  const explained = explainValues(many, Array(20).fill(20));
  const order = waterfallOrder(explained.parts);
  assert.deepEqual([order.terms.length, order.rest.length, order.terms[0]], [13, 7, 19]);
  const rows = waterfallRows(many, explained, order);
  const last = rows.at(-2);
  assert.equal(last.start + last.part.value, explained.score);
  assert.equal(rows.at(-1).part.value, explained.score);
});

test("thresholds are met on the scale of the score", () => {
  assert.equal(thresholdScore("logit", null), 0);
  assert.ok(Math.abs(thresholdScore("logit", predictionOf("logit", 1.5)) - 1.5) < 1e-12);
  assert.ok(Math.abs(thresholdScore("log", predictionOf("log", 0.7)) - 0.7) < 1e-12);
  assert.deepEqual(["identity", "softmax"].map((link) => thresholdScore(link, null)), [null, null]);
});

test("predictions of numbers have intervals without a threshold, if errors are known", () => {
  const known = { ...fit, claims: { factor: 2, together: null } };
  const over = (link, one) => {
    const payload = { link, epsilons: [1], fits: [[one]], target: {} };
    return predictionsOverEpsilon({ payload, repeat: 0, fit: one }, [20, "a"])[0];
  };
  const { prediction, ends } = over("identity", known);
  assert.equal(prediction, 0.5);
  assert.ok(ends[0] < prediction && Math.abs(ends[0] + ends[1] - 2 * prediction) < 1e-12);
  assert.deepEqual(over("log", known).ends, ends.map(Math.exp));
  assert.equal(over("identity", fit).ends, null);
});

test("a decision is told with how sure its side is", () => {
  const words = crossingWords({ link: "logit" }, { score: 1.959964, scoreStd: 1 }, null);
  assert.match(words, /^above 0.5 with 97.5% certainty/);
  assert.equal(crossingWords({ link: "identity" }, { score: 1, scoreStd: 1 }, null), "");
  assert.equal(certaintyWords(0.99999), "more than 99.9%");
});

test("what the curves of trees add up to is not called the prediction of the model", () => {
  const payload = { link: "logit", target: { classes: ["no", "yes"] }, main_effects_only: false };
  assert.match(predictionName(payload), /^Probability of .*yes.*”$/);
  assert.match(predictionName({ ...payload, main_effects_only: true }), /from curves only, without the model's interactions/);
  assert.equal(predictionName({ ...payload, link: "identity" }), "Prediction");
});
