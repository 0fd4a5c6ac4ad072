import assert from "node:assert/strict";
import { test } from "node:test";

import { FilterData, activeFilters, alignedBuffer, noisyMap, rankedClasses, ratioAt, shareOutside, sumsOf } from "../../../widgets/dpexplain_widgets/static/views/filter/filter_data.js";
import { pixelAfterKey } from "../../../widgets/dpexplain_widgets/static/views/filter/filter_detail.js";
import { cellWidth } from "../../../widgets/dpexplain_widgets/static/views/filter/filter_grid.js";
import { colourTable, paintMap, picturePlaces, pictureSize } from "../../../widgets/dpexplain_widgets/static/views/filter/filter_picture.js";
import { layersAt, paintOverlay } from "../../../widgets/dpexplain_widgets/static/views/filter/filter_overlay.js";
import { additionSentence, partsInUnits, readingOf } from "../../../widgets/dpexplain_widgets/static/views/filter/filter_words.js";
import { readFilters } from "../../../widgets/dpexplain_widgets/static/views/filter/filter_state.js";
import { stubModel } from "../../../widgets/dpexplain_widgets/static/state/stub_model.js";
import { unpack } from "../../../widgets/dpexplain_widgets/static/state/unpack.js";

const COLOURS = { negative: [200, 100, 0], zero: [255, 255, 255], positive: [0, 100, 200] };

/** An outline and its bytes: two classes, two filters, two inputs, numbers as given. */
function written(arrays) {
  const parts = [];
  let at = 0;
  const index = {};
  for (const [name, values] of Object.entries(arrays)) {
    const bytes = new Uint8Array(Float32Array.from(values).buffer);
    index[name] = { at, size: values.length, type: "f4", step: 1 };
    parts.push(...bytes);
    at += bytes.length;
  }
  return { index, bytes: new DataView(Uint8Array.from(parts).buffer) };
}

function example(extra = {}) {
  const { index, bytes } = written({
    mean: [1, -2, 3, 4],
    mean_std: [1, 0.5, 1, 1],
    own_std: [3, 0, 4, 1],
    filter: [1, 2, 3, 4, 5, 6, 7, 8],
    inputs: [2, -1],
    scores: [0, Math.log(3)],
    shares: [0.5, 0.5, 0.9, 0.1],
    bias_part: [0.25, 0.5],
    weighted: [1, 1, 2, 3],
    weighted_std: [0.1, 2, 1, 1],
    own_weighted_std: [3, 1, 4, 1],
    ...extra,
  });
  const fit = { arrays: index, limits: { mean: 4, filter: 8 }, signal_to_noise: [[1, 2], [2, 1]], share_of_filters: 0.5 };
  const outline = {
    classes: ["a", "b"], input_names: ["x", "y"], grid_shape: [1, 2], n_filters: 2,
    inputs: index.inputs, fits: [[fit]], reference: null,
  };
  return { fit, outline, bytes, data: new FilterData(outline, bytes) };
}

test("maps of a class are read at its place", () => {
  const { data, fit } = example();
  assert.deepEqual([...data.mean(fit, 1).values], [3, 4]);
  assert.deepEqual([...data.filter(fit, 1, 0).values], [5, 6]);
  assert.deepEqual([...data.contrast(fit, 1, 0).values], [2, 6]);
  assert.deepEqual([...data.contrast(fit, 1, 0).std], [5, 1]);
  assert.equal(data.filter(fit, 0, 0).outside, null);
});

test("a contrast with the class itself is its mean", () => {
  const { data, fit } = example();
  const choice = { kind: "contrast", against: 1, m: 0, minus: null };
  assert.deepEqual([...data.map(fit, choice, 1).values], [3, 4]);
  assert.deepEqual([...data.map(fit, choice, 0).values], [-2, -6]);
  assert.equal(data.limit([fit], choice), 6);
});

test("two filters of any classes are compared with the noise of both, without that of their common mean", () => {
  // Four filters with own variances 1, 4, 9 and 16 for x, whose common mean is removed.
  const own = [1, 4, 9, 16];
  const total = own.map((each) => each * (1 - 2 / 4) + 30 / 16);
  const { data, fit } = example({
    filter_std: total.flatMap((each) => [Math.sqrt(each), 1]),
    own_std: [Math.sqrt(5) / 2, 1, 5 / 2, 1],
  });
  const compared = data.map(fit, { kind: "filter", m: 1, against: 0, minus: 0 }, 1);
  assert.deepEqual([...compared.values], [7 - 1, 8 - 2]);
  assert.ok(Math.abs(compared.std[0] - Math.sqrt(16 + 1)) < 1e-5);
  const itself = data.map(fit, { kind: "filter", m: 1, against: 1, minus: 1 }, 1);
  assert.deepEqual([...itself.values], [7, 8]);
  assert.equal(data.limit([fit], { kind: "filter", m: 1, against: 0, minus: 0 }), 6);
});

