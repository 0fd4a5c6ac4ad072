import assert from "node:assert/strict";
import { test } from "node:test";

import { binColumns, columnAt, crowdsTheAxis, splitSpecial, valuePosition } from "../../../widgets/dpexplain_widgets/static/charts/bins.js";
import { bandPath, stepPath } from "../../../widgets/dpexplain_widgets/static/charts/path.js";
import { linearScale, logPositions, nearestIndex, niceAxis, niceTicks } from "../../../widgets/dpexplain_widgets/static/charts/scale.js";
import { labelsThatFit } from "../../../widgets/dpexplain_widgets/static/kit/text.js";

const identity = (value) => value;

test("a linear scale maps the ends to the ends and back", () => {
  const scale = linearScale([-2, 6], [100, 20]);
  assert.equal(scale(-2), 100);
  assert.equal(scale(6), 20);
  assert.equal(scale.invert(scale(3.25)), 3.25);
});

test("equal ratios of epsilon are equally far apart", () => {
  const [a, b, c] = logPositions([0.25, 0.5, 1], 0, 100);
  assert.ok(Math.abs(b - a - (c - b)) < 1e-9);
  assert.deepEqual([a, c], [0, 100]);
});

test("one epsilon stands in the middle and none needs no place", () => {
  assert.deepEqual(logPositions([3], 0, 100), [50]);
  assert.deepEqual(logPositions([], 0, 100), []);
});

test("ticks are multiples of their step inside the interval", () => {
  const { ticks, step } = niceTicks(17, 90, 6);
  assert.equal(step, 20);
  assert.deepEqual(ticks, [20, 40, 60, 80]);
});

test("ticks of whole numbers are whole", () => {
  assert.deepEqual(niceTicks(0.5, 5.5, 2, true), { ticks: [2, 4], step: 2 });
  assert.deepEqual(niceTicks(0.5, 3.5, 9, true).ticks, [1, 2, 3]);
  assert.deepEqual(niceTicks(0.5, 5.5, 2).ticks, [2.5, 5]);
});

test("an axis holds zero and every value between its ends", () => {
  for (const values of [[0.3, 0.71], [-5, -2], [1e-9, -3e-9], [12345, -0.1]]) {
    const { domain, ticks } = niceAxis(values, 5);
    assert.ok(domain[0] <= Math.min(0, ...values) && domain[1] >= Math.max(0, ...values));
    assert.ok(ticks.includes(0));
    assert.ok(ticks.length >= 3 && ticks.length <= 12);
  }
});

test("an axis of zeros still has a length", () => {
  assert.deepEqual(niceAxis([0, 0], 5).domain, [-1, 1]);
});

test("the nearest stop wins", () => {
  assert.equal(nearestIndex([0, 10, 30], 21), 2);
  assert.equal(nearestIndex([], 5), -1);
});

test("a step curve rises at the edges only", () => {
  assert.equal(stepPath([0, 1, 3], [5, 7], identity, identity), "M0 5V5H1V7H3");
});

test("a band returns to where it began", () => {
  assert.equal(bandPath([0, 1], [2], [4], identity, identity), "M0 4V4H1V2H0Z");
});

test("special bins are the last ones", () => {
  const termFit = { labels: ["a", "b", "missing"], special: ["missing"] };
  assert.deepEqual(splitSpecial(termFit, [1, 2, 3]), { ordinary: [1, 2], special: [3] });
});

test("bins of very unequal width are drawn equally wide", () => {
  const [many, few] = [{ edges: [0, 1, 2, 3, 1000], count: [1, 1, 1, 9] }, { edges: [0, 10, 20], count: [3, 4] }];
  assert.equal(crowdsTheAxis([many], 300), true);
  assert.equal(crowdsTheAxis([few], 300), false);
  assert.equal(crowdsTheAxis([few, many], 300), true);
  const x = valuePosition([0, 1, 2, 1000], true, 0, 300);
  assert.deepEqual([0, 1, 2, 1000].map(x), [0, 100, 200, 300]);
  assert.equal(x(501), 250);
});

test("a narrow bin with many records is drawn as wide as the others", () => {
  const edges = [0, 1, 200, 300, 400, 500];
  assert.equal(crowdsTheAxis([{ edges, count: [40, 20, 20, 20, 20] }], 300), true);
  assert.equal(crowdsTheAxis([{ edges, count: [4, 20, 20, 20, 20] }], 300), false);
});

test("values beyond the edges of the read fit stay inside the axis", () => {
  const x = valuePosition([0, 1, 2], true, 0, 100);
  assert.deepEqual([x(-9), x(9)], [0, 100]);
});

test("a position finds its column, or the nearest", () => {
  const columns = binColumns([0, 1, 2], (value) => 100 * value, [[230, 260]]);
  assert.deepEqual([50, 199, 215, 229, 900, -4].map((x) => columnAt(columns, x)), [0, 1, 1, 2, 2, 0]);
});

test("labels that would touch give way by priority", () => {
  const labels = [
    { center: 0, width: 20, priority: 1 },
    { center: 15, width: 20, priority: 0 },
    { center: 60, width: 20, priority: 2 },
  ];
  assert.deepEqual(labelsThatFit(labels, 4), [1, 2]);
});
