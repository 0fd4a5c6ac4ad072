// The choices in a model with get, set, on and save_changes. Linked models may have a choice
// that this payload lacks, so every choice is brought into range when it is read.
import { choose } from "./choosing.js";

/**
 * @typedef {import("../types").Model} Model
 * @typedef {import("../types").Payload} Payload
 * @typedef {import("../types").State} State
 */

export const CHOICE_KEYS = [
  "payload",
  "model_name",
  "other_model",
  "epsilon_index",
  "term",
  "bin_index",
  "bin_range",
  "second_bin",
  "second_range",
  "extreme",
  "pinned_epsilon",
  "show_reference",
  "repeat",
  "shown_curve",
  "edits",
  "denoised",
  "show_edited",
];

let makeEdited = null;

/**
 * Let views show edited fits: `make(model, state)` returns one. A page without the edit view has none.
 * @param {((model: Model, state: State) => import("../types").Fit) | null} make
 */
export function offerEdited(make) {
  makeEdited = make;
}

/**
 * Whether there are edits that all views can show.
 * @param {Model} model
 */
export function canShowEdited(model) {
  return makeEdited !== null && (model.get("edits")?.head ?? -1) >= 0;
}

function clampIndex(value, count) {
  return Math.max(0, Math.min(count - 1, Number.isInteger(value) ? value : 0));
}

function chosenFits(payload, stop) {
  if (payload.fits.length === 0 && payload.reference === null) return [];
  return stop < payload.fits.length ? payload.fits[stop] : [payload.reference];
}

// Fits of the same repeat are compared, because they share their random structure.
function sameRepeat(fits, repeat) {
  return fits === undefined ? null : fits[Math.min(repeat, fits.length - 1)];
}

/**
 * Index of an epsilon in a list, or of the nearest on a log scale; -1 if empty.
 * @param {number[]} epsilons
 * @param {number} epsilon
 */
export function nearestStop(epsilons, epsilon) {
  const distance = (each) => Math.abs(Math.log(each / epsilon));
  return epsilons.reduce((best, each, i) =>
    (best < 0 || distance(each) < distance(epsilons[best]) ? i : best), -1);
}

/**
 * The payloads of all models; the given payload comes first.
 * @param {Payload} payload
 */
export function modelsOf(payload) {
  return [payload, ...(payload.others ?? [])];
}

function otherModel(model, models, payload, { stop, referenceShown, repeat }) {
  const other = models.find((each) => each.name !== "" && each.name === model.get("other_model"));
  if (other === undefined || other === payload) return { other: null, otherStop: -1 };
  const atReference = stop >= payload.epsilons.length || other.fits.length === 0;
  if (atReference) return { other: referenceShown ? other.reference : null, otherStop: -1, otherName: other.name };
  const otherStop = nearestStop(other.epsilons, payload.epsilons[stop]);
  const fit = sameRepeat(other.fits[otherStop], repeat);
  return { other: fit, otherStop, otherName: other.name, otherEpsilon: other.epsilons[otherStop] };
}

/**
 * Everything a view draws from: the payload and the choices within it.
 * @param {Model} model
 * @returns {State}
 */
export function readState(model) {
  const state = readReleased(model);
  const wanted = model.get("show_edited") === true && canShowEdited(model);
  if (!wanted || state.fit === undefined || state.atReference) return state;
  const editedOf = (payload, fit) => makeEdited(model, { ...state, payload, fit });
  const fit = editedOf(state.payload, state.fit);
  return { ...state, fit, editedOf, fits: state.fits.map((each, i) => (i === state.repeat ? fit : each)) };
}

/**
 * The same, with curves as released.
 * @param {Model} model
 * @returns {State}
 */