test("the change from one fit to another has the noise of both, and that of one if the other has none", () => {
  const { data, fit } = example();
  const { mean, filter } = fit.arrays;
  const means = { kind: "mean", m: 0, against: 1, minus: null };
  const same = data.changeOf([fit, fit], means, 0);
  assert.deepEqual([...same.values], [0, 0]);
  assert.deepEqual([...same.std].map(Math.fround), [Math.SQRT2, Math.SQRT1_2].map(Math.fround));
  assert.deepEqual([...same.outside], [0, 0]);
  const quiet = { ...fit, arrays: { mean, filter } };
  assert.deepEqual([...data.changeOf([fit, quiet], means, 0).std], [1, 0.5]);
  assert.deepEqual([...data.changeOf([quiet, fit], means, 0).std], [1, 0.5]);
  assert.equal(data.changeOf([quiet, quiet], means, 0).outside, null);
});

test("rounding of single filters never lets a difference rise above the noise", () => {
  const bytes = new DataView(new Uint8Array([...Int8Array.from([10, 6, 0, 0]), 2, 2, 2, 2, ...new Uint8Array(new Float32Array([0, 0, 0, 0]).buffer)]).buffer);
  const arrays = {
    filter: { at: 0, size: 4, type: "i1", step: 0.5 }, filter_std: { at: 4, size: 4, type: "u1", step: 0.25 },
    own_std: { at: 8, size: 4, type: "f4", step: 1 },
  };
  const { outline } = example();
  const data = new FilterData({ ...outline, input_names: ["x"], n_filters: 2 }, bytes);
  const map = data.map({ arrays }, { kind: "filter", m: 0, against: 0, minus: 1 }, 0);
  assert.deepEqual([...map.values], [2]); // up to half a step off at either end, so 1.5 at least
  assert.equal(map.std[0], 1);
  assert.deepEqual([...map.ratios], [1.5]);
  assert.deepEqual([...map.outside], [0]);
});

test("what lies within two deviations is inside the noise", () => {
  const map = noisyMap(Float32Array.from([2, -2.5, 0]), Float32Array.from([1, 1, 0]));
  assert.deepEqual([...map.outside], [0, 1, 0]);
  assert.equal(shareOutside(map), 1 / 3);
  assert.deepEqual([0, 1, 2].map((i) => ratioAt(map, i)), [2, 2.5, 0]);
  assert.equal(ratioAt(noisyMap([1], null), 0), null);
  assert.equal(ratioAt(noisyMap([1], [0]), 0), Infinity);
});

test("whole numbers are read in their steps, ratios as marks", () => {
  const bytes = new DataView(Int8Array.from([127, -127, 64, 0]).buffer);
  const { outline } = example();
  const data = new FilterData(outline, bytes);
  const index = { at: 0, size: 4, type: "i1", step: 0.5 };
  assert.deepEqual([...data.numbers(index, 1, 2)], [-63.5, 32]);
  const map = noisyMap([1, 1], null, Float32Array.from([2, 2 + 1 / 32]));
  assert.deepEqual([...map.outside], [0, 1]);
});

test("bytes at any place of a message are read right", () => {
  const { outline, bytes } = example();
  const shifted = new Uint8Array(bytes.byteLength + 3);
  shifted.set(new Uint8Array(bytes.buffer), 3);
  const view = new DataView(shifted.buffer, 3);
  assert.equal(alignedBuffer(view).start % 4, 0);
  assert.deepEqual([...new FilterData(outline, view).mean(outline.fits[0][0], 0).values], [1, -2]);
});

test("contributions are inputs times weighted filters, with their noise", () => {
  const { data, fit } = example();
  const map = data.contributions(fit, 0, 1);
  assert.deepEqual([...map.values], [4, -3]);
  assert.deepEqual([...map.std], [2, 1]);
  const against = data.contrastOfSample(fit, 0, 1, 0);
  assert.deepEqual([...against.values], [2, -2]);
  assert.deepEqual([...against.std].map(Math.fround), [10, Math.SQRT2].map(Math.fround));
});

