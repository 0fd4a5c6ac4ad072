import assert from "node:assert/strict";
import { test } from "node:test";

import "./page_stub.mjs";
import { axisValues, termCurves, watermarkText } from "../../../widgets/dpexplain_widgets/static/charts/curves.js";
import { indexAfterKey } from "../../../widgets/dpexplain_widgets/static/kit/keyboard.js";
import { choose } from "../../../widgets/dpexplain_widgets/static/state/choosing.js";
import {
  chooseTerm, chosenBin, drawOnChange, readState, toggleReference,
} from "../../../widgets/dpexplain_widgets/static/state/state.js";
import { stubModel } from "../../../widgets/dpexplain_widgets/static/state/stub_model.js";

function fit(value, isPrivate = true) {
  const term = { labels: ["a", "missing"], special: ["missing"], contribution: [value, 99] };
  return { guarantee: { private: isPrivate }, terms: [term] };
}

function made(choices = {}, parts = {}) {
  const payload = {
    epsilons: [0.5, 1, 2],
    fits: [[fit(1), fit(1.5)], [fit(2)], [fit(3)]],
    reference: fit(7, false),
    terms: [{ name: "age" }],
    ...parts,
  };
  return stubModel({ payload, epsilon_index: 0, term: "age", show_reference: true, repeat: 0, ...choices });
}

test("the stop after the last epsilon is the reference", () => {
  const state = readState(made({ epsilon_index: 3 }));
  assert.equal(state.atReference, true);
  assert.equal(state.fit.terms[0].contribution[0], 7);
});

test("choices that a linked view made elsewhere come back into range", () => {
  const state = readState(made({ epsilon_index: 40, term: "gone", repeat: 9, pinned_epsilon: 3 }));
  assert.deepEqual([state.stop, state.term.name, state.repeat, state.pinnedStop], [3, "age", 0, -1]);
});

test("a hidden reference has no stop, no curve and no part in the axis", () => {
  const state = readState(made({ show_reference: false, epsilon_index: 3 }));
  assert.deepEqual([state.stopCount, state.stop, state.reference], [3, 2, null]);
  assert.deepEqual(termCurves(state).map((curve) => curve.role), ["main"]);
  assert.equal(Math.max(...axisValues(state, true)), 3);
});

test("the main curve is drawn last, over repeats, the pinned fit and the reference", () => {
  const state = readState(made({ pinned_epsilon: 2 }));
  assert.deepEqual(termCurves(state).map((curve) => curve.role), ["repeat", "pinned", "reference", "main"]);
});

test("special bins do not stretch the axis", () => {
  assert.ok(!axisValues(readState(made()), true).includes(99));
});

test("the axis of one epsilon alone holds what is shown", () => {
  const state = readState(made({ show_reference: false }));
  assert.deepEqual(axisValues(state, false).sort(), [1, 1.5]);
});

test("a picture with the reference in it says so", () => {
  assert.equal(watermarkText(readState(made())), "not releasable");
  assert.equal(watermarkText(readState(made({ show_reference: false }))), null);
  assert.match(watermarkText(readState(made({ epsilon_index: 3 }))), /^NOT PRIVATE/);
});

test("switching the reference off leaves its stop", () => {
  const model = made({ epsilon_index: 3 });
  toggleReference(model);
  assert.deepEqual([model.get("show_reference"), model.get("epsilon_index")], [false, 2]);
  toggleReference(model);
  assert.deepEqual([model.get("show_reference"), model.get("epsilon_index")], [true, 2]);
});

test("a model without private fits cannot be hidden", () => {
  const model = made({ show_reference: false }, { epsilons: [], fits: [] });
  toggleReference(model);
  assert.equal(readState(model).referenceShown, true);
});

test("another term forgets the bin, the same term keeps it", () => {
  const terms = [{ name: "age" }, { name: "job" }];
  const model = made({ bin_index: 1 }, { terms });
  chooseTerm(model, "age");
  assert.equal(model.get("bin_index"), 1);
  chooseTerm(model, "job");
  assert.equal(model.get("bin_index"), null);
});

test("a bin that the term lacks is no bin", () => {
  assert.equal(chosenBin({ binIndex: 5 }, 5), null);
  assert.equal(chosenBin({ binIndex: 4 }, 5), 4);
  assert.equal(chosenBin({ binIndex: null }, 5), null);
});

test("a burst of changes is drawn once, and not after the end", async () => {
  const model = made();
  let drawn = 0;
  const stop = drawOnChange(model, ["epsilon_index", "repeat"], () => (drawn += 1));
  choose(model, { epsilon_index: 1, repeat: 0 });
  choose(model, { epsilon_index: 2 });
  await Promise.resolve();
  assert.equal(drawn, 1);
  stop();
  choose(model, { epsilon_index: 0 });
  await Promise.resolve();
  assert.equal(drawn, 1);
});

const press = (key, modifiers = {}) => ({ key, ctrlKey: false, metaKey: false, altKey: false, ...modifiers });

test("arrows, Home and End move within the ends", () => {
  const from = (key, index) => indexAfterKey(press(key), index, 7);
  assert.deepEqual(["ArrowRight", "ArrowLeft", "Home", "End"].map((key) => from(key, 3)), [4, 2, 0, 6]);
  assert.deepEqual([from("ArrowRight", 6), from("ArrowLeft", 0)], [6, 0]);
  assert.equal(from("a", 3), null);
  assert.equal(indexAfterKey(press("ArrowLeft", { ctrlKey: true }), 3, 7), null);
});

test("in a list, down is the next item", () => {
  assert.equal(indexAfterKey(press("ArrowDown"), 3, 7, "list"), 4);
  assert.equal(indexAfterKey(press("ArrowDown"), 3, 7, "line"), 2);
});

test("the first step from nowhere lands on an end", () => {
  const keys = ["ArrowRight", "ArrowLeft", "Home", "End", "PageUp"];
  assert.deepEqual(keys.map((key) => indexAfterKey(press(key), null, 7)), [0, 6, 0, 6, 4]);
});

test("the axis holds the bands of every epsilon, but not one that would flatten the rest", () => {
  const banded = (value, noise) => {
    const made = fit(value);
    Object.assign(made.terms[0], { total_std: [noise, 50], band_factor: 2 });
    return made;
  };
  const fits = [[banded(1, 0.5)], [banded(2, 0.2)], [banded(3, 0.1)]];
  const calm = axisValues(readState(made({ show_reference: false }, { fits })), true);
  assert.deepEqual([Math.min(...calm), Math.max(...calm)], [0, 3.2]);
  fits[0] = [banded(1, 40)];
  const wild = axisValues(readState(made({ show_reference: false }, { fits })), true);
  assert.deepEqual([Math.min(...wild), Math.max(...wild)], [-1.5, 4.5]);
});