export function readReleased(model) {
  const models = modelsOf(model.get("payload"));
  const payload = models.find((each) => each.name === model.get("model_name")) ?? models[0];
  const { epsilons, reference, terms } = payload;
  const referenceShown =
    reference !== null && (model.get("show_reference") || epsilons.length === 0);
  const stopCount = epsilons.length + (referenceShown ? 1 : 0);
  const stop = clampIndex(model.get("epsilon_index"), stopCount);
  const fits = chosenFits(payload, stop);
  const repeat = clampIndex(model.get("repeat"), fits.length);
  const pinnedStop = epsilons.indexOf(model.get("pinned_epsilon"));
  const termIndex = Math.max(0, terms.findIndex((term) => term.name === model.get("term")));
  return {
    payload,
    models,
    samples: models[0].samples ?? null,
    ...otherModel(model, models, payload, { stop, referenceShown, repeat }),
    stop,
    stopCount,
    atReference: stop >= epsilons.length,
    referenceShown,
    reference: referenceShown ? reference : null,
    fits,
    repeat,
    shownCurve: model.get("shown_curve") ?? "both",
    fit: fits[repeat],
    pinnedStop,
    pinned: pinnedStop === stop ? null : sameRepeat(payload.fits[pinnedStop], repeat),
    termIndex,
    term: terms[termIndex],
    binIndex: model.get("bin_index"),
    secondBin: model.get("second_bin") ?? null,
    secondRange: model.get("second_range") ?? null,
    extreme: model.get("extreme") ?? "",
    binRange: model.get("bin_range") ?? null,
  };
}

/**
 * The chosen bin of a term with `count` bins, or null.
 * @param {State} state
 * @param {number} count
 */
export function chosenBin(state, count) {
  const index = state.binIndex;
  return Number.isInteger(index) && index >= 0 && index < count ? index : null;
}

/**
 * First and last bin of the chosen range among `count` bins of values, or null.
 * @param {State} state
 * @param {number} count
 * @returns {[number, number] | null}
 */
export function chosenRange(state, count) {
  return rangeWithin(state.binRange, count);
}

/**
 * The same for any pair of ends.
 * @param {[number, number] | null} ends
 * @param {number} count
 * @returns {[number, number] | null}
 */
function rangeWithin(ends, count) {
  const [first, last] = ends ?? [0, -1];
  return Number.isInteger(first) && first >= 0 && first <= last && last < count ? [first, last] : null;
}

/**
 * First and last bin, or corners of the region, that a claim compares with the selection, or null.
 * @param {State} state
 * @param {number} count number of bins or cells
 * @param {number} valueBins number of bins without special bins, which ranges exclude
 */
export function secondSpan(state, count, valueBins = count) {
  const bin = chosenBin({ ...state, binIndex: state.secondBin }, count);
  return rangeWithin(state.secondRange, valueBins) ?? (bin === null ? null : [bin, bin]);
}

/**
 * Show or hide the reference, also on the scale of epsilon.
 * @param {Model} model
 */
export function toggleReference(model) {
  const state = readState(model);
  if (state.payload.reference === null || state.payload.epsilons.length === 0) return;
  const shown = !state.referenceShown;
  const choices = { show_reference: shown };
  if (!shown && state.atReference) choices.epsilon_index = state.payload.epsilons.length - 1;
  choose(model, choices);
}

/** The choices of bins, which belong to one term. */
export const NO_BINS = { bin_index: null, second_bin: null, second_range: null, bin_range: null, extreme: "" };

/**
 * Choose a term; clear the chosen bin, which belonged to the previous term.
 * @param {Model} model
 * @param {string} name
 */
export function chooseTerm(model, name) {
  if (readState(model).term?.name === name) return;
  choose(model, { ...NO_BINS, term: name });
}

/**
 * Draw once after each burst of changes, before the browser paints. Returns a function that
 * stops it.
 * @param {Model} model
 * @param {string[]} keys
 * @param {() => void} draw
 */
export function drawOnChange(model, keys, draw) {
  let live = true;
  let waiting = false;
  const schedule = () => {
    if (waiting) return;
    waiting = true;
    queueMicrotask(() => {
      waiting = false;
      if (live) draw();
    });
  };
  for (const key of keys) model.on(`change:${key}`, schedule);
  return () => {
    live = false;
    for (const key of keys) model.off?.(`change:${key}`, schedule);
  };
}