test("probabilities are the softmax of the scores", () => {
  const { data, fit } = example();
  const { probabilities, leadCertainty } = data.sample(fit, 0);
  assert.ok(Math.abs(probabilities[1] - 0.75) < 1e-6);
  assert.equal(leadCertainty, null);
  assert.deepEqual(rankedClasses([0.2, 0.5, 0.3]), [1, 2, 0]);
});

test("filters at work are all where shares are even and one where it decides alone", () => {
  assert.equal(activeFilters([0.25, 0.25, 0.25, 0.25]), 4);
  assert.equal(activeFilters([1, 0, 0]), 1);
});

test("filters are listed by their signal to noise where that is asked for and known", () => {
  const { data, fit } = example();
  assert.deepEqual(data.order(fit, 0, true), [1, 0]);
  assert.deepEqual(data.order(fit, 1, true), [0, 1]);
  assert.deepEqual(data.order(fit, 0, false), [0, 1]);
  assert.deepEqual(data.order({ ...fit, signal_to_noise: null }, 0, true), [0, 1]);
});

test("grids of any shape become pictures with slices side by side", () => {
  assert.deepEqual(pictureSize([6]), [1, 6]);
  assert.deepEqual(pictureSize([2, 3]), [2, 3]);
  assert.deepEqual(pictureSize([2, 2, 2]), [2, 4]);
  assert.deepEqual([...picturePlaces([2, 3])], [0, 1, 2, 3, 4, 5]);
  assert.deepEqual([...picturePlaces([2, 2, 2])], [0, 2, 1, 3, 4, 6, 5, 7]);
  assert.deepEqual([...picturePlaces([3])], [0, 1, 2]);
});

test("zero is the colour of nothing and the ends have the two hues", () => {
  const table = colourTable(COLOURS);
  const colour = (i) => [...table.slice(4 * (i + 127), 4 * (i + 127) + 4)];
  assert.deepEqual(colour(0), [255, 255, 255, 255]);
  assert.deepEqual(colour(127), [0, 100, 200, 255]);
  assert.deepEqual(colour(-127), [200, 100, 0, 255]);
});

test("values beyond the scale have the colour of its end and masked ones that of the mask", () => {
  const scale = { places: [0, 1, 2], width: 3, limit: 1, table: colourTable(COLOURS), mask: [9, 9, 9, 255] };
  const bytes = new Uint8ClampedArray(12);
  paintMap(bytes, 3, 0, { values: [5, 0, -5], outside: null }, scale);
  assert.deepEqual([...bytes], [0, 100, 200, 255, 255, 255, 255, 255, 200, 100, 0, 255]);
  paintMap(bytes, 3, 0, { values: [5, 0, -5], outside: [1, 0, 0] }, scale);
  assert.deepEqual([...bytes], [0, 100, 200, 255, 9, 9, 9, 255, 9, 9, 9, 255]);
});

test("arrows move by a pixel and stay in the picture", () => {
  const scale = { places: [0, 1, 2, 3, 4, 5], width: 3, rows: 2 };
  const after = (key, i) => pixelAfterKey({ key }, i, scale);
  assert.equal(after("ArrowRight", 0), 1);
  assert.equal(after("ArrowDown", 1), 4);
  assert.equal(after("ArrowUp", 1), 1);
  assert.equal(after("ArrowRight", 5), 5);
  assert.equal(after("ArrowLeft", null), 4);
  assert.equal(after("End", 0), 5);
  assert.equal(after("x", 0), null);
});

test("cells fit into narrow places and do not grow without end", () => {
  assert.equal(cellWidth(2000, 3, true), 64);
  assert.ok(cellWidth(480, 6, true) < 64);
  assert.equal(cellWidth(100, 10, true), 28);
});

test("choices that are not there are brought into range, and a hidden reference has no column", () => {
  const { outline, bytes, fit } = example();
  const payload = {
    epsilons: [1], fits: [[{ guarantee: {} }]], reference: { guarantee: {} }, terms: [],
    samples: null, filters: { ...outline, reference: { ...fit, limits: { mean: 99, filter: 99 } } },
  };
  const state = { payload, filter_arrays: bytes, filter_class: "gone", filter_index: 7, epsilon_index: 0, show_reference: true };
  const view = readFilters(stubModel(state));
  assert.equal(view.k, 0);
  assert.equal(view.choice.m, 0);
  assert.equal(view.choice.against, 1);
  assert.equal(view.limit, 99);
  const hidden = readFilters(stubModel({ ...state, show_reference: false }));
  assert.equal(hidden.columns.length, 1);
  assert.equal(hidden.limit, 4);
  assert.equal(readFilters(stubModel({ payload: { ...payload, filters: null } })), null);
});

