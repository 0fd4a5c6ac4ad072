// Claims about cells and regions of a pair of features, from the band of all its cells.
import { binWeights } from "../disagreement/distance.js";
import { claimBetween, claimedValues, dot, matchedSpan, spanLabel, spansIn } from "./contrasts.js";
import { chosenBin, chosenRange, secondSpan } from "../../state/state.js";

/**
 * @typedef {import("../../types").State} State
 * @typedef {import("../../types").Question} Question
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
  return spansIn(bins).map(([one, other]) => regionBetween(termFit, one, other));
}

/**
 * The question about a pair of features: its selected region or cell, alone or against a second cell.
 * @param {State} state
 * @param {TermFit} termFit
 * @returns {Question}
 */
export function askedAboutPair(state, termFit) {
  const count = termFit.labels.length;
  const cell = chosenBin(state, count);
  const [one, last] = chosenRange(state, count) ?? [cell, cell];
  if (one === null) return { kind: "sign", bins: [] };
  const first = cornersOf(termFit, regionBetween(termFit, one, last));
  const second = secondSpan(state, count);
  if (second === null || String(first) === String(second)) return { kind: "sign", bins: first };
  return { kind: "difference", bins: [...first, ...second] };
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
 * @param {Question} question
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
  return [rows, columns].map((span, k) => spanLabel(termFit.axes[k], span));
}

/** The same question for another grid; null if it does not separate the regions. */
export function pairAskedElsewhere(here, there, question) {
  const found = regionsOf(here, question).map(({ rows, columns }) => {
    const spans = [rows, columns].map((span, k) => matchedSpan(here.axes[k], span, there.axes[k]));
    return spans.includes(null) ? null : cornersOf(there, { rows: spans[0], columns: spans[1] });
  });
  if (found.includes(null) || String(found[0]) === String(found[1])) return null;
  return { ...question, bins: found.flat() };
}
