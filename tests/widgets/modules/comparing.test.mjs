import assert from "node:assert/strict";
import { test } from "node:test";

import { comparisonKinds, comparisonOf } from "../../../widgets/dpexplain_widgets/static/views/disagreement/comparing.js";
import { binOfValue, commonParts, disagreement } from "../../../widgets/dpexplain_widgets/static/views/disagreement/distance.js";
import { heatLevel, heatText, LEVELS, levelWords } from "../../../widgets/dpexplain_widgets/static/views/disagreement/heat.js";
import { bumpPath, placesOf, rankColumns, rankedTerms, squeezed } from "../../../widgets/dpexplain_widgets/static/views/rank/ranks.js";
import { rowsInSight } from "../../../widgets/dpexplain_widgets/static/kit/rows.js";
import { readState } from "../../../widgets/dpexplain_widgets/static/state/state.js";
import { stubModel } from "../../../widgets/dpexplain_widgets/static/state/stub_model.js";
import { listedTerms } from "../../../widgets/dpexplain_widgets/static/state/term_list.js";

const term = (edges, contribution, count, more = {}) => ({
  edges, contribution, count, special: ["missing"], importance: contribution[0],
  labels: contribution.map((_, i) => (i < contribution.length - 1 ? `${i}` : "missing")), ...more,
});
const fit = (value, isPrivate = true) => ({
  guarantee: { private: isPrivate },
  terms: [term([0, 1], [value, 0], [9, 1]), term([0, 1], [2 - value, 0], [9, 1])],
});

function made(choices = {}, parts = {}) {
  const payload = {
    name: "a", epsilons: [0.5, 1], fits: [[fit(1), fit(1.5)], [fit(0.5)]], reference: fit(2, false),
    terms: [{ name: "age" }, { name: "Job" }], others: [], samples: null, ...parts,
  };
  const model = stubModel({
    payload, model_name: "a", other_model: "", epsilon_index: 0, term: "age", show_reference: true, repeat: 0,
    ...choices,
  });
  return { model, state: readState(model) };
}

test("a value at an edge belongs to the bin that begins there", () => {
  assert.deepEqual([-5, 0, 0.9, 1, 2, 3, 99].map((value) => binOfValue([0, 1, 3], value)), [0, 0, 0, 1, 1, 1, 1]);
});

test("people are spread evenly inside a bin that the other curve divides", () => {
  const parts = commonParts(term([0, 4], [1, 7], [30, 10]), term([0, 1, 4], [3, 5, 8], [1, 1, 1]));
  assert.deepEqual(parts.map(({ bin, value, other, weight }) => [bin, value, other, weight]),
    [[0, 1, 3, 0.75 * 0.25], [0, 1, 5, 0.75 * 0.75], [1, 7, 8, 0.25]]);
});

test("disagreement is relative to the other curve, and unknown against a flat one", () => {
  assert.equal(disagreement(term([0, 1], [3, 0], [1, 0]), term([0, 1], [2, 0], [1, 0])), 0.5);
  assert.equal(disagreement(term([0, 1], [3, 0], [1, 0]), term([0, 1], [0, 0], [1, 0])), null);
});

test("negative noisy counts weigh nothing, and no counts weigh alike", () => {
  const flat = term([0, 1], [1, 1], [1, 1]);
  assert.equal(disagreement(term([0, 1], [1, 9], [5, -3]), flat), 0);
  assert.equal(disagreement(term([0, 1], [1, 3], [-5, -3]), flat), 1);
});

test("a comparison that is not there is replaced by the first that is", () => {
  const { state } = made();
  assert.deepEqual(comparisonKinds(state), ["reference", "epsilon", "repeat"]);
  assert.equal(comparisonOf(state, "model").kind, "reference");
  assert.equal(comparisonOf(made({}, { reference: null }).state, "reference").kind, "epsilon");
});