test("bytes of a page become what a kernel would send", () => {
  const { value } = { value: unpack({ table: [], value: { bytes: { $x: btoa("\u0001\u00ff") } } }) };
  assert.deepEqual([...new Uint8Array(value.bytes.buffer)], [1, 255]);
});

const GREYS = colourTable({ negative: [250, 250, 250], zero: [125, 125, 125], positive: [0, 0, 0] });

function painted(map, opacity, inputs) {
  const places = picturePlaces([1, inputs.length]);
  const mask = [100, 100, 100, 255];
  const scale = { places, width: inputs.length, limit: 2, table: colourTable(COLOURS), mask };
  const [over, alone] = [[], []];
  paintOverlay(over, map, { ...scale, under: { inputs, greys: GREYS, opacity } });
  paintMap(alone, inputs.length, 0, map, scale);
  return { over, alone, pixel: (i) => over.slice(4 * i, 4 * i + 4) };
}

test("an overlay goes from the sample alone to the colours of the scale as they are", () => {
  const map = noisyMap([2, -2, 0, 1], null);
  const inputs = [-1, 3, 1, 1];
  const sample = painted(map, 0, inputs);
  assert.deepEqual(sample.pixel(0), [250, 250, 250, 255]);
  assert.deepEqual(sample.pixel(1), [0, 0, 0, 255]);
  const { over, alone } = painted(map, 1, inputs);
  over.forEach((byte, i) => assert.ok(Math.abs(byte - alone[i]) <= 2)); // the scale has 127 steps to either side
  const both = painted(map, 0.5, inputs);
  assert.deepEqual(both.pixel(0), [...COLOURS.positive, 255]);
  assert.deepEqual(both.pixel(1), [...COLOURS.negative, 255]);
  assert.deepEqual(both.pixel(2), [190, 190, 190, 255]);
  assert.deepEqual(layersAt(0.25), { strength: 0.5, fade: 0.25, covered: 0 });
});

test("what may be noise leaves the sample as it is, and is masked where the sample is gone", () => {
  const map = noisyMap([2, 2], [0.1, 2]);
  assert.deepEqual(painted(map, 0.5, [3, -1]).pixel(1), [253, 253, 253, 255]);
  assert.deepEqual(painted(map, 1, [3, -1]).pixel(1), [100, 100, 100, 255]);
  assert.deepEqual(painted(map, 1, [3, -1]).pixel(0), [...COLOURS.positive, 255]);
  assert.deepEqual(painted(noisyMap([0, 0], null), 0, [5, 5]).pixel(1), [250, 250, 250, 255]);
});

test("written parts add up whatever they are rounded to", () => {
  for (const parts of [[0.5, 0.5, 0.5], [1.4, 1.4, -0.4], [-2.5, 7.25, 0.3], [0, 0, 0], [1e6, -1e-3, 0.4]]) {
    const whole = partsInUnits(parts, 1);
    const exact = parts.reduce((sum, part) => sum + part, 0);
    assert.equal(whole.reduce((sum, part) => sum + part, 0), Math.round(exact));
    whole.forEach((part, i) => assert.ok(Math.abs(part - parts[i]) <= 1.5));
  }
  const map = noisyMap([1.444, 1.444, -0.444], [0.1, 9, 0.1]);
  assert.deepEqual(sumsOf(map), { positive: 2.888, negative: -0.444, total: 2.444, standing: 1 });
  const words = additionSentence(map, { rest: 0.05, score: 2.494, what: "the score" });
  assert.equal(words, "+2.89 and −0.45 add up to +2.44; adding the bias, +0.05, gives the score: +2.49. " +
    "Of this, +1.00 comes from inputs above the noise.");
});

test("what a sample holds is read as its column has it", () => {
  const readings = [
    { kind: "number", unit: "years", centre: 50, step: 10 }, { kind: "category", unit: "", centre: 0, step: 1 },
    { kind: "date", unit: "days", centre: 365, step: 1 },
  ];
  const words = [0, 1, 2].map((i) => readingOf({ readings }, [-1.5, 1, 0], i));
  assert.deepEqual(words, ["35 \u2068years\u2069", "yes", "1971-01-01"]);
  assert.equal(readingOf({ readings: null }, [-1.5], 0), "−1.5");
});
