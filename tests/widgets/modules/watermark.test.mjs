import assert from "node:assert/strict";
import { test } from "node:test";

import { curveObstacles, freePlace } from "../../../widgets/dpexplain_widgets/static/charts/watermark.js";

const FRAME = { left: 0, right: 400, top: 0, bottom: 200 };
const identity = (value) => value;

test("in an empty frame the words stand in the upper right corner", () => {
  assert.deepEqual(freePlace(FRAME, 100, 30, []), { left: 290, right: 390, top: 5, bottom: 35 });
});

test("words keep clear of a curve where there is room", () => {
  const obstacles = curveObstacles([0, 200, 400], [170, 20], identity, identity);
  const place = freePlace(FRAME, 100, 30, obstacles);
  for (const each of obstacles) {
    const apart = each.right <= place.left || each.left >= place.right ||
      each.bottom <= place.top || each.top >= place.bottom;
    assert.ok(apart, JSON.stringify({ each, place }));
  }
});

test("words wider than the frame begin where the frame does", () => {
  assert.equal(freePlace(FRAME, 900, 30, []).left, 0);
});
