// Differences between means of bins, with the joint errors of all bins that they compare.
import { aboveRounding } from "../../kit/format.js";
import { binOfValue, binWeights } from "../disagreement/distance.js";

/** @typedef {import("../../types").TermFit} TermFit */

/** The code of the first letter of levels and correlations. */
export const FIRST_LETTER = 35;

const SHARES = Array.from({ length: 41 }, (_, level) => 2000 ** (-level / 40));
const MOST_BLOCKS = { difference: 32, range: 16 };

/** The number of bins without special bins. */
export const valueCount = ({ labels, special }) => labels.length - special.length;

/** Weights of the mean of the chosen bins, by (noisy) counts if there are any. */
function meanOfBins(termFit, chosen) {
  const weights = binWeights(termFit).map((weight, i) => (chosen[i] ? weight : 0));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  if (sum > 0) return weights.map((weight) => weight / sum);
  const count = chosen.filter(Boolean).length || 1;
  return chosen.map((is) => (is ? 1 / count : 0));
}

/** Weights of both sides of a contrast; the second is zero for a sign. */
export function sidesOf(termFit, { kind, bins }) {
  const between = (first, last) => termFit.labels.map((_, i) => i >= first && i <= last);
  if (!isOfRanges(kind)) return [0, 1].map((k) => between(bins[k], bins[k]).map(Number));
  const inside = between(bins[0], bins[1]);
  const others = kind === "range" ? inside.map((is) => !is) : between(bins[2], bins[3]);
  return [inside, others].map((chosen) => meanOfBins(termFit, chosen));
}

/** Whether a question is about a range, or two. */
const isOfRanges = (kind) => kind.startsWith("range");

/**
 * Variance of a contrast divided by the largest possible, rounded up, as a function of its two bins, or of the first
 * and last bin of its range; 1 if it is unknown.
 * @param {TermFit} termFit
 */
export function sharesOfVariance(termFit, kind) {
  const { pairs, ranges } = termFit.claims;
  const letters = { difference: pairs, range: ranges }[kind] ?? null;
  if (letters === null) return () => 1;
  const count = kind === "range" ? valueCount(termFit) : termFit.labels.length;
  const blocks = Math.min(MOST_BLOCKS[kind], count);
  return (one, other) => {
    const low = Math.floor((Math.min(one, other) * blocks) / count);
    const high = Math.floor((Math.max(one, other) * blocks) / count);
    return SHARES[letters.charCodeAt(low * blocks - (low * (low - 1)) / 2 + high - low) - FIRST_LETTER];
  };
}

export const dot = (weights, values) => weights.reduce((sum, weight, i) => sum + weight * values[i], 0);

/**
 * Values and standard deviations of the bins to which claims refer.
 * @param {TermFit} termFit
 * @returns {[number[], number[]]}
 */
export function claimedValues(termFit) {
  const effect = termFit.claims.basis === "effect";
  return effect ? [termFit.effect, termFit.effect_std] : [termFit.contribution, termFit.total_std];
}

/**
 * A claim that holds where its interval excludes zero.
 * @returns {import("../../types").Claim}
 */
export function claimBetween(difference, std, factor, basis) {
  const estimate = aboveRounding(difference, std);
  const [low, high] = [estimate - factor * std, estimate + factor * std];
  return { estimate, std, low, high, basis, holds: low > 0 || high < 0 };
}

/** Standard deviation of a contrast; that of two ranges follows from those of each range against the rest. */
function contrastStd(termFit, { kind, bins }, stds) {
  if (kind === "ranges") {
    const weights = binWeights(termFit);
    return spansIn(bins).reduce((total, [first, last]) => {
      const others = weights.slice(first, last + 1).reduce((left, weight) => left - weight, 1);
      return total + others * contrastStd(termFit, { kind: "range", bins: [first, last] }, stds);
    }, 0);
  }
  const [first, second] = sidesOf(termFit, { kind, bins });
  const sizes = first.map((weight, i) => Math.abs(weight - second[i]));
  return Math.sqrt(sharesOfVariance(termFit, kind)(bins[0], bins[1])) * dot(sizes, stds);
}

/** Whether a range leaves bins to compare with, or two ranges have no bin in common. */
function isComparable({ labels, special }, bins) {
  const [one, other] = spansIn(bins);
  if (other === undefined) return one[1] - one[0] + 1 < labels.length;
  return Math.max(one[1], other[1]) < labels.length - special.length && (one[1] < other[0] || other[1] < one[0]);
}

/**
 * A claim about a difference between means of bins; null for a range of all bins, and for ranges that overlap.
 * @param {TermFit} termFit
 * @param {import("../../types").Question} question
 * @returns {import("../../types").Claim | null}
 */
export function contrastClaim(termFit, question) {
  const { claims } = termFit;
  const { kind, bins } = question;
  if (isOfRanges(kind) && !isComparable(termFit, bins)) return null;
  const [values, stds] = claimedValues(termFit);
  const [first, second] = sidesOf(termFit, question);
  const estimate = dot(first, values) - dot(second, values);
  const factor = claims[kind === "ranges" ? "range" : kind];
  return claimBetween(estimate, contrastStd(termFit, question, stds), factor, claims.basis);
}

/**
 * The bin of another fit with the midpoint or the name of a bin; null if there is none.
 * @param {TermFit | import("../../types").PairAxis} here
 * @param {TermFit | import("../../types").PairAxis} there
 */
export function matchedBin(here, place, there) {
  if (here.edges !== null && there.edges !== null && place < valueCount(here)) {
    return binOfValue(there.edges, (here.edges[place] + here.edges[place + 1]) / 2);
  }
  const found = there.labels.indexOf(here.labels[place]);
  return found < 0 ? null : found;
}

/**
 * First and last bin of another fit whose midpoint or name is in a range of bins; null if there is none.
 * @param {TermFit | import("../../types").PairAxis} here
 * @param {number[]} span
 * @param {TermFit | import("../../types").PairAxis} there
 */
export function matchedSpan(here, [first, last], there) {
  if (first === last) {
    const found = matchedBin(here, first, there);
    return found === null ? null : [found, found];
  }
  const inside = there.labels.map((_, bin) => matchedBin(there, bin, here))
    .map((place) => place !== null && place >= first && place <= last);
  return inside.includes(true) ? [inside.indexOf(true), inside.lastIndexOf(true)] : null;
}

/** The ends of the spans in a list of bins. */
export function spansIn(bins) {
  return bins.length > 2 ? [bins.slice(0, 2), bins.slice(2)] : [bins];
}

/**
 * The label of a bin or a span: "24 – 35", "low to high".
 * @param {TermFit | import("../../types").PairAxis} binned
 * @param {number[]} span
 */
export function spanLabel(binned, [first, last = first]) {
  const [one, other] = [binned.labels[first], binned.labels[last]];
  if (first === last) return one;
  if (binned.edges === null || last >= valueCount(binned)) return `${one} to ${other}`;
  return `${one.split(" – ")[0]} – ${other.split(" – ").at(-1)}`;
}
