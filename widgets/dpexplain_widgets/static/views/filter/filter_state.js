// The choices of the filter view, brought into the range of the payload.
import { FilterData } from "./filter_data.js";
import { CHOICE_KEYS, readState } from "../../state/state.js";

export const FILTER_KEYS = [
  ...CHOICE_KEYS,
  "filter_arrays",
  "shown_map",
  "filter_class",
  "against_class",
  "filter_index",
  "against_filter",
  "input_index",
  "input_range",
  "mask_noise",
  "sort_filters",
  "contribution_opacity",
  "same_axis",
  "sample",
];

const knownData = new WeakMap();

function dataOf(model, payload) {
  const bytes = model.get("filter_arrays");
  const known = knownData.get(payload);
  if (known !== undefined && known.bytes === bytes) return known.data;
  const data = new FilterData(payload.filters, bytes);
  knownData.set(payload, { bytes, data });
  return data;
}

function placeWithin(value, count) {
  return Number.isInteger(value) && value >= 0 && value < count ? value : null;
}

// The selected corners of a region, or an input as a region of its own.
function regionWithin(model, outline, count) {
  const [one, other] = outline.grid_shape === null ? [null, null] : model.get("input_range") ?? [null, null];
  const corners = [one, other].map((i) => placeWithin(i, count));
  if (!corners.includes(null)) return corners;
  const input = placeWithin(model.get("input_index"), count);
  return input === null ? null : [input, input];
}

function opacityOf(value) {
  return Number.isFinite(value) ? Math.max(0, Math.min(1, value)) : 0.5;
}

function filtersOfFits(outline, state) {
  const columns = outline.fits.map((repeats) => repeats[Math.min(state.repeat, repeats.length - 1)]);
  return state.referenceShown ? [...columns, outline.reference] : columns;
}

// The chosen map of a class, and what is subtracted from it: a class, or a filter `minus` of a class.
function choiceOf(model, outline, k) {
  const kind = model.get("shown_map") ?? "mean";
  const named = outline.classes.indexOf(model.get("against_class"));
  const place = (name) => placeWithin(model.get(name), outline.n_filters);
  const m = place("filter_index") ?? 0;
  if (kind === "filter") return { kind, m, against: named < 0 ? k : named, minus: place("against_filter") };
  return { kind, m, against: named >= 0 && named !== k ? named : k === 0 ? 1 : 0, minus: null };
}

/** Everything a filter view draws from; null if the payload has no filters. */
export function readFilters(model) {
  const state = readState(model);
  const outline = state.payload.filters ?? null;
  if (outline === null) return null;
  const data = dataOf(model, state.payload);
  const k = Math.max(0, outline.classes.indexOf(model.get("filter_class")));
  const columns = filtersOfFits(outline, state);
  const samples = state.payload.samples;
  const choice = choiceOf(model, outline, k);
  const everyEpsilon = model.get("same_axis") !== false;
  const filters = columns[state.stop];
  return {
    state,
    outline,
    data,
    columns,
    filters,
    k,
    choice,
    everyEpsilon,
    limit: data.limit(everyEpsilon ? columns : [filters], choice),
    input: placeWithin(model.get("input_index"), data.nInputs),
    region: regionWithin(model, outline, data.nInputs),
    masked: model.get("mask_noise") === true,
    sorted: model.get("sort_filters") !== false,
    samples,
    opacity: opacityOf(model.get("contribution_opacity")),
    sample: samples === null ? null : placeWithin(model.get("sample"), samples.names.length) ?? 0,
  };
}
