// Claims about cells and regions of a pair of features, from the band of all its cells.
import { binWeights } from "../disagreement/distance.js";
import { claimBetween, claimedValues, dot } from "./contrasts.js";

/**
 * @typedef {import("../../types").TermFit} TermFit
 * @typedef {import("../../types").PairAxis} PairAxis
 * @typedef {{rows: number[], columns: number[]}} Region first and last row, first and last column
 */

/** @param {TermFit} termFit */
const columnCount = (termFit) => termFit.axes[1].labels.length;

/**
 * The rectangle between two opposite cells.
 * @param {TermFit} termFit
 * @returns {Region}
 */
export function regionBetween(termFit, one, other) {
  const count = columnCount(termFit);
  const sorted = (place) => [place(one), place(other)].sort((a, b) => a - b);
  return { rows: sorted((cell) => Math.floor(cell / count)), columns: sorted((cell) => cell % count) };
}

/** The first and the last cell of a region. */
export function cornersOf(termFit, { rows, columns }) {
  return [0, 1].map((k) => rows[k] * columnCount(termFit) + columns[k]);
}

/** The regions of a question, whose bins are the corners of one region or of two. */
export function regionsOf(termFit, { bins }) {
  const pairs = bins.length > 2 ? [bins.slice(0, 2), bins.slice(2)] : [bins];
  return pairs.map(([one, other]) => regionBetween(termFit, one, other));
}

/** Weights of the mean of a region, by (noisy) counts if there are any. */
function meanOfRegion(termFit, { rows, columns }) {
  const count = columnCount(termFit);
  const isInside = (cell) => {
    const [row, column] = [Math.floor(cell / count), cell % count];
    return row >= rows[0] && row <= rows[1] && column >= columns[0] && column <= columns[1];
  };
  const weights = binWeights(termFit).map((weight, cell) => (isInside(cell) ? weight : 0));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const used = sum > 0 ? weights : weights.map((_, cell) => Number(isInside(cell)));
  const total = used.reduce((all, weight) => all + weight, 0);
  return used.map((weight) => weight / total);
}

/**
 * The claim about one region, or two: an error of a mean is at most the mean of the errors.
 * @param {TermFit} termFit
 * @param {import("../../types").Question} question
 */
export function pairClaim(termFit, question) {
  if (question.bins.length === 0) return null;
  const [first, second] = regionsOf(termFit, question).map((region) => meanOfRegion(termFit, region));
  const loads = second === undefined ? first : first.map((weight, cell) => weight - second[cell]);
  const { basis } = termFit.claims;
  const [values, stds] = claimedValues(termFit);
  const factor = basis === "effect" ? termFit.effect_factor : termFit.band_factor;
  return claimBetween(dot(loads, values), dot(loads.map(Math.abs), stds), factor, basis);
}

/** First and last label of each feature of a region, or its only label. */
export function regionLabels(termFit, { rows, columns }) {
  return [rows, columns].map(([first, last], k) => {
    const { labels } = termFit.axes[k];
    return first === last ? labels[first] : `${labels[first]} to ${labels[last]}`;
  });
}

/** The bins of a feature in another fit; null if none correspond. */
function spanElsewhere(here, span, there, matchedBin) {
  const [first, last] = span;
  if (first === last) {
    const found = matchedBin(here, first, there);
    return found === null ? null : [found, found];
  }
  const inside = there.labels.map((_, bin) => matchedBin(there, bin, here))
    .map((place) => place !== null && place >= first && place <= last);
  return inside.includes(true) ? [inside.indexOf(true), inside.lastIndexOf(true)] : null;
}

/** The same question for another grid; null if it does not separate the regions. */
export function pairAskedElsewhere(here, there, question, matchedBin) {
  const found = regionsOf(here, question).map(({ rows, columns }) => {
    const spans = [rows, columns].map((span, k) => spanElsewhere(here.axes[k], span, there.axes[k], matchedBin));
    return spans.includes(null) ? null : cornersOf(there, { rows: spans[0], columns: spans[1] });
  });
  if (found.includes(null) || String(found[0]) === String(found[1])) return null;
  return { ...question, bins: found.flat() };
}
