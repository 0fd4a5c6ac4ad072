// Claims about the place of a peak or a trough: multiple comparison with the best bin.
import { claimedValues, sharesOfVariance, valueCount } from "./contrasts.js";

/** @typedef {import("../../types").TermFit} TermFit */

/** Whether a question is about the highest or the lowest bin. */
export function isExtreme(kind) {
  return kind === "highest" || kind === "lowest";
}

/** The curve to which claims refer, turned so that its extreme is its highest bin. */
function turnedCurve(termFit, kind) {
  const up = kind === "highest" ? 1 : -1;
  return claimedValues(termFit)[0].slice(0, valueCount(termFit)).map((value) => up * value);
}

/**
 * The bin with the highest or the lowest value; null if the term makes no claims.
 * @param {TermFit} termFit
 */
export function likelyExtreme(termFit, kind) {
  if (!termFit.claims) return null;
  const curve = turnedCurve(termFit, kind);
  return curve.indexOf(Math.max(...curve));
}

/** By how much errors let one bin exceed another that is truly higher: a function of the two bins. */
function excessLimit(termFit) {
  const stds = claimedValues(termFit)[1];
  const shareOf = sharesOfVariance(termFit, "difference");
  return (i, j) => termFit.claims.extreme * (stds[i] + stds[j]) * Math.sqrt(shareOf(i, j));
}

/** The largest over the bins of one side of the smallest lead over the bins of the other side, with errors. */
function largestLead(curve, limit, ones, others) {
  return Math.max(...ones.map((i) => Math.min(...others.map((j) => curve[i] - curve[j] + limit(i, j)))));
}

/**
 * The claim that the extreme is in a bin or a range; null if no bin is left to compare with. `candidates` are the bins
 * that can be the extreme, with 95% confidence.
 * @param {TermFit} termFit
 * @param {import("../../types").Question} question
 * @returns {import("../../types").Claim | null}
 */
export function extremeClaim(termFit, { kind, bins }) {
  const [first, last] = [bins[0], bins.at(-1)];
  const curve = turnedCurve(termFit, kind);
  if (bins.length === 0 || last >= curve.length || last - first + 1 >= curve.length) return null;
  const limit = excessLimit(termFit);
  const places = curve.map((_, i) => i);
  const isInside = (i) => i >= first && i <= last;
  const candidates = places.filter((k) => places.every((j) => j === k || curve[j] - curve[k] - limit(j, k) <= 0));
  const [inside, outside] = [places.filter(isInside), places.filter((i) => !isInside(i))];
  const [best, bestOutside] = [inside, outside].map((side) => Math.max(...side.map((i) => curve[i])));
  const [some, someOutside] = [candidates.some(isInside), !candidates.every(isInside)];
  const high = some ? Math.max(0, largestLead(curve, limit, inside, outside)) : 0;
  const low = someOutside ? Math.min(0, -largestLead(curve, limit, outside, inside)) : 0;
  const up = kind === "highest";
  return {
    estimate: up ? best - bestOutside : bestOutside - best, std: NaN, low: up ? low : -high, high: up ? high : -low,
    basis: termFit.claims.basis, holds: !(some && someOutside), candidates,
  };
}
