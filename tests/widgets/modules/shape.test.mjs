import assert from "node:assert/strict";
import { test } from "node:test";

import { orderedRange, rangeSentence, rangeTitle } from "../../../widgets/dpexplain_widgets/static/views/shape/ranges.js";
import { PAGE_SIZE, pageOf } from "../../../widgets/dpexplain_widgets/static/views/shape/multiples.js";
import { directionsOf, drawnErrors, replayedCurve, uniforms } from "../../../widgets/dpexplain_widgets/static/views/shape/replay.js";
import { cellAfterKey, pointedCell } from "../../../widgets/dpexplain_widgets/static/views/shape/pair_panel.js";
import { edgeDay } from "../../../widgets/dpexplain_widgets/static/kit/format.js";
import { endsThatFit, endTexts, smallAxisValues } from "../../../widgets/dpexplain_widgets/static/views/shape/small_shape.js";
import { histogramHeights } from "../../../widgets/dpexplain_widgets/static/charts/bins.js";
import { rowOrder } from "../../../widgets/dpexplain_widgets/static/views/shape/shape_categorical.js";
import { shownLayer, termCurves } from "../../../widgets/dpexplain_widgets/static/charts/curves.js";
import { causeShares } from "../../../widgets/dpexplain_widgets/static/kit/words.js";

const letters = (rows) => rows.flat().map((step) => String.fromCharCode(63 + step)).join("");
const term = {
  edges: [0, 1, 2, 4], labels: ["a", "b", "c", "missing"], special: ["missing"], signal: [true, true, false, false],
  contribution: [1, 2, 3, 9], count: [10, 30, -5, 2], total_std: [0.5, 1, 2, 4], band_factor: 2,
};

test("directions are read back by rows, with their signs", () => {
  const shaped = { ...term, directions: letters([[14, -14, 0, 7], [0, 0, 14, 0]]) };
  assert.deepEqual(directionsOf(shaped), [[1, -1, 0, 0.5], [0, 0, 1, 0]]);
  assert.deepEqual(directionsOf({ ...term, directions: null }), []);
});

test("uniform numbers are the same for a seed, others for another, and never zero", () => {
  const take = (seed) => Array.from({ length: 200 }, ((next) => () => next())(uniforms(seed)));
  assert.deepEqual(take(7), take(7));
  assert.notDeepEqual(take(7), take(8));
  assert.ok(take(0).every((value) => value > 0 && value <= 1));
});

// With 4,000 draws a variance is off by 2.2% in one standard deviation; the draws are fixed by
// their numbers, so this passes or fails for good.
test("draws have the variance of each bin and go together as the directions say", () => {
  const shaped = { ...term, directions: letters([[14, 14, 10, 0]]) };
  const draws = Array.from({ length: 4000 }, (_, k) => drawnErrors(shaped, k));
  const moment = (i, j) => draws.reduce((sum, each) => sum + (each[i] / term.total_std[i]) * (each[j] / term.total_std[j]), 0) / draws.length;
  for (const i of [0, 1, 2, 3]) assert.ok(Math.abs(moment(i, i) - 1) < 0.12, String(moment(i, i)));
  assert.ok(Math.abs(moment(0, 1) - 1) < 0.12);
  assert.ok(Math.abs(moment(0, 2) - 20 / 28) < 0.12);
  assert.ok(Math.abs(moment(0, 3)) < 0.12);
});

test("a replayed curve is the curve with a draw on it; without noise there is none", () => {
  const errors = drawnErrors(term, 3, 1);
  assert.deepEqual(replayedCurve(term, 3, 1), term.contribution.map((value, i) => value + errors[i]));
  assert.equal(replayedCurve({ ...term, total_std: null }, 3), null);
});

test("a range has its ends in order and leaves special bins out", () => {
  assert.deepEqual([orderedRange(2, 0, 3), orderedRange(1, 3, 3), orderedRange(3, 4, 3)], [[0, 2], [1, 2], null]);
});

test("a range is read with its people, its ends and what is signal", () => {
  const words = rangeSentence(term, [0, 1], { ...term, contribution: [2, 4, 6, 0] }, true);
  assert.equal(words, "2 bins, on average +1.75 · lowest +1, highest +2 · noisy count 40 · 2 of them signal · " +
    "non-private reference: +3.5");
  assert.match(rangeTitle({ name: "age", unit: "years" }, term, [0, 1]), /age.*: 0 to 2 .*years/);
  const days = { ...term, edges: [18261.5, 18293.5, 18321.5] };
  assert.match(rangeTitle({ name: "day", is_date: true, step: 1 }, days, [0, 1]), /: 2020-01-01 to 2020-02-29$/);
});

test("pages hold twelve, and one beyond the last is the last", () => {
  assert.equal(PAGE_SIZE, 12);
  assert.deepEqual(pageOf(30, 1), { page: 1, pages: 3, from: 12, to: 24 });
  assert.deepEqual(pageOf(30, 9), { page: 2, pages: 3, from: 24, to: 30 });
  assert.deepEqual(pageOf(0, 0), { page: 0, pages: 1, from: 0, to: 0 });
});

test("the ends of a small axis are dates where the feature is one", () => {
  assert.deepEqual(endTexts({ is_date: true, step: 1 }, [18261.5, 18300.5, 18321.5]), ["2020-01-01", "2020-02-29"]);
  assert.deepEqual(endTexts({ is_date: false }, [0, 1, 2.5]), ["0", "2.5"]);
});