test("without a pin the largest epsilon is compared with, and the words say so", () => {
  const { state } = made({ show_reference: false });
  const comparison = comparisonOf(state, "epsilon");
  assert.equal(comparison.baseStop, 1);
  assert.match(comparison.words, /ε = 1 \(the largest; pin another/);
  assert.match(comparisonOf(made({ pinned_epsilon: 0.5 }).state, "epsilon").words, /ε = 0.5 \(pinned\)/);
});

test("another model is met at its nearest epsilon", () => {
  const others = [{ name: "b", epsilons: [0.1, 0.9], fits: [[fit(7)], [fit(8)]], reference: null, terms: [] }];
  const { state } = made({ other_model: "b" }, { others });
  assert.equal(state.other.terms[0].contribution[0], 8);
  assert.equal(comparisonOf(state, "model").fitAt(0).terms[0].contribution[0], 8);
});

test("a single fit stands alone", () => {
  const { state } = made({}, { epsilons: [1], fits: [[fit(1)]], reference: null });
  assert.equal(comparisonOf(state, "reference"), null);
});

test("levels of a heat map cover every share without a gap", () => {
  assert.deepEqual([0, 0.049, 0.05, 0.99, 1, 40].map(heatLevel), [0, 0, 1, 5, 6, 6]);
  assert.equal(levelWords(0), "0 to 5%");
  assert.equal(levelWords(LEVELS.length - 1), "100% or more");
  assert.deepEqual([null, 0.123, 1, 12.3].map(heatText), ["–", "12", "100", "12×"]);
});

test("places are those of the importances, in model order where they tie", () => {
  assert.deepEqual(placesOf(fit(1)), [1, 2]);
  assert.deepEqual(placesOf(fit(0.5)), [2, 1]);
});

test("the reference has a column of its own while it is shown", () => {
  assert.deepEqual(rankColumns(made().state).map((column) => column.isReference), [false, false, true]);
  assert.equal(rankColumns(made({ show_reference: false }).state).length, 2);
});

test("places of listed terms have no gaps", () => {
  const at = squeezed([4, 1, 3, 2], [0, 2]);
  assert.deepEqual([4, 3, 1, 2].map(at), [2, 1, 0.5, 0.5]);
});

test("a line through places is level at each of them", () => {
  assert.equal(bumpPath([[0, 1], [10, 5]]), "M0 1C5 1 5 5 10 5");
});

test("only rows in sight exist in a long list, all in a short one", () => {
  assert.deepEqual(rowsInSight(30, 44, 900, 300), [0, 30]);
  assert.deepEqual(rowsInSight(100, 44, 0, 440), [0, 14]);
  assert.deepEqual(rowsInSight(100, 44, 4000, 440), [86, 100]);
});

test("terms are searched without regard to case, and noise can be left out", () => {
  const { model, state } = made({ term_search: " JO" });
  assert.deepEqual(listedTerms(model, state), [1]);
  state.fit.terms[1].above_noise = false;
  const filtered = made({ above_noise_only: true });
  filtered.state.fit.terms[0].above_noise = false;
  assert.deepEqual(listedTerms(filtered.model, filtered.state), [1]);
});

test("pairs of features have no rank and come after the curves", () => {
  const curve = (importance) => ({ importance });
  const shown = { terms: [curve(1), curve(3), { importance: 9, axes: [] }, { importance: 2, axes: [] }] };
  assert.deepEqual(placesOf(shown), [2, 1, 3, 4]);
  assert.deepEqual(rankedTerms({ terms: [{ kind: "numeric" }, { kind: "pair" }, { kind: "categorical" }] }), [0, 2]);
});

test("a pair is compared only on equal grids, and not with a model that lacks it", () => {
  const pair = (labels, contribution, more = {}) =>
    ({ axes: [], edges: null, labels, special: [], contribution, count: [1, 1], ...more });
  const one = pair(["a, x", "a, y"], [1, -1]);
  assert.equal(disagreement(pair(["a, x", "a, y"], [2, -2]), one), 1);
  assert.equal(disagreement(pair(["b, x", "b, y"], [1, -1]), one), null);
  assert.equal(disagreement(pair(["a, x", "a, y"], [0, 0], { absent: true }), one), null);
});
