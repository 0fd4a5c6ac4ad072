// Differences between means of bins, with the joint errors of all bins that they compare.
import { binWeights } from "../disagreement/distance.js";

/** @typedef {import("../../types").TermFit} TermFit */

/** The code of the first letter of levels and correlations. */
export const FIRST_LETTER = 35;

const SHARE_RATIO = 2000 ** (1 / 40);
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
  const only = (bin) => termFit.labels.map((_, i) => (i === bin ? 1 : 0));
  if (kind !== "range") return [only(bins[0]), only(bins[1])];
  const inside = termFit.labels.map((_, i) => i >= bins[0] && i <= bins[1]);
  return [meanOfBins(termFit, inside), meanOfBins(termFit, inside.map((is) => !is))];
}

/** Variance of a contrast divided by the largest possible, rounded up; 1 if it is unknown. */
export function shareOfVariance(termFit, { kind, bins }) {
  const { pairs, ranges } = termFit.claims;
  const letters = { difference: pairs, range: ranges }[kind] ?? null;
  if (letters === null) return 1;
  const count = kind === "range" ? valueCount(termFit) : termFit.labels.length;
  const blocks = Math.min(MOST_BLOCKS[kind], count);
  const [low, high] = [Math.min(...bins), Math.max(...bins)].map((bin) => Math.floor((bin * blocks) / count));
  return SHARE_RATIO ** -(letters.charCodeAt(low * blocks - (low * (low - 1)) / 2 + high - low) - FIRST_LETTER);
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
export function claimBetween(estimate, std, factor, basis) {
  const [low, high] = [estimate - factor * std, estimate + factor * std];
  return { estimate, std, low, high, basis, holds: low > 0 || high < 0 };
}

/**
 * A claim about a difference between means of bins; null for a range of all bins.
 * @param {TermFit} termFit
 * @param {import("../../types").Question} question
 * @returns {import("../../types").Claim | null}
 */
export function contrastClaim(termFit, question) {
  const { claims } = termFit;
  if (question.kind === "range" && question.bins[1] - question.bins[0] + 1 === termFit.labels.length) return null;
  const [values, stds] = claimedValues(termFit);
  const [first, second] = sidesOf(termFit, question);
  const loads = first.map((weight, i) => weight - second[i]);
  const std = Math.sqrt(shareOfVariance(termFit, question)) * dot(loads.map(Math.abs), stds);
  return claimBetween(dot(loads, values), std, claims[question.kind], claims.basis);
}