test("an edge between two days is named after the day that begins there", () => {
  const edges = [18261.5, 18293.5, 18321.5];
  assert.deepEqual(edges.map((edge) => edgeDay(edge, edges)), ["2020-01-01", "2020-02-02", "2020-02-29"]);
  assert.equal(edgeDay(18293, edges), "2020-02-01");
});

test("wide bands do not flatten a small picture", () => {
  const values = smallAxisValues([{ role: "main", termFit: { ...term, total_std: [100, 1, 1, 1] } }], []);
  assert.ok(Math.max(...values) <= 3 * 1.4 + 1e-9);
});

test("a spike of the reference does not flatten a small chart, but its own values count alone", () => {
  const spike = { ...term, contribution: [1, 90, 3, 9] };
  const curves = [{ role: "reference", termFit: spike }, { role: "main", termFit: term }];
  assert.ok(Math.max(...smallAxisValues(curves, [])) <= 3 * 1.4 + 1e-9);
  assert.ok(Math.max(...smallAxisValues([{ role: "reference", termFit: spike }], [])) >= 90);
});

test("bins of different widths are drawn as densities, equal ones and special ones as counts", () => {
  const { heights, width } = histogramHeights(term, false);
  assert.deepEqual([heights, width], [[10, 30, -2.5, 2], 1]);
  assert.deepEqual(histogramHeights(term, true).heights, term.count);
  assert.equal(histogramHeights(term, true).width, null);
  assert.equal(histogramHeights({ ...term, edges: [0, 1, 2, 3] }, false).width, null);
});

test("bins below a tenth of the median width are narrow, and special bins never are", () => {
  const shaped = { ...term, edges: [0, 0.09, 1.09, 3.09] };
  assert.deepEqual(histogramHeights(shaped, false).narrow, [true, false, false, false]);
  assert.deepEqual(histogramHeights(shaped, true).narrow, [false, false, false, false]);
});

test("categories are sorted by size or uncertainty, and special bins stay last", () => {
  const job = { ...term, edges: null, contribution: [1, 3, 2, 9], total_std: [2, 0.5, 1, 4] };
  assert.deepEqual(rowOrder(job, "schema"), [0, 1, 2, 3]);
  assert.deepEqual(rowOrder(job, "contribution"), [1, 2, 0, 3]);
  assert.deepEqual(rowOrder(job, "uncertainty"), [0, 2, 1, 3]);
});

test("what a variance is made of is told by its causes", () => {
  const made = { ...term, noise_std: [1, 1, 1, 1], structure_std: [0, 0, 0, 0], sampling_std: [1, 1, 1, 1] };
  assert.deepEqual(causeShares(made), [["privacy", 0.5], ["bins and trees", 0], ["sampling", 0.5]]);
  assert.deepEqual(causeShares({ ...term, noise_std: [1, 1, 1, 1] }), []);
});

test("a cell that was pointed at belongs to its own pair", () => {
  assert.equal(pointedCell(["age & job", 7], "age & job"), 7);
  assert.deepEqual([pointedCell(["age & job", 7], "age & sex"), pointedCell(null, "age & job")], [null, null]);
});

test("keys walk over the cells of a pair and stop at its edges", () => {
  const pair = { axes: [{ labels: ["a", "b"] }, { labels: ["x", "y", "z"] }] };
  const after = (key, cell) => cellAfterKey({ key }, cell, pair);
  assert.deepEqual([after("ArrowUp", 1), after("ArrowUp", 4), after("ArrowRight", 2)], [4, 4, 2]);
  assert.deepEqual([after("Home", 5), after("ArrowDown", 3), after("End", null), after("x", 1)], [3, 0, 0, null]);
});

test("what is drawn of a term are its layers, the estimate in the place of the curve where it stands alone", () => {
  const effect = { effect: [5, 6, 7, 0], effect_std: [1, 1, 1, 1], effect_factor: 2 };
  const fits = [{ terms: [{ ...term, ...effect }] }];
  const state = { fit: fits[0], fits, repeat: 0, termIndex: 0, pinned: null, other: null, reference: null, payload: { fits: [fits] } };
  const roles = (shownCurve) => termCurves({ ...state, shownCurve }).map(({ role }) => role);
  assert.deepEqual(["both", "released", "effect"].map(roles), [["effect", "main"], ["main"], ["effect"]]);
  const [alone] = termCurves({ ...state, shownCurve: "effect" });
  assert.deepEqual(alone.termFit.contribution, effect.effect);
  assert.equal(alone.termFit.total_std, null);
  const without = { terms: [term] };
  assert.equal(shownLayer({ ...state, fit: without, shownCurve: "effect" }), "released");
});

test("dates at the ends of a small axis are months or years where days have no room", () => {
  const days = ["2016-01-01", "2024-12-31"];
  const within = (n) => (text) => text.length <= n;
  assert.deepEqual(endsThatFit(days, within(22)), days);
  assert.deepEqual(endsThatFit(days, within(21)), ["2016-01", "2024-12"]);
  assert.deepEqual(endsThatFit(days, within(12)), ["2016", "2024"]);
  assert.deepEqual(endsThatFit(days, within(9)), ["2016-01-01"]);
  assert.deepEqual(endsThatFit(["0", "200,000"], within(5)), ["0"]);
});
