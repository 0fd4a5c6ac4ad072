// Claims about the mean weight of a region of a filter, a mean filter or a difference, with joint noise.
import { claimSentence } from "../claim/claim_words.js";
import { claimBetween, dot } from "../claim/contrasts.js";
import { formatSigned, quotedName } from "../../kit/format.js";

/** @typedef {{rows: number[], columns: number[]}} Region first and last row, first and last column */

function gridSides(shape) {
  return shape.length === 1 ? [1, shape[0]] : [shape[0], shape[1]];
}

/** The region between two inputs, which are opposite corners; for inputs without a grid, the first of them. */
export function filterRegion({ grid_shape: shape, input_names: names }, [one, other]) {
  if (shape === null) return { rows: [0, 0], columns: [one, one] };
  const [rows, columns] = gridSides(shape);
  const depth = names.length / (rows * columns);
  const sorted = (place) => [place(one), place(other)].sort((a, b) => a - b);
  const cell = (i) => Math.floor(i / depth);
  return { rows: sorted((i) => Math.floor(cell(i) / columns)), columns: sorted((i) => cell(i) % columns) };
}

/** The weight of each input in the mean of a region; further dimensions of a grid are included. */
function regionLoads({ grid_shape: shape, input_names: names }, { rows, columns }) {
  const [height, width] = shape === null ? [1, names.length] : gridSides(shape);
  const depth = names.length / (height * width);
  const loads = names.map((_, i) => {
    const [row, column] = [Math.floor(i / depth / width), Math.floor(i / depth) % width];
    return row >= rows[0] && row <= rows[1] && column >= columns[0] && column <= columns[1] ? 1 : 0;
  });
  const count = loads.reduce((sum, load) => sum + load, 0);
  return loads.map((load) => load / count);
}

/** The filter that is subtracted from the selected one: [class, index], or null. */
function subtracted({ against, m, minus }, k) {
  return minus === null || (against === k && minus === m) ? null : [against, minus];
}

/**
 * The claim of one fit, or null if its noise is unknown.
 * @param {{outline: any, data: any, choice: any, k: number}} view
 * @param {any} fit
 * @param {Region} region
 */
export function filterClaim({ outline, data, choice, k }, fit, region) {
  const { n_filters: nFilters, classes } = outline;
  const loads = regionLoads(outline, region);
  const noise = data.regionNoise(fit, loads);
  if (noise === null || fit.claim_factor === null) return null;
  if (choice.kind === "filter") {
    const places = { one: [k, choice.m], other: subtracted(choice, k) };
    const [estimate, std] = data.regionOfFilter(fit, loads, noise, places);
    return claimBetween(estimate, std, fit.claim_factor, "noise");
  }
  const isContrast = choice.kind === "contrast";
  const meanOf = (place) => dot(loads, data.ofClass(fit, "mean", place));
  const shares = classes.map((_, place) =>
    (place === k ? 1 / nFilters : 0) -
    (isContrast ? (place === choice.against ? 1 / nFilters : 0) : 1 / (classes.length * nFilters)));
  const std = Math.sqrt(shares.reduce((sum, share, place) => sum + share * share * noise.classes[place], 0));
  const estimate = meanOf(k) - (isContrast ? meanOf(choice.against) : 0);
  return claimBetween(estimate, std, fit.claim_factor, "noise");
}

/** The same claim at every epsilon, compared with the selected fit. */
export function filterClaimStrip(view, region) {
  const asked = filterClaim(view, view.filters, region);
  return view.state.payload.epsilons.map((epsilon, stop) => {
    const claim = filterClaim(view, view.columns[stop], region);
    const row = view.state.payload.fits[stop];
    const isPrivate = claim === null || row[Math.min(view.state.repeat, row.length - 1)].guarantee.private;
    const same = claim !== null && claim.estimate * asked.estimate > 0;
    const held = same ? "holds" : "reversed";
    const state = claim === null ? "not resolved" : claim.holds ? held : "may be noise or hidden by shrinkage";
    return { epsilon, stop, claim, state, private: isPrivate };
  });
}

/** The claim as a sentence. */
export function filterClaimWords({ outline, choice, k, state }, region, claim) {
  const nameOf = (place) => quotedName(outline.classes[place], 80);
  const filterOf = ([place, m]) => `filter ${m} of ${nameOf(place)}`;
  const title = choice.kind === "contrast" ? `${nameOf(k)} against ${nameOf(choice.against)}`
    : choice.kind === "mean" ? `mean filter of ${nameOf(k)}`
      : [[k, choice.m], subtracted(choice, k)].filter(Boolean).map(filterOf).join(" against ");
  const { rows, columns } = region;
  const named = outline.grid_shape === null ? quotedName(outline.input_names[columns[0]], 60)
    : `rows ${rows[0]} to ${rows[1]} and columns ${columns[0]} to ${columns[1]}`;
  const said = `${title} is ${claim.estimate > 0 ? "positive" : "negative"} on average over ${named}: ` +
    `${formatSigned(claim.estimate)} ${state.payload.score_unit} per unit of input, ` +
    `95% between ${formatSigned(claim.low)} and ${formatSigned(claim.high)}`;
  return claimSentence(state, said, claim.holds ? null : "may be noise or hidden by shrinkage");
}
